"""The figure of several tasks: the gain on each of them, and the averages below."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from simstudy.plot.parts import REFERENCE, dots, one_panel, unit
from simstudy.plot.rows import name_rows, rows_of
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label
from simstudy.validation import InputError

#: The hypothesis of rows of one task.
SINGLE_TASK = "single task"

# Inches: a row, the gains.
_ROW, _GAINS = 0.22, 3.4

# The two hypotheses have the same order and colours everywhere (Okabe and Ito 2008).
_COLOURS = ("#0072B2", "#D55E00")


@styled
def gain_by_task(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The gain of one pair of systems on each task, the largest first, and averages below, with intervals.

    Parameters
    ----------
    table
        What `AcrossTasks.gains` returns for one pair: a row for each task, whose hypothesis is "single
        task", and a row for each average and hypothesis.
    ax
        Where to draw; by default a new figure that is large enough.

    Raises
    ------
    ValueError
        If a column or all rows are missing, or there are several pairs of systems.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["law", "code", "macro"], "metric": "accuracy",
    ...                       "hypothesis": ["single task", "single task", "these tasks"],
    ...                       "system_a": "new", "system_b": "old", "gain": [2.0, 4.0, 3.0],
    ...                       "gain_low": [0.5, 1.0, 1.3], "gain_high": [3.5, 7.0, 4.7]})
    >>> [tick.get_text() for tick in gain_by_task(table).get_yticklabels()]
    ['code', 'law', 'macro, these tasks']
    """
    pair = ["system_a", "system_b"]
    check_table("table", table, ["name", "hypothesis", "metric", *pair, "gain", "gain_low", "gain_high"])
    if len(table[pair].drop_duplicates()) > 1:
        raise InputError("table", "must be of one pair of systems")
    single = table["hypothesis"] == SINGLE_TASK
    tasks = table[single].sort_values("gain", ascending=False, kind="stable")
    averages = table[~single]
    names = [label(name) for name in tasks["name"]]
    names += [f"{label(row.name)}, {row.hypothesis}" for row in averages.itertuples(index=False)]
    named = rows_of(names, usual=_ROW)
    ax = one_panel(ax, width=_GAINS + named.name_width, height=1.0 + named.all_heights + named.height, rows=True)
    places = list(range(len(tasks)))
    ax.axvline(0, **REFERENCE)
    dots(ax, places, tasks, "gain", ends="gain_", across=True, fmt="o", markersize=4, linewidth=1.1, color="0.35")
    # A gap sets the averages apart.
    below = [len(tasks) + 0.5 + place for place in range(len(averages))]
    for k, hypothesis in enumerate(dict.fromkeys(averages["hypothesis"])):
        mine = (averages["hypothesis"] == hypothesis).tolist()
        at = [place for place, own in zip(below, mine, strict=True) if own]
        dots(ax, at, averages[mine], "gain", ends="gain_", across=True, fmt="D", markersize=5, linewidth=1.6,
             color=_COLOURS[k % len(_COLOURS)])  # fmt: skip
    if below:
        ax.axhline(len(tasks) - 0.25, color="0.8", linewidth=0.8)
    name_rows(ax, [*places, *below], named)
    ax.set(ylim=((below or places)[-1] + 0.6, -0.6))
    first, second = (label(table[name].iloc[0]) for name in pair)
    ax.set_xlabel(f"gain of {first} over {second} ({unit(table)})")
    ax.grid(visible=False, axis="y")
    return ax
