"""The leaderboards of a natural study: one cell a test set and metric."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.analyses.leaderboard import leaderboard
from simstudy.cells import Cell
from simstudy.outputs import Outputs
from simstudy.studies.interface import RunContext


def leaderboards(
    outputs: Mapping[tuple[str, str], Outputs], unit: str | None, seed: int, context: RunContext
) -> pd.DataFrame:
    """Every system's group, score with its interval, and the places that it may have.

    Parameters
    ----------
    outputs
        By test set and metric.
    unit, seed
        As `simstudy.leaderboard` takes them.
    """
    cells = [
        Cell(
            label=f"leaderboard of {name}, {metric}",
            description={"kind": "leaderboard", "outputs": whole.fingerprint(), "unit": unit, "seed": seed},
            arguments=(whole, unit, seed),
        )
        for (name, metric), whole in outputs.items()
    ]
    boards: list[pd.DataFrame] = context.run("leaderboards", _leaderboard, cells)
    return pd.concat(boards, ignore_index=True)


def _leaderboard(outputs: Outputs, unit: str | None, seed: int) -> pd.DataFrame:
    board = leaderboard(outputs, unit=unit, seed=seed)
    group = outputs.systems.set_index("name")["group"]
    return board.assign(group=board["system"].map(group))
