"""Thresholds of significant gains (Berg-Kirkpatrick et al. 2012, sections 3.1.1 and 4.1), and their fit c / sqrt(n)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.comparisons.other_systems import other_systems, weighted_percentile
from simstudy.comparisons.relation_classes import PAIR, relation_classes
from simstudy.statistics.decisions import prefers_better
from simstudy.tables import TEST_SET, check_table, require_columns, require_one_question, system_codes, takes_pairs
from simstudy.validation import InputError, check_range, check_seed, check_whole

#: The paper's window around p = 0.05, the percentile of the gains in it, and how many it takes.
WINDOW, PERCENTILE, LEAST_PAIRS = (0.04, 0.06), 95, 20

# The 95th percentile of fewer gains is too near the largest: the larger ones of other systems are not among them.
_LEAST_FOR_INTERVAL = 40


@takes_pairs
def thresholds(
    pairs: pd.DataFrame,
    *,
    window: tuple[float, float] = WINDOW,
    min_pairs: int = LEAST_PAIRS,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """The 95th percentile of the gains of the just significant pairs, for each test set and relation class.

    The interval holds for other systems on these items: it resamples families with all their systems. If families are
    fewer than five in effect, it resamples systems within them, and holds for other variants of these families.
    Measured coverage is in docs/validation.md. For other items it is lower, for other variants of few families much
    lower.

    Parameters
    ----------
    pairs
        Comparisons of one or more test sets. A pair counts only if its test prefers the system with the better score.
    window
        The p-values that count as just significant, both ends included. The paper's are one-sided; two-sided ones of
        0.04 - 0.06 are one-sided ones of 0.02 - 0.03, and their threshold is about a fifth larger.
    min_pairs
        With fewer pairs in the window there is no number.
    n_bootstrap, seed
        Resamples of families, or of systems, for the interval.

    Returns
    -------
    thresholds
        task, test_set, n_items, metric, relation (and "all pairs" if there are several), alternative, n_systems,
        n_pairs (in the class), n_window (in the window), threshold, low, high (95 % interval; metric's scale),
        interval_for ("other systems" or "other variants of these families", on these items, or ""), note.

    Raises
    ------
    ValueError
        For options outside their rules, and test sets whose pairs are of several tests, sides, conventions, units,
        strata or seeds.

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> outputs = correlated_accuracies([0.7 + k / 200 for k in range(12)], 400)
    >>> table = thresholds(compare(outputs, n_resamples=2000))   # 66 pairs: hardly any with p near 0.05
    >>> table["note"].iloc[0][:28], table["threshold"].isna().all()
    ('too few pairs in the window:', np.True_)
    """
    require_columns(pairs, [*TEST_SET, "alternative", "relation", "system_a", "system_b", "gain", "p_value"])
    require_one_question(pairs)
    check_range("window", window, "p-values", 0, 1)
    check_whole("min_pairs", min_pairs, 1)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    rows = []
    for key, members in relation_classes(pairs, ["alternative", *PAIR]):
        inside = members["p_value"].between(*window).to_numpy() & prefers_better(members)
        counts = {"n_systems": len(system_codes(members)[2]), "n_pairs": len(members), "n_window": int(inside.sum())}
        numbers = _threshold(members, inside, min_pairs, n_bootstrap, seed)
        rows.append({**key, "alternative": members["alternative"].iloc[0], **counts, **numbers})
    return pd.DataFrame(rows)


def _threshold(
    pairs: pd.DataFrame, inside: NDArray[np.bool_], min_pairs: int, n_bootstrap: int, seed: int
) -> dict[str, object]:
    """The threshold of a class's pairs inside the window, its interval, and why there is none."""
    n_window, others = int(inside.sum()), other_systems(pairs)
    row = {"threshold": np.nan, "low": np.nan, "high": np.nan, "interval_for": "", "note": others.note}
    if n_window < min_pairs:
        return row | {"note": f"too few pairs in the window: {n_window}, not {min_pairs}"}
    gains = pairs["gain"].to_numpy()[inside]
    row["threshold"] = threshold = float(np.percentile(gains, PERCENTILE))
    if not others.interval_for:
        return row
    if n_window < _LEAST_FOR_INTERVAL:
        return row | {"note": f"too few pairs in the window for an interval: {n_window}, not {_LEAST_FOR_INTERVAL}"}
    redrawn = [weighted_percentile(gains, w, PERCENTILE) for w in others.redrawn(inside, n_bootstrap, seed)]
    low, high = others.bootstrap(threshold, np.concatenate(redrawn))
    return row | {"low": low, "high": high, "interval_for": others.interval_for}


def size_fit(table: pd.DataFrame) -> pd.DataFrame:
    """Thresholds with the fitted curve c / sqrt(n), for each test set, relation class and side.

    Sampling error falls with the square root of the test size (section 4.1), so one number c should describe all
    sizes of one kind of test set. c is fitted by least squares of the logarithms.

    Parameters
    ----------
    table
        What `thresholds` returned, for nested sizes of a test set.

    Returns
    -------
    fitted
        The table with c, fit (c / sqrt(n_items), metric's scale) and exponent: the slope of a free power law, -0.5 if
        the square root holds. NaN if fewer than two sizes have a threshold.

    Raises
    ------
    ValueError
        If a test set has a size twice.

    Examples
    --------
    >>> table = pd.DataFrame({"task": "t", "test_set": "s", "metric": "accuracy", "relation": "all pairs",
    ...                       "n_items": [100, 400], "threshold": [6.0, 3.0]})
    >>> size_fit(table)[["c", "fit", "exponent"]].round(6).iloc[1].tolist()
    [60.0, 3.0, -0.5]
    """
    check_table("table", table, [*TEST_SET, "relation", "threshold"], "one of thresholds", empty=True)
    question = [column for column in ("alternative", "unit") if column in table]
    if table.duplicated([*TEST_SET, "relation", *question]).any():
        rule = "must have each size of a test set once for each relation; pass one test and one unit at a time"
        raise InputError("table", rule)
    c, exponent = np.full((2, len(table)), np.nan)
    for places in table.groupby(["task", "test_set", "metric", "relation", *question]).indices.values():
        rows = table.iloc[places]
        rows = rows[rows["threshold"] > 0]
        if rows["n_items"].nunique() > 1:
            log_n, log_threshold = np.log(rows["n_items"].to_numpy(float)), np.log(rows["threshold"].to_numpy(float))
            c[places] = np.exp(np.mean(log_threshold + log_n / 2))
            exponent[places] = np.polyfit(log_n, log_threshold, 1)[0]
    return table.assign(c=c, fit=c / np.sqrt(table["n_items"].to_numpy(float)), exponent=exponent)
