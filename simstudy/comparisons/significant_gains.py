"""The gain that is significant on a test set, from the standard errors of all pairs: observed, and true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr

from simstudy.comparisons.other_systems import OtherSystems, other_systems
from simstudy.comparisons.relation_classes import relation_classes
from simstudy.pairs import ALL_PAIRS
from simstudy.statistics.decisions import Decision
from simstudy.tables import TEST_SET, require_columns, require_one_question, system_codes, takes_pairs
from simstudy.validation import InputError, check_fraction, check_whole, number_list

#: Which pairs of a class a row is about (column of), beside all.
CLOSE_PAIRS = "close pairs"

#: A pair whose observed gain is so many times the one that is just significant is not in doubt.
CLOSE = 2

# A gain that is enough for a larger share of the pairs hangs on the few noisiest systems: no interval covers it.
_MOST_SHARE = 0.8

# True gains at which the power of all pairs is computed, to find the one with a given power between them.
_GRID = 128

# What is asked of a pair here: a million pairs are not copied with all that is known of them.
_WANTED = ("system_a", "system_b", "family_a", "family_b", "gain", "gain_se", "df", "p_floor", "alternative")

# Pairs whose powers are held at a time: 16 MiB.
_TOGETHER = 2**14


@takes_pairs
def significant_gains(
    pairs: pd.DataFrame,
    *,
    alpha: float = 0.05,
    power: Sequence[float] = (0.5, 0.8, 0.95),
    min_pairs: int = 10,
) -> pd.DataFrame:
    """The gain that is just significant, and the true gain that is detected, for each test set and relation class.

    A pair is just significant where its observed gain is t(alpha) standard errors (`just_significant`). That needs no
    p-value, and every pair has one: it can be said of all pairs, and of those in doubt, whose gain is below twice their
    own just significant one. Were a gain of twice that true, another test set of this size would miss it with
    probability alpha / 2 at most (two-sided); so beyond there is little to ask. This is not in the paper, whose
    threshold (`thresholds`) looks at the pairs with p near 0.05.

    An observed gain of observed_80 is significant for 80 % of these pairs. A system that is truly better by true_80 is
    found to be so with a probability of 80 %, on average over these pairs: observed gains vary around the true ones, so
    a planner wants this number, and the reader of a leaderboard the other. Both are by the normal approximation.

    Intervals leave out families (where these are fewer than five in effect, systems within them) and hold for other
    systems (other variants of these families) on these items. Measured coverage is in docs/validation.md. No interval
    is known to cover a gain that is enough for more than 80 % of the pairs: such a gain depends on the few noisiest
    systems.

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
        Two rows a test set and relation class ("all pairs" together too where there is more than one): task, test_set,
        n_items, metric, relation, alternative, alpha, pairs ("all pairs" or "close pairs"), n_systems, n_pairs (that
        the row is about), n_left_out (pairs that differ on so few units, or none, that no gain of theirs could be
        significant); for each power, in percent, observed_50, observed_50_low, observed_50_high, …, and true_50,
        true_50_low, true_50_high, … (95 % intervals, NaN where there is none; all on the metric's scale); interval_for
        (what the intervals hold for: "other systems" on these items, "other variants of these families" on these
        items, or ""), note.

    Raises
    ------
    ValueError
        For options outside their rules, tables that are no Comparisons, and test sets whose pairs are of several
        tests, sides, conventions, units, strata or seeds.

    Examples
    --------
    >>> from simstudy.truth.synthetic import correlated_accuracies
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
    for key, found in relation_classes(pairs, _WANTED):
        # Without what the key says: a copy for millions of pairs takes its room too.
        members = found[[name for name in _WANTED if name in found]]
        told = _can_be_told(members, alpha)
        for of in (ALL_PAIRS, CLOSE_PAIRS):
            # Made when it is needed: there may be millions of pairs.
            wanted = told if of == ALL_PAIRS else close_pairs(members, alpha)
            about = members if wanted.all() else members[wanted]
            row = {
                **key,
                "alternative": members["alternative"].iloc[0],
                "alpha": alpha,
                "pairs": of,
                "n_systems": len(system_codes(about)[2]),
                "n_pairs": len(about),
                "n_left_out": int((~told).sum()),
            }
            rows.append(row | _numbers(about, alpha, power, min_pairs))
    return pd.DataFrame(rows)


def just_significant(pairs: pd.DataFrame, alpha: float = 0.05) -> NDArray[np.float64]:
    """The observed gain at which each pair would be just significant, shape (P,), metric's scale.

    Each pair is taken by its own alternative, and by t with its df where there is one.
    """
    return np.asarray(_critical(pairs, alpha) * pairs["gain_se"].to_numpy(dtype=np.float64), dtype=np.float64)


def close_pairs(pairs: pd.DataFrame, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Whether each pair's gain is below twice its own just significant one, (P,).

    Pairs of which that cannot be told are not: those without a standard error, and those that differ on so few units
    that no gain of theirs could be significant.

    Examples
    --------
    >>> pairs = pd.DataFrame({"gain": [3.0, 4.0, 0.0], "gain_se": [1.0, 1.0, np.nan], "alternative": "two-sided"})
    >>> close_pairs(pairs).tolist()
    [True, False, False]
    """
    near = (pairs["gain"] < CLOSE * just_significant(pairs, alpha)).to_numpy(dtype=np.bool_)
    return np.asarray(near & _can_be_told(pairs, alpha))


def _critical(pairs: pd.DataFrame, alpha: float) -> NDArray[np.float64]:
    """How many standard errors a gain must be to be significant, (P,)."""
    df = pairs["df"].to_numpy(dtype=np.float64) if "df" in pairs else np.full(len(pairs), np.inf)
    # Most pairs of a table have the same degrees of freedom: quantiles are looked up once for each.
    codes, known = pd.factorize(df)
    known = np.append(known, np.inf)  # the last, which -1 takes, for pairs that have none
    one, two = (np.asarray(scipy.stats.t.isf(alpha / sides, known), dtype=np.float64) for sides in (1, 2))
    return np.where(pairs["alternative"] == "two-sided", two[codes], one[codes])


def _can_be_told(pairs: pd.DataFrame, alpha: float) -> NDArray[np.bool_]:
    """(P,) pairs that have a standard error, and differ on enough units for a p-value as small as alpha."""
    return (pairs["gain_se"] > 0).to_numpy() & Decision(alpha).within_reach(pairs)


def _numbers(pairs: pd.DataFrame, alpha: float, powers: Sequence[float], min_pairs: int) -> dict[str, object]:
    """One row's numbers with their intervals."""
    names = [f"{what}_{round(100 * power)}" for what in ("observed", "true") for power in powers]
    row: dict[str, object] = {f"{name}{end}": np.nan for name in names for end in ("", "_low", "_high")}
    if len(pairs) < min_pairs:
        return row | {"interval_for": "", "note": f"too few pairs: {len(pairs)}, not {min_pairs}"}
    others = other_systems(pairs)
    found = _observed(pairs, alpha, powers, others) + _true(pairs, alpha, powers, others)
    for name, (number, low, high) in zip(names, found, strict=True):
        row |= {name: number, f"{name}_low": low, f"{name}_high": high}
    return row | {"interval_for": others.interval_for, "note": others.note}


_Numbers = list[tuple[float, float, float]]


def _observed(pairs: pd.DataFrame, alpha: float, shares: Sequence[float], others: OtherSystems) -> _Numbers:
    """The gains that are significant for these shares of the pairs."""
    gains = just_significant(pairs, alpha)
    order = np.argsort(gains, kind="stable")
    ordered = gains[order]
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    taken = others.taken_along()
    # Where the pairs of each cluster stand in this order; in its own memory, since millions of pairs are in two each.
    gone = np.split(place[taken.indices], taken.indptr[1:-1]) if taken.shape[0] else []
    for places in gone:
        places.sort()
    del taken, order, place
    found = []
    for share in shares:
        # The least gain that is enough for the share: no interpolation, so that the sentence is true of these pairs.
        number = float(ordered[_reached(len(gains), np.empty(0, dtype=np.int64), share)])
        ends = (np.nan, np.nan)
        if share <= _MOST_SHARE:
            ends = others.jackknife(number, ordered[[_reached(len(gains), places, share) for places in gone]])
        found.append((number, *ends))
    return found


def _reached(n: int, gone: NDArray[Any], share: float) -> int:
    """The place by which this share of n places is reached, of which some (ascending) are left out."""
    which = max(int(np.ceil(share * (n - len(gone)) - 1e-9)), 1) - 1
    before = int(np.searchsorted(gone - np.arange(len(gone)), which, side="right"))
    return min(which + before, n - 1)


def _true(pairs: pd.DataFrame, alpha: float, powers: Sequence[float], others: OtherSystems) -> _Numbers:
    """The true gains that are found with these powers, on average over the pairs."""
    critical, se = _critical(pairs, alpha), pairs["gain_se"].to_numpy(dtype=np.float64)
    # At the lower end no pair has more than the least power, at the upper none less than the greatest.
    low, high = ((critical + scipy.stats.norm.ppf(end)) * se for end in (min(powers), max(powers)))
    grid = np.geomspace(low.min(), high.max(), _GRID)
    taken, n = others.taken_along(), len(pairs)
    together, gone = np.zeros(_GRID), np.zeros((taken.shape[0], _GRID))
    for first in range(0, n, _TOGETHER):
        those = slice(first, first + _TOGETHER)
        by_pair = grid / se[those, None]
        by_pair -= critical[those, None]
        ndtr(by_pair, out=by_pair)
        together += by_pair.sum(axis=0)
        gone += taken[:, those] @ by_pair
    left_out = (together - gone) / (n - taken.sum(axis=1))[:, None]
    found = []
    for power in powers:
        number = float(np.interp(power, together / n, grid))
        found.append((number, *others.jackknife(number, np.array([np.interp(power, row, grid) for row in left_out]))))
    return found


def _check_power(power: Sequence[float], alpha: float) -> None:
    found = number_list("power", power)
    if not len(found) or not np.isfinite(found).all() or len({round(100 * value) for value in found}) != len(found):
        raise InputError("power", "must be one or more fractions that differ in percent", power)
    for value in power:
        check_fraction("power", value)
        if value <= alpha:
            raise InputError("power", f"must be above alpha, {alpha:g}", value)
