"""The interval of a gain, its standard error, and the least gain that a pair would detect.

No test is needed for them: a gain's variance is the jackknife's. If items are right or wrong and resampled one by one,
the interval is Tango's (1998). It covers for few items too; the jackknife's interval is approximate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from simstudy.engines.array_scores import bootstrap_deviations
from simstudy.engines.question import Question, difference_moments
from simstudy.metrics import Metric
from simstudy.metrics.annotations import Aer
from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.f_measure import Counts, Fills
from simstudy.metrics.influence import deviations
from simstudy.metrics.texts import ErrorRate, Perplexity
from simstudy.statistics.proportions import tango

#: Coverage of the interval; level (two-sided) and power of the minimum detectable gain.
LEVEL, ALPHA, POWER = 0.95, 0.05, 0.8

# The least and the largest score of metrics that are neither ratios of counts nor means of scores with a range.
_RANGES = {
    **dict.fromkeys(("bleu", "chrf", "chrf++", "macro_f1", "balanced_accuracy"), (0.0, 100.0)),
    **dict.fromkeys(("mcc", "pearson", "spearman"), (-1.0, 1.0)),
    "auc": (0.0, 1.0),
}

# Variances of a difference below this part of both systems' are rounding.
_ROUNDING = 1e-12


def intervals(question: Question, gain: FloatArray, wins: IntArray, losses: IntArray) -> dict[str, Any]:
    """Columns of Comparisons that tell how well the gains (P,) are known; NaN where there is no number.

    The score interval is of the `wins` and `losses` (P,) of the better system. A jackknife interval is
    gain ± t times its standard error (`spread`), cut at the largest possible gain.
    """
    df = question.n_units - (len(question.strata) - 1)
    se, skewness = spread(question)
    by_score = question.right_or_wrong and len(question.strata) == 2
    if by_score:
        low, high = (question.worth * bound for bound in tango(wins, losses, question.n_units, LEVEL))
    else:
        low, high = t_interval(gain, se, df, question.metric, LEVEL)
    return {
        "gain_se": se,
        "gain_low": low,
        "gain_high": high,
        "minimum_detectable_gain": (special.stdtrit(df, 1 - ALPHA / 2) + special.stdtrit(df, POWER)) * se,
        "interval": "score" if by_score else "jackknife" if question.metric.of_sums else "bootstrap",
        "df": df,
        "skewness": skewness,
    }


def t_interval(gain: Any, se: Any, df: Any, metric: Metric, level: float) -> tuple[FloatArray, FloatArray]:
    """Interval of gains (P,) by Student's t, which ends where no gain can be larger (`score_range`)."""
    half = special.stdtrit(np.asarray(df, dtype=np.float64), (1 + level) / 2) * se
    least, largest = score_range(metric)
    return np.maximum(gain - half, least - largest), np.minimum(gain + half, largest - least)


def score_range(metric: Metric) -> tuple[float, float]:
    """The least and the largest score that a metric may have; infinite where there is none, or it is not known."""
    if isinstance(metric, Counts | Fills | Aer):
        return 0.0, metric.scale
    if isinstance(metric, Perplexity):
        return 0.0 if metric.name == "bits_per_byte" else 1.0, np.inf
    if isinstance(metric, ErrorRate):
        return 0.0, np.inf
    if metric.item_range is not None:
        low, high = metric.item_range
        return low * metric.scale, high * metric.scale
    return _RANGES.get(metric.name, (-np.inf, np.inf))


def spread(question: Question) -> tuple[FloatArray, FloatArray]:
    """The standard error of each pair's gain, and the skewness of what the units contribute to it; (P,) each.

    Both are by the jackknife (`metrics.influence.contributions`), for a metric of arrays by the bootstrap
    (`engines.array_scores.bootstrap_deviations`). The skewness of a mean's contributions is that of the units'
    differences: the third central moment over the 1.5th power of the second. It is positive where a few units favour
    the better system by much. Both are NaN where all units have the same difference, and where a system's score is
    undefined without one of the units: the whole denominator is there.
    """
    (i, j), n = question.pairs, question.n_units
    if question.right_or_wrong and len(question.strata) == 2:
        wins, losses = question.won
        mean = (wins - losses) / n
        squares, cubes = (
            wins * (1 - mean) ** power + losses * (-1 - mean) ** power + (n - wins - losses) * (-mean) ** power
            for power in (2, 3)
        )
        squares[squares == 0] = np.nan
        return question.worth * np.sqrt(squares / (n * (n - 1))), cubes / squares**1.5 * np.sqrt(n)
    if isinstance(question.metric, ArrayMetric):
        rows = (
            bootstrap_deviations(question.metric, question.statistics, question.members, question.strata, question.seed)
            * question.metric.sign
        )
        # Its skewness is that of the gain, not of n contributions.
        n *= rows.shape[1]
    else:
        rows = deviations(question.contributions, question.strata)
    squares, cubes = difference_moments(rows, question.pairs)
    variance = (rows**2).sum(axis=1)
    squares[squares <= _ROUNDING**2 * (variance[i] + variance[j])] = np.nan
    if question.metric.of_sums:
        squares[question.undefined[i] | question.undefined[j]] = np.nan
    return question.factor * np.sqrt(squares), cubes / squares**1.5 * np.sqrt(n)
