"""The gain at which each pair of systems would be just significant: a threshold for small collections of systems."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from simstudy.analyses.classes import TEST_SET, relation_classes, require_columns, system_codes
from simstudy.analyses.thresholds import resampled_systems, weighted_percentile
from simstudy.choices import check_fraction, check_seed, check_whole


def significant_gains(
    pairs: pd.DataFrame,
    *,
    alpha: float = 0.05,
    window: tuple[float, float] = (0.0001, 0.3),
    min_pairs: int = 10,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Percentiles of the gain at which pairs would be just significant, for each test set and relation class.

    The threshold of Berg-Kirkpatrick et al. (2012, section 3.1.1) looks at pairs with p near 0.05, of which a shared
    task with 20 systems has too few. Here a pair of any p-value in the window tells what its gain would have had
    to be: with a gain g that is about normal around the true one with a standard error s, p = 1 - Phi(g / s), and
    the gain at which p is alpha is g z(alpha) / z(p). Where p is alpha already, nothing is changed. This is not
    in the paper.

    The numbers, and their intervals, are about pairs in the window: those near enough for doubt. Pairs farther apart
    are less alike as a rule, with larger standard errors, and would need more; where a pair's standard error says
    nothing of its gain, the window still holds more of those with large ones.

    Parameters
    ----------
    pairs
        Comparisons of one or more test sets. A two-sided p-value counts as twice the one-sided.
    alpha
        The level, one-sided (two-sided where the p-values are).
    window
        The p-values that are used, both ends included: below, p is coarse, above, the factor is large.
    min_pairs
        With fewer pairs in the window there is no number.
    n_bootstrap
        Resamples of *systems* for the intervals: pairs that share a system are not independent.
    seed
        Of those resamples.

    Returns
    -------
    gains
        task, test_set, n_items, metric, relation (and "all pairs" where there is more than one), n_systems, n_pairs (in
        the class), n_window, median, median_low, median_high, p95 (the 95th percentile, as in the paper's
        threshold), p95_low, p95_high (95 % intervals; all on the metric's scale), note.

    Raises
    ------
    ValueError
        For options outside their rules, and tables that are no Comparisons.

    Examples
    --------
    >>> from simstudy.generators.synthetic import correlated_accuracies
    >>> from simstudy.engines.comparisons import compare
    >>> pairs = compare(correlated_accuracies([0.7 + k / 200 for k in range(12)], 400))
    >>> row = significant_gains(pairs).iloc[0]
    >>> bool(2 < row["median"] < row["p95"] < 6)
    True
    """
    require_columns(pairs, [*TEST_SET, "relation", "system_a", "system_b", "gain", "p_value", "alternative"])
    check_fraction("alpha", alpha)
    if np.shape(window) != (2,) or not 0 < window[0] < window[1] < 0.5:
        raise ValueError(f"window must be two p-values above 0 and below 0.5, the lower first, not {window}")
    check_whole("min_pairs", min_pairs, 1)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    rows = []
    for key, members in relation_classes(pairs):
        n_systems = system_codes(members)[2]
        inside = (members["p_value"].between(*window) & (members["gain"] > 0)).to_numpy()
        n_window = int(inside.sum())
        row = {**key, "n_systems": n_systems, "n_pairs": len(members), "n_window": n_window}
        if n_window < min_pairs:
            note = f"too few pairs in the window: {n_window}, not {min_pairs}"
            rows.append({**row, **dict.fromkeys(_NUMBERS, np.nan), "note": note})
            continue
        gains = just_significant(members[inside], alpha)
        weights = resampled_systems(members, inside, n_bootstrap, seed)
        numbers = []
        for percentile in (50, 95):
            low, high = np.nanpercentile(weighted_percentile(gains, weights, percentile), [2.5, 97.5])
            numbers += [np.percentile(gains, percentile), low, high]
        rows.append({**row, **dict(zip(_NUMBERS, numbers, strict=True)), "note": ""})
    return pd.DataFrame(rows)


_NUMBERS = ("median", "median_low", "median_high", "p95", "p95_low", "p95_high")


def just_significant(pairs: pd.DataFrame, alpha: float = 0.05) -> NDArray[np.float64]:
    """The gain at which each pair's p-value would be alpha, shape (P,); see `significant_gains`.

    Examples
    --------
    >>> pairs = pd.DataFrame({"gain": [1.0, 1.0], "p_value": [0.05, 0.1], "alternative": "greater"})
    >>> just_significant(pairs).round(3).tolist()   # z(0.05) / z(0.1) = 1.645 / 1.282
    [1.0, 1.283]
    """
    tails = np.where(pairs["alternative"] == "two-sided", 2, 1)
    wanted, reached = stats.norm.isf(alpha / tails), stats.norm.isf(pairs["p_value"].to_numpy() / tails)
    return np.asarray(pairs["gain"].to_numpy() * wanted / reached, dtype=np.float64)
