"""The figure: how often each tool says that two systems differ whose scores are equal in the population."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss

_CONDITIONS = (
    ("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v"), ("#56B4E9", "P"),
)  # fmt: skip


def draw(rows: pd.DataFrame, alpha: float) -> Any:
    """A row for each tool and test."""
    height = 0.34 * rows["label"].nunique() + 1.2
    table = rows.assign(alpha=alpha)
    drawn = ss.plot.styled(rates_by_test)
    return ss.plot.single(drawn, table, width=9.6, height=height, legend_aside=True, most=0.25)


def rates_by_test(table: pd.DataFrame, *, most: float, ax: Any) -> Any:
    """How often tests reject, a row each, beside the level; conditions differ in colour and marker.

    The table has the columns label (of a test), title (of a condition), alpha, share, low and high. Shares above `most`
    are drawn there, at the end of the axis.
    """
    if table.empty:
        raise ValueError("table must have at least one row")
    if table.duplicated(["label", "title"]).any():
        raise ValueError("table must have each test once for a condition")
    tests, titles = list(dict.fromkeys(table["label"])), list(dict.fromkeys(table["title"]))
    ax.axvline(table["alpha"].iloc[0], color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    for k, title in enumerate(titles):
        rows = table[table["title"] == title]
        colour, marker = _CONDITIONS[k % len(_CONDITIONS)]
        y = np.array([tests.index(name) for name in rows["label"]]) + (k - (len(titles) - 1) / 2) * 0.7 / len(titles)
        share = rows["share"].clip(upper=most)
        reach = np.array([(share - rows["low"]).clip(lower=0), (rows["high"] - share).clip(lower=0)])
        ax.errorbar(share, y, xerr=reach, fmt=marker, markersize=3.6, elinewidth=0.9, color=colour, label=title)
    ax.set_yticks(range(len(tests)), tests)
    ax.set(xlim=(-0.002, most * 1.01), ylim=(len(tests) - 0.4, -0.6))
    ax.set_xlabel(f"share of rejections at {table['alpha'].iloc[0]:g}")
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ax.grid(axis="y", visible=False)
    ax.legend(loc="upper right")
    return ax
