"""The sections of a page on several tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy import plot
from simstudy.pages.sections import Figure, Section, Table
from simstudy.suites.printed import average_rows, system_rows, task_rows
from simstudy.suites.sentences import digits

if TYPE_CHECKING:
    from simstudy.suites.across import AcrossTasks

# Rows of a table that a page shows; the CSV has all.
_MOST_ROWS = 60

HOW = (
    "These tasks: the tasks are fixed, items are resampled within each task, and variances of tasks add up. Tasks like "
    "these: the tasks are a sample of tasks, and each is one unit; benchmarks are seldom such a sample. p is of sign "
    "flips, p (t) of Student's t test, whose interval is shown."
)


def task_sections(found: AcrossTasks) -> list[Section]:
    """The answer and the averages, the table by task, and for two systems what each task does to the gain."""
    two = found.outputs.n_systems == 2
    answer = Section(
        "Several tasks",
        " ".join([*found.sentences, HOW]),
        figure=Figure("gain_by_task", lambda: plot.gain_by_task(found.gains())) if two else None,
        table=_head(average_rows(found, found.averages) if two else system_rows(found, verbose=True)),
    )
    if not two:
        return [answer]
    text = f"Each task separately, with two-sided p-values that are not corrected for the {found.n_tasks} tasks."
    return [answer, Section("By task", text, table=_head(task_rows(found))), *_without(found)]


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
        "The gain of the average without each task, and its interval for the remaining tasks. The task at the top "
        "drives the gain most."
    )
    return [Section("Without one task", text, table=_head(Table(rows, columns)))]


def _head(table: Table) -> Table:
    return Table(table.rows.head(_MOST_ROWS), table.columns)
