"""Tasks by name: those of shipped studies, and the task.py of a study of one's own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.running.program_files import ProgramError, shipped_studies
from simstudy.studies import StudyError, load_study, make_study
from simstudy.studies.run import study_cells
from simstudy.training import Task, load_task, task_names

TASK = """
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

from simstudy.training import Task

from .labels import LABELS

def letters(data_dir):
    features = np.arange(40.0).reshape(20, 2)
    labels = np.array(LABELS * 10)
    return Task.from_arrays(str(data_dir), features, labels, systems={"bayes": GaussianNB()},
                            test_sets={"test": (features, labels)})

def nothing(data_dir):
    return None

def wrong(data_dir):
    return {}["key"]

def malformed(data_dir):
    raise ValueError("letters.txt, line 3: no letter")

def without_data(data_dir):
    from simstudy.files.datasets import DataError
    raise DataError("letters.txt is not there")
"""
UNNAMED = r"must be one of alignment, .* where no folder is given, not 'task.py:letters'"
STUDY = """
title = "T"
question = "Q?"
task = "task.py:letters"
[training]
fractions = [1.0]
replicates = [2]
[comparison]
n_resamples = 100
[home]
test_set = "test"
sizes = [10, 20]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "task.py").write_text(TASK, encoding="utf-8")
    (tmp_path / "own" / "labels.py").write_text("LABELS = ['a', 'b']\n", encoding="utf-8")
    (tmp_path / "own" / "study.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path / "own"


def test_every_study_of_resampling_has_a_task_that_is_known_by_name() -> None:
    studies = [load_study(name) for name in shipped_studies()]
    named = {study.task.removeprefix("task.py:") for study in studies if study.kind == "resampling"}  # type: ignore[attr-defined]
    assert named == set(task_names())


def test_a_task_of_a_folder(folder: Path) -> None:
    """With the modules beside it; the folder of data is handed on."""
    task = load_task("task.py:letters", "of/data", folder=folder)
    assert isinstance(task, Task)
    assert task.name == str(Path("of/data"))
    assert task.train.gold.tolist()[:3] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("letters", "name must be one of alignment, "),
        ("dependency", r"not 'dependency' \(did you mean 'dependencies'\?\)"),
        ("task.py:", "name must have the name of a function after 'task.py:', not 'task.py:'"),
        ("task.py:a/b", "name must have the name of a function"),
        ("task.py:none", r"task.py must define none\(data_dir\)"),
        ("task.py:nothing", "nothing must return a simstudy.training.Task, not None"),
        ("task.py:wrong", "task.py, line 21: KeyError: 'key'"),
        ("task.py:malformed", r"task.py, line 24: ValueError: letters.txt, line 3: no letter$"),
        (
            "../task.py:letters",
            r"name must name a function of task.py, such as 'task.py:mine', not '../task.py:letters'",
        ),
        ("task.py", r"name must name a function of task.py, such as 'task.py:mine', not 'task.py'"),
        (3, "name must be one of"),
    ],
)
def test_what_is_wrong_with_a_task_is_said(folder: Path, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_task(name, folder=folder)


def test_a_task_that_cannot_be_loaded_is_told(folder: Path) -> None:
    (folder / "labels.py").unlink()
    with pytest.raises(ProgramError, match=r"task.py, line 9: there is no labels.py beside it"):
        load_task("task.py:letters", folder=folder)
    (folder / "task.py").unlink()
    with pytest.raises(ValueError, match=r"needs a task.py in .*own, and there is none"):
        load_task("task.py:letters", folder=folder)
    with pytest.raises(ValueError, match=rf"name {UNNAMED}"):
        load_task("task.py:letters")


def test_data_that_are_not_there_are_no_error_of_the_program(folder: Path) -> None:
    with pytest.raises(DataError, match=r"^letters.txt is not there$"):
        load_task("task.py:without_data", folder=folder)


def test_a_study_runs_its_own_task_where_its_folder_is_named(folder: Path, tmp_path: Path) -> None:
    results = ss.run_study(folder, out=tmp_path / "out", n_jobs=1, seed=5)
    assert results.tables["systems"]["name"].tolist() == ["bayes-20-1", "bayes-20-2"]
    assert f"`simstudy run ../{folder.name} --out . --seed 5` in this folder" in (
        tmp_path / "out" / "README.md"
    ).read_text(encoding="utf-8")
    with pytest.raises(StudyError, match=r"study.toml is of a program: name its folder, .*own, to run the task.py in"):
        load_study(folder / "study.toml")
    with pytest.raises(StudyError, match=rf"task: it {UNNAMED}"):
        make_study({"name": "x", **load_study(folder).model_dump(exclude={"name"})}, "here")


EDITED = """
from collections import Counter

from simstudy.training import Examples, Task

class Most:
    \"\"\"Answers what was most frequent in training near an input.\"\"\"

    def train(self, examples, weights, seed):
        counts = Counter()
        for place, label, weight in zip(examples.inputs, examples.gold, weights):
            counts[place // 3, label] += int(weight)
        return lambda others: [max("ab", key=lambda label: counts[place // 3, label]) for place in others.inputs]

def count(examples, answers):
    return [[int(a == g), 1] for a, g in zip(answers, examples.gold)]

def letters(data_dir):
    examples = Examples(list(range(20)), list("abbba" * 4))
    return Task("letters", examples, {"test": examples}, {"most": Most()}, {"accuracy": count})
"""


@pytest.mark.usefixtures("empty_figures")
def test_an_edit_of_a_task_trains_again_what_it_changes(folder: Path, tmp_path: Path) -> None:
    """Any edit of a file beside the study, and nothing where none was made: in another folder, too."""
    (folder / "task.py").write_text(EDITED, encoding="utf-8")
    ss.run_study(folder, out=tmp_path / "out", n_jobs=1)
    states = study_cells(folder, out=tmp_path / "out")
    assert states["state"].eq("done").all()
    edits = {
        ("Answers what", "Answers what"): 0,
        ("Answers what", "It answers what"): 2,
        ('max("ab"', 'min("ab"'): 2,
        ("int(a == g)", "int(a != g)"): 2,
        ('"abbba"', '"abbbb"'): 2,
    }
    for k, (edit, trained) in enumerate(edits.items()):
        assert EDITED.count(edit[0]) == 1
        elsewhere = shutil.copytree(folder, tmp_path / f"elsewhere {k}" / folder.name)
        (elsewhere / "task.py").write_text(EDITED.replace(*edit), encoding="utf-8")
        states = study_cells(elsewhere, out=tmp_path / "out")
        of_training = states[states["part"] == "training systems"]
        assert (of_training["state"] == "missing").sum() == trained, edit
