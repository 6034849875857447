"""What `across_tasks` finds: its tables, and the answer in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import pandas as pd

from simstudy.outputs import Outputs
from simstudy.suites import sentences
from simstudy.suites.averages import Average
from simstudy.suites.printed import show
from simstudy.text.printing import text_of
from simstudy.text.reprs import ReprMixin


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
    """One row a task and pair: scores, gain, interval, p, wins, losses and ties of units."""
    averages: pd.DataFrame
    """One row an average, hypothesis and pair: gain, interval, p_value (sign flips), p_holm (corrected for all pairs),
    p_t (Student's t), p_floor (the smallest p-value that could be), n_units, and tasks won, lost and tied."""
    leaderboard: pd.DataFrame
    """One row an average, hypothesis and system: score, interval, and confidence set for its rank."""
    without: pd.DataFrame
    """One row a task and pair: the gain of the main average without this task, and whether it drives the gain."""

    @property
    def n_tasks(self) -> int:
        """Tasks of the main average."""
        return len(self.main.tasks)

    @cached_property
    def sentences(self) -> list[str]:
        """The answer in words: the average, both hypotheses, tasks won, and the task that drives the gain."""
        return sentences.answer(self)

    @property
    def text(self) -> str:
        """What the command prints: the answer, and the table by task."""
        return text_of(partial(show, self))

    def _summary(self) -> tuple[str, str]:
        what = f"AcrossTasks: {self.outputs.n_systems} systems on {self.n_tasks} tasks"
        return f"{what}, metric {self.outputs.metric.name}", " ".join(self.sentences[:2])

    def _table(self) -> pd.DataFrame:
        return self.averages
