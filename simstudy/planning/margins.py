"""Equivalence and non-inferiority: with what probability a test set shows that a system is not worse by a margin."""

from __future__ import annotations

from simstudy.planning.differences import Difference
from simstudy.planning.level import Level

#: What is to be shown: that the better system is better; that the one is not worse than the other by the margin or
#: more; that neither is.
BETTER, NOT_WORSE, EQUIVALENT = "better", "not worse", "equivalent"


def shown_within(difference: Difference, gain: float, margin: float, n: int, level: Level, *, goal: str) -> float:
    """The probability that n units show it: one-sided tests, each at half of a two-sided alpha (Schuirmann 1987).

    These are the tests of `simstudy.equivalence`. Its decision is that the interval of the gain, 95 % for alpha 0.05,
    lies above minus the margin ("not worse"), or between minus the margin and the margin ("equivalent"). For right and
    wrong answers the interval is Tango's score interval, and all outcomes are summed. For other metrics it is the
    jackknife's, with Student's t.

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
    >>> from simstudy.planning.differences import NormalDifference
    >>> n = round((1.96 + 1.2816) ** 2 / 0.1**2)   # each of the two tests has power 0.9
    >>> round(shown_within(NormalDifference(1.0), 0.0, 0.1, n, Level(), goal="equivalent"), 2)
    0.8
    """
    return difference.within(gain, margin, n, level.margin_tail, both=goal == EQUIVALENT)
