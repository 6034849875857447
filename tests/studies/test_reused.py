"""Studies made of others: whole results are read, anything else is run."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

from simstudy.studies import RunContext, ShippedTables, StudyError, make_study, reused, run_study
from simstudy.studies.context import Unfinished
from tests.studies.natural.conftest import data_dir, make
from tests.studies.natural.small import ANSWERS, EXAMS, MEASURES, Make

# What is drawn is looked at in test_study.py, test_resampling.py and tests/plot.
pytestmark = pytest.mark.usefixtures("empty_figures")

__all__ = ["data_dir", "make"]

TINY = {
    "name": "tiny", "title": "T", "question": "Q?", "task": "digits",
    "training": {"fractions": [0.1], "replicates": [2]},
    "comparison": {"n_resamples": 1000}, "home": {"test_set": "test", "sizes": [100]},
}  # fmt: skip


def test_whole_results_of_the_same_settings_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study, runs = make_study(TINY, "here"), []

    def counted(name: str, **options: Any) -> None:
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
    hashes = reused.hashes_of("tiny", context)
    assert hashes["curves.csv"] == hashlib.sha256(curves).hexdigest()
    assert set(hashes) == {f"{name}.csv" for name in first}
    min((tmp_path / "tiny" / "cells").glob("*.npz")).write_bytes(b"damaged")
    reused.tables_of("tiny", context)
    assert runs == ["tiny"], "a cell is no table"
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
    manifest.unlink()
    assert set(ShippedTables.of(tmp_path / "tiny")) == set(first)


def test_a_study_that_is_not_there_is_run_as_the_one_that_asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With its workers, its data and its leave; where cells are listed it is listed."""
    asked: list[tuple[str, dict[str, Any]]] = []

    def answered(name: str, **options: Any) -> pd.DataFrame:
        asked.append((name, options))
        return pd.DataFrame({"cell": ["one"]})

    for name in ("run_study", "study_cells"):
        monkeypatch.setattr(reused, name, answered)
    here: dict[str, Any] = {"out": tmp_path / "tiny", "data_dir": "data", "allow_outside": True}
    with ThreadPoolExecutor(1) as executor:
        context = RunContext(tmp_path / "paper" / "cells", 5, "data", True, executor)
        assert reused.tables_of("tiny", context) == {}
        assert asked == [("tiny", {**here, "n_jobs": 5, "executor": executor})]
    listing = RunContext(tmp_path / "paper" / "cells", 1, "data", True, listed=[])
    with pytest.raises(Unfinished):
        reused.tables_of("tiny", listing)
    assert asked[1:] == [("tiny", here)]
    assert listing.listed is not None
    assert [table["cell"].tolist() for table in listing.listed] == [["one"]]


def test_only_the_wanted_outputs_of_a_study_are_read(
    make: Make, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of duplicates the first by name; every file that was read has its hash."""
    study = make(EXAMS, MEASURES, ANSWERS)
    monkeypatch.setattr(reused, "load_study", lambda name: study)
    context = RunContext(Path(), 1, data_dir)
    found, hashes = reused.outputs_of("x", context, test_sets=["exam b", "runs"], metrics=["accuracy", "rr"])
    assert list(found) == [("exam b", "accuracy"), ("runs", "rr")]
    assert found["exam b", "accuracy"].outputs.n_systems == 12
    assert {"copy", "s00"} & set(found["exam b", "accuracy"].outputs.names) == {"copy"}
    assert found["exam b", "accuracy"].outputs.task == "x"
    read = [data_dir / "made" / f"{name}.csv" for name in ("exam_b", "measures", "systems")]
    assert hashes == {f"made/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in read}
    # Near-duplicates are kept or dropped as the test set says, and else as the study says.
    for usual, own, n_systems in (
        ("keep", {}, 13),
        ("drop", {"duplicates": "keep"}, 13),
        ("keep", {"duplicates": "drop"}, 12),
    ):
        study = make({**EXAMS, "each": ["a"], **own}, duplicates=usual)
        kept, _ = reused.outputs_of("x", context, test_sets=["exam a"], metrics=["accuracy"])
        assert kept["exam a", "accuracy"].outputs.n_systems == n_systems, (usual, own)
    with pytest.raises(StudyError, match="study 'x' has no test set 'exam b' with a metric among accuracy, rr"):
        reused.outputs_of("x", context, test_sets=["exam a", "exam b"], metrics=["accuracy", "rr"])
    with pytest.raises(StudyError, match="study 'x' has no test set 'exam a' with a metric among bleu"):
        reused.outputs_of("x", context, test_sets=["exam a"], metrics=["bleu"])
    monkeypatch.setattr(reused, "read_all", read_all := Mock(return_value=([], {})))
    reused.outputs_of("x", RunContext(Path(), 1, "data", True), test_sets=["exam a"], metrics=["accuracy"])
    assert read_all.call_args.args[::2] == ("x", "data")
    assert read_all.call_args.kwargs == {"allow_outside": True, "duplicates": "keep"}
    monkeypatch.setattr(reused, "load_study", lambda name: make_study(TINY, "here"))
    with pytest.raises(StudyError, match="study must be one of natural comparisons, and 'x' is not"):
        reused.outputs_of("x", context, test_sets=["exam a"], metrics=["accuracy"])


def test_results_in_the_working_directory_have_others_beside_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "paper").mkdir()
    monkeypatch.chdir(tmp_path / "paper")
    asked: list[Path] = []
    monkeypatch.setattr(reused, "run_study", lambda name, *, out, **_: asked.append(out))
    reused.tables_of("other", RunContext(Path("cells"), 1))
    assert asked == [tmp_path / "other"]
