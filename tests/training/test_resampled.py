from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from simstudy.running.parallel import CellsFailed
from simstudy.training.base import Task
from simstudy.training.classification import Rows
from simstudy.training.resampling import Variant, resample_training, variants
from tests.training.trained import trained

X, Y = load_iris(return_X_y=True)


class Majority(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained on; fails where told to."""

    def __init__(self, fail_on: float = -1.0) -> None:
        self.fail_on = fail_on

    def fit(self, features: np.ndarray, gold: np.ndarray) -> Majority:
        if features[0, 0] == self.fail_on:
            raise RuntimeError("did not converge")
        self.n_rows_, self.first_ = len(gold), features[0, 0]
        self.guess_ = np.bincount(gold).argmax()
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        return np.full(len(features), self.guess_)


def iris(**systems: object) -> Task:
    return Task.from_arrays(
        "iris", X[::2], Y[::2],
        test_sets={"test": (X[1::2], Y[1::2]), "first": (X[1:80:2], Y[1:80:2])},
        systems=systems or {"bayes": GaussianNB(), "forest": RandomForestClassifier(3)},
    )  # fmt: skip


def test_a_user_task_in_ten_lines() -> None:
    outputs = resample_training(iris(), fractions=[1.0, 0.5], replicates=[2, 3], seed=1)
    assert set(outputs) == {"test", "first"}
    test = outputs["test"]
    assert (test.n_systems, test.n_items) == (10, 75)
    assert test.metric.name == "accuracy"
    assert test.systems["family"].value_counts().to_dict() == {"bayes": 5, "forest": 5}
    assert test.systems["train_size"].tolist() == [75, 75, 38, 38, 38] * 2
    assert (test.systems["source"] == "resampled").all()
    # The outputs are what scikit-learn's own fit on the same rows gives.
    variant = Variant("bayes", 38, 2)
    rows = np.repeat(np.arange(75), variant.training_items(75, 1))
    expected = GaussianNB().fit(X[::2][rows], Y[::2][rows]).predict(X[1::2]) == Y[1::2]
    np.testing.assert_array_equal(test.select([variant.name]).statistics[0, :, 0], expected)


def test_training_sets_are_drawn_with_replacement_and_shared_by_the_base_models() -> None:
    weights = Variant("a", 400, 1).training_items(400, 0)
    assert weights.sum() == 400
    # A share of (1 - 1/n)^n, about 1/e, is left out.
    assert (weights == 0).mean() == pytest.approx(np.exp(-1), abs=0.1)
    np.testing.assert_array_equal(weights, Variant("b", 400, 1).training_items(400, 0))
    for other in (Variant("a", 400, 2), Variant("a", 401, 1)):
        assert (other.training_items(400, 0) != weights).any()
    assert (Variant("a", 400, 1).training_items(400, 1) != weights).any()
    assert Variant("a", 400, 1).random_state(0) != Variant("b", 400, 1).random_state(0)


def test_many_resamples_of_an_item_are_binomial() -> None:
    weights = np.array([Variant("a", 50, replicate).training_items(50, 0) for replicate in range(400)])
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(1 - 1 / 50, abs=0.05)


def test_items_are_resampled_whole() -> None:
    """Rows of an item stay together, as often as the item is drawn."""
    items = np.repeat([0, 1, 2], [2, 3, 1])
    features = np.arange(6.0)[:, None]
    task = Task.from_arrays(
        "t", features, [0, 1, 0, 1, 0, 1], items=items, systems={"m": Majority()}, test_sets={"s": (features, [0] * 6)}
    )
    assert task.train.inputs.of_items(np.array([1, 1, 2, 0])).tolist() == [2, 3, 4, 2, 3, 4, 5, 0, 1]
    assert task.train.inputs.of_items(np.array([2])).tolist() == [5]
    outputs = resample_training(task, fractions=[1.0], replicates=[1])["s"]
    assert outputs.n_items == 6


def test_statistics_are_summed_over_the_items_rows() -> None:
    features, gold = np.zeros((6, 1)), np.array([0, 1, 0, 0, 1, 0])
    task = Task.from_arrays(
        "t", features, gold, systems={"m": Majority()},
        test_sets={"s": (features, gold, ["x", "x", "x", "y", "z", "z"])},
    )  # fmt: skip
    outputs = resample_training(task, fractions=[1.0], replicates=[1], seed=3)["s"]
    guess = 0 if outputs.statistics[0, 1, 0] else 1
    by_hand = [[np.sum(gold[rows] == guess), len(rows)] for rows in ([0, 1, 2], [3], [4, 5])]
    assert outputs.statistics[0].tolist() == by_hand
    assert outputs.items["id"].tolist() == ["x", "y", "z"]


def test_positive_label_gives_f1() -> None:
    task = Task.from_arrays(
        "t", X[::2], Y[::2], systems={"b": GaussianNB()}, test_sets={"s": (X[1::2], Y[1::2])}, positive_label=2
    )
    outputs = resample_training(task, fractions=[1.0], replicates=[1])["s"]
    rows = np.repeat(np.arange(75), Variant("b", 75, 1).training_items(75, 0))
    predicted = GaussianNB().fit(X[::2][rows], Y[::2][rows]).predict(X[1::2])
    from sklearn.metrics import f1_score

    assert outputs.scores()[0] == pytest.approx(100 * f1_score(Y[1::2] == 2, predicted == 2))


def test_numbers_do_not_depend_on_the_process_or_on_the_other_variants() -> None:
    whole = resample_training(iris(), fractions=[1.0, 0.5], replicates=[2, 2])["test"]
    forests = iris(forest=RandomForestClassifier(3))
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        part = resample_training(forests, fractions=[0.5], replicates=[3], executor=executor)["test"]
    shared = ["forest-38-1", "forest-38-2"]
    np.testing.assert_array_equal(part.select(shared).statistics, whole.select(shared).statistics)


def test_more_replicates_train_only_the_new_ones(tmp_path: Path) -> None:
    resample_training(iris(), fractions=[1.0], replicates=[2], cache=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    outputs = resample_training(iris(), fractions=[1.0, 0.5], replicates=[3, 1], cache=tmp_path)
    assert outputs["test"].n_systems == 8
    after = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    assert len(before) == 4
    assert len(after) == 8
    assert before.items() <= after.items()


def test_a_changed_model_metric_or_seed_is_another_variant(tmp_path: Path) -> None:
    def trained(**options: object) -> int:
        before = len(list(tmp_path.glob("*.npz")))
        task = options.pop("task", iris(tree=DecisionTreeClassifier()))
        resample_training(task, fractions=[1.0], replicates=[1], cache=tmp_path, **options)  # type: ignore[arg-type]
        return len(list(tmp_path.glob("*.npz"))) - before

    assert trained() == 1
    assert trained() == 0
    assert trained(seed=1) == 1
    assert trained(task=iris(tree=DecisionTreeClassifier(max_depth=1))) == 1
    other_data = Task.from_arrays(
        "iris", X[::2] + 1, Y[::2], systems={"tree": DecisionTreeClassifier()}, test_sets={"test": (X[1::2], Y[1::2])}
    )
    assert trained(task=other_data) == 1


def test_random_state_is_set_inside_pipelines_and_the_estimator_stays_as_it_was() -> None:
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(2))
    task = iris(p=pipeline)
    first, again = (trained(task, Variant("p", 20, 1), 0)["test"]["accuracy"] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert pipeline[-1].random_state is None
    assert not hasattr(pipeline[-1], "estimators_")


def test_an_estimator_that_fails_on_one_resample_is_named(tmp_path: Path) -> None:
    task = iris(bayes=GaussianNB(), shaky=Majority())
    first = {
        r: task.train.inputs.features["default"][np.flatnonzero(Variant("shaky", 75, r).training_items(75, 0))[0], 0]
        for r in (1, 2, 3)
    }
    unlucky = next(r for r in first if list(first.values()).count(first[r]) == 1)
    task = iris(bayes=GaussianNB(), shaky=Majority(first[unlucky]))
    with pytest.raises(
        CellsFailed, match=rf"1 failed \(training shaky-75-{unlucky}\), the first with RuntimeError: did not"
    ):
        resample_training(task, fractions=[1.0], replicates=[3], cache=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fractions": [1.0], "replicates": [1, 2]}, "same length, not 1 and 2"),
        ({"fractions": [], "replicates": []}, "same length, not 0 and 0"),
        ({"fractions": [0.0], "replicates": [1]}, "fractions must be above 0 and at most 1, not 0.0"),
        ({"fractions": [0.5, 0.501], "replicates": [1, 1]}, "different sizes"),
        ({"fractions": [1.0], "replicates": [0]}, "replicates must be at least 1, not 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"fractions": [2.0], "replicates": [1]}, "fractions must be above 0 and at most 1, not 2.0"),
        ({"fractions": [0.001], "replicates": [1]}, "at least one of 75 training items, not 0.001"),
        ({"fractions": 1.0, "replicates": [1]}, "fractions must be a list of numbers"),
        ({"replicates": [1.5, 1, 1]}, "replicates must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must be at least 1, or -1"),
    ],
)
def test_bad_input(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resample_training(iris(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gold": Y[:10]}, "as many labels as rows"),
        ({"items": [0] * 3}, "an item for each row"),
        ({"items": [0, 1] * 75}, "rows of an item next to each other"),
        ({"items": [None, *range(149)]}, "must name an item for each row"),
        ({"positive_label": 7}, "positive_label must be one of the training labels, not 7"),
        ({"test_sets": {"t": (X, Y.astype(str))}}, "test set 't' shares no label with the training set"),
        ({"test_sets": {"t": (X,)}}, "test set 't' must be"),
        ({"metric": "f1"}, "metric 'f1' of task 'iris' needs a positive_label"),
        ({"metric": "accuracy", "positive_label": 1}, "needs no positive_label"),
        ({"systems": {}}, "systems must map names to estimators, at least one"),
        ({"test_sets": {}}, "test_sets must map names to"),
    ],
)
def test_bad_tasks(options: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"features": X, "gold": Y, "test_sets": {"t": (X, Y)}, "systems": {"b": GaussianNB()}}
    with pytest.raises(ValueError, match=message):
        Task.from_arrays("iris", **{**given, **options})  # type: ignore[arg-type]


def test_default_replicates_are_the_papers() -> None:
    counts = pd.Series([v.train_size for v in variants(iris())]).value_counts().to_dict()
    assert counts == {75: 10, 38: 20, 19: 20}


def test_rows_are_checked() -> None:
    for rows, message in (
        ([0, 0, 2], "every item"), ([1, 0, 1], "must ascend"), ([0, 1], "as many rows as item_of_row, 2")
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            Rows({"default": np.zeros((3, 1))}, np.array(rows))
