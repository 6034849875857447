"""What the command prints of several tasks, and the tables of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from simstudy.pages.sections import Table
from simstudy.suites.averages import LIKE_THESE, THESE
from simstudy.suites.sentences import digits
from simstudy.text.headings import apart
from simstudy.text.numerals import p_floor, p_text
from simstudy.text.plain_text import shown
from simstudy.text.printing import LEFT_OUT, MOST_LINES, Printer, left_out, noted

if TYPE_CHECKING:
    from simstudy.suites.comparing import AcrossTasks

# Tasks that are columns, without being asked for; the least number of rows; other averages; notes.
_COLUMNS, _LEAST, _MOST_AVERAGES, _MOST_NOTES = 8, 4, 4, 3
# Columns that a narrow terminal is without first: of tasks, of averages, and of systems.
_SPARE_OF_TASKS, _SPARE_OF_AVERAGES = ("score is", "items"), ("units", "tasks", "p (t)")
_SPARE_OF_SYSTEMS = ("interval",)
# Facts that are left out first if there are too few lines.
_SPARE_FACTS = ("Metric", "Test", "Signature")


def show(
    found: AcrossTasks,
    printer: Printer,
    notes: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    *,
    verbose: bool = False,
    last: Sequence[str] = (),
) -> None:
    """Print the answer, the table by task, facts and notes; everything if `verbose`.

    Without `verbose` it is at most `MOST_LINES` lines, the lines `last` among them, with which it ends.
    """
    two, facts, every, title = found.outputs.n_systems == 2, facts or {}, noted(notes), _title(found)
    rows = (task_rows(found) if two else system_rows(found, verbose=verbose)).text()
    spare = _SPARE_OF_TASKS if two else _SPARE_OF_SYSTEMS
    others = found.averages[found.averages["average"] != found.average]
    more = "Averages" if verbose else "Other averages"
    averages = (
        average_rows(found, found.averages if verbose else others.head(_MOST_AVERAGES)).text()
        if two
        else pd.DataFrame()
    )
    told, most, n_facts, plain = every, len(rows), len(facts), printer
    names = [shown(name) for name in found.leaderboard["system"].drop_duplicates()]
    printer, which = plain.lettered([] if verbose else names[:2], names)
    if not verbose:
        room = MOST_LINES - plain.height(*which) - printer.height(*found.sentences, LEFT_OUT, *last) - 1
        tables = [printer.table_height(title, rows.head(n), spare) for n in (_LEAST, 1)]
        facts, least = printer.facts_beside(facts, _SPARE_FACTS, room, tables)
        room -= printer.facts_height(facts)
        # Tasks come before averages.
        averages = averages.head(printer.rows_fitting(more, averages, room - least, _SPARE_OF_AVERAGES))
        room -= printer.table_height(more, averages, _SPARE_OF_AVERAGES) if len(averages) else 0
        told = printer.fitting(map(printer.shortened, every[:_MOST_NOTES]), room - least)
        most = printer.rows_fitting(title, rows, room - printer.height(*told), spare) if least else 0
    plain.lines(which)
    printer.lines(found.sentences)
    if most:
        printer.table(title, rows.head(most), spare, verbose=verbose)
    if len(averages):
        printer.table(more, averages, _SPARE_OF_AVERAGES, verbose=verbose)
    if facts or told:
        printer.line("")
    printer.facts(facts)
    printer.lines(told)
    hidden = {
        "average": len(others) - len(averages) if two else 0,
        "task" if two else "system": len(rows) - most,
        "fact": n_facts - len(facts),
        "task column": 0 if two or verbose or len(found.main.tasks) <= _COLUMNS else len(found.main.tasks),
    }
    printer.lines([*left_out(hidden, every, told, last), *last])


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
    first = {
        "task": "{task:name}",
        **({"score is": "{scored_by:name}"} if "scored_by" in rows else {}),
        "items": "{n_items:,}",
    }
    last = {
        "gain": f"{{gain:{form}}}",
        "interval": f"[{{gain_low:{form}}} to {{gain_high:{form}}}]",
        "p (uncorrected)": "{p}",
    }
    a, b = apart([shown(rows[name].iloc[0]) for name in ("system_a", "system_b")], {*first, *last})
    scores = {a: f"{{score_a:{form}}}", b: f"{{score_b:{form}}}"}
    return Table(rows.assign(p=_p_texts(rows, found)), {**first, **scores, **last})


def _p_texts(rows: pd.DataFrame, found: AcrossTasks) -> list[str]:
    drawn = zip(rows["p_value"], rows["n_resamples"], strict=True)
    return [p_text(p, found.alpha, p_floor(n_resamples)) for p, n_resamples in drawn]


def average_rows(found: AcrossTasks, averages: pd.DataFrame) -> Table:
    """A row for each average and hypothesis of two systems."""
    form = digits(found)
    return Table(
        averages.assign(p=_p_texts(averages, found)),
        {
            "average": "{average:name}",
            "null hypothesis": "{hypothesis}",
            "tasks": "{n_tasks}",
            "units": "{n_units:,}",
            "gain": f"{{gain:{form}}}",
            "interval": f"[{{gain_low:{form}}} to {{gain_high:{form}}}]",
            "p": "{p}",
            "p (t)": "[{p_t:p}]",
        },
    )


def system_rows(found: AcrossTasks, *, verbose: bool = False) -> Table:
    """A row for each system: its average, its ranks under both hypotheses, and its score on each task."""
    form = digits(found)
    rows = found.of_main(found.leaderboard, THESE).reset_index(drop=True)
    like = found.of_main(found.leaderboard, LIKE_THESE).set_index("system")
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
    headings = [shown(task) if names is None else f"{shown(task)} ({shown(names[task])})" for task in shown_tasks]
    for t, (task, heading) in enumerate(zip(shown_tasks, apart(headings, columns), strict=True)):
        rows[f"task_{t}"] = wide.loc[rows["system"], task].to_numpy()
        columns[heading] = f"{{task_{t}:{form}}}"
    return Table(rows, columns)
