"""What `across_tasks` finds: its tables, and the answer in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd

from simstudy.comparisons.signature import signatures
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.outputs import Outputs
from simstudy.papers.written import in_latex, in_markdown
from simstudy.statistics.decisions import Decision
from simstudy.suites import sentences
from simstudy.suites.averages import AVERAGES, Average
from simstudy.suites.contributions import THESE
from simstudy.suites.paper import paper
from simstudy.suites.printed import show, system_rows, task_rows
from simstudy.text.plain_text import shown
from simstudy.text.printing import text_of
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError


@dataclass(frozen=True, eq=False, repr=False)
class AcrossTasks(ReprMixin):
    """What `simstudy.across_tasks` found on several tasks: tables of single tasks and of averages.

    In all tables of pairs `system_a` is the better system by the main average, so a gain below 0 says that `system_b`
    is ahead. Scores and gains are on the metric's scale.
    """

    outputs: Outputs
    """The systems that were compared."""
    by: str
    """The column of the items that says which task an item is of."""
    alpha: float
    """The level of significance."""
    average: str
    """The name of the main average."""
    main: Average
    """The main average: tasks and weights."""
    scores: pd.DataFrame
    """One row a task and system: score, n_items, n_units."""
    by_task: pd.DataFrame
    """One row a task and pair: scores, gain, its interval (level 1 - alpha), p, its resamples, wins, losses and ties of
    units."""
    averages: pd.DataFrame
    """One row an average, hypothesis and pair: gain, its interval (level 1 - alpha), p_value (sign flips), p_holm
    (corrected for all pairs), p_t (Student's t), p_floor (the smallest p-value that could be), n_units, and tasks won,
    lost and tied."""
    leaderboard: pd.DataFrame
    """One row an average, hypothesis and system: score, interval and confidence set for its rank (level 1 - alpha)."""
    without: pd.DataFrame
    """One row a task and pair: the gain of the main average without this task, and whether it drives the gain."""
    seed: int = 0
    """Of the resamples."""

    @property
    def n_tasks(self) -> int:
        """Tasks of the main average."""
        return len(self.main.tasks)

    @property
    def answer(self) -> pd.DataFrame:
        """The rows of `averages` that are the answer: the main average, on these tasks."""
        return self.of_main(self.averages, THESE)

    def of_main(self, table: pd.DataFrame, hypothesis: str) -> pd.DataFrame:
        """The rows of `averages` or `leaderboard` on the main average, under one hypothesis."""
        return table[(table["average"] == self.average) & (table["hypothesis"] == hypothesis)]

    @cached_property
    def sentences(self) -> list[str]:
        """The answer in words: the average, both hypotheses, tasks won, and the task that drives the gain."""
        return sentences.answer(self)

    @property
    def text(self) -> str:
        """What the command prints: the answer, and the table by task."""
        return text_of(partial(show, self))

    def test(self) -> str:
        """The test of all p-values, and what they are corrected for."""
        single = f"; p of single tasks is not corrected for the {len(self.tasks):,} tasks"
        two = self.outputs.n_systems == 2
        return f"{TESTS[DEFAULT_TEST].title} ({DEFAULT_TEST}), two-sided{single if two else ', Holm for all pairs'}"

    @property
    def tasks(self) -> list[str]:
        """All tasks, also those that the main average leaves out."""
        return list(dict.fromkeys(self.scores["task"]))

    def is_better(self, better: str, other: str) -> bool:
        """Whether a system is significantly better than another by the main average, on these tasks."""
        rows = self.answer
        row = rows[(rows["system_a"] == better) & (rows["system_b"] == other)]
        return len(row) == 1 and Decision(self.alpha).is_significant(row.iloc[0])

    def gains(self, better: str | None = None, other: str | None = None) -> pd.DataFrame:
        """The gains of one pair for `simstudy.plot.gain_by_task`: a row a task, and rows of the averages.

        By default it is the first pair. Groups are left out: the interval of two or three tasks is so wide that
        nothing else would be seen.

        Raises
        ------
        ValueError
            For systems that are no pair of these tables, in this order.
        """
        # Matplotlib waits until something is drawn.
        from simstudy.plot.tasks import SINGLE_TASK

        first = self.averages.iloc[0]
        pair = {"system_a": better or first["system_a"], "system_b": other or first["system_b"]}
        both = []
        drawn = self.averages[self.averages["average"].isin([self.average, *AVERAGES])]
        for table, name in ((self.by_task.assign(hypothesis=SINGLE_TASK), "task"), (drawn, "average")):
            rows = table[(table["system_a"] == pair["system_a"]) & (table["system_b"] == pair["system_b"])]
            if rows.empty:
                given = f"'{pair['system_a']}' and '{pair['system_b']}'"
                rule = f"must be a pair of systems, the better by the main average first, not {given}"
                raise InputError("better and other", rule)
            columns = ["name", "hypothesis", "metric", "metric_unit", *pair, "gain", "gain_low", "gain_high"]
            both.append(rows.rename(columns={name: "name"})[columns])
        return pd.concat(both, ignore_index=True)

    def signature(self) -> str:
        """What decides the p-values of averages, beside the outputs (`simstudy.comparisons.signature`)."""
        asked: dict[str, Any] = {
            "test": DEFAULT_TEST,
            "alternative": "two-sided",
            "convention": "default",
            "strata": "",
            "seed": self.seed,
        }
        metric_signature = self.outputs.metric.signature
        (signed,) = signatures(self.answer.assign(metric_signature=metric_signature, **asked))
        question, _, software = signed.rpartition("|")
        return f"{question}|average:{shown(self.average)} by {shown(self.by)}|{software}"

    def to_latex(self, table: str | None = None, *, baseline: str | None = None) -> str:
        """Tables of tasks and averages in LaTeX, and the sentences for a paper.

        Parameters
        ----------
        table
            "tasks": only the table. None: everything.
        baseline
            Of three or more systems: the one that marks compare with, chosen before the results were seen. None: the
            best one of each column.

        Raises
        ------
        ValueError
            If there is no such table or system.
        """
        return in_latex(paper(self, baseline=baseline), table)

    def to_markdown(self, table: str | None = None, *, baseline: str | None = None) -> str:
        """The same in Markdown (`to_latex`)."""
        return in_markdown(paper(self, baseline=baseline), table)

    def facts(self) -> dict[str, Any]:
        """What was averaged, as JSON has it."""
        weights = None if self.main.weights is None else dict(zip(self.main.tasks, self.main.weights, strict=True))
        return {
            "by": self.by, "average": self.average, "tasks": list(self.main.tasks), "weights": weights,
            "alpha": self.alpha, "answer": self.sentences,
        }  # fmt: skip

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names of their files."""
        return {
            "by_task": self.by_task, "averages": self.averages, "average_ranks": self.leaderboard,
            "task_scores": self.scores, "without_task": self.without,
        }  # fmt: skip

    def _summary(self) -> tuple[str, str]:
        what = f"AcrossTasks: {self.outputs.n_systems} systems on {self.n_tasks} tasks"
        return f"{what}, metric {self.outputs.metric.name}", " ".join(self.sentences[:2])

    def _table(self) -> pd.DataFrame:
        two = self.outputs.n_systems == 2
        return (task_rows(self) if two else system_rows(self, verbose=True)).text()
