"""Powers and sizes that papers and a tool give: what each assumed, the same computed again its way, and ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import pandas as pd
from scipy import optimize, stats

from simstudy.studies import (
    Level,
    NormalDifference,
    RightOrWrongDifference,
    derived_seed,
    disagreement_of_correlation,
    of_spread,
    size_for,
)

from .claims import GAIN, POWER, SIZE

Difference = NormalDifference | RightOrWrongDifference

# Numbers drawn at a time.
_AT_ONCE = 2_000_000

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
    """The published way, done again: NaN where it is not known."""
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


def of_size(
    name: str, source: str, what: str, published: float, *, recomputed: float, gain: float, difference: Difference,
    note: str = "",
) -> Anchor:  # fmt: skip
    """A published number of items for power 0.8 (two-sided, 0.05), beside ours."""
    ours = size_for(difference, gain)
    return Anchor(name, source, what, SIZE, published, recomputed, ours, gain, ours, difference, Level(), 0.8, note)


def of_power(
    name: str, source: str, what: str, published: float, *, recomputed: float, gain: float, n: int,
    difference: Difference, level: Level | None = None, note: str = "",
) -> Anchor:  # fmt: skip
    """A published power with n items, beside ours; two-sided at 0.05 where no level is given."""
    level = level or Level()
    ours = difference.detection(gain, n, level).power
    return Anchor(name, source, what, POWER, published, recomputed, ours, gain, n, difference, level, ours, note)


def of_papers(sets: int) -> list[Anchor]:
    """Those of papers and of lmms-eval; what others have simulated is simulated again on so many test sets."""
    return [*_glue(), _bleu(sets), _miller(), *_lmms()]


def beside(anchors: list[Anchor], simulated: list[float]) -> pd.DataFrame:
    """A row for each published number."""
    return pd.DataFrame(
        [
            {
                "case": one.name, "source": one.source, "settings": one.what, "quantity": one.quantity,
                "published": one.published, "recomputed": one.recomputed, "ours": one.ours,
                "ratio": one.ours / one.published, "n_items": one.n, "gain": one.gain, "power": one.power,
                "simulated": power, "note": one.note,
            }
            for one, power in zip(anchors, simulated, strict=True)
        ]
    )  # fmt: skip


def simulated_power(
    source: str, name: str, n: int, gain: float, difference: Difference, level: Level, sets: int, seed: int
) -> float:
    """The share of drawn test sets on which the better system is found, by each test as a textbook has it."""
    rng = np.random.default_rng(derived_seed(seed, "power", source, name))
    at_once, count = max(1, _AT_ONCE // n), 0
    for first in range(0, sets, at_once):
        size = min(at_once, sets - first)
        if isinstance(difference, RightOrWrongDifference):
            count += _of_answers(n, gain, difference, level, size, rng)
        else:
            count += _of_scores(n, gain, difference, level, size, rng)
    return count / sets


def _of_answers(
    n: int, gain: float, difference: RightOrWrongDifference, level: Level, sets: int, rng: np.random.Generator
) -> int:
    """McNemar's exact test: scipy's binomial test of those that differ."""
    differ, gain = difference.disagreement, gain / difference.scale
    better, worse, _ = rng.multinomial(n, [(differ + gain) / 2, (differ - gain) / 2, 1 - differ], sets).T
    one_sided = stats.binom.sf(better - 1, better + worse, 0.5)
    p = one_sided if level.alternative == "greater" else np.minimum(2 * one_sided, 1)
    return int(((p <= level.alpha) & (better > worse)).sum())


def _of_scores(
    n: int, gain: float, difference: NormalDifference, level: Level, sets: int, rng: np.random.Generator
) -> int:
    """The paired t test of normal differences."""
    drawn = rng.normal(gain, difference.sd, (sets, n))
    test = stats.ttest_1samp(drawn, 0, axis=1)
    found = np.asarray(test.pvalue <= level.alpha) & np.asarray(test.statistic > 0)
    return int(found.sum())


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
    return of_power(
        "BLEU, 2,000 sentences",
        "Card et al. 2020, BLEU; their notebook BLEU",
        "BLEU, a true gain of 1 point, 13 % of sentences without effect, the others' Laplace with scale 25.8 / n",
        0.756, recomputed=flips_power(n, 1.0, sets), gain=1.0, n=n, difference=difference,
        note="theirs is from 500 simulated test sets, with a standard error of 0.019",
    )  # fmt: skip


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
    return of_size(
        "mean score, gain 0.03",
        "Miller 2024, section 5",
        "variance 1/9 of the difference of two models' expected scores on a question, power 0.8",
        969, recomputed=z_size(1 / 9, 0.03), gain=0.03, difference=NormalDifference(1 / 3),
        note="theirs takes the standard error as known, ours as estimated from the same questions (t)",
    )  # fmt: skip


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
    what, theirs = "gain 3 points, correlation 0.5 of the two systems' scores, power 0.8", z_size(0.25, 0.03)
    return [
        of_size(name, source, what, theirs, recomputed=theirs, gain=3.0, difference=difference, note=note)
        for name, difference, note in cases
    ]
