"""Sign flips with Hall's correction for skewness: for units of which a few decide.

Sign flips take contributions to be symmetric around 0, or many. If they are neither, the gain and its standard error
depend on each other: where large contributions are rare and none (or many) of them was drawn, both are wrong in the
same direction. Hall (1992, "On the removal of skewness by transformation") corrects the t statistic for that by
g(t) = t + a (t^2 / 3 + 1 / 6) + a^2 t^3 / 27, which grows with t; a is the sample skewness over the square root of n.

The correction itself is wrong too often where contributions are symmetric and have heavy tails: their sample skewness
is chance. So the p-value is the larger one of the two: both must be small. It is never below that of sign flips, and
the test is exact where sign flips are. The study error_rates has its level beside theirs: where skewness makes sign
flips reject 0.06 to 0.20 at 0.05 from 50 units on, it rejects 0.04 to 0.09. It cannot know of large differences that no
unit of the test set has (rare large gains: 0.22 on 100 units), and for precisions of few wrong answers it is no better:
see test "precision_score".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from simstudy.engines.question import Question, SignificanceResult
from simstudy.engines.sign_flips import sign_flips
from simstudy.engines.spread import spread
from simstudy.metrics.base import FloatArray


def skew_corrected(question: Question) -> SignificanceResult:
    """The larger p-value of sign flips and of the t test with Hall's correction; sign flips' for right and wrong."""
    found = sign_flips(question)
    if question.right_or_wrong:
        return found
    t, skewness = _t(question)
    corrected = hall(t, skewness / np.sqrt(question.n_units))
    df = question.n_units - 1
    p = 2 * special.stdtr(df, -np.abs(corrected)) if question.two_sided else special.stdtr(df, -corrected)
    larger = p > found.p_value
    none = np.where(larger, 0, 1)
    return replace(
        found,
        p_value=np.where(larger, p, found.p_value),
        n_extreme=found.n_extreme * none,
        n_resamples=found.n_resamples * none,
    )


def hall(t: FloatArray, skewness: FloatArray) -> FloatArray:
    """Hall's transformed t, of means (P,) and of the skewness of a mean.

    Examples
    --------
    Of a positive gain the large contributions of a positive skewness make more, and those of a negative one less:

    >>> hall(np.array([2.0, 2.0, 2.0]), np.array([0.3, 0.0, -0.3])).round(3).tolist()
    [2.477, 2.0, 1.577]
    """
    return np.asarray(t + skewness * (t**2 / 3 + 1 / 6) + skewness**2 * t**3 / 27)


def _t(question: Question) -> tuple[FloatArray, FloatArray]:
    """The gains (P,) over their standard errors, and the contributions' skewness; NaN where nothing varies."""
    i, j = question.pairs
    se, skewness = spread(question)
    scores = question.contributions.sum(axis=1)
    return question.factor * (scores[i] - scores[j]) / se, skewness
