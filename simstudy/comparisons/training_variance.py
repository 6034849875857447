"""How far two training sets make one method's systems differ, beside what a test set's items do.

A test of two systems asks of these systems, as they were trained. Whether one *method* is better than another is a
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
# Below any ratio that is told from 0.
_LEAST = 1e-9


@takes_pairs
def training_variance(pairs: pd.DataFrame, outputs: Outputs, *, alpha: float = 0.05) -> pd.DataFrame:
    """How much systems differ if only their training sets differ, and how that affects comparisons of methods.

    A system's score on a test set varies with the items and with the training set. A test of two systems knows of the
    items alone. Three comparisons, with training sets of one size:

    - one method, trained on two training sets: the variance of the gain, over that which items give it;
    - two methods, each with a training set of its own: the variance of the gain about that of the methods, over that
      which items give it (what a test takes into account);
    - two methods that share their training set.

    What items give is subtracted from what varies between training sets (both from the jackknife by unit), so that what
    is left is the variance of true scores and gains.

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
        (of a method's true scores over training sets; metric's scale, 0 where scores do not vary more than items make
        them), ratio (rms_gain / rms_se; missing, as those below, where items give no error). In rows of all families
        rms_se_methods (of pairs of different families with one training set), ratio_own and ratio_shared: how many
        times larger the gain of two systems must be to say as much of their methods as a test says of the systems,
        where each method has a training set of its own, or both share one. Bounds of 95 % have the names of their
        columns and _low and _high, interval_for and note say for what. In simulations they covered in 88 to 97 % of
        the cases. None are given for fewer than 5 training sets, nor for a share of 0 or 1.

    Raises
    ------
    ValueError
        For pairs of several test sets or tests, missing columns, alpha outside (0, 1), and where no two systems differ
        by their training set alone.

    Notes
    -----
    Reimers and Gurevych (2018, "Why comparing single performance scores does not allow to draw conclusions about
    machine learning approaches") found up to 26 % of such pairs significant at 0.05, with other seeds. Resamples of
    one corpus stand for other training sets only as far as a bootstrap does.

    Examples
    --------
    Two methods, each trained on 6 sets; what one training set adds, the other method has too:

    >>> from simstudy.comparisons.comparing import compare
    >>> rng = np.random.default_rng(0)
    >>> hard, trained, own = rng.normal(size=400), rng.normal(size=(1, 6, 1)), rng.normal(size=(2, 6, 400))
    >>> scores = (hard + 0.2 * trained + own).reshape(12, 400)
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
    known = of_one_method(pairs, outputs.systems)
    if known.empty:
        raise InputError("pairs", "must include two systems of one family and train_size; there are none")
    known = known.assign(significant=np.asarray(decision.significant(two_sided(pairs)))[known.index])
    scores, products = _products(outputs, str(pairs["unit"].iloc[0]))
    about = {name: pairs[name].iloc[0] for name in (*TEST_SET, "unit", "test")}
    rows = []
    families = [str(family) for family in outputs.systems["family"].unique()]
    for size in known["train_size"].unique():
        of_size = known[known["train_size"] == size]
        members = _members(outputs.systems, size)
        some = [[family] for family in families if len(members.get(family, [])) > 1]
        for group in [*some, [each for (each,) in some]] if len(some) > 1 else some:
            family = group[0] if len(group) == 1 else ALL_FAMILIES
            chosen = of_size[of_size["family"].astype(str).isin(group)]
            if len(chosen):
                own = _row(chosen, {name: members[name] for name in group}, scores, products, alpha)
                rows.append({**about, "family": family, "train_size": size, **own})
    table = pd.DataFrame(rows)
    # Rows of all families come last.
    return table.iloc[np.argsort(table["family"] == ALL_FAMILIES, kind="stable")].reset_index(drop=True)


def of_one_method(pairs: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """Family, train_size and both replicates of pairs whose systems differ by their training set alone.

    The index is the row of `pairs`. Pairs without a standard error are left out.
    """
    trained = systems.set_index("name")[["family", "train_size", "replicate"]]
    first, second = (trained.reindex(pairs[side]).reset_index(drop=True) for side in ("system_a", "system_b"))
    same = (first["family"] == second["family"]) & (first["train_size"] == second["train_size"])
    rows = first.rename(columns={"replicate": "replicate_a"}).assign(replicate_b=second["replicate"])
    known: pd.DataFrame = rows[same & np.isfinite(pairs["gain_se"].to_numpy())]
    return known


def _products(outputs: Outputs, unit: str) -> tuple[FloatArray, FloatArray]:
    """Scores (K,), and what items make them covary, (K, K); NaN for systems whose score may be undefined."""
    units = in_units(outputs, unit)
    statistics, factor = rescaled(units.statistics, outputs.metric)
    parts = factor * deviations(contributions(statistics, outputs.metric))
    parts[n_undefined(statistics, outputs.metric) > 0] = np.nan
    return outputs.scores(), parts @ parts.T


def _members(systems: pd.DataFrame, size: float) -> dict[str, pd.Series[int]]:
    """Of each family the systems of a size: replicate -> place."""
    places = pd.Series(np.arange(len(systems)), index=systems.index)
    of_size = systems["train_size"] == size
    return {
        str(family): pd.Series(places[rows.index].to_numpy(), index=rows["replicate"].to_numpy())
        for family, rows in systems[of_size].groupby("family", sort=False)
    }


def _row(
    rows: pd.DataFrame, members: dict[str, pd.Series[int]], scores: FloatArray, products: FloatArray, alpha: float
) -> dict[str, object]:
    sets = sorted({replicate for own in members.values() for replicate in own.index})
    found = rows["significant"].to_numpy()
    a, b = rows["replicate_a"].to_numpy(), rows["replicate_b"].to_numpy()
    whole = {**_ratios(members, scores, products), "share": _odds(found)}
    # What each would be with one training set left out.
    left = []
    for one in sets:
        kept = {family: own[own.index != one] for family, own in members.items()}
        left.append({**_ratios(kept, scores, products), "share": _odds(found[(a != one) & (b != one)])})
    enough = len(sets) >= _LEAST_SETS
    bounds: dict[str, float] = {}
    for name in ("ratio", "ratio_own", "ratio_shared", "share"):
        values = np.array([each[name] for each in left])
        ends = (np.nan, np.nan)
        if enough and np.isfinite([whole[name], *values]).all() and min(whole[name], *values) > _LEAST:
            ends = jackknife_interval(float(whole[name]), values, np.zeros(len(sets), np.int64), len(sets) - 1.0)
        # Of a share the interval is the odds'.
        bounds |= {
            f"{name}_{end}": x / (1 + x) if name == "share" else x for end, x in zip(("low", "high"), ends, strict=True)
        }
    return {
        "n_training_sets": len(sets),
        "n_pairs": len(rows),
        "alpha": alpha,
        **whole,
        "share": found.mean(),
        **bounds,
        "interval_for": OTHER_TRAINING_SETS if enough else "",
        "note": "" if enough else f"too few training sets for an interval: {len(sets)}",
    }


def _odds(found: NDArray[np.bool_]) -> float:
    """Of significant pairs against others; not finite where all are, or none is there."""
    others = len(found) - found.sum()
    return float(found.sum() / others) if others else np.nan


def _ratios(members: dict[str, pd.Series[int]], scores: FloatArray, products: FloatArray) -> dict[str, float]:
    """Numbers of one size of training sets, means over families and over pairs of families."""
    places = [own.to_numpy(dtype=np.int64) for own in members.values() if len(own) > 1]
    alone = [_variances(scores[own], products[np.ix_(own, own)]) for own in places]
    varies, by_items = np.mean([each[:2] for each in alone], axis=0) if alone else (np.nan, np.nan)
    found = {
        "rms_gain": np.sqrt(2 * varies),
        "rms_se": np.sqrt(max(0.0, 2 * by_items)),
        "sd_training": np.sqrt(max(0.0, varies - by_items)),
        # Items that no two systems differ on give nothing to compare with.
        "ratio": np.sqrt(varies / by_items) if by_items > 0 else np.nan,
    }
    apart, shared, errors = [], [], []
    for one, other in combinations(members.values(), 2):
        both = one.index.intersection(other.index)
        if len(both) < 2:
            continue
        i, j = one[both].to_numpy(dtype=np.int64), other[both].to_numpy(dtype=np.int64)
        of_each = [_variances(scores[own], products[np.ix_(own, own)]) for own in (i, j)]
        crossed = products[np.ix_(i, j)]
        gains = products[np.ix_(i, i)] + products[np.ix_(j, j)] - crossed - crossed.T
        varies, by_items, error = _variances(scores[i] - scores[j], gains)
        apart.append(sum(each[0] - each[1] for each in of_each))
        shared.append(varies - by_items)
        errors.append(error)
    error = float(np.mean(errors)) if errors else np.nan
    return found | {
        "rms_se_methods": np.sqrt(error),
        "ratio_own": _ratio(apart, error),
        "ratio_shared": _ratio(shared, error),
    }


def _ratio(variances: list[float], error: float) -> float:
    """The root of variance and error together over the error; variances may be estimated as below 0."""
    return float(np.sqrt(max(0.0, 1 + float(np.mean(variances)) / error))) if error > 0 else np.nan


def _variances(values: FloatArray, products: FloatArray) -> tuple[float, float, float]:
    """Of R values: their variance, what items give of it, and the mean of what items give each value by itself."""
    n = len(values)
    each = float(np.trace(products)) / n
    return float(values.var(ddof=1)), (each - float(products.sum()) / n**2) * n / (n - 1), each
