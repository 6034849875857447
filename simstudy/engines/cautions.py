"""What a gain rests on, and whether that is too little for its p-value and its interval.

Tests and intervals of scores that are no plain right or wrong answers take the mean of many units to be normal. The
units are too few for that where a handful of them decides: where one of two precisions rests on few wrong (or few
right) answers, and where the units' differences are skewed.

The study error_rates has level and coverage in five such conditions, and in twenty others, for the default test and for
`skew_corrected` and `precision_score`. Nearly all errors are for one side. No test can do without the large differences
if a test set has none of them: of 50 items with 85 % ties, else -1 (nine of ten) or +9, that happens to 47 in 100.

The rule was found by simulation of the default test and the jackknife interval with equal scores. It was then held
against 435 conditions that had no part in this, with 30 to 2,000 units and 2,000 test sets each: means, precision and
F1 of items and of clusters (slow tests, tests/statistical/test_cautions.py). Level or coverage was off in 120 of them:
p <= 0.05 in more than 7 % of the test sets, or coverage below 93 %. How many test sets have a caution:

============  ==========  =====  ==================  ===========
scores        conditions    off  off: caution (hit)  false alarm
============  ==========  =====  ==================  ===========
means                205     72                77 %         20 %
precision            162     41                92 %         30 %
F1                    68      7                62 %          8 %
all                  435    120                81 %         21 %
============  ==========  =====  ==================  ===========

For means, a caution is least likely where it is needed most: of the test sets that are significant by mistake, half
have one. Nothing in a test set tells of rare large differences that it lacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.engines.question import Question
from simstudy.metrics.base import FloatArray
from simstudy.metrics.f_measure import Counts

#: Values of the column ``caution``.
FEW_WRONG, FEW_RIGHT, SKEWED = "few wrong answers", "few right answers", "skewed differences"

#: Of precision, fewer right or wrong answers of a system than this are few, whatever the skewness is.
FEW = 5

#: Skewness over the square root of the number of units (the skewness of the gain) above which it is large.
LARGE = 0.2


def cautions(question: Question, skewness: FloatArray) -> dict[str, Any]:
    """Columns of Comparisons that tell what each pair's scores rest on, and a caution; `skewness` (P,) is `spread`'s.

    Counts are NaN where the metric does not count what each system chose; the caution is "" where there is none, and
    for right and wrong answers, whose test is exact and whose interval covers for few of them too.
    """
    counts = _chosen(question)
    i, j = question.pairs
    if counts is None:
        of_a = wrong_a = of_b = wrong_b = np.full(question.n_pairs, np.nan)
    else:
        of, wrong = counts
        of_a, wrong_a, of_b, wrong_b = of[i], wrong[i], of[j], wrong[j]
    caution = np.full(question.n_pairs, "", dtype=object)
    if not question.right_or_wrong:
        large = np.abs(skewness) > LARGE * np.sqrt(question.n_units)
        caution[large] = SKEWED
        if counts is not None and question.metric.is_proportion:
            # Contributions to a precision are skewed because there are few of one kind.
            right, wrong = np.minimum(of_a - wrong_a, of_b - wrong_b), np.minimum(wrong_a, wrong_b)
            few = large | (np.minimum(right, wrong) < FEW)
            caution[few] = np.where(wrong <= right, FEW_WRONG, FEW_RIGHT)[few]
    return {"accepted_a": of_a, "wrong_a": wrong_a, "accepted_b": of_b, "wrong_b": wrong_b, "caution": caution}


def _chosen(question: Question) -> tuple[FloatArray, FloatArray] | None:
    """How many answers each system gave, or candidates it accepted, and how many are wrong (K,); None: not counted."""
    metric = question.metric
    if question.right_or_wrong or question.unit_scores is not None or question.factor != 1:
        return None
    if isinstance(metric, Counts):
        right, of = question.statistics[..., 0], question.statistics[..., 1]
    elif question.ratio is not None and question.fractions and metric.is_proportion:
        above, of = question.ratio
        right = above if metric.higher_is_better else of + above
    else:
        return None
    n_of = of.sum(axis=1, dtype=np.float64)
    return n_of, n_of - right.sum(axis=1, dtype=np.float64)
