"""What tests are checked against: enumerations in exact fractions, whole-number polynomials, scipy's binomials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy import special, stats

from simstudy.comparisons import compare
from simstudy.engines import resampling
from simstudy.engines.question import Question
from simstudy.engines.registry import TESTS
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.validation import check_fraction


def compared(outputs: Outputs, *, tile_size: int | None = None, **options: Any) -> pd.DataFrame:
    """The table of `compare`, for tests that look at its columns; with so many resamples in a tile."""
    tile: dict[str, Any] = {} if tile_size is None else {"side_effect": lambda *_: tile_size}
    with patch.object(resampling, "_default_tile", wraps=resampling._default_tile, **tile):
        return compare(outputs, **options).frame


#: Lower is better.
ERROR_RATE = Ratio("error rate", ("wrong", "total"), False, (1, 0), (0, 1))


@dataclass(frozen=True)
class Geometric(Metric):
    """The root of the product of two precisions: no ratio, as BLEU is none."""

    def score(self, sums: np.ndarray) -> np.ndarray:
        sums = np.asarray(sums, dtype=np.float64)
        ratio = sums[..., :2] / np.maximum(sums[..., 2:], 1)
        return 100 * np.sqrt(ratio[..., 0] * ratio[..., 1])


def ascending(counts: np.ndarray, metric: str = "f1") -> np.ndarray:
    """Numbers (K, n, S) in such an order as counts of parts and wholes have, wholes that systems share the same."""
    known = METRICS[metric]
    ordered = np.sort(counts, axis=-1)
    for name in known.shared:
        whole = ordered[..., known.statistics.index(name)]
        whole[:] = whole.max(axis=0)
    return ordered


GEOMETRIC = Geometric("geometric", ("m1", "m2", "n1", "n2"))


def fraction(metric: Ratio, sums: np.ndarray) -> Fraction:
    """A ratio's score without its scale."""
    above, below = (
        sum(int(s) * w for s, w in zip(sums, weights, strict=True))
        for weights in (metric.numerator, metric.denominator)
    )
    return Fraction(above, below) if below else Fraction(0)


def goodness(metric: Metric) -> Callable[[np.ndarray], Any]:
    """Sums to a number that is the larger the better, a fraction where the metric is a ratio."""
    direction = metric.sign
    if isinstance(metric, Ratio):
        return lambda sums: direction * fraction(metric, sums)
    return lambda sums: direction * float(metric.score(sums))


@cache
def all_resamples(n: int) -> np.ndarray:
    """(n^n, n) counts."""
    return np.array([np.bincount(draw, minlength=n) for draw in product(range(n), repeat=n)])


def all_shuffles(n: int) -> np.ndarray:
    """(2^n, n) coins."""
    return np.arange(2**n)[:, None] >> np.arange(n) & 1


def all_signs(n: int) -> np.ndarray:
    """(2^n, n) signs, 1 and -1."""
    return 1 - 2 * all_shuffles(n)


def n_subsets(numbers: np.ndarray, most: int) -> list[int]:
    """How many subsets of positive whole numbers have a sum of at most 0, 1, … `most`, by the product of 1 + x^c."""
    ways = np.zeros(most + 1, dtype=object)
    ways[0] = 1
    for number in numbers:
        ways[number:] = ways[number:] + ways[: max(most + 1 - number, 0)]
    return list(accumulate(ways))


def shuffled_p(pair: np.ndarray, metric: Metric, *, two_sided: bool = False, strict: bool = False) -> float:
    """The share of extreme ones among all 2^n shuffles of a pair's statistics (2, n, S), the better system first.

    Ratios in fractions; other metrics in double precision, where 1e-9 is a tie.
    """
    score, slack = goodness(metric), 0 if isinstance(metric, Ratio) else 1e-9
    totals = pair.sum(axis=1)
    moved, counts = np.unique(all_shuffles(pair.shape[1]) @ (pair[1] - pair[0]), axis=0, return_counts=True)
    observed = score(totals[0]) - score(totals[1])
    extreme = 0
    for step, count in zip(moved, counts, strict=True):
        gain = score(totals[0] + step) - score(totals[1] - step)
        excess = (abs(gain) if two_sided else gain) - observed
        extreme += int(count) * bool(excess > slack if strict else excess >= -slack)
    return extreme / int(counts.sum())


