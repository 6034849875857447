"""The figures: how often something false is claimed, by how many systems there are, or variants that were tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss

_LINES = (
    ("#D55E00", "v"), ("#0072B2", "o"), ("#E69F00", "^"), ("#009E73", "s"), ("#CC79A7", "D"), ("#56B4E9", "P"),
    ("#999999", "x"),
)  # fmt: skip


def draw_families(rows: pd.DataFrame) -> Any:
    """A panel for each condition with several numbers of systems."""
    several = rows.groupby("title", sort=False)["n_systems"].transform("nunique") > 2
    views = {str(title): of for title, of in rows[several].groupby("title", sort=False)} or {
        str(title): of for title, of in rows.groupby("title", sort=False)
    }
    figure, axes = ss.plot.panels(list(views), per_row=min(3, len(views)), width=3.3, height=2.5)
    for ax, of in zip(axes, views.values(), strict=True):
        ss.plot.styled(rates_by_number)(of.assign(title=of["method"].replace("none", "no correction")), ax=ax)
    # The panels share their axes: some have fewer numbers than others.
    axes[0].set_xticks(sorted(set(rows.loc[rows["title"].isin(list(views)), "n_systems"])))
    ss.plot.share_legend(figure, axes)
    return figure


def draw_variants(rows: pd.DataFrame) -> Any:
    """A panel for two-sided and one for one-sided p-values."""
    views = {str(way): of for way, of in rows.groupby("alternative", sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=2, width=3.9, height=3.0)
    for ax, (_, of) in zip(axes, views.items(), strict=True):
        expected = of["expected"].where(of["variants"] == of["variants"].iloc[0])
        drawn = of.assign(expected=expected)
        ss.plot.styled(rates_by_number)(
            drawn, number="n_variants", of="variants tried", shares="best variant is significant", most=0.8, ax=ax
        )
    ss.plot.share_legend(figure, axes)
    return figure


def rates_by_number(
    table: pd.DataFrame,
    *,
    number: str = "n_systems",
    of: str = "systems",
    shares: str = "test sets with any false claim",
    most: float = 1.0,
    ax: Any,
) -> Any:
    """Shares over a number, a line for each method, beside the level; what algebra expects is dashed.

    The table has the columns title (of a method), alpha, share, low and high, the number and, if there is algebra,
    expected (NaN: none). The axes call what is counted `of` and its shares `shares`; the axis of shares ends at `most`.
    """
    if table.empty:
        raise ValueError("table must have at least one row")
    if table.duplicated(["title", number]).any():
        raise ValueError(f"table must have each title once for a number in {number}")
    if not (table[number] >= 1).all():
        raise ValueError(f"table must have numbers of at least 1 in {number}, not {table[number].min()}")
    ax.axhline(table["alpha"].iloc[0], color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for k, (title, rows) in enumerate(table.groupby("title", sort=False)):
        colour, marker = _LINES[k % len(_LINES)]
        rows = rows.sort_values(number)
        if "expected" in rows and rows["expected"].notna().any():
            ax.plot(rows[number], rows["expected"], "--", color=colour, linewidth=1, zorder=2)
        reach = np.array([(rows["share"] - rows["low"]).clip(lower=0), (rows["high"] - rows["share"]).clip(lower=0)])
        ax.errorbar(rows[number], rows["share"], reach, fmt=f"{marker}-", markersize=4, linewidth=1.3, elinewidth=0.9,
                    color=colour, label=title)  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks(sorted(set(table[number])))
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    # A little room, so that marks at the end are whole.
    ax.set(ylim=(0, 1.02 * most), xlabel=of, ylabel=shares)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ax.legend(loc="upper left")
    return ax
