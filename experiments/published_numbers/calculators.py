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
    size_for,
)

from .claims import POWER, SIZE
from .powers import Anchor, connor_size


def calculators() -> list[Anchor]:
    """Cases of manuals, and what statsmodels computes where it is installed."""
    return [*_mcnemar(), *_means(), *of_statsmodels()]


def _mcnemar() -> list[Anchor]:
    first, second = RightOrWrongDifference(0.4), RightOrWrongDifference(0.5)
    one_sided = Level(0.05, "greater")
    power, n = first.detection(24, 50, one_sided).power, size_for(second, 40)
    return [
        Anchor(
            "McNemar, exact, one-sided",
            "G*Power 3.1 manual, chapter 5",
            "8 and 32 % of pairs differ one way and the other (O'Brien 2002), 50 pairs",
            POWER,
            0.839343,
            np.nan,
            power,
            24.0,
            50,
            first,
            one_sided,
            power,
            "G*Power's sum over the numbers of pairs that differ stops where they are unlikely; R's pwrss has "
            "0.839357 too",
        ),
        *(_balanced(first, pairs, said) for pairs, said in {50: 0.798241, 75: 0.930639, 100: 0.980441}.items()),
        Anchor(
            "McNemar, normal",
            "Connor 1987; powerandsamplesize.com",
            "5 and 45 % of pairs differ one way and the other, power 0.8",
            SIZE,
            23,
            connor_size(0.5, 0.4),
            n,
            40.0,
            n,
            second,
            Level(),
            0.8,
            "theirs is a normal approximation; in the exact test 23 pairs have power 0.777",
        ),
    ]


def _balanced(difference: RightOrWrongDifference, pairs: int, published: float) -> Anchor:
    ours = difference.detection(24, pairs, Level()).power
    return Anchor(
        f"McNemar, exact, two-sided, {pairs} pairs",
        "G*Power 3.1 manual, chapter 5",
        "the same shares, alpha balanced by the second option",
        POWER,
        published,
        balanced_power(pairs, difference.disagreement, 0.8),
        ours,
        24.0,
        pairs,
        difference,
        Level(),
        ours,
        "there one side gets what the other leaves of alpha; ours has alpha / 2 on each, as two-sided p-values have",
    )


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
    difference, standard = of_spread(sqrt(1.25), 0.75), NormalDifference(1.0)
    n, power = size_for(difference, 0.5), standard.detection(0.421637, 50, Level()).power
    return [
        Anchor(
            "paired t",
            "G*Power 3.1 manual, chapter 19",
            "a gain of 0.421637 standard deviations of the difference, 50 pairs",
            POWER,
            0.832114,
            nct_power(0.421637, 50),
            power,
            0.421637,
            50,
            standard,
            Level(),
            power,
            "",
        ),
        Anchor(
            "paired means",
            "R's statpsych, size.test.mean.ps",
            "gain 0.5, variance 1.25 of either score, correlation 0.75, power 0.8",
            SIZE,
            22,
            nct_size(0.5 / sqrt(0.625)),
            n,
            0.5,
            n,
            difference,
            Level(),
            0.8,
            "",
        ),
    ]


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

    found = []
    for effect in (0.1, 0.2, 0.5):
        difference = NormalDifference(1.0)
        ours = size_for(difference, effect)
        found.append(
            Anchor(
                f"paired t, {effect:g} standard deviations",
                "statsmodels, TTestPower().solve_power",
                "power 0.8",
                SIZE,
                float(TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)),
                nct_size(effect),
                ours,
                effect,
                ours,
                difference,
                Level(),
                0.8,
                "theirs need not be a whole number",
            )
        )
    apart = NormalIndPower().solve_power(effect_size=proportion_effectsize(0.83, 0.8), alpha=0.05, power=0.8)
    for r12, note in (
        (0.0, "each system on items of its own there; on the same items, uncorrelated, it is nearly the same"),
        (0.5, "with r12 = 0.5, pairing halves the number of items"),
    ):
        answers = RightOrWrongDifference(disagreement_of_correlation(80, 3, r12))
        ours = size_for(answers, 3)
        found.append(
            Anchor(
                f"accuracy 80 and 83 %, ours with r12 = {r12:g}",
                "statsmodels, NormalIndPower().solve_power",
                "items of each system, power 0.8",
                SIZE,
                float(apart),
                np.nan,
                ours,
                3.0,
                ours,
                answers,
                Level(),
                0.8,
                note,
            )
        )
    return found
