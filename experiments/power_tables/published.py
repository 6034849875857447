"""Published answers: what each assumed, the same computed again its own way, and ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from math import ceil, sqrt

import numpy as np
from scipy import optimize, stats

from simstudy.studies import (
    Level,
    NormalDifference,
    RightOrWrongDifference,
    disagreement_of_correlation,
    of_spread,
    size_for,
)

GAIN, SIZE, POWER = "gain, points", "items", "power"

Difference = NormalDifference | RightOrWrongDifference

# Where a two-sided p-value of 0.05 and a power of 0.8 are.
_Z, _Z_POWER = float(stats.norm.isf(0.025)), float(stats.norm.isf(0.2))


@dataclass(frozen=True)
class Anchor:
    """A published number, and ours."""

    name: str
    source: str
    what: str
    """What was asked, in words."""
    quantity: str
    """`GAIN`, `SIZE` or `POWER`."""
    published: float
    recomputed: float
    """The published way, done recomputed: NaN where it is not known."""
    ours: float
    gain: float
    """The true gain that ours is about."""
    n: int
    difference: Difference
    """How the systems differ on one item; with n and the gain, what a simulation draws."""
    level: Level
    power: float
    note: str
    """What the two do differently."""


def anchors(sets: int) -> list[Anchor]:
    """All of them, in the order of the page; what others have simulated is simulated again on so many test sets."""
    return [*_glue(), _bleu(sets), _miller(), *_lmms(), *_mcnemar(), *_means()]


# Card et al. 2020: test items, and the accuracy of the best system then, as their notebook has them.
_GLUE = {
    "MRPC": (1725, 0.920, 1.62),
    "RTE": (3000, 0.917, 1.23),
    "QNLI": (5463, 0.975, 0.55),
    "MNLI": (9796, 0.916, 0.67),
}


def overlap(accuracy: float, gain: float) -> float:
    """The share of items on which two systems agree, by the regression of Card et al. (2020); all are fractions."""
    return 0.41422307 + 0.58187475 * accuracy - 0.46624237 * gain


def connor_power(disagreement: float, gain: float, n: float, sides: int = 2) -> float:
    """The power of McNemar's test by the normal approximation of Connor (1987), of fractions."""
    z = stats.norm.isf(0.05 / sides)
    return float(stats.norm.cdf((gain * sqrt(n) - z * sqrt(disagreement)) / sqrt(disagreement - gain**2)))


def connor_size(disagreement: float, gain: float) -> int:
    """The number of items by the same approximation, for power 0.8 (two-sided, 0.05)."""
    return ceil(((_Z * sqrt(disagreement) + _Z_POWER * sqrt(disagreement - gain**2)) / gain) ** 2)


def _glue() -> list[Anchor]:
    found = []
    for name, (n, accuracy, published) in _GLUE.items():
        theirs, ours = (_least(power_of, accuracy, n) for power_of in (connor_power, _exact_power))
        found.append(
            Anchor(
                f"GLUE, {name}",
                "Card et al. 2020, GLUE; their notebook Analyze_reported_results",
                f"accuracy, {n:,} items, power 0.8, {100 * accuracy:g} % before; agreement by their regression",
                GAIN,
                published,
                100 * theirs,
                100 * ours,
                100 * ours,
                n,
                RightOrWrongDifference(1 - overlap(accuracy, ours)),
                Level(),
                0.8,
                "theirs is McNemar's test by a normal approximation, ours the exact test, which is a little careful",
            )
        )
    return found


def _exact_power(disagreement: float, gain: float, n: int) -> float:
    return RightOrWrongDifference(disagreement).detection(100 * gain, n, Level()).power


def _least(power_of: Callable[[float, float, int], float], accuracy: float, n: int) -> float:
    """The gain with power 0.8, of fractions; the share that differs hangs on it."""

    def off(gain: float) -> float:
        return power_of(1 - overlap(accuracy, gain), gain, n) - 0.8

    return float(optimize.brentq(off, 1e-6, 1 - accuracy - 1e-6, xtol=1e-10))


# Of their model of BLEU: the share of sentences that change nothing, and a Laplace distribution's scale times n.
_NO_CHANGE, _SCALE = 0.13, 25.8


def _bleu(sets: int) -> Anchor:
    n = 2000
    # Exchanging one sentence's translations moves the difference twice as far as the sentence's own part in it.
    difference = NormalDifference(_SCALE / 2 * sqrt(2 * (1 - _NO_CHANGE)))
    ours = difference.detection(1.0, n, Level()).power
    return Anchor(
        "BLEU, 2,000 sentences",
        "Card et al. 2020, BLEU; their notebook BLEU",
        "BLEU, a true gain of 1 point, 13 % of sentences without effect, the others' Laplace with scale 25.8 / n",
        POWER,
        0.756,
        flips_power(n, 1.0, sets),
        ours,
        1.0,
        n,
        difference,
        Level(),
        ours,
        "theirs is from 500 simulated test sets, with a standard error of 0.019",
    )


def flips_power(n: int, gain: float, sets: int, at_once: int = 500) -> float:
    """The power of sign flips in their model of BLEU, by simulation; of many flips the sum is normal."""
    rng = np.random.default_rng(0)
    found = 0
    for first in range(0, sets, at_once):
        shape = (min(at_once, sets - first), n)
        drawn = rng.laplace(2 * gain / (n * (1 - _NO_CHANGE)), _SCALE / n, shape)
        drawn *= rng.random(shape) >= _NO_CHANGE
        found += int((drawn.sum(axis=1) > _Z * np.sqrt((drawn**2).sum(axis=1))).sum())
    return found / sets


def z_size(variance: float, gain: float) -> int:
    """The number of items for power 0.8 (two-sided, 0.05), where the variance of a difference is known."""
    return ceil((_Z + _Z_POWER) ** 2 * variance / gain**2)


def _miller() -> Anchor:
    difference = NormalDifference(1 / 3)
    ours = size_for(difference, 0.03)
    return Anchor(
        "mean score, gain 0.03",
        "Miller 2024, section 5",
        "variance 1/9 of the difference of two models' expected scores on a question, power 0.8",
        SIZE,
        969,
        z_size(1 / 9, 0.03),
        ours,
        0.03,
        ours,
        difference,
        Level(),
        0.8,
        "theirs takes the standard error as known, ours as estimated from the same questions (t)",
    )


def _lmms() -> list[Anchor]:
    source = "lmms-eval, power_analysis with its defaults"
    cases: list[tuple[str, Difference, str]] = [
        (
            "any scores",
            of_spread(50, 0.5),
            "standard deviation 0.5 of either system's scores, as stated there; t in place of normal",
        ),
        (
            "right or wrong, 50 %",
            RightOrWrongDifference(disagreement_of_correlation(50, 3, 0.5)),
            "right or wrong at 50 and 53 %, which that standard deviation is of: the exact test is careful",
        ),
        (
            "right or wrong, 90 %",
            RightOrWrongDifference(disagreement_of_correlation(90, 3, 0.5)),
            "right or wrong at 90 and 93 %: standard deviations are 0.30 and 0.26, not 0.5",
        ),
    ]
    found = []
    for name, difference, note in cases:
        ours = size_for(difference, 3)
        theirs = z_size(0.25, 0.03)
        what = "gain 3 points, correlation 0.5 of the two systems' scores, power 0.8"
        found.append(Anchor(name, source, what, SIZE, theirs, theirs, ours, 3.0, ours, difference, Level(), 0.8, note))
    return found


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
        (0.5, "a test that knows of one half shared difficulty needs half as many: what pairing is worth"),
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
