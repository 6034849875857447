"""The figures: false claims by the number of looks."""

from __future__ import annotations

from typing import Any

import pandas as pd

import simstudy as ss

# Okabe and Ito (2008).
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
_MARKS = ("v", "o", "s", "D", "^", "P", "X")


def draw_growing(table: pd.DataFrame, alpha: float) -> Any:
    """A panel for each method, a line for each condition."""
    return _panels(table, "method", "title", alpha, "test sets with a false claim", side=True)


def draw_commits(table: pd.DataFrame, alpha: float) -> Any:
    """A panel for each kind of commits, a line for each rule."""
    return _panels(table, "truth", "rule", alpha, "test sets with a false pass")


def _panels(table: pd.DataFrame, panel: str, line: str, alpha: float, shares: str, *, side: bool = False) -> Any:
    views = {str(view): of for view, of in table.groupby(panel, sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=2, width=3.9, height=2.8, shared=True)
    for ax, of in zip(axes, views.values(), strict=True):
        ss.plot.styled(over_looks)(of, line, alpha, ax=ax)
        ax.set_ylabel(shares)
    # The panels share their axes: the last one would not fit into the limits of the first.
    axes[0].set_ylim(0, 1.05 * table["high"].max())
    ss.plot.share_legend(figure, axes, side=side)
    return figure


def over_looks(table: pd.DataFrame, line: str, alpha: float, *, ax: Any) -> Any:
    """Shares over the number of looks beside the nominal level."""
    ax.axhline(alpha, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for k, (name, rows) in enumerate(table.groupby(line, sort=False)):
        reach = [(rows["share"] - rows["low"]).clip(lower=0), (rows["high"] - rows["share"]).clip(lower=0)]
        ax.errorbar(
            rows["n_looks"], rows["share"], reach, fmt=f"{_MARKS[k % len(_MARKS)]}-", markersize=4, linewidth=1.2,
            elinewidth=0.9, label=str(name), color=_COLOURS[k % len(_COLOURS)],
        )  # fmt: skip
    ax.set_xscale("log")
    ticks = sorted(table["n_looks"].unique())
    ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
    ax.minorticks_off()
    ax.set(xlabel="looks", ylabel="false claims")
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ax.legend(loc="upper left")
    return ax
