"""Figures of pairs: groups of systems that do not differ (Chinchor 1992), and gains with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from simstudy.plot.parts import REFERENCE, better_end, dots, one_panel, score_unit, sides, unit
from simstudy.plot.rows import legend_above, name_rows, rows_of
from simstudy.plot.style import COLUMN, in_a_paper, styled
from simstudy.statistics.decisions import Decision
from simstudy.tables import check_table, require_one_question, require_one_table, takes_pairs
from simstudy.text.plain_text import label
from simstudy.validation import InputError

# More lanes of groups than these are no picture.
_MOST_LANES = 60

# Inches: a system's row, the scores, a lane; a letter of a name. Of intervals: a pair's row, all intervals.
_ROW, _SCORES, _LANE = 0.2, 2.5, 0.16
_LETTER = 0.075
_PAIR_ROW, _INTERVALS = 0.22, 4.2

# Intervals that are significant, and others; lanes that lie beside each other differ (Okabe and Ito 2008).
_SIGNIFICANT, _OTHER = "#0072B2", "0.55"
_LANES = ("#0072B2", "#D55E00", "#009E73", "#444444")


@styled
def groups(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Groups of systems that do not differ significantly (figures 7-11 of Chinchor 1992), beside their scores.

    Systems go down by score; each group is a line in a lane on the right, with a dot at every member. Beside a system
    that is not in the group the line is thin and broken. Groups that do not meet may share a lane.

    Parameters
    ----------
    table
        What `Comparisons.groups` returned.
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
        raise InputError("table", "must be the groups of one test set; it has two systems at one place")
    k, named = len(systems), rows_of(systems["system"].tolist(), usual=_ROW, letter=_LETTER)
    lanes = _lanes([rows["rank"].to_numpy() for _, rows in table.groupby("group")])
    shown = lanes[:_MOST_LANES]
    wide = _LANE * min(1.0, named.height / 0.145)
    if in_a_paper():
        wide = min(wide, 0.3 * COLUMN / (len(shown) + 2))
    width = named.name_width + _SCORES + wide * (len(shown) + 2) + 0.3
    ax = one_panel(ax, width=width, height=max(1.6, named.all_heights + 0.7), rows=True)
    margin = 0.05 * (np.ptp(systems["score"]) or 1)
    low, high = systems["score"].min() - margin, systems["score"].max() + margin
    # Lanes are to the right of the scores in the same Axes, and so in units of the score.
    scored = COLUMN - named.name_width - wide * (len(shown) + 2) - 0.3 if in_a_paper() else _SCORES
    lane, dot = wide * (high - low) / max(scored, 0.5), min(4.0, 40 * named.height)
    ax.plot(systems["score"], systems["rank"], "o", markersize=dot, color="0.25")
    drawn = 0
    for n, members in enumerate(shown):
        for places in members:
            x, colour = high + (2 + n) * lane, _LANES[drawn % len(_LANES)]
            drawn += 1
            ax.plot(np.full(len(places), x), places, "o", markersize=dot, color=colour)
            for above, below in pairwise(places):
                # Beside systems that are not in the group the line is thin and broken.
                inside = below - above == 1
                ax.plot([x, x], [above, below], linewidth=1.6 if inside else 0.8, color=colour,
                        linestyle="-" if inside else (0, (2, 2)))  # fmt: skip
    name_rows(ax, systems["rank"], named)
    ax.set_xticks([tick for tick in MaxNLocator(6).tick_values(low, high) if low <= tick <= high])
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
        raise InputError("pairs", "must have at least one interval; no two systems differ on any unit")
    between = " –\n" if in_a_paper() else " – "
    named = rows_of((known["system_a"].map(label) + between + known["system_b"].map(label)).tolist(), usual=_PAIR_ROW)
    ax = one_panel(ax, width=_INTERVALS + named.name_width, height=1.1 + named.all_heights, rows=True)
    significant = decision.significant(known)
    y = np.arange(len(known))
    for those, colour in ((significant, _SIGNIFICANT), (~significant, _OTHER)):
        style = {"fmt": "o", "markersize": min(4.0, 40 * named.height), "linewidth": 1.2, "color": colour}
        dots(ax, y[those], known[those], "gain", ends="gain_", across=True, **style)
    ax.axvline(0, **REFERENCE)
    name_rows(ax, y, named)
    ax.set(ylim=(len(known) - 0.4, -0.6))
    ax.set_xlabel(f"gain ({unit(known)})" if "metric" in known else "gain")
    significant_at = ", ".join(filter(None, (f"significant at {alpha:g}", sides(known), "not corrected")))
    otherwise = "not significant" if significant.any() else f"not {significant_at}"
    handles = [
        Line2D([], [], color=colour, marker="o", markersize=4, linewidth=1.2, label=told)
        for those, colour, told in ((significant, _SIGNIFICANT, significant_at), (~significant, _OTHER, otherwise))
        if those.any()
    ]
    legend_above(ax, named, handles)
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
