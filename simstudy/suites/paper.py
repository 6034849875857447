"""Several tasks as a paper shows them: tables of tasks and averages, and the sentences for two sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.metrics import label
from simstudy.papers import basis, scores
from simstudy.papers.document import Cell, Cite, Paper, Table, Text, joined
from simstudy.papers.leaderboards import check_baseline
from simstudy.papers.pairs import gained, interval, number_format
from simstudy.papers.references import SUM_OF_VARIANCES
from simstudy.statistics.multiplicity import holm
from simstudy.suites.averages import LIKE_THESE, THESE
from simstudy.text.numerals import number_text, p_floor, p_text, units_text
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.suites.comparing import AcrossTasks


def paper(found: AcrossTasks, *, baseline: str | None = None, notes: Sequence[str] = ()) -> Paper:
    """Several tasks for a paper: a row for each if there are two systems, else a column for each."""
    if baseline is not None:
        check_baseline(baseline, found.outputs.names)
    tables = [_of_two(found)] if found.outputs.n_systems == 2 else _of_many(found, baseline)
    return Paper(tables=tables, results=[" ".join(found.sentences)], methods=_methods(found, baseline), notes=notes)


def _of_two(found: AcrossTasks) -> Table:
    rows = found.by_task.sort_values("gain", ascending=False, kind="stable")
    averages = found.averages
    one, level = rows.iloc[0], f"{100 * (1 - found.alpha):g} %"
    form = number_format(averages[averages["average"] == found.average])
    head: list[tuple[str, Any]] = [
        ("Task", "left"), ("Items", "right"), (shown(one["system_a"]), "right"), (shown(one["system_b"]), "right"),
        ("Gain", "right"), ("CI", "middle"), ("p", "right"),
    ]  # fmt: skip
    written = [[shown(row["task"]), f"{row['n_items']:,}", *_numbers(row, form, found.alpha)]
               for _, row in rows.iterrows()]  # fmt: skip
    for _, row in averages.iterrows():
        average = f"{shown(row['average'])}, {row['hypothesis']}"
        written.append([Cell(average), f"{row['n_tasks']:,} tasks", *_numbers(row, form, found.alpha)])
    caption = (
        f"Gains in {gained(rows)} on {len(rows):,} tasks ({shown(found.by)}), and averages below. CI: the {level} "
        "interval of each gain by itself. p: two-sided sign-flip test, not corrected. These tasks: the tasks "
        "are fixed. Tasks like these: the tasks are a sample, and each is one unit."
    )
    return Table("tasks", head, written, [caption], ruled=(len(rows),))


def _numbers(row: pd.Series[Any], form: str, alpha: float) -> list[Cell | str]:
    n_resamples = row.get("n_resamples", 0)
    return [
        *(number_text(row[name], form) for name in ("score_a", "score_b", "gain")),
        interval(row["gain_low"], row["gain_high"], form),
        p_text(row["p_value"], alpha, p_floor(n_resamples)),
    ]  # fmt: skip


def _of_many(found: AcrossTasks, baseline: str | None) -> list[Table]:
    board, rows = (found.of_main(table, THESE) for table in (found.leaderboard, found.averages))
    average = scores.Column(found.main.title(), board, ahead_first(rows))
    columns = [average, *(_task(found, task) for task in found.main.tasks)]
    what = (
        f"{found.outputs.n_systems:,} systems by {label(found.outputs.metric.name)}: {found.main.title()[0].lower()}"
        f"{found.main.title()[1:]} of {found.n_tasks:,} tasks ({shown(found.by)}), and each task; the tasks are fixed."
    )
    return scores.by_system(columns, what, alpha=found.alpha, baseline=baseline, name="tasks", ruled=(1,))


def _task(found: AcrossTasks, task: str) -> scores.Column:
    """The scores on one task, and its pairs, corrected for all pairs of this task."""
    board = found.scores[found.scores["task"] == task]
    better = found.outputs.metric.higher_is_better
    board = board.sort_values("score", ascending=not better, kind="stable")
    rows = found.by_task[found.by_task["task"] == task]
    rows = rows.assign(p_holm=holm(rows["p_value"].to_numpy(dtype=np.float64)))
    rank = board["score"].rank(method="min", ascending=not better).astype(int)
    return scores.Column(shown(task), board.assign(rank=rank), ahead_first(rows))


def ahead_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Pairs with the better system as system_a, of tables in which another average decides which one that is."""
    turned = (rows["gain"] < 0).to_numpy()
    found = rows.assign(test=DEFAULT_TEST, alternative="two-sided", gain=rows["gain"].abs())
    for name in ("system", "score"):
        a, b = f"{name}_a", f"{name}_b"
        found = found.assign(**{a: rows[a].where(~turned, rows[b]), b: rows[b].where(~turned, rows[a])})
    low, high = -rows["gain_high"], -rows["gain_low"]
    return found.assign(gain_low=rows["gain_low"].where(~turned, low), gain_high=rows["gain_high"].where(~turned, high))


def _methods(found: AcrossTasks, baseline: str | None) -> Text:
    row, test, two = found.answer.iloc[0], TESTS[DEFAULT_TEST], found.outputs.n_systems == 2
    drawn = int(found.averages["n_resamples"].max())
    of = (
        "no Monte Carlo error"
        if drawn == 0
        else f"at most {drawn:,} random resamples, and none where they can be computed"
    )
    name, units = found.main.title(), units_text(int(row["n_units"]), str(row["unit"]))
    family = "; p-values are not corrected." if two else "."
    return joined(
        [
            f"The {name[0].lower()}{name[1:]} is of {found.n_tasks:,} tasks ({shown(found.by)}). We tested gains with "
            f"{basis.named(test, 'two-sided')}", Cite(test.cites), f" ({of}){family}",
        ],
        [] if two else basis.corrected_for(f"all {len(found.answer):,} pairs of one average"),
        basis.corrected_with(baseline, f"the pairs with {shown(baseline or '')} of one average or task"),
        [
            f"These tasks: the tasks are fixed, and {units} are resampled within them; the null hypothesis is "
            "that the two averages on these tasks are equal. Intervals add the variances of the tasks, with t and "
            "Satterthwaite's degrees of freedom", Cite((SUM_OF_VARIANCES,)), ".",
        ],
        [
            "Tasks like these: the tasks are a sample, and each is one unit; the null hypothesis is that two systems "
            "are equally good on average over all tasks that the sample stands for."
        ] if (found.averages["hypothesis"] == LIKE_THESE).any() else [],
        basis.software(found.signature()),
    )  # fmt: skip
