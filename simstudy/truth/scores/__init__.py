"""Item scores of any margin and any dependence whose true gain is known."""

from simstudy.truth.scores.base import KnownTruth, TruePair
from simstudy.truth.scores.clusters import ItemClusters
from simstudy.truth.scores.corpus import CorpusModel
from simstudy.truth.scores.correlations import equicorrelated, of_families
from simstudy.truth.scores.dependence import (
    Clayton,
    Dependence,
    Frank,
    GaussianCopula,
    Gumbel,
    Independent,
    Khoudraji,
    Survival,
    TCopula,
)
from simstudy.truth.scores.discrete import Empirical, Ordinal, Smoothed
from simstudy.truth.scores.fitted import Fitted, fit
from simstudy.truth.scores.held_out import Split, held_out_split, held_out_summary
from simstudy.truth.scores.item_response import ItemResponse
from simstudy.truth.scores.margins import Bernoulli, Beta, BetaBinomial, LogNormal, Margin, StudentT
from simstudy.truth.scores.model import ScoreModel
from simstudy.truth.scores.pair_copulas import (
    FAMILIES,
    SYMMETRIC,
    PairFit,
    best_fit,
    fit_families,
    pseudo_observations,
)
from simstudy.truth.scores.tabulated import Tabulated, effectiveness

__all__ = [
    "FAMILIES",
    "SYMMETRIC",
    "Bernoulli",
    "Beta",
    "BetaBinomial",
    "Clayton",
    "CorpusModel",
    "Dependence",
    "Empirical",
    "Fitted",
    "Frank",
    "GaussianCopula",
    "Gumbel",
    "Independent",
    "ItemClusters",
    "ItemResponse",
    "Khoudraji",
    "KnownTruth",
    "LogNormal",
    "Margin",
    "Ordinal",
    "PairFit",
    "ScoreModel",
    "Smoothed",
    "Split",
    "StudentT",
    "Survival",
    "TCopula",
    "Tabulated",
    "TruePair",
    "best_fit",
    "effectiveness",
    "equicorrelated",
    "fit",
    "fit_families",
    "held_out_split",
    "held_out_summary",
    "of_families",
    "pseudo_observations",
]
