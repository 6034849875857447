"""Items that are battles: which systems met, and who won."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs.outputs import Outputs

#: Columns of items that are battles: the two systems, and the points of the first (1, 0.5 for a tie, 0).
BATTLE = ("model_a", "model_b", "points_a")


def are_battles(items: pd.DataFrame) -> bool:
    """Whether the items are battles of an arena, as their columns tell."""
    return set(BATTLE) <= set(items)


def battles(outputs: Outputs) -> tuple[IntArray, IntArray, FloatArray] | None:
    """The positions of the two systems of each item, (n,) each, and the points of the first; None for other items.

    Battles with a system that is not among the outputs are left out.
    """
    if not are_battles(outputs.items):
        return None
    place = {name: k for k, name in enumerate(outputs.names)}
    first, second = (outputs.items[name].map(place) for name in BATTLE[:2])
    there = (first.notna() & second.notna()).to_numpy()
    points = outputs.items[BATTLE[2]].to_numpy(np.float64)
    a, b = (np.asarray(side[there], dtype=np.int64) for side in (first, second))
    return a, b, np.asarray(points[there])


def meetings(outputs: Outputs) -> tuple[IntArray, IntArray] | None:
    """How often each system won against each other one, and how often they tied, (K, K) each; None for other items."""
    found = battles(outputs)
    if found is None:
        return None
    first, second, points = found
    won, tied = np.zeros((2, outputs.n_systems, outputs.n_systems), dtype=np.int64)
    np.add.at(won, (first[points == 1], second[points == 1]), 1)
    np.add.at(won, (second[points == 0], first[points == 0]), 1)
    np.add.at(tied, (first[points == 0.5], second[points == 0.5]), 1)
    return won, tied + tied.T
