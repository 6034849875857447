"""A kept result is found only by who would compute the very same: each thing that it depends on changes its key."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import simstudy
from simstudy import dependencies, provenance
from simstudy.engines.comparisons import compare
from simstudy.generators.resampled import train_variant
from simstudy.provenance import program_of

MODEL = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
class Model(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        return self
    def predict(self, X):
        return RESULT
"""

STUDY = """
import sys
from sklearn.datasets import load_iris
from models import Model
import simstudy as ss
X, y = load_iris(return_X_y=True)
task = ss.Task.from_arrays("iris", X[::2], y[::2], test_sets={"test": (X[1::2], y[1::2])}, systems={"model": Model()})
outputs = ss.resample_training(task, fractions=[1.0], replicates=[2], seed=int(sys.argv[1]), cache="cells")["test"]
print(outputs.scores().tolist())
"""


def run(script: str, folder: Path, *arguments: str, package: Path | None = None) -> str:
    path = os.pathsep.join(map(str, [package or Path(simstudy.__file__).parents[1], folder]))
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def n_cells(folder: Path) -> int:
    return len(list(folder.glob("cells/*.cell")))


def test_a_mended_estimator_is_trained_again(tmp_path: Path) -> None:
    """One that answers at random in effect (the classes reversed), then mended: the old score does not stay."""
    models = tmp_path / "models.py"
    models.write_text(MODEL.replace("RESULT", "2 - self.model_.predict(X)"))
    wrong = run(STUDY, tmp_path, "0")
    assert (n_cells(tmp_path), run(STUDY, tmp_path, "0"), n_cells(tmp_path)) == (2, wrong, 2)
    models.write_text(MODEL.replace("RESULT", "self.model_.predict(X)"))
    mended = run(STUDY, tmp_path, "0")
    assert n_cells(tmp_path) == 4
    assert min(eval(mended)) > 80 > max(eval(wrong))


@pytest.mark.parametrize(
    ("function", "edited", "changes"),
    [
        (compare, "engines/kernels.py", True),
        (compare, "metrics/bleu.py", True),
        (compare, "figures/gains.py", False),
        (train_variant, "tasks/base.py", True),
        (train_variant, "outputs/collection.py", False),
        (train_variant, "engines/kernels.py", False),
    ],
)
def test_an_edit_of_simstudy_changes_what_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Callable[..., object], edited: str, changes: bool
) -> None:
    package = Path(simstudy.__file__).parent
    found = dependencies.source_file

    def in_a_copy(module: str) -> Path | None:
        file = found(module)
        return tmp_path / file.relative_to(package) if file and file.is_relative_to(package) else file

    before = program_of(function)
    shutil.copytree(package, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for module in (dependencies, provenance):
        monkeypatch.setattr(module, "source_file", in_a_copy)
    assert program_of(function) == before
    with (tmp_path / edited).open("a") as file:
        file.write("\n# another line\n")
    assert (program_of(function) != before) == changes


@pytest.mark.parametrize("part", ["data", "settings", "seed"])
def test_each_part_of_a_comparisons_key_changes_it(tmp_path: Path, part: str) -> None:
    from simstudy.generators.synthetic import correlated_accuracies
    from simstudy.studies.comparing import run_comparisons
    from simstudy.studies.definition import Comparison
    from simstudy.studies.interface import RunContext

    def compared(data: int = 50, settings: int = 200, seed: int = 1) -> None:
        outputs = correlated_accuracies([0.5, 0.6], data)
        run_comparisons("t", [(outputs, Comparison(n_resamples=settings), seed)], RunContext(tmp_path / "cells", 1))

    compared()
    compared()
    assert n_cells(tmp_path) == 1
    compared(**{part: 60})
    assert n_cells(tmp_path) == 2


def test_fingerprints_of_outputs_tell_all_parts_apart() -> None:
    """One number, one name, one column, the metric, the order: each is another thing to compare."""
    base = simstudy.Outputs.from_statistics(np.ones((2, 3, 3), dtype=int), "f1", ["a", "b"])
    other = np.ones((2, 3, 3), dtype=int)
    other[0, 0, 0] = 0
    variants = [
        base,
        simstudy.Outputs.from_statistics(other, "f1", ["a", "b"]),
        simstudy.Outputs.from_statistics(np.ones((2, 3, 3), dtype=int), "f1", ["a", "c"]),
        base.with_metric("precision"),
        base.select(["b", "a"]),
        base.head(2),
    ]
    assert len({outputs.fingerprint() for outputs in variants}) == len(variants)
