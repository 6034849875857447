"""The figure of all pairs as a matrix of p-values (Chinchor 1992), up to 200 systems, on a page and in a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from simstudy.pairs import order_of
from simstudy.plot.parts import one_panel, sides
from simstudy.plot.style import COLUMN, in_a_paper, styled
from simstudy.statistics.decisions import Decision
from simstudy.tables import check_table, require_one_table, takes_pairs
from simstudy.text.numerals import p_floor, p_short
from simstudy.text.plain_text import label

# Up to so many systems a cell of the matrix has room for its number; from so many on the empty half has room for a
# legend; columns of more systems have numbers, which the rows explain; those of so many stand upright.
_NUMBERED, _ROOMY, _NAMED, _UPRIGHT = 20, 12, 60, 14

# Inches: a cell with a number, without, and of very many systems; a letter of a name; names beside a matrix in a paper.
_CELL, _SMALL_CELL, _TINY_CELL = 0.42, 0.17, 0.09
_LETTER, _PAPER_NAMES = 0.075, 1.35

# Letters of a name in a paper.
_PAPER_NAME = 36

# The darker, the smaller the p-value: blue where two systems differ significantly, grey where not. Orange is doubt.
_BLUES = LinearSegmentedColormap.from_list("significant", ["#08306B", "#2171B5", "#9ECAE1"])
_GREYS = LinearSegmentedColormap.from_list("not significant", ["0.80", "0.97"])
_ORANGE = "#D55E00"


@takes_pairs
@styled
def matrix(pairs: pd.DataFrame, *, alpha: float = 0.05, certainty: float | None = None, ax: Axes | None = None) -> Axes:
    """p-values of all pairs of systems (figures 3-6 of Chinchor 1992), each pair once, best systems first.

    A cell is blue where the gain is significant (`simstudy.statistics.decisions.Decision`). Other cells are grey; those
    whose p-value is at or below alpha all the same have an orange frame. Up to 20 systems the p-values are written in.
    From 61 systems on columns have numbers, which stand beside the names of the rows.

    Parameters
    ----------
    pairs
        Comparisons of all pairs of one test set, the better system of each first.
    alpha, certainty
        Fractions; Chinchor's (1992) are 0.1 and 0.99. None takes p-values from resamples as they are.
    ax
        Where to draw; by default a new figure that is large enough.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, the rows are not every pair once, or alpha or certainty is no
        fraction.

    Examples
    --------
    >>> pairs = pd.DataFrame({"system_a": ["GE", "GE", "GE-CMU"], "system_b": ["GE-CMU", "UMASS", "UMASS"],
    ...                       "score_a": [56.01, 56.01, 51.98], "score_b": [51.98, 51.61, 51.61],
    ...                       "p_value": [0.0415, 0.0994, 0.8918], "n_extreme": [414, 993, 8917], "n_resamples": 9999})
    >>> [text.get_text() for text in matrix(pairs, alpha=0.1).texts]
    ['0.04', '0.099', '0.89']
    """
    check_table("pairs", pairs, ["system_a", "system_b", "score_a", "score_b", "p_value", "n_extreme", "n_resamples"])
    require_one_table(pairs)
    decision = Decision(alpha, certainty)
    found = order_of(pairs)
    column, row = found.better, found.worse
    scores = found.by_place(pairs["score_a"], pairs["score_b"])
    p_value = pairs["p_value"].to_numpy(dtype=np.float64)
    significant = decision.significant(pairs)
    k = len(scores)
    names = [label(name, _PAPER_NAME) if in_a_paper() else label(name) for name in found.names]
    look = _Look.of(k, max(map(len, names)))
    ax = one_panel(ax, width=look.width, height=look.height, rows=True)
    smallest = min(1e-4, alpha / 10)
    meshes: list[tuple[QuadMesh, tuple[float, float]]] = []
    for shades, those, ends in ((_BLUES, significant, (smallest, alpha)), (_GREYS, ~significant, (alpha, 1.0))):
        if those.any():
            cells = np.full((k, k), np.nan)
            cells[row[those], column[those]] = np.clip(p_value[those], *ends)
            mesh = ax.pcolormesh(np.ma.masked_invalid(cells), cmap=shades, norm=LogNorm(*ends), edgecolors="white",
                                 linewidth=0.7 if k <= _NAMED else 0, rasterized=True)  # fmt: skip
            meshes.append((mesh, ends))
    doubtful = (p_value <= alpha) & ~significant
    for x, y in zip(column[doubtful], row[doubtful], strict=True):
        ax.add_patch(Rectangle((x + 0.08, y + 0.08), 0.84, 0.84, fill=False, edgecolor=_ORANGE, linewidth=1.3))
    # What was not resampled is certain, and needs no certainty.
    how = f"certainty {certainty:g}" if certainty is not None and (pairs["n_resamples"] > 0).any() else ""
    told = ", ".join(filter(None, (f"significant at {alpha:g}", sides(pairs), how)))
    # Beside a small matrix, and in a column of a paper, one line has no room for all of it: names would be cut off.
    told += ",\nnot corrected" if in_a_paper() or (how and not look.inside) else ", not corrected"
    _legend(ax, look, {told: bool(significant.any()), "not": not significant.all(), how: bool(doubtful.any())}, alpha)
    if look.numbered:
        floors = map(p_floor, pairs["n_resamples"])
        for x, y, p, floor, strong in zip(column, row, p_value, floors, significant, strict=True):
            # The darker 70 % of the blues, on their logarithmic scale.
            ink = "white" if strong and p < smallest**0.3 * alpha**0.7 else "0.1"
            ax.text(x + 0.5, y + 0.5, p_short(p, alpha, floor), ha="center", va="center", fontsize=7, color=ink)
    else:
        _bar(ax, meshes, look.cell * k, smallest)
    _name_cells(ax, names, scores, look)
    return ax


@dataclass(frozen=True)
class _Look:
    """How large a matrix of k systems is drawn."""

    #: Inches of a cell and of the whole figure, points of the letters of names.
    cell: float
    width: float
    height: float
    font: float
    #: Whether cells have their p-values, columns numbers instead of names, and the empty half the legend.
    numbered: bool
    keyed: bool
    inside: bool

    @classmethod
    def of(cls, k: int, letters: int) -> _Look:
        """The look of k systems, the longest of whose names has so many letters."""
        if in_a_paper():
            font = min(7.0, max(4.8, 72 * _PAPER_NAMES / (0.6 * letters)))
            cell = min(_CELL, (COLUMN - 0.6 * font * letters / 72 - 0.3) / k)
            return cls(cell, COLUMN, cell * k + 0.4, min(font, 0.95 * 72 * cell), cell > 0.4, keyed=True, inside=True)
        cell, font = (_CELL, 8.0) if k <= _NUMBERED else (_SMALL_CELL, 7.0) if k <= _NAMED else (_TINY_CELL, 5.8)
        keyed, inside = k > _NAMED, k >= _ROOMY
        # The empty half has room for words from so many systems on; a smaller matrix has them at its side.
        side, name, words = max(2.8, cell * k), _LETTER * letters, 0.0 if inside else 2.8
        width, height = side + name + 0.8 + words, side + (0.2 if keyed else name) + 0.2
        return cls(cell, width, height, font, k <= _NUMBERED, keyed, inside)


def _legend(ax: Axes, look: _Look, drawn: Mapping[str, bool], alpha: float) -> None:
    """What colours and frames mean; of `drawn`, which says it in order of significant, not significant and doubtful."""
    (told, any_significant), (_, any_not), (how, any_doubtful) = drawn.items()
    handles = []
    if any_significant:
        handles.append(Patch(color=_BLUES(0.5), label=told))
    if any_not:
        handles.append(Patch(color=_GREYS(0.3), label="not significant" if any_significant else f"not {told}"))
    if any_doubtful:
        why = "not certain,\nor for the other system" if how else "for the\nother system"
        doubt = f"p at most {alpha:g}, but {why}, or of too few units"
        handles.append(Patch(fill=False, edgecolor=_ORANGE, linewidth=1.3, label=doubt))
    where: dict[str, Any] = (
        {"loc": "upper right"} if look.inside else {"loc": "upper left", "bbox_to_anchor": (1.02, 1)}
    )
    font = 6.5 if in_a_paper() else 7.5
    ax.legend(handles=handles, fontsize=font, handlelength=1, handleheight=1, borderaxespad=0, **where)


def _bar(ax: Axes, meshes: Sequence[tuple[QuadMesh, tuple[float, float]]], side: float, smallest: float) -> None:
    """A bar of the colours in one or two parts, below the legend; the p-value where they meet is written once."""
    down, width, font = (0.57, 0.25, 6.0) if in_a_paper() else (0.8, 0.165, 7.0)
    for k, (mesh, ends) in enumerate(meshes):
        left = 0.99 - (len(meshes) - k) * (width + 0.005)
        bar = ax.inset_axes((left, 1 - down / side, width, 0.014 if side > 3 else 0.03))
        Colorbar(bar, mesh, orientation="horizontal").outline.set_visible(False)
        ticks = ends if k == 0 else ends[1:]
        bar.set_xticks([], minor=True)
        bar.set_xticks(ticks, [f"p = {p:g}" if p == smallest else f"{p:g}" for p in ticks], fontsize=font)


def _name_cells(ax: Axes, names: Sequence[str], scores: NDArray[np.float64], look: _Look) -> None:
    """Names and scores beside the rows, and below the columns the names, or numbers that the rows explain too."""
    k = len(names)
    # A column of a paper has no room for scores; a table has them.
    rows = names if in_a_paper() else [f"{name}  {score:.2f}" for name, score in zip(names, scores, strict=True)]
    if look.keyed:
        rows = [f"{name}  {place}" for place, name in enumerate(rows, 1)]
    below = [str(place) for place in range(1, k + 1)] if look.keyed else names
    upright = look.keyed and k <= _UPRIGHT
    ax.set_xticks(np.arange(k) + 0.5, below, rotation=0 if upright else 90, fontsize=look.font)
    ax.set_yticks(np.arange(k) + 0.5, rows, fontsize=look.font)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    sns.despine(ax=ax, left=True, bottom=True)
    ax.set(xlim=(0, k), ylim=(k, 0), aspect="equal", anchor="E")
