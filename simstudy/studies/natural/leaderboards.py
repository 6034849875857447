"""The leaderboards of a natural study: one cell a test set and metric."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from simstudy.analyses.leaderboard import leaderboard
from simstudy.outputs import Outputs, TestSet
from simstudy.running.cells import Cell
from simstudy.studies.context import RunContext


def leaderboards(test_sets: Sequence[TestSet], seed: int, context: RunContext) -> pd.DataFrame:
    """Every system's group, score with its interval, and the places that it may have."""
    cells = [
        Cell(
            label=f"leaderboard of {one.name}, {one.metric}",
            description={"kind": "leaderboard", "outputs": one.outputs.fingerprint(), "unit": one.unit, "seed": seed},
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
