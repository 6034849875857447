"""Analyses: functions from Comparisons (and Outputs) to tables, one file an analysis.

Read `relation_classes` first: the classes of pairs that tables have rows for. `other_systems` has the intervals over
systems and families for all of them, `stepdown` the places of a leaderboard.
"""

from simstudy.analyses.agreement import agreement
from simstudy.analyses.calibration import calibration
from simstudy.analyses.correlation import correlation
from simstudy.analyses.curves import curve, overlay
from simstudy.analyses.deciding_items import deciding_items
from simstudy.analyses.duplicates import near_duplicates
from simstudy.analyses.equivalence import equivalence
from simstudy.analyses.groups import groups
from simstudy.analyses.leaderboard import leaderboard
from simstudy.analyses.method_gains import method_gains
from simstudy.analyses.ranks import ranks
from simstudy.analyses.relation_classes import related
from simstudy.analyses.sample_noise import noise_curve, noises
from simstudy.analyses.sequential import e_values, sequential
from simstudy.analyses.signature import signature
from simstudy.analyses.significant_gains import significant_gains
from simstudy.analyses.thresholds import rule_of_thumb, size_fit, thresholds
from simstudy.analyses.training_variance import training_variance
from simstudy.analyses.win_rates import win_rates
from simstudy.engines.arguments import applicable
from simstudy.outputs.samples import per_question
from simstudy.statistics.multiplicity import corrected
from simstudy.statistics.pvalues import certainty

__all__ = [
    "agreement",
    "applicable",
    "calibration",
    "certainty",
    "corrected",
    "correlation",
    "curve",
    "deciding_items",
    "e_values",
    "equivalence",
    "groups",
    "leaderboard",
    "method_gains",
    "near_duplicates",
    "noise_curve",
    "noises",
    "overlay",
    "per_question",
    "ranks",
    "related",
    "rule_of_thumb",
    "sequential",
    "signature",
    "significant_gains",
    "size_fit",
    "thresholds",
    "training_variance",
    "win_rates",
]
