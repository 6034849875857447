"""The manifest and run.json: every field comes from its own source, and what differs from an earlier run is told."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import pytest

from simstudy.running import manifest
from simstudy.running.manifest import changed_rooms, is_run, manifest_of, of_this_run, other_files, other_versions
from simstudy.running.runner import n_workers

LIBRARIES = {
    "simstudy", "numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "joblib", "matplotlib", "seaborn",
}  # fmt: skip

PROGRAM = {"definitions": "0" * 64, "numpy": "2.2", "simstudy.engines.a": "1" * 64, "simstudy.engines.b": "2" * 64,
           "simstudy.pairs": "3" * 64}  # fmt: skip


def test_every_field_of_a_manifest_is_told_by_its_source() -> None:
    found = manifest_of({"study": {"seed": 3}}, {"files": {"a": "hash"}}, PROGRAM)
    assert sorted(found.pop("program")) == ["simstudy.engines", "simstudy.pairs"]
    assert found == {
        "study": {"seed": 3},
        "data": {"files": {"a": "hash"}},
        "versions": {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES},
    }


def test_when_where_and_how_long_is_told_of_this_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pools = [
        {"user_api": "blas", "internal_api": "openblas", "version": "2", "architecture": "Zen"},
        {"user_api": "openmp", "internal_api": "openmp", "version": "9"},
        {"user_api": "blas", "internal_api": "mkl", "version": "1"},
        {"user_api": "blas", "internal_api": "openblas", "version": "2", "architecture": "Zen"},
    ]
    monkeypatch.setattr(manifest, "threadpool_info", lambda: pools)
    found = of_this_run({"training": 1.5, "data": 0.2})
    assert abs(datetime.fromisoformat(found["ended"]) - datetime.now(UTC)) < timedelta(minutes=1)
    assert found["machine"] == {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": n_workers(-1),
        "blas": ["mkl 1 None", "openblas 2 Zen"],
    }
    assert "found, not computed again" in found["seconds"].pop("note")
    assert found["seconds"] == {"training": 1.5, "data": 0.2}
    (tmp_path / "run.json").write_text(json.dumps(found))
    assert is_run(tmp_path / "run.json")
    (tmp_path / "run.json").write_text('{"ended": "somebody else\'s"}')
    assert not is_run(tmp_path / "run.json")


def test_a_changed_module_is_told_by_its_room_and_a_version_apart() -> None:
    made = manifest_of({}, {}, PROGRAM)
    assert changed_rooms(made, PROGRAM) == []
    assert changed_rooms(made, PROGRAM | {"simstudy.engines.b": "4" * 64}) == ["simstudy.engines"]
    assert changed_rooms(made, PROGRAM | {"simstudy.text.new": "4" * 64, "numpy": "9"}) == ["simstudy.text"]
    gone = {name: known for name, known in PROGRAM.items() if name != "simstudy.pairs"}
    assert changed_rooms(made, gone) == ["simstudy.pairs"]
    assert changed_rooms(manifest_of({}, {}), PROGRAM) is None
    assert other_versions(made) == ""
    made["versions"]["numpy"] = "0.1"
    assert other_versions(made) == f"numpy {version('numpy')}, not 0.1"


def test_files_of_other_versions_are_compared_and_of_the_same_nothing_is_said() -> None:
    files = {"a.csv": "1", "README.md": "2", "figures/a.png": "3", "figures/b.svg": "4"}
    now = manifest_of({"study": {"seed": 3}}, {}) | {"files": files}
    before = json.loads(json.dumps(now)) | {"files": files | {"figures/b.svg": "5"}}
    assert other_files(None, now) == other_files(before, now) == ""
    before["versions"]["pandas"] = "0.1"
    said = f"The results that were here were made with other versions (pandas {version('pandas')}, not 0.1)"
    assert other_files(before, now) == f"{said}: all tables are the same, and 1 figure files differ."
    before["files"]["a.csv"] = "9"
    assert other_files(before, now) == f"{said}: the tables a.csv differ, and 1 figure files differ."
    assert other_files(before | {"study": {"seed": 4}}, now) == ""
    assert other_files(before | {"comparison": {"seed": 3}}, now | {"comparison": {"seed": 4}}) == ""
