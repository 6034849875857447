"""The figures: rates, power and coverage by condition, whether p-values are uniform, and which test to use when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss

from .tables import FAILS, FIRST, KEEPS, NEARLY

# What a test is worth in a situation, from good to bad: the colour of its cell.
_VERDICTS = {FIRST: "#a6cde8", KEEPS: "#e3eff8", NEARLY: "#fdebc8", FAILS: "#f0a878"}
_LEGEND = {NEARLY: "nearly keeps its level", FAILS: "rejects too often"}

_SITUATIONS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def draw_rates(rates: pd.DataFrame, aims: Mapping[str, Any]) -> Any:
    """A panel for each condition, with the rates of some tests over the number of units; all panels to one height."""
    most = max(0.25, np.ceil(20 * rates["share"].max()) / 20)
    draw = partial(ss.plot.error_rates, target=aims["target"], liberal=aims["liberal"], most=most)
    return _panels(rates, "view", draw, per_row=4, width=2.7)


def draw_uniformity(quantiles: pd.DataFrame) -> Any:
    """A panel for each test, with a line for each condition."""
    return _panels(quantiles, "test", ss.plot.styled(uniformity), per_row=3, width=3.3, height=2.4)


def draw_power(found: pd.DataFrame) -> Any:
    """A panel for each condition with a gain."""
    return _panels(found, "view", ss.plot.power_curves, per_row=4, width=2.9)


def _panels(
    table: pd.DataFrame, by: str, draw: Callable[..., Any], *, per_row: int, width: float, height: float = 2.3
) -> Any:
    """A panel for each value of a column, and one legend."""
    views = {str(view): rows for view, rows in table.groupby(by, sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=min(per_row, len(views)), width=width, height=height)
    for ax, rows in zip(axes, views.values(), strict=True):
        draw(rows, ax=ax)
    ss.plot.share_legend(figure, axes)
    return figure


def uniformity(table: pd.DataFrame, *, ax: Any) -> Any:
    """The share of p-values at or below each level, less the level; a line for each condition of one test and size.

    The table has the columns condition, situation (conditions of one have the same colour), alpha, n_sets and excess.
    The band is where 95 % of single shares lie if p-values are uniform (normal, with the test sets of the smallest
    condition). Lines leave it upwards for tests that reject too often, downwards for those of few distinct p-values.
    """
    if table.duplicated(["condition", "alpha"]).any():
        raise ValueError("table must be of one test and size, each condition once for a level")
    level = np.geomspace(table["alpha"].min(), 1, 200)
    band = 1.96 * np.sqrt(level * (1 - level) / table["n_sets"].min())
    ax.fill_between(level, -band, band, color="0.87", linewidth=0, zorder=0)
    ax.axhline(0, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    situations = list(dict.fromkeys(table["situation"]))
    for _, rows in table.groupby("condition", sort=False):
        rows, situation = rows.sort_values("alpha"), rows["situation"].iloc[0]
        colour = _SITUATIONS[situations.index(situation) % len(_SITUATIONS)]
        ax.plot(rows["alpha"], rows["excess"], color=colour, linewidth=0.9, label=situation)
    ax.set(xscale="log", ylim=(-0.05, 0.05), xlabel="level", ylabel="share - level")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    named = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    ax.legend(named.values(), named.keys(), loc="lower left")
    return ax


def draw_choices(table: pd.DataFrame) -> Any:
    """A row for each test, a column for each situation and size."""
    tests, columns = table["test"].nunique(), len(table[["situation", "sizes"]].drop_duplicates())
    return ss.plot.single(ss.plot.styled(cells), table, width=1.6 + 0.62 * columns, height=1.5 + 0.34 * tests)


def cells(table: pd.DataFrame, *, ax: Any) -> Any:
    """Which test when: the colour of a cell is the test's verdict, the number its power, if it is known.

    The table has the columns situation, sizes, test, verdict and power.
    """
    # Imported here, so that processes that only compute do not wait for matplotlib.
    from matplotlib.patches import Patch, Rectangle

    if wrong := set(table["verdict"]) - set(_VERDICTS):
        raise ValueError(f"verdict must be one of {', '.join(_VERDICTS)}, not '{min(wrong)}'")
    if table.duplicated(["situation", "sizes", "test"]).any():
        raise ValueError("table must have a test once for a situation and size")
    tests = list(dict.fromkeys(table["test"]))
    at = list(zip(table["situation"], table["sizes"], strict=True))
    columns = list(dict.fromkeys(at))
    for column, test, verdict, power in zip(at, table["test"], table["verdict"], table["power"], strict=True):
        x, y, first = columns.index(column), tests.index(test), verdict == FIRST
        ax.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, facecolor=_VERDICTS[verdict],
                               edgecolor="#0072B2" if first else "none", linewidth=1.6))  # fmt: skip
        text = f"{100 * power:.0f}" if np.isfinite(power) else ""
        ax.text(x, y, text, ha="center", va="center", fontsize=8, fontweight="bold" if first else "normal")
    starts = [k for k, (situation, _) in enumerate(columns) if k == 0 or columns[k - 1][0] != situation]
    for start, end in zip(starts, [*starts[1:], len(columns)], strict=True):
        ax.text((start + end - 1) / 2, -0.8, columns[start][0], ha="center", va="bottom", fontsize=9)
        if start:
            ax.axvline(start - 0.5, color="0.6", linewidth=0.8)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(tests) - 0.5, -0.6), xlabel="units")
    ax.set_xticks(range(len(columns)), [sizes for _, sizes in columns], rotation=35, ha="right")
    ax.set_yticks(range(len(tests)), tests)
    ax.grid(visible=False)
    handles = [
        Patch(facecolor=colour, edgecolor="none", label=_LEGEND.get(verdict, verdict))
        for verdict, colour in _VERDICTS.items()
    ]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def draw_exaggeration(default: pd.DataFrame) -> Any:
    """Type M over power, a line a condition."""
    return ss.plot.single(ss.plot.exaggeration, default, width=6.4, height=4.2)


def draw_coverage(covered: pd.DataFrame, aims: Mapping[str, Any]) -> Any:
    """A row for each condition and unit."""
    rows, height = covered.assign(title=covered["view"]), 0.4 * covered["view"].nunique() + 1
    return ss.plot.single(ss.plot.coverage, rows, target=aims["coverage"], width=7.6, height=height, legend_aside=True)