def drawn_tail(difference: np.ndarray, least: int) -> Fraction:
    """P(sum of n draws with replacement from n whole-number differences >= least), exactly.

    The distribution's generating function to the n-th power, as one whole number: a base so large that no digit
    carries over makes its digits the numbers of resamples.
    """
    n, low = len(difference), int(difference.min())
    bits = (n**n).bit_length() + 1
    resamples = sum(1 << bits * (int(d) - low) for d in difference) ** n
    upper = resamples >> bits * max(least - n * low, 0)
    # The sum of a number's digits is what is left of it modulo the base less 1.
    return Fraction(upper % ((1 << bits) - 1), n**n)


def exact_bootstrap_p(correct_a: np.ndarray, correct_b: np.ndarray) -> float:
    """P(gain(x*) >= 2 gain(x)) for 0/1 scores: the tail of a trinomial, by scipy's binomials.

    Of n draws, M fall on items where the systems differ, W of these on items that only a gets right; the sum of the
    differences is 2 W - M.
    """
    n = len(correct_a)
    only_a, only_b = int(((correct_a == 1) & (correct_b == 0)).sum()), int(((correct_a == 0) & (correct_b == 1)).sum())
    if only_a + only_b == 0:
        return 1.0
    m = np.arange(n + 1)
    least = np.ceil((2 * (only_a - only_b) + m) / 2)
    wins = stats.binom.sf(least - 1, m, only_a / (only_a + only_b))
    return float((stats.binom.pmf(m, n, (only_a + only_b) / n) * wins).sum())


def could_be(n_extreme: int, n_resamples: int, p: float) -> bool:
    """Whether so many of the resamples may be extreme where the share of all is p; wrongly no once in 10^7."""
    low, high = clopper_pearson(n_extreme, n_resamples, 1 - 1e-7)
    # What is summed in double precision may be 1 up to its last bit.
    return bool(low - 1e-12 <= p <= high + 1e-12)


def intervals_that_miss(n_pairs: int, *, n_resamples: int, edge: float, seed: int) -> int:
    """How many Monte Carlo intervals of random pairs miss the p-value that infinitely many resamples would give.

    Correlated right and wrong answers to 50 … 2000 items, each pair with resamples of its own; those with such a p
    within `edge` of 0 or 1 do not count. The engine's own counts: `compare` would take several times as long to make
    tables of one row.
    """
    rng = np.random.default_rng(seed)
    missed = tried = 0
    while tried < n_pairs:
        n = int(rng.integers(50, 2001))
        accuracy = rng.uniform(0.5, 0.95)
        step = rng.uniform(0, 1.5) / np.sqrt(n)
        quantiles = stats.norm.ppf([[accuracy], [max(accuracy - step, 0.05)]])
        latent = np.sqrt(0.6) * rng.normal(size=n) + np.sqrt(0.4) * rng.normal(size=(2, n))
        right = (latent < quantiles).astype(np.int64)
        right = right[np.argsort(-right.sum(axis=1), kind="stable")]
        question = Question(
            np.stack([right, np.ones_like(right)], axis=-1), METRICS["accuracy"], ["a", "b"], "item",
            np.array([0, n]), "greater", monte_carlo=True, n_resamples=n_resamples, seed=tried,
        )  # fmt: skip
        answers = TESTS["bootstrap"].run(question)
        low, high = clopper_pearson(answers.n_extreme, answers.n_resamples)
        limit = exact_bootstrap_p(*right)
        if edge < limit < 1 - edge:
            tried += 1
            missed += not low[0] <= limit <= high[0]
    return missed


def average_precision(share_true: float, separation: float, threshold: float) -> float:
    """The true average precision pi_A of the region in which a function's score is at least the threshold gamma.

    A true candidate's score is normal with mean d (the separation) and standard deviation 1, a false one's with mean
    0. So a true one is accepted with probability Phi(d - gamma), a false one with Phi(-gamma), and by Bayes' rule an
    accepted one is true with probability pi = s Phi(d - gamma) / (s Phi(d - gamma) + (1 - s) Phi(-gamma)), s being the
    share of true ones. It is also the mean of a set's precision if its candidates are independent, whatever the number
    accepted (equation 2).
    """
    check_fraction("share_true", share_true)
    if not np.isfinite([separation, threshold]).all():
        raise ValueError(f"separation and threshold must be finite, not {separation} and {threshold}")
    # In logits, where neither tail underflows.
    odds = stats.norm.logsf(threshold - separation) - stats.norm.logsf(threshold)
    return float(special.expit(special.logit(share_true) + odds))
