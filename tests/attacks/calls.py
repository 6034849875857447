"""A call that works of every public function, for attacks on its arguments: the function, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import simstudy as ss
from simstudy.studies import load_study
from simstudy.studies.side_by_side import correlation_shares
from tests.oracles import compared
from tests.planning.options import nouns_of, plan_with


def _hits(hits: Any, misses: Any) -> Any:
    return hits / (hits + misses)


Call = tuple[Callable[..., Any], dict[str, Any]]


def call(function: Callable[..., Any], /, **arguments: Any) -> Call:
    """All arguments of a function: those given, and the defaults of the others."""
    known = signature(function).parameters.values()
    return function, {one.name: one.default for one in known if one.default is not one.empty} | arguments


FOLDER = Path(mkdtemp(prefix="simstudy-attacks-"))

SCORES = pd.DataFrame({"old": [1, 0, 1, 0] * 5, "new": [1, 1, 1, 0] * 5, "tiny": [0, 0, 1, 0] * 5})
ITEMS = pd.DataFrame(
    {"id": [str(i) for i in range(20)], "domain": ["news", "web"] * 10, "cluster": [f"c{i // 4}" for i in range(20)]}
)
OUTPUTS = ss.Outputs.from_scores(SCORES, "accuracy")
TASKS = ss.Outputs.from_scores(
    SCORES, "accuracy", items=pd.DataFrame({"id": SCORES.index.astype(str), "domain": np.arange(len(SCORES)) % 3})
)
CLUSTERED = ss.Outputs.from_scores(SCORES, "accuracy", items=ITEMS)
OTHERS = ss.Outputs.from_scores(SCORES.rename(columns=lambda name: f"other {name}"), "accuracy")
PAIRS = compared(OUTPUTS)
SYSTEMS = pd.DataFrame({"name": ["old", "new", "tiny"], "group": ["x", "x", "y"]})

# Enough pairs for thresholds, curves and intervals, and two test sizes.
MANY = ss.truth.correlated_accuracies([0.7 + k / 100 for k in range(12)], 100, seed=1)
ONE_SET = compared(MANY)
MANY_PAIRS = pd.concat([ONE_SET, compared(MANY.head(60))], ignore_index=True)
ELSEWHERE = ss.truth.correlated_accuracies([0.7 + k / 100 for k in range(12)], 100, seed=2)
TWO_TESTS = pd.concat([PAIRS, compared(OUTPUTS, test="t_paired")], ignore_index=True)
THRESHOLDS = ss.comparisons.thresholds(MANY_PAIRS, window=(0.0, 0.9), min_pairs=5, n_bootstrap=10)
SIZE_FIT = ss.comparisons.size_fit(THRESHOLDS)
GAINS = ss.comparisons.significant_gains(MANY_PAIRS)
ALL_GAINS = GAINS[(GAINS["pairs"] == "all pairs")]
CALIBRATION = ss.calibration(ONE_SET, {"there": ELSEWHERE}, n_bootstrap=10, min_pairs=5)
BOARD = ss.leaderboard(OUTPUTS)
PLAN = ss.plan(metric="accuracy", gain=5, guess=ss.Guess(score=80, agreement=0.8))

CANDIDATES_FRAME = pd.DataFrame({"t": np.arange(20.0), "mi": (7 * np.arange(20)) % 11.0})
GOLD = np.arange(20) % 2 == 0
CANDIDATES = ss.rankings.Candidates.from_scores(CANDIDATES_FRAME, GOLD)

FEATURES, LABELS = np.arange(24.0).reshape(12, 2) % 7, np.arange(12) % 2
PARTS_OF_TASK: dict[str, Any] = {"test_sets": {"test": (FEATURES, LABELS)}, "systems": {"bayes": GaussianNB()}}
TASK = ss.training.Task.from_arrays("tiny", FEATURES, LABELS, **PARTS_OF_TASK)

(FOLDER / "old.txt").write_text("a cat\nthe dog\n")
(FOLDER / "new.txt").write_text("the cat\nthe dog\n")
(FOLDER / "gold.txt").write_text("the cat\nthe dog\n")
(FOLDER / "candidates.csv").write_text("word,gold,t,mi\nput up,1,9,3\nsay so,0,7,1\neat fish,0,2,5\n")
OUTPUTS.save(FOLDER / "outputs.parquet")

_MADE: dict[str, Call] = {
    "from_scores": call(ss.Outputs.from_scores, scores=SCORES, metric="accuracy", items=ITEMS),
    "from_statistics": call(
        ss.Outputs.from_statistics, statistics=np.ones((2, 5, 2), dtype=int), metric="accuracy", systems=["a", "b"]
    ),
    "from_candidates": call(ss.rankings.Candidates.from_scores, scores=CANDIDATES_FRAME, true=GOLD),
    "from_arrays": call(ss.training.Task.from_arrays, name="tiny", features=FEATURES, gold=LABELS, **PARTS_OF_TASK),
    "clustered_accuracies": call(
        ss.truth.clustered_accuracies, accuracies=[0.6, 0.7], n_clusters=5, cluster_size=2, test_set=""
    ),
    "correlated_accuracies": call(ss.truth.correlated_accuracies, accuracies=[0.6, 0.7], n_items=10, test_set=""),
    "redraw": call(ss.truth.redraw, population=CLUSTERED, size=5, draw=1),
    "metric": call(
        ss.metric,
        name="mine",
        score=_hits,
        columns=["hits", "misses"],
        lower_is_better=True,
        unit="percent",
        of_item=["hits"],
    ),  # fmt: skip
    "signature": call(ss.comparisons.signature, pairs=PAIRS),
    "resample_training": call(ss.training.resample_training, task=TASK, fractions=[1.0], replicates=[1], n_jobs=1),
}

_PARTS: dict[str, Call] = {
    "with_metric": call(OUTPUTS.with_metric, metric="accuracy"),
    "head": call(OUTPUTS.head, n=3),
    "take": call(OUTPUTS.take, items=[0, 1]),
    "domain": call(CLUSTERED.domain, name="news"),
    "sum_by": call(CLUSTERED.sum_by, column="cluster"),
    "select": call(OUTPUTS.select, names=["old"]),
    "join_systems": call(OUTPUTS.join_systems, other=OTHERS),
    "join_items": call(CLUSTERED.domain("news").join_items, other=CLUSTERED.domain("web")),
    "labels": call(CLUSTERED.labels, name="cluster"),
    "n_best": call(CANDIDATES.n_best, name="t", n=3),
    "accepted": call(CANDIDATES.accepted, name="t", threshold=3.0),
    "threshold": call(CANDIDATES.threshold, name="t", n=3),
    "outputs": call(CANDIDATES.outputs, n=3),
    "describe_systems": call(ss.describe_systems, outputs=OUTPUTS, table=SYSTEMS),
}

_FILES: dict[str, Call] = {
    "save": call(OUTPUTS.save, path=FOLDER / "saved.parquet"),
    "load_outputs": call(ss.Outputs.load, path=FOLDER / "outputs.parquet"),
    "load": call(
        ss.load, paths=[FOLDER / "old.txt", FOLDER / "new.txt"], metric="accuracy", references=FOLDER / "gold.txt"
    ),
    "texts": call(ss.Texts),
    "ties": call(ss.Ties),
    "named": call(ss.load(FOLDER / "candidates.csv", "precision@1").named),
    "test_set": call(ss.TestSet, outputs=CLUSTERED, by="group", settings={"test": "sign"}, sizes=(5,)),
    "examine": call(ss.examine, outputs=CLUSTERED, test="sign"),
    "examine files": call(
        ss.examine, outputs=[FOLDER / "old.txt", FOLDER / "new.txt"], metric="accuracy", references=FOLDER / "gold.txt"
    ),
    "load_candidates": call(ss.load_candidates, path=FOLDER / "candidates.csv", columns={"gold": "gold"}),
    "load_study": call(load_study, study="quickstart"),
    "load_task": call(ss.training.load_task, name="digits"),
}

_ANALYSES: dict[str, Call] = {
    "across_tasks": call(ss.across_tasks, outputs=TASKS, n_resamples=20),
    "compare": call(ss.compare, outputs=OUTPUTS, test="bootstrap", n_resamples=20, alternative="greater"),
    "deciding_items": call(
        ss.comparisons.deciding_items, outputs=OUTPUTS, system_a=OUTPUTS.names[0], system_b=OUTPUTS.names[1], n=3
    ),
    "applicable": call(ss.comparisons.applicable, outputs=CLUSTERED),
    "agreement": call(ss.comparisons.agreement, pairs=TWO_TESTS, reference="t_paired", n_bootstrap=10),
    "calibration": call(
        ss.calibration, pairs=PAIRS, elsewhere={"there": OUTPUTS}, bins=[0.0, 0.5, 1.0], min_pairs=1, n_bootstrap=10
    ),
    "certainty": call(ss.comparisons.certainty, n_extreme=[0, 1], n_resamples=19, alpha=0.1),
    "corrected": call(ss.comparisons.corrected, pairs=PAIRS),
    "correlation": call(ss.comparisons.correlation, outputs=OUTPUTS),
    "curve": call(ss.comparisons.curve, pairs=MANY_PAIRS, n_points=5),
    "equivalence": call(ss.comparisons.equivalence, pairs=PAIRS, margin=3.0),
    "groups": call(ss.comparisons.groups, pairs=PAIRS, certainty=0.99, p="p_value"),
    "leaderboard": call(ss.leaderboard, outputs=OUTPUTS, n_bootstrap=99),
    "e_values": call(ss.comparisons.e_values, differences=[0.5, -1.0, 0.0]),
    "sequential": call(
        ss.comparisons.sequential, outputs=OUTPUTS, system="new", other="old", margin=5.0, looks=[5, 20]
    ),
    "near_duplicates": call(ss.comparisons.near_duplicates, outputs=OUTPUTS),
    "ranks": call(ss.comparisons.ranks, pairs=PAIRS),
    "related": call(ss.comparisons.related, pairs=PAIRS, systems=SYSTEMS, by="group"),
    "significant_gains": call(ss.comparisons.significant_gains, pairs=MANY_PAIRS, power=(0.5, 0.8)),
    "plan": call(
        ss.plan, metric="accuracy", gain=5.0, n_items=500, guess=ss.Guess(score=80.0, agreement=0.8), sizes=[100, 500]
    ),
    "plan with fields of nouns": call(
        plan_with,
        metric="accuracy",
        gain=5.0,
        n_items=500,
        alpha=0.05,
        alternative="two-sided",
        comparisons=1,
        score=80.0,
        agreement=0.8,
        judgements=1,
        cost_item=1.0,
        cost_cluster=0.0,
        sizes=[100, 500],
        **dict.fromkeys(("r12", "sd", "sd_difference", "relation", "cluster_size", "icc", "cluster_cv", "judge_error")),
        **dict.fromkeys(("judge_sd", "judge_agreement", "budget")),
    ),
    "plan with a pilot": call(
        lambda outputs, **options: ss.plan(**nouns_of(options | {"outputs": outputs})),
        outputs=OUTPUTS.select(["old", "new"]),
        gain=5.0,
        by=None,
        unit=None,
        duplicates="drop",
        n_sets=200,
        n_draws=100,
        seed=0,
    ),
    "size_fit": call(ss.comparisons.size_fit, table=THRESHOLDS),
    "thresholds": call(ss.comparisons.thresholds, pairs=MANY_PAIRS, window=(0.0, 0.9), min_pairs=5, n_bootstrap=10),
    "verdict": call(ss.verdict, pair=PAIRS.iloc[0], margin=1.0),
}

_AGREEMENT = ss.comparisons.agreement(TWO_TESTS, reference="t_paired", n_bootstrap=10)
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

_FIGURE, _AXES = ss.plot.panels(["one"])

_SIZES = pd.DataFrame({"n_items": [400, 200], "pairs": 10, "significant": [8, 6], "significant_holm": [7, 2]})
_NOISE_CURVE = pd.DataFrame({"system": "a", "samples": [1, 4, 16], "se": [5.0, 3.6, 3.2], "floor": 3.0})

_FIGURES: dict[str, Call] = {
    "planned_gains": call(ss.plot.planned_gains, sizes=PLAN.sizes),
    "planned_power": call(ss.plot.planned_power, curve=PLAN.power_curve(), answers=PLAN.answers),
    "exaggeration": call(ss.plot.exaggeration, table=_EXAGGERATED),
    "power_curves": call(ss.plot.power_curves, table=_POWER),
    "calibration": call(ss.plot.calibration, table=CALIBRATION),
    "correlations": call(ss.plot.correlations, table=correlation_shares(ss.comparisons.correlation(OUTPUTS))),
    "coverage": call(ss.plot.coverage, table=_COVERAGE),
    "curve": call(ss.plot.curve, points=PAIRS),
    "error_rates": call(ss.plot.error_rates, table=_ERROR_RATES),
    "gain_intervals": call(ss.plot.gain_intervals, pairs=PAIRS),
    "gains_by_size": call(ss.plot.gains_by_size, table=ALL_GAINS),
    "gains_by_test_set": call(ss.plot.gains_by_test_set, table=ALL_GAINS),
    "gain_by_task": call(ss.plot.gain_by_task, table=ss.across_tasks(TASKS.select([*TASKS.names[:2]])).gains()),
    "noise_curve": call(ss.plot.noise_curve, curve=_NOISE_CURVE),
    "smaller_test_sets": call(ss.plot.smaller_test_sets, sizes=_SIZES),
    "groups": call(ss.plot.groups, table=ss.comparisons.groups(PAIRS)),
    "leaderboard": call(ss.plot.leaderboard, table=BOARD),
    "matrix": call(ss.plot.matrix, pairs=PAIRS, certainty=0.99),
    "panels": call(ss.plot.panels, titles=["one"]),
    "single": call(ss.plot.single, draw=lambda ax: ax, title="one", legend_aside=True),
    "save": call(ss.plot.save, figure=_FIGURE, path=FOLDER / "figure"),
    "styled": call(ss.plot.styled, draw=lambda ax: ax),
    "for_a_paper": call(ss.plot.for_a_paper),
    "say_below": call(ss.plot.say_below, figure=_FIGURE, text="data"),
    "share_legend": call(ss.plot.share_legend, figure=_FIGURE, axes=_AXES),
    "rejections": call(ss.plot.rejections, table=_AGREEMENT),
    "thresholds": call(ss.plot.thresholds, table=SIZE_FIT),
    "type_1_errors": call(ss.plot.type_1_errors, table=_TYPE_1),
}

# Of a frame's values it may be any: nothing is refused.
del _FIGURES["curve"][1]["over"]

#: Name -> the function, and its arguments.
CALLS: dict[str, Call] = (
    _MADE | _PARTS | _FILES | _ANALYSES | {f"plot.{name}": figure for name, figure in _FIGURES.items()}
)
