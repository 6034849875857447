"""Figures of a plan: power and minimum detectable gain by the size of the test set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from simstudy.plot.parts import REFERENCE, colours_of, in_percents, log_ticks, one_panel, unit
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label
from simstudy.validation import check_fraction, check_text

_POWER = ["relation", "n_items", "power", "power_low", "power_high"]
_GAIN = ["relation", "n_items", *("minimum_detectable_gain" + end for end in ("", "_low", "_high"))]


@styled
def planned_power(
    curve: pd.DataFrame,
    answers: pd.DataFrame | None = None,
    *,
    power: float = 0.8,
    counted: str = "items",
    ax: Axes | None = None,
) -> Axes:
    """The power to detect a true gain by the number of items, a line for each relation, with its range.

    Parameters
    ----------
    curve
        Columns relation, n_items, power, power_low and power_high (fractions), such as ``Plan.power_curve()``.
    answers
        ``Plan.answers``: the planned number of items is marked.
    power
        Where a line is drawn.
    counted
        What ``n_items`` counts, for the axis: "questions" where each has several samples.

    Raises
    ------
    ValueError
        Where a column or all rows are missing.

    Examples
    --------
    >>> import simstudy as ss
    >>> plan = ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=80, agreement=0.9))
    >>> planned_power(plan.power_curve(), plan.answers).get_ylabel()
    'power to detect a gain of 2'
    """
    check_table("curve", curve, _POWER)
    check_fraction("power", power)
    check_text("counted", counted, "a noun in the plural")
    ax = one_panel(ax)
    ax.axhline(power, **REFERENCE, zorder=1)
    colours = _lines(ax, curve, "power")
    if answers is not None:
        check_table("answers", answers, ["relation", "n_items", "goal"])
        planned = answers.loc[answers["goal"] == "better", ["relation", "n_items"]].to_numpy()
        # One below the other: sizes may be nearly the same.
        for k, (relation, n_items) in enumerate(planned):
            if relation in colours and np.isfinite(n_items):
                ax.plot([n_items], [power], "o", color=colours[relation], markersize=5)
                ax.annotate(f"{n_items:,.0f}", (n_items, power), xytext=(5, -10 - 10 * k), textcoords="offset points",
                            fontsize=8, color=colours[relation])  # fmt: skip
    gains: list[float] = curve["gain"].unique().tolist() if "gain" in curve else []
    of = f" to detect a gain of {gains[0]:g}" if len(gains) == 1 else ""
    ax.set(xscale="log", ylim=(0, 1.02), xlabel=counted, ylabel=f"power{of}")
    _whole_numbers(ax)
    in_percents(ax.yaxis)
    if len(colours) > 1:
        ax.legend(loc="lower right")
    return ax


@styled
def planned_gains(sizes: pd.DataFrame, *, counted: str = "items", ax: Axes | None = None) -> Axes:
    """The minimum detectable gain by the number of items, a line for each relation, with its range.

    Parameters
    ----------
    sizes
        ``Plan.sizes``: columns relation, n_items, metric, and on the metric's scale minimum_detectable_gain,
        minimum_detectable_gain_low and minimum_detectable_gain_high.
    counted
        What ``n_items`` counts, for the axis: "questions" where each has several samples.

    Raises
    ------
    ValueError
        Where a column or all rows are missing.

    Examples
    --------
    >>> import simstudy as ss
    >>> plan = ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=80, agreement=0.9))
    >>> planned_gains(plan.sizes).get_ylabel()
    'minimum detectable gain (accuracy, points)'
    """
    check_table("sizes", sizes, _GAIN)
    check_text("counted", counted, "a noun in the plural")
    ax = one_panel(ax)
    known = sizes[sizes["minimum_detectable_gain"].notna()]
    colours = _lines(ax, known, "minimum_detectable_gain", marker="o", markersize=3.5)
    of = f" ({unit(sizes)})" if "metric" in sizes else ""
    ax.set(xscale="log", yscale="log", xlabel=counted, ylabel=f"minimum detectable gain{of}")
    _whole_numbers(ax)
    log_ticks(ax.yaxis, (1, 2, 5), minor=True)
    if len(colours) > 1:
        ax.legend(loc="upper right")
    return ax


def _lines(ax: Axes, table: pd.DataFrame, name: str, **style: Any) -> dict[Any, str]:
    """Draw a number by items, a line a relation with its range shaded; the colours of the relations."""
    colours = _colours(table)
    for relation, rows in table.groupby("relation", sort=False):
        rows, colour = rows.sort_values("n_items"), colours[relation]
        ax.fill_between(rows["n_items"], rows[f"{name}_low"], rows[f"{name}_high"], color=colour, alpha=0.16, lw=0)
        ax.plot(rows["n_items"], rows[name], color=colour, label=label(relation), **style)
    return colours


def _colours(table: pd.DataFrame) -> dict[Any, str]:
    found = list(dict.fromkeys(table["relation"]))
    # A plan's own relations, and relation classes, have the colours that the classes have elsewhere.
    as_classes = {
        "variants": "same ",
        "different families": "different ",
        "from guesses": "different ",
        "two systems": "different ",
    }
    colours = colours_of("relation", [as_classes.get(relation, relation) for relation in found])
    return {relation: colours[as_classes.get(relation, relation)] for relation in found}


def _whole_numbers(ax: Axes) -> None:
    log_ticks(ax.xaxis, (1, 2, 5), ",.0f", minor=True)
    ax.tick_params(axis="x", labelrotation=30)
