"""Simulated systems whose true gains are known, and test sets that are drawn again from real ones."""

from simstudy.truth.clustered import clustered_accuracies
from simstudy.truth.known import PAIR_MODELS, pair_model
from simstudy.truth.muc_like import muc_like
from simstudy.truth.redrawn import redraw
from simstudy.truth.synthetic import correlated_accuracies

__all__ = [
    "PAIR_MODELS",
    "clustered_accuracies",
    "correlated_accuracies",
    "muc_like",
    "pair_model",
    "redraw",
]
