"""Simulated data with known truth: whole test sets of K systems, many test sets of two, and redrawn real ones.

Begin with `simstudy.truth.scores`: one family of models, any margins x any dependence x any clusters. Cases
and neighbours of it have random streams of their own: `synthetic`, `pair_answers` and `pair_models`.
"""

from simstudy.truth.known import PAIR_MODELS, pair_model
from simstudy.truth.redrawn import redraw
from simstudy.truth.synthetic import clustered_accuracies, correlated_accuracies

__all__ = [
    "PAIR_MODELS",
    "clustered_accuracies",
    "correlated_accuracies",
    "pair_model",
    "redraw",
]
