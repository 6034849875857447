"""All pairs of systems on one test set, and the tables that are made from them: one file an analysis.

Read `comparing` first, which makes the table of pairs; `comparisons` is the noun around it, and `verdict` one pair in
words. `relation_classes` has the classes of pairs that tables have rows for, `other_systems` the intervals over systems
and families for all of them, `stepdown` the places of a leaderboard.
"""

from simstudy.comparisons.agreement import agreement
from simstudy.comparisons.calibration import calibration
from simstudy.comparisons.comparing import compare
from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.correlation import correlation
from simstudy.comparisons.curves import curve
from simstudy.comparisons.deciding_items import deciding_items
from simstudy.comparisons.duplicates import near_duplicates
from simstudy.comparisons.equivalence import equivalence
from simstudy.comparisons.groups import groups
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.comparisons.method_gains import method_gains
from simstudy.comparisons.pair import Pair
from simstudy.comparisons.ranks import ranks
from simstudy.comparisons.relation_classes import related
from simstudy.comparisons.sample_noise import noise_curve, noises
from simstudy.comparisons.sequential import e_values, sequential
from simstudy.comparisons.signature import signature
from simstudy.comparisons.significant_gains import significant_gains
from simstudy.comparisons.thresholds import size_fit, thresholds
from simstudy.comparisons.verdict import verdict
from simstudy.comparisons.win_rates import win_rates
from simstudy.engines.arguments import applicable
from simstudy.outputs.samples import per_question
from simstudy.statistics.multiplicity import corrected
from simstudy.statistics.pvalues import certainty

__all__ = [
    "Comparisons",
    "Pair",
    "agreement",
    "applicable",
    "calibration",
    "certainty",
    "compare",
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
    "per_question",
    "ranks",
    "related",
    "sequential",
    "signature",
    "significant_gains",
    "size_fit",
    "thresholds",
    "verdict",
    "win_rates",
]
