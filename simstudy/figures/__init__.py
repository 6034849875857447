"""Figures: tables in, matplotlib Axes out. Each function draws one panel and says in its error what it needs.

The only room that knows matplotlib and seaborn, which are imported when something is drawn: a comparison without
figures, and the processes that compute, do not wait for them. `panels` makes a figure in the house style and `save`
writes it; `gains` draws what the analyses of Berg-Kirkpatrick et al. 2012 return, `pairs` the matrix and the groups of
Chinchor 1992, `agreement` how tests differ, and why (Yeh 2000), `rates` and `truths` how often they are wrong and what
they find where the truth is known, `many` how that grows with systems and looks, `significant_gains` the gains that are
significant on many test sets, `plans` how large one must be, `rankings` those of Evert 2004.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simstudy.figures.agreement import correlations as correlations
    from simstudy.figures.agreement import rejections as rejections
    from simstudy.figures.agreement import type_1_errors as type_1_errors
    from simstudy.figures.gains import calibration as calibration
    from simstudy.figures.gains import curve as curve
    from simstudy.figures.gains import thresholds as thresholds
    from simstudy.figures.intervals import gain_intervals as gain_intervals
    from simstudy.figures.leaderboards import leaderboard as leaderboard
    from simstudy.figures.many import rates_by_number as rates_by_number
    from simstudy.figures.pairs import groups as groups
    from simstudy.figures.pairs import matrix as matrix
    from simstudy.figures.plans import planned_gains as planned_gains
    from simstudy.figures.plans import planned_power as planned_power
    from simstudy.figures.rankings import p_values_by_length as p_values_by_length
    from simstudy.figures.rankings import precision_curve as precision_curve
    from simstudy.figures.rankings import precision_spread as precision_spread
    from simstudy.figures.rates import coverage as coverage
    from simstudy.figures.rates import error_rates as error_rates
    from simstudy.figures.rates import rates_by_test as rates_by_test
    from simstudy.figures.rates import uniformity as uniformity
    from simstudy.figures.significant_gains import gains_by_size as gains_by_size
    from simstudy.figures.significant_gains import gains_by_test_set as gains_by_test_set
    from simstudy.figures.single_panel import single as single
    from simstudy.figures.style import panels as panels
    from simstudy.figures.style import save as save
    from simstudy.figures.style import share_legend as share_legend
    from simstudy.figures.truths import choices as choices
    from simstudy.figures.truths import exaggeration as exaggeration
    from simstudy.figures.truths import power_curves as power_curves

# No module is called as what it has: once imported it would stand in that one's place.
_HOMES = {
    "agreement": ["correlations", "rejections", "type_1_errors"],
    "gains": ["calibration", "curve", "thresholds"],
    "intervals": ["gain_intervals"],
    "leaderboards": ["leaderboard"],
    "many": ["rates_by_number"],
    "pairs": ["groups", "matrix"],
    "plans": ["planned_gains", "planned_power"],
    "rankings": ["p_values_by_length", "precision_curve", "precision_spread"],
    "rates": ["coverage", "error_rates", "rates_by_test", "uniformity"],
    "significant_gains": ["gains_by_size", "gains_by_test_set"],
    "single_panel": ["single"],
    "style": ["panels", "save", "share_legend"],
    "truths": ["exaggeration", "power_curves", "choices"],
}

__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"simstudy.figures.{module}"), name)
    raise AttributeError(f"module 'simstudy.figures' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
