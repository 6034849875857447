"""Rankings: measures of the ranked documents of one topic, as trec_eval and ir_measures have them.

A document is relevant if its grade is at least 1, or at least the measure's level ("ap:rel=2"). Documents without a
judgement have grade 0. Scores are fractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from simstudy.metrics.mean import Mean

#: Measures: with a cutoff @k, with or without one, and without one.
_MEASURE = re.compile(
    r"(?:(?P<cut>precision|recall|success)@(?P<k>[1-9][0-9]*)"
    r"|(?P<any>ap|rr|ndcg)(?:@(?P<at>[1-9][0-9]*))?"
    r"|(?P<whole>rprecision))"
    r"(?::rel=(?P<level>[1-9][0-9]*))?(?P<exp>:gain=exp)?"
)

#: How messages write the names of measures.
KINDS = ("ap", "rr", "ndcg", "precision@n", "recall@n", "success@n", "rprecision")

_LABELS = {"ap": "average precision", "rr": "reciprocal rank", "ndcg": "nDCG", "rprecision": "R-precision"}


@dataclass(frozen=True)
class RankingMeasure:
    """A measure of a ranking."""

    #: "ap", "rr", "ndcg", "precision", "recall", "success" or "rprecision".
    kind: str
    #: The number of first ranks that count; None: all.
    cutoff: int | None = None
    #: The lowest grade of a relevant document (trec_eval -l); nDCG ignores it.
    level: int = 1
    #: Whether nDCG has gain 2^g - 1 for a document of grade g (Burges et al. 2005), and not g.
    exponential: bool = False

    def score(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """Score of the grades of the documents retrieved, best first, given those of all judged documents."""
        if self.kind == "ndcg":
            ideal = self._discounted(sorted(judged, reverse=True))
            return self._discounted(grades) / ideal if ideal else 0.0
        n_relevant = sum(grade >= self.level for grade in judged)
        hits = [rank for rank, grade in enumerate(grades[: self.cutoff], start=1) if grade >= self.level]
        match self.kind:
            case "rr":
                return 1 / hits[0] if hits else 0.0
            case "precision":
                return len(hits) / (self.cutoff or 1)
            case "success":
                return float(bool(hits))
            case "ap":
                total = sum(n / rank for n, rank in enumerate(hits, start=1))
            case "recall":
                total = len(hits)
            case _:
                total = sum(rank <= n_relevant for rank in hits)
        return total / n_relevant if n_relevant else 0.0

    def _discounted(self, grades: Sequence[int]) -> float:
        """Discounted cumulative gain (Jarvelin and Kekalainen 2002): the discount at rank r is log2(r + 1)."""
        gains = ((2**grade - 1 if self.exponential else grade) for grade in grades[: self.cutoff])
        return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain > 0)


def ranking_measure(name: str) -> RankingMeasure | None:
    """The measure of a metric's name, such as "ndcg@10" or "ap:rel=2"; None for another name."""
    parts = _MEASURE.fullmatch(name)
    kind = parts and (parts["cut"] or parts["any"] or parts["whole"])
    if parts is None or kind is None or (parts["exp"] and kind != "ndcg") or (parts["level"] and kind == "ndcg"):
        return None
    cutoff = parts["k"] or parts["at"]
    return RankingMeasure(kind, int(cutoff) if cutoff else None, int(parts["level"] or 1), bool(parts["exp"]))


def ranking_metric(name: str) -> Mean | None:
    """The metric of a ranking measure's name, the mean over topics; None for another name."""
    measure = ranking_measure(name)
    if measure is None:
        return None
    label = _LABELS.get(measure.kind, measure.kind) + name.removeprefix(measure.kind)
    return Mean(name, low=0, high=1, label=label, unit="probability", of_chosen=measure.kind == "precision")
