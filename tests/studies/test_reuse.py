"""What a later run of a study finds and what it computes again: each kind of change, by the cells that it leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import simstudy as ss
from simstudy.files.datasets import DataFile
from simstudy.metrics.registry import _SHIPPED
from simstudy.metrics.user_metrics import metric
from simstudy.running.keys import CellKeys
from simstudy.studies import Study, load_study, make_study
from simstudy.studies.catalogue import code_behind, found_by
from simstudy.studies.context import RunContext
from simstudy.studies.run import study_cells
from simstudy.studies.written import why_not_fresh
from simstudy.training import Task, load_task, resample_training

pytestmark = pytest.mark.usefixtures("empty_figures")

DIGITS: dict[str, Any] = {
    "name": "reused", "title": "T", "question": "Q?", "task": "digits",
    "training": {"fractions": [0.2, 0.1], "replicates": [3, 3]},
    "comparison": {"n_resamples": 1000}, "home": {"test_set": "test", "sizes": [100, 300]},
}  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cells of six variants of each of four base systems of digits, and of two comparisons."""
    out = tmp_path_factory.mktemp("digits") / "out"
    ss.run_study(make_study(DIGITS, "here"), out=out, n_jobs=1)
    return out


def states(study: Study, out: Path, part: str) -> dict[str, int]:
    """How many cells of a part of a study are in each state."""
    cells = study_cells(study, out=out)
    return dict(cells.loc[cells["part"] == part, "state"].value_counts())


def test_more_replicates_train_only_the_new_variants(done: Path) -> None:
    study = make_study({**DIGITS, "training": {"fractions": [0.2, 0.1], "replicates": [4, 3]}}, "here")
    assert states(study, done, "training systems") == {"done": 24, "missing": 4}


def test_another_size_of_the_test_set_is_one_new_comparison(done: Path) -> None:
    study = make_study({**DIGITS, "home": {"test_set": "test", "sizes": [100, 200, 300]}}, "here")
    assert states(study, done, "training systems") == {"done": 24}
    assert states(study, done, "comparing systems") == {"done": 2, "missing": 1}


def test_one_more_base_system_trains_its_variants_alone(tmp_path: Path) -> None:
    task = load_task("digits")
    options: dict[str, Any] = {"fractions": [0.1], "replicates": [2], "n_jobs": 1, "cache": tmp_path}
    resample_training(task, **options)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    systems = {**task.systems, "one more": task.systems["naive Bayes"]}
    resample_training(Task(task.name, task.train, task.test_sets, systems, task.statistics), **options)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert (len(before), len(after)) == (8, 10)
    assert before.items() <= after.items()


def keys_of(study: Study) -> list[str]:
    """The keys of the cells of a study's first part."""
    keys: list[str] = []

    class Stop(Exception):
        pass

    class Told(RunContext):
        def run(self, title: str, function: Any, cells: Any, **_: Any) -> list[Any]:
            keys.extend(self.keys.of(function, cell.arguments) for cell in cells)
            raise Stop

    with pytest.raises(Stop):
        found_by(study, Told(Path("nowhere"), 1, keys=CellKeys(code_behind(study))))
    return keys


@pytest.mark.parametrize("name", ["quickstart", "tools_bench"])
def test_no_source_of_the_library_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric is added to the registry, an unused function to a loader's module, and no file of it can be read."""
    before = keys_of(load_study(name))
    assert len(before) > 1
    package = Path(ss.__file__).parent
    read, opened = Path.read_bytes, Path.open

    def refused(path: Path) -> None:
        assert not (path.suffix == ".py" and path.resolve().is_relative_to(package)), path

    monkeypatch.setattr(Path, "read_bytes", lambda path: refused(path) or read(path))
    monkeypatch.setattr(Path, "open", lambda path, *how, **more: refused(path) or opened(path, *how, **more))
    monkeypatch.setitem(_SHIPPED, "added", metric("added", lambda hits, tries: hits / tries))
    monkeypatch.setattr("simstudy.readers.scores.unused", lambda: None, raising=False)
    assert keys_of(load_study(name)) == before


