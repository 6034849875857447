"""Figures of natural comparisons: the gain that is significant, by test set and by test size."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from simstudy.figures.style import colours_of, panels, relation_colour, require, styled, unit
from simstudy.metrics.labels import label

# Inches for a row of a chart of test sets.
_ROW = 0.21


@styled
def gains_by_size(table: pd.DataFrame, *, by: str = "metric", ax: Axes | None = None) -> Axes:
    """The median gain at which pairs are just significant, against test size; a point for each test set.

    Parameters
    ----------
    table
        Rows of what `simstudy.significant_gains` returned, one for each test set (and value of `by`).
    by
        The column that gives the colours. For each of its values a line c / sqrt(n) goes through the points.

    Raises
    ------
    ValueError
        Where a column is missing, or no test set has a number.

    Examples
    --------
    >>> table = pd.DataFrame({"n_items": [100, 400], "metric": "las", "median": [4.0, 2.0], "median_low": [3.0, 1.5],
    ...                       "median_high": [5.0, 2.5]})
    >>> gains_by_size(table).get_legend_handles_labels()[1]
    ['LAS: 40 / √n']
    """
    require(table, ["n_items", "metric", by, "median", "median_low", "median_high"], "table")
    known = table[table["median"].notna()]
    if known.empty:
        raise ValueError("table must have at least one number; every test set had too few pairs")
    ax = ax or panels([""], width=5.6, height=3.9)[1][0]
    values = list(dict.fromkeys(known[by]))
    colours = colours_of(by, values)
    for value in values:
        rows = known[known[by] == value].sort_values("n_items")
        n, median = rows["n_items"].to_numpy(float), rows["median"].to_numpy()
        error = [(median - rows["median_low"]).clip(lower=0), (rows["median_high"] - median).clip(lower=0)]
        ax.errorbar(n, median, error, fmt="o", markersize=3.5, linewidth=0.7, alpha=0.75, color=colours[value])
        c = float(np.exp(np.mean(np.log(median) + np.log(n) / 2)))
        ends = np.array([n.min(), n.max()])
        slope = f"   (free slope {np.polyfit(np.log(n), np.log(median), 1)[0]:.2f})" if len(set(n)) > 2 else ""
        ax.plot(
            ends,
            c / np.sqrt(ends),
            color=colours[value],
            linewidth=1.4,
            label=f"{label(str(value))}: {c:.3g} / √n{slope}",
        )
    ax.set(xscale="log", yscale="log", xlabel="test size, items")
    units = {unit(rows) for _, rows in known.groupby("metric")}
    ax.set_ylabel("gain that is just significant" + (f" ({units.pop()})" if len(units) == 1 else ""))
    for axis, locator in ((ax.xaxis, LogLocator(subs=(1, 2, 5))), (ax.yaxis, LogLocator(subs=(1, 2, 3, 5)))):
        axis.set_major_locator(locator)
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_locator(NullLocator())
    ax.legend(loc="lower left")
    return ax


@styled
def gains_by_test_set(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """A row for each test set: the gain from which on pairs are usually significant, by relation class.

    A dot is the 95th percentile of the gains at which pairs are just significant (with its interval), a small line
    their median. Test sets are ordered by size, the largest at the bottom.

    Parameters
    ----------
    table
        Rows of what `simstudy.significant_gains` returned, of one unit: one for each test set and relation.

    Raises
    ------
    ValueError
        Where a column is missing, or no test set has a number.

    Examples
    --------
    >>> table = pd.DataFrame({"test_set": ["a", "b"], "n_items": [100, 400], "relation": "all pairs",
    ...                       "median": [4.0, 2.0], "p95": [5.0, 3.0], "p95_low": [4.0, 2.5], "p95_high": [6.0, 3.5]})
    >>> [label.get_text() for label in gains_by_test_set(table).get_yticklabels()]
    ['a  (100)', 'b  (400)']
    """
    require(table, ["test_set", "n_items", "relation", "median", "p95", "p95_low", "p95_high"], "table")
    known = table[table["p95"].notna()]
    if known.empty:
        raise ValueError("table must have at least one number; every test set had too few pairs")
    sizes = known.groupby("test_set", sort=False)["n_items"].first().sort_values(kind="stable")
    ax = ax or panels([""], width=7.0, height=0.8 + _ROW * len(sizes))[1][0]
    # Classes of one colour are one class: "same group" here is "same family" there.
    classes = known.groupby(known["relation"].map(relation_colour), sort=False)
    order = sorted(classes, key=lambda found: found[1]["relation"].iloc[0])
    for k, (colour, rows) in enumerate(order):
        y = np.array([sizes.index.get_loc(name) for name in rows["test_set"]]) + 0.24 * (k - (len(order) - 1) / 2)
        error = [(rows["p95"] - rows["p95_low"]).clip(lower=0), (rows["p95_high"] - rows["p95"]).clip(lower=0)]
        label = " / ".join(dict.fromkeys(rows["relation"]))
        ax.errorbar(rows["p95"], y, xerr=error, fmt="o", markersize=4, linewidth=1, color=colour, label=label)
        ax.plot(rows["median"], y, "|", markersize=6, markeredgewidth=1.6, color=colour)
    ax.set_yticks(range(len(sizes)), [f"{name}  ({n:,})" for name, n in sizes.items()], fontsize=8)
    ax.set(ylim=(len(sizes) - 0.4, -0.6), xlim=(0, None), xlabel="gain that is significant, points")
    ax.tick_params(axis="y", length=0)
    handles, labels = ax.get_legend_handles_labels()
    handles.append(Line2D([], [], color="0.4", marker="|", linestyle="none", markersize=7, markeredgewidth=1.6))
    ax.legend(handles, [*labels, "median"], loc="lower right")
    return ax
