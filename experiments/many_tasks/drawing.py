"""The figures: rejections of true null hypotheses, and coverage, over the number of tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss

from .methods import FLIPS, MACRO, POOLED, T_TASKS, WON

# A short name, a colour and a mark for each method, the same in both figures.
_LINES = {
    MACRO: ("test for these tasks", "#0072B2", "o"),
    FLIPS: ("for tasks like these: sign flips", "#009E73", "s"),
    T_TASKS: ("for tasks like these: t test", "#E69F00", "^"),
    POOLED: ("items pooled", "#D55E00", "v"),
    WON: ("tasks won", "#CC79A7", "D"),
}


def draw_rates(rows: pd.DataFrame, methods: list[str], alpha: float) -> Any:
    """A panel for each question: how often each method finds a gain though there is none."""
    return _panels(rows, methods, lambda of, ax: ss.plot.styled(over_tasks)(of, methods, alpha, ax=ax))


def draw_coverage(rows: pd.DataFrame, methods: list[str], alpha: float) -> Any:
    """A panel for each question: how often each method's interval holds the true gain."""
    table = rows.assign(share=rows["coverage"], low=rows["coverage_low"], high=rows["coverage_high"])
    return _panels(
        table, methods, lambda of, ax: ss.plot.styled(over_tasks)(of, methods, 1 - alpha, shares="coverage", ax=ax)
    )


def _panels(rows: pd.DataFrame, methods: list[str], draw: Any) -> Any:
    views = {str(view): of for view, of in rows.groupby("view", sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=min(2, len(views)), width=3.9, height=2.4)
    for ax, of in zip(axes, views.values(), strict=True):
        draw(of[of["method"].isin(methods)], ax)
    ss.plot.share_legend(figure, axes)
    return figure


def over_tasks(
    table: pd.DataFrame, methods: list[str], level: float, *, shares: str = "significant suites", ax: Any
) -> Any:
    """Shares over the number of tasks, a line for each method, beside the nominal level."""
    ax.axhline(level, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    places = {n: x for x, n in enumerate(sorted(table["n_tasks"].unique()))}
    for k, method in enumerate(methods):
        rows = table[table["method"] == method].sort_values("n_tasks")
        if rows.empty:
            continue
        name, colour, marker = _LINES[method]
        reach = np.array([(rows["share"] - rows["low"]).clip(lower=0), (rows["high"] - rows["share"]).clip(lower=0)])
        x = np.array([places[n] for n in rows["n_tasks"]]) + 0.05 * (k - (len(methods) - 1) / 2)
        ax.errorbar(x, rows["share"], reach, fmt=f"{marker}-", markersize=4, linewidth=1.2, elinewidth=0.9,
                    color=colour, label=name)  # fmt: skip
    ax.set_xticks(list(places.values()), [f"{n:,}" for n in places])
    ax.set(ylim=(0, 1.02), xlabel="number of tasks", ylabel=shares)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ax.legend(loc="upper left")
    return ax
