"""Metrics: per-item statistics in, the score of their sum out.

To add a metric, write one file beside these (`accuracy.py` is a model) and one line in `METRICS`.
"""

from __future__ import annotations

from simstudy.choices import check_choice
from simstudy.metrics.accuracy import Accuracy
from simstudy.metrics.base import Metric, Ratio
from simstudy.metrics.f_measure import FBeta, Precision, Recall
from simstudy.metrics.mean import Mean
from simstudy.metrics.muc import MucF, MucPrecision, MucRecall

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        *(Accuracy(), Mean()),
        *(Precision(), Recall(), FBeta(1), FBeta(0.5), FBeta(2)),
        *(MucPrecision(), MucRecall(), MucF("muc_f", 1), MucF("muc_f_2p", 0.5), MucF("muc_f_2r", 2)),
    )
}

__all__ = ["METRICS", "FBeta", "Metric", "Ratio", "get_metric"]


def get_metric(metric: str | Metric) -> Metric:
    """Look a metric up by name; a Metric is passed through.

    Raises
    ------
    ValueError
        For a name that is not in `METRICS`; the message offers the nearest ones.

    Examples
    --------
    >>> get_metric("f1").statistics
    ('correct', 'guessed', 'gold')
    """
    if isinstance(metric, Metric):
        return metric
    check_choice("metric", metric, METRICS)
    return METRICS[metric]
