"""Rankings: measures of the ranked documents of one topic, as trec_eval and ir_measures have them.

A document is relevant if its grade is 1 or more, or as high as the measure says ("ap:rel=2"). Documents that were not
judged have grade 0. Scores are fractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from simstudy.metrics.mean import Mean

#: Measures, with @k for a cutoff: those that need one, may have one, and have none.
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
    """A measure of a ranking.

    Attributes
    ----------
    kind
        "ap", "rr", "ndcg", "precision", "recall", "success" or "rprecision".
    cutoff
        How many of the first ranks count; None: all.
    level
        The lowest grade of a relevant document (trec_eval -l). It does not matter to nDCG.
    exponential
        Whether the gain of a document of grade g is 2^g - 1 (Burges et al. 2005), and not g; for nDCG only.
    """

    kind: str
    cutoff: int | None = None
    level: int = 1
    exponential: bool = False

    def score(self, grades: Sequence[int], judged: Sequence[int]) -> float:
        """Score of the grades of the documents retrieved, best first, given those of all judged documents."""
        if self.kind == "ndcg":
            ideal = self._discounted(sorted(judged, reverse=True))
            return self._discounted(grades) / ideal if ideal else 0.0
        relevant = [grade >= self.level for grade in grades[: self.cutoff]]
        n_relevant = sum(grade >= self.level for grade in judged)
        hits = [rank for rank, hit in enumerate(relevant, start=1) if hit]
        match self.kind:
            case "ap":
                total = 0.0
                for n, rank in enumerate(hits, start=1):
                    total += n / rank
                return total / n_relevant if n_relevant else 0.0
            case "rr":
                return 1 / hits[0] if hits else 0.0
            case "precision":
                return len(hits) / (self.cutoff or 1)
            case "recall":
                return len(hits) / n_relevant if n_relevant else 0.0
            case "success":
                return float(bool(hits))
            case _:
                return sum(rank <= n_relevant for rank in hits) / n_relevant if n_relevant else 0.0

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
