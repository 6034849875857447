"""Simulated data with known truth: whole test sets of K systems, many test sets of two, and redrawn real ones.

Begin with `simstudy.truth.scores`: one family of models, any margins x any dependence x any clusters. `synthetic`,
`muc_like`, `pair_models` and `translations` are cases and neighbours of it whose random streams are their own.
"""

from simstudy.truth.known import PAIR_MODELS, pair_model
from simstudy.truth.muc_like import muc_like
from simstudy.truth.redrawn import redraw
from simstudy.truth.synthetic import clustered_accuracies, correlated_accuracies

__all__ = [
    "PAIR_MODELS",
    "clustered_accuracies",
    "correlated_accuracies",
    "muc_like",
    "pair_model",
    "redraw",
]
