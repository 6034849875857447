"""The metrics that names stand for, in one registry: those of simstudy, and those of other packages.

Other packages add theirs as plug-ins: entry points of the group ``simstudy.metrics`` whose objects are a `Metric`;
docs/python.md shows one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from simstudy.metrics.arrays import ARRAYS
from simstudy.metrics.base import Metric
from simstudy.metrics.bleu import Bleu
from simstudy.metrics.chrf import Chrf
from simstudy.metrics.dependencies import LAS, UAS, UPOS
from simstudy.metrics.direction import sounds_like_error
from simstudy.metrics.error_rate import CER, TER, WER
from simstudy.metrics.f_measure import MUC, PRECISION, RECALL, Aer, FBeta
from simstudy.metrics.labels import PER_CLASS, Accuracy
from simstudy.metrics.mean import BRADLEY_TERRY, MEAN, WIN_RATE, Mean, strength_metric
from simstudy.metrics.parseval import PARSEVAL
from simstudy.metrics.perplexity import PERPLEXITIES
from simstudy.metrics.ranking import KINDS as RANKING_KINDS
from simstudy.metrics.ranking import ranking_metric
from simstudy.metrics.rouge import KINDS as ROUGE_KINDS
from simstudy.metrics.rouge import Rouge
from simstudy.metrics.samples import KINDS as SAMPLE_KINDS
from simstudy.metrics.samples import sample_metric
from simstudy.metrics.spans import SPAN_F1, STRICT_SPAN_F1
from simstudy.notes import Argument, Words
from simstudy.running.plug_ins import Registry
from simstudy.validation import InputError, nearest

#: The group of entry points.
GROUP = "simstudy.metrics"

_SHIPPED: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *(Accuracy(), Mean(), Mean(higher_is_better=False), WIN_RATE, BRADLEY_TERRY),
        *(PRECISION, RECALL, FBeta(1), FBeta(0.5), FBeta(2)),
        *MUC,
        *(SPAN_F1, UAS, LAS, UPOS, PARSEVAL, Aer()),
        *(Bleu(), Chrf(), Chrf(word_order=2), *map(Rouge, ROUGE_KINDS), WER, CER, TER, *PERPLEXITIES),
        *filter(None, map(ranking_metric, RANKING_KINDS)),
        Mean("precision_of_accepted", low=0, high=1, label="precision of accepted candidates", unit="probability",
             of_chosen=True),
    )
}  # fmt: skip

#: Metrics that are made for each data set, or that are no function of sums.
_OTHERS: dict[str, Metric] = {**PER_CLASS, **ARRAYS}

#: Metrics of another way to count, which their names say behind a colon: no message lists them.
_VARIANTS: dict[str, Metric] = {
    metric.name: metric for metric in (STRICT_SPAN_F1, *(Rouge(kind, stemmed=False) for kind in ROUGE_KINDS))
}

#: Other name -> the metric's name in tables and pages.
ALIASES = {
    "acc": "accuracy", "em": "accuracy", "exact_match": "accuracy", "pass@1": "accuracy",
    "balanced_acc": "balanced_accuracy", "f1_macro": "macro_f1", "matthews_corrcoef": "mcc", "roc_auc": "auc",
    "map": "ap", "mrr": "rr", "recip_rank": "rr", "rprec": "rprecision",
}  # fmt: skip

_TAKEN = (*_SHIPPED, *_OTHERS, *_VARIANTS, *ALIASES)
_BY_LOWER_CASE = {name.lower(): name for name in (*_SHIPPED, *_OTHERS)} | ALIASES

# Measures of rankings at a cutoff as trec_eval (ndcg_cut_10) and ir_measures (nDCG@10) write them.
_CUTOFF = re.compile(r"(p|prec|ndcg|ndcg_cut|map|map_cut|mrr|r|recall|success|hit|hits)[@_]([1-9][0-9]*)(:.+)?", re.I)
_AT_CUTOFF = {"p": "precision", "prec": "precision", "ndcg_cut": "ndcg", "map": "ap", "map_cut": "ap", "mrr": "rr",
              "r": "recall", "hit": "success", "hits": "success"}  # fmt: skip


#: Name -> metric of sums.
METRICS: Mapping[str, Metric] = Registry(_SHIPPED, GROUP, Metric, _TAKEN)  # type: ignore[type-abstract]


def canonical(name: str) -> str:
    """The metric's name in tables, given another name of it in any case; the name itself if it has none."""
    if parts := _CUTOFF.fullmatch(name):
        kind = parts[1].lower()
        return f"{_AT_CUTOFF.get(kind, kind)}@{parts[2]}{parts[3] or ''}"
    listed = _BY_LOWER_CASE.get(name.lower(), name)
    # Metrics with a number are in no list.
    return listed.lower() if "@" in listed or "^" in listed else listed


def _shipped(name: str) -> Metric | None:
    listed = _SHIPPED.get(name) or _OTHERS.get(name) or _VARIANTS.get(name)
    return listed or ranking_metric(name) or strength_metric(name) or sample_metric(name)


def find_metric(name: str) -> Metric | None:
    """The metric of this name, as tables have it; None for one of a user's."""
    return _shipped(name) or METRICS.get(name)


def label(name: str) -> str:
    """What reports and figures call the metric of this name: its label, or the name of a user's metric."""
    metric = find_metric(name)
    return metric.label if metric else name


def get_metric(metric: str | Metric) -> Metric:
    """The metric of this name, or of another name of it (`ALIASES`); case does not matter.

    Measures of rankings are made for any cutoff and lowest relevant grade: "precision@10", "recall@100", "ndcg@10",
    "ap:rel=2". So are metrics of several samples, "pass@k", "pass^k", "majority@k" and "plurality@k", for any k from 2.
    "macro_f1" and the like get their classes from the labels.

    A ValueError offers the nearest name, or refuses a metric that is not the one of simstudy with its name.
    """
    if isinstance(metric, Metric):
        # No plug-in is looked at: a package may make its metric while it is loaded.
        shipped = _shipped(metric.name)
        if shipped is not None and shipped.with_statistics(metric.statistics) != metric:
            # Tables, labels and files know a metric by its name.
            raise InputError(
                "metric",
                f"must have a name of its own: rename the function or the metric, as '{metric.name}' is a metric of "
                "simstudy, unlike this one",
            )
        return metric
    if not isinstance(metric, str):
        raise InputError("metric", "must be a name or a Metric", metric)
    named = _shipped(metric) or _shipped(canonical(metric)) or METRICS.get(metric)
    if named is not None:
        return named
    listed = [*METRICS, *_OTHERS, *(kind for kind in RANKING_KINDS if kind not in METRICS), *SAMPLE_KINDS]
    hint: str = nearest(metric, [*listed, "precision@10", "recall@10", "ndcg@10", "success@10", *ALIASES])
    if sounds_like_error(metric):
        lower = Argument("lower_is_better", True)
        hint = Words("; errors that files have as numbers are '{mean}' with {lower}", mean=MEAN, lower=lower)
    # The hint comes first: the list is long.
    rule = "must be a known name, not '{metric}'{hint}: one of {listed} (n >= 1, k >= 2)"
    raise InputError("metric", Words(rule, metric=metric, hint=hint, listed=", ".join(listed)))
