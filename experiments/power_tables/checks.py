"""Checks that need no closed form: power by simulation, coverage by counting every outcome of few items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.studies import NormalDifference, RightOrWrongDifference, derived_seed, minimum_detectable_gain, tango

from .published import Anchor

# Numbers drawn at a time.
_AT_ONCE = 2_000_000

# Two-sided, of 95 %.
_Z = float(stats.norm.isf(0.025))


def simulated_power(anchor: Anchor, sets: int, seed: int) -> float:
    """The share of drawn test sets on which the better system is found, by each test as a textbook has it."""
    rng = np.random.default_rng(derived_seed(seed, "power", anchor.source, anchor.name))
    at_once = max(1, _AT_ONCE // anchor.n)
    draw = _of_answers if isinstance(anchor.difference, RightOrWrongDifference) else _of_scores
    found = sum(draw(anchor, min(at_once, sets - first), rng) for first in range(0, sets, at_once))
    return found / sets


def _of_answers(anchor: Anchor, sets: int, rng: np.random.Generator) -> int:
    """McNemar's exact test: scipy's binomial test of those that differ."""
    assert isinstance(anchor.difference, RightOrWrongDifference)
    differ, gain = anchor.difference.disagreement, anchor.gain / anchor.difference.scale
    better, worse, _ = rng.multinomial(anchor.n, [(differ + gain) / 2, (differ - gain) / 2, 1 - differ], sets).T
    one_sided = stats.binom.sf(better - 1, better + worse, 0.5)
    p = one_sided if anchor.level.alternative == "greater" else np.minimum(2 * one_sided, 1)
    return int(((p <= anchor.level.alpha) & (better > worse)).sum())


def _of_scores(anchor: Anchor, sets: int, rng: np.random.Generator) -> int:
    """The paired t test of normal differences."""
    assert isinstance(anchor.difference, NormalDifference)
    drawn = rng.normal(anchor.gain, anchor.difference.sd, (sets, anchor.n))
    test = stats.ttest_1samp(drawn, 0, axis=1)
    found = np.asarray(test.pvalue <= anchor.level.alpha) & np.asarray(test.statistic > 0)
    return int(found.sum())


def few_items(sizes: list[int], agreement: float, gain: float) -> pd.DataFrame:
    """Coverage of 95 % intervals of few items, by all outcomes: no error but rounding.

    A row for each number of items, quantity and interval. Accuracies of one system are drawn evenly from 0 to 1, as by
    Bowyer et al. 2025; of two systems the agreement is known, and the gain is 0, or so many points.
    """
    rows: list[dict[str, Any]] = []
    for n in sizes:
        one = np.arange(n + 1)
        rows += [{"n_items": n, "quantity": "one accuracy, uniform", "gain": np.nan} | row for row in _of_one(one, n)]
        for points in (0.0, gain):
            rows += [
                {"n_items": n, "quantity": "gain of two systems", "gain": points} | row
                for row in _of_two(n, 1 - agreement, points / 100)
            ]
    return pd.DataFrame(rows)


def _of_one(right: np.ndarray, n: int) -> list[dict[str, Any]]:
    """Coverage on average over true accuracies: of p uniform, P(x right and p between low and high) is of a beta."""
    share = right / n
    reach = _Z * np.sqrt(share * (1 - share) / n)
    scores = [stats.binomtest(int(k), n).proportion_ci(method="wilson") for k in right]
    ends = {
        "normal": (share - reach, share + reach),
        "score": (np.array([ci.low for ci in scores]), np.array([ci.high for ci in scores])),
    }
    beta = stats.beta(right + 1, n - right + 1)
    return [
        {"interval": name, "coverage": float((beta.cdf(high) - beta.cdf(low)).mean())}
        for name, (low, high) in ends.items()
    ]


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
        {
            "interval": name,
            "coverage": float(chance[(low <= gain + rounding) & (gain <= high + rounding)].sum()),
        }
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
