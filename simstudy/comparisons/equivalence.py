"""Is a system not worse, or as good as another? One-sided tests against a user's margin (Schuirmann 1987)."""

from __future__ import annotations

from numbers import Real

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import corrected, holm
from simstudy.statistics.proportions import tango, tango_z
from simstudy.tables import require_columns, takes_family
from simstudy.validation import InputError

#: What a pair's conclusion is about a margin.
BETTER, BOTH, EQUIVALENT = "better", "better by less than the margin", "equivalent"
NOT_WORSE, UNDECIDED = "not worse", "undecided"

# The largest gain in a unit of scores: every pair is equivalent within a margin that no gain exceeds.
_LARGEST = {"percent": 100.0, "probability": 1.0}


@takes_family
def equivalence(pairs: pd.DataFrame, margin: float, *, alpha: float = 0.05) -> pd.DataFrame:
    """Comparisons with a conclusion about a margin: better, equivalent, both, not worse, or undecided.

    A difference that is not significant is not shown to be small. A system is not worse than another (non-inferior)
    where a one-sided test rejects that it is worse by the margin or more. Two systems are equivalent where neither is
    worse than the other. Each one-sided test is at alpha / 2: that is where the interval (1 - alpha; for 0.05
    gain_low … gain_high) has minus the margin below it, and, for equivalence, the margin above it.

    All rows together are one family, as for `simstudy.comparisons.corrected`, and conclusions are after correction for
    it: at 0.05 at most 5 % of tables say "better" of some pair falsely, and at most 2.5 % "equivalent" or "not
    worse", where each test keeps its level. A single row has nothing to be corrected for.

    Parameters
    ----------
    pairs
        Comparisons that answer one question.
    margin
        Above 0, on the metric's scale, and below its largest gain (100 points, 1 for a probability): the smallest true
        gain that would matter. It must be chosen before the data are seen.
    alpha
        The level of the test of the gain; each of the one-sided tests has half of it.

    Returns
    -------
    pairs
        A copy with margin; the one-sided p-values p_noninferiority (that system_a, with the better score, is worse by
        the margin or more) and p_equivalence (that either is; since system_a has the better score, always that of
        system_b, of whose non-inferiority it is the p-value too); both after correction, p_noninferiority_holm and
        p_equivalence_holm (each pair has two one-sided tests, of which one null hypothesis can be true: Holm 1979,
        Shaffer 1986); and conclusion: "better" (the gain is significant after Holm's correction), "equivalent", "better
        by less than the margin" (both), "not worse" (system_a is not, but equivalence is not shown) or "undecided".
        NaN, and no more than "better", where a pair has no interval.

    Raises
    ------
    ValueError
        For a margin that is not above 0 or that no gain can exceed, an alpha that is no fraction, and tables that lack
        columns or are several families.

    Examples
    --------
    >>> from simstudy.outputs import Outputs
    >>> from simstudy.comparisons.comparing import compare
    >>> answers = pd.DataFrame({"full": [1, 0, 1, 1] * 100, "small": [1, 0, 1, 1] * 99 + [0] * 4})
    >>> pairs = compare(Outputs.from_scores(answers, "accuracy"))
    >>> for margin in (3, 1, 0.2):
    ...     print(equivalence(pairs, margin)["conclusion"].item())
    equivalent
    not worse
    undecided
    """
    columns = ["gain", "gain_se", "gain_high", "df", "interval", "wins", "losses", "n_units", "p_value"]
    require_columns(pairs, columns)
    check_margin(margin)
    for unit in pairs.get("metric_unit", pd.Series(dtype=object)).unique():
        check_margin(margin, unit)
    better = Decision(alpha, p="p_holm").significant(corrected(pairs))
    # (2, P): that system_a is worse by the margin or more, and that system_b is.
    worse = _one_sided(pairs, margin)
    worse_holm, known = np.full_like(worse, np.nan), ~np.isnan(worse).any(axis=0)
    worse_holm[:, known] = holm(worse[:, known].ravel(), most_true=int(known.sum())).reshape(2, -1)
    not_worse, equivalent = worse_holm[0] <= alpha / 2, (worse_holm <= alpha / 2).all(axis=0)
    conclusion = np.select(
        [equivalent & better, equivalent, better, not_worse], [BOTH, EQUIVALENT, BETTER, NOT_WORSE], UNDECIDED
    )
    return pairs.assign(
        margin=margin,
        p_noninferiority=worse[0],
        p_equivalence=worse.max(axis=0),
        p_noninferiority_holm=worse_holm[0],
        p_equivalence_holm=worse_holm.max(axis=0),
        conclusion=conclusion,
    )


def check_margin(margin: object, unit: str = "") -> None:
    """Raise a ValueError where a margin is not a number above 0, or no gain in this unit of scores can exceed it."""
    if isinstance(margin, bool) or not isinstance(margin, Real) or not 0 < float(margin) < np.inf:
        raise InputError("margin", "must be a number above 0, on the metric's scale", margin)
    if float(margin) >= (largest := _LARGEST.get(unit, np.inf)):
        scale = "from 0 to 1" if largest == 1 else "in percent"
        raise InputError("margin", f"must be below {largest:g} for scores {scale}", margin)


def _one_sided(pairs: pd.DataFrame, margin: float) -> NDArray[np.float64]:
    """p-values (2, P) of system_a, and of system_b, being worse by the margin or more."""
    names = ("gain", "gain_se", "df", "gain_high", "wins", "losses", "n_units")
    gain, se, df, high, better, worse, n = (pairs[name].to_numpy(dtype=np.float64) for name in names)
    # How many standard errors each gain is above minus the margin, and above the margin.
    p = np.stack([scipy.stats.t.sf((gain + margin) / se, df), scipy.stats.t.cdf((gain - margin) / se, df)])
    of_score = (pairs["interval"] == "score").to_numpy()
    if of_score.any():
        # What a proportion of 1 is on the metric's scale.
        scale = np.where(of_score, high / tango(better, worse, n)[1], 1.0)
        above, below = (tango_z(better, worse, n, np.clip(bound / scale, -1, 1)) for bound in (margin, -margin))
        p = np.where(of_score, [scipy.stats.norm.sf(below), scipy.stats.norm.cdf(above)], p)
    return p
