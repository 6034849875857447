"""Training variance: how much systems of one method differ by their training sets, compared with the items' error.

A test of two systems is about these systems, as they were trained. Whether one *method* is better than another is a
question about other training sets too (Dietterich 1998; Reimers and Gurevych 2018).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.comparisons.other_systems import jackknife_interval
from simstudy.metrics.base import FloatArray
from simstudy.metrics.influence import contributions, deviations, n_undefined
from simstudy.metrics.scaling import rescaled
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.units import in_units
from simstudy.statistics.decisions import Decision, two_sided
from simstudy.tables import TEST_SET, check_table, require_columns, require_one_question, takes_pairs
from simstudy.validation import InputError

#: The family of rows in which all are together.
ALL_FAMILIES = "all families"

#: What these intervals hold for (column interval_for).
OTHER_TRAINING_SETS = "other training sets"

# With fewer training sets of a size an interval is nearly endless.
_LEAST_SETS = 5
# A ratio, or odds, below this is 0: logarithms need more.
_LEAST = 1e-9


@takes_pairs
def training_variance(pairs: pd.DataFrame, outputs: Outputs, *, alpha: float = 0.05) -> pd.DataFrame:
    """How much systems differ if only their training sets differ, and how that affects comparisons of methods.

    Scores vary with the items and with the training set, and a test of two systems covers the items alone. Three
    comparisons, with training sets of one size:

    - one method, trained on two training sets: the variance of the gain, over its variance by items;
    - two methods, each with its training set: the variance of the gain, over the error variance of a test;
    - two methods that share their training set.

    The variance by items (jackknife by unit) is subtracted from the variance between training sets: the rest is the
    variance of true scores and gains.

    Parameters
    ----------
    pairs
        Comparisons of one test set.
    outputs
        The systems on that test set, with columns family, train_size and replicate, as generators of resampled systems
        make them. Replicates of one size have the same training set in all families.
    alpha
        The two-sided level at which gains are significant (`simstudy.statistics.decisions.Decision`).

    Returns
    -------
    table
        A row for each family and size of training sets, and one for each size with all families: family, train_size,
        n_training_sets, n_pairs (of one method), alpha, share (of these pairs with a significant gain; a fraction),
        rms_gain and rms_se (roots of the mean squares of their gains and standard errors; metric's scale), sd_training
        (of a method's true scores over training sets; metric's scale), ratio (rms_gain / rms_se; missing without error
        by items). In rows of all families also rms_se_methods (of pairs of different families with one training set),
        ratio_own and ratio_shared: how many times larger a gain must be for a claim about the methods than for one
        about the systems, if each method has its training set, or both share one. Columns with _low and _high are 95 %
        intervals, for `interval_for`; `note` says why there is none (fewer than 5 training sets). A share of 0 or 1 has
        none. In simulations intervals covered in 88 to 97 % of the cases.

    Raises
    ------
    ValueError
        For pairs of several test sets or tests, and if no two systems differ by their training set alone.

    Notes
    -----
    Reimers and Gurevych (2018, "Why comparing single performance scores does not allow to draw conclusions about
    machine learning approaches") found up to 26 % of such pairs significant at 0.05, with other seeds. Resamples of
    one corpus stand for other training sets only as far as a bootstrap does.

    Examples
    --------
    Two methods, each trained on 6 sets, which affect both methods alike:

    >>> from simstudy.comparisons.comparing import compare
    >>> rng = np.random.default_rng(0)
    >>> hard, trained, noise = rng.normal(size=400), rng.normal(size=(1, 6, 1)), rng.normal(size=(2, 6, 400))
    >>> scores = (hard + 0.2 * trained + noise).reshape(12, 400)
    >>> names = [f"{method}{k}" for method in "ab" for k in range(6)]
    >>> trained = {"train_size": 9, "replicate": [*range(6)] * 2}
    >>> systems = pd.DataFrame({"name": names, "family": [*"aaaaaabbbbbb"], **trained})
    >>> outputs = Outputs.from_scores(pd.DataFrame(dict(zip(names, scores, strict=True))), "mean", systems)
    >>> row = training_variance(compare(outputs, test="t_paired"), outputs).iloc[-1]
    >>> bool(row["ratio_own"] > 2 > 1.3 > row["ratio_shared"])
    True
    """
    columns = ["system_a", "system_b", "gain", "gain_se", "alternative", "p_value", "p_two_sided", "unit"]
    require_columns(pairs, [*TEST_SET, *columns])
    require_one_question(pairs)
    require_outputs(outputs)
    check_table("outputs.systems", outputs.systems, ["name", "family", "train_size", "replicate"])
    decision = Decision(alpha)
    if len(sets := pairs[TEST_SET].drop_duplicates()) > 1:
        raise InputError("pairs", f"must be of one test set, not of {len(sets)}")
    same = pairs_of_one_method(pairs, outputs.systems)
    if same.empty:
        raise InputError("pairs", "must include two systems of one family and train_size; there are none")
    same = same.assign(significant=np.asarray(decision.significant(two_sided(pairs)))[same.index])
    scores, covariance = _score_covariance(outputs, str(pairs["unit"].iloc[0]))
    key = {name: pairs[name].iloc[0] for name in (*TEST_SET, "unit", "test")}
    rows = []
    for size in same["train_size"].unique():
        of_size = same[same["train_size"] == size]
        places = _places(outputs.systems, size)
        families = [name for name, systems in places.items() if len(systems) > 1]
        for family in [*families, ALL_FAMILIES] if len(families) > 1 else families:
            chosen = families if family == ALL_FAMILIES else [family]
            members = of_size[of_size["family"].astype(str).isin(chosen)]
            if len(members):
                numbers = _row(members, {name: places[name] for name in chosen}, scores, covariance, alpha)
                rows.append({**key, "family": family, "train_size": size, **numbers})
    table = pd.DataFrame(rows)
    # Rows of all families come last.
    return table.iloc[np.argsort(table["family"] == ALL_FAMILIES, kind="stable")].reset_index(drop=True)


def pairs_of_one_method(pairs: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """Family, train_size, replicate_a and replicate_b of pairs whose systems differ by their training set alone.

    The index is the row of `pairs`. Pairs without a standard error are left out.
    """
    trained = systems.set_index("name")[["family", "train_size", "replicate"]]
    first, second = (trained.reindex(pairs[side]).reset_index(drop=True) for side in ("system_a", "system_b"))
    same = (first["family"] == second["family"]) & (first["train_size"] == second["train_size"])
    rows = first.rename(columns={"replicate": "replicate_a"}).assign(replicate_b=second["replicate"])
    return pd.DataFrame(rows[same & np.isfinite(pairs["gain_se"].to_numpy())])


def _score_covariance(outputs: Outputs, unit: str) -> tuple[FloatArray, FloatArray]:
    """Scores (K,) and their covariance over items (K, K); NaN for systems whose score may be undefined."""
    units = in_units(outputs, unit)
    statistics, factor = rescaled(units.statistics, outputs.metric)
    parts = factor * deviations(contributions(statistics, outputs.metric))
    parts[n_undefined(statistics, outputs.metric) > 0] = np.nan
    return outputs.scores(), parts @ parts.T


def _places(systems: pd.DataFrame, size: float) -> dict[str, pd.Series[int]]:
    """The places of each family's systems of a size, by replicate."""
    of_size = systems.assign(place=np.arange(len(systems)))[systems["train_size"] == size]
    return {str(family): rows.set_index("replicate")["place"] for family, rows in of_size.groupby("family", sort=False)}


def _row(
    pairs: pd.DataFrame, places: dict[str, pd.Series[int]], scores: FloatArray, covariance: FloatArray, alpha: float
) -> dict[str, object]:
    """The numbers of pairs of one method, of one size of training sets, with their intervals."""
    sets = sorted({replicate for systems in places.values() for replicate in systems.index})
    significant = pairs["significant"].to_numpy()
    first, second = pairs["replicate_a"].to_numpy(), pairs["replicate_b"].to_numpy()
    numbers = {**_ratios(places, scores, covariance), "share": _odds(significant)}
    left_out = []
    for replicate in sets:
        others = {family: systems[systems.index != replicate] for family, systems in places.items()}
        odds = _odds(significant[(first != replicate) & (second != replicate)])
        left_out.append({**_ratios(others, scores, covariance), "share": odds})
    enough = len(sets) >= _LEAST_SETS
    bounds: dict[str, float] = {}
    for name in ("ratio", "ratio_own", "ratio_shared", "share"):
        values, ends = np.array([row[name] for row in left_out]), (np.nan, np.nan)
        if enough and np.isfinite([numbers[name], *values]).all() and min(numbers[name], *values) > _LEAST:
            ends = jackknife_interval(float(numbers[name]), values, len(sets) - 1.0)
        bounds |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))
    # The interval of a share is that of its odds.
    bounds |= {name: bounds[name] / (1 + bounds[name]) for name in ("share_low", "share_high")}
    return {
        "n_training_sets": len(sets),
        "n_pairs": len(pairs),
        "alpha": alpha,
        **numbers,
        "share": significant.mean(),
        **bounds,
        "interval_for": OTHER_TRAINING_SETS if enough else "",
        "note": "" if enough else f"too few training sets for an interval: {len(sets)}",
    }


