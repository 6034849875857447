"""Figures where the true gain is known: error rates and coverage beside what they should be, power, exaggeration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator, NullLocator

from simstudy.plot.parts import REFERENCE, colours_of, dots, in_percents, one_panel
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label
from simstudy.validation import InputError, check_number, check_range, check_share

Range = tuple[float, float]

# Colour, marker, width of the line, and what is drawn over what: two tests may be one, and both should be seen.
_TESTS = {
    "randomization": ("#009E73", "s", 3.2, 2),
    "t_paired": ("#E69F00", "^", 1.1, 3),
    "bootstrap": ("#D55E00", "v", 1.1, 4),
    "sign_flips": ("#0072B2", "o", 1.5, 5),
    "skew_corrected": ("#000000", "P", 0.9, 4),
    "wilcoxon": ("#CC79A7", "D", 1.1, 1),
    "sign": ("#999999", "x", 1.1, 1),
}
_OTHER = ("#999999", "x", 0.9, 1)

# Neighbouring colours of many lines are alike.
_MARKERS = "os^vDPX"

_BAND, _NARROW = "0.94", "0.87"


@styled
def error_rates(
    table: pd.DataFrame,
    *,
    target: Range = (0.035, 0.065),
    liberal: Range = (0.025, 0.075),
    most: float = 0.25,
    ax: Axes | None = None,
) -> Axes:
    """How often each test rejects two equally good systems, by the number of units.

    Parameters
    ----------
    table
        Columns test, n_units, alpha, share, low and high (fractions); one condition and alternative.
    target, liberal
        Ranges of shares, the narrow and the wide band.
    most
        The end of the axis: what is above is not seen.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, or a test has a number of units twice.

    Examples
    --------
    >>> table = pd.DataFrame({"test": "sign_flips", "n_units": [10, 100], "alpha": 0.05,
    ...                       "share": [0.03, 0.05], "low": [0.02, 0.04], "high": [0.04, 0.06]})
    >>> error_rates(table).get_xlabel()
    'units'
    """
    _check_tests(table, "alpha")
    check_range("target", target)
    check_range("liberal", liberal)
    check_number("most", most)
    if not 0 < most <= 1:
        raise InputError("most", "must be a share above 0", most)
    ax = one_panel(ax, width=4.4, height=3.2)
    for band, shade in ((liberal, _BAND), (target, _NARROW)):
        ax.axhspan(*band, color=shade, linewidth=0, zorder=0)
    ax.axhline(table["alpha"].iloc[0], **REFERENCE, zorder=1)
    for test, rows in table.groupby("test", sort=False):
        _draw_test(ax, str(test), rows.sort_values("n_units"))
    _by_units(ax, table["n_units"])
    ax.set(ylim=(0, most), xlabel="units", ylabel=f"share of p ≤ {table['alpha'].iloc[0]:g}")
    ax.yaxis.set_major_locator(MultipleLocator(0.05))
    in_percents(ax.yaxis)
    ax.legend(loc="upper right")
    return ax


@styled
def coverage(table: pd.DataFrame, *, target: Range = (0.93, 0.97), least: float = 0.75, ax: Axes | None = None) -> Axes:
    """How many intervals hold the true gain, by condition; the number of units goes from light to dark.

    Parameters
    ----------
    table
        Columns title, n_units, level, share, low and high (fractions).
    target
        A range of shares.
    least
        The beginning of the axis: shares below are drawn there.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, or a condition has a number of units twice.

    Examples
    --------
    >>> table = pd.DataFrame({"title": "F1", "n_units": [10, 100], "level": 0.95, "share": [0.93, 0.95],
    ...                       "low": [0.92, 0.94], "high": [0.94, 0.96]})
    >>> coverage(table).get_xlabel()
    'share of 95 % intervals that hold the true gain'
    """
    check_table("table", table, ["title", "n_units", "level", "share", "low", "high"])
    check_range("target", target)
    check_share("least", least)
    if table.duplicated(["title", "n_units"]).any():
        raise InputError("table", "must have each condition once for a number of units")
    titles, sizes = list(dict.fromkeys(table["title"])), sorted(table["n_units"].unique())
    ax = one_panel(ax, width=7.2, height=0.38 * len(titles) + 1.1)
    ax.axvspan(*target, color=_NARROW, linewidth=0, zorder=0)
    level = table["level"].iloc[0]
    ax.axvline(level, **REFERENCE, zorder=1)
    colours = colours_of("n_items", sizes)
    for k, n in enumerate(sizes):
        rows = table[table["n_units"] == n]
        y = np.array([titles.index(title) for title in rows["title"]]) + (k - (len(sizes) - 1) / 2) * 0.8 / len(sizes)
        rows = rows.assign(share=rows["share"].clip(lower=least))
        dots(ax, y, rows, "share", across=True, fmt="o", markersize=3.2, elinewidth=0.8, color=colours[n],
             label=f"{n:,} units")  # fmt: skip
    ax.set_yticks(range(len(titles)), [label(title, 120) for title in titles])
    ax.set(xlim=(least - 0.004, 1.002), ylim=(len(titles) - 0.4, -0.6))
    ax.set_xlabel(f"share of {100 * level:g} % intervals that hold the true gain")
    ax.xaxis.set_major_locator(MultipleLocator(0.05))
    in_percents(ax.xaxis)
    ax.grid(axis="y", visible=False)
    ax.legend(loc="upper left")
    return ax


@styled
def power_curves(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The power of each test by the number of units.

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
    _check_tests(table)
    ax = one_panel(ax)
    ax.axhline(0.8, **REFERENCE, zorder=1)
    for test, rows in table.groupby("test", sort=False):
        _draw_test(ax, str(test), rows.sort_values("n_units"))
    _by_units(ax, table["n_units"])
    ax.set(ylim=(-0.02, 1.02), xlabel="units", ylabel="power")
    in_percents(ax.yaxis)
    ax.legend(loc="lower right")
    return ax


@styled
def exaggeration(table: pd.DataFrame, *, most: float = 8.0, ax: Axes | None = None) -> Axes:
    """The mean significant gain over the true gain (type M error), by the power of the test.

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
        raise InputError("most", "must be a finite number above 1", most)
    table = table[table["type_m"].notna()]
    if table.empty:
        raise InputError("table", "must have a type_m in some row")
    ax = one_panel(ax)
    ax.axhline(1, **REFERENCE, zorder=1)
    views = list(dict.fromkeys(table["view"]))
    colours = colours_of("view", views)
    for k, view in enumerate(views):
        rows = table[table["view"] == view].sort_values("share")
        reach = np.array([rows["type_m"] - rows["type_m_low"], rows["type_m_high"] - rows["type_m"]])
        ax.errorbar(rows["share"], rows["type_m"], reach, fmt=f"{_MARKERS[k % len(_MARKERS)]}-", markersize=3,
                    linewidth=0.9, elinewidth=0.8, color=colours[view], label=label(view, 60))  # fmt: skip
    ax.set(xlim=(0, 1.01), ylim=(0.9, float(most)), yscale="log", xlabel="power", ylabel="significant gain / true gain")
    ticks = [tick for tick in (1, 1.5, 2, 3, 4, 6, 8, 12, 16) if tick <= most]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    in_percents(ax.xaxis)
    ax.legend(loc="upper right")
    return ax


def _check_tests(table: pd.DataFrame, *more: str) -> None:
    check_table("table", table, ["test", "n_units", *more, "share", "low", "high"])
    if table.duplicated(["test", "n_units"]).any():
        raise InputError("table", "must be of one condition and alternative, each test once for a number of units")


def _draw_test(ax: Axes, test: str, rows: pd.DataFrame) -> None:
    """A test's line of shares over the number of units, always in the same colour."""
    colour, marker, width, order = _TESTS.get(test, _OTHER)
    dots(ax, rows["n_units"], rows, "share", fmt=f"{marker}-", markersize=4, linewidth=width, elinewidth=0.9,
         color=colour, alpha=0.55 if width > 3 else 1, zorder=order, label=label(test))  # fmt: skip


def _by_units(ax: Axes, units: Sequence[int] | pd.Series) -> None:
    """A logarithmic axis with a tick at each number of units that has room."""
    ax.set_xscale("log")
    ticks: list[int] = []
    for n in sorted(set(units)):
        if not ticks or n > 1.6 * ticks[-1]:
            ticks.append(int(n))
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
