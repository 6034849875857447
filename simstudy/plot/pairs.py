"""Figures of all pairs: the matrix of p-values, groups that do not differ (Chinchor 1992), gains with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from simstudy.pairs import order_of
from simstudy.plot.parts import REFERENCE, better_end, dots, one_panel, score_unit, sides, unit
from simstudy.plot.style import styled
from simstudy.statistics.decisions import Decision
from simstudy.tables import check_table, require_one_question, require_one_table, takes_pairs
from simstudy.text.numerals import p_floor, p_short
from simstudy.text.plain_text import label

# Up to so many systems a cell of the matrix has room for its number.
_NUMBERED = 20

# From so many systems on the empty half of the matrix has room for a legend.
_ROOMY = 12

# More lanes of groups than these are no picture.
_MOST_LANES = 60

# Inches: a cell with a number and without; a system's row, the scores, a lane; a letter of a name. Of intervals: a
# pair's row, a letter of its names, all intervals.
_CELL, _SMALL_CELL = 0.42, 0.17
_ROW, _SCORES, _LANE = 0.2, 2.5, 0.16
_LETTER = 0.075
_PAIR_ROW, _PAIR_LETTER, _INTERVALS = 0.22, 0.07, 4.2

# The darker, the smaller the p-value: blue where two systems differ significantly, grey where not. Orange is doubt.
_BLUES = LinearSegmentedColormap.from_list("significant", ["#08306B", "#2171B5", "#9ECAE1"])
_GREYS = LinearSegmentedColormap.from_list("not significant", ["0.80", "0.97"])
_ORANGE = "#D55E00"

# Intervals that are significant, and others; lanes that lie beside each other differ (Okabe and Ito 2008).
_SIGNIFICANT, _OTHER = "#0072B2", "0.55"
_LANES = ("#0072B2", "#D55E00", "#009E73", "#444444")


@takes_pairs
@styled
def matrix(pairs: pd.DataFrame, *, alpha: float = 0.05, certainty: float | None = None, ax: Axes | None = None) -> Axes:
    """p-values of all pairs of systems (figures 3-6 of Chinchor 1992), each pair once, best systems first.

    A cell is blue where the gain is significant (`simstudy.statistics.decisions.Decision`). Other cells are grey; those
    whose p-value is at or below alpha all the same have an orange frame. Up to 20 systems the p-values are written in.

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
    k, names = len(scores), [label(name) for name in found.names]
    numbered = k <= _NUMBERED
    side, name = max(2.8, (_CELL if numbered else _SMALL_CELL) * k), _LETTER * max(map(len, names))
    words = 0.0 if k >= _ROOMY else 2.8
    ax = one_panel(ax, width=side + name + 0.8 + words, height=side + name + 0.2)
    smallest = min(1e-4, alpha / 10)
    meshes = []
    for shades, those, low, high in ((_BLUES, significant, smallest, alpha), (_GREYS, ~significant, alpha, 1.0)):
        cells = np.full((k, k), np.nan)
        cells[row[those], column[those]] = np.clip(p_value[those], low, high)
        meshes.append(ax.pcolormesh(np.ma.masked_invalid(cells), cmap=shades, norm=LogNorm(low, high),
                                    edgecolors="white", linewidth=0.7, rasterized=True))  # fmt: skip
    # What was not resampled is certain, and needs no certainty.
    how = f"certainty {certainty:g}" if certainty is not None and (pairs["n_resamples"] > 0).any() else ""
    told = ", ".join(filter(None, (f"significant at {alpha:g}", sides(pairs), how)))
    handles = [Patch(color=_BLUES(0.5), label=told), Patch(color=_GREYS(0.3), label="not significant")]
    doubtful = (p_value <= alpha) & ~significant
    if doubtful.any():
        for x, y in zip(column[doubtful], row[doubtful], strict=True):
            ax.add_patch(Rectangle((x + 0.08, y + 0.08), 0.84, 0.84, fill=False, edgecolor=_ORANGE, linewidth=1.3))
        why = "not certain,\nor for the other system" if how else "for the\nother system"
        doubt = f"p at most {alpha:g}, but {why}, or of too few units"
        handles.append(Patch(fill=False, edgecolor=_ORANGE, linewidth=1.3, label=doubt))
    # The empty half has room for words from so many systems on; a smaller matrix has them at its side.
    where = {"loc": "upper right"} if k >= _ROOMY else {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
    ax.legend(handles=handles, fontsize=7.5, handlelength=1, handleheight=1, borderaxespad=0, **where)
    if numbered:
        floors = map(p_floor, pairs["n_resamples"])
        for x, y, p, floor, strong in zip(column, row, p_value, floors, significant, strict=True):
            # The darker 70 % of the blues, on their logarithmic scale.
            ink = "white" if strong and p < smallest**0.3 * alpha**0.7 else "0.1"
            ax.text(x + 0.5, y + 0.5, p_short(p, alpha, floor), ha="center", va="center", fontsize=7, color=ink)
    else:
        # One bar in two parts, below the legend; what is at alpha is written once.
        bottom = 1 - 0.8 / (_SMALL_CELL * k)
        for mesh, left, ticks in zip(meshes, (0.66, 0.83), ([smallest, alpha], [1.0]), strict=True):
            bar = ax.inset_axes((left, bottom, 0.165, 0.014))
            Colorbar(bar, mesh, orientation="horizontal").outline.set_visible(False)
            bar.set_xticks([], minor=True)
            bar.set_xticks(ticks, [f"p = {p:g}" if p == smallest else f"{p:g}" for p in ticks], fontsize=7)
    ax.set_xticks(np.arange(k) + 0.5, names, rotation=90, fontsize=8 if numbered else 7)
    rows = [f"{name}  {score:.2f}" for name, score in zip(names, scores, strict=True)]
    ax.set_yticks(np.arange(k) + 0.5, rows, fontsize=8 if numbered else 7)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    sns.despine(ax=ax, left=True, bottom=True)
    ax.set(xlim=(0, k), ylim=(k, 0), aspect="equal")
    return ax


@styled
def groups(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Groups of systems that do not differ significantly (figures 7-11 of Chinchor 1992), beside their scores.

    Systems go down by score; each group is a line in a lane on the right, with a dot at every member. Beside a system
    that is not in the group the line is thin and broken. Groups that do not meet may share a lane.

    Parameters
    ----------
    table
        What `simstudy.groups` returned.
    ax
        Where to draw; by default a new figure that is large enough.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, or the table is of more than one test set.

    Examples
    --------
    >>> table = pd.DataFrame({"group": [1, 1, 2, 2], "rank": [1, 3, 2, 3], "score": [56.01, 51.61, 51.98, 51.61],
    ...                       "system": ["GE", "UMASS", "GE-CMU", "UMASS"], "metric": "f1"})
    >>> [label.get_text() for label in groups(table).get_yticklabels()]
    ['GE', 'GE-CMU', 'UMASS']
    """
    check_table("table", table, ["group", "rank", "system", "score"])
    systems = table[["rank", "system", "score"]].drop_duplicates().sort_values("rank")
    if systems["rank"].duplicated().any() or table.duplicated(["group", "rank"]).any():
        raise ValueError("table must be the groups of one test set; it has two systems at one place")
    k, names = len(systems), [label(name) for name in systems["system"]]
    lanes = _lanes([rows["rank"].to_numpy() for _, rows in table.groupby("group")])
    shown = lanes[:_MOST_LANES]
    width = _LETTER * max(map(len, names)) + _SCORES + _LANE * (len(shown) + 2) + 0.3
    ax = one_panel(ax, width=width, height=max(1.6, _ROW * k + 0.7))
    margin = 0.05 * (np.ptp(systems["score"]) or 1)
    low, high = systems["score"].min() - margin, systems["score"].max() + margin
    # Lanes are to the right of the scores in the same Axes, and so in units of the score.
    lane = _LANE * (high - low) / _SCORES
    ax.plot(systems["score"], systems["rank"], "o", markersize=4, color="0.25")
    drawn = 0
    for n, members in enumerate(shown):
        for places in members:
            x, colour = high + (2 + n) * lane, _LANES[drawn % len(_LANES)]
            drawn += 1
            ax.plot(np.full(len(places), x), places, "o", markersize=4, color=colour)
            for above, below in pairwise(places):
                # Beside systems that are not in the group the line is thin and broken.
                inside = below - above == 1
                ax.plot([x, x], [above, below], linewidth=1.6 if inside else 0.8, color=colour,
                        linestyle="-" if inside else (0, (2, 2)))  # fmt: skip
    ax.set_yticks(systems["rank"], names, fontsize=8)
    ax.set_xticks([tick for tick in MaxNLocator(6).tick_values(low, high) if low <= tick <= high])
    ax.tick_params(axis="y", length=0)
    ax.spines["bottom"].set_bounds(low, high)
    ax.set(xlim=(low, high + (2 + len(shown)) * lane), ylim=(k + 0.5, 0.5))
    score = f"score ({score_unit(table)})" if "metric" in table else "score"
    ax.set_xlabel(f"{score}{better_end(systems['score'])}", loc="left")
    how_many = "groups" if len(shown) == len(lanes) else f"groups ({len(shown)} of {len(lanes)} lanes)"
    ax.annotate(how_many, (high + 1.5 * lane, 0), xycoords=("data", "axes fraction"), xytext=(0, -6),
                textcoords="offset points", va="top")  # fmt: skip
    return ax


@takes_pairs
@styled
def gain_intervals(pairs: pd.DataFrame, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """Each pair's gain with its 95 % interval, the pairs from the top in the table's order.

    Parameters
    ----------
    pairs
        Comparisons; pairs without an interval are left out.
    alpha
        A fraction; gains that are significant at it (`simstudy.statistics.decisions.Decision`) are blue.
    ax
        Where to draw; by default a new figure that is large enough.

    Raises
    ------
    ValueError
        Where a column is missing, no pair has an interval, or alpha is no fraction.

    Examples
    --------
    >>> pairs = pd.DataFrame({"system_a": ["x"], "system_b": ["y"], "gain": [2.0], "gain_low": [-0.5],
    ...                       "gain_high": [4.5], "p_value": [0.11]})
    >>> [label.get_text() for label in gain_intervals(pairs).get_yticklabels()]
    ['x – y']
    """
    columns = ["system_a", "system_b", "gain", "gain_low", "gain_high", "p_value"]
    check_table("pairs", pairs, columns)
    require_one_table(pairs)
    require_one_question(pairs)
    decision = Decision(alpha)
    known = pairs[pairs["gain_low"].notna()]
    if known.empty:
        raise ValueError("pairs must have at least one interval; no two systems differ on any unit")
    names = (known["system_a"].map(label) + " – " + known["system_b"].map(label)).tolist()
    ax = one_panel(ax, width=_INTERVALS + _PAIR_LETTER * max(map(len, names)), height=1.1 + _PAIR_ROW * len(names))
    significant = decision.significant(known)
    y = np.arange(len(known))
    for those, colour in ((significant, _SIGNIFICANT), (~significant, _OTHER)):
        style = {"fmt": "o", "markersize": 4, "linewidth": 1.2, "color": colour}
        dots(ax, y[those], known[those], "gain", ends="gain_", across=True, **style)
    ax.axvline(0, **REFERENCE)
    ax.set_yticks(y, names, fontsize=8)
    ax.set(ylim=(len(known) - 0.4, -0.6))
    ax.set_xlabel(f"gain ({unit(known)})" if "metric" in known else "gain")
    ax.tick_params(axis="y", length=0)
    significant_at = ", ".join(filter(None, (f"significant at {alpha:g}", sides(known))))
    handles = [
        Line2D([], [], color=colour, marker="o", markersize=4, linewidth=1.2, label=label)
        for colour, label in ((_SIGNIFICANT, significant_at), (_OTHER, "not significant"))
    ]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.08 - 0.5 / len(known)), ncols=2)
    return ax


def _lanes(members: Sequence[NDArray[np.int64]]) -> list[list[NDArray[np.int64]]]:
    """Groups, each an array of places, put into as few lanes as keep those that overlap apart."""
    lanes: list[list[NDArray[np.int64]]] = []
    for group in sorted(members, key=lambda places: int(places.min())):
        free = next((lane for lane in lanes if lane[-1].max() < group.min()), None)
        if free is None:
            lanes.append([group])
        else:
            free.append(group)
    return lanes