PROGRAM = """
import pandas as pd
from simstudy.studies import Cell, Findings, Shown, Study
from .page import sections

class ScaledError:
    def __init__(self, factor):
        self.factor = factor
    def __call__(self, x):
        return self.factor * x

loss = ScaledError(2.0)
SHIFT = 1.0

class Settings(Study):
    pass

def run(study, context):
    cells = [Cell(str(n), (n,)) for n in range(3)]
    return Findings(tables={"losses": pd.DataFrame({"loss": context.run("losses", shifted, cells)})})

def shifted(n):
    return loss(n) + SHIFT

def show(study, tables):
    return Shown(sections=sections(tables["losses"]))
"""
PAGE = """
from simstudy.pages.sections import Section

def sections(table):
    return [Section("Losses", f"The last is {table['loss'].iloc[-1]:g}.")]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The folder of a study that has run, with its results in out."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\n')
    (folder / "study.py").write_text(PROGRAM)
    (folder / "page.py").write_text(PAGE)
    ss.run_study(folder, out=folder / "out", n_jobs=1)
    return folder


@pytest.mark.parametrize(
    ("old", "new", "losses"),
    [("SHIFT = 1.0", "SHIFT = 5.0", [5, 7, 9]), ("ScaledError(2.0)", "ScaledError(20.0)", [1, 21, 41])],
)
def test_a_constant_of_a_studys_module_computes_its_cells_again(mine: Path, old: str, new: str, losses: Any) -> None:
    assert why_not_fresh(mine / "out", mine)[0] == []
    (mine / "study.py").write_text(PROGRAM.replace(old, new))
    assert why_not_fresh(mine / "out", mine)[0] == ["the study's code has changed: study.py"]
    assert study_cells(mine, out=mine / "out")["state"].tolist() == ["missing"] * 3
    assert ss.run_study(mine, out=mine / "out", n_jobs=1).tables["losses"]["loss"].tolist() == losses
    assert why_not_fresh(mine / "out", mine)[0] == []


def test_a_change_of_the_page_writes_it_again_and_computes_nothing(mine: Path) -> None:
    out = mine / "out"
    cells = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    (mine / "page.py").write_text(PAGE.replace("The last is", "It ends with"))
    assert why_not_fresh(out, mine)[0] == []
    ss.run_study(mine, out=out, n_jobs=1)
    assert "It ends with 5." in (out / "README.md").read_text()
    assert {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()} == cells


def test_the_bytes_of_a_data_file_count_and_its_place_does_not(tmp_path: Path) -> None:
    def key(name: str, content: str) -> str:
        (tmp_path / name).write_text(content)
        return CellKeys().of(len, (DataFile.of(tmp_path / name), 3))

    assert key("a.csv", "1,2") == key("b.csv", "1,2") != key("a.csv", "1,3")


def test_all_pairs_are_those_of_the_tables_beside_them(tmp_path: Path) -> None:
    """Back and forth between two seeds: the second run of a seed finds everything kept."""
    study = make_study({**DIGITS, "training": {"fractions": [0.1], "replicates": [2]}}, "here")
    for seed in (0, 1, 0):
        results = ss.run_study(study, out=tmp_path, n_jobs=1, seed=seed)
        written = pd.read_csv(tmp_path / "comparisons.csv.gz")
        assert written["p_value"].tolist() == results.comparisons["p_value"].tolist(), seed
    (tmp_path / "comparisons.csv.gz").unlink()
    ss.run_study(study, out=tmp_path, n_jobs=1)
    assert (tmp_path / "comparisons.csv.gz").exists()


def test_a_study_of_a_shipped_task_depends_on_the_code_of_that_task() -> None:
    study = make_study({**DIGITS, "task": "dependencies"}, "here")
    assert sorted(code_behind(study)) == ["dependency_parsing/", "simstudy_learners/"]
    assert code_behind(make_study(DIGITS, "here")) == {}
