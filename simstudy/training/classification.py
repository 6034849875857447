"""Classification: rows of features, scikit-learn estimators, and how many labels are right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_scalar

from simstudy.text.reprs import FieldsMixin
from simstudy.training.examples import Examples
from simstudy.validation import InputError

Array = NDArray[Any]

# Rows that are labelled at a time.
_ROWS = 2**16


@dataclass(frozen=True)
class Rows(FieldsMixin):
    """The features of n items: rows of numbers, several rows an item if it has parts (the words of a sentence).

    Attributes
    ----------
    features
        View name -> matrix (rows, columns), dense or CSR. A classifier reads one view.
    item_of_row
        (rows,) integers, ascending from 0: which item a row belongs to.

    Examples
    --------
    >>> len(Rows({"default": np.zeros((3, 2))}, np.array([0, 0, 1])))
    2
    """

    features: Mapping[str, Any]
    item_of_row: NDArray[np.int64]

    def __post_init__(self) -> None:
        rows = len(self.item_of_row)
        if any(matrix.shape[0] != rows for matrix in self.features.values()):
            raise InputError("features", f"must have as many rows as item_of_row, {rows}")
        if (np.diff(self.item_of_row) < 0).any():
            raise InputError("item_of_row", "must ascend: the rows of an item stand next to each other")
        if rows == 0 or not np.array_equal(np.unique(self.item_of_row), np.arange(len(self))):
            raise InputError("item_of_row", "must give every item at least one row, numbered from 0")

    def __len__(self) -> int:
        """Number of items."""
        return int(self.item_of_row[-1]) + 1 if len(self.item_of_row) else 0

    def first_rows(self) -> NDArray[np.int64]:
        """Bounds (n items + 1,) of each item's rows."""
        return np.searchsorted(self.item_of_row, np.arange(len(self) + 1)).astype(np.int64)

    def of_items(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of the rows of these items, item by item, repeated where an item is."""
        bounds = self.first_rows()
        lengths = (bounds[1:] - bounds[:-1])[items]
        ends = np.cumsum(lengths)
        return np.repeat(bounds[items] - (ends - lengths), lengths) + np.arange(lengths.sum())

    def content(self) -> list[Any]:
        """What the rows are made of, as arrays and text, for a hash that is the same in every process."""
        parts: list[Any] = [self.item_of_row]
        for view, matrix in self.features.items():
            sparse = hasattr(matrix, "indptr")
            parts.append([view, matrix.shape, *((matrix.data, matrix.indices, matrix.indptr) if sparse else (matrix,))])
        return parts


@dataclass(frozen=True)
class Classifier(FieldsMixin):
    """A base system of rows: a scikit-learn estimator, and the view of the features that it reads.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = Rows({"default": np.array([[0.0], [1.0], [2.0]])}, np.arange(3))
    >>> examples = Examples(rows, np.array(["low", "low", "high"]))
    >>> answer = Classifier(DecisionTreeClassifier()).train(examples, np.array([1, 1, 1]), seed=0)
    >>> answer(examples).tolist()
    ['low', 'low', 'high']
    """

    estimator: Any
    view: str = "default"

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], Array]:
        """Fit a copy of the estimator."""
        from sklearn.base import clone

        # The resampled training set itself: an item of weight w is there w times, whatever the estimator makes of
        # sample weights (k-NN knows none, SGD and tree leaf sizes take them otherwise than repetition).
        rows = examples.inputs.of_items(np.repeat(np.arange(len(weights)), weights))
        estimator = clone(self.estimator)
        random = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
        estimator.set_params(**dict.fromkeys(random, seed))
        estimator.fit(examples.inputs.features[self.view][rows], examples.gold[rows])
        return lambda other: _predict(estimator, other.inputs.features[self.view])


def _predict(estimator: Any, matrix: Any) -> Array:
    """Labels of rows, so many at a time that the scores of all classes fit into memory."""
    parts = [estimator.predict(matrix[first : first + _ROWS]) for first in range(0, matrix.shape[0], _ROWS)]
    return np.concatenate(parts)


def count_correct(examples: Examples, predicted: Array) -> Array:
    """Statistics (n, 2) of the labels given to rows, for accuracy: right ones of an item, and all.

    Examples
    --------
    >>> rows = Rows({"default": np.zeros((3, 1))}, np.array([0, 0, 1]))
    >>> count_correct(Examples(rows, np.array(["a", "b", "a"])), np.array(["a", "a", "a"])).tolist()
    [[1, 2], [1, 1]]
    """
    return _by_item(examples, [examples.gold == predicted, np.ones(len(predicted), dtype=bool)])


@dataclass(frozen=True)
class CountPositives:
    """Statistics (n, 3) of rows for one label, for precision, recall and F: (correct, guessed, gold) of an item."""

    label: Any

    def __call__(self, examples: Examples, predicted: Array) -> Array:
        found, guessed = examples.gold == self.label, predicted == self.label
        return _by_item(examples, [found & guessed, guessed, found])


def _by_item(examples: Examples, of_rows: list[Array]) -> Array:
    return np.add.reduceat(np.stack(of_rows, axis=1).astype(np.int32), examples.inputs.first_rows()[:-1], axis=0)


def check_classifier(system: str, estimator: Any) -> None:
    """Raise a ValueError where an estimator predicts numbers rather than labels, or nothing at all."""
    from sklearn.base import is_regressor

    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise InputError(f"system '{system}'", "must be an estimator with fit and predict", estimator)
    try:
        regressor = is_regressor(estimator)
    except AttributeError:
        # It has fit and predict, but nothing else that scikit-learn needs to copy it.
        raise InputError(
            f"system '{system}'", f"must inherit from sklearn.base.BaseEstimator, unlike {type(estimator).__name__}"
        ) from None
    if regressor:
        raise InputError(
            f"system '{system}'",
            f"must be a classifier, but {type(estimator).__name__} is a regressor: it predicts numbers, none of "
            "which is a label, so that its accuracy would be 0",
        )


def labels_of(gold: ArrayLike, what: str) -> Array:
    """Labels as an array (rows,); ValueError where they are no list, or no labels that can be told apart."""
    try:
        labels = np.asarray(gold)
        np.unique(labels)
    except (TypeError, ValueError):
        raise InputError(what, "must have labels of one type (text or numbers)", gold) from None
    if labels.ndim != 1 or labels.dtype.kind == "O" and not all(is_scalar(one) and pd.notna(one) for one in labels):
        raise InputError(what, "must have a list of labels, one for each row", gold)
    return labels


def examples_of(what: str, features: Any, gold: ArrayLike, items: ArrayLike | None = None) -> Examples:
    """Rows and their labels as Examples; without items each row is one. A ValueError calls them `what`."""
    labels = labels_of(gold, what)
    matrix = features.tocsr() if hasattr(features, "tocsr") else np.asarray(features)
    if matrix.ndim != 2:
        raise InputError(what, "must have features as a matrix (rows, columns)", features)
    if len(labels) == 0 or matrix.shape[0] != len(labels):
        raise InputError(
            what, f"must have as many labels as rows, and at least one: {len(labels)} and {matrix.shape[0]}"
        )
    if items is None:
        codes, values = np.arange(len(labels)), np.arange(len(labels))
    else:
        named = np.asarray(items)
        if named.ndim != 1:
            raise InputError(what, "must have a list of items, one for each row", items)
        if pd.isna(named).any():
            raise InputError(what, "must name an item for each row; some are missing")
        codes, values = pd.factorize(named)
        if len(codes) != len(labels):
            raise InputError(what, f"must have an item for each row: {len(codes)} and {len(labels)}")
        if (np.diff(codes) < 0).any():
            raise InputError(what, "must have the rows of an item next to each other")
    table = pd.DataFrame({"id": values.astype(str)})
    return Examples(Rows({"default": matrix}, codes.astype(np.int64)), labels, table)
