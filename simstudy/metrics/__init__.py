"""Metrics: per-item statistics in, the score of their sum out.

`base` has what a metric is, `registry` their names. To add one, write it into the file of its family and `registry`, or
offer it as a plug-in (docs/python.md).
"""

from __future__ import annotations

from simstudy.metrics.base import Metric, Ratio
from simstudy.metrics.f_measure import FBeta
from simstudy.metrics.registry import METRICS, canonical, find_metric, get_metric, label

__all__ = ["METRICS", "FBeta", "Metric", "Ratio", "canonical", "find_metric", "get_metric", "label"]
