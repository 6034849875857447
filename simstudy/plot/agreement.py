"""Figures of tests side by side, and of what makes them differ: correlated systems, dependent items (Yeh 2000)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from simstudy.plot.parts import REFERENCE, dots, in_percents, one_panel, relation_colour
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label
from simstudy.validation import InputError


@styled
def rejections(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The share of pairs that each test rejects, with its interval, by relation class.

    Parameters
    ----------
    table
        What `simstudy.comparisons.agreement` returned, for one test set.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, or a relation class has not each test once.

    Examples
    --------
    >>> table = pd.DataFrame({"test": ["sign", "t_paired"], "relation": "all pairs", "alpha": 0.05,
    ...                       "share": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.6, 0.7]})
    >>> [label.get_text() for label in rejections(table).get_yticklabels()]
    ['sign', 't_paired']
    """
    check_table("table", table, ["test", "relation", "share", "low", "high", "alpha"])
    if (pd.crosstab(table["relation"], table["test"]) != 1).any(axis=None):
        raise InputError("table", "must be the agreement of one test set, each test once in each relation class")
    tests = list(dict.fromkeys(table["test"]))
    relations = [name for name in dict.fromkeys(table["relation"]) if name != "all pairs"] or ["all pairs"]
    ax = one_panel(ax, width=6.2, height=0.34 * len(tests) + 1.1)
    for k, relation in enumerate(relations):
        rows = table[table["relation"] == relation].set_index("test").loc[tests]
        y = np.arange(len(tests)) + (k - (len(relations) - 1) / 2) * 0.28
        colour, words = relation_colour(relation), label(relation)
        dots(ax, y, rows, "share", across=True, fmt="o", markersize=4.5, linewidth=1.1, color=colour, label=words)
    ax.set_yticks(range(len(tests)), [label(test) for test in tests])
    ax.set(ylim=(len(tests) - 0.4, -0.6), xlabel=f"share of pairs with p ≤ {table['alpha'].iloc[0]:g}")
    in_percents(ax.xaxis)
    ax.legend(loc="best")
    return ax


@styled
def correlations(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """How the results of two systems on the same items correlate, by relation class: shares of the pairs.

    Parameters
    ----------
    table
        What `simstudy.studies.side_by_side.correlation_shares` returned.

    Raises
    ------
    ValueError
        Where a column or all rows are missing.

    Examples
    --------
    >>> from simstudy.studies.side_by_side import correlation_shares
    >>> table = correlation_shares(pd.DataFrame({"relation": "same family", "r12": [0.5, 0.6, 0.8]}))
    >>> correlations(table).get_xlabel()
    'correlation of two systems, r12'
    """
    check_table("table", table, ["relation", "r12_from", "r12_to", "share", "median"])
    ax = one_panel(ax, width=5.6, height=3.2)
    for relation in sorted(table["relation"].unique(), reverse=True):
        rows = table[table["relation"] == relation]
        colour, median = relation_colour(relation), rows["median"].iloc[0]
        edges = [*rows["r12_from"], rows["r12_to"].iloc[-1]]
        ax.stairs(rows["share"], edges, fill=True, alpha=0.25, color=colour)
        ax.stairs(rows["share"], edges, color=colour, linewidth=1.3, label=f"{label(relation)}: median {median:.2f}")
        ax.axvline(median, color=colour, linewidth=1.2, linestyle=(0, (4, 2)))
    ax.set(xlabel="correlation of two systems, r12", ylabel="share of the pairs")
    ax.set(xlim=(table["r12_from"].min(), 1), ylim=(0, None))
    ax.yaxis.set_major_locator(MultipleLocator(0.05))
    in_percents(ax.yaxis)
    ax.legend(loc="upper left")
    return ax


@styled
def type_1_errors(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """How often tests by item and by cluster reject equally good systems.

    Parameters
    ----------
    table
        Columns within (latent correlation of the items of a cluster), unit, alpha, share, low and high (fractions).

    Raises
    ------
    ValueError
        Where a column or all rows are missing.

    Examples
    --------
    >>> table = pd.DataFrame({"within": [0.0, 0.4], "unit": "item", "alpha": 0.05,
    ...                       "share": [0.05, 0.3], "low": [0.04, 0.28], "high": [0.06, 0.32]})
    >>> type_1_errors(table).get_ylabel()
    'share of p ≤ 0.05, equally good systems'
    """
    check_table("table", table, ["within", "unit", "alpha", "share", "low", "high"])
    ax = one_panel(ax, width=4.4, height=3.2)
    alpha = table["alpha"].iloc[0]
    colours = dict(zip(dict.fromkeys(table["unit"]), ("#D55E00", "#0072B2", "#009E73"), strict=False))
    for unit, rows in table.groupby("unit", sort=False):
        dots(ax, rows["within"], rows, "share", fmt="o-", markersize=4.5, linewidth=1.2, capsize=2,
             color=colours[unit], label=f"unit: {label(unit)}")  # fmt: skip
    ax.axhline(alpha, **REFERENCE)
    ax.set(ylim=(0, None), xlabel="correlation of the items of a cluster")
    ax.set_ylabel(f"share of p ≤ {alpha:g}, equally good systems")
    in_percents(ax.yaxis)
    ax.legend(loc="upper left")
    return ax
