"""simstudy: how significance tests behave when systems are compared.

Is this gain real, and how large must a test set be to tell?

Examples
--------
>>> import simstudy as ss
>>> outputs = ss.correlated_accuracies([0.70, 0.75, 0.80], n_items=500)
>>> pairs = ss.compare(outputs, n_resamples=10_000)
>>> pairs["system_a"].tolist()
['system-3', 'system-3', 'system-2']
"""

from __future__ import annotations

from importlib import import_module

# Type checkers take this for true. To import typing takes as long as all the rest of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from simstudy import figures
    from simstudy.analyses.agreement import agreement as agreement
    from simstudy.analyses.calibration import calibration as calibration
    from simstudy.analyses.correlation import correlation as correlation
    from simstudy.analyses.curves import curve as curve
    from simstudy.analyses.duplicates import near_duplicates as near_duplicates
    from simstudy.analyses.equivalence import equivalence as equivalence
    from simstudy.analyses.groups import gain_ranges as gain_ranges
    from simstudy.analyses.groups import groups as groups
    from simstudy.analyses.groups import intransitive as intransitive
    from simstudy.analyses.leaderboard import leaderboard as leaderboard
    from simstudy.analyses.multiplicity import corrected as corrected
    from simstudy.analyses.overlay import overlay as overlay
    from simstudy.analyses.precision_curves import precision_curve as precision_curve
    from simstudy.analyses.ranking_differences import ranking_differences as ranking_differences
    from simstudy.analyses.ranks import ranks as ranks
    from simstudy.analyses.relations import related as related
    from simstudy.analyses.repetitions import (
        binomial_check as binomial_check,
    )
    from simstudy.analyses.repetitions import (
        common_threshold as common_threshold,
    )
    from simstudy.analyses.repetitions import (
        repetitions as repetitions,
    )
    from simstudy.analyses.rules import rule_of_thumb as rule_of_thumb
    from simstudy.analyses.signature import signature as signature
    from simstudy.analyses.significant_gains import significant_gains as significant_gains
    from simstudy.analyses.thresholds import size_fit as size_fit
    from simstudy.analyses.thresholds import thresholds as thresholds
    from simstudy.comparisons import Comparisons as Comparisons
    from simstudy.comparisons import compare as compare
    from simstudy.comparisons import verdict as verdict
    from simstudy.comparisons.repeating import run_twice as run_twice
    from simstudy.engines.applicable import applicable as applicable
    from simstudy.engines.registry import TESTS as TESTS
    from simstudy.examination.asking import examine as examine
    from simstudy.generators.candidates import simulated_candidates as simulated_candidates
    from simstudy.generators.clustered import clustered_accuracies as clustered_accuracies
    from simstudy.generators.messages import messages as messages
    from simstudy.generators.redrawn import redraw as redraw
    from simstudy.generators.resampled import resample_training as resample_training
    from simstudy.generators.synthetic import correlated_accuracies as correlated_accuracies
    from simstudy.learners import Examples as Examples
    from simstudy.loaders.base import Texts as Texts
    from simstudy.loaders.base import Ties as Ties
    from simstudy.loaders.candidates import load_candidates as load_candidates
    from simstudy.loaders.formats import load as load
    from simstudy.loaders.systems import describe_systems as describe_systems
    from simstudy.metrics.made import metric as metric
    from simstudy.outputs import Outputs as Outputs
    from simstudy.outputs import TestSet as TestSet
    from simstudy.planning import Clusters as Clusters
    from simstudy.planning import Costs as Costs
    from simstudy.planning import Guess as Guess
    from simstudy.planning import Judge as Judge
    from simstudy.planning import Level as Level
    from simstudy.planning import Pilot as Pilot
    from simstudy.planning import plan as plan
    from simstudy.pvalues import certainty as certainty
    from simstudy.rankings.association import association as association
    from simstudy.rankings.candidates import Candidates as Candidates
    from simstudy.studies import load_study as load_study
    from simstudy.studies import run_study as run_study
    from simstudy.tasks import Task as Task
    from simstudy.tasks import load_task as load_task

    plot = figures

__version__ = "0.2.0"

# Public name -> where it lives. They are imported when first used, so that `import simstudy` and the command's
# `--help` do not wait for scikit-learn and matplotlib.
_HOMES = {
    "Candidates": "simstudy.rankings.candidates",
    "Comparisons": "simstudy.comparisons",
    "Clusters": "simstudy.planning",
    "Costs": "simstudy.planning",
    "Examples": "simstudy.learners",
    "Guess": "simstudy.planning",
    "Judge": "simstudy.planning",
    "Level": "simstudy.planning",
    "Outputs": "simstudy.outputs",
    "Pilot": "simstudy.planning",
    "TESTS": "simstudy.engines.registry",
    "Task": "simstudy.tasks",
    "TestSet": "simstudy.outputs",
    "Texts": "simstudy.loaders.base",
    "Ties": "simstudy.loaders.base",
    "agreement": "simstudy.analyses.agreement",
    "applicable": "simstudy.engines.applicable",
    "association": "simstudy.rankings.association",
    "binomial_check": "simstudy.analyses.repetitions",
    "calibration": "simstudy.analyses.calibration",
    "certainty": "simstudy.pvalues",
    "clustered_accuracies": "simstudy.generators.clustered",
    "common_threshold": "simstudy.analyses.repetitions",
    "compare": "simstudy.comparisons",
    "corrected": "simstudy.analyses.multiplicity",
    "correlated_accuracies": "simstudy.generators.synthetic",
    "correlation": "simstudy.analyses.correlation",
    "curve": "simstudy.analyses.curves",
    "describe_systems": "simstudy.loaders.systems",
    "equivalence": "simstudy.analyses.equivalence",
    "examine": "simstudy.examination.asking",
    "gain_ranges": "simstudy.analyses.groups",
    "groups": "simstudy.analyses.groups",
    "intransitive": "simstudy.analyses.groups",
    "leaderboard": "simstudy.analyses.leaderboard",
    "load": "simstudy.loaders.formats",
    "load_candidates": "simstudy.loaders.candidates",
    "load_study": "simstudy.studies",
    "load_task": "simstudy.tasks",
    "messages": "simstudy.generators.messages",
    "metric": "simstudy.metrics.made",
    "near_duplicates": "simstudy.analyses.duplicates",
    "overlay": "simstudy.analyses.overlay",
    "plan": "simstudy.planning",
    "plot": "simstudy.figures",
    "precision_curve": "simstudy.analyses.precision_curves",
    "ranking_differences": "simstudy.analyses.ranking_differences",
    "ranks": "simstudy.analyses.ranks",
    "redraw": "simstudy.generators.redrawn",
    "related": "simstudy.analyses.relations",
    "repetitions": "simstudy.analyses.repetitions",
    "resample_training": "simstudy.generators.resampled",
    "rule_of_thumb": "simstudy.analyses.rules",
    "run_study": "simstudy.studies",
    "run_twice": "simstudy.comparisons.repeating",
    "signature": "simstudy.analyses.signature",
    "significant_gains": "simstudy.analyses.significant_gains",
    "simulated_candidates": "simstudy.generators.candidates",
    "size_fit": "simstudy.analyses.thresholds",
    "thresholds": "simstudy.analyses.thresholds",
    "verdict": "simstudy.comparisons",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simstudy' has no attribute '{name}'")
    module = import_module(_HOMES[name])
    value = module if name == "plot" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
