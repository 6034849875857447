"""Figures of several samples of a question: standard errors by the number of samples, and where they stop to fall."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from simstudy.plot.parts import colours_of, log_ticks, one_panel
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label, shown

# Lines that a panel can tell apart.
_MOST_LINES = 6


@styled
def noise_curve(curve: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The standard error by the number of samples of a question, a line for each system or pair, with its floor.

    Parameters
    ----------
    curve
        What `simstudy.comparisons.noise_curve` returns: columns samples, se and floor, and system or system_a and
        system_b. The first six systems or pairs are drawn.

    Raises
    ------
    ValueError
        Where a column or all rows are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> import simstudy as ss
    >>> table = pd.DataFrame({"system": ["a"], "se_between": [3.0], "se_one": [5.0]})
    >>> noise_curve(ss.comparisons.noise_curve(table)).get_xlabel()
    'samples of each question'
    """
    check_table("curve", curve, ["samples", "se", "floor"])
    ax = one_panel(ax)
    keys = [name for name in ("system", "system_a", "system_b") if name in curve]
    groups = list(curve.groupby(keys, sort=False))[:_MOST_LINES] if keys else [((), curve)]
    colours = colours_of("noise", [names for names, _ in groups])
    for names, rows in groups:
        rows, colour = rows.sort_values("samples"), colours[names]
        said = label(" / ".join(shown(name) for name in names)) if names else ""
        ax.plot(rows["samples"], rows["se"], marker="o", markersize=3.5, color=colour, label=said)
        ax.axhline(rows["floor"].iloc[0], color=colour, linestyle="--", linewidth=0.9)
    what = "gain" if "system_a" in curve else "score"
    ax.set(xscale="log", ylim=(0, None), xlabel="samples of each question", ylabel=f"standard error of the {what}")
    log_ticks(ax.xaxis, (1, 2, 5), ",.0f", minor=True)
    if keys:
        ax.legend(loc="upper right")
    return ax
