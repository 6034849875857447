"""Metrics that are no function of sums: of the items' values themselves, such as AUC, a median or a correlation.

Statistics of an item are its values ("gold", "score"). Engines compute such a metric again on each resample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics.base import TIE_TOLERANCE, Array, FloatArray, Metric
from simstudy.validation import InputError

#: Scores of counts: takes a system's columns (n,) and how often each item is there (T, n), and returns scores (T,).
Weighted = Callable[..., Any]

# Numbers that are held together: what stays in the second-level cache.
_TOGETHER = 2**17


@dataclass(frozen=True, repr=False)
class ArrayMetric(Metric):
    """A metric of arrays; `simstudy.metric` makes one with ``resample=True``.

    Attributes
    ----------
    function
        Takes an array for each statistic, with one value for each item, and returns a number.
    weighted
        The same for many resamples at a time, where the metric has it: then the function is not called.
    """

    #: A hash of the function's code and of what it holds: it tells functions apart.
    program: str = field(default="", kw_only=True)
    function: Callable[..., Any] | None = field(default=None, kw_only=True, repr=False, compare=False)
    weighted: Weighted | None = field(default=None, kw_only=True, repr=False, compare=False)

    @property
    def of_sums(self) -> bool:
        return False

    def score(self, sums: Array) -> FloatArray:
        raise InputError(not_of_sums(self))

    def test_set_scores(self, statistics: Array) -> FloatArray:
        every = np.ones((1, statistics.shape[1]), dtype=np.int64)
        return np.array([self.resampled(rows, every)[0] for rows in statistics])

    def tie_tolerance(self, statistics: Array) -> FloatArray:
        return TIE_TOLERANCE * np.abs(self.test_set_scores(statistics))

    def check_scores(self, statistics: Array, systems: Sequence[str]) -> None:
        every = np.ones((1, statistics.shape[1]), dtype=np.int64)
        check_finite(self, statistics, np.array([self._values(rows, every)[0] for rows in statistics]), systems)

    def resampled(self, rows: Array, counts: Array) -> FloatArray:
        """Scores (T,) of items (n, S) that are there so many times (T, n), n being the items; 0 where undefined.

        A score does not depend on the other resamples: its bits are the same beside any of them.
        """
        values = np.empty(len(counts))
        size = max(1, _TOGETHER // counts.shape[1])
        for first in range(0, len(counts), size):
            values[first : first + size] = self._values(rows, counts[first : first + size])
        return np.where(np.isfinite(values), values, 0.0)

    def swapped(self, one: Array, other: Array, coins: Array) -> tuple[FloatArray, FloatArray]:
        """Scores (T,) of both pseudo-systems of two systems' items (n, S), where coins (T, n) swap items."""
        if self.weighted is not None:
            both = np.concatenate([one, other])
            kept = np.concatenate([1 - coins, coins], axis=1)
            return self.resampled(both, kept), self.resampled(both, 1 - kept)
        every = np.ones((1, len(one)), dtype=np.int64)
        first, second = np.empty((2, len(coins)))
        for t, swap in enumerate(coins[..., None] == 1):
            first[t] = self.resampled(np.where(swap, other, one), every)[0]
            second[t] = self.resampled(np.where(swap, one, other), every)[0]
        return first, second

    def _values(self, rows: Array, counts: Array) -> FloatArray:
        counts = np.asarray(counts, dtype=np.int64)
        if self.weighted is not None:
            with np.errstate(all="ignore"):
                return np.asarray(self.weighted(*rows.T, counts), dtype=np.float64)
        items = np.arange(len(rows))
        return np.array([self._score_items(rows[np.repeat(items, times)]) for times in counts])

    def _score_items(self, rows: Array) -> float:
        assert self.function is not None
        call = f"function({', '.join(self.statistics)}) of metric '{self.name}'"
        # Copies: what the function does to them changes nothing else.
        value = real_numbers(self.function, [np.array(column) for column in rows.T], call)
        if value.shape != ():
            raise InputError(call, f"must return one number, not an array of shape {value.shape}")
        return float(value)


def check_finite(metric: Metric, statistics: Array, scores: FloatArray, systems: Sequence[str]) -> None:
    """Raise an InputError that names a system whose score is no finite number, and its constant statistics."""
    for system, rows, score in zip(systems, statistics, scores, strict=True):
        if not np.isfinite(score):
            columns = zip(metric.statistics, rows.T, strict=True)
            constant = [f"'{name}' is {column[0]:g} for every item" for name, column in columns if np.ptp(column) == 0]
            why = f": {' and '.join(constant)}" if constant else ""
            rule = f"of metric '{metric.name}' must be a finite number for the whole test set, not {score} as for"
            raise InputError("score", f"{rule} system '{system}'{why}")


