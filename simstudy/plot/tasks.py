"""The figure of several tasks: the gain on each of them, and the averages below."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from simstudy.plot.parts import REFERENCE, dots, one_panel, unit
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label

# Inches: a row, a letter of a name, the gains.
_ROW, _LETTER, _GAINS = 0.22, 0.072, 3.4

# The two hypotheses have the same order and colours everywhere (Okabe and Ito 2008).
_COLOURS = ("#0072B2", "#D55E00")


@styled
def gain_by_task(by_task: pd.DataFrame, averages: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The gain of one pair of systems on each task, the largest first, and its averages below, with intervals.

    Parameters
    ----------
    by_task, averages
        Tables of `simstudy.across_tasks`, for one pair of systems.
    ax
        Where to draw; by default a new figure that is large enough.

    Raises
    ------
    ValueError
        If a column or all rows are missing, or there are several pairs of systems.

    Examples
    --------
    >>> pair = {"system_a": "new", "system_b": "old", "metric": "accuracy"}
    >>> by_task = pd.DataFrame([pair | {"task": "law", "gain": 2.0, "gain_low": 0.5, "gain_high": 3.5},
    ...                         pair | {"task": "code", "gain": 4.0, "gain_low": 1.0, "gain_high": 7.0}])
    >>> averages = pd.DataFrame([pair | {"average": "macro", "hypothesis": "these tasks", "gain": 3.0,
    ...                                  "gain_low": 1.3, "gain_high": 4.7}])
    >>> [tick.get_text() for tick in gain_by_task(by_task, averages).get_yticklabels()]
    ['code', 'law', 'macro, these tasks']
    """
    pair, interval = ["system_a", "system_b"], ["gain", "gain_low", "gain_high"]
    check_table("by_task", by_task, ["task", "metric", *pair, *interval])
    check_table("averages", averages, ["average", "hypothesis", *pair, *interval])
    if len(by_task[pair].drop_duplicates()) > 1:
        raise ValueError("by_task must be of one pair of systems")
    tasks = by_task.sort_values("gain", ascending=False, kind="stable")
    names = [label(task) for task in tasks["task"]]
    names += [f"{label(row.average)}, {row.hypothesis}" for row in averages.itertuples()]
    ax = one_panel(ax, width=_GAINS + _LETTER * max(map(len, names)), height=1.0 + _ROW * (len(names) + 1))
    ends = "gain_"
    places = range(len(tasks))
    ax.axvline(0, **REFERENCE)
    dots(ax, places, tasks, "gain", ends=ends, across=True, fmt="o", markersize=4, linewidth=1.1, color="0.35")
    # A gap sets the averages apart.
    below = [len(tasks) + 0.5 + place for place in range(len(averages))]
    for k, hypothesis in enumerate(dict.fromkeys(averages["hypothesis"])):
        mine = (averages["hypothesis"] == hypothesis).to_numpy()
        at = [place for place, own in zip(below, mine, strict=True) if own]
        dots(ax, at, averages[mine], "gain", ends=ends, across=True, fmt="D", markersize=5, linewidth=1.6,
             color=_COLOURS[k % len(_COLOURS)], label=hypothesis)  # fmt: skip
    ax.axhline(len(tasks) - 0.25, color="0.8", linewidth=0.8)
    ax.set_yticks([*places, *below], names)
    ax.set(ylim=(below[-1] + 0.6 if below else len(tasks), -0.6))
    first, second = (label(tasks[name].iloc[0]) for name in pair)
    ax.set_xlabel(f"gain of {first} over {second} ({unit(tasks)})")
    ax.grid(visible=False, axis="y")
    return ax
