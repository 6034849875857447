"""Every argument of an analysis changes what it should: none is accepted and forgotten, seeds included."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.agreement import agreement
from simstudy.comparisons.calibration import calibration
from simstudy.comparisons.curves import curve
from simstudy.comparisons.duplicates import near_duplicates
from simstudy.comparisons.equivalence import equivalence
from simstudy.comparisons.groups import groups
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.comparisons.ranks import ranks
from simstudy.comparisons.significant_gains import significant_gains
from simstudy.comparisons.thresholds import thresholds
from tests.oracles import compared


def made(seed: int) -> ss.Outputs:
    """Sixteen systems on 150 items in clusters of three, some of whose answers are nearly the same."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(size=150)
    right = [(rng.normal(size=150) + k / 12 > difficulty).astype(int) for k in range(14)]
    alike = [np.where(np.arange(150) < wrong, 1 - right[0], right[0]) for wrong in (5, 12)]
    frame = pd.DataFrame(dict(zip([f"s{k:02}" for k in range(16)], [*right, *alike], strict=True)))
    outputs = ss.Outputs.from_scores(frame, "accuracy", test_set=f"set {seed}")
    items = outputs.items.assign(cluster=[f"c{i // 3}" for i in range(150)])
    return ss.Outputs.from_statistics(outputs.statistics, "accuracy", outputs.names, items=items, test_set="made")


OUTPUTS, AWAY = made(1), made(2)
PAIRS = compared(OUTPUTS, test="randomization", n_resamples=200, monte_carlo=True, unit="item")
BESIDE = pd.concat([PAIRS, compared(OUTPUTS, test="z_independent", unit="item")], ignore_index=True)

# Each analysis, what it is given, and other values of each of its arguments.
ANALYSES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], dict[str, Any]]] = [
    (agreement, (BESIDE,), {}, {"alpha": 0.2, "reference": "z_independent", "n_bootstrap": 90, "seed": 4}),
    (
        calibration, (PAIRS, {"away": AWAY}), {"bins": (0.0, 0.2, 1.0)},
        {"population": True, "bins": (0.0, 0.3, 1.0), "min_pairs": 60, "n_bootstrap": 90, "seed": 4},
    ),
    (curve, (PAIRS,), {}, {"n_points": 7}),
    (near_duplicates, (OUTPUTS,), {}, {"share": 0.95}),
    (equivalence, (PAIRS, 4.0), {}, {"margin": 8.0, "alpha": 0.3}),
    (groups, (PAIRS,), {"p": "p_value"}, {"alpha": 0.4, "certainty": 0.999, "rule": "greedy", "p": "p_holm"}),
    (leaderboard, (OUTPUTS,), {}, {"level": 0.8, "unit": "item", "n_bootstrap": 900, "seed": 4}),
    (ranks, (PAIRS,), {}, {"alpha": 0.3}),
    (significant_gains, (PAIRS,), {}, {"alpha": 0.2, "power": (0.6,), "min_pairs": 500}),
    (
        thresholds, (PAIRS,), {"min_pairs": 2, "window": (0.001, 0.9)},
        {"window": (0.02, 0.2), "min_pairs": 500, "n_bootstrap": 90, "seed": 4},
    ),
]  # fmt: skip


def result(analyse: Callable[..., Any], given: tuple[Any, ...], **arguments: Any) -> pd.DataFrame:
    """Its table without the columns that repeat what was asked."""
    names = list(inspect.signature(analyse).parameters)[: len(given)]
    found: pd.DataFrame = analyse(**{**dict(zip(names, given, strict=True)), **arguments})
    return found.drop(columns=["alpha", "alpha", "certainty", "rule", "level", "margin"], errors="ignore")


@pytest.mark.parametrize(
    ("analyse", "given", "base", "others"), ANALYSES, ids=lambda case: getattr(case, "__name__", "")
)
def test_every_argument_is_used(
    analyse: Callable[..., Any], given: tuple[Any, ...], base: dict[str, Any], others: dict[str, Any]
) -> None:
    parameters = list(inspect.signature(analyse).parameters)
    assert set(parameters[len(given) :]) <= set(others), "every argument has another value here"
    before = result(analyse, given, **base)
    pd.testing.assert_frame_equal(result(analyse, given, **base), before)
    for name, value in others.items():
        assert not result(analyse, given, **{**base, name: value}).equals(before), name
