"""How far two training sets make one method's systems differ, beside what a test set's items do.

A test of two systems asks of these systems, as they were trained. Whether one *method* is better than another is a
question about other training sets too (Dietterich 1998; Reimers and Gurevych 2018).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.analyses.other_systems import OtherSystems
from simstudy.tables import TEST_SET, check_table, require_columns, require_one_question
from simstudy.validation import check_fraction

#: The family of rows in which all are together.
ALL_FAMILIES = "all families"

#: What these intervals speak for (column interval_for).
OTHER_TRAINING_SETS = "other training sets"

# With fewer training sets, less the number of their sizes, an interval would be nearly endless.
_LEAST_SETS = 5


def training_variance(pairs: pd.DataFrame, systems: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """How systems differ that differ by nothing but their training set, drawn at random: one method, trained again.

    The gains of such pairs have two sources: the items of the test set, of which `gain_se` tells, and true differences
    between the systems, for which the training sets are the reason. For systems that are equally good on all possible
    items the mean of gain^2 would be that of gain_se^2; what is more is the true differences' variance. A method's
    score on one training set has half of that.

    Parameters
    ----------
    pairs
        Comparisons of one test set.
    systems
        With columns name, family, train_size and replicate, as generators of resampled systems make them. Replicates of
        one size have the same training set in all families.
    alpha
        A pair differs significantly where its two-sided p is at most this.

    Returns
    -------
    table
        A row for each family and size of training sets, then one for each size, and one of all together (where there
        are several; family is "all families", train_size missing where sizes are together): family, train_size,
        n_training_sets, n_pairs, alpha, share (of pairs with p_two_sided <= alpha; a fraction), rms_gain and rms_se
        (roots of the mean squares of gains and of their standard errors; metric's scale), sd_training (of true scores
        over training sets; 0 where gains are not larger than errors make them), ratio (rms_gain / rms_se: how many
        times larger a gain between two systems must be where methods are compared by one training set each), its bounds
        low and high, and those of the share, share_low and share_high: 95 % (in simulations of 20 to 40 training sets
        these covered 87 to 95 %, those of the share 92 to 98 %), with interval_for and note. No interval
        is given for fewer than 5 degrees of freedom, nor for a share of 0 or 1.

    Raises
    ------
    ValueError
        For pairs of several test sets or tests, missing columns, alpha outside (0, 1), and where no two systems differ
        by their training set alone.

    References
    ----------
    Reimers and Gurevych (2018, "Why comparing single performance scores does not allow to draw conclusions about
    machine learning approaches") found up to 26 % of such pairs significant at 0.05.

    Examples
    --------
    Gains of two standard errors between three systems of one method: four times the variance that items make.

    >>> systems = pd.DataFrame({"name": ["a", "b", "c"], "family": "tagger", "train_size": 100, "replicate": [1, 2, 3]})
    >>> pairs = pd.DataFrame({"task": "t", "test_set": "s", "n_items": 50, "metric": "accuracy", "test": "t_paired",
    ...                       "alternative": "two-sided", "convention": "", "unit": "item", "strata": "",
    ...                       "system_a": ["a", "a", "b"], "system_b": ["b", "c", "c"], "gain": [2.0, 2.0, 2.0],
    ...                       "gain_se": 1.0, "p_two_sided": [0.04, 0.05, 0.06]})
    >>> training_variance(pairs, systems)[["n_pairs", "share", "ratio", "sd_training"]].round(3).values.tolist()
    [[3.0, 0.667, 2.0, 1.225]]
    """
    columns = ["system_a", "system_b", "gain", "gain_se", "p_two_sided"]
    require_columns(pairs, [*TEST_SET, *columns])
    require_one_question(pairs)
    check_table("systems", systems, ["name", "family", "train_size", "replicate"])
    check_fraction("alpha", alpha)
    if len(tests := pairs[TEST_SET].drop_duplicates()) > 1:
        raise ValueError(f"pairs must be of one test set, not of {len(tests)}")
    trained = systems.set_index("name")[["family", "train_size", "replicate"]]
    first, second = (trained.reindex(pairs[side]).reset_index(drop=True) for side in ("system_a", "system_b"))
    same = (first["family"] == second["family"]) & (first["train_size"] == second["train_size"])
    known = pairs[columns].reset_index(drop=True)[same & np.isfinite(pairs["gain_se"].to_numpy())]
    if known.empty:
        raise ValueError("pairs must have two systems of one family and one train_size, and none are")
    known = known.assign(
        family=first["family"],
        train_size=first["train_size"],
        replicate_a=first["replicate"],
        replicate_b=second["replicate"],
    )
    groups = [(key, rows) for key, rows in known.groupby(["family", "train_size"], sort=False)]
    if known["family"].nunique() > 1:
        groups += [((ALL_FAMILIES, size), rows) for size, rows in known.groupby("train_size", sort=False)]
    if known["train_size"].nunique() > 1:
        groups.append(((ALL_FAMILIES, np.nan), known))
    about = pairs[[*TEST_SET, "unit", "test"]].iloc[0].to_dict()
    return pd.DataFrame(
        [{**about, "family": key[0], "train_size": key[1], **_row(rows, alpha)} for key, rows in groups]
    )


def _row(rows: pd.DataFrame, alpha: float) -> dict[str, object]:
    sets = _training_sets(rows)
    sums = np.column_stack(
        [rows["gain"] ** 2, rows["gain_se"] ** 2, rows["p_two_sided"] <= alpha, np.ones(len(rows))]
    ).astype(np.float64)
    whole = sums.sum(axis=0)
    # One row for each training set that is left out, with all pairs that have it.
    left = whole - sets.taken_along() @ sums
    gains, errors, found, n_pairs = whole
    ratio, share = float(np.sqrt(gains / errors)), found / n_pairs
    bounds = sets.jackknife(ratio, np.sqrt(left[:, 0] / left[:, 1]))
    share_bounds = np.nan, np.nan
    if ((left[:, 2] > 0) & (left[:, 2] < left[:, 3])).all() and 0 < found < n_pairs:
        odds = np.array(sets.jackknife(found / (n_pairs - found), left[:, 2] / (left[:, 3] - left[:, 2])))
        share_bounds = tuple(odds / (1 + odds))
    return {
        "n_training_sets": len(sets.strata),
        "n_pairs": len(rows),
        "alpha": alpha,
        "share": share,
        "share_low": share_bounds[0],
        "share_high": share_bounds[1],
        "rms_gain": np.sqrt(gains / n_pairs),
        "rms_se": np.sqrt(errors / n_pairs),
        "sd_training": np.sqrt(max(0.0, gains - errors) / n_pairs / 2),
        "ratio": ratio,
        "low": bounds[0],
        "high": bounds[1],
        "interval_for": sets.interval_for,
        "note": sets.note,
    }


def _training_sets(rows: pd.DataFrame) -> OtherSystems:
    """The training sets that pairs are of: systems of all families that have one go together."""
    sides = [rows[["train_size", f"replicate_{side}"]].to_numpy(dtype=np.float64) for side in "ab"]
    found, codes = np.unique(np.concatenate(sides), axis=0, return_inverse=True)
    codes = codes.reshape(2, len(rows))
    _, strata = np.unique(found[:, 0], return_inverse=True)
    df = len(found) - int(strata.max()) - 1
    enough = df >= _LEAST_SETS
    note = "" if enough else f"too few training sets for an interval: {len(found)}"
    return OtherSystems(codes[0], codes[1], strata, float(df), OTHER_TRAINING_SETS if enough else "", note)
