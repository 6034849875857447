"""All shipped studies in one go: what is said beforehand, what is left, and what goes on after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.studies import every
from simstudy.studies.every import TIMES, Taken, begin_anew, needs, run_every

NAMES = ("chinchor_1992", "natural_mt", "quickstart")


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Only three studies are shipped, and the data of one of them are in no folder."""
    known = every.shipped_studies()
    monkeypatch.setattr(every, "shipped_studies", lambda: {name: known[name] for name in NAMES})
    return tmp_path / "results"


def test_what_is_missing_is_said_and_the_rest_is_ready(
    three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The times of studies are read from the folder of results, or else as it came with the package."""
    for folder in (tmp_path / "nothing", three):
        folder.mkdir()
    (three / TIMES).write_text("study,wall_seconds,cpu_seconds,memory_mb,disk_mb\nquickstart,12,20,300,24\n")
    state = three / ".simstudy.all.json"
    state.write_text(json.dumps({"from_nothing": False, "begun": [NAMES[0]], "ended": {NAMES[0]: {}}}))
    found = needs(three, tmp_path / "nothing").set_index("study")
    assert found.index.tolist() == ["natural_mt", "quickstart", "chinchor_1992"]
    assert found.loc["natural_mt", "state"].startswith("cannot be made: ")
    assert found.loc["quickstart", ["state", "cells_done", "cells_known"]].tolist() == ["ready", 0, 100]
    assert found.loc["chinchor_1992", ["state", "cells_done", "cells_known"]].tolist() == ["done", 0, 0]
    assert found["wall_seconds"].tolist()[0::2] == pytest.approx([np.nan] * 2, nan_ok=True)
    assert found.loc["quickstart", ["wall_seconds", "memory_mb", "disk_mb"]].tolist() == [12, 300, 24]
    assert {*three.iterdir()} == {three / TIMES, state}
    monkeypatch.setattr(every, "shipped_folder", lambda: tmp_path)
    (tmp_path / TIMES).write_text("study,wall_seconds\nquickstart,99\n")
    assert [every._times(out).loc["quickstart", "wall_seconds"] for out in (three, tmp_path / "no")] == [12, 99]
    (tmp_path / TIMES).unlink()
    assert every._times(tmp_path / "no").columns.tolist() == ["wall_seconds", "memory_mb", "disk_mb"]
    monkeypatch.setattr(every, "shipped_folder", lambda: tmp_path / "experiments")
    assert every._times(tmp_path / "no").loc["quickstart", "wall_seconds"] == 12, "a checkout has them with its results"


def test_a_stopped_run_goes_on_with_what_is_left_and_then_writes_what_all_took(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, bool]] = []
    exits = {"natural_mt": 1}

    def run_one(name: str, out: Path, options: list[str], *, resumed: bool) -> Taken:
        made.append((name, resumed))
        assert (out, options) == (three, ["--jobs", "2"])
        return Taken(name, 10.4, 20, 300, 1.6, resumed, exits.get(name, 0))

    monkeypatch.setattr(every, "_run_one", run_one)
    old = three / "quickstart" / "cells"
    old.mkdir(parents=True)
    (old / "old.npz").write_text("from an earlier run")
    begin_anew(three)
    assert not old.exists()
    run_all = run_every(NAMES, three, ["--jobs", "2"])
    assert [next(run_all).study for _ in range(2)] == ["chinchor_1992", "natural_mt"]
    run_all.close()
    # What has failed runs again, what has ended does not; finished cells stay now.
    old.mkdir()
    begin_anew(three)
    assert old.is_dir()
    assert [one.study for one in run_every(NAMES, three, ["--jobs", "2"])] == ["natural_mt", "quickstart"]
    assert not (three / TIMES).exists()
    exits.clear()
    assert [one.study for one in run_every(NAMES, three, ["--jobs", "2"])] == ["natural_mt"]
    assert made == [
        ("chinchor_1992", False), ("natural_mt", False), ("natural_mt", True), ("quickstart", False),
        ("natural_mt", True),
    ]  # fmt: skip
    # Times of a part are not those of the whole.
    times = pd.read_csv(three / TIMES, index_col="study")
    assert times.loc["natural_mt"].isna().tolist() == [True, True, True, False]
    assert times.drop("natural_mt")["wall_seconds"].tolist() == [10, 10]
    begin_anew(three)
    assert [one.study for one in run_every(NAMES, three, ["--jobs", "2"])] == list(NAMES)
    assert pd.read_csv(three / TIMES).to_dict("list") == {
        "study": list(NAMES), "wall_seconds": [10] * 3, "cpu_seconds": [20] * 3, "memory_mb": [300] * 3,
        "disk_mb": [2] * 3,
    }  # fmt: skip
    # One that does not begin from nothing writes no times, and leaves nothing that a further one would go on with.
    written = (three / TIMES).read_bytes()
    for _ in range(2):
        assert [one.study for one in run_every(NAMES, three, ["--jobs", "2"])] == list(NAMES)
    assert (three / TIMES).read_bytes() == written
    # After such a run that was stopped, all begins from nothing: once, also where no study of it has begun.
    next(run_every(NAMES, three, ["--jobs", "2"]))
    old.mkdir()
    begin_anew(three)
    assert not old.exists()
    old.mkdir()
    begin_anew(three)
    assert old.is_dir()
    made.clear()
    assert [one.study for one in run_every(NAMES, three, ["--jobs", "2"])] == list(NAMES)
    assert made == [(name, False) for name in NAMES]


def test_a_study_that_fails_is_told_with_what_it_took(three: Path) -> None:
    """Its folder has files of 3 MB, in whatever folders; that of another study has more."""
    for k, name in enumerate(["natural_mt", "natural_mt/figures", "natural_mt/cells/deep", "quickstart"], start=1):
        (three / name).mkdir(parents=True, exist_ok=True)
        (three / name / "file").write_bytes(bytes(k * 500_000))
    (failed,) = run_every(["natural_mt"], three, ["--no-such-option"])
    assert (failed.study, failed.exit_code) == ("natural_mt", 2)
    assert failed.disk_mb == pytest.approx(3)
    assert 0 < failed.cpu_seconds < 600
    assert 0 < failed.wall_seconds < 600
    # Megabytes: a process of Python with its libraries.
    assert 20 < failed.memory_mb < 5000


@pytest.mark.slow
def test_a_study_is_run_by_the_command_in_a_process_of_its_own(three: Path) -> None:
    (one,) = run_every(["chinchor_1992"], three, ["--jobs", "1"])
    assert one.exit_code == 0
    assert one.cpu_seconds > 0
    # Of a process it is at least what the one had that began it.
    assert one.memory_mb > 100
    written = json.loads((three / "chinchor_1992" / "manifest.json").read_text())
    assert written["study"]["name"] == "chinchor_1992"
