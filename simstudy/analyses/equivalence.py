"""Is one system as good as the other? Two one-sided tests against a margin that the user names (Schuirmann 1987)."""

from __future__ import annotations

from numbers import Real

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from simstudy.decisions import Decision
from simstudy.proportions import tango, tango_z
from simstudy.tables import require_columns
from simstudy.validation import brief, check_fraction

BETTER, EQUIVALENT, BOTH, UNDECIDED = "better", "equivalent", "better by less than the margin", "undecided"


def equivalence(pairs: pd.DataFrame, margin: float, *, alpha: float = 0.05) -> pd.DataFrame:
    """Comparisons with what each says about a margin: better, equivalent, both, or undecided.

    A difference that is not significant is not shown to be small. Two systems are equivalent where both one-sided
    tests reject, that the true gain is at least the margin and that it is at most minus the margin, each at alpha / 2:
    that is where the interval (1 - alpha; for 0.05 gain_low … gain_high) lies between the two.

    Parameters
    ----------
    pairs
        Comparisons.
    margin
        Above 0, on the metric's scale: the smallest true gain that would matter. It must be chosen before the data
        are seen.
    alpha
        The level of the test of the gain; each of the one-sided tests has half of it.

    Returns
    -------
    pairs
        A copy with margin, p_equivalence (the larger of the two one-sided p-values: since system_a has the better
        score, always that of system_b being worse by the margin or more, so that it is the p-value of non-inferiority
        too) and conclusion: "better" (the gain is significant), "equivalent", "better by less than the margin" (both)
        or "undecided". NaN and no more than "better" where a pair has no interval.

    Raises
    ------
    ValueError
        For a margin that is not above 0, an alpha that is no fraction, and tables that lack columns.

    Examples
    --------
    >>> from simstudy.outputs import Outputs
    >>> from simstudy.engines.comparisons import compare
    >>> answers = pd.DataFrame({"full": [1, 0, 1, 1] * 100, "small": [1, 0, 1, 1] * 99 + [0] * 4})
    >>> pairs = compare(Outputs.from_scores(answers, "accuracy"))
    >>> equivalence(pairs, 3)[["margin", "conclusion"]].to_numpy().tolist()
    [[3, 'equivalent']]
    >>> equivalence(pairs, 0.5)["conclusion"].item()
    'undecided'
    """
    columns = ["gain", "gain_se", "gain_high", "df", "interval", "n_better", "n_worse", "n_units", "p_value"]
    require_columns(pairs, columns)
    check_margin(margin)
    check_fraction("alpha", alpha)
    above, below = _distances(pairs, margin)
    of_score, df = (pairs["interval"] == "score").to_numpy(), pairs["df"].to_numpy(dtype=np.float64)
    not_worse = np.where(of_score, stats.norm.cdf(above), stats.t.cdf(above, df))
    not_better = np.where(of_score, stats.norm.sf(below), stats.t.sf(below, df))
    equivalent = np.maximum(not_worse, not_better)
    small, better = equivalent <= alpha / 2, Decision(alpha).significant(pairs)
    conclusion = np.select([small & better, small, better], [BOTH, EQUIVALENT, BETTER], UNDECIDED)
    return pairs.assign(margin=margin, p_equivalence=equivalent, conclusion=conclusion)


def check_margin(margin: object) -> None:
    """Raise a ValueError where a margin is not a number above 0."""
    if isinstance(margin, bool) or not isinstance(margin, Real) or not 0 < float(margin) < np.inf:
        raise ValueError(f"margin must be a number above 0, on the metric's scale, not {brief(margin)}")


def _distances(pairs: pd.DataFrame, margin: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many standard errors each gain is above the margin, and above minus the margin."""
    gain, se = (pairs[name].to_numpy(dtype=np.float64) for name in ("gain", "gain_se"))
    t = [(gain - bound) / se for bound in (margin, -margin)]
    if (pairs["interval"] == "score").any():
        better, worse, n = (pairs[name].to_numpy(dtype=np.float64) for name in ("n_better", "n_worse", "n_units"))
        score = pairs["interval"].to_numpy() == "score"
        _, highest = tango(better, worse, n)
        # What a proportion of 1 is on the metric's scale.
        scale = np.where(score, pairs["gain_high"].to_numpy(dtype=np.float64) / highest, 1.0)
        z = [tango_z(better, worse, n, np.clip(bound / scale, -1, 1)) for bound in (margin, -margin)]
        t = [np.where(score, by_score, by_t) for by_score, by_t in zip(z, t, strict=True)]
    return t[0], t[1]
