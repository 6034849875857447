"""Two systems compared after every item: e-values and intervals that hold at all looks together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from simstudy.comparisons.arrivals import Arrivals
from simstudy.comparisons.equivalence import check_margin
from simstudy.engines.betting import confidence_sequence, largest, log_e_values
from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs
from simstudy.validation import InputError, check_fraction, check_list, check_whole, number_list

# Looks of a table, where none are asked for.
_LOOKS = 20


def e_values(differences: ArrayLike, null: float = 0.0) -> FloatArray:
    """The e-value after each of n differences, against the null hypothesis that their mean is `null` or less.

    An e-value is the capital of a gambler who began with 1 and bet against the null hypothesis. Under it the expected
    e-value is at most 1 at every time, and the e-value ever reaches 1 / alpha with probability alpha at most (Ville
    1939). The test may therefore be asked after every item, and stopped at any.

    Parameters
    ----------
    differences
        (n,), each from -1 to 1, in the order in which they came: differences of scores over the width of their range.
    null
        Above -1 and below 1: the largest mean under the null hypothesis.

    Returns
    -------
    e_values
        (n,), from 0 to 10^304. For the other side negate differences and `null`.

    Raises
    ------
    ValueError
        For numbers outside of their ranges.

    Notes
    -----
    The gambler splits the capital between 17 bets, which stake the fractions f = 2^(-k / 2), k = 0 … 16, of what they
    have (buy and hold; Cover 1991). With x = (1 + d) / 2 and m = (1 + null) / 2,

        e = mean over f of the product over differences of 1 + f (x / m - 1)

    which is the mean of the products of 1 + f d if null is 0. No bet depends on the difference that it is about
    (Waudby-Smith and Ramdas 2024; Orabona and Jun 2024). Under the null hypothesis, the expected difference given all
    earlier ones is at most `null`.

    Examples
    --------
    >>> e_values([1, 1, 1]).round(2).tolist()   # three wins, no loss
    [1.2, 1.52, 2.04]
    >>> bool(np.isclose(e_values([1, 0, -1])[-1], np.mean([1 - f**2 for f in 2.0 ** (-np.arange(17) / 2)])))
    True
    """
    values = number_list("differences", differences)
    if (outside := np.abs(values) > 1).any():
        raise InputError("differences", "must lie between -1 and 1", values[outside][0])
    if isinstance(null, bool) or not isinstance(null, int | float) or not -1 < null < 1:
        raise InputError("null", "must lie between -1 and 1, both excluded", null)
    return np.exp(np.minimum(log_e_values(values, float(null)), 700.0))


def sequential(
    outputs: Outputs,
    system: str,
    other: str,
    *,
    alpha: float = 0.05,
    margin: float | None = None,
    unit: str | None = None,
    score_range: tuple[float, float] | None = None,
    looks: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Two systems compared again and again while items arrive: p-values and intervals that hold at all looks together.

    The null hypothesis is that the expected gain on each next unit, given the earlier ones, is 0. For units in random
    order this is that the true gain is 0. p-values are those of `e_values`, of each side: the largest e-value by then
    counts, after whichever unit it was.

    Parameters
    ----------
    outputs
        Systems whose items are in the order in which they came. The order must be random, or at least depend on
        neither the results nor the topic of the items.
    system, other
        Two systems that were named beforehand.
    alpha
        The level of all looks together, two-sided: each side has half of it. Intervals have 1 - alpha.
    margin
        The smallest true gain that would matter, on the metric's scale, chosen beforehand.
    unit
        "item", or a column of the items whose values name clusters; None: clusters where the items have them. A
        cluster's score is the mean of its items', and each cluster counts the same. All items of a cluster must be
        there before the look.
    score_range
        The least and the largest score that an item can have, for metric "mean"; other metrics know theirs.
    looks
        Numbers of units, ascending; by default 20 of them, the last one all units.

    Returns
    -------
    table
        A row a look: n_units; gain of `system` over `other`, the mean over units, with gain_low and gain_high (the
        confidence sequence, on the metric's scale); e_better and e_worse, the largest e-values so far that `system` is
        better, and that it is worse; p_value, two-sided (twice the inverse of the larger one); and better, the system
        that is better at alpha, or "". With a margin: p_noninferiority (one-sided: that `system` is worse by the margin
        or more) and p_equivalence (one-sided: that either is); each is for half of alpha.

    Raises
    ------
    ValueError
        For metrics that are no mean of item scores in a known range, scores outside of the range, items that come
        domain by domain, and arguments outside of their rules.

    Examples
    --------
    >>> import simstudy as ss
    >>> outputs = ss.truth.correlated_accuracies([0.70, 0.80], n_items=1500, seed=1)
    >>> table = ss.comparisons.sequential(outputs, "system-2", "system-1", looks=[100, 500, 1500])
    >>> table[["n_units", "better"]].to_numpy().tolist()
    [[100, ''], [500, 'system-2'], [1500, 'system-2']]
    """
    check_fraction("alpha", alpha)
    if margin is not None:
        check_margin(margin)
    arrived = Arrivals.of(outputs, system, other, unit=unit, score_range=score_range)
    d, n = arrived.differences, len(arrived.differences)
    at = _looks(looks, n)
    better, worse = (largest(log_e_values(sign * d))[at - 1] for sign in (1.0, -1.0))
    low, high = confidence_sequence(d, alpha, at)
    p_value = np.minimum(2 / np.maximum(better, worse), 1.0)
    table = pd.DataFrame(
        {
            "n_units": at,
            "gain": arrived.scale * np.cumsum(d)[at - 1] / at,
            "gain_low": arrived.scale * low,
            "gain_high": arrived.scale * high,
            "e_better": better,
            "e_worse": worse,
            "p_value": p_value,
            "better": np.where(p_value > alpha, "", np.where(better > worse, system, other)),
        }
    )
    return table if margin is None else table.assign(**_against(arrived, margin, at))


def _against(arrived: Arrivals, margin: float, at: np.ndarray) -> dict[str, FloatArray]:
    """p-values of the one-sided tests against a margin."""
    edge = arrived.over_range(margin)
    not_worse, not_better = (
        1 / largest(log_e_values(sign * arrived.differences, -edge))[at - 1] for sign in (1.0, -1.0)
    )
    return {"p_noninferiority": not_worse, "p_equivalence": np.maximum(not_worse, not_better)}


def _looks(looks: Sequence[int] | None, n: int) -> np.ndarray:
    if looks is None:
        return np.unique(np.ceil(np.arange(1, _LOOKS + 1) * n / _LOOKS).astype(np.int64))
    check_list("looks", looks, "numbers of units")
    for look in looks:
        check_whole("looks", look, 1)
    at = np.array(looks, dtype=np.int64)
    if not len(at) or (np.diff(at) <= 0).any() or at[-1] > n:
        raise InputError("looks", f"must be numbers of units, ascending, up to {n}", looks)
    return at
