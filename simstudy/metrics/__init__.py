"""Metrics: per-item statistics in, the score of their sum out.

To add a metric, write one file beside these (`accuracy.py` is a model) and one line in `METRICS`.
"""

from __future__ import annotations

from simstudy.metrics.accuracy import Accuracy
from simstudy.metrics.aer import Aer
from simstudy.metrics.arrays import ARRAYS
from simstudy.metrics.attachment import LAS, UAS, UPOS
from simstudy.metrics.base import Metric
from simstudy.metrics.bleu import Bleu
from simstudy.metrics.chrf import Chrf
from simstudy.metrics.direction import sounds_like_error
from simstudy.metrics.error_rate import CER, TER, WER
from simstudy.metrics.f_measure import MUC, PRECISION, RECALL, FBeta
from simstudy.metrics.mean import MEAN, Mean
from simstudy.metrics.names import ALIASES, LOWER, canonical, in_own_case, meant
from simstudy.metrics.of_samples import KINDS as KINDS_OF_SAMPLES
from simstudy.metrics.of_samples import of_samples
from simstudy.metrics.parseval import PARSEVAL
from simstudy.metrics.per_class import PER_CLASS
from simstudy.metrics.perplexity import PERPLEXITIES
from simstudy.metrics.preferences import BRADLEY_TERRY, WIN_RATE, strength_metric
from simstudy.metrics.ranking import KINDS as RANKING
from simstudy.metrics.ranking import ranking_metric
from simstudy.metrics.ratio import Ratio
from simstudy.metrics.rouge import KINDS, Rouge
from simstudy.metrics.spans import SPAN_F1, STRICT_SPAN_F1
from simstudy.notes import Words
from simstudy.validation import InputError, nearest

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *(
            Accuracy(),
            Mean(),
            Mean(higher_is_better=False),
            WIN_RATE,
            BRADLEY_TERRY,
        ),
        *(PRECISION, RECALL, FBeta(1), FBeta(0.5), FBeta(2)),
        *MUC,
        *(SPAN_F1, UAS, LAS, UPOS, PARSEVAL, Aer()),
        *(Bleu(), Chrf(), Chrf(word_order=2), *map(Rouge, KINDS), WER, CER, TER, *PERPLEXITIES),
        *filter(None, map(ranking_metric, RANKING)),
        Mean("precision_of_accepted", low=0, high=1, label="precision of accepted candidates", unit="probability",
             of_chosen=True),
    )
}  # fmt: skip

#: Names of metrics that are made for each data set, or that are no function of sums.
_OTHERS: dict[str, Metric] = {**PER_CLASS, **ARRAYS}

#: Metrics of another way to count, which their names say behind a colon: no message lists them.
_VARIANTS: dict[str, Metric] = {
    metric.name: metric for metric in (STRICT_SPAN_F1, *(Rouge(kind, stemmed=False) for kind in KINDS))
}

__all__ = ["METRICS", "FBeta", "Metric", "Ratio", "find_metric", "get_metric", "label"]


def find_metric(name: str) -> Metric | None:
    """The metric of this name, as tables have it; None for one of a user's own."""
    listed = METRICS.get(name) or _OTHERS.get(name) or _VARIANTS.get(name)
    return listed or ranking_metric(name) or strength_metric(name) or of_samples(name)


def label(name: str) -> str:
    """What reports and figures call the metric of this name: its label, or the name of one of a user's own."""
    metric = find_metric(name)
    return metric.label if metric else name


def get_metric(metric: str | Metric) -> Metric:
    """The metric of this name, or another name of it (`simstudy.metrics.names`); case does not matter.

    Measures of rankings are made for any cutoff and lowest relevant grade: "precision@10", "recall@100", "ndcg@10",
    "ap:rel=2". So are metrics of several samples, "pass@k", "pass^k", "majority@k" and "plurality@k", for any k from 2.
    "macro_f1" and the like get their classes from the labels.

    A ValueError offers the nearest names, or refuses a metric that is another one than that of its name.
    """
    if isinstance(metric, Metric):
        known = find_metric(metric.name)
        if known is not None and known.of_statistics(metric.statistics) != metric:
            # Tables, labels and files know a metric by its name.
            raise InputError(
                "metric",
                f"must have a name of its own: rename the function or the metric, as '{metric.name}' is a metric of "
                "simstudy, unlike this one",
            )
        return metric
    if not isinstance(metric, str):
        raise InputError("metric", "must be a name or a Metric", metric)
    names = [*METRICS, *_OTHERS]
    found = find_metric(metric) or find_metric(canonical(metric)) or find_metric(in_own_case(metric, names))
    if found is None:
        examples = ["precision@10", "ndcg@10", "recall@10", "success@10"]
        near = meant(metric, [*names, *examples])
        if not near and sounds_like_error(metric):
            near = Words("; errors that files have as numbers are '{mean}' with {lower}", mean=MEAN, lower=LOWER)
        near = near or nearest(metric, [*names, *examples, *ALIASES])
        every = ", ".join([*names, *(kind for kind in RANKING if kind not in names), *KINDS_OF_SAMPLES])
        # What is meant comes first: the list is long.
        rule = "must be a known name, not '{metric}'{near}: one of {every} (n >= 1, k >= 2)"
        raise InputError("metric", Words(rule, metric=metric, near=near, every=every))
    return found
