"""Metrics by their names and other names, metrics of other packages, and names of scores of which lower is better.

Other packages add metrics as plug-ins: entry points of the group ``simstudy.metrics`` whose objects are a `Metric`;
docs/python.md shows one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from simstudy.metrics.annotations import LAS, PARSEVAL, SPAN_F1, STRICT_SPAN_F1, UAS, UPOS, Aer
from simstudy.metrics.arrays import ARRAYS
from simstudy.metrics.base import Metric
from simstudy.metrics.f_measure import MUC, PRECISION, RECALL, FBeta
from simstudy.metrics.labels import PER_CLASS, Accuracy
from simstudy.metrics.mean import (
    BRADLEY_TERRY,
    LOWER,
    MEAN,
    SAMPLE_KINDS,
    WIN_RATE,
    Mean,
    sample_metric,
    strength_metric,
)
from simstudy.metrics.ranking import KINDS as RANKING_KINDS
from simstudy.metrics.ranking import ranking_metric
from simstudy.metrics.texts import CER, PERPLEXITIES, ROUGE_KINDS, TER, WER, Bleu, Chrf, Rouge
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

#: Metrics with the classes of a data set, and metrics that are no function of sums.
_OTHERS: dict[str, Metric] = {**PER_CLASS, **ARRAYS}

#: Metrics with another way to count, which the name has behind a colon: no message lists them.
_VARIANTS: dict[str, Metric] = {
    metric.name: metric for metric in (STRICT_SPAN_F1, *(Rouge(kind, stemmed=False) for kind in ROUGE_KINDS))
}

#: Other name -> the metric's name in tables and pages.
ALIASES = {
    "acc": "accuracy", "em": "accuracy", "exact_match": "accuracy", "pass@1": "accuracy",
    "balanced_acc": "balanced_accuracy", "f1_macro": "macro_f1", "matthews_corrcoef": "mcc", "roc_auc": "auc",
    "map": "ap", "mrr": "rr", "recip_rank": "rr", "rprec": "rprecision",
}  # fmt: skip

_BY_LOWER_CASE = {name.lower(): name for name in (*_SHIPPED, *_OTHERS)} | ALIASES

# Measures of rankings at a cutoff as trec_eval (ndcg_cut_10) and ir_measures (nDCG@10) write them.
_CUTOFF = re.compile(r"(p|prec|ndcg|ndcg_cut|map|map_cut|mrr|r|recall|success|hit|hits)[@_]([1-9][0-9]*)(:.+)?", re.I)
_AT_CUTOFF = {"p": "precision", "prec": "precision", "ndcg_cut": "ndcg", "map": "ap", "map_cut": "ap", "mrr": "rr",
              "r": "recall", "hit": "success", "hits": "success"}  # fmt: skip

# Words in names of scores of which lower is better: of errors, and of negated likelihoods.
_ERROR = re.compile(
    r"\b(wer|ter|cer|eer|err(or)?s?|loss(es)?|logloss|perplexit(y|ies)|ppl|rmse|mae|mse|s?mape|rmsle|msle|nll|brier|"
    r"crps|ece|bpb|bpc|fpr|fnr|false (alarm|positive|negative)s?|mistakes?|deviance|distances?|latency|runtime|seconds|"
    r"costs?|toxicity|tokens|time)\b"
)
_LIKELIHOOD = re.compile(r"\b(log)?likelihood\b")

# Words that negate a score, as in neg_mean_squared_error, and the beginning of 1 - WER.
_NEGATED = re.compile(r"(?<!\bfalse )\b(neg(ative|ated)?|minus|inverse|reduction|free)\b")
_ONE_LESS = re.compile(r"\s*1\s*[-−]")

# Words of a name; evalLoss and NLLLoss are two each.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")


def canonical(name: str) -> str:
    """The metric's name in tables, given another of its names in any case; the name itself if there is no other."""
    if parts := _CUTOFF.fullmatch(name):
        kind = parts[1].lower()
        return f"{_AT_CUTOFF.get(kind, kind)}@{parts[2]}{parts[3] or ''}"
    listed = _BY_LOWER_CASE.get(name.lower(), name)
    # Names with a number are in no list.
    return listed.lower() if "@" in listed or "^" in listed else listed


def _shipped(name: str) -> Metric | None:
    listed = _SHIPPED.get(name) or _OTHERS.get(name) or _VARIANTS.get(name)
    return listed or ranking_metric(name) or strength_metric(name) or sample_metric(name)


#: Name -> metric of sums.
METRICS: Mapping[str, Metric] = Registry(
    _SHIPPED,
    GROUP,
    Metric,  # type: ignore[type-abstract]
    lambda name: _shipped(name) is not None or _shipped(canonical(name)) is not None,
)


def find_metric(name: str) -> Metric | None:
    """The metric of this name in tables; None for a user's metric."""
    return _shipped(name) or METRICS.get(name)


def label(name: str) -> str:
    """The label of the metric of this name in reports and figures; the name of a user's metric."""
    metric = find_metric(name)
    return metric.label if metric else name


def get_metric(metric: str | Metric) -> Metric:
    """The metric of this name, or of another of its names (`ALIASES`); case does not matter.

    Measures of rankings are made for any cutoff and lowest relevant grade: "precision@10", "recall@100", "ndcg@10",
    "ap:rel=2". So are metrics of several samples, "pass@k", "pass^k", "majority@k" and "plurality@k", for any k from 2.
    "macro_f1" and the like get their classes from the labels.

    A ValueError offers the nearest name, or refuses a metric that is not the one of simstudy with its name.
    """
    if isinstance(metric, Metric):
        # Plug-ins are left out: a package may make its metric while it is loaded.
        shipped = _shipped(metric.name)
        if shipped is not None and shipped.with_statistics(metric.statistics) != metric:
            # Tables, labels and files know a metric by its name.
            rule = f"must have another name: rename the function or metric, as '{metric.name}' is a metric of simstudy"
            raise InputError("metric", rule)
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


def directed(metric: Metric, lower_is_better: bool | None) -> Metric:
    """The metric in the direction of the option, if it is given; an InputError if the metric has only the other one."""
    if lower_is_better is not None and not isinstance(lower_is_better, bool):
        raise InputError("lower_is_better", "must be True, False or None", lower_is_better)
    if lower_is_better is None or lower_is_better != metric.higher_is_better:
        return metric
    if metric == Mean():
        return Mean(higher_is_better=False)
    if metric == ARRAYS["median"]:
        return ARRAYS[f"median{LOWER}"]
    end, hint = ("lower", "") if lower_is_better is False else ("higher", f"; the metric of errors is '{MEAN}'")
    rule = f"{{option}} must not be given for metric '{metric.name}': {end} is better{hint}"
    raise InputError(Words(rule, option=Argument("lower_is_better", lower_is_better)))


def sounds_like_error(name: str) -> bool:
    """Whether a whole word of a score's name, in any case, means that lower is better."""
    words = " ".join(_WORD.findall(name)).lower()
    negated = _NEGATED.search(words) or _ONE_LESS.match(name)
    return (_LIKELIHOOD if negated else _ERROR).search(words) is not None
