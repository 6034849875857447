"""Figures of rows, a system or a pair each: how high rows are, and how their names are written.

Many rows are low and have small letters, so that 200 of them are still one figure. In a paper the figure is as wide as
a column, and long names are folded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import offset_copy
from numpy.typing import ArrayLike

from simstudy.plot.style import in_a_paper
from simstudy.text.plain_text import label

# From so many rows on they are low, and lower.
_MANY, _VERY_MANY = 40, 61

# Inches of a low row and points of its letters; the same of a lower one, and of a line of a row in a paper.
_LOW, _LOWER, _PAPER, _LOW_PAPER = (0.145, 6.5), (0.1, 5.8), (0.14, 7.0), (0.115, 6.5)

# Letters of a name in a paper, and of each of its lines.
_NAME, _LINE = 44, 24


@dataclass(frozen=True)
class Rows:
    """How the rows of a figure are written."""

    names: list[str]
    #: Inches of a row, and of its longest name.
    height: float
    name_width: float
    #: Points.
    font: float
    many: bool

    @property
    def all_heights(self) -> float:
        """Inches of all rows."""
        return self.height * len(self.names)


def rows_of(names: Sequence[object], *, usual: float, letter: float = 0.072) -> Rows:
    """The rows with these names; a few have the height `usual` each, and letters of the width `letter`."""
    n, font = len(names), 8.0
    written = [label(name) for name in names]
    if in_a_paper():
        height, font = _LOW_PAPER if n >= _MANY else _PAPER
        # The two names of a pair stand below each other.
        written = ["\n".join(map(folded, str(name).split("\n"))) for name in names]
        height *= max(name.count("\n") for name in written) + 1
    elif n < _MANY:
        height = usual
    else:
        height, font = _LOW if n < _VERY_MANY else _LOWER
    longest = max(len(line) for name in written for line in name.split("\n"))
    return Rows(written, height, longest * letter * font / 8, font, n >= _MANY)


def folded(name: object) -> str:
    """A name in lines that a column has room for, broken at marks between its words."""
    text, lines = label(name, _NAME), [""]
    for piece in re.split(r"(?<=[\s/_:.@–-])", text):
        if lines[-1] and len(lines[-1]) + len(piece) > _LINE:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.strip() for line in lines)


def name_rows(ax: Axes, at: ArrayLike, rows: Rows) -> None:
    """Write the names beside the rows; of many rows the axis is at the top too."""
    ax.set_yticks(at, rows.names, fontsize=rows.font)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", top=rows.many, labeltop=rows.many)


def legend_above(ax: Axes, rows: Rows, handles: Sequence[Line2D]) -> None:
    """Put a legend above the rows, or above the axis that is at their top; in a paper above all of the figure."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    style: dict[str, Any] = {"handles": handles, "ncols": 2, "handlelength": 1.4, "columnspacing": 1.2}
    if in_a_paper():
        figure.legend(loc="outside upper left", **style)
        return
    place = offset_copy(ax.transAxes, figure, y=18 if rows.many else 2, units="points")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), bbox_transform=place, borderaxespad=0, **style)
