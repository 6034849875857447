"""What a figure shows, read from its Axes: intervals, bands, stripes, lines, names in the legend."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

Ends = dict[float, tuple[float, float]]


def ends(table: pd.DataFrame, at: str, low: str = "low", high: str = "high") -> Ends:
    """Where an interval is -> from where to where, of the rows that have one."""
    known = table[table[low].notna()].round(9)
    return {float(x): (float(a), float(b)) for x, a, b in zip(known[at], known[low], known[high], strict=True)}


def bars(ax: Axes, *, flat: bool = False) -> list[Ends]:
    """The intervals of each error bar: where -> from where to where; flat ones lie along the other axis."""
    found = []
    for lines in ax.collections:
        if isinstance(lines, LineCollection):
            parts = [np.round(part[:, ::-1] if flat else part, 9) for part in lines.get_segments() if len(part) == 2]
            found.append({float(x): (float(low), float(high)) for (x, low), (_, high) in parts if low != high})
    return found


def bands(ax: Axes) -> list[Ends]:
    """The shaded bands between two curves: where -> from where to where."""
    found = []
    for band in ax.collections:
        if isinstance(band, PolyCollection) and not isinstance(band, LineCollection):
            corners = pd.DataFrame(np.round(band.get_paths()[0].vertices, 9), columns=["x", "y"]).groupby("x")["y"]
            limits = zip(corners.min().index, corners.min(), corners.max(), strict=True)
            found.append({float(x): (float(low), float(high)) for x, low, high in limits})
    return found


def stripes(ax: Axes, axis: int) -> dict[str, tuple[float, float]]:
    """Shade of a stripe that crosses the panel -> from where to where."""
    found = {}
    for patch in ax.patches:
        corners = patch.get_patch_transform().transform(patch.get_path().vertices)[:, axis]
        found[to_hex(patch.get_facecolor())] = (round(corners.min(), 9), round(corners.max(), 9))
    return found


def points(line: Line2D) -> dict[float, float]:
    return {round(float(x), 9): round(float(y), 9) for x, y in np.asarray(line.get_xydata(), float)}


def curve_of(ax: Axes, label: str) -> dict[float, float]:
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return points(line)


def dotted(ax: Axes) -> dict[str, dict[float, float]]:
    """What each error bar is called -> its points."""
    return {str(drawn.get_label()): points(drawn[0]) for drawn in ax.containers}  # type: ignore[index]


def across(ax: Axes, axis: int = 1) -> list[float]:
    """Where broken or thin lines cross the whole panel, horizontal ones (or, of axis 0, vertical ones)."""
    data = [np.asarray(line.get_xydata(), float) for line in ax.lines]
    return sorted({float(d[0, axis]) for d in data if len(d) == 2 and d[:, 1 - axis].tolist() == [0, 1]})


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    return [text.get_text() for text in found.get_texts()] if found else []


def rows(ax: Axes) -> list[str]:
    """What stands at the left of each row, from the top."""
    bottom, top = ax.get_ylim()
    assert bottom > top, "the first row on top"
    return [label.get_text() for label in ax.get_yticklabels()]
