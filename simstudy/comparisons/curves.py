"""Gain against confidence: the curve of a test set's pairs (Berg-Kirkpatrick et al. 2012, figures 2-11)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.comparisons.relation_classes import PAIR, confidence, relation_classes
from simstudy.metrics.base import FloatArray
from simstudy.tables import TEST_SET, require_columns, require_one_question, takes_pairs
from simstudy.validation import check_whole

# Pairs that a curve needs.
_LEAST_PAIRS = 30

# The confidence of no gain at all, by the sides of the test.
_NO_GAIN = {"greater": 0.5, "two-sided": 0.0}

_LINE = ["gain", "confidence", "confidence_05", "confidence_95"]


@takes_pairs
def curve(pairs: pd.DataFrame, *, n_points: int = 50) -> pd.DataFrame:
    """Running median and 5-95 % band of confidence by gain, for each test set and relation class.

    A point is the median of the twentieth of the class's pairs (at least 15) with the nearest gains, ties included, at
    their mean gain. The band is the spread of these pairs around the line of medians at their gains, not an interval
    of the median. The confidence of a pair is 1 - p, and 0 if its test prefers the system with the worse score.

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

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> outputs = correlated_accuracies([0.7 + k / 200 for k in range(12)], 400)
    >>> table = curve(compare(outputs, n_resamples=2000))
    >>> bool(table["confidence"].iloc[0] < 0.5 < 0.9 < table["confidence"].iloc[-1])
    True
    """
    require_columns(pairs, [*TEST_SET, "alternative", "relation", "system_a", "system_b", "gain", "p_value"])
    require_one_question(pairs)
    check_whole("n_points", n_points, 2)
    curves = []
    for key, members in relation_classes(pairs, ["alternative", *PAIR]):
        if len(members) >= _LEAST_PAIRS:
            alternative = members["alternative"].iloc[0]
            line = _running(members["gain"].to_numpy(), confidence(members), n_points, _NO_GAIN[alternative])
            curves.append(line.assign(**key, alternative=alternative, n_pairs=len(members)))
    columns = [*TEST_SET, "alternative", "relation", *_LINE, "n_pairs"]
    return pd.concat(curves, ignore_index=True)[columns] if curves else pd.DataFrame(columns=columns)


def _running(gain: FloatArray, confidence: FloatArray, n_points: int, no_gain: float) -> pd.DataFrame:
    """Running medians of the confidence and the band around them; `no_gain` is the confidence of a gain of 0."""
    order = np.argsort(gain, kind="stable")
    gain, confidence = gain[order], confidence[order]
    distinct = np.unique(gain)
    centres = distinct[np.unique(np.searchsorted(distinct, np.quantile(gain, np.linspace(0, 1, n_points))))]
    windows = [nearest_gains(gain, centre) for centre in centres]
    means = np.array([gain[window].mean() for window in windows])
    medians = np.array([np.median(confidence[window]) for window in windows])
    # Smaller gains than the first mean lie between it and no gain.
    line = ([0.0, *means], [no_gain, *medians]) if means[0] > 0 else (means, medians)
    residuals = confidence - np.interp(gain, *line)
    band = [median + np.percentile(residuals[window], [5, 95]) for median, window in zip(medians, windows, strict=True)]
    points = np.column_stack([means, medians, np.clip(band, 0, 1)])
    # Near the ends several gains share one window.
    return pd.DataFrame(points, columns=_LINE).drop_duplicates()


def nearest_gains(ordered: FloatArray, centre: float) -> slice:
    """The twentieth of the gains, and at least 15, that are nearest to the centre.

    All at least as near as the k-th nearest: gains of small test sets come in steps, and pairs on one step belong
    together.
    """
    k = max(15, len(ordered) // 20) - 1
    reach = np.partition(np.abs(ordered - centre), k)[k]
    return slice(*np.searchsorted(ordered, [centre - reach - 1e-9, centre + reach + 1e-9]))
