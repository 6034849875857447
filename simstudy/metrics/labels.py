"""Metrics by the names that people give them, and the unit of their gains."""

from __future__ import annotations

#: In percent: a difference of two scores is in points.
_PERCENT = {
    **{name: name for name in ("accuracy", "precision", "recall")},
    **{f"f{beta}": f"F{beta}" for beta in ("1", "0.5", "2")},
    **{name: name.upper() for name in ("uas", "las", "aer")},
    "span_f1": "span F1",
    "parseval": "labelled F1",
    "win_rate": "win rate",
}

#: On scales of their own.
_OTHERS = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "chrf++": "chrF++",
    **{f"rouge{kind}": f"ROUGE-{kind}" for kind in ("1", "2", "L")},
    "ap": "average precision",
    "rr": "reciprocal rank",
    "precision_of_accepted": "precision of accepted candidates",
}


def label(metric: str) -> str:
    """What a report calls a metric; its name in the registry where there is nothing better.

    Examples
    --------
    >>> label("bleu"), label("span_f1"), label("ndcg@20")
    ('BLEU', 'span F1', 'nDCG@20')
    """
    return _PERCENT.get(metric) or _OTHERS.get(metric) or metric.replace("ndcg@", "nDCG@")


def in_percent(metric: str) -> bool:
    """Whether a metric is in percent, so that a gain is in points.

    Examples
    --------
    >>> in_percent("accuracy"), in_percent("bleu")
    (True, False)
    """
    return metric in _PERCENT
