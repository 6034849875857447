"""The gain that is significant on a test set, from the standard errors of all pairs: observed, and true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.comparisons.other_systems import OtherSystems, other_systems
from simstudy.comparisons.relation_classes import relation_classes
from simstudy.metrics.base import FloatArray
from simstudy.pairs import ALL_PAIRS
from simstudy.statistics.decisions import Decision
from simstudy.tables import TEST_SET, require_columns, require_one_question, system_codes, takes_pairs
from simstudy.validation import InputError, check_fraction, check_whole, number_list

#: Which pairs of a class a row is about (column of), beside all.
CLOSE_PAIRS = "close pairs"

#: A pair is close if its observed gain is below this multiple of its just significant one.
CLOSE = 2

# No interval covers the gain that is significant for more of the pairs: it depends on the few noisiest systems.
_MOST_SHARE = 0.8

# Number of true gains at which power is computed; between them it is interpolated.
_GRID = 128

# Columns that are copied: a table may have a million pairs.
_COLUMNS = ("system_a", "system_b", "family_a", "family_b", "gain", "gain_se", "df", "p_floor", "alternative")

# Pairs whose powers are in memory at a time: 16 MiB.
_TOGETHER = 2**14

# A number and the ends of its interval.
_Interval = tuple[float, float, float]


@takes_pairs
def significant_gains(
    pairs: pd.DataFrame,
    *,
    alpha: float = 0.05,
    power: Sequence[float] = (0.5, 0.8, 0.95),
    min_pairs: int = 10,
) -> pd.DataFrame:
    """The gain that is just significant, and the true gain that is detected, for each test set and relation class.

    The just significant gain of a pair is t(alpha) standard errors. It needs no p-value, so there is one for each pair.
    Rows are about all pairs, and about close pairs, whose gain is below twice the just significant one. The threshold
    of Berg-Kirkpatrick et al. (`thresholds`) uses the pairs with p near 0.05 instead.

    An observed gain of observed_80 is significant for 80 % of these pairs: readers of a leaderboard need this number. A
    true gain of true_80 is detected with power 0.8, on average over these pairs: planners need that one. Both are by
    the normal approximation.

    Intervals are as in `thresholds`, but by the jackknife. The gain that is significant for more than 80 % of the pairs
    depends on the few noisiest systems: it has no interval.

    Parameters
    ----------
    pairs
        Comparisons of one or more test sets, with gain_se.
    alpha
        The level, of the sides that the column alternative names.
    power
        Shares of pairs, and average powers, each a fraction.
    min_pairs
        With fewer pairs there is no number.

    Returns
    -------
    gains
        Two rows for each test set and relation class (and for "all pairs" if there are several): task, test_set,
        n_items, metric, relation, alternative, alpha, pairs ("all pairs" or "close pairs"), n_systems, n_pairs,
        n_left_out (pairs that differ on too few units for any gain to be significant); for each power, in
        percent, observed_50, observed_50_low, observed_50_high, …, and true_50, true_50_low, true_50_high, … (95 %
        intervals, NaN if there is none; all on the metric's scale); interval_for ("other systems" or "other variants
        of these families", on these items, or ""), note.

    Raises
    ------
    ValueError
        For options outside their rules, and test sets whose pairs are of several tests, sides, conventions, units,
        strata or seeds.

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> pairs = compare(correlated_accuracies([0.7 + k / 200 for k in range(12)], 400))
    >>> row = significant_gains(pairs).iloc[0]
    >>> bool(4 < row["observed_50"] < row["observed_95"] < row["true_80"] < 8)
    True
    """
    require_columns(pairs, [*TEST_SET, "alternative", "relation", "system_a", "system_b", "gain", "gain_se"])
    require_one_question(pairs)
    check_fraction("alpha", alpha)
    _check_power(power, alpha)
    check_whole("min_pairs", min_pairs, 1)
    rows = []
    for key, table in relation_classes(pairs, _COLUMNS):
        # Without the columns of the key: they take room in millions of pairs.
        members = table[[name for name in _COLUMNS if name in table]]
        reachable = _reachable(members, alpha)
        for kind in (ALL_PAIRS, CLOSE_PAIRS):
            chosen = reachable if kind == ALL_PAIRS else close_pairs(members, alpha)
            selected = members if chosen.all() else members[chosen]
            row = {
                **key,
                "alternative": members["alternative"].iloc[0],
                "alpha": alpha,
                "pairs": kind,
                "n_systems": len(system_codes(selected)[2]),
                "n_pairs": len(selected),
                "n_left_out": int((~reachable).sum()),
            }
            rows.append(row | _numbers(selected, alpha, power, min_pairs))
    return pd.DataFrame(rows)


def just_significant(pairs: pd.DataFrame, alpha: float = 0.05) -> FloatArray:
    """The observed gain at which each pair would be just significant, (P,), by its alternative and its df."""
    return np.asarray(_critical(pairs, alpha) * pairs["gain_se"].to_numpy(dtype=np.float64), dtype=np.float64)


def close_pairs(pairs: pd.DataFrame, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Whether each pair's gain is below twice its just significant one, (P,).

    Pairs without a standard error, or that differ on too few units for any gain to be significant, are not close.

    Examples
    --------
    >>> pairs = pd.DataFrame({"gain": [3.0, 4.0, 0.0], "gain_se": [1.0, 1.0, np.nan], "alternative": "two-sided"})
    >>> close_pairs(pairs).tolist()
    [True, False, False]
    """
    close = (pairs["gain"] < CLOSE * just_significant(pairs, alpha)).to_numpy(dtype=np.bool_)
    return np.asarray(close & _reachable(pairs, alpha))


def _critical(pairs: pd.DataFrame, alpha: float) -> FloatArray:
    """The number of standard errors at which a gain is significant, (P,)."""
    df = pairs["df"] if "df" in pairs else pd.Series(np.inf, index=pairs.index)
    # Most pairs of a table have the same degrees of freedom: one quantile is enough for them.
    codes, values = pd.factorize(df.fillna(np.inf).to_numpy(dtype=np.float64))
    one, two = (np.asarray(scipy.stats.t.isf(alpha / sides, values), dtype=np.float64) for sides in (1, 2))
    return np.where(pairs["alternative"] == "two-sided", two[codes], one[codes])


def _reachable(pairs: pd.DataFrame, alpha: float) -> NDArray[np.bool_]:
    """(P,) pairs that have a standard error, and differ on enough units for a p-value as small as alpha."""
    return (pairs["gain_se"] > 0).to_numpy() & Decision(alpha).within_reach(pairs)


def _numbers(pairs: pd.DataFrame, alpha: float, powers: Sequence[float], min_pairs: int) -> dict[str, object]:
    """The numbers of a row with their intervals."""
    names = [f"{kind}_{round(100 * power)}" for kind in ("observed", "true") for power in powers]
    row: dict[str, object] = {f"{name}{end}": np.nan for name in names for end in ("", "_low", "_high")}
    if len(pairs) < min_pairs:
        return row | {"interval_for": "", "note": f"too few pairs: {len(pairs)}, not {min_pairs}"}
    others = other_systems(pairs)
    intervals = _observed(pairs, alpha, powers, others) + _true(pairs, alpha, powers, others)
    for name, (number, low, high) in zip(names, intervals, strict=True):
        row |= {name: number, f"{name}_low": low, f"{name}_high": high}
    return row | {"interval_for": others.interval_for, "note": others.note}


def _observed(pairs: pd.DataFrame, alpha: float, shares: Sequence[float], others: OtherSystems) -> list[_Interval]:
    """The smallest gains that are significant for these shares of the pairs: without interpolation."""
    gains = just_significant(pairs, alpha)
    order = np.argsort(gains, kind="stable")
    by_gain = replace(others, first=others.first[order], second=others.second[order]).pairs_by_cluster()
    gains = gains[order]
    # The places of each cluster's pairs in the order of gains.
    left_out = np.split(by_gain.indices, by_gain.indptr[1:-1]) if by_gain.shape[0] else []
    intervals = []
    for share in shares:
        number = float(gains[_place(len(gains), np.empty(0, dtype=np.int32), share)])
        ends = (np.nan, np.nan)
        if share <= _MOST_SHARE:
            ends = others.jackknife(number, gains[[_place(len(gains), places, share) for places in left_out]])
        intervals.append((number, *ends))
    return intervals


def _place(n: int, left_out: NDArray[np.int32], share: float) -> int:
    """The place by which this share of n places without those `left_out` (ascending) is reached."""
    k = max(int(np.ceil(share * (n - len(left_out)) - 1e-9)), 1) - 1
    n_before = int(np.searchsorted(left_out - np.arange(len(left_out)), k, side="right"))
    return min(k + n_before, n - 1)


def _true(pairs: pd.DataFrame, alpha: float, powers: Sequence[float], others: OtherSystems) -> list[_Interval]:
    """The true gains that are detected with these powers, on average over the pairs."""
    critical, se = _critical(pairs, alpha), pairs["gain_se"].to_numpy(dtype=np.float64)
    # At the lower end no pair has more than the least power, at the upper none less than the greatest.
    low, high = ((critical + scipy.stats.norm.ppf(power)) * se for power in (min(powers), max(powers)))
    grid = np.geomspace(low.min(), high.max(), _GRID)
    by_cluster, n = others.pairs_by_cluster(), len(pairs)
    total, left_out = np.zeros(_GRID), np.zeros((by_cluster.shape[0], _GRID))
    for begin in range(0, n, _TOGETHER):
        some = slice(begin, begin + _TOGETHER)
        power_of_pairs = scipy.special.ndtr(grid / se[some, None] - critical[some, None])
        total += power_of_pairs.sum(axis=0)
        left_out += by_cluster[:, some] @ power_of_pairs
    jackknifed = (total - left_out) / (n - by_cluster.sum(axis=1))[:, None]
    intervals = []
    for power in powers:
        number = float(np.interp(power, total / n, grid))
        ends = others.jackknife(number, np.array([np.interp(power, curve, grid) for curve in jackknifed]))
        intervals.append((number, *ends))
    return intervals


def _check_power(power: Sequence[float], alpha: float) -> None:
    for value in number_list("power", power):
        check_fraction("power", value)
        if value <= alpha:
            raise InputError("power", f"must be above alpha, {alpha:g}", value)
    if not len(power) or len({round(100 * value) for value in power}) != len(power):
        raise InputError("power", "must be one or more fractions that differ in percent", power)
