"""Equivalence and non-inferiority: with what probability a test set shows that a system is not worse by a margin."""

from __future__ import annotations

import numpy as np
from scipy import special

from simstudy.planning.forms import Difference, Level, chi_nodes, t_cut
from simstudy.planning.mixed import MixedDifference

#: What is to be shown: that the better system is better; that the one is not worse than the other by the margin or
#: more; that neither is.
BETTER, NOT_WORSE, EQUIVALENT = "better", "not worse", "equivalent"


def shown_within(difference: Difference, gain: float, margin: float, n: int, level: Level, goal: str) -> float:
    """The probability that n units show it: one-sided tests, each at half of a two-sided alpha (Schuirmann 1987).

    That is where the interval of the gain, 95 % for alpha 0.05, lies above minus the margin ("not worse"), or between
    that and the margin ("equivalent"), as `simstudy.equivalence` says. Estimates are taken to be normal, and standard
    errors to be estimated.

    Parameters
    ----------
    difference
        Of two systems.
    gain
        The true one, of the system that is to be shown to be no worse: 0, or above, or below.
    margin
        Above 0, on the metric's scale.
    n
        Units.
    goal
        "not worse" or "equivalent".

    Examples
    --------
    >>> from simstudy.planning.forms import NormalDifference
    >>> n = round((1.96 + 1.2816) ** 2 / 0.1**2)   # each of the two tests has power 0.9
    >>> round(shown_within(NormalDifference(1.0), 0.0, 0.1, n, Level(), "equivalent"), 2)
    0.8
    """
    if isinstance(difference, MixedDifference):
        each = [shown_within(part, gain, margin, n, level, goal) for part in difference.parts]
        return float(np.mean(each))
    sd = difference.allowing(abs(gain)).sd_of(abs(gain))
    se = sd / np.sqrt(n)
    if se == 0:
        return float(-margin < gain and (goal == NOT_WORSE or gain < margin))
    df = max(n - 1, 1)
    cut = t_cut(level.tail, df) * chi_nodes(df)
    low, high = cut - (margin + gain) / se, (margin - gain) / se - cut
    if goal == NOT_WORSE:
        return float(special.ndtr(-low).mean())
    return float(np.maximum(special.ndtr(high) - special.ndtr(low), 0).mean())
