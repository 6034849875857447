"""`across_tasks`: every pair of systems on each of several tasks and on their averages, and the answer's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.comparisons.signature import signatures
from simstudy.engines.intervals import score_range, t_interval
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.metrics import Metric
from simstudy.outputs import Outputs, require_outputs
from simstudy.papers.written import in_latex, in_markdown
from simstudy.readers.logs import SCORED_BY
from simstudy.running.progress import doing, shown_to_people
from simstudy.statistics.multiplicity import holm
from simstudy.statistics.proportions import tango
from simstudy.suites import sentences
from simstudy.suites.averages import AVERAGES, THESE, Average, Suite, TaskGroup, requested_averages
from simstudy.suites.paper import paper
from simstudy.suites.printed import show, system_rows, task_rows
from simstudy.text.plain_text import shown
from simstudy.text.printing import text_of
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, check_fraction, check_mapping

# Columns of pairs on one task, of pairs by an average, and of systems by an average.
_OF_PAIR = ("metric", "metric_unit", "system_a", "system_b", "score_a", "score_b", "gain", "gain_se")
_OF_TASK = (
    *("task", *_OF_PAIR, "gain_low", "gain_high", "p_value", "n_items", "unit", "n_units", "wins", "losses", "ties"),
    *("computation", "exact_level", "n_resamples", "caution"),
)
_OF_AVERAGE = (
    *("average", "hypothesis", *_OF_PAIR, "df", "gain_low", "gain_high", "p_value", "p_floor", "computation"),
    *("exact_level", "n_resamples", "p_holm", "p_t", "n_tasks", "unit", "n_units"),
    *("tasks_won", "tasks_lost", "tasks_tied"),
)
_OF_SYSTEM = (
    *("system", "score", "score_low", "score_high", "rank", "rank_low", "rank_high", "rank_low_own", "rank_high_own"),
    *("may_be_best", "n_units", "average", "hypothesis", "metric", "level"),
)

# Resamples of the confidence sets for ranks.
_RANK_RESAMPLES = 2000


@dataclass(frozen=True, eq=False, repr=False)
class AcrossTasks(ReprMixin):
    """Comparisons of systems on several tasks: tables of single tasks and of averages.

    In all tables of pairs `system_a` is the better system by the main average, so a gain below 0 says that `system_b`
    is ahead. Scores and gains are on the metric's scale. Intervals have the level 1 - alpha.
    """

    outputs: Outputs
    """The systems that were compared."""
    by: str
    """The column of the items that names an item's task."""
    alpha: float
    """The level of significance."""
    main: Average
    """The main average: tasks and weights."""
    by_task: pd.DataFrame
    """One row a task and pair: scores, gain, its interval, p, its resamples, wins, losses and ties of units."""
    averages: pd.DataFrame
    """One row an average, hypothesis and pair: gain, its interval, p_value (sign flips), p_holm (corrected for all
    pairs), p_t (Student's t), p_floor (the smallest possible p-value), n_units, and tasks won, lost and tied."""
    leaderboard: pd.DataFrame
    """One row an average, hypothesis and system: score, interval and confidence set for its rank."""
    scores: pd.DataFrame
    """One row a task and system: score, n_items, n_units."""
    without: pd.DataFrame
    """One row a task and pair: the gain of the main average without this task, and whether it drives the gain."""
    seed: int = 0
    """The seed of the resamples."""

    @property
    def average(self) -> str:
        """The name of the main average."""
        return self.main.name

    @property
    def n_tasks(self) -> int:
        """Number of tasks of the main average."""
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
        """The answer and the table by task, as the command prints them."""
        return text_of(partial(show, self))

    def test(self) -> str:
        """The test of all p-values, and what they are corrected for."""
        n_tasks = self.scores["task"].nunique()
        single = f"; p of single tasks is not corrected for the {n_tasks:,} tasks"
        two = self.outputs.n_systems == 2
        return f"{TESTS[DEFAULT_TEST].title} ({DEFAULT_TEST}), two-sided{single if two else ', Holm for all pairs'}"

    def gains(self) -> pd.DataFrame:
        """The gains of the first pair for `simstudy.plot.gain_by_task`: a row a task, and rows of the averages.

        Groups are left out: the interval of two or three tasks is so wide that nothing else would be seen.
        """
        # Matplotlib waits until something is drawn.
        from simstudy.plot.tasks import SINGLE_TASK

        tasks = self.by_task.rename(columns={"task": "name"}).assign(hypothesis=SINGLE_TASK)
        averages = self.averages[self.averages["average"].isin([self.average, *AVERAGES])]
        rows = pd.concat([tasks, averages.rename(columns={"average": "name"})], ignore_index=True)
        pair = ["system_a", "system_b"]
        rows = rows[(rows[pair] == averages[pair].iloc[0]).all(axis=1)]
        return rows[["name", "hypothesis", "metric", "metric_unit", *pair, "gain", "gain_low", "gain_high"]]

    def signature(self) -> str:
        """Everything that decides the p-values of averages, beside the outputs (`simstudy.comparisons.signature`)."""
        rows = self.answer.assign(
            metric_signature=self.outputs.metric.signature, test=DEFAULT_TEST, alternative="two-sided",
            convention="default", strata="", seed=self.seed,
        )  # fmt: skip
        question, _, software = signatures(rows)[0].rpartition("|")
        return f"{question}|average:{shown(self.average)} by {shown(self.by)}|{software}"

    def to_latex(self, table: str | None = None, *, baseline: str | None = None) -> str:
        """Tables of tasks and averages in LaTeX, and the sentences for a paper.

        `table` is "tasks" for the table alone. `baseline` is the system that marks compare with, of three or more; by
        default the best one of each column.
        """
        return in_latex(paper(self, baseline=baseline), table)

    def to_markdown(self, table: str | None = None, *, baseline: str | None = None) -> str:
        """The same in Markdown (`to_latex`)."""
        return in_markdown(paper(self, baseline=baseline), table)

    def facts(self) -> dict[str, Any]:
        """The average and the answer in words, as JSON has them."""
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


