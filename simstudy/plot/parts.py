"""What several figures share: colours, lines that data are held against, intervals, axes and units.

A relation of systems has the same colour in all figures; sizes go from light to dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from simstudy.metrics import find_metric, label
from simstudy.metrics.mean import LOWER
from simstudy.plot.style import panels
from simstudy.text import plain_text
from simstudy.validation import InputError, brief, check_texts

#: How a line is drawn that the data are held against: a level, no gain.
REFERENCE: dict[str, Any] = {"color": "0.35", "linewidth": 0.8, "linestyle": (0, (4, 3))}

# Colour-blind safe (Okabe and Ito 2008): blue for the rule, vermilion for the specially correlated.
_RELATIONS = {
    "different ": "#0072B2",
    "same ": "#D55E00",
    "all pairs": "#444444",
    "system combinations": "#009E73",
    "combination and single system": "#CC79A7",
}

# Colour-blind safe too, for whatever else a column has.
_OTHERS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222", "#8C6D31"),
    # Two more that are unlike these: wine and grey.
    *("#882255", "#999999"),
)

# Sizes of which one is less than so many times the next have no room for both their numbers.
_APART = 1.25


def colours_among(by: str, values: Sequence[Any], among: Sequence[Any] | None) -> dict[Any, Any]:
    """A colour for each of the values, the same as in other panels, which have the values `among` together."""
    if among is None:
        return colours_of(by, values)
    check_texts("among", among, "names")
    listed = list(among)
    for value in values if listed else []:
        if value not in listed:
            raise InputError("among", f"must have every value of {by}, unlike {brief(listed)}, which lacks '{value}'")
    return colours_of(by, listed or values)


def colours_of(by: str, values: Sequence[Any]) -> dict[Any, Any]:
    """A colour for each of the values that a column has: relations keep theirs, sizes go from light to dark."""
    if by == "relation":
        return {value: relation_colour(value) for value in values}
    if by == "n_items":
        return dict(zip(sorted(values), sns.color_palette("viridis_r", len(values) + 1)[1:], strict=True))
    if len(values) <= len(_OTHERS):
        return dict(zip(values, _OTHERS, strict=False))
    return dict(zip(values, sns.color_palette("husl", len(values)), strict=True))


def relation_colour(relation: str) -> str:
    """The colour of a relation class, which is the same in all figures."""
    return next((colour for start, colour in _RELATIONS.items() if relation.startswith(start)), "#999999")


def one_panel(ax: Axes | None, *, height: float = 3.4, width: float = 4.4, rows: bool = False) -> Axes:
    """Where a figure's function draws: what it was given, or a new figure of this size, which is one of rows."""
    return ax or panels([""], height=height, width=width, rows_are_high=rows)[1][0]


def dots(
    ax: Axes, at: Any, rows: pd.DataFrame, value: str, *, ends: str = "", across: bool = False, **style: Any
) -> None:
    """Draw values with their intervals, if they have any: over these places, or across at these heights.

    The columns of the intervals' ends are `ends` with "low" and "high". A value that is beyond one of its ends, as
    that of another estimate may be, has no arm there.
    """
    low, high = rows[f"{ends}low"], rows[f"{ends}high"]
    reach = np.array([(rows[value] - low).clip(lower=0), (high - rows[value]).clip(lower=0)])
    if across:
        ax.errorbar(rows[value], at, xerr=reach, **style)
    else:
        ax.errorbar(at, rows[value], reach, **style)


def sides(table: pd.DataFrame) -> str:
    """Whether the table's p-values are one-sided or two-sided, for a figure; empty where it does not say one."""
    found = table["alternative"].unique().tolist() if "alternative" in table else []
    return str(found[0]).replace("greater", "one-sided") if len(found) == 1 else ""


def in_percents(axis: Axis) -> None:
    """Write the ticks of an axis of fractions as percents, with the decimals that they have: 92.5%, not 92%."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g}%"))


def with_room(sizes: Sequence[int] | pd.Series[int]) -> list[int]:
    """Those of the sizes, from the largest on, whose numbers have room beside each other on a logarithmic axis."""
    kept: list[int] = []
    for size in sorted(sizes, reverse=True):
        if not kept or kept[-1] >= _APART * size:
            kept.append(int(size))
    return kept


def log_ticks(axis: Axis, subs: Sequence[float], form: str = "g", *, minor: bool = False) -> None:
    """Ticks of a logarithmic axis at these multiples of the powers of ten, as plain numbers."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: format(value, form)))
    if minor:
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_minor_locator(NullLocator())


def unit(table: pd.DataFrame) -> str:
    """The unit of the table's gains, for an axis: a gain is above 0 whichever end of the scores is better."""
    return _metric_name(table) + (", points" if in_percent(table) else "")


def score_unit(table: pd.DataFrame) -> str:
    """The unit of the table's scores, for an axis."""
    return _metric_name(table) + (", %" if in_percent(table) else "")


def _metric_name(table: pd.DataFrame) -> str:
    metric = str(table["metric"].iloc[0]) if "metric" in table else ""
    return plain_text.label(label(metric).removesuffix(LOWER))


def in_percent(table: pd.DataFrame) -> bool:
    """Whether all scores of a table are in percent, so that gains are in points: it says so, or its metrics do."""
    if "metric_unit" in table:
        return bool((table["metric_unit"] == "percent").all())
    found = [find_metric(str(name)) for name in table["metric"].unique()] if "metric" in table else []
    return bool(found) and all(metric is not None and metric.unit == "percent" for metric in found)


def better_end(best_first: pd.Series[float]) -> str:
    """For an axis of scores, given best first: a remark where lower is better."""
    first, last = float(best_first.iloc[0]), float(best_first.iloc[-1])
    # Scores that tie may differ in their last bits.
    return ", lower is better" if last - first > 1e-9 * max(abs(first), abs(last)) else ""
