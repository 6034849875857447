"""What `run_study` and `study_cells` hand on, and where what a study found is written: with a study that only tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import simstudy as ss
from simstudy.pages.sections import Section, Table
from simstudy.running.folders import verify
from simstudy.running.jobs import n_workers
from simstudy.running.keys import Cell
from simstudy.studies import Findings, RunContext, Shown, Study, load_study, make_study, written
from simstudy.studies.definition import placed
from simstudy.studies.run import run_shard, study_cells
from simstudy.truth import correlated_accuracies
from tests.oracles import compared

# What is drawn is looked at in test_study.py, test_resampling.py and tests/plot.
pytestmark = pytest.mark.usefixtures("empty_figures")

# The package has a function of the module's name.
module = import_module("simstudy.studies.run")

STUDY = make_study(
    {
        "name": "mine", "title": "A title", "question": "A question?", "task": "digits", "seed": 4,
        "home": {"test_set": "test", "sizes": [100]},
    },
    "here",
)  # fmt: skip
TABLE = pd.DataFrame({"n": [1.23456789]})

Seen = list[tuple[Study, RunContext]]
Tells = Callable[..., Seen]


@pytest.fixture
def tells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tells:
    """Make studies that find this, and hear what they were given."""
    monkeypatch.chdir(tmp_path)

    def made(shown: Shown | None = None, **found: Any) -> Seen:
        seen: Seen = []

        def run(study: Study, context: RunContext) -> Findings:
            seen.append((study, context))
            with context.clock("a stage"):
                pass
            return Findings(**{"tables": {"numbers": TABLE}, **found})

        monkeypatch.setattr(module, "found_by", run)
        monkeypatch.setattr(written, "shown_by", lambda *_: shown or Shown(sections=[]))
        return seen

    return made


def test_every_argument_arrives(tells: Tells, tmp_path: Path) -> None:
    seen = tells()
    ss.run_study(STUDY)
    with ThreadPoolExecutor(1) as executor:
        ss.run_study(
            STUDY, out=tmp_path / "out", n_jobs=3, executor=executor, seed=9, data_dir="data", allow_outside=True
        )
        (plain, usual), (changed, context) = seen
        assert (plain, changed) == (STUDY, STUDY.model_copy(update={"seed": 9}))
        made: dict[str, Any] = {"clock": usual.clock, "keys": usual.keys}
        assert usual == RunContext(Path("results/mine/cells"), n_workers(-1), reads=usual.cells, **made)
        folder = tmp_path / "out" / "cells"
        made = {"clock": context.clock, "keys": context.keys}
        assert context == RunContext(folder, 3, "data", True, executor, folder, **made)
    seen.clear()
    study_cells(STUDY)
    study_cells(STUDY, out=tmp_path / "out", seed=9, data_dir="data", allow_outside=True)
    (plain, usual), (changed, context) = seen
    assert (plain, changed) == (STUDY, STUDY.model_copy(update={"seed": 9}))
    made = {"clock": usual.clock, "keys": usual.keys, "listed": []}
    assert usual == RunContext(Path("results/mine/cells"), 1, reads=usual.cells, **made)
    made = {"clock": context.clock, "keys": context.keys, "listed": []}
    assert context == RunContext(folder, 1, "data", True, reads=folder, **made)
    seen.clear()
    mine, out = placed(STUDY, tmp_path / "mine"), tmp_path / "shard"
    given: dict[str, Any] = {"seed": 9, "data_dir": "data", "allow_outside": True}
    with ThreadPoolExecutor(1) as executor:
        run_shard(mine, (2, 3), out=out, n_jobs=3, executor=executor, **given)
        ((changed, context),) = seen
        assert changed.seed == 9
        usual = RunContext(out / "cells", 3, "data", True, executor, out / "cells", tmp_path / "mine")
        assert context == replace(usual, clock=context.clock, keys=context.keys, listed=[], shard=(2, 3))


def test_all_that_was_found_is_written(tells: Tells, tmp_path: Path) -> None:
    pairs = compared(correlated_accuracies([0.6, 0.8], 30), test="sign")
    table = Table(TABLE, {"a heading": "{n:.2f}"})
    tells(
        Shown(sections=[Section("A part", "Its text.", table=table)], closing="That is all.",
              summary={"In short": table}),
        answers=["An answer."], facts={"A fact": "of the study"}, comparisons=pairs, data={"files": {"x": "a hash"}},
    )  # fmt: skip
    results = ss.run_study(STUDY, out=tmp_path / "out", seed=5)
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    parts = [
        "# A title\n", "A question?", "Made by `simstudy.run_study(study, seed=5)` in Python",
        "**A fact**: of the study",
        "**Signature**", "test:sign", "## A part", "Its text.", "| a heading |", "| 1.23 |", 
        "[numbers.csv](numbers.csv)", "That is all.",
    ]  # fmt: skip
    assert sorted(parts, key=lambda part: page.index(part)) == parts
    assert pd.read_csv(tmp_path / "out" / "numbers.csv")["n"].tolist() == [pytest.approx(1.23456789, rel=1e-5)]
    written_pairs = pd.read_csv(tmp_path / "out" / "comparisons.csv.gz", keep_default_na=False, dtype=str)
    assert written_pairs["p_value"].astype(float).tolist() == pairs["p_value"].tolist()
    assert written_pairs.columns.tolist() == pairs.columns.tolist()
    assert written_pairs["system_a"].tolist() == pairs["system_a"].tolist()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["results_of"] == "study mine"
    assert manifest["study"] == STUDY.model_copy(update={"seed": 5}).model_dump(mode="json")
    assert manifest["data"] == {"files": {"x": "a hash"}}
    assert manifest["page"]["answers"] == [*results.answers] == ["An answer."]
    assert set(json.loads((results.folder / "run.json").read_text())["seconds"]) == {"a stage", "note"}
    assert set(manifest["files"]) == {"README.md", "numbers.csv"}
    assert verify(tmp_path / "out") == []
    assert results.folder == tmp_path / "out"
    assert results.tables == {"numbers": TABLE}
    assert results.comparisons is pairs
    assert results.summary["In short"].to_dict("list") == {"a heading": ["1.23"]}
    assert "Results in " in repr(results)
    assert "1 comparisons" in repr(results).replace("\n", " ")
    assert "numbers (1)" in repr(results)


def test_a_study_without_comparisons_has_neither_a_file_of_them_nor_a_signature(tells: Tells, tmp_path: Path) -> None:
    tells()
    results = ss.run_study(STUDY, out=tmp_path / "out")
    assert results.comparisons.empty
    assert not (tmp_path / "out" / "comparisons.csv.gz").exists()
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Signature" not in page
    assert "Made by `simstudy.run_study(study)` in Python;" in page


@pytest.mark.parametrize(("n", "more"), [(1, []), (10, []), (11, ["… and 1 more"]), (1234, ["… and 1,224 more"])])
def test_a_page_lists_ten_signatures_and_says_how_many_more(
    n: int, more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "signatures", lambda pairs: [f"s{k}" for k in range(n)])
    assert module._signed(TABLE) == {"Signature": [*(f"s{k}" for k in range(min(n, 10))), *more]}
    assert module._signed(TABLE.head(0)) == {}


@pytest.mark.parametrize(
    ("name", "seed", "command"),
    [
        ("quickstart", None, "simstudy run quickstart"),
        ("quickstart", 0, "simstudy run quickstart --seed 0"),
        ("yeh_2000", None, "simstudy run yeh_2000"),
    ],
)
def test_a_shipped_study_is_run_by_its_name(name: str, seed: int | None, command: str) -> None:
    assert module._command(load_study(name), Path("out"), seed, "data", False) == (command, "")


def test_a_study_of_ones_own_is_run_by_paths_from_its_results(tmp_path: Path) -> None:
    """One that has a shipped name too; with the data and the leave that it had."""
    mine = placed(load_study("quickstart"), tmp_path / "my study")
    command = module._command(mine, tmp_path / "deep" / "out", 0, tmp_path / "data", True)
    said = "simstudy run '../../my study' --out . --seed 0 --data-dir ../../data --allow-outside"
    assert command == (said, "in this folder")


def test_cells_of_all_parts_are_listed_in_order(tells: Tells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a part says of others what it knows."""
    assert study_cells("quickstart", out=tmp_path).columns.tolist() == ["part", "cell", "state", "bytes"]
    tells()
    assert study_cells(STUDY).columns.tolist() == ["part", "cell", "state", "bytes"]
    assert study_cells(STUDY).empty

    def run(study: Study, context: RunContext) -> Findings:
        for part, names in {"first": "ab", "second": "cd"}.items():
            found = context.run(part, str.upper, [Cell(name, (name,)) for name in names])
        return Findings(tables={"found": pd.DataFrame({"found": found})})

    monkeypatch.setattr(module, "found_by", run)
    out = tmp_path / "out"
    assert study_cells(STUDY, out=out)["cell"].tolist() == ["a", "b"], "what follows is not known yet"
    assert not out.exists()
    ss.run_study(STUDY, out=out, n_jobs=1)
    found = study_cells(STUDY, out=out)
    assert found[["part", "cell", "state"]].to_numpy().tolist() == [
        ["first", "a", "done"], ["first", "b", "done"], ["second", "c", "done"], ["second", "d", "done"],
    ]  # fmt: skip
    assert found["bytes"].gt(0).all()