@shown_to_people
def across_tasks(
    outputs: Outputs,
    *,
    by: str = "domain",
    average: str | Mapping[str, float] = "macro",
    groups: Mapping[str, TaskGroup | Sequence[str]] | None = None,
    unit: str | None = None,
    alpha: float = 0.05,
    n_resamples: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> AcrossTasks:
    """Every pair of systems on each of several tasks and on their averages, under two null hypotheses.

    *These tasks*: the tasks are fixed, and items are resampled within each of them. The null hypothesis is that the two
    systems have equal averages on these tasks. *Tasks like these*: the tasks are a sample, and each is one unit. The
    null hypothesis is that the two systems are equally good on average over all tasks that the sample stands for.

    Parameters
    ----------
    outputs
        At least two systems, with a column of the items that names an item's task.
    by
        That column.
    average
        The main average: "macro" (the mean of task scores), "micro" (the score of all items together), or weights by
        task. Tasks without a weight are left out of it. Macro and micro averages are in the tables whatever is asked.
    groups
        Further averages by name: `TaskGroup`, or a list of tasks that count the same.
    unit
        The resampling unit within a task, as for `simstudy.compare`; None: clusters if the items have them.
    alpha
        The level of sentences, and of the question whether one task decides about significance. All intervals, of
        single tasks too, have the level 1 - alpha.
    n_resamples, seed, n_jobs
        As for `simstudy.compare`. The seed is also that of intervals of ranks.

    Notes
    -----
    p-values are those of the sign-flip test: of the contributions of units, and of the tasks' gains. The column p_t has
    Student's t test beside it, with Satterthwaite's degrees of freedom for these tasks. Intervals are of these t tests,
    and end where no average can be higher or lower. For T tasks the smallest two-sided p-value of sign flips is
    2 / 2^T: 0.0625 for five, so that no gain on five tasks is significant at 0.05 for tasks like these. The study
    many_tasks has error rates and coverage of both.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"a": [1, 1, 1, 0] * 30, "b": [1, 0, 0, 1] * 30})
    >>> items = pd.DataFrame({"id": range(120), "domain": ["maths", "law", "code"] * 40})
    >>> across = across_tasks(Outputs.from_scores(scores, "accuracy", items=items))
    >>> across.averages.query("average == 'macro'")[["hypothesis", "unit", "n_units"]].to_numpy().tolist()
    [['these tasks', 'item', 120], ['tasks like these', 'domain', 3]]
    """
    require_outputs(outputs, 2)
    check_fraction("alpha", alpha)
    if alpha * (_RANK_RESAMPLES + 1) < 1 - 1e-9:
        rule = f"must be at least 1 / {_RANK_RESAMPLES + 1:,} for averages of tasks"
        because = f": intervals of ranks are from {_RANK_RESAMPLES:,} resamples"
        raise InputError("alpha", rule, alpha, f"{because}. Choose a larger alpha, or compare each task by itself")
    if groups is not None:
        check_mapping("groups", groups, "names of groups to their tasks")
    suite = Suite(outputs, by, unit)
    averages = requested_averages(list(suite.tasks), average, groups)
    options: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "n_jobs": n_jobs}
    test_sets = [
        (one, hypothesis, test_set) for one in averages for hypothesis, test_set in suite.test_sets(one).items()
    ]
    frames = [compare(test_set, unit="item", **options).frame for *_, test_set in test_sets]
    # The better and the worse system of each pair by the main average, in one order for all tables.
    pairs = frames[0][["system_a", "system_b"]]
    by_task = _by_task(suite, pairs, options, 1 - alpha)
    rows = [
        _average(suite, one, hypothesis, in_order(frame, pairs), by_task, alpha)
        for (one, hypothesis, _), frame in zip(test_sets, frames, strict=True)
    ]
    boards = [_board(suite, *test_set, alpha, seed) for test_set in test_sets]
    return AcrossTasks(
        outputs=outputs,
        by=by,
        alpha=alpha,
        main=averages[0],
        by_task=by_task,
        averages=pd.concat(rows, ignore_index=True),
        leaderboard=pd.concat(boards, ignore_index=True),
        scores=_task_scores(suite),
        without=_without_each_task(suite, averages[0], pairs, 1 - alpha),
        seed=seed,
    )


