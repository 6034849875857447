"""Simulated data with known truth: any margins x any dependence x any clusters, and real test sets drawn again.

Read first: `margins` (one system's scores), `dependence` (what systems have in common), then `models`. `corpus` has
models of metrics that are no means of scores, `fitted` those that are learned from real outputs, and `named` wrappers
of a few words.
"""

from simstudy.truth.corpus import Responses
from simstudy.truth.dependence import (
    Clayton,
    Dependence,
    GaussianCopula,
    Gumbel,
    Independent,
    Survival,
    TCopula,
    of_families,
)
from simstudy.truth.fitted import Fitted, fit
from simstudy.truth.margins import Bernoulli, Beta, BetaBinomial, Gamma, LogNormal, Margin, Ordinal, StudentT
from simstudy.truth.models import ItemClusters, KnownTruth, ScoreModel
from simstudy.truth.named import MODELS, clustered_accuracies, correlated_accuracies, named_model, right_or_wrong
from simstudy.truth.redrawn import redraw

__all__ = [
    "MODELS",
    "Bernoulli",
    "Beta",
    "BetaBinomial",
    "Clayton",
    "Dependence",
    "Fitted",
    "Gamma",
    "GaussianCopula",
    "Gumbel",
    "Independent",
    "ItemClusters",
    "KnownTruth",
    "LogNormal",
    "Margin",
    "Ordinal",
    "Responses",
    "ScoreModel",
    "StudentT",
    "Survival",
    "TCopula",
    "clustered_accuracies",
    "correlated_accuracies",
    "fit",
    "named_model",
    "of_families",
    "redraw",
    "right_or_wrong",
]
