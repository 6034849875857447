"""Gain against confidence: the curve of pairs (Berg-Kirkpatrick et al. 2012, figures 2-11), and others beside it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy

from simstudy.comparisons.other_systems import other_systems, weighted_percentile
from simstudy.comparisons.relation_classes import PAIR, confidence, relation_classes
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.tables import (
    COMPARISONS,
    QUESTION,
    TEST_SET,
    HasFrame,
    check_table,
    frame_of,
    require_columns,
    require_one_question,
    takes_pairs,
)
from simstudy.validation import InputError, check_seed, check_whole

# A curve, and pairs that are held against others, need so many.
_LEAST_PAIRS, _LEAST_OVERLAID = 30, 20

# What pairs and others must have in common, and what is looked at.
_ASKED = ["test", "alternative", "convention", "unit"]
_COLUMNS = [*TEST_SET, *_ASKED, "relation", "system_a", "system_b", "gain", "gain_se", "p_value"]

# The confidence of no gain at all, by the sides of the test.
_NO_GAIN = {"greater": 0.5, "two-sided": 0.0}

# Gains from which on the others' median confidence is so high say nothing: both collections are sure there.
_SURE = 0.99

# Gains at which the others' medians are taken; between them they are interpolated.
_POINTS = 40


@takes_pairs
def curve(pairs: pd.DataFrame, *, n_points: int = 50) -> pd.DataFrame:
    """Running median and 5-95 % band of confidence by gain, for each test set and relation class.

    At each gain it looks at the twentieth of the class's pairs (at least 15) whose gains are nearest, ties included,
    and stands at their mean gain. The band is the spread of the pairs, not an interval for the median. It is the
    percentiles of how far these pairs are from the line of medians at their own gains, so that a band is no wider where
    gains lie far apart. The confidence of a pair is 1 - p of the sides that the column alternative names, and 0 where
    its test prefers the system with the worse score.

    Parameters
    ----------
    pairs
        Comparisons of one or more test sets.
    n_points
        Points of each curve at most.

    Returns
    -------
    curve
        task, test_set, n_items, metric, alternative, relation, gain (metric's scale), confidence, confidence_05,
        confidence_95 (fractions), n_pairs (of the class). A class of fewer than 30 pairs has no curve.

    Raises
    ------
    ValueError
        Where pairs is empty or no table of Comparisons, and for test sets whose pairs are of several tests, sides,
        conventions, units, strata or seeds.

    Examples
    --------
    >>> from simstudy.truth.synthetic import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> outputs = correlated_accuracies([0.7 + k / 200 for k in range(12)], 400)
    >>> table = curve(compare(outputs, n_resamples=2000))
    >>> bool(table["confidence"].iloc[0] < 0.5 < 0.9 < table["confidence"].iloc[-1])
    True
    """
    require_columns(pairs, [*TEST_SET, "alternative", "relation", "system_a", "system_b", "gain", "p_value"])
    require_one_question(pairs)
    check_whole("n_points", n_points, 2)
    curves = [
        _running(members["gain"].to_numpy(), confidence(members), n_points, _NO_GAIN[one]).assign(
            **key, alternative=one, n_pairs=len(members)
        )
        for key, members in relation_classes(pairs, ["alternative", *PAIR])
        if len(members) >= _LEAST_PAIRS and (one := members["alternative"].iloc[0])
    ]
    line = ["gain", "confidence", "confidence_05", "confidence_95"]
    columns = [*TEST_SET, "alternative", "relation", *line, "n_pairs"]
    return pd.concat(curves, ignore_index=True)[columns] if curves else pd.DataFrame(columns=columns)


def _running(gain: FloatArray, confidence: FloatArray, n_points: int, at_none: float) -> pd.DataFrame:
    order = np.argsort(gain, kind="stable")
    gain, confidence = gain[order], confidence[order]
    distinct = np.unique(gain)
    at = distinct[np.unique(np.searchsorted(distinct, np.quantile(gain, np.linspace(0, 1, n_points))))]
    windows = [_nearest(gain, centre) for centre in at]
    means = np.array([gain[near].mean() for near in windows])
    medians = np.array([np.median(confidence[near]) for near in windows])
    # Smaller gains than the first mean lie between it and no gain.
    line = ([0.0, *means], [at_none, *medians]) if means[0] > 0 else (means, medians)
    away = confidence - np.interp(gain, *line)
    band = [median + np.percentile(away[near], [5, 95]) for median, near in zip(medians, windows, strict=True)]
    points = np.column_stack([means, medians, np.clip(band, 0, 1)])
    # Near the ends several gains share one window.
    return pd.DataFrame(points, columns=["gain", "confidence", "confidence_05", "confidence_95"]).drop_duplicates()


def _nearest(ordered: FloatArray, centre: float) -> slice:
    """The twentieth of the gains, and at least 15, that are nearest to the centre.

    All at least as near as the k-th nearest: gains of small test sets come in steps, and pairs on one step belong
    together.
    """
    k = max(15, len(ordered) // 20) - 1
    reach = np.partition(np.abs(ordered - centre), k)[k]
    return slice(*np.searchsorted(ordered, [centre - reach - 1e-9, centre + reach + 1e-9]))


@takes_pairs
def overlay(
    pairs: pd.DataFrame, others: pd.DataFrame | HasFrame, *, n_bootstrap: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """How pairs differ from pairs of other systems at equal gain, for each relation class of both.

    Berg-Kirkpatrick et al. lay natural comparisons over those of resampled systems and judge by eye (figures 5 and 6).
    Here each pair is held against the running median of the twentieth of the others' pairs (at least 15) whose gains
    are nearest, up to the gain at which their median confidence reaches 0.99. With nothing to find the difference is
    about 0 and the ratio about 1. Compare test sets of one size: the ratio has the square root of their sizes' ratio in
    it. Measured coverage of the intervals, of 26 natural systems over 25 variants each of three base models on
    300 items (120 collections, standard error 0.02): 0.96 of the difference, 0.93 of the ratio.

    Parameters
    ----------
    pairs, others
        Comparisons of one test set each, by the same test, sides, convention and unit, for example of natural and of
        resampled systems.
    n_bootstrap
        Resamples of either collection's families, or systems, for the intervals; see `Comparisons.thresholds`.
    seed
        Of those resamples.

    Returns
    -------
    overlay
        A row for each relation class of pairs and of others: test_set, n_items, metric, relation, others_test_set,
        others_n_items, others_relation, n_pairs (held against others), n_others, gain_to (largest gain of these,
        metric's scale), difference (median difference in confidence, a fraction) and gain_ratio (median ratio of
        standard errors, and so of the gains that are equally significant), each with a 95 % interval (low, high;
        ratio_low, ratio_high), interval_for and others_interval_for (what it holds for on either side, as in
        `Comparisons.thresholds`, on these items) and note: why there is no interval or number.

    Raises
    ------
    ValueError
        For tables that are no Comparisons, of several test sets, or that ask unlike questions.

    Examples
    --------
    >>> from simstudy.comparisons.comparing import compare
    >>> from simstudy.truth.synthetic import correlated_accuracies
    >>> one, other = (
    ...     compare(correlated_accuracies([0.7 + k / 300 for k in range(12)], 500, seed=seed)) for seed in (1, 2)
    ... )
    >>> row = overlay(one, other).iloc[0]
    >>> bool(abs(row["difference"]) < 0.05), bool(0.9 < row["gain_ratio"] < 1.1)
    (True, True)
    """
    others = frame_of(others)
    for argument, table in (("pairs", pairs), ("others", others)):
        check_table(argument, table, _COLUMNS, COMPARISONS)
        require_one_question(table, argument=argument)
        if len(sets := table[TEST_SET].drop_duplicates()) > 1:
            raise InputError(argument, f"must be of one test set, size and metric, not of {len(sets)}")
    for column in ["metric", *_ASKED]:
        one, other = pairs[column].iloc[0], others[column].iloc[0]
        if one != other:
            raise InputError("pairs and others", f"must have one {column}, not '{one}' and '{other}'")
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    wanted = [*PAIR, "gain_se", *QUESTION]
    rows = []
    for key, members in relation_classes(pairs, wanted):
        for other_key, reference in relation_classes(others, wanted):
            rows.append(
                {
                    **{column: key[column] for column in (*TEST_SET, "relation")},
                    **{f"others_{column}": other_key[column] for column in ("test_set", "n_items", "relation")},
                    **_distances(members, reference, n_bootstrap, seed),
                }
            )
    return pd.DataFrame(rows)


def _distances(pairs: pd.DataFrame, others: pd.DataFrame, n_bootstrap: int, seed: int) -> dict[str, object]:
    numbers = ("gain_to", "difference", "low", "high", "gain_ratio", "ratio_low", "ratio_high")
    row: dict[str, object] = {"n_pairs": 0, "n_others": len(others), **dict.fromkeys(numbers, np.nan)}
    row |= {"interval_for": "", "others_interval_for": "", "note": ""}
    if len(others) < _LEAST_OVERLAID:
        return {**row, "note": f"too few other pairs: {len(others)}, not {_LEAST_OVERLAID}"}
    running = _Running(others)
    high = running.sure_from(confidence(others))
    inside = ((pairs["gain"] <= high) & (pairs["gain_se"] > 0)).to_numpy()
    row |= {"n_pairs": int(inside.sum()), "gain_to": high}
    if inside.sum() < _LEAST_OVERLAID:
        return {**row, "note": f"too few pairs up to a gain of {high:.3g}: {inside.sum()}, not {_LEAST_OVERLAID}"}
    ours, theirs = other_systems(pairs), other_systems(others)
    row |= {"interval_for": ours.interval_for, "others_interval_for": theirs.interval_for}
    row["note"] = ours.note or theirs.note
    at = pairs["gain"].to_numpy()[inside]
    scales: dict[tuple[str, str, str], tuple[FloatArray, FloatArray, Callable[[float], float]]] = {
        ("difference", "low", "high"): (confidence(pairs)[inside], confidence(others), float),
        ("gain_ratio", "ratio_low", "ratio_high"): (
            np.log(pairs["gain_se"].to_numpy()[inside]),
            np.log(np.maximum(others["gain_se"].to_numpy(), np.finfo(float).tiny)),
            np.exp,
        ),
    }
    for names, (values, reference, back) in scales.items():
        off = values - running.median(at, reference)
        estimate = float(np.median(off))
        half = np.nan
        if ours.interval_for and theirs.interval_for:
            # Both collections are samples: of their systems, drawn again one collection at a time.
            own = np.concatenate([weighted_percentile(off, w, 50) for w in ours.redrawn(inside, n_bootstrap, seed)])
            all_of_them = np.ones(len(others), dtype=np.bool_)
            medians = [
                np.median(values - running.median(at, reference, weights), axis=1)
                for weights in theirs.redrawn(all_of_them, n_bootstrap, seed + 1)
            ]
            spread = np.hypot(ours.spread(own), theirs.spread(np.concatenate(medians)))
            half = float(scipy.stats.t.isf(0.025, min(ours.df, theirs.df)) * spread)
        row |= dict(zip(names, (float(back(x)) for x in (estimate, estimate - half, estimate + half)), strict=True))
    return row


class _Running:
    """Running medians over pairs by their gains."""

    def __init__(self, pairs: pd.DataFrame) -> None:
        gain = pairs["gain"].to_numpy()
        order = np.argsort(gain, kind="stable")
        centres = np.unique(np.quantile(gain, np.linspace(0, 1, _POINTS)))
        windows = [np.sort(order[_nearest(gain[order], centre)]) for centre in centres]
        # Near the ends several centres share one window.
        self.at, kept = np.unique([gain[window].mean() for window in windows], return_index=True)
        self.windows = [windows[k] for k in kept]

    def sure_from(self, sure: FloatArray) -> float:
        """The gain from which on pairs are sure, so that there is nothing to compare."""
        medians = np.array([np.median(sure[window]) for window in self.windows])
        above = np.flatnonzero(medians >= _SURE)
        return float(self.at[above[0]] if len(above) else self.at[-1])

    def median(self, at: FloatArray, values: FloatArray, weights: IntArray | None = None) -> FloatArray:
        """Medians of the values of pairs near these gains: (N,), or (R, N) for pairs weighted (R, P)."""
        if weights is None:
            return np.asarray(np.interp(at, self.at, [np.median(values[window]) for window in self.windows]))
        medians = np.stack([weighted_percentile(values[w], weights[:, w], 50) for w in self.windows], axis=1)
        # A window of which no pair was drawn takes the median of all windows of that resample.
        medians = np.where(np.isnan(medians), np.nanmedian(medians, axis=1, keepdims=True), medians)
        return np.stack([np.interp(at, self.at, row) for row in medians])
