"""Metrics of the items' values themselves, not of their sums: AUC, a median, a correlation.

Statistics of an item are its values ("gold", "score"). Engines compute such a metric again on each resample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics.base import Array, FloatArray, Metric
from simstudy.validation import InputError

# Counts of items in memory at a time: as many as fit the second-level cache.
_TOGETHER = 2**17


@dataclass(frozen=True, repr=False)
class ArrayMetric(Metric):
    """A metric of arrays; `simstudy.metric` makes one with ``resample=True``."""

    #: A hash of the function's code and of the values that it uses: functions differ in it.
    program: str = field(default="", kw_only=True)
    #: Takes an array for each statistic, with one value for each item, and returns a number.
    function: Callable[..., Any] | None = field(default=None, kw_only=True, repr=False, compare=False)
    #: The same for T resamples: takes these arrays and the counts of items (T, n), and returns scores (T,).
    weighted: Callable[..., Any] | None = field(default=None, kw_only=True, repr=False, compare=False)

    @property
    def of_sums(self) -> bool:
        return False

    def score(self, sums: Array) -> FloatArray:
        raise InputError(not_of_sums(self))

    def test_set_scores(self, statistics: Array) -> FloatArray:
        return _finite(self._raw_scores(statistics))

    def check_scores(self, statistics: Array, systems: Sequence[str]) -> None:
        self.check_finite(statistics, self._raw_scores(statistics), systems)

    def resampled(self, rows: Array, counts: Array) -> FloatArray:
        """Scores (T,) of T resamples of items (n, S), given the counts of items (T, n); 0 if undefined.

        A score does not depend on the other resamples, to the last bit.
        """
        size = max(1, _TOGETHER // counts.shape[1])
        parts = [self._values(rows, counts[first : first + size]) for first in range(0, len(counts), size)]
        return _finite(np.concatenate(parts))

    def swapped(self, one: Array, other: Array, coins: Array) -> tuple[FloatArray, FloatArray]:
        """Scores (T,) of both pseudo-systems of two systems' items (n, S), given the coins (T, n) that swap items."""
        # Items stay in their order: each is drawn from one of the two systems.
        both = np.stack([one, other], axis=1).reshape(-1, one.shape[1])
        drawn = np.stack([1 - coins, coins], axis=2).reshape(len(coins), -1)
        return self.resampled(both, drawn), self.resampled(both, 1 - drawn)

    def _raw_scores(self, statistics: Array) -> FloatArray:
        every = np.ones((1, statistics.shape[1]), dtype=np.int64)
        return np.concatenate([self._values(rows, every) for rows in statistics])

    def _values(self, rows: Array, counts: Array) -> FloatArray:
        counts = np.asarray(counts, dtype=np.int64)
        if self.weighted is not None:
            with np.errstate(all="ignore"):
                return np.asarray(self.weighted(*rows.T, counts), dtype=np.float64)
        return np.array([self._score_items(np.repeat(rows, times, axis=0)) for times in counts])

    def _score_items(self, rows: Array) -> float:
        assert self.function is not None
        call = f"function({', '.join(self.statistics)}) of metric '{self.name}'"
        # Copies: what the function does to them changes nothing else.
        value = real_numbers(self.function, [np.array(column) for column in rows.T], call)
        if value.shape != ():
            raise InputError(call, f"must return one number, not an array of shape {value.shape}")
        return float(value)


def _finite(scores: FloatArray) -> FloatArray:
    return np.where(np.isfinite(scores), scores, 0.0)


def not_of_sums(metric: Metric) -> str:
    """The message that a metric of arrays has no contributions of items."""
    return (
        f"metric '{metric.name}' is no function of sums, and this needs each item's part in the score; compare, "
        "leaderboard and examine take it"
    )


def _in_order(values: FloatArray, counts: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Counts of items up to and at each distinct value, (T, V) each, and the index of each item's value (n,)."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    at_value = np.add.reduceat(counts[:, order], starts, axis=1)
    return np.cumsum(at_value, axis=1), at_value, place


def auc(gold: FloatArray, score: FloatArray, counts: Array) -> FloatArray:
    """The probability that an item with gold above 0 has a higher score than one without; ties count half."""
    positive = counts * (gold > 0)
    upto, negatives, _ = _in_order(score, counts - positive)
    _, positives, _ = _in_order(score, positive)
    won = (positives * (2 * upto - negatives)).sum(axis=1)
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
    # Row by row, so that a sum does not depend on the number of resamples.
    n = counts.sum(axis=1)
    mean_x, mean_y, xx, yy, xy = ((counts * part).sum(axis=1) / n for part in (x, y, x * x, y * y, x * y))
    return _correlation(xy - mean_x * mean_y, xx - mean_x**2, yy - mean_y**2)


def spearman(gold: FloatArray, score: FloatArray, counts: Array) -> FloatArray:
    """The linear correlation of ranks; items that tie have the mean of their ranks."""
    n = counts.sum(axis=1, keepdims=True)
    ranks = []
    for side in (gold, score):
        upto, at_value, place = _in_order(side, counts)
        # Twice a rank, less twice the mean rank: whole numbers, whose sums are exact.
        ranks.append((2 * upto - at_value - n)[:, place].astype(np.float64))
    x, y = ranks
    return _correlation(*((counts * product).sum(axis=1) for product in (x * y, x * x, y * y)))


def _correlation(xy: FloatArray, xx: FloatArray, yy: FloatArray) -> FloatArray:
    return np.asarray(np.clip(np.divide(xy, np.sqrt(xx * yy), out=np.full(len(xy), np.nan), where=xx * yy > 0), -1, 1))


def _gold_metric(name: str, label: str, weighted: Callable[..., Any]) -> ArrayMetric:
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
    """The numbers that a user's function returns for these columns; an InputError that names the call if it fails."""
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