def not_of_sums(metric: Metric) -> str:
    """Why something that needs each item's part in a score cannot be had for a metric of arrays, in a line."""
    return (
        f"metric '{metric.name}' is no function of sums, and this needs each item's part in the score; compare, "
        "leaderboard and examine take it"
    )


def _in_order(values: FloatArray, counts: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """How often items up to each distinct value are there (T, V), how often each is (T, V), and the value of items."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    of_value = np.add.reduceat(counts[:, order], starts, axis=1)
    return np.cumsum(of_value, axis=1), of_value, place


def auc(gold: FloatArray, score: FloatArray, counts: Array) -> FloatArray:
    """The probability that an item with gold above 0 has a higher score than one without; ties count half."""
    positive = counts * (gold > 0)
    below, of_value, _ = _in_order(score, counts - positive)
    _, positive_of, _ = _in_order(score, positive)
    won = (positive_of * (2 * below - of_value)).sum(axis=1)
    n_positive = positive.sum(axis=1)
    return np.asarray(won / (2 * n_positive * (counts.sum(axis=1) - n_positive)))


def median(score: FloatArray, counts: Array) -> FloatArray:
    """The middle value, or the mean of the two in the middle."""
    distinct = np.unique(score)
    upto, _, _ = _in_order(score, counts)
    n = upto[:, -1:]
    low, high = ((upto > (n - 1) // 2).argmax(axis=1), (upto > n // 2).argmax(axis=1))
    return np.asarray((distinct[low] + distinct[high]) / 2)


def pearson(gold: FloatArray, score: FloatArray, counts: Array) -> FloatArray:
    """The linear correlation."""
    x, y = (side - side.mean() for side in (gold, score))
    # Row by row, so that a sum does not depend on how many resamples there are.
    n = counts.sum(axis=1)
    mean_x, mean_y, xx, yy, xy = ((counts * part).sum(axis=1) / n for part in (x, y, x * x, y * y, x * y))
    return _correlation(xy - mean_x * mean_y, xx - mean_x**2, yy - mean_y**2)


def spearman(gold: FloatArray, score: FloatArray, counts: Array) -> FloatArray:
    """The linear correlation of ranks; items that tie have the mean of their ranks."""
    n = counts.sum(axis=1, keepdims=True)
    ranks = []
    for side in (gold, score):
        upto, of_value, place = _in_order(side, counts)
        # Twice a rank, less twice the mean rank: whole numbers, whose sums are exact.
        ranks.append((2 * upto - of_value - n)[:, place].astype(np.float64))
    x, y = ranks
    return _correlation(*((counts * product).sum(axis=1) for product in (x * y, x * x, y * y)))


def _correlation(xy: FloatArray, xx: FloatArray, yy: FloatArray) -> FloatArray:
    return np.asarray(np.clip(np.divide(xy, np.sqrt(xx * yy), out=np.full(len(xy), np.nan), where=xx * yy > 0), -1, 1))


def _gold_metric(name: str, label: str, weighted: Weighted) -> ArrayMetric:
    return ArrayMetric(
        name, ("gold", "score"), label=label, of_item=("gold",), shared=("gold",), program=name, weighted=weighted
    )


#: Name -> metric: AUC of scores for gold labels, correlations with gold (human) scores, and the middle score.
ARRAYS: dict[str, ArrayMetric] = {
    metric.name: metric
    for metric in (
        _gold_metric("auc", "AUC", auc),
        _gold_metric("pearson", "Pearson's correlation", pearson),
        _gold_metric("spearman", "Spearman's correlation", spearman),
        ArrayMetric("median", ("score",), program="median", weighted=median),
        ArrayMetric("median (lower is better)", ("score",), False, label="median", program="median", weighted=median),
    )
}


def real_numbers(function: Callable[..., Any], columns: Sequence[Array], call: str) -> FloatArray:
    """What a user's function returns for these columns; an InputError that begins with the call where it fails."""
    try:
        with np.errstate(all="ignore"):
            returned = function(*columns)
    except (Exception, SystemExit) as error:
        # Neither a bug of ours nor an end of the program.
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{call} fails: {reason}") from None
    values = np.asarray(returned)
    if returned is None or values.dtype.kind not in "biuf":
        kind = "nothing (is a return missing?)" if returned is None else f"'{values.dtype.name}'"
        raise InputError(call, f"must return real numbers, not {kind}")
    return values.astype(np.float64, copy=False)
