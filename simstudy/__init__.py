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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simstudy import figures as plot
    from simstudy.analyses.agreement import agreement
    from simstudy.analyses.calibration import calibration
    from simstudy.analyses.correlation import correlation, independence_ratio
    from simstudy.analyses.curves import curve
    from simstudy.analyses.duplicates import near_duplicates
    from simstudy.analyses.equivalence import equivalence
    from simstudy.analyses.groups import gain_ranges, groups, intransitive
    from simstudy.analyses.leaderboard import leaderboard
    from simstudy.analyses.multiplicity import corrected
    from simstudy.analyses.precision_curves import precision_curve
    from simstudy.analyses.ranking_differences import ranking_differences
    from simstudy.analyses.ranks import ranks
    from simstudy.analyses.relations import related
    from simstudy.analyses.repetitions import binomial_check, common_threshold, repetitions
    from simstudy.analyses.rules import rule_of_thumb
    from simstudy.analyses.signature import signature
    from simstudy.analyses.significant_gains import significant_gains
    from simstudy.analyses.thresholds import size_fit, thresholds
    from simstudy.engines.comparisons import applicable, compare, run_twice
    from simstudy.engines.drawn_pairs import DrawnPairs
    from simstudy.engines.registry import TESTS
    from simstudy.examination.verdict import verdict
    from simstudy.fingerprints import derived_seed
    from simstudy.generators import PAIR_MODELS
    from simstudy.generators.candidates import simulated_candidates
    from simstudy.generators.clustered import all_alike, clustered_accuracies
    from simstudy.generators.messages import messages
    from simstudy.generators.particles import ARRANGEMENTS, particle_sets
    from simstudy.generators.redrawn import redraw
    from simstudy.generators.resampled import resample_training
    from simstudy.generators.synthetic import correlated_accuracies
    from simstudy.loaders.candidates import load_candidates
    from simstudy.loaders.formats import load
    from simstudy.loaders.systems import describe_systems
    from simstudy.loaders.tagged import read_tagged
    from simstudy.metrics.made import metric
    from simstudy.outputs import Outputs
    from simstudy.pvalues import certainty, clopper_pearson, significant
    from simstudy.rankings.association import association
    from simstudy.rankings.candidates import Candidates
    from simstudy.studies import load_study, run_study
    from simstudy.tasks import TASKS, Task, load_task

__version__ = "0.2.0"

# Public name -> where it lives. They are imported when first used, so that `import simstudy` and the command's
# `--help` do not wait for scikit-learn and matplotlib.
_HOMES = {
    "ARRANGEMENTS": "simstudy.generators.particles",
    "Candidates": "simstudy.rankings.candidates",
    "DrawnPairs": "simstudy.engines.drawn_pairs",
    "Outputs": "simstudy.outputs",
    "PAIR_MODELS": "simstudy.generators",
    "TASKS": "simstudy.tasks",
    "TESTS": "simstudy.engines.registry",
    "Task": "simstudy.tasks",
    "agreement": "simstudy.analyses.agreement",
    "all_alike": "simstudy.generators.clustered",
    "applicable": "simstudy.engines.comparisons",
    "association": "simstudy.rankings.association",
    "binomial_check": "simstudy.analyses.repetitions",
    "calibration": "simstudy.analyses.calibration",
    "certainty": "simstudy.pvalues",
    "clopper_pearson": "simstudy.pvalues",
    "clustered_accuracies": "simstudy.generators.clustered",
    "common_threshold": "simstudy.analyses.repetitions",
    "compare": "simstudy.engines.comparisons",
    "corrected": "simstudy.analyses.multiplicity",
    "correlated_accuracies": "simstudy.generators.synthetic",
    "correlation": "simstudy.analyses.correlation",
    "curve": "simstudy.analyses.curves",
    "derived_seed": "simstudy.fingerprints",
    "describe_systems": "simstudy.loaders.systems",
    "equivalence": "simstudy.analyses.equivalence",
    "gain_ranges": "simstudy.analyses.groups",
    "groups": "simstudy.analyses.groups",
    "independence_ratio": "simstudy.analyses.correlation",
    "intransitive": "simstudy.analyses.groups",
    "leaderboard": "simstudy.analyses.leaderboard",
    "load": "simstudy.loaders.formats",
    "load_candidates": "simstudy.loaders.candidates",
    "load_study": "simstudy.studies",
    "load_task": "simstudy.tasks",
    "messages": "simstudy.generators.messages",
    "metric": "simstudy.metrics.made",
    "near_duplicates": "simstudy.analyses.duplicates",
    "particle_sets": "simstudy.generators.particles",
    "plot": "simstudy.figures",
    "precision_curve": "simstudy.analyses.precision_curves",
    "ranking_differences": "simstudy.analyses.ranking_differences",
    "ranks": "simstudy.analyses.ranks",
    "read_tagged": "simstudy.loaders.tagged",
    "redraw": "simstudy.generators.redrawn",
    "related": "simstudy.analyses.relations",
    "repetitions": "simstudy.analyses.repetitions",
    "resample_training": "simstudy.generators.resampled",
    "rule_of_thumb": "simstudy.analyses.rules",
    "run_study": "simstudy.studies",
    "run_twice": "simstudy.engines.comparisons",
    "signature": "simstudy.analyses.signature",
    "significant": "simstudy.pvalues",
    "significant_gains": "simstudy.analyses.significant_gains",
    "simulated_candidates": "simstudy.generators.candidates",
    "size_fit": "simstudy.analyses.thresholds",
    "thresholds": "simstudy.analyses.thresholds",
    "verdict": "simstudy.examination.verdict",
}

__all__ = [
    "ARRANGEMENTS",
    "Candidates",
    "DrawnPairs",
    "Outputs",
    "PAIR_MODELS",
    "TASKS",
    "TESTS",
    "Task",
    "agreement",
    "all_alike",
    "applicable",
    "association",
    "binomial_check",
    "calibration",
    "certainty",
    "clopper_pearson",
    "clustered_accuracies",
    "common_threshold",
    "compare",
    "corrected",
    "correlated_accuracies",
    "correlation",
    "curve",
    "derived_seed",
    "describe_systems",
    "equivalence",
    "gain_ranges",
    "groups",
    "independence_ratio",
    "intransitive",
    "leaderboard",
    "load",
    "load_candidates",
    "load_study",
    "load_task",
    "messages",
    "metric",
    "near_duplicates",
    "particle_sets",
    "plot",
    "precision_curve",
    "ranking_differences",
    "ranks",
    "read_tagged",
    "redraw",
    "related",
    "repetitions",
    "resample_training",
    "rule_of_thumb",
    "run_study",
    "run_twice",
    "signature",
    "significant",
    "significant_gains",
    "simulated_candidates",
    "size_fit",
    "thresholds",
    "verdict",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simstudy' has no attribute '{name}'")
    module = import_module(_HOMES[name])
    value = module if name == "plot" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
