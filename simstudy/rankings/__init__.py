"""Rankings of candidates (Evert 2004): association measures, precision of n-best lists, repeated evaluations.

Read first: `candidates`, the candidates that scoring functions rank, and how they become Outputs.
"""

from simstudy.rankings.association import association
from simstudy.rankings.candidates import Candidates
from simstudy.rankings.n_best_lists import precision_curve, ranking_differences
from simstudy.rankings.repetitions import binomial_check, common_threshold, repetitions
from simstudy.rankings.simulated import simulated_candidates

__all__ = [
    "Candidates",
    "association",
    "binomial_check",
    "common_threshold",
    "precision_curve",
    "ranking_differences",
    "repetitions",
    "simulated_candidates",
]
