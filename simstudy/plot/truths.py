"""Figures of what tests find where the true gain is known: power, and exaggeration."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from simstudy.plot.colours import colours_of
from simstudy.plot.rates import by_units, draw_test
from simstudy.plot.style import REFERENCE, in_percents, one_panel, styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label
from simstudy.validation import check_number


@styled
def power_curves(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """How often each test finds a true gain, by the number of units.

    Parameters
    ----------
    table
        Columns test, n_units, share, low and high (fractions); one condition, alternative and level.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, or a test has a number of units twice.

    Examples
    --------
    >>> table = pd.DataFrame({"test": "sign_flips", "n_units": [10, 100], "share": [0.1, 0.6], "low": [0.09, 0.58],
    ...                       "high": [0.11, 0.62]})
    >>> power_curves(table).get_ylabel()
    'power'
    """
    check_table("table", table, ["test", "n_units", "share", "low", "high"])
    if table.duplicated(["test", "n_units"]).any():
        raise ValueError("table must be of one condition and alternative, each test once for a number of units")
    ax = one_panel(ax)
    ax.axhline(0.8, **REFERENCE, zorder=1)
    for test, rows in table.groupby("test", sort=False):
        draw_test(ax, str(test), rows.sort_values("n_units"))
    by_units(ax, table["n_units"])
    ax.set(ylim=(-0.02, 1.02), xlabel="units", ylabel="power")
    in_percents(ax.yaxis)
    ax.label_outer()
    ax.legend(loc="lower right")
    return ax


@styled
def exaggeration(table: pd.DataFrame, *, most: float = 8.0, ax: Axes | None = None) -> Axes:
    """How many times the true gain a significant gain is (type M), by the power of the test.

    Parameters
    ----------
    table
        Columns view (of a condition), share (the power, a fraction), type_m, type_m_low and type_m_high; one test.
    most
        The end of the axis, above 1: what is above is not seen.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, there is no type M, or the axis has no such end.

    Examples
    --------
    >>> table = pd.DataFrame({"view": "BLEU", "share": [0.1, 0.8], "type_m": [3.0, 1.1], "type_m_low": [2.9, 1.09],
    ...                       "type_m_high": [3.1, 1.11]})
    >>> exaggeration(table).get_xlabel()
    'power'
    """
    check_table("table", table, ["view", "share", "type_m", "type_m_low", "type_m_high"])
    check_number("most", most)
    if not 1 < most < np.inf:
        raise ValueError(f"most must be a finite number above 1, not {most}")
    table = table[table["type_m"].notna()]
    if table.empty:
        raise ValueError("table must have a type_m in some row")
    ax = one_panel(ax)
    ax.axhline(1, **REFERENCE, zorder=1)
    views = list(dict.fromkeys(table["view"]))
    colours = colours_of("view", views)
    for view in views:
        rows = table[table["view"] == view].sort_values("share")
        reach = np.array([rows["type_m"] - rows["type_m_low"], rows["type_m_high"] - rows["type_m"]])
        ax.errorbar(rows["share"], rows["type_m"], reach, fmt="o-", markersize=3, linewidth=0.9, elinewidth=0.8,
                    color=colours[view], label=label(view, 60))  # fmt: skip
    ax.set(xlim=(0, 1.01), ylim=(0.9, float(most)), yscale="log", xlabel="power", ylabel="significant gain / true gain")
    ticks = [tick for tick in (1, 1.5, 2, 3, 4, 6, 8, 12, 16) if tick <= most]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    in_percents(ax.xaxis)
    ax.legend(loc="upper right")
    return ax
