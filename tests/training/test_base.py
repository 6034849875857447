"""A task of arrays: what its base systems may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from simstudy.training import Task, mixed_order


def task_of(estimator: Any) -> Task:
    rng = np.random.default_rng(0)
    features, gold = rng.normal(size=(40, 2)), np.arange(40) % 2
    return Task.from_arrays(
        "made up", features, gold, test_sets={"test": (features, gold)}, systems={"base": estimator}
    )


@pytest.mark.parametrize("estimator", [LinearRegression(), make_pipeline(StandardScaler(), LinearRegression())])
def test_regressors_are_refused_with_the_reason(estimator: Any) -> None:
    """Numbers are no labels: all systems would have an accuracy of 0."""
    with pytest.raises(ValueError, match="system 'base' must be a classifier, but .* is a regressor: it predicts"):
        task_of(estimator)


@pytest.mark.parametrize("estimator", [LogisticRegression, "bayes", None, 3])
def test_what_is_no_estimator_is_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match="system 'base' must be an estimator with fit and predict, not"):
        task_of(estimator)


def test_classifiers_are_taken() -> None:
    assert list(task_of(make_pipeline(StandardScaler(), LogisticRegression())).systems) == ["base"]


def test_a_fingerprint_is_of_all_examples_not_of_their_names() -> None:
    rng = np.random.default_rng(0)
    features, gold = rng.normal(size=(40, 2)), np.arange(40) % 2

    def fingerprint(train: Any, test: Any) -> str:
        systems = {"base": LogisticRegression()}
        return Task.from_arrays("t", train, gold, test_sets={"test": (test, gold)}, systems=systems).fingerprint

    same, other = features.copy(), features + 1
    assert fingerprint(features, features) == fingerprint(same, same)
    assert len({fingerprint(features, features), fingerprint(other, features), fingerprint(features, other)}) == 3


class Plain:
    """It has fit and predict, but scikit-learn can not clone it."""

    def fit(self, features: Any, gold: Any) -> Plain:
        return self

    def predict(self, features: Any) -> Any:
        return features[:, 0]


def test_what_can_not_be_cloned_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"system 'base' must inherit from sklearn.base.BaseEstimator, unlike Plain$"):
        task_of(Plain())


def test_a_mixed_order_has_every_domain_evenly_from_the_first_item_to_the_last() -> None:
    """The k-th item of a domain of size m stands where (k - 1/2) / m of all items are; a single one in the middle."""
    domains = np.array(["news"] * 30 + ["mail"] * 20 + ["wiki"])
    order = mixed_order(domains.tolist())
    assert sorted(order) == list(range(51))
    assert domains[order].tolist().index("wiki") == 25
    for name, size in (("news", 30), ("mail", 20)):
        found = np.cumsum(domains[order] == name)
        assert np.abs(found - size * np.arange(1, 52) / 51).max() <= 1
        assert order[domains[order] == name].tolist() != sorted(order[domains[order] == name])
