"""Numbers that calculators of power print, computed again their own way, and ours."""

from __future__ import annotations

from importlib import metadata
from math import sqrt

import numpy as np
from scipy import stats

from simstudy.studies import (
    Level,
    NormalDifference,
    RightOrWrongDifference,
    disagreement_of_correlation,
    of_spread,
)

from .powers import Anchor, connor_size, of_power, of_size


def calculators() -> list[Anchor]:
    """Cases of manuals, and what statsmodels computes where it is installed."""
    return [*_mcnemar(), *_means(), *of_statsmodels()]


def _mcnemar() -> list[Anchor]:
    of_manual, manual = RightOrWrongDifference(0.4), "G*Power 3.1 manual, chapter 5"
    return [
        of_power(
            "McNemar, exact, one-sided", manual,
            "8 and 32 % of pairs differ one way and the other (O'Brien 2002), 50 pairs",
            0.839343, recomputed=np.nan, gain=24.0, n=50, difference=of_manual, level=Level(0.05, "greater"),
            note="G*Power's sum over the numbers of pairs that differ stops where they are unlikely; R's pwrss has "
            "0.839357 too",
        ),
        *(
            of_power(
                f"McNemar, exact, two-sided, {pairs} pairs", manual,
                "the same shares, alpha balanced by the second option",
                published, recomputed=balanced_power(pairs, of_manual.disagreement, 0.8), gain=24.0, n=pairs,
                difference=of_manual,
                note="there one side gets what the other leaves of alpha; ours has alpha / 2 on each, as two-sided "
                "p-values have",
            )
            for pairs, published in {50: 0.798241, 75: 0.930639, 100: 0.980441}.items()
        ),
        of_size(
            "McNemar, normal", "Connor 1987; powerandsamplesize.com",
            "5 and 45 % of pairs differ one way and the other, power 0.8",
            23, recomputed=connor_size(0.5, 0.4), gain=40.0, difference=RightOrWrongDifference(0.5),
            note="theirs is a normal approximation; in the exact test 23 pairs have power 0.777",
        ),
    ]  # fmt: skip


def balanced_power(n: int, disagreement: float, share: float, alpha: float = 0.05) -> float:
    """The power of McNemar's exact test, where the side of many wins takes what the other leaves of alpha.

    Of n items a share differs, and of these the better system wins the other share.
    """
    power = 0.0
    for differ in range(n + 1):
        tails = np.cumsum(stats.binom.pmf(np.arange(differ + 1), differ, 0.5))
        few = _most(tails, alpha / 2)
        many = differ - _most(tails, alpha - (float(tails[few]) if few >= 0 else 0.0))
        found = stats.binom.sf(many - 1, differ, share) + stats.binom.cdf(few, differ, share)
        power += float(stats.binom.pmf(differ, n, disagreement) * found)
    return power


def _most(tails: np.ndarray, most: float) -> int:
    """The largest number of wins whose tail is no more than this; -1 for none."""
    return int(np.searchsorted(tails, most * (1 + 1e-12), side="right")) - 1


def _means() -> list[Anchor]:
    return [
        of_power(
            "paired t", "G*Power 3.1 manual, chapter 19",
            "a gain of 0.421637 standard deviations of the difference, 50 pairs",
            0.832114, recomputed=nct_power(0.421637, 50), gain=0.421637, n=50, difference=NormalDifference(1.0),
        ),
        of_size(
            "paired means", "R's statpsych, size.test.mean.ps",
            "gain 0.5, variance 1.25 of either score, correlation 0.75, power 0.8",
            22, recomputed=nct_size(0.5 / sqrt(0.625)), gain=0.5, difference=of_spread(sqrt(1.25), 0.75),
        ),
    ]  # fmt: skip


def nct_power(effect: float, n: int) -> float:
    """The power of the paired t test (two-sided, 0.05) by the noncentral t distribution; both tails."""
    cut, shift = stats.t.isf(0.025, n - 1), effect * sqrt(n)
    return float(stats.nct.sf(cut, n - 1, shift) + stats.nct.cdf(-cut, n - 1, shift))


def nct_size(effect: float) -> int:
    """The number of items for power 0.8 by the same."""
    n = 3
    while nct_power(effect, n) < 0.8:
        n += 1
    return n


def installed() -> str:
    """The version of statsmodels; empty where it is not installed."""
    try:
        return metadata.version("statsmodels")
    except metadata.PackageNotFoundError:
        return ""


def of_statsmodels() -> list[Anchor]:
    """What statsmodels computes beside ours; nothing where it is not installed."""
    if not installed():
        return []
    from statsmodels.stats.power import NormalIndPower, TTestPower
    from statsmodels.stats.proportion import proportion_effectsize

    of_t = [
        of_size(
            f"paired t, {effect:g} standard deviations", "statsmodels, TTestPower().solve_power", "power 0.8",
            float(TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)), recomputed=nct_size(effect),
            gain=effect, difference=NormalDifference(1.0), note="theirs need not be a whole number",
        )
        for effect in (0.1, 0.2, 0.5)
    ]  # fmt: skip
    apart = NormalIndPower().solve_power(effect_size=proportion_effectsize(0.83, 0.8), alpha=0.05, power=0.8)
    of_answers = [
        of_size(
            f"accuracy 80 and 83 %, ours with r12 = {r12:g}", "statsmodels, NormalIndPower().solve_power",
            "items of each system, power 0.8", float(apart), recomputed=np.nan, gain=3.0,
            difference=RightOrWrongDifference(disagreement_of_correlation(80, 3, r12)), note=note,
        )
        for r12, note in (
            (0.0, "each system on items of its own there; on the same items, uncorrelated, it is nearly the same"),
            (0.5, "with r12 = 0.5, pairing halves the number of items"),
        )
    ]  # fmt: skip
    return of_t + of_answers
