"""Rankings: average precision, reciprocal rank, precision and nDCG at a cutoff, of one topic, as trec_eval has them.

A document is relevant where its grade is 1 or more; documents that were not judged have grade 0. Scores are fractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log2

from simstudy.metrics.base import Metric
from simstudy.metrics.mean import Mean
from simstudy.validation import InputError

_AT_CUTOFF = re.compile(r"(precision|ndcg)@([1-9][0-9]*)")


def at_cutoff(name: str) -> Mean | None:
    """The metric "precision@n" or "ndcg@n", for any n from 1; None for another name."""
    found = _AT_CUTOFF.fullmatch(name)
    if found is None:
        return None
    label, of_chosen = name.replace("ndcg", "nDCG"), found[1] == "precision"
    return Mean(name, low=0, high=1, label=label, unit="probability", of_chosen=of_chosen)


def average_precision(relevant: Sequence[bool], n_relevant: int) -> float:
    """The mean, over all relevant documents, of the precision at the rank of each; 0 for those not retrieved.

    `relevant` says of each document retrieved, best first, whether it is; the topic has n_relevant, retrieved or not.
    """
    found, total = 0, 0.0
    for rank, hit in enumerate(relevant, start=1):
        if hit:
            found += 1
            total += found / rank
    return total / n_relevant if n_relevant else 0.0


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """1 / the rank of the first relevant document; 0 where none was retrieved."""
    return next((1 / rank for rank, hit in enumerate(relevant, start=1) if hit), 0.0)


def precision_at(relevant: Sequence[bool], n: int) -> float:
    """The share of the first n ranks that hold a relevant document; ranks that are not filled hold none."""
    return sum(relevant[:n]) / n


def ndcg_at(grades: Sequence[int], judged: Sequence[int], n: int) -> float:
    """Normalized discounted cumulative gain of the first n ranks (Jarvelin and Kekalainen 2002).

    As trec_eval's ndcg_cut: the gain of a document is its grade (0 where that is negative), the discount at rank r is
    log2(r + 1), and the ideal ranking has all judged documents, best first. Grades are of the documents retrieved, best
    first.
    """
    ideal = _discounted(sorted(judged, reverse=True)[:n])
    return _discounted(grades[:n]) / ideal if ideal else 0.0


def ranking_score(metric: Metric, grades: Sequence[int], judged: Sequence[int]) -> float:
    """One topic's score under "ap", "rr", "precision@n" or "ndcg@n"; ValueError for another metric."""
    relevant = [grade >= 1 for grade in grades]
    if metric.name == "ap":
        return average_precision(relevant, sum(grade >= 1 for grade in judged))
    if metric.name == "rr":
        return reciprocal_rank(relevant)
    found = _AT_CUTOFF.fullmatch(metric.name)
    if not found:
        raise InputError("metric", "must be one of ap, rr, precision@n, ndcg@n for rankings", metric.name)
    n = int(found[2])
    return precision_at(relevant, n) if found[1] == "precision" else ndcg_at(grades, judged, n)


def _discounted(grades: Sequence[int]) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, start=1) if grade > 0)
