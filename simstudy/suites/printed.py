"""What the command prints of several tasks, and the tables of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from simstudy.pages.sections import Table
from simstudy.suites.contributions import LIKE_THESE, THESE
from simstudy.suites.sentences import digits
from simstudy.text.plain_text import shown
from simstudy.text.printing import Printer

if TYPE_CHECKING:
    from simstudy.suites.across import AcrossTasks

# Lines of a screen without the answer, tasks that are columns of it, and the least number of rows.
_LINES, _COLUMNS, _LEAST = 17, 8, 5


def show(found: AcrossTasks, printer: Printer, *, verbose: bool = False) -> None:
    """Print the answer and the table by task, as many rows as a screen has; everything if `verbose`."""
    for text in found.sentences:
        printer.line(text)
    rows = (task_rows(found) if found.outputs.n_systems == 2 else system_rows(found, verbose=verbose)).text()
    averages = average_rows(found).text() if found.outputs.n_systems == 2 else None
    below = 0 if averages is None else len(averages)
    most = len(rows) if verbose else max(_LEAST, _LINES - len(found.sentences) - below)
    printer.table(_title(found), rows.head(most))
    if averages is not None:
        printer.table("Averages", averages)
    left = len(rows) - most
    if left > 0:
        what = "tasks" if found.outputs.n_systems == 2 else "systems"
        printer.line(f"Not shown: {left} {what}. --verbose prints them, --out DIR writes them.")


def _title(found: AcrossTasks) -> str:
    level = f"{100 * (1 - found.alpha):g} %"
    if found.outputs.n_systems == 2:
        one = found.by_task.iloc[0]
        return f"Gain of {shown(one['system_a'])} over {shown(one['system_b'])} by {found.by} ({level} intervals)"
    return f"Systems by {found.by} ({level} intervals; ranks: {level} confidence for all at once)"


def task_rows(found: AcrossTasks) -> Table:
    """A row for each task of two systems, the largest gain first."""
    form = digits(found)
    rows = found.by_task.sort_values("gain", ascending=False, kind="stable")
    one = rows.iloc[0]
    return Table(
        rows,
        {
            "task": "{task:name}",
            "items": "{n_items:,}",
            shown(one["system_a"]): f"{{score_a:{form}}}",
            shown(one["system_b"]): f"{{score_b:{form}}}",
            "gain": f"{{gain:{form}}}",
            "interval": f"[{{gain_low:{form}}} to {{gain_high:{form}}}]",
            "p": "{p_value:p}",
        },
    )


def average_rows(found: AcrossTasks) -> Table:
    """A row for each average and hypothesis of two systems."""
    form = digits(found)
    return Table(
        found.averages,
        {
            "average": "{average:name}",
            "null hypothesis": "{hypothesis}",
            "tasks": "{n_tasks}",
            "units": "{n_units:,}",
            "gain": f"{{gain:{form}}}",
            "interval": f"[{{gain_low:{form}}} to {{gain_high:{form}}}]",
            "p": "{p_value:p}",
            "p (t)": "[{p_t:p}]",
        },
    )


def system_rows(found: AcrossTasks, *, verbose: bool = False) -> Table:
    """A row for each system: its average, its ranks under both hypotheses, and its score on each task."""
    form = digits(found)
    boards = found.leaderboard[found.leaderboard["average"] == found.average]
    these, like = (boards[boards["hypothesis"] == name].set_index("system") for name in (THESE, LIKE_THESE))
    rows = these.reset_index()
    wide = found.scores.pivot_table(index="system", columns="task", values="score", sort=False)
    tasks = list(found.main.tasks)
    shown_tasks = tasks if verbose or len(tasks) <= _COLUMNS else []
    columns = {
        "system": "{system:name}",
        found.average: f"{{score:{form}}}",
        "interval": f"[{{score_low:{form}}}–{{score_high:{form}}}]",
        "ranks, these": "{rank_low}–{rank_high}",
    }
    if len(like):
        of = like.loc[rows["system"]]
        rows = rows.assign(like_low=of["rank_low"].to_numpy(), like_high=of["rank_high"].to_numpy())
        columns["ranks, like these"] = "{like_low}–{like_high}"
    for t, task in enumerate(shown_tasks):
        rows[f"task_{t}"] = wide.loc[rows["system"], task].to_numpy()
        columns[shown(task)] = f"{{task_{t}:{form}}}"
    return Table(rows, columns)


def without_rows(found: AcrossTasks) -> pd.DataFrame:
    """For each pair the task that drives its gain."""
    return found.without[found.without["drives"]] if len(found.without) else found.without
