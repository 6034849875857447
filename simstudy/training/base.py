"""A task: data, base systems, metrics and test sets; what training-set resampling can train."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_scalar

from simstudy.metrics import Metric, get_metric
from simstudy.running.fingerprints import fingerprint
from simstudy.text.reprs import ReprMixin, listed
from simstudy.training.classification import (
    Classifier,
    CountPositives,
    check_classifier,
    count_correct,
    examples_of,
    labels_of,
)
from simstudy.training.examples import BaseSystem, Count, Examples
from simstudy.validation import InputError, brief, check_mapping, check_text


@dataclass(frozen=True, repr=False)
class Task(ReprMixin):
    """A task for training-set resampling: data, base systems, and how answers are scored.

    For classification there is `from_arrays`; a task of any other kind is made of `Examples`.

    Attributes
    ----------
    train
        What base systems are trained on.
    test_sets
        Name -> Examples.
    systems
        Name of the base model -> BaseSystem; the name becomes the systems' ``family``.
    statistics
        Metric, or its name -> function of Examples and the answers to them that counts the metric's statistics
        (n items, S). The first is the task's metric, the others can be asked for.
    files
        Data files that the task was made of: name -> SHA-256.
    fingerprint
        A hash of the training and test data.

    Raises
    ------
    ValueError
        Where there is no base system, no test set or no metric; for an unknown metric, and for what is no base system.

    Examples
    --------
    Whether a name is a person's, by a rule that is learned: the most frequent answer for its last letter.

    >>> class LastLetter:
    ...     def train(self, examples, weights, seed):
    ...         votes = {}
    ...         for name, person, weight in zip(examples.inputs, examples.gold, weights):
    ...             votes[name[-1]] = votes.get(name[-1], 0) + (weight if person else -weight)
    ...         return lambda other: [votes.get(name[-1], 0) > 0 for name in other.inputs]
    >>> def right(examples, answers):
    ...     return [[a == b, 1] for a, b in zip(examples.gold, answers)]
    >>> task = Task(
    ...     "names", Examples(["Anna", "Delhi", "Eva"], [True, False, True]),
    ...     {"test": Examples(["Maria", "Paris"], [True, False])}, {"letter": LastLetter()}, {"accuracy": right}
    ... )
    >>> task.metric.name, task.test_sets["test"].n_items
    ('accuracy', 2)
    """

    name: str
    train: Examples
    test_sets: Mapping[str, Examples]
    systems: Mapping[str, BaseSystem]
    statistics: Mapping[Any, Count]
    files: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        check_text("name", self.name)
        check_mapping("test_sets", self.test_sets, "names to Examples")
        check_mapping("systems", self.systems, "names to base systems")
        check_mapping("statistics", self.statistics, "metrics to functions of examples and answers")
        for what, examples in {"train": self.train, **self.test_sets}.items():
            if not isinstance(examples, Examples):
                raise InputError(f"'{what}' of task '{self.name}'", "must be Examples", examples)
        for system, base in self.systems.items():
            if isinstance(base, type) or not callable(getattr(base, "train", None)):
                raise InputError(
                    f"system '{system}'", f"must have a method train(examples, weights, seed): {brief(base)}"
                )
        counted = {get_metric(metric): count for metric, count in self.statistics.items()}
        for metric, count in counted.items():
            if not callable(count):
                raise InputError("statistics", f"of '{metric.name}' must be a function", count)
        object.__setattr__(self, "statistics", counted)
        content = {name: examples.content() for name, examples in self.test_sets.items()}
        object.__setattr__(self, "fingerprint", fingerprint([self.train.content(), content]))

    @property
    def metric(self) -> Metric:
        """The first of the task's metrics."""
        return next(iter(self.metrics.values()))

    @property
    def metrics(self) -> dict[str, Metric]:
        """The task's metrics by name."""
        return {metric.name: metric for metric in self.statistics}

    def check_counts(self) -> None:
        """Raise a ValueError where a count of the gold answers has a wrong shape: before hours of training.

        Where gold answers are not of the form of answers, counting them may fail; then nothing is known.
        """
        for metric, count in self.statistics.items():
            for name, examples in self.test_sets.items():
                try:
                    counted = count(examples, examples.gold)
                except Exception:
                    continue
                checked_counts(metric, name, examples, counted)

    def _summary(self) -> tuple[str, str]:
        sets = listed([f"{name} ({examples.n_items:,})" for name, examples in self.test_sets.items()])
        metrics = f"metric{'s' * (len(self.metrics) > 1)} {listed([*self.metrics])}"
        what = f"Task {self.name}: {self.train.n_items:,} training items, {metrics}"
        return what, f"base systems {listed([*self.systems])}; test sets (items) {sets}"

    def _table(self) -> pd.DataFrame:
        sizes = {"training": self.train.n_items, **{name: one.n_items for name, one in self.test_sets.items()}}
        return pd.DataFrame({"examples": sizes.keys(), "items": sizes.values()})

    @classmethod
    def from_arrays(
        cls,
        name: str,
        features: Any,
        gold: ArrayLike,
        *,
        test_sets: Mapping[str, tuple[Any, ...]],
        systems: Mapping[str, Any],
        items: ArrayLike | None = None,
        positive_label: Any = None,
        metric: str | Metric | None = None,
    ) -> Task:
        """A classification task from arrays and scikit-learn estimators.

        Parameters
        ----------
        features, gold
            Training matrix (rows, columns), dense or scipy sparse, and its labels (rows,).
        test_sets
            Name -> (features, gold) or (features, gold, items).
        systems
            Name -> estimator with ``fit(X, y)`` and ``predict(X)``. It is cloned, never changed.
        items
            Which item each training row belongs to (sentences of words), rows of an item being neighbours; by
            default each row is an item. Items are what is resampled.
        positive_label
            For precision, recall and F: the label to find.
        metric
            "accuracy" by default; "f1" where a positive label is given.

        Raises
        ------
        ValueError
            For lengths that differ, items that are not neighbours, or a metric that does not fit.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_iris(return_X_y=True)
        >>> task = Task.from_arrays(
        ...     "iris", X[::2], y[::2], test_sets={"test": (X[1::2], y[1::2])}, systems={"bayes": GaussianNB()}
        ... )
        >>> task.train.n_items, task.metric.name
        (75, 'accuracy')
        """
        check_text("name", name)
        check_mapping("test_sets", test_sets, "names to (features, gold)")
        check_mapping("systems", systems, "names to estimators")
        if positive_label is not None and (not is_scalar(positive_label) or pd.isna(positive_label)):
            raise InputError("positive_label", "must be one of the training labels", positive_label)
        chosen = get_metric(metric if metric is not None else "accuracy" if positive_label is None else "f1")
        count: Count = count_correct if positive_label is None else CountPositives(positive_label)
        expected = ("correct", "total") if positive_label is None else ("correct", "guessed", "gold")
        if chosen.statistics != expected:
            needs = "no positive_label" if positive_label is not None else "a positive_label"
            raise InputError(f"metric '{chosen.name}' of task '{name}' needs {needs}")
        train = examples_of(f"the training set of task '{name}'", features, gold, items)
        known = np.unique(train.gold)
        if positive_label is not None and positive_label not in known:
            raise InputError("positive_label", "must be one of the training labels", positive_label)
        for system, estimator in systems.items():
            check_classifier(system, estimator)
        for test_set, given in test_sets.items():
            if not isinstance(given, tuple | list) or len(given) not in (2, 3):
                raise InputError(f"test set '{test_set}'", "must be (features, gold) or (features, gold, items)")
            if not np.isin(labels_of(given[1], f"test set '{test_set}'"), known).any():
                raise InputError(f"test set '{test_set}' shares no label with the training set: are they of one type?")
        tests = {of: examples_of(f"test set '{of}'", *given) for of, given in test_sets.items()}
        classifiers = {system: Classifier(estimator) for system, estimator in systems.items()}
        return cls(name, train, tests, classifiers, {chosen: count})


def checked_counts(metric: Metric, test_set: str, examples: Examples, counts: Any) -> NDArray[Any]:
    """A metric's statistics (n items, S) of the answers to a test set; ValueError where they have another shape."""
    counted, expected = np.asarray(counts), (examples.n_items, len(metric.statistics))
    if counted.shape != expected:
        raise InputError(
            "statistics",
            f"of '{metric.name}' on test set '{test_set}' must be of shape {expected}: a row for each item, "
            f"{', '.join(metric.statistics)}; not {counted.shape}",
        )
    return counted.astype(np.int32) if counted.dtype == bool else counted
