"""A task: data, base systems, a metric and test sets; what training-set resampling can train."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_scalar

from simstudy.fingerprints import fingerprint
from simstudy.metrics import Metric, get_metric
from simstudy.showing import Shown, listed
from simstudy.validation import brief, check_mapping, check_text

Array = NDArray[Any]


@dataclass(frozen=True)
class Examples:
    """Rows to train on or to label, gathered into items (a sentence's words, or one image).

    Attributes
    ----------
    features
        View name -> matrix with one row for each row of `gold`: dense or CSR. A base system reads one view.
    gold
        (rows,) labels.
    item_of_row
        (rows,) integers, ascending from 0: which item a row belongs to.
    items
        The item table, a row an item: ``id``, and where known ``domain`` and ``cluster``.
    """

    features: Mapping[str, Any]
    gold: Array
    item_of_row: NDArray[np.int64]
    items: pd.DataFrame

    def __post_init__(self) -> None:
        rows = len(self.gold)
        if any(matrix.shape[0] != rows for matrix in self.features.values()) or len(self.item_of_row) != rows:
            raise ValueError(f"features, gold and item_of_row must have the same number of rows, {rows} as gold has")
        if rows == 0 or not np.array_equal(np.unique(self.item_of_row), np.arange(len(self.items))):
            raise ValueError("item_of_row must give every item at least one row, numbered from 0")
        if (np.diff(self.item_of_row) < 0).any():
            raise ValueError("item_of_row must ascend: the rows of an item stand next to each other")

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def first_rows(self) -> NDArray[np.int64]:
        """Bounds (n_items + 1,) of each item's rows."""
        return np.searchsorted(self.item_of_row, np.arange(self.n_items + 1)).astype(np.int64)

    def content(self) -> list[Any]:
        """What the examples are made of, as arrays and text, for a hash that is the same in every process."""
        parts: list[Any] = [self.gold, self.item_of_row, self.items.to_json(orient="split", index=False)]
        for view, matrix in self.features.items():
            sparse = hasattr(matrix, "indptr")
            parts.append([view, matrix.shape, *((matrix.data, matrix.indices, matrix.indptr) if sparse else (matrix,))])
        return parts

    def rows_of(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of the rows of these items, item by item, repeated where an item is."""
        bounds = self.first_rows()
        lengths = (bounds[1:] - bounds[:-1])[items]
        ends = np.cumsum(lengths)
        return np.repeat(bounds[items] - (ends - lengths), lengths) + np.arange(lengths.sum())


@dataclass(frozen=True)
class BaseSystem:
    """A base model: an estimator with fit and predict, and the view of the features that it reads."""

    estimator: Any
    view: str = "default"


def count_correct(gold: Array, predicted: Array) -> Array:
    """Statistics (correct, total) of each row, for accuracy."""
    return np.stack([gold == predicted, np.ones(len(gold), dtype=bool)], axis=1).astype(np.int32)


@dataclass(frozen=True)
class CountPositives:
    """Statistics (correct, guessed, gold) of each row for one label, for precision, recall and F."""

    label: Any

    def __call__(self, gold: Array, predicted: Array) -> Array:
        found, guessed = gold == self.label, predicted == self.label
        return np.stack([found & guessed, guessed, found], axis=1).astype(np.int32)


@dataclass(frozen=True, repr=False)
class Task(Shown):
    """What training-set resampling needs. Make one with `from_arrays`, or from `Examples`.

    Attributes
    ----------
    systems
        Name of the base model -> BaseSystem; the name becomes the systems' ``family``.
    test_sets
        Name -> Examples.
    statistics
        (gold, predicted) -> (rows, S): the metric's statistics of each row; they are summed over an item's rows.
    """

    name: str
    train: Examples
    test_sets: Mapping[str, Examples]
    systems: Mapping[str, BaseSystem]
    metric: Metric
    statistics: Callable[[Array, Array], Array]
    files: Mapping[str, str] = field(default_factory=dict)
    """Data files that the task was made of: name -> SHA-256."""
    fingerprint: str = field(init=False)
    """A hash of the training and test data."""

    def __post_init__(self) -> None:
        if not self.systems or not self.test_sets:
            raise ValueError(f"task '{self.name}' must have at least one base system and one test set")
        content = {name: examples.content() for name, examples in self.test_sets.items()}
        object.__setattr__(self, "fingerprint", fingerprint([self.train.content(), content]))

    def _summary(self) -> tuple[str, str]:
        sets = listed([f"{name} ({examples.n_items:,})" for name, examples in self.test_sets.items()])
        what = f"Task {self.name}: {self.train.n_items:,} training items, metric {self.metric.name}"
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
            raise ValueError(f"positive_label must be one of the training labels, not {brief(positive_label)}")
        chosen = get_metric(metric if metric is not None else "accuracy" if positive_label is None else "f1")
        count: Callable[[Array, Array], Array] = (
            count_correct if positive_label is None else CountPositives(positive_label)
        )
        expected = ("correct", "total") if positive_label is None else ("correct", "guessed", "gold")
        if chosen.statistics != expected:
            needs = "no positive_label" if positive_label is not None else "a positive_label"
            raise ValueError(f"metric '{chosen.name}' of task '{name}' needs {needs}")
        train = _examples(features, gold, items, f"the training set of task '{name}'")
        known = np.unique(train.gold)
        if positive_label is not None and positive_label not in known:
            raise ValueError(f"positive_label must be one of the training labels, not {brief(positive_label)}")
        for system, estimator in systems.items():
            _check_classifier(system, estimator)
        for test_set, given in test_sets.items():
            if not isinstance(given, tuple | list) or len(given) not in (2, 3):
                raise ValueError(f"test set '{test_set}' must be (features, gold) or (features, gold, items)")
            if not np.isin(_labels(given[1], f"test set '{test_set}'"), known).any():
                raise ValueError(f"test set '{test_set}' shares no label with the training set: are they of one type?")
        return cls(
            name=name,
            train=train,
            test_sets={
                test_set: _examples(given[0], given[1], given[2] if len(given) > 2 else None, f"test set '{test_set}'")
                for test_set, given in test_sets.items()
            },
            systems={system: BaseSystem(estimator) for system, estimator in systems.items()},
            metric=chosen,
            statistics=count,
        )


def _check_classifier(system: str, estimator: Any) -> None:
    """Raise a ValueError where an estimator predicts numbers rather than labels, or nothing at all."""
    from sklearn.base import is_regressor

    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ValueError(f"system '{system}' must be an estimator with fit and predict, not {brief(estimator)}")
    try:
        regressor = is_regressor(estimator)
    except AttributeError:
        # It has fit and predict, but nothing else that scikit-learn needs to copy it.
        raise ValueError(
            f"system '{system}' must inherit from sklearn.base.BaseEstimator, unlike {type(estimator).__name__}"
        ) from None
    if regressor:
        raise ValueError(
            f"system '{system}' must be a classifier, but {type(estimator).__name__} is a regressor: it predicts "
            "numbers, none of which is a label, so that its accuracy would be 0"
        )


def _labels(gold: ArrayLike, what: str) -> Array:
    """Labels as an array (rows,); ValueError where they are no list, or no labels that can be told apart."""
    try:
        labels = np.asarray(gold)
        np.unique(labels)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must have labels of one type (text or numbers), not {brief(gold)}") from None
    if labels.ndim != 1 or labels.dtype.kind == "O" and not all(is_scalar(one) and pd.notna(one) for one in labels):
        raise ValueError(f"{what} must have a list of labels, one for each row, not {brief(gold)}")
    return labels


def _examples(features: Any, gold: ArrayLike, items: ArrayLike | None, what: str) -> Examples:
    labels = _labels(gold, what)
    matrix = features.tocsr() if hasattr(features, "tocsr") else np.asarray(features)
    if matrix.ndim != 2:
        raise ValueError(f"{what} must have features as a matrix (rows, columns), not {brief(features)}")
    if len(labels) == 0 or matrix.shape[0] != len(labels):
        raise ValueError(
            f"{what} must have as many labels as rows, and at least one: {len(labels)} and {matrix.shape[0]}"
        )
    if items is None:
        codes, values = np.arange(len(labels)), np.arange(len(labels))
    else:
        named = np.asarray(items)
        if named.ndim != 1:
            raise ValueError(f"{what} must have a list of items, one for each row, not {brief(items)}")
        if pd.isna(named).any():
            raise ValueError(f"{what} must name an item for each row; some are missing")
        codes, values = pd.factorize(named)
        if len(codes) != len(labels):
            raise ValueError(f"{what} must have an item for each row: {len(codes)} and {len(labels)}")
        if (np.diff(codes) < 0).any():
            raise ValueError(f"{what} must have the rows of an item next to each other")
    return Examples({"default": matrix}, labels, codes.astype(np.int64), pd.DataFrame({"id": values.astype(str)}))
