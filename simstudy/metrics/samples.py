"""Metrics of several samples of each question: pass@k, pass^k, majority@k and plurality@k, in percent.

A question's number is an expectation over k samples that are drawn from its n samples without replacement, so that it
is unbiased whatever n is. `simstudy.analyses.per_question` computes it from the samples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np

from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.mean import Mean

_NAME = re.compile(r"(pass@|pass\^|majority@|plurality@)([2-9]|[1-9][0-9]+)")

#: How the names of these metrics begin, for messages.
KINDS = ("pass@k", "pass^k", "majority@k", "plurality@k")


def sample_metric(name: str) -> Mean | None:
    """The metric "pass@k", "pass^k", "majority@k" or "plurality@k" for any k from 2; None for another name."""
    if _NAME.fullmatch(name) is None:
        return None
    return Mean(name, low=0, high=1, scale=100, label=name, unit="percent")


def kind_and_k(name: str) -> tuple[str, int]:
    """The kind and the k of such a metric: ("pass@", 5)."""
    parts = _NAME.fullmatch(name)
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
