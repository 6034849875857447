"""All pairs on many test sets, and their leaderboards: one cell a test set, kept when done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from simstudy.comparisons import Comparisons, compare
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.outputs import Outputs, TestSet
from simstudy.running.keys import Cell
from simstudy.studies.context import RunContext


def run_comparisons(title: str, test_sets: Sequence[TestSet], context: RunContext) -> list[pd.DataFrame]:
    """Compare on each test set, as its settings say."""
    cells = [
        Cell(
            label=f"comparing on {one.name}, {one.outputs.n_items} items",
            arguments=(one.outputs, one.options),
        )
        for one in test_sets
    ]
    return context.run(title, _compared, cells, amount=lambda cell: _resamples(cell.arguments[1]), threaded=True)


def compare_by_items(test_sets: Sequence[TestSet], context: RunContext) -> list[pd.DataFrame | None]:
    """The same by items, where units are the natural ones and these are others: what taking items one by one says."""
    asked = [one.unit is None and one.outputs.natural_unit != "item" for one in test_sets]
    by_items = [replace(one, unit="item") for one, other in zip(test_sets, asked, strict=True) if other]
    found = iter(run_comparisons("the same by items", by_items, context) if by_items else [])
    return [next(found) if other else None for other in asked]


def leaderboards(test_sets: Sequence[TestSet], seed: int, context: RunContext) -> pd.DataFrame:
    """Every system's group, score with its interval, and the places that it may have."""
    cells = [
        Cell(
            label=f"leaderboard of {one.name}, {one.metric}",
            arguments=(one.outputs, one.unit, seed),
        )
        for one in test_sets
    ]
    boards: list[pd.DataFrame] = context.run("leaderboards", _leaderboard, cells)
    return pd.concat(boards, ignore_index=True)


def _leaderboard(outputs: Outputs, unit: str | None, seed: int) -> pd.DataFrame:
    board = leaderboard(outputs, unit=unit, seed=seed)
    group = outputs.systems.set_index("name")["group"]
    return board.assign(group=board["system"].map(group))


def _compared(outputs: Outputs, options: Mapping[str, Any], n_threads: int) -> pd.DataFrame:
    pairs: Comparisons = compare(outputs, n_jobs=n_threads, **options)
    return pairs.frame


def _resamples(options: Mapping[str, Any]) -> int:
    return options.get("n_resamples") or TESTS[options.get("test", DEFAULT_TEST)].n_resamples or 1
