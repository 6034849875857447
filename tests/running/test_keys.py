"""The key of a cell: its arguments, its outputs and the versions of libraries change it."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import simstudy
from simstudy.running import provenance
from simstudy.running.cells import Cell
from simstudy.running.provenance import definition_of, program_of
from simstudy.running.runner import run_cells
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.context import RunContext
from simstudy.studies.definition import Comparison
from simstudy.training.resampling import train_variant
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared


def test_versions_of_libraries_and_of_python_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    before = program_of(compared)
    assert before["numpy"] == importlib.metadata.version("numpy")
    with monkeypatch.context() as patch:
        provenance._versions.cache_clear()
        newer = {"numpy": "99"}
        patch.setattr(provenance, "version", lambda name: newer.get(name) or importlib.metadata.version(name))
        after = program_of(compared)
        provenance._versions.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"numpy"}
    major, minor, *rest = sys.version_info
    for version, names in (((major, minor + 1, *rest), {"python"}), ((major, minor, 99), set[str]())):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "version_info", version)
            after = program_of(compared)
        assert {name for name in before if before[name] != after[name]} == names


def test_programs_have_what_they_execute_and_no_more() -> None:
    comparing, training = set(program_of(compared)), set(program_of(train_variant))
    assert {"simstudy.engines.kernels", "simstudy.metrics.bleu", "numpy", "scipy", "numba", "pandas"} <= comparing
    assert not [name for name in comparing if "plot" in name or "report" in name or name == "matplotlib"]
    assert {"simstudy.training.resampling", "simstudy.training.base", "scikit-learn", "scipy"} <= training
    assert not [name for name in training if "engines" in name]


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.cell")}


def test_each_part_of_a_cell_changes_its_key_alone(tmp_path: Path) -> None:
    def made(typed: str = "def f(*_): return 1", one: object = 1, seed: int = 0, label: str = "a cell") -> set[str]:
        names: dict[str, Any] = {"__name__": "nowhere"}
        exec(typed, names)
        cells = [Cell(label, {"n": n, "seed": seed}, ()) for n in (one, "other")]
        before = kept(tmp_path)
        run_cells(names["f"], cells, cache=tmp_path)
        return kept(tmp_path) - before

    assert len(made()) == 2
    assert not made()
    assert not made(label="other words")
    assert len(made(one=2)) == 1
    assert len(made(seed=1)) == 2
    assert len(made("def f(*_): return 2")) == 2


def test_each_part_of_a_comparison_changes_the_keys_of_its_own_cells(tmp_path: Path) -> None:
    def made(n: int = 50, n_resamples: int = 200, seed: int = 1) -> int:
        """How many of two test sets are compared anew, of which the first changes."""
        before = kept(tmp_path)
        first = Comparison(n_resamples=n_resamples).on(correlated_accuracies([0.5, 0.6], n), seed)
        second = Comparison(n_resamples=200).on(correlated_accuracies([0.5, 0.6], 55), 1)
        run_comparisons("t", [first, second], RunContext(tmp_path, 1))
        return len(kept(tmp_path) - before)

    assert [made(), made(), made(n=60), made(n_resamples=300), made(seed=2)] == [2, 0, 1, 1, 1]


def test_fingerprints_of_outputs_tell_all_parts_apart() -> None:
    """One number, one name, one column, the metric, the order: each is another thing to compare."""
    ones = np.ones((2, 3, 3), dtype=int)
    other = ones.copy()
    other[0, 0, 0] = 0
    base = simstudy.Outputs.from_statistics(ones, "f1", ["a", "b"])
    variants = [
        base,
        simstudy.Outputs.from_statistics(other, "f1", ["a", "b"]),
        simstudy.Outputs.from_statistics(ones, "f1", ["a", "c"]),
        base.with_metric("precision"),
        base.select(["b", "a"]),
        base.head(2),
    ]
    assert len({outputs.fingerprint() for outputs in variants}) == len(variants)


MODEL = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
class Model(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        return self
    def predict(self, X):
        return RESULT
"""


def test_a_mended_estimator_is_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers at random in effect (the classes reversed), then mended: the old score does not stay."""
    monkeypatch.syspath_prepend(tmp_path)
    features, gold = load_iris(return_X_y=True)

    def scores(result: str) -> list[float]:
        (tmp_path / "models.py").write_text(MODEL.replace("RESULT", result))
        monkeypatch.delitem(sys.modules, "models", raising=False)
        importlib.invalidate_caches()
        model = importlib.import_module("models").Model()
        task = simstudy.training.Task.from_arrays(
            "iris", features[::2], gold[::2], test_sets={"test": (features[1::2], gold[1::2])}, systems={"model": model}
        )
        options = {"fractions": [1.0], "replicates": [2], "cache": tmp_path / "cells"}
        return list(simstudy.training.resample_training(task, **options)["test"].scores())

    wrong = scores("2 - self.model_.predict(X)")
    assert scores("2 - self.model_.predict(X)  # as before") == wrong
    assert len(kept(tmp_path / "cells")) == 2
    assert min(scores("self.model_.predict(X)")) > 80 > max(wrong)
    assert len(kept(tmp_path / "cells")) == 4


class Words(dict[str, int]):
    """A dictionary that is one's own."""


@pytest.mark.parametrize("kind", [OrderedDict, Words])
def test_what_a_kind_of_dictionary_holds_counts(kind: type[dict[str, int]]) -> None:
    assert definition_of(kind(a=1)) == definition_of(kind(a=1))
    assert definition_of(kind(a=1)) != definition_of(kind(a=2))