def _odds(significant: NDArray[np.bool_]) -> float:
    """The odds of a significant pair; NaN if all are significant, or there is none."""
    n_others = len(significant) - significant.sum()
    return float(significant.sum() / n_others) if n_others else np.nan


def _ratios(places: dict[str, pd.Series[int]], scores: FloatArray, covariance: FloatArray) -> dict[str, float]:
    """The numbers of one size of training sets: means over families, and over pairs of families."""
    variances = [
        _variances(scores[k], covariance[np.ix_(k, k)])
        for k in (systems.to_numpy() for systems in places.values())
        if len(k) > 1
    ]
    observed, by_items, _ = np.mean(variances, axis=0) if variances else np.full(3, np.nan)
    apart, shared, errors = [], [], []
    for one, other in combinations(places.values(), 2):
        both = one.index.intersection(other.index)
        if len(both) < 2:
            continue
        i, j = one[both].to_numpy(), other[both].to_numpy()
        of_families = [_variances(scores[k], covariance[np.ix_(k, k)]) for k in (i, j)]
        crossed = covariance[np.ix_(i, j)]
        of_gains = covariance[np.ix_(i, i)] + covariance[np.ix_(j, j)] - crossed - crossed.T
        of_gain, of_gain_by_items, error = _variances(scores[i] - scores[j], of_gains)
        apart.append(sum(total - items for total, items, _ in of_families))
        shared.append(of_gain - of_gain_by_items)
        errors.append(error)
    error = float(np.mean(errors)) if errors else np.nan
    return {
        "rms_gain": np.sqrt(2 * observed),
        "rms_se": np.sqrt(max(0.0, 2 * by_items)),
        "sd_training": np.sqrt(max(0.0, observed - by_items)),
        # Without items on which two systems differ there is no error.
        "ratio": np.sqrt(observed / by_items) if by_items > 0 else np.nan,
        "rms_se_methods": np.sqrt(error),
        "ratio_own": _with_training(apart, error),
        "ratio_shared": _with_training(shared, error),
    }


def _with_training(variances: list[float], error: float) -> float:
    """sqrt(1 + variance of training / error variance); estimates of variances may be below 0."""
    return float(np.sqrt(max(0.0, 1 + float(np.mean(variances)) / error))) if error > 0 else np.nan


def _variances(values: FloatArray, covariance: FloatArray) -> tuple[float, float, float]:
    """The variance of values (R,), the part of it from items, and the mean error variance of a value."""
    n = len(values)
    error = float(np.trace(covariance)) / n
    return float(values.var(ddof=1)), (error - float(covariance.sum()) / n**2) * n / (n - 1), error
