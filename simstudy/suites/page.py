"""The sections of a page on several tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from simstudy import plot
from simstudy.pages import charts
from simstudy.pages.sections import Chart, Figure, Section, Table
from simstudy.suites.averages import THESE
from simstudy.suites.printed import average_rows, system_rows, task_rows
from simstudy.suites.sentences import digits
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.suites.comparing import AcrossTasks

# Rows of a table that a page in Markdown shows; the CSV has all. Systems of a figure.
_MOST_ROWS, _MOST_SYSTEMS = 60, 60

HOW = (
    "These tasks: the tasks are fixed, items are resampled within each task, and variances of tasks add up. Tasks like "
    "these: the tasks are a sample of tasks, and each is one unit; benchmarks are seldom such a sample. p is of sign "
    "flips, p (t) of Student's t test, whose interval is shown."
)


def task_sections(found: AcrossTasks) -> list[Section]:
    """The answer and the averages, the table by task, and for two systems what each task does to the gain."""
    two = found.outputs.n_systems == 2
    rows = average_rows(found, found.averages) if two else system_rows(found, verbose=True)
    answer = Section(
        "Several tasks",
        " ".join([*found.sentences, HOW]),
        figure=_gains(found) if two else _ranks(found),
        table=_head(rows),
        on_screen=lambda: (HOW, rows),
    )
    if not two:
        return [answer]
    n_tasks = found.by_task["task"].nunique()
    text = f"Each task separately, with two-sided p-values that are not corrected for the {n_tasks} tasks."
    return [answer, Section("By task", text, table=_head(task_rows(found))), *_without(found)]


def _gains(found: AcrossTasks) -> Figure:
    """The gain on each task and of the averages."""

    def chart() -> Chart:
        # Matplotlib waits until something is drawn.
        from simstudy.plot.tasks import SINGLE_TASK

        rows, form = found.gains(), digits(found)
        single = rows["hypothesis"] == SINGLE_TASK
        rows = pd.concat([rows[single].sort_values("gain", ascending=False, kind="stable"), rows[~single]])
        single = rows["hypothesis"] == SINGLE_TASK
        names = [
            shown(name) if alone else f"{shown(name)}, {hypothesis}"
            for name, alone, hypothesis in zip(rows["name"], single, rows["hypothesis"], strict=True)
        ]
        table = pd.DataFrame(
            {
                "name": names,
                "gain": rows["gain"].to_numpy(),
                "low": rows["gain_low"].to_numpy(),
                "high": rows["gain_high"].to_numpy(),
                "marked": (~single).to_numpy(),
                "title": [format(gain, form) for gain in rows["gain"]],
            }
        )
        a, b = (shown(rows[name].iloc[0]) for name in ("system_a", "system_b"))
        return charts.intervals(table, x=f"gain of {a} over {b}", key=("averages of tasks", "single tasks"))

    return Figure("gain_by_task", lambda: plot.gain_by_task(found.gains()), chart=chart)


def _ranks(found: AcrossTasks) -> Figure:
    """The averages of many systems with their confidence sets for ranks, for these tasks."""
    board = found.of_main(found.leaderboard, THESE).head(_MOST_SYSTEMS)
    return Figure(
        "average_ranks",
        lambda: plot.leaderboard(board),
        chart=lambda: charts.leaderboard(board, _MOST_SYSTEMS, x=f"{found.average} average"),
    )


def _without(found: AcrossTasks) -> list[Section]:
    if found.without.empty:
        return []
    form = digits(found)
    columns = {
        "left out": "{task:name}",
        "gain": f"{{gain:{form}}}",
        "interval": f"[{{gain_low:{form}}} to {{gain_high:{form}}}]",
        "change by the task": f"{{change:{form}}}",
        "other sign": "{sign_changes:yes}",
        "significance changes": "{significance_changes:yes}",
    }
    rows = found.without.sort_values("change", key=abs, ascending=False, kind="stable")
    text = (
        "The gain of the average without each task, and its interval for the remaining tasks. Leaving out the "
        "task at the top changes the gain most."
    )
    return [Section("Without one task", text, table=_head(Table(rows, columns)))]


def _head(table: Table) -> Table:
    return Table(table.rows.head(_MOST_ROWS), table.columns)
