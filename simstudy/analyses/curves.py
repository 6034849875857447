"""Gain against confidence: the curve through the pairs of a test set (Berg-Kirkpatrick et al. 2012, figures 2-11)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.analyses.relation_classes import PAIR, confidence, relation_classes
from simstudy.tables import TEST_SET, require_columns, require_one_question, takes_pairs
from simstudy.validation import check_whole

_LEAST_PAIRS = 30


@takes_pairs
def curve(pairs: pd.DataFrame, *, n_points: int = 50) -> pd.DataFrame:
    """Running median and 5-95 % band of confidence by gain, for each test set and relation class.

    At each gain it looks at the twentieth of the class's pairs (at least 15) whose gains are nearest, ties included,
    and stands at their mean gain. The band is the spread of the pairs, not an interval for the median. The confidence
    of a pair is 1 - p of the sides that the column alternative names, and 0 where its test speaks for the system with
    the worse score.

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
        _running(members["gain"].to_numpy(), confidence(members), n_points).assign(
            **key, alternative=members["alternative"].iloc[0], n_pairs=len(members)
        )
        for key, members in relation_classes(pairs, ["alternative", *PAIR])
        if len(members) >= _LEAST_PAIRS
    ]
    line = ["gain", "confidence", "confidence_05", "confidence_95"]
    columns = [*TEST_SET, "alternative", "relation", *line, "n_pairs"]
    return pd.concat(curves, ignore_index=True)[columns] if curves else pd.DataFrame(columns=columns)


def _running(gain: NDArray[np.float64], confidence: NDArray[np.float64], n_points: int) -> pd.DataFrame:
    order = np.argsort(gain, kind="stable")
    gain, confidence = gain[order], confidence[order]
    distinct = np.unique(gain)
    at = distinct[np.unique(np.searchsorted(distinct, np.quantile(gain, np.linspace(0, 1, n_points))))]
    nearest = max(15, len(gain) // 20)
    rows = []
    for centre in at:
        # All pairs at least as near as the k-th nearest: gains of small test sets come in steps, and pairs on one
        # step belong together.
        reach = np.partition(np.abs(gain - centre), nearest - 1)[nearest - 1]
        first, end = np.searchsorted(gain, [centre - reach - 1e-9, centre + reach + 1e-9])
        rows.append([gain[first:end].mean(), *np.percentile(confidence[first:end], [50, 5, 95])])
    # Near the ends several gains share one window.
    return pd.DataFrame(rows, columns=["gain", "confidence", "confidence_05", "confidence_95"]).drop_duplicates()
