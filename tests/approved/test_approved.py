"""Today's code gives the approved values, and each approved value has a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.running.keys import RESULTS_VERSION
from tests.approved.record import (
    HERE,
    RECORDINGS,
    SHARED,
    Row,
    differences,
    load_recordings,
    moved_under_one_version,
    why_rows,
)

load_recordings()
QUICK = [pytest.param(name, marks=() if one.quick else pytest.mark.slow) for name, one in RECORDINGS.items()]


@pytest.mark.parametrize("name", QUICK)
def test_values_are_the_approved_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not RECORDINGS[name].is_possible():
        pytest.skip(f"needs {SHARED}")
    monkeypatch.chdir(tmp_path)
    changes = list(differences(RECORDINGS[name].approved(), RECORDINGS[name].today()))
    shown = "\n".join(map(str, changes[:20]))
    assert not changes, f"{len(changes)} values differ; python -m tests.approved.record {name}\n{shown}"


def test_each_recording_is_explained() -> None:
    """The last row of each recording in WHY.md has the digest of its values."""
    last = {row.name: row.digest for row in why_rows()}
    assert {name: last.get(name) for name in RECORDINGS} == {name: one.digest() for name, one in RECORDINGS.items()}


def test_what_studies_hold_changes_only_with_results_version() -> None:
    assert moved_under_one_version(why_rows()) == []
    assert max(row.results_version for row in why_rows()) <= RESULTS_VERSION
    name = next(name for name, one in RECORDINGS.items() if one.part == "studies")
    first, added, moved = (Row(name, "0" * 12, 1, what) for what in ("first recording", "new: 3 numbers", "3 numbers"))
    assert moved_under_one_version([first, added, moved._replace(results_version=2)]) == []
    assert moved_under_one_version([first, added, moved]) == [name]


def test_recordings_are_small() -> None:
    files = [path for path in HERE.rglob("*.json") if path.is_file()]
    assert {path.stem for path in files} == set(RECORDINGS)
    assert sum(path.stat().st_size for path in files) < 2_000_000


def test_a_changed_value_is_seen() -> None:
    approved = {"a": [1, 2.0, "x", True, None], "b": {"c": 0.5}, "p": 1e-40}
    assert not list(differences(approved, {**approved, "a": [1, 2.0 + 1e-9, "x", True, None], "p": 1.0000001e-40}))
    changed = {
        "a[0]": {**approved, "a": [2, 2.0, "x", True, None]},
        "a[1]": {**approved, "a": [1, 2.0001, "x", True, None]},
        "a[2]": {**approved, "a": [1, 2.0, "y", True, None]},
        "a[3]": {**approved, "a": [1, 2.0, "x", 1, None]},
        "a[4]": {**approved, "a": [1, 2.0, "x", True]},
        "b/c": {**approved, "b": {"c": "nan"}},
        "p": {**approved, "p": 0.0},
        "e": {**approved, "e": 0},
    }
    for place, today in changed.items():
        assert [change.place for change in differences(approved, today)] == [place]
