"""Gains with their intervals, a line for each pair of systems."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from simstudy.plot.style import REFERENCE, dots, one_panel, sides, styled, unit
from simstudy.statistics.decisions import Decision
from simstudy.tables import check_table, require_one_question, require_one_table, takes_pairs
from simstudy.text import plain_text

# Inches: a pair's row, a letter of the names, the intervals.
_ROW, _LETTER, _INTERVALS = 0.22, 0.07, 4.2

# Colour-blind safe (Okabe and Ito 2008): significant, and not.
_SIGNIFICANT, _OTHER = "#0072B2", "0.55"


@takes_pairs
@styled
def gain_intervals(pairs: pd.DataFrame, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """Each pair's gain with its 95 % interval, the pairs from the top in the table's order.

    Parameters
    ----------
    pairs
        Comparisons; pairs without an interval are left out.
    alpha
        A fraction; gains that are significant at it (`simstudy.statistics.decisions.Decision`) are blue.
    ax
        Where to draw; by default a new figure that is large enough.

    Raises
    ------
    ValueError
        Where a column is missing, no pair has an interval, or alpha is no fraction.

    Examples
    --------
    >>> pairs = pd.DataFrame({"system_a": ["x"], "system_b": ["y"], "gain": [2.0], "gain_low": [-0.5],
    ...                       "gain_high": [4.5], "p_value": [0.11]})
    >>> [label.get_text() for label in gain_intervals(pairs).get_yticklabels()]
    ['x – y']
    """
    columns = ["system_a", "system_b", "gain", "gain_low", "gain_high", "p_value"]
    check_table("pairs", pairs, columns)
    require_one_table(pairs)
    require_one_question(pairs)
    decision = Decision(alpha)
    known = pairs[pairs["gain_low"].notna()]
    if known.empty:
        raise ValueError("pairs must have at least one interval; no unit tells any two systems apart")
    names = (known["system_a"].map(plain_text.label) + " – " + known["system_b"].map(plain_text.label)).tolist()
    ax = one_panel(ax, width=_INTERVALS + _LETTER * max(map(len, names)), height=1.1 + _ROW * len(names))
    significant = decision.significant(known)
    y = np.arange(len(known))
    for those, colour in ((significant, _SIGNIFICANT), (~significant, _OTHER)):
        style = {"fmt": "o", "markersize": 4, "linewidth": 1.2, "color": colour}
        dots(ax, y[those], known[those], "gain", ends="gain_", across=True, **style)
    ax.axvline(0, **REFERENCE)
    ax.set_yticks(y, names, fontsize=8)
    ax.set(ylim=(len(known) - 0.4, -0.6))
    ax.set_xlabel(f"gain ({unit(known)})" if "metric" in known else "gain")
    ax.tick_params(axis="y", length=0)
    significant_at = ", ".join(filter(None, (f"significant at {alpha:g}", sides(known))))
    handles = [
        Line2D([], [], color=colour, marker="o", markersize=4, linewidth=1.2, label=label)
        for colour, label in ((_SIGNIFICANT, significant_at), (_OTHER, "not significant"))
    ]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.08 - 0.5 / len(known)), ncols=2)
    return ax
