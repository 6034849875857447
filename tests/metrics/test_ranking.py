"""Measures of rankings, by hand and by all rankings."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from simstudy.metrics import get_metric
from simstudy.metrics.ranking import ranking_measure


def score(name: str, grades: list[int], judged: list[int]) -> float:
    measure = ranking_measure(name)
    assert measure is not None
    return measure.score(grades, judged)


def test_by_hand() -> None:
    """Relevant documents in ranks 1, 4 and 5, of four."""
    for name, expected in {
        "ap@4": (1 / 1 + 2 / 4) / 4, "rr@4:rel=2": 0, "precision@20": 3 / 20, "recall@4": 2 / 4, "rprecision": 2 / 4,
    }.items():  # fmt: skip
        assert score(name, [1, 0, 0, 1, 2], [1, 1, 1, 2, 0]) == pytest.approx(expected), name
    assert score("ndcg@5", [-1, 2], [2, -1]) == score("ndcg@5", [0, 2], [2, 0]), "negative grades gain nothing"


NAMES = ("ap", "rr", "ndcg", "rprecision", "precision@2", "ndcg@3", "recall@3", "success@1", "ap@3")


@pytest.mark.parametrize("name", NAMES)
def test_the_best_of_all_rankings_is_by_grade(name: str) -> None:
    """A measure is 1 at most, and 1 if all that can be first is first; 0 if there is nothing relevant."""
    grades = [0, 1, 3, 2]
    scores = {order: score(name, list(order), grades) for order in permutations(grades)}
    assert max(scores.values()) == pytest.approx(1)
    assert scores[3, 2, 1, 0] == pytest.approx(1)
    assert score(name, [0, 0], [1, 2]) == score(name, [], [0]) == 0


def test_metrics_at_any_cutoff_are_made_by_name() -> None:
    metric = get_metric("ndcg@17")
    assert (metric.name, metric.score(np.array([3, 4]))) == ("ndcg@17", 0.75)
    with pytest.raises(ValueError, match="scores of at most 1"):
        metric.check(np.array([[[1.5, 1]]]))


@pytest.mark.parametrize("name", ["ndcg@0", "ndcg@", "recall", "ndgc@10", "rprecision@5", "ndcg:rel=2", "ap:gain=exp"])
def test_other_names_are_not_known(name: str) -> None:
    assert ranking_measure(name) is None
