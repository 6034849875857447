"""Studies made of others: whole results are read, anything else is run."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pandas as pd
import pytest

from simstudy.studies import RunContext, make_study, reused, run_study
from simstudy.studies.context import Unfinished

TINY = {
    "name": "tiny", "title": "T", "question": "Q?", "task": "digits",
    "training": {"fractions": [0.1], "replicates": [2]},
    "comparison": {"n_resamples": 1000}, "home": {"test_set": "test", "sizes": [100]},
}  # fmt: skip


def test_whole_results_of_the_same_settings_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study, runs = make_study(TINY, "here"), []

    def counted(name: str, **options: object) -> None:
        runs.append(name)
        run_study(study, **options)

    monkeypatch.setattr(reused, "load_study", lambda name: study)
    monkeypatch.setattr(reused, "run_study", counted)
    context = RunContext(tmp_path / "paper" / "cells", 1)
    first = reused.tables_of("tiny", context)
    assert runs == ["tiny"]
    assert {"confidence_models", "curves", "points", "systems", "thresholds", "training_variance"} == set(first)
    assert len(first["systems"]) == 8
    again = reused.tables_of("tiny", context)
    assert runs == ["tiny"], "found"
    assert again["curves"].equals(first["curves"])
    curves = (tmp_path / "tiny" / "curves.csv").read_bytes()
    assert reused.hashes_of("tiny", context)["curves.csv"] == hashlib.sha256(curves).hexdigest()
    (tmp_path / "tiny" / "curves.csv").unlink()
    assert reused.tables_of("tiny", context)["curves"].equals(first["curves"])
    assert runs == ["tiny"] * 2, "a file that is missing is made again"
    manifest = tmp_path / "tiny" / "manifest.json"
    written = json.loads(manifest.read_text(encoding="utf-8"))
    del written["study"]["seed"]
    del written["manifest"]
    written["manifest"] = hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()
    manifest.write_text(json.dumps(written), encoding="utf-8")
    reused.tables_of("tiny", context)
    assert runs == ["tiny"] * 2, "a key that is not there has its default"
    study = make_study({**TINY, "seed": 1}, "here")
    reused.tables_of("tiny", context)
    assert runs == ["tiny"] * 3, "other settings"
    (tmp_path / "tiny" / "curves.csv").write_text("changed\n")
    with pytest.raises(ValueError, match="curves.csv, which is not of an earlier run or has been changed since"):
        reused.tables_of("tiny", context)


@pytest.mark.parametrize("listed", [False, True])
def test_what_the_asking_study_was_told_holds_for_the_other_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listed: bool
) -> None:
    """Its data, its workers, and whether files outside may be read; and that also below the working directory."""
    asked: dict[str, object] = {}

    def ask(name: str, **options: object) -> pd.DataFrame:
        asked.update(options, name=name)
        return pd.DataFrame({"part": ["training"]})

    monkeypatch.setattr(reused, "study_cells" if listed else "run_study", ask)
    (tmp_path / "paper").mkdir()
    monkeypatch.chdir(tmp_path / "paper")
    executor = ThreadPoolExecutor(1)
    context = RunContext(
        Path("cells"), 3, Path("data"), allow_outside=True, executor=executor, listed=[] if listed else None
    )
    with pytest.raises(Unfinished) if listed else nullcontext():
        reused.tables_of("other", context)
    assert (asked.pop("name"), asked.pop("out")) == ("other", tmp_path / "other")
    both = {"data_dir": Path("data"), "allow_outside": True}
    assert asked == (both if listed else {**both, "n_jobs": 3, "executor": executor})
    assert not listed or [list(each["part"]) for each in context.listed or ()] == [["training"]]
