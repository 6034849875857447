from __future__ import annotations

from itertools import permutations
from math import log2

import numpy as np
import pytest

from simstudy.metrics import get_metric
from simstudy.metrics.ranking import average_precision, ndcg_at, precision_at, ranking_score, reciprocal_rank


def test_by_hand() -> None:
    relevant = [True, False, False, True, True]
    assert average_precision(relevant, 4) == pytest.approx((1 / 1 + 2 / 4 + 3 / 5) / 4)
    assert reciprocal_rank(relevant[1:]) == pytest.approx(1 / 3)
    assert precision_at(relevant, 4) == pytest.approx(2 / 4)
    assert precision_at(relevant, 20) == pytest.approx(3 / 20)
    # Gains 3 and 1 in ranks 2 and 3, where 3, 2 and 1 were to be had.
    gained, ideal = 3 / log2(3) + 1 / log2(4), 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert ndcg_at([0, 3, 1], [1, 0, 2, 3, -1], 10) == pytest.approx(gained / ideal)
    assert ndcg_at([0, 3, 1], [1, 0, 2, 3, -1], 2) == pytest.approx((3 / log2(3)) / (3 + 2 / log2(3)))
    assert ndcg_at([-1, 2], [2, -1], 5) == ndcg_at([0, 2], [2, 0], 5), "negative grades gain nothing"


def test_nothing_found_or_nothing_to_find() -> None:
    for name in ("ap", "rr", "precision@3", "ndcg@3"):
        assert ranking_score(get_metric(name), [0, 0], [1, 2]) == 0
        assert ranking_score(get_metric(name), [], [0]) == 0


def test_best_of_all_rankings_is_by_grade() -> None:
    """Each metric is 1 at most, and 1 exactly where all that can be first is first."""
    grades = [0, 1, 3, 2]
    for name in ("ap", "rr", "precision@2", "ndcg@3"):
        metric = get_metric(name)
        scores = {order: ranking_score(metric, order, grades) for order in permutations(grades)}
        assert max(scores.values()) == pytest.approx(1)
        assert scores[3, 2, 1, 0] == pytest.approx(1)


def test_metrics_at_any_cutoff_are_made_by_name() -> None:
    metric = get_metric("ndcg@17")
    assert (metric.name, metric.statistics) == ("ndcg@17", ("sum", "count"))
    metric.check(np.array([[[1, 1], [0, 1]]]))
    with pytest.raises(ValueError, match="scores of at most 1"):
        metric.check(np.array([[[1.5, 1]]]))
    assert metric.score(np.array([3, 4])) == 0.75


@pytest.mark.parametrize("name", ["ndcg@0", "ndcg@", "precision@n", "ndgc@10", "precision@-1"])
def test_other_names_are_not_known(name: str) -> None:
    with pytest.raises(
        ValueError,
        match=rf"^metric must be a known name, not '{name}'.*: one of accuracy, .*, precision@n, ndcg@n \(n >= 1\)$",
    ):
        get_metric(name)


def test_rankings_have_no_other_metric() -> None:
    message = "metric must be one of ap, rr, precision@n, ndcg@n for rankings, not 'accuracy'"
    with pytest.raises(ValueError, match=message):
        ranking_score(get_metric("accuracy"), [1], [1])
