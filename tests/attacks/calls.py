"""A call that works of every public function, for attacks on its arguments: the function, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import simstudy as ss
from simstudy.analyses.correlation import correlation_shares
from simstudy.studies import load_study
from tests.oracles import compared
from tests.planning.options import nouns_of, plan_with


def _hits(hits: Any, misses: Any) -> Any:
    return hits / (hits + misses)


Call = tuple[Callable[..., Any], dict[str, Any]]

FOLDER = Path(mkdtemp(prefix="simstudy-attacks-"))

SCORES = pd.DataFrame({"old": [1, 0, 1, 0] * 5, "new": [1, 1, 1, 0] * 5, "tiny": [0, 0, 1, 0] * 5})
ITEMS = pd.DataFrame(
    {"id": [str(i) for i in range(20)], "domain": ["news", "web"] * 10, "cluster": [f"c{i // 4}" for i in range(20)]}
)
OUTPUTS = ss.Outputs.from_scores(SCORES, "accuracy")
CLUSTERED = ss.Outputs.from_scores(SCORES, "accuracy", items=ITEMS)
OTHERS = ss.Outputs.from_scores(SCORES.rename(columns=lambda name: f"other {name}"), "accuracy")
PAIRS = compared(OUTPUTS)
SYSTEMS = pd.DataFrame({"name": ["old", "new", "tiny"], "group": ["x", "x", "y"]})

# Enough pairs for thresholds, curves and intervals, and two test sizes.
MANY = ss.truth.correlated_accuracies([0.7 + k / 100 for k in range(12)], 100, seed=1)
MANY_PAIRS = pd.concat([compared(MANY), compared(MANY.head(60))], ignore_index=True)
ELSEWHERE = ss.truth.correlated_accuracies([0.7 + k / 100 for k in range(12)], 100, seed=2)
TWO_TESTS = pd.concat([compared(OUTPUTS), compared(OUTPUTS, test="t_paired")], ignore_index=True)
THRESHOLDS = ss.thresholds(MANY_PAIRS, window=(0.0, 0.9), min_pairs=5, n_bootstrap=10)
SIZE_FIT = ss.analyses.size_fit(THRESHOLDS)
GAINS = ss.significant_gains(MANY_PAIRS)
ALL_GAINS = GAINS[(GAINS["of"] == "all pairs")]
CALIBRATION = ss.calibration(compared(MANY), {"there": ELSEWHERE}, n_bootstrap=10, min_pairs=5)
ONE_SET = compared(MANY)
BOARD = ss.leaderboard(OUTPUTS)
PLAN = ss.plan(metric="accuracy", gain=5, guess=ss.Guess(score=80, agreement=0.8))

CANDIDATES_FRAME = pd.DataFrame({"t": np.arange(20.0), "mi": (7 * np.arange(20)) % 11.0})
GOLD = np.arange(20) % 2 == 0
CANDIDATES = ss.rankings.Candidates.from_scores(CANDIDATES_FRAME, GOLD)
SETS = ss.rankings.simulated_candidates(3, n_candidates=60)
REPETITIONS = ss.rankings.repetitions(SETS, {"g1": 1.5})
FREQUENCIES = pd.DataFrame({"f": [30, 2], "f1": [100, 40], "f2": [50, 50], "N": [1000, 1000]})

FEATURES, LABELS = np.arange(24.0).reshape(12, 2) % 7, np.arange(12) % 2
TASK = ss.training.Task.from_arrays(
    "tiny", FEATURES, LABELS, test_sets={"test": (FEATURES, LABELS)}, systems={"bayes": GaussianNB()}
)

(FOLDER / "old.txt").write_text("a cat\nthe dog\n")
(FOLDER / "new.txt").write_text("the cat\nthe dog\n")
(FOLDER / "gold.txt").write_text("the cat\nthe dog\n")
(FOLDER / "candidates.csv").write_text("word,gold,t,mi\nput up,1,9,3\nsay so,0,7,1\neat fish,0,2,5\n")
OUTPUTS.save(FOLDER / "outputs.parquet")

_MADE: dict[str, Call] = {
    "from_scores": (
        ss.Outputs.from_scores,
        {
            "scores": SCORES,
            "metric": "accuracy",
            "systems": None,
            "items": ITEMS,
            "lower_is_better": None,
            "task": "",
            "test_set": "",
        },
    ),
    "from_statistics": (
        ss.Outputs.from_statistics,
        {
            "statistics": np.ones((2, 5, 2), dtype=int),
            "metric": "accuracy",
            "systems": ["a", "b"],
            "items": None,
            "task": "",
            "test_set": "",
        },
    ),
    "from_responses": (
        ss.Outputs.from_responses,
        {"gold": ["a", "b"], "responses": {"one": ["a"], "two": ["b", "c"]}, "metric": "f1"},
    ),
    "from_candidates": (
        ss.rankings.Candidates.from_scores,
        {"scores": CANDIDATES_FRAME, "true": GOLD, "ties": "jitter", "seed": 0, "test_set": ""},
    ),
    "from_features": (
        ss.rankings.Candidates.from_features,
        {"features": FREQUENCIES, "true": [1, 0], "functions": {"f": lambda frame: np.arange(len(frame))}},
    ),
    "from_arrays": (
        ss.training.Task.from_arrays,
        {
            "name": "tiny",
            "features": FEATURES,
            "gold": LABELS,
            "test_sets": {"test": (FEATURES, LABELS)},
            "systems": {"bayes": GaussianNB()},
            "items": None,
            "positive_label": None,
            "metric": None,
        },
    ),
    "clustered_accuracies": (
        ss.truth.clustered_accuracies,
        {
            "accuracies": [0.6, 0.7],
            "n_clusters": 5,
            "cluster_size": 2,
            "within": 0.2,
            "between": 0.5,
            "seed": 0,
            "test_set": "",
        },
    ),
    "correlated_accuracies": (
        ss.truth.correlated_accuracies,
        {
            "accuracies": [0.6, 0.7],
            "n_items": 10,
            "families": None,
            "between": 0.5,
            "within": 0.8,
            "seed": 0,
            "test_set": "",
        },
    ),
    "messages": (
        ss.truth.muc_like,
        {
            "n_systems": 2,
            "n_messages": 5,
            "recalls": None,
            "precisions": None,
            "relevant": 0.5,
            "partial": 0.1,
            "between": 0.3,
            "within": 0.5,
            "seed": 0,
            "test_set": "",
        },
    ),
    "simulated_candidates": (
        ss.rankings.simulated_candidates,
        {
            "n_sets": 2,
            "n_candidates": 10,
            "share_true": 0.1,
            "separations": {"g": 1.0},
            "correlation": 0.5,
            "cluster_size": 1,
            "within": 0.0,
            "seed": 0,
        },
    ),
    "redraw": (ss.truth.redraw, {"population": CLUSTERED, "size": 5, "draw": 1, "unit": None, "seed": 0}),
    "metric": (
        ss.metric,
        {
            "name": "mine",
            "score": _hits,
            "columns": ["hits", "misses"],
            "lower_is_better": True,
            "unit": "percent",
            "of_item": ["hits"],
        },
    ),
    "signature": (ss.analyses.signature, {"pairs": PAIRS}),
    "resample_training": (
        ss.training.resample_training,
        {
            "task": TASK,
            "fractions": [1.0],
            "replicates": [1],
            "seed": 0,
            "n_jobs": 1,
            "cache": None,
            "finished": None,
        },
    ),
}

_PARTS: dict[str, Call] = {
    "with_metric": (OUTPUTS.with_metric, {"metric": "accuracy"}),
    "head": (OUTPUTS.head, {"n": 3}),
    "take": (OUTPUTS.take, {"items": [0, 1]}),
    "domain": (CLUSTERED.domain, {"name": "news"}),
    "sum_by": (CLUSTERED.sum_by, {"column": "cluster"}),
    "select": (OUTPUTS.select, {"names": ["old"]}),
    "join_systems": (OUTPUTS.join_systems, {"other": OTHERS}),
    "join_items": (CLUSTERED.domain("news").join_items, {"other": CLUSTERED.domain("web")}),
    "aligned": (OUTPUTS.aligned, {"names": ["new", "old", "tiny"]}),
    "labels": (CLUSTERED.labels, {"name": "cluster"}),
    "n_best": (CANDIDATES.n_best, {"name": "t", "n": 3}),
    "accepted": (CANDIDATES.accepted, {"name": "t", "threshold": 3.0}),
    "threshold": (CANDIDATES.threshold, {"name": "t", "n": 3}),
    "take_candidates": (CANDIDATES.take, {"positions": [0, 1]}),
    "select_functions": (CANDIDATES.select, {"names": ["mi"]}),
    "outputs": (CANDIDATES.outputs, {"n": 3}),
    "outputs_at": (CANDIDATES.outputs_at, {"thresholds": {"t": 3.0}}),
    "describe_systems": (ss.describe_systems, {"outputs": OUTPUTS, "table": SYSTEMS}),
}

_FILES: dict[str, Call] = {
    "save": (OUTPUTS.save, {"path": FOLDER / "saved.parquet"}),
    "load_outputs": (ss.Outputs.load, {"path": FOLDER / "outputs.parquet", "metric": None}),
    "load": (
        ss.load,
        {
            "paths": [FOLDER / "old.txt", FOLDER / "new.txt"],
            "metric": "accuracy",
            "references": FOLDER / "gold.txt",
            "format": None,
            "items": None,
            "columns": None,
            "missing": "error",
            "texts": None,
            "ties": "jitter",
            "domain": None,
            "systems": None,
            "lower_is_better": None,
        },
    ),
    "texts": (ss.Texts, {"tokenize": None, "lowercase": False}),
    "ties": (ss.Ties, {"how": "jitter", "seed": 0}),
    "named": (ss.load(FOLDER / "candidates.csv", "precision@1").named, {"test_set": "", "task": ""}),
    "test_set": (
        ss.TestSet,
        {
            "outputs": CLUSTERED,
            "by": "group",
            "unit": None,
            "settings": {"test": "sign"},
            "sizes": (5,),
            "duplicates": "keep",
            "notes": (),
        },
    ),
    "examine": (
        ss.examine,
        {
            "outputs": CLUSTERED,
            "metric": None,
            "by": None,
            "duplicates": None,
            "alpha": 0.05,
            "margin": None,
            "comparison": {"test": "sign"},
        },
    ),
    "examine files": (
        ss.examine,
        {
            "outputs": [FOLDER / "old.txt", FOLDER / "new.txt"],
            "metric": "accuracy",
            "references": FOLDER / "gold.txt",
            "items": None,
            "systems": None,
            "columns": None,
        },
    ),
    "load_candidates": (
        ss.load_candidates,
        {
            "path": FOLDER / "candidates.csv",
            "columns": {"gold": "gold"},
            "ties": "jitter",
            "seed": 0,
            "missing": "error",
            "test_set": "",
        },
    ),
    "load_study": (load_study, {"study": "quickstart"}),
    "load_task": (ss.training.load_task, {"name": "digits", "data_dir": None}),
}

_ANALYSES: dict[str, Call] = {
    "compare": (
        ss.compare,
        {
            "outputs": OUTPUTS,
            "test": "bootstrap",
            "n_resamples": 20,
            "seed": 0,
            "alternative": "greater",
            "convention": "default",
            "monte_carlo": "auto",
            "unit": None,
            "strata": None,
            "n_jobs": 1,
            "tile_size": None,
            "progress": None,
        },
    ),
    "applicable": (ss.analyses.applicable, {"outputs": CLUSTERED, "unit": None, "of_scores": False}),
    "agreement": (
        ss.analyses.agreement,
        {"pairs": TWO_TESTS, "alpha": 0.05, "reference": "t_paired", "n_bootstrap": 10, "seed": 0},
    ),
    "calibration": (
        ss.calibration,
        {
            "pairs": PAIRS,
            "elsewhere": {"there": OUTPUTS},
            "population": False,
            "bins": [0.0, 0.5, 1.0],
            "min_pairs": 1,
            "n_bootstrap": 10,
            "seed": 0,
        },
    ),
    "certainty": (ss.analyses.certainty, {"n_extreme": [0, 1], "n_resamples": 19, "alpha": 0.1}),
    "corrected": (ss.analyses.corrected, {"pairs": PAIRS}),
    "correlation": (ss.analyses.correlation, {"outputs": OUTPUTS}),
    "curve": (ss.curve, {"pairs": MANY_PAIRS, "n_points": 5}),
    "equivalence": (ss.equivalence, {"pairs": PAIRS, "margin": 3.0, "alpha": 0.05}),
    "gain_ranges": (ss.analyses.gain_ranges, {"pairs": PAIRS, "alpha": 0.05, "certainty": 0.99}),
    "groups": (
        ss.groups,
        {"pairs": PAIRS, "alpha": 0.05, "certainty": 0.99, "rule": "maximal", "p": "p_value"},
    ),
    "intransitive": (ss.analyses.intransitive, {"pairs": PAIRS, "alpha": 0.05, "certainty": 0.99}),
    "leaderboard": (ss.leaderboard, {"outputs": OUTPUTS, "level": 0.95, "unit": None, "n_bootstrap": 99, "seed": 0}),
    "near_duplicates": (ss.analyses.near_duplicates, {"outputs": OUTPUTS}),
    "ranks": (ss.ranks, {"pairs": PAIRS, "alpha": 0.05, "leaderboards": BOARD}),
    "related": (ss.analyses.related, {"pairs": PAIRS, "systems": SYSTEMS, "by": "group"}),
    "rule_of_thumb": (ss.analyses.rule_of_thumb, {"table": ALL_GAINS, "numbers": ["true_80"]}),
    "significant_gains": (
        ss.significant_gains,
        {"pairs": MANY_PAIRS, "alpha": 0.05, "power": (0.5, 0.8), "min_pairs": 10},
    ),
    "plan": (
        ss.plan,
        {
            "pilot": None,
            "metric": "accuracy",
            "gain": 5.0,
            "n_items": 500,
            "power": 0.8,
            "alpha": 0.05,
            "margin": None,
            "guess": ss.Guess(score=80.0, agreement=0.8),
            "clusters": ss.Clusters(),
            "judge": ss.Judge(),
            "costs": ss.Costs(),
            "sizes": [100, 500],
        },
    ),
    "plan with fields of nouns": (
        plan_with,
        {
            "metric": "accuracy",
            "gain": 5.0,
            "n_items": 500,
            "alpha": 0.05,
            "alternative": "two-sided",
            "comparisons": 1,
            "score": 80.0,
            "agreement": 0.8,
            "r12": None,
            "sd": None,
            "sd_difference": None,
            "relation": None,
            "cluster_size": None,
            "icc": None,
            "cluster_cv": None,
            "judge_error": None,
            "judge_sd": None,
            "judgements": 1,
            "judge_agreement": None,
            "cost_item": 1.0,
            "cost_cluster": 0.0,
            "budget": None,
            "sizes": [100, 500],
        },
    ),
    "plan with a pilot": (
        lambda outputs, **options: ss.plan(**nouns_of(options | {"outputs": outputs})),
        {
            "outputs": OUTPUTS.select(["old", "new"]),
            "gain": 5.0,
            "by": None,
            "unit": None,
            "duplicates": "drop",
            "n_sets": 200,
            "n_draws": 100,
            "seed": 0,
        },
    ),
    "overlay": (ss.analyses.overlay, {"pairs": ONE_SET, "others": ONE_SET, "n_bootstrap": 5, "seed": 0}),
    "size_fit": (ss.analyses.size_fit, {"table": THRESHOLDS}),
    "thresholds": (
        ss.thresholds,
        {
            "pairs": MANY_PAIRS,
            "window": (0.0, 0.9),
            "percentile": 95,
            "min_pairs": 5,
            "n_bootstrap": 10,
            "seed": 0,
        },
    ),
    "verdict": (ss.verdict, {"pair": PAIRS.iloc[0], "alpha": 0.05, "margin": 1.0}),
    "association": (ss.rankings.association, {"frequencies": FREQUENCIES, "measures": ["t_score"]}),
    "binomial_check": (ss.rankings.binomial_check, {"table": REPETITIONS}),
    "common_threshold": (ss.rankings.common_threshold, {"sets": SETS, "name": "g1", "n_accepted": 5}),
    "precision_curve": (ss.rankings.precision_curve, {"candidates": CANDIDATES, "n": [5, 10], "level": 0.95}),
    "ranking_differences": (
        ss.rankings.ranking_differences,
        {"candidates": CANDIDATES, "n": [5, 10], "multiplicity": False},
    ),
    "repetitions": (ss.rankings.repetitions, {"sets": SETS, "thresholds": {"g1": 1.5}, "level": 0.95}),
}

_AGREEMENT = ss.analyses.agreement(TWO_TESTS, reference="t_paired", n_bootstrap=10)
_ERROR_RATES = pd.DataFrame(
    {"test": "sign_flips", "n_units": [10, 100], "alpha": 0.05, "share": [0.03, 0.05], "low": 0.02, "high": 0.06}
)
_COVERAGE = pd.DataFrame(
    {"title": "F1", "n_units": [10, 100], "level": 0.95, "share": [0.93, 0.95], "low": 0.92, "high": 0.96}
)
_TYPE_1 = pd.DataFrame(
    {"within": [0.0, 0.4], "unit": "item", "alpha": 0.05, "share": [0.05, 0.3], "low": 0.04, "high": 0.32}
)
_POWER = _ERROR_RATES.drop(columns="alpha")
_EXAGGERATED = pd.DataFrame(
    {"view": "F1", "share": [0.1, 0.8], "type_m": [3.0, 1.1], "type_m_low": [2.9, 1.0], "type_m_high": [3.1, 1.2]}
)
_DIFFERENCES = ss.rankings.ranking_differences(CANDIDATES, [5, 10])

_FIGURE, _AXES = ss.plot.panels(["one"])

_FIGURES: dict[str, Call] = {
    "planned_gains": (ss.plot.planned_gains, {"sizes": PLAN.sizes, "ax": None}),
    "planned_power": (
        ss.plot.planned_power,
        {"curve": PLAN.power_curve(), "answers": PLAN.answers, "power": 0.8, "ax": None},
    ),
    "exaggeration": (ss.plot.exaggeration, {"table": _EXAGGERATED, "most": 8.0, "ax": None}),
    "power_curves": (ss.plot.power_curves, {"table": _POWER, "ax": None}),
    "calibration": (ss.plot.calibration, {"table": CALIBRATION, "by": "elsewhere", "among": (), "ax": None}),
    "correlations": (
        ss.plot.correlations,
        {"table": correlation_shares(ss.analyses.correlation(OUTPUTS)), "ax": None},
    ),
    "coverage": (ss.plot.coverage, {"table": _COVERAGE, "target": (0.93, 0.97), "least": 0.75, "ax": None}),
    "curve": (ss.plot.curve, {"points": PAIRS, "curves": None, "by": "relation", "ax": None}),
    "error_rates": (
        ss.plot.error_rates,
        {
            "table": _ERROR_RATES,
            "target": (0.035, 0.065),
            "liberal": (0.025, 0.075),
            "most": 0.25,
            "ax": None,
        },
    ),
    "gain_intervals": (ss.plot.gain_intervals, {"pairs": PAIRS, "alpha": 0.05, "ax": None}),
    "gains_by_size": (ss.plot.gains_by_size, {"table": ALL_GAINS, "by": "metric", "ax": None}),
    "gains_by_test_set": (ss.plot.gains_by_test_set, {"table": ALL_GAINS, "ax": None}),
    "groups": (ss.plot.groups, {"table": ss.groups(PAIRS), "ax": None}),
    "leaderboard": (ss.plot.leaderboard, {"table": BOARD, "ax": None}),
    "matrix": (ss.plot.matrix, {"pairs": PAIRS, "alpha": 0.05, "certainty": 0.99, "ax": None}),
    "panels": (ss.plot.panels, {"titles": ["one"], "per_row": None, "height": 3.4, "width": 4.4, "shared": None}),
    "single": (
        ss.plot.single,
        {"draw": lambda ax: ax, "title": "one", "height": 3.4, "width": 4.4, "legend_aside": True},
    ),
    "save": (ss.plot.save, {"figure": _FIGURE, "path": FOLDER / "figure"}),
    "styled": (ss.plot.styled, {"draw": lambda ax: ax}),
    "share_legend": (ss.plot.share_legend, {"figure": _FIGURE, "axes": _AXES, "side": False}),
    "precision_curve": (
        ss.plot.precision_curve,
        {
            "curves": ss.rankings.precision_curve(CANDIDATES, [5, 10]),
            "differences": _DIFFERENCES,
            "intervals": True,
            "alpha": 0.05,
            "among": None,
            "ax": None,
        },
    ),
    "rejections": (ss.plot.rejections, {"table": _AGREEMENT, "ax": None}),
    "thresholds": (ss.plot.thresholds, {"table": SIZE_FIT, "ax": None}),
    "type_1_errors": (ss.plot.type_1_errors, {"table": _TYPE_1, "ax": None}),
}

#: Name -> the function, and its arguments.
CALLS: dict[str, Call] = {
    **_MADE,
    **_PARTS,
    **_FILES,
    **_ANALYSES,
    **{f"plot.{name}": call for name, call in _FIGURES.items()},
}
