"""What is drawn as significant is what the one rule calls so: random pairs, one by one."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb

from simstudy import plot
from tests.statistics.test_one_decision import PAIRS, by_hand


def blue_cell(pairs: pd.DataFrame, alpha: float) -> bool:
    ax = plot.matrix(pairs, alpha=alpha)
    blue, grey = (np.ma.count(mesh.get_array()) for mesh in ax.collections if isinstance(mesh, QuadMesh))
    assert blue + grey == 1
    plt.close(ax.figure)
    return bool(blue)


def blue_interval(pairs: pd.DataFrame, alpha: float) -> bool:
    ax = plot.gain_intervals(pairs.assign(gain_low=0.0, gain_high=1.0), alpha=alpha)
    (dot,) = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]  # type: ignore[arg-type]
    plt.close(ax.figure)
    return to_rgb(dot.get_color()) == to_rgb("#0072B2")


def test_blue_is_what_is_significant() -> None:
    for _, pairs, alpha in PAIRS[::2]:
        expected = by_hand(pairs, alpha)
        assert blue_cell(pairs, alpha) == expected
        assert blue_interval(pairs, alpha) == expected
