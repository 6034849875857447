"""Intervals and plans of few items, by counting every outcome: no error but rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.studies import RightOrWrongDifference, minimum_detectable_gain, tango

# Two-sided, of 95 %.
_Z = float(stats.norm.isf(0.025))


def one_accuracy(sizes: list[int], published: dict[str, list[float]], at: list[int]) -> pd.DataFrame:
    """Coverage of 95 % intervals of one accuracy, on average over true ones that are even between 0 and 1.

    A row for each number of items and interval. Of p uniform, the chance that p lies between two ends, given k right
    answers, is that of a beta distribution.
    """
    rows: list[dict[str, Any]] = []
    for n in sorted({*sizes, *at}):
        right = np.arange(n + 1)
        beta = stats.beta(right + 1, n - right + 1)
        for name, (low, high) in intervals(n).items():
            theirs = published[name][at.index(n)] if n in at else np.nan
            coverage = float((beta.cdf(high) - beta.cdf(low)).mean())
            rows.append({"n_items": n, "interval": name, "published": theirs, "coverage": coverage})
    return pd.DataFrame(rows)


def intervals(n: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The ends for each number of right answers, from 0 to n."""
    right = np.arange(n + 1)
    share = right / n
    reach = _Z * np.sqrt(share * (1 - share) / n)
    tests = [stats.binomtest(int(k), n) for k in right]
    found = {
        "normal": (share - reach, share + reach),
        "wilson": zip(*(test.proportion_ci(method="wilson") for test in tests), strict=True),
        "exact": zip(*(test.proportion_ci(method="exact") for test in tests), strict=True),
        "bayes": stats.beta(right + 1, n - right + 1).interval(0.95),
        # Of a resample of right and wrong answers the number of right ones is binomial.
        "bootstrap": (stats.binom.ppf(0.025, n, share) / n, stats.binom.ppf(0.975, n, share) / n),
    }
    ends = {name: [np.asarray(end, dtype=np.float64) for end in both] for name, both in found.items()}
    return {name: (low, high) for name, (low, high) in ends.items()}


def two_systems(sizes: list[int], agreement: float, gain: float) -> pd.DataFrame:
    """Coverage of 95 % intervals of a gain: it is 0, or so many points, and the agreement is known."""
    return pd.DataFrame(
        [
            {"n_items": n, "gain": points} | row
            for n in sizes
            for points in (0.0, gain)
            for row in _of_two(n, 1 - agreement, points / 100)
        ]
    )


def _of_two(n: int, differ: float, gain: float) -> list[dict[str, Any]]:
    better, worse = (side.ravel() for side in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    possible = better + worse <= n
    better, worse = better[possible], worse[possible]
    chance = stats.binom.pmf(better + worse, n, differ)
    chance = chance * stats.binom.pmf(better, better + worse, (1 + gain / differ) / 2)
    likely = chance > 1e-12
    better, worse, chance = better[likely], worse[likely], chance[likely]
    observed = (better - worse) / n
    reach = _Z * np.sqrt(((better + worse) / n - observed**2) / n)
    ends = {"normal": (observed - reach, observed + reach), "score": tango(better, worse, n)}
    rounding = 1e-9
    return [
        {"interval": name, "coverage": float(chance[(low <= gain + rounding) & (gain <= high + rounding)].sum())}
        for name, (low, high) in ends.items()
    ]


def few_gains(sizes: list[int], agreement: float) -> pd.DataFrame:
    """The gain that is detected with power 0.8 (two-sided, 0.05): by a textbook's 2.8 standard errors, and by ours.

    NaN where not even a gain on all items that differ is found so often.
    """
    factor = _Z + float(stats.norm.isf(0.2))
    differ = 1 - agreement
    return pd.DataFrame(
        [
            {
                "n_items": n,
                "agreement": agreement,
                "normal": 100 * factor * np.sqrt(differ / n),
                "exact": minimum_detectable_gain(RightOrWrongDifference(differ), n),
                "largest": 100 * differ,
            }
            for n in sizes
        ]
    )
