"""Metrics of labels: accuracy, macro-F1, balanced accuracy and Matthews correlation (MCC).

All but accuracy need the classes of a data set (`PerClass.with_classes`). Statistics of an item are, for each class,
whether it is predicted rightly, whether it is predicted, and whether it is the gold label. Scores are scikit-learn's of
the (resampled) items, and 0 / 0 is 0 (`zero_division=0`). A class without a gold label counts neither in balanced
accuracy nor in macro-F1, as with `labels=` the gold labels in scikit-learn: else a stray answer would make a class of
F1 0 for one system alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from simstudy.metrics.base import Array, FloatArray, Metric, Ratio, References, TextCounter
from simstudy.metrics.texts import single_references

# What is counted for each class, in this order; then names of statistics are "right:cat".
_KINDS = ("right", "predicted", "gold")


class Accuracy(Ratio):
    """Micro accuracy in percent, from (correct, total) per item.

    An item with one decision has total 1; a sentence in tagging or parsing has as many as it has words.
    """

    def __init__(self) -> None:
        super().__init__(
            "accuracy", ("correct", "total"), numerator=(1, 0), denominator=(0, 1),
            of_item=("total",), shared=("total",), ascending=(("correct", "total"),), unit="percent", item_range=(0, 1),
        )  # fmt: skip

    def text_counter(self, references: References, **_: Any) -> TextCounter:
        return _label_counter(self, references)


class PerClass(Metric):
    """A score of the summed counts of each class; without classes it only stands for its family."""

    def __init__(self, name: str, classes: Sequence[str] = (), **more: Any) -> None:
        gold = tuple(f"gold:{label}" for label in classes)
        super().__init__(
            name, tuple(f"{kind}:{label}" for kind in _KINDS for label in classes), of_item=gold, shared=gold,
            ascending=tuple((f"right:{label}", f"{kind}:{label}") for label in classes for kind in _KINDS[1:]), **more,
        )  # fmt: skip

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels, in the order of the statistics."""
        return _classes(self.statistics)

    def with_classes(self, classes: Iterable[str]) -> Self:
        """The same metric of these labels, in alphabetical order."""
        more = {"label": self.label, "unit": self.unit, "signature": self.signature}
        return type(self)(self.name, sorted(set(classes)), **more)

    def with_statistics(self, names: Sequence[str]) -> Self:
        metric = self.with_classes(_classes(names))
        return metric if metric.statistics == tuple(names) else self

    def text_counter(self, references: References, **_: Any) -> TextCounter:
        return _label_counter(self, references)


class MacroF1(PerClass):
    """The mean F1 of the classes that have a gold label, in percent."""

    def score(self, sums: Array) -> FloatArray:
        right, predicted, gold = _by_class(sums)
        return 100 * _mean_ratio(2 * right, predicted + gold, gold)


class BalancedAccuracy(PerClass):
    """The mean of the classes' recall, in percent."""

    def score(self, sums: Array) -> FloatArray:
        right, _, gold = _by_class(sums)
        return 100 * _mean_ratio(right, gold, gold)


class Mcc(PerClass):
    """The correlation of gold and predicted labels, -1 to 1 (Matthews 1975; Gorodkin 2004 for more classes)."""

    def score(self, sums: Array) -> FloatArray:
        right, predicted, gold = _by_class(sums)
        n = gold.sum(axis=-1)
        above = right.sum(axis=-1) * n - (predicted * gold).sum(axis=-1)
        spread = (n**2 - (predicted**2).sum(axis=-1)) * (n**2 - (gold**2).sum(axis=-1))
        # Between whole counts, rounding may leave less than nothing of a single class.
        below = np.sqrt(np.maximum(spread, 0))
        return np.asarray(np.divide(above, below, out=np.zeros_like(n), where=below > 0))


#: Name -> the metric without classes.
PER_CLASS: dict[str, PerClass] = {
    metric.name: metric
    for metric in (
        MacroF1("macro_f1", label="macro-F1", unit="percent"),
        BalancedAccuracy("balanced_accuracy", label="balanced accuracy", unit="percent"),
        Mcc("mcc", label="MCC"),
    )
}


def _label_counter(metric: Metric, references: References) -> TextCounter:
    gold = [label.strip() for label in single_references(metric.name, references)]
    return TextCounter(len(gold), lambda labels: label_counts(metric, gold, [label.strip() for label in labels]))


def label_counts(metric: Metric, gold: Sequence[str], predicted: Sequence[str]) -> Array:
    """Statistics (n, S) of one system's labels, under a metric for each class or under accuracy."""
    right = np.array([label == wanted for label, wanted in zip(predicted, gold, strict=True)], dtype=np.int8)
    if not isinstance(metric, PerClass):
        return np.stack([right, np.ones_like(right)], axis=-1)
    place = {label: c for c, label in enumerate(metric.classes)}
    rows = np.arange(len(right))
    counts = np.zeros((len(right), len(_KINDS), len(place)), dtype=np.int8)
    columns = [np.array([place[label] for label in labels], dtype=np.int64) for labels in (gold, predicted)]
    counts[rows, 0, columns[0]] = right
    counts[rows, 1, columns[1]] = 1
    counts[rows, 2, columns[0]] = 1
    return counts.reshape(len(right), -1)


def _classes(statistics: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.partition(":")[2] for name in statistics[: len(statistics) // len(_KINDS)])


def _by_class(sums: Array) -> list[FloatArray]:
    return np.split(np.asarray(sums, dtype=np.float64), len(_KINDS), axis=-1)


def _mean_ratio(above: FloatArray, below: FloatArray, gold: FloatArray) -> FloatArray:
    """The mean ratio (...) of the classes (..., C) that have a gold label; 0 without such a class."""
    counted = gold > 0
    ratios = np.divide(above, below, out=np.zeros_like(below), where=counted)
    return np.asarray(ratios.sum(axis=-1) / np.maximum(counted.sum(axis=-1), 1))
