"""What the command prints of several tasks, and the tables of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from simstudy.loaders.base import counted
from simstudy.pages.sections import Table
from simstudy.suites.contributions import LIKE_THESE, THESE
from simstudy.suites.sentences import digits
from simstudy.text.plain_text import shown
from simstudy.text.printing import Printer

if TYPE_CHECKING:
    from simstudy.suites.across import AcrossTasks

# Lines of a screen, tasks that are columns of it, and the least number of rows.
_LINES, _COLUMNS, _LEAST = 25, 8, 4


def show(
    found: AcrossTasks, printer: Printer, notes: Sequence[str], facts: Mapping[str, str], *, verbose: bool = False
) -> None:
    """Print the answer and the table by task, as many rows as a screen has; everything if `verbose`."""
    two = found.outputs.n_systems == 2
    for text in found.sentences:
        printer.line(text)
    rows = (task_rows(found) if two else system_rows(found, verbose=verbose)).text()
    averages = average_rows(found, found.averages if verbose else _others(found)).text() if two else pd.DataFrame()
    # Each table has an empty line, a title and a header; a line says what is not shown, and one is empty.
    used = len(found.sentences) + 3 + (3 + len(averages) if len(averages) else 0) + 2 + len(notes) + len(facts)
    most = len(rows) if verbose else max(_LEAST, _LINES - used)
    printer.table(_title(found), rows.head(most))
    if len(averages):
        printer.table("Averages" if verbose else "Other averages", averages)
    if facts or notes:
        printer.line("")
    printer.facts(facts)
    for text in notes:
        printer.line(text)
    left = max(0, len(rows) - most)
    if left:
        what = "task" if two else "system"
        printer.line(f"Not shown: {counted(left, what)}. --verbose prints them, --out DIR writes them.")


def _others(found: AcrossTasks) -> pd.DataFrame:
    """The averages that the answer does not tell of, as many as there is room for."""
    return found.averages[found.averages["average"] != found.average].head(_LEAST)


def _title(found: AcrossTasks) -> str:
    level = f"{100 * (1 - found.alpha):g} %"
    if found.outputs.n_systems == 2:
        one = found.by_task.iloc[0]
        pair = f"{shown(one['system_a'])} over {shown(one['system_b'])}"
        return f"Gain of {pair} on each task ({found.by}; {level} intervals)"
    kinds = f"{level} intervals; ranks: {level} confidence for all at once"
    return f"Systems and their scores on each task ({found.by}; {kinds})"


def task_rows(found: AcrossTasks) -> Table:
    """A row for each task of two systems, the largest gain first."""
    form = digits(found)
    rows = found.by_task.sort_values("gain", ascending=False, kind="stable")
    one = rows.iloc[0]
    return Table(
        rows,
        {
            "task": "{task:name}",
            **({"score is": "{scored_by:name}"} if "scored_by" in rows else {}),
            "items": "{n_items:,}",
            shown(one["system_a"]): f"{{score_a:{form}}}",
            shown(one["system_b"]): f"{{score_b:{form}}}",
            "gain": f"{{gain:{form}}}",
            "interval": f"[{{gain_low:{form}}} to {{gain_high:{form}}}]",
            "p (uncorrected)": "{p_value:p}",
        },
    )


def average_rows(found: AcrossTasks, averages: pd.DataFrame) -> Table:
    """A row for each average and hypothesis of two systems."""
    form = digits(found)
    return Table(
        averages,
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
    names = found.by_task.drop_duplicates("task").set_index("task").get("scored_by")
    for t, task in enumerate(shown_tasks):
        rows[f"task_{t}"] = wide.loc[rows["system"], task].to_numpy()
        columns[shown(task) if names is None else f"{shown(task)} ({shown(names[task])})"] = f"{{task_{t}:{form}}}"
    return Table(rows, columns)
