"""The mean of one score per item: of scores, preferences, or several samples of each question.

pass@k, pass^k, majority@k and plurality@k are expectations over k samples that are drawn from a question's n samples
without replacement, so that they are unbiased for every n. `simstudy.comparisons.per_question` computes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from simstudy.metrics.base import Array, FloatArray, Ratio

#: End of the name of a mean of errors: tables and files know a metric by its name, which must differ in each direction.
LOWER = " (lower is better)"

#: The mean of scores of which higher is better, and of errors.
MEAN, LOWER_MEAN = "mean", f"mean{LOWER}"


class Mean(Ratio):
    """The mean of item scores (average precision, ROUGE, a judge's rating), from (sum, count) per item.

    An item of count 0 has no score. Scores of items are from `low` to `high`, both included.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        low: float = -np.inf,
        high: float = np.inf,
        scale: float = 1.0,
        higher_is_better: bool = True,
        **more: Any,
    ) -> None:
        super().__init__(
            name or (MEAN if higher_is_better else LOWER_MEAN),
            ("sum", "count"),
            higher_is_better,
            # Not shared: an item may have a score by one system only, and candidates count where they are accepted.
            of_item=("count",),
            ascending=(("count",),),
            numerator=(1, 0),
            denominator=(0, 1),
            scale=scale,
            item_range=(low, high),
            zero_is_best=not higher_is_better,
            **more,
        )

    def rules(self, statistics: Array) -> Iterator[tuple[Array, str]]:
        yield from super().rules(statistics)
        total, count = statistics[..., 0], statistics[..., 1]
        # A quotient ignores a sum over no count, but resampled sums do not.
        yield (count > 0) | (total == 0), "sum = 0 where count is 0"
        low, high = self.item_range or (-np.inf, np.inf)
        if np.isfinite(low):
            yield total >= low * count, f"scores of at least {low:g}"
        if np.isfinite(high):
            yield total <= high * count, f"scores of at most {high:g}"


WIN_RATE = Mean("win_rate", low=0, high=1, scale=100, label="win rate", unit="percent")
BRADLEY_TERRY = Mean("bradley_terry", label="Bradley-Terry strength", unit="points")

_STRENGTH = re.compile(r"bradley_terry(?::alpha=([0-9]*\.?[0-9]+))?")


def strength_metric(name: str) -> Mean | None:
    """The metric "bradley_terry", or one such as "bradley_terry:alpha=0.1", a fit with a penalty; else None."""
    parts = _STRENGTH.fullmatch(name)
    if parts is None or (parts[1] and float(parts[1]) == 0):
        return None
    if not parts[1]:
        return BRADLEY_TERRY
    return Mean(name, label=f"{BRADLEY_TERRY.label} (alpha {parts[1]})", unit="points")


def strength_penalty(name: str) -> float:
    """The alpha in the name of a metric of strengths; 0 without one."""
    parts = _STRENGTH.fullmatch(name)
    return float(parts[1]) if parts and parts[1] else 0.0


_SAMPLES = re.compile(r"(pass@|pass\^|majority@|plurality@)([2-9]|[1-9][0-9]+)")

#: Names of metrics of several samples, for messages.
SAMPLE_KINDS = ("pass@k", "pass^k", "majority@k", "plurality@k")


def sample_metric(name: str) -> Mean | None:
    """The metric "pass@k", "pass^k", "majority@k" or "plurality@k" for any k from 2; None for another name."""
    if _SAMPLES.fullmatch(name) is None:
        return None
    return Mean(name, low=0, high=1, scale=100, label=name, unit="percent")


def kind_and_k(name: str) -> tuple[str, int]:
    """The kind and the k of a metric of samples: ("pass@", 5)."""
    parts = _SAMPLES.fullmatch(name)
    assert parts is not None
    return parts[1], int(parts[2])


def share_right(kind: str, k: int, right: Array, n: Array) -> FloatArray:
    """The expectation for k of n samples, of which some are right: an array of one number a question.

    pass@ is that at least one is right (Chen et al. 2021), pass^ that all are (Yao et al. 2024), majority@ that more
    than half are, where exactly half counts one half.
    """
    # The import takes half a second, and --help does not need it.
    from scipy import stats

    right, n = np.asarray(right, dtype=np.int64), np.asarray(n, dtype=np.int64)
    if kind == "pass@":
        return np.asarray(1.0 - stats.hypergeom.pmf(0, n, right, k))
    if kind == "pass^":
        return np.asarray(stats.hypergeom.pmf(k, n, right, k))
    half = k // 2
    above = stats.hypergeom.sf(half, n, right, k)
    return np.asarray(above + (0.5 * stats.hypergeom.pmf(half, n, right, k) if k % 2 == 0 else 0.0))


def share_of_plurality(k: int, answers: Sequence[int], right: Sequence[float]) -> float:
    """The expected score of the most frequent answer of k of these samples; those that tie are equally likely.

    `answers` are numbers, equal for equal answers, and `right` has the score of each sample.
    """
    counts = Counter(answers)
    score = dict.fromkeys(counts, 0.0)
    for answer, sample_score in zip(answers, right, strict=True):
        score[answer] += sample_score / counts[answer]
    return sum(
        score[answer] * _most_frequent(k, count, tuple(sorted(n for other, n in counts.items() if other != answer)))
        for answer, count in counts.items()
        if score[answer] > 0
    )


@lru_cache(maxsize=4096)
def _most_frequent(k: int, count: int, others: tuple[int, ...]) -> float:
    """The probability that an answer with `count` samples is the most frequent of k, given the counts of the others."""
    ways_to_win = Fraction()
    for most in range(1, min(count, k) + 1):
        # Ways to draw the other k - most samples, by the number of answers that tie with `most` samples and the number
        # of samples so far.
        ways = {(0, 0): 1}
        for other in others:
            added: Counter[tuple[int, int]] = Counter()
            for (n_ties, n), number in ways.items():
                for taken in range(min(other, most, k - most - n) + 1):
                    added[n_ties + (taken == most), n + taken] += comb(other, taken) * number
            ways = added
        shares = sum(Fraction(number, 1 + n_ties) for (n_ties, n), number in ways.items() if n == k - most)
        ways_to_win += comb(count, most) * shares
    return float(ways_to_win / comb(count + sum(others), k))
