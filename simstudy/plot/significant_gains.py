"""Figures of natural comparisons: the gain that is significant, by test set and by test size."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from simstudy.metrics import label
from simstudy.plot.parts import (
    colours_of,
    dots,
    in_percent,
    log_ticks,
    one_panel,
    relation_colour,
    sides,
    unit,
    with_room,
)
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text import plain_text
from simstudy.validation import InputError, check_text

# Inches for a row of a chart of test sets.
_ROW = 0.21

# Test sizes that are so many times as large as others.
_WIDE = 100

# Of fewer test sets a band of 80 % says nothing.
_LEAST_FOR_BAND = 5


@styled
def gains_by_size(table: pd.DataFrame, *, by: str = "metric", ax: Axes | None = None) -> Axes:
    """The minimum detectable gain (power 0.8) against test size; a point for each test set.

    Parameters
    ----------
    table
        Rows of what `Comparisons.significant_gains` returned, one for each test set (and value of `by`).
    by
        The column that gives the colours. For each of its values there is a line c / sqrt(n) with the median c of its
        test sets, and, from five on, a band that holds c of 80 % of them.

    Raises
    ------
    ValueError
        Where a column is missing, or no test set has a number.

    Examples
    --------
    >>> table = pd.DataFrame({"n_items": [100, 400], "metric": "las", "true_80": [4.0, 2.0], "true_80_low": [3.0, 1.5],
    ...                       "true_80_high": [5.0, 2.5], "alternative": "two-sided", "alpha": 0.05})
    >>> gains_by_size(table).get_legend_handles_labels()[1]
    ['LAS: 40 / √n']
    """
    check_text("by", by, "the name of a column")
    columns = ["n_items", "metric", by, "true_80", "true_80_low", "true_80_high", "alternative", "alpha"]
    check_table("table", table, columns)
    known = _known(table)
    ax = one_panel(ax, width=5.6, height=3.9)
    values = list(dict.fromkeys(known[by]))
    colours = colours_of(by, values)
    sizes = sorted(known["n_items"].unique())
    for k, value in enumerate(values):
        rows, colour = known[known[by] == value].sort_values("n_items"), colours[value]
        n, gain = rows["n_items"].to_numpy(float), rows["true_80"].to_numpy()
        style = {"fmt": "o", "markersize": 3.5, "linewidth": 0.7, "alpha": 0.75, "color": colour}
        # Segments of several test sets have the same sizes: a little to the side of one another, so that all are seen.
        aside = 1.015 ** (k - (len(values) - 1) / 2) if by == "test_set" else 1
        dots(ax, n * aside, rows, "true_80", ends="true_80_", **style)
        c_10, c, c_90 = np.percentile(gain * np.sqrt(n), [10, 50, 90])
        ends = np.geomspace(n.min(), n.max(), 2)
        text = f"{plain_text.label(label(str(value)))}: {c:.3g} / √n"
        if len(rows) >= _LEAST_FOR_BAND:
            ax.fill_between(ends, c_10 / np.sqrt(ends), c_90 / np.sqrt(ends), color=colour, alpha=0.12, linewidth=0)
            text += f" ({c_10:.3g}–{c_90:.3g})"
        if len(set(n)) > 2:
            text += f", free slope {np.polyfit(np.log(n), np.log(gain), 1)[0]:.2f}"
        ax.plot(ends, c / np.sqrt(ends), color=colour, linewidth=1.4, label=text)
    ax.set(xscale="log", yscale="log", xlabel="test size, items")
    units = {unit(rows) for _, rows in known.groupby("metric")}
    scale = "points" if in_percent(known) else "each on its metric's scale"
    ax.set_ylabel(f"minimum detectable gain (power 0.8)\n{units.pop() if len(units) == 1 else scale}; {_asked(known)}")
    # Over many sizes the names of more would lie on one another.
    log_ticks(ax.xaxis, (1, 2, 5) if sizes[-1] < _WIDE * sizes[0] else (1, 3), ",g")
    if by == "test_set":
        ax.xaxis.set_major_locator(FixedLocator(with_room(sizes)))
    low, high = ax.get_ylim()
    log_ticks(ax.yaxis, (1, 2, 3, 5) if high > 5 * low else (1, 1.5, 2, 3, 4, 5, 7), ",g")
    ax.legend(loc="lower left")
    return ax


@styled
def gains_by_test_set(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The gain that is usually significant, a row for each test set, by relation class.

    A dot is the minimum detectable gain with power 0.8 (with its interval); a line goes from the observed gain that
    is significant for half of the pairs to the one that is for 95 %. Test sets are ordered by size, the largest at the
    bottom.

    Parameters
    ----------
    table
        Rows of what `Comparisons.significant_gains` returned, of one unit: one for each test set and relation.

    Raises
    ------
    ValueError
        Where a column is missing, or no test set has a number.

    Examples
    --------
    >>> table = pd.DataFrame({"test_set": ["a", "b"], "n_items": [100, 400], "relation": "all pairs",
    ...                       "observed_50": [4.0, 2.0], "observed_95": [5.0, 3.0], "true_80": [6.0, 3.0],
    ...                       "true_80_low": [5.0, 2.5], "true_80_high": [7.0, 3.5], "alternative": "two-sided",
    ...                       "alpha": 0.05, "metric": ["las", "accuracy"]})
    >>> ax = gains_by_test_set(table)
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()
    (['a  (100)', 'b  (400)'], 'gain in points (two-sided, α = 0.05)')
    >>> gains_by_test_set(table.assign(metric="ap")).get_xlabel()
    'gain (average precision; two-sided, α = 0.05)'
    """
    numbers = ["observed_50", "observed_95", "true_80", "true_80_low", "true_80_high"]
    check_table("table", table, ["test_set", "n_items", "metric", "relation", "alternative", "alpha", *numbers])
    known = _known(table)
    sizes = known.groupby("test_set", sort=False)["n_items"].first().sort_values(kind="stable")
    ax = one_panel(ax, width=7.0, height=1.1 + _ROW * len(sizes))
    # Classes of one colour are one class: "same group" here is "same family" there.
    classes = known.groupby(known["relation"].map(relation_colour), sort=False)
    order = sorted(classes, key=lambda found: found[1]["relation"].iloc[0])
    for k, (colour, rows) in enumerate(order):
        y = np.array([sizes.index.get_loc(name) for name in rows["test_set"]]) + 0.24 * (k - (len(order) - 1) / 2)
        label = " / ".join(map(plain_text.label, dict.fromkeys(rows["relation"])))
        style = {"fmt": "o", "markersize": 4, "linewidth": 1, "color": colour, "label": label}
        dots(ax, y, rows, "true_80", ends="true_80_", across=True, **style)
        ax.plot(rows["observed_50"], y, "|", markersize=6, markeredgewidth=1.6, color=colour)
        # Apart from the interval, which may lie on the same row.
        ax.hlines(y, rows["observed_50"], rows["observed_95"], color=colour, linewidth=2.6, alpha=0.35)
    ax.set_yticks(range(len(sizes)), [f"{plain_text.label(name)}  ({n:,})" for name, n in sizes.items()], fontsize=8)
    ax.set(ylim=(len(sizes) - 0.4, -0.6), xlim=(0, None), xlabel=_gain_in(known))
    ax.tick_params(axis="y", length=0)
    handles, labels = ax.get_legend_handles_labels()
    handles += [
        Line2D([], [], color="0.4", linestyle="none", marker="o", markersize=4),
        Line2D([], [], color="0.4", linestyle="none", marker="|", markersize=7, markeredgewidth=1.6),
        Line2D([], [], color="0.4", linewidth=2.6, alpha=0.35),
    ]
    texts = [
        "minimum detectable gain (power 0.8)",
        "observed gain significant for half of the pairs",
        "… to 95 % of the pairs",
    ]
    ax.legend(handles, [*labels, *texts], loc="lower right")
    return ax


def _known(table: pd.DataFrame) -> pd.DataFrame:
    known = table[table["true_80"].notna()]
    if known.empty:
        raise InputError("table", "must have at least one number; every test set had too few pairs")
    for column in ("alternative", "alpha", "pairs"):
        if column in known and known[column].nunique() > 1:
            raise InputError("table", f"must have one {column}, not {', '.join(map(str, known[column].unique()))}")
    # What has no interval is a dot.
    ends = {end: known[end].fillna(known["true_80"]) for end in ("true_80_low", "true_80_high")}
    return known.assign(**ends)


def _gain_in(table: pd.DataFrame) -> str:
    """The label of an axis of gains on test sets of one metric or of several."""
    metrics = list(dict.fromkeys(table["metric"]))
    if in_percent(table):
        return f"gain in points ({_asked(table)})"
    scale = plain_text.label(label(str(metrics[0]))) if len(metrics) == 1 else "each on its metric's scale"
    return f"gain ({scale}; {_asked(table)})"


def _asked(table: pd.DataFrame) -> str:
    return f"{sides(table)}, α = {table['alpha'].iloc[0]:g}"