def _task_scores(suite: Suite) -> pd.DataFrame:
    """Each system's score on each task."""
    rows = [
        {"task": task, "system": system, "metric": suite.metric.name, "score": score, "n_items": outputs.n_items,
         "n_units": suite.units[task].n_items}
        for task, outputs in suite.tasks.items()
        for system, score in suite.scores[task].items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _by_task(suite: Suite, pairs: pd.DataFrame, options: Mapping[str, Any], level: float) -> pd.DataFrame:
    """Every pair on each task; if tasks have scores of several names, ``scored_by`` has a task's name."""
    tables = []
    with doing("comparing on each task", len(suite.tasks)) as advance:
        for task, outputs in suite.tasks.items():
            rows = at_level(in_order(compare(outputs, unit=suite.unit, **options).frame, pairs), suite.metric, level)
            names = outputs.items[SCORED_BY].astype(str).unique() if SCORED_BY in outputs.items else ()
            tables.append(rows.assign(task=task, scored_by="+".join(names)))
            advance(1)
    table = pd.concat(tables, ignore_index=True)
    return table[[*_OF_TASK, *(["scored_by"] if table["scored_by"].nunique() > 1 else [])]]


def _average(
    suite: Suite, average: Average, hypothesis: str, rows: pd.DataFrame, by_task: pd.DataFrame, alpha: float
) -> pd.DataFrame:
    """Rows of one average under one hypothesis, from the comparisons of its test set."""
    if hypothesis == THESE and len(average.tasks) > 1:
        se, df = suite.errors(average, suite.places(rows["system_a"]), suite.places(rows["system_b"]))
        rows = rows.assign(gain_se=se, df=df, interval="t")
    rows = at_level(rows, suite.metric, 1 - alpha)
    gains = by_task[by_task["task"].isin(average.tasks)]["gain"].to_numpy().reshape(-1, len(rows))
    return rows.assign(
        average=average.name,
        hypothesis=hypothesis,
        metric=suite.metric.name,
        metric_unit=suite.metric.unit,
        p_holm=holm(rows["p_value"].to_numpy()),
        p_t=2 * special.stdtr(rows["df"], -(rows["gain"] / rows["gain_se"]).abs()),
        n_tasks=len(average.tasks),
        unit=suite.unit if hypothesis == THESE else suite.by,
        tasks_won=(gains > 0).sum(axis=0),
        tasks_lost=(gains < 0).sum(axis=0),
        tasks_tied=(gains == 0).sum(axis=0),
    )[list(_OF_AVERAGE)]


def _board(suite: Suite, average: Average, hypothesis: str, test_set: Outputs, alpha: float, seed: int) -> pd.DataFrame:
    """The leaderboard of one average under one hypothesis; the variances of these tasks add up."""
    board = leaderboard(test_set, unit="item", level=1 - alpha, n_bootstrap=_RANK_RESAMPLES, seed=seed)
    if hypothesis == THESE and len(average.tasks) > 1:
        low, high = t_interval(
            board["score"], *suite.errors(average, suite.places(board["system"])), suite.metric, 1 - alpha
        )
        board = board.assign(score_low=low, score_high=high)
    ends = board[["score_low", "score_high"]].clip(*score_range(suite.metric))
    return board.assign(**ends, average=average.name, hypothesis=hypothesis, metric=suite.metric.name)[list(_OF_SYSTEM)]


def _without_each_task(suite: Suite, average: Average, pairs: pd.DataFrame, level: float) -> pd.DataFrame:
    """The gain of each pair without each task, with its interval for these tasks.

    `change` is by how much the gain is larger with the task. The task that `drives` the gain changes it most.
    """
    if len(average.tasks) < 2:
        return pd.DataFrame()
    i, j = suite.places(pairs["system_a"]), suite.places(pairs["system_b"])

    def gains(task: str, average: Average) -> pd.DataFrame:
        scores = suite.average_scores(average)
        gain = suite.metric.sign * (scores[i] - scores[j])
        gain[np.abs(gain) <= 1e-12 * np.abs(scores).max()] = 0.0
        low, high = t_interval(gain, *suite.errors(average, i, j), suite.metric, level)
        names = {"task": task, "metric": suite.metric.name, "metric_unit": suite.metric.unit}
        return pd.DataFrame({**names, **pairs, "gain": gain, "gain_low": low, "gain_high": high})

    whole, tables = gains("", average), []
    for task in average.tasks:
        rest = gains(task, average.without(task))
        rest["change"] = whole["gain"] - rest["gain"]
        rest["sign_changes"] = np.sign(rest["gain"]) != np.sign(whole["gain"])
        significant = [rows["gain_low"] * rows["gain_high"] > 0 for rows in (rest, whole)]
        rest["significance_changes"] = significant[0] != significant[1]
        tables.append(rest)
    table = pd.concat(tables, ignore_index=True)
    change = table["change"].abs()
    largest = change.groupby([table["system_a"], table["system_b"]]).transform("max")
    # Equal changes differ by rounding, which depends on the processor.
    return table.assign(drives=np.isclose(change, largest, rtol=1e-9, atol=0) & (change > 0))


def in_order(frame: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Comparisons in the order of these pairs, without intervals; a gain is below 0 if the second system is ahead."""
    sides = {"system_a": "system_b", "score_a": "score_b", "wins": "losses"}
    columns: dict[str, str] = sides | {other: one for one, other in sides.items()}
    frame = frame.drop(columns=["gain_low", "gain_high"])
    swapped = frame.assign(gain=-frame["gain"]).rename(columns=columns)
    return pairs.merge(pd.concat([frame, swapped]), on=["system_a", "system_b"])


def at_level(rows: pd.DataFrame, metric: Metric, level: float) -> pd.DataFrame:
    """Comparisons with the same kind of interval (`simstudy.engines.intervals`) at this level."""
    scores = [metric.scale * end for end in tango(rows["wins"], rows["losses"], rows["n_units"], level)]
    ends = t_interval(rows["gain"], rows["gain_se"], rows["df"], metric, level)
    low, high = (np.where(rows["interval"] == "score", *pair) for pair in zip(scores, ends, strict=True))
    return rows.assign(gain_low=low, gain_high=high)
