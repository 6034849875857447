"""Figures of what tests find where the true gain is known: power, exaggeration, and which test to use when."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from simstudy.plot.colours import colours_of
from simstudy.plot.rates import by_units, draw_test
from simstudy.plot.style import REFERENCE, in_percents, one_panel, styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label
from simstudy.validation import check_number

# What a test is worth in a situation, from good to bad: the colour of its cell.
_VERDICTS = {
    "first choice": "#a6cde8",
    "keeps its level": "#e3eff8",
    "nearly": "#fdebc8",
    "wrong too often": "#f0a878",
}


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


@styled
def choices(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Which test when: a row a test, a column a situation and size; the colour is its verdict, the number its power.

    Parameters
    ----------
    table
        Columns situation, sizes, test, verdict ("first choice", "keeps its level", "nearly" or "wrong too often") and
        power (a fraction, or missing).

    Raises
    ------
    ValueError
        Where a column or all rows are missing, a verdict is another, or a test has a situation and size twice.

    Examples
    --------
    >>> table = pd.DataFrame({"situation": "BLEU", "sizes": "10 - 30", "test": ["sign_flips", "bootstrap"],
    ...                       "verdict": ["first choice", "wrong too often"], "power": [0.4, 0.5]})
    >>> [tick.get_text() for tick in choices(table).get_yticklabels()]
    ['sign_flips', 'bootstrap']
    """
    check_table("table", table, ["situation", "sizes", "test", "verdict", "power"])
    if wrong := set(table["verdict"]) - set(_VERDICTS):
        raise ValueError(f"verdict must be one of {', '.join(_VERDICTS)}, not '{min(wrong)}'")
    if table.duplicated(["situation", "sizes", "test"]).any():
        raise ValueError("table must have a test once for a situation and size")
    tests = list(dict.fromkeys(table["test"]))
    columns = list(dict.fromkeys(zip(table["situation"], table["sizes"], strict=True)))
    ax = one_panel(ax, width=1.6 + 0.62 * len(columns), height=1.5 + 0.34 * len(tests))
    for (situation, sizes), test, verdict, power in zip(
        zip(table["situation"], table["sizes"], strict=True),
        table["test"],
        table["verdict"],
        table["power"],
        strict=True,
    ):
        x, y, first = columns.index((situation, sizes)), tests.index(test), verdict == "first choice"
        ax.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, facecolor=_VERDICTS[verdict],
                               edgecolor="#0072B2" if first else "none", linewidth=1.6))  # fmt: skip
        text = f"{100 * power:.0f}" if np.isfinite(power) else ""
        ax.text(x, y, text, ha="center", va="center", fontsize=8, fontweight="bold" if first else "normal")
    starts = [k for k, (situation, _) in enumerate(columns) if k == 0 or columns[k - 1][0] != situation]
    for start, end in zip(starts, [*starts[1:], len(columns)], strict=True):
        ax.text((start + end - 1) / 2, -0.8, label(columns[start][0], 30), ha="center", va="bottom", fontsize=9)
        if start:
            ax.axvline(start - 0.5, color="0.6", linewidth=0.8)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(tests) - 0.5, -0.6), xlabel="units")
    ax.set_xticks(range(len(columns)), [sizes for _, sizes in columns], rotation=35, ha="right")
    ax.set_yticks(range(len(tests)), [label(test) for test in tests])
    ax.grid(visible=False)
    handles = [Patch(facecolor=colour, edgecolor="none", label=verdict) for verdict, colour in _VERDICTS.items()]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax
