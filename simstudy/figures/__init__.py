"""Figures: tables in, matplotlib Axes out. Each function draws one panel and says in its error what it needs.

The only room that knows matplotlib and seaborn. `panels` makes a figure in the house style and `save` writes it;
`gains` draws what the analyses of Berg-Kirkpatrick et al. 2012 return, `pairs` the matrix and the groups of
Chinchor 1992, `agreement` how tests differ, and why (Yeh 2000), `error_rates` how often they are wrong where the truth
is known, `natural` the gains that are significant on many test sets.
"""

from simstudy.figures.agreement import correlations, rejections, type_1_errors
from simstudy.figures.error_rates import coverage, error_rates
from simstudy.figures.gain_intervals import gain_intervals
from simstudy.figures.gains import calibration, curve, thresholds
from simstudy.figures.leaderboard import leaderboard
from simstudy.figures.pairs import groups, matrix
from simstudy.figures.rankings import p_values_by_length, precision_curve, precision_spread
from simstudy.figures.significant_gains import gains_by_size, gains_by_test_set
from simstudy.figures.single import single
from simstudy.figures.style import panels, save, share_legend

__all__ = [
    "calibration",
    "correlations",
    "coverage",
    "curve",
    "error_rates",
    "gain_intervals",
    "gains_by_size",
    "gains_by_test_set",
    "groups",
    "leaderboard",
    "matrix",
    "p_values_by_length",
    "panels",
    "precision_curve",
    "precision_spread",
    "rejections",
    "save",
    "share_legend",
    "single",
    "thresholds",
    "type_1_errors",
]
