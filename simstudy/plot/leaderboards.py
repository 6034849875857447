"""The figure of a leaderboard: each system's score with its interval, and the places that it may have."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from simstudy.plot.parts import better_end, one_panel, score_unit
from simstudy.plot.rows import Rows, legend_above, name_rows, rows_of
from simstudy.plot.style import in_a_paper, styled
from simstudy.tables import check_table
from simstudy.validation import InputError

# Inches: a row, the scores, the places; lines of the legend and of the axes' labels.
_ROW, _SCORES, _PLACES, _AROUND = 0.22, 2.8, 3.4, 1.2

# Okabe and Ito (2008): vermilion may be the best, blue not; the set for all systems at once is paler.
_MAY_BE_BEST, _NOT_BEST = "#D55E00", "#0072B2"
_PALE = 0.3


@styled
def leaderboard(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """A row for each system, best first: its score with interval, and at the right its confidence set for the rank.

    A pale bar holds the places with those of all the other systems at once, the dark bar in it is for the reader who
    asked about this one system beforehand, and the mark is the place by score. Systems that may be the best have
    another colour.

    Parameters
    ----------
    table
        What `simstudy.leaderboard` returned, of one test set.
    ax
        Where to draw: a panel, whose right half the places take. By default a new figure that is large enough.

    Returns
    -------
    ax
        The scores' Axes; that of the places is the last of its figure.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, the table is of more than one test set, or ax is no panel of a grid.

    Examples
    --------
    >>> table = pd.DataFrame({"metric": "accuracy", "level": 0.95, "system": ["new", "old"], "score": [80.0, 75.0],
    ...                       "score_low": [76.0, 71.0], "score_high": [84.0, 79.0], "rank": [1, 2],
    ...                       "rank_low": [1, 1], "rank_high": [2, 2], "rank_low_own": [1, 1],
    ...                       "rank_high_own": [2, 2], "may_be_best": [True, True]})
    >>> [tick.get_text() for tick in leaderboard(table).get_yticklabels()]
    ['new', 'old']
    """
    sets = ["rank_low", "rank_high", "rank_low_own", "rank_high_own"]
    columns = ["metric", "level", "system", "score", "score_low", "score_high", "rank", *sets, "may_be_best"]
    check_table("table", table, columns)
    if table["system"].duplicated().any():
        raise InputError("table", "must be the leaderboard of one test set; it has a system twice")
    k, named = len(table), rows_of(table["system"].tolist(), usual=_ROW)
    many = named.many
    width = named.name_width + _SCORES + _PLACES
    ax = one_panel(ax, width=width, height=max(1.8, named.all_heights + _AROUND), rows=True)
    place, figure = ax.get_subplotspec(), ax.get_figure()
    if place is None or figure is None:
        raise InputError("ax", "must be a panel of a grid (`simstudy.plot.panels`), whose right half the ranks take")
    halves = place.subgridspec(1, 2, width_ratios=(_SCORES, _PLACES))
    ax.set_subplotspec(halves[0])
    beside = figure.add_subplot(halves[1], sharey=ax)
    # Bars of rows that lie close together must not touch.
    pen = min(6.0, 0.55 * 72 * named.height)
    for best, colour in ((True, _MAY_BE_BEST), (False, _NOT_BEST)):
        of_best = (table["may_be_best"] == best).to_numpy()
        rows, y = table[of_best], of_best.nonzero()[0] + 1
        ax.hlines(y, rows["score_low"], rows["score_high"], color=colour, linewidth=1.2)
        ax.plot(rows["score"], y, "o", color=colour, markersize=min(4, pen))
        # Half a place at each end, so that a place that is certain is seen.
        for low, high, alpha in ((sets[0], sets[1], _PALE), (sets[2], sets[3], 1.0)):
            beside.hlines(y, rows[low] - 0.4, rows[high] + 0.4, color=colour, linewidth=pen, alpha=alpha)
        beside.plot(rows["rank"], y, "|", color="0.1", markersize=pen, markeredgewidth=0.8)
    name_rows(ax, range(1, k + 1), named)
    ax.set_ylim(k + 0.7, 0.3)
    level = float(table["level"].iloc[0])
    score = f"{score_unit(table)}{better_end(table['score'])}"
    # A column of a paper has no room for more words; its caption has.
    words = ("", "") if in_a_paper() else (f", with {100 * level:g} % interval", f", {100 * level:g} % confidence set")
    ax.set_xlabel(f"{score}{words[0]}")
    furthest = int(table["rank_high"].max())
    ticks = [1, *(tick for tick in MaxNLocator(6, integer=True).tick_values(1, furthest) if 1 < tick <= furthest)]
    beside.xaxis.set_major_locator(FixedLocator(ticks))
    beside.set(xlim=(0.4, furthest + 0.6), xlabel=f"rank{words[1]}")
    for panel in (ax, beside):
        panel.tick_params(axis="y", length=0)
        panel.tick_params(axis="x", top=many, labeltop=many)
        panel.set_axisbelow(True)
    beside.tick_params(axis="y", labelleft=False)
    beside.spines["left"].set_visible(False)
    _legend(beside, not table["may_be_best"].all(), named)
    return ax


def _legend(ax: Axes, both: bool, named: Rows) -> None:
    """What the bars mean, above them: within there may be no room. All of one colour, or of `both`."""
    colour = _NOT_BEST if both else _MAY_BE_BEST
    handles = [
        Line2D([], [], color=colour, linewidth=5, alpha=_PALE, label="all systems at once"),
        Line2D([], [], color=colour, linewidth=5, label="one system, chosen beforehand"),
        Line2D([], [], color="0.1", linestyle="none", marker="|", markersize=6, label="by score"),
    ]
    handles.append(Line2D([], [], color=_MAY_BE_BEST, linewidth=5, label="may be the best"))
    legend_above(ax, named, handles)
