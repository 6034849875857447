"""`across_tasks`: from outputs of several tasks to a table for each, their averages, and what these rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.outputs import Outputs, require_outputs
from simstudy.pairs import order_of
from simstudy.running.progress import shown_to_people
from simstudy.statistics.multiplicity import holm
from simstudy.suites.across import AcrossTasks
from simstudy.suites.averages import Average, TaskGroup, averages_of
from simstudy.suites.contributions import LIKE_THESE, THESE, Suite, reach, spread_of
from simstudy.suites.single_tasks import along, at_level, by_task, left_out, rounded, task_scores
from simstudy.validation import InputError, check_fraction, check_mapping, check_seed, check_text, check_whole

# Comparisons tell more of a pair than an average does.
_KEPT = (
    "gain",
    "gain_se",
    "df",
    "gain_low",
    "gain_high",
    "p_value",
    "p_floor",
    "computation",
    "exact_level",
    "n_resamples",
)

# Of intervals of ranks.
_RANK_RESAMPLES = 2000


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
        At least two systems, with a column of the items that says which task an item is of.
    by
        That column.
    average
        The main average: "macro" (the mean of task scores), "micro" (the score of all items together), or weights by
        task. Tasks without a weight are left out of it. Macro and micro averages are in the tables whatever is asked.
    groups
        Further averages by name: `TaskGroup`, or a list of tasks that count the same.
    unit
        What is resampled within a task, as for `simstudy.compare`; None: clusters where the items have them.
    alpha
        The level of sentences, and of the question whether one task decides about significance. All intervals, of
        single tasks too, have the level 1 - alpha.
    n_resamples, seed, n_jobs
        As for `simstudy.compare`. The seed is also that of intervals of ranks.

    Returns
    -------
    found
        `AcrossTasks`: data frames ``by_task``, ``averages``, ``leaderboard``, ``scores`` and ``without``, and
        ``found.text``, the answer in words. Scores and gains are on the metric's scale.

    Raises
    ------
    ValueError
        For fewer than two systems or tasks, an alpha below 1 / 2,001, a task with one unit, units with items in several
        tasks, and weights or groups of tasks that are not there.

    Notes
    -----
    p-values are those of the sign-flip test: of the contributions of units, and of the tasks' gains. The column p_t has
    Student's t test beside it, with Satterthwaite's degrees of freedom for these tasks. Intervals are of these t tests.
    Of T tasks the smallest two-sided p-value of sign flips is 2 / 2^T: 0.0625 of five, so that no gain on five tasks is
    significant at 0.05 for tasks like these. The study many_tasks has error rates and coverage of both.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(1)
    >>> tasks = np.repeat(["maths", "law", "code"], [100, 40, 60])
    >>> scores = pd.DataFrame({"a": rng.random(200) < 0.7, "b": rng.random(200) < 0.6}).astype(int)
    >>> items = pd.DataFrame({"id": range(200), "domain": tasks})
    >>> outputs = Outputs.from_scores(scores, "accuracy", items=items)
    >>> found = across_tasks(outputs)
    >>> found.averages.query("average == 'macro'")[["hypothesis", "unit", "n_units"]].to_numpy().tolist()
    [['these tasks', 'item', 200], ['tasks like these', 'domain', 3]]
    """
    require_outputs(outputs, 2)
    check_text("by", by, "the name of a column of the items")
    check_text("unit", unit, "the name of a column of the items", or_none=True)
    check_fraction("alpha", alpha)
    # As for the resamples of `leaderboard`: with fewer, no pair of systems ever has different ranks.
    if alpha * (_RANK_RESAMPLES + 1) < 1 - 1e-9:
        rule = f"must be at least 1 / {_RANK_RESAMPLES + 1:,} for averages of tasks"
        because = f": intervals of ranks are from {_RANK_RESAMPLES:,} resamples"
        raise InputError("alpha", rule, alpha, f"{because}. Choose a larger alpha, or compare each task by itself")
    check_seed(seed)
    if n_resamples is not None:
        check_whole("n_resamples", n_resamples, 1)
    if groups is not None:
        check_mapping("groups", groups, "names of groups to their tasks")
    suite = Suite.of(outputs, by, unit)
    averages = averages_of(list(suite.tasks), average, groups)
    how = {"n_resamples": n_resamples, "seed": seed, "n_jobs": n_jobs}
    compared = {one.name: _compared(suite, one, how) for one in averages}
    # The better and the worse system of each pair by the main average, in one order for all tables.
    names = order_of(compared[averages[0].name][THESE]).names
    first, second = np.triu_indices(len(names), k=1)
    pairs = names[first], names[second]
    rows = [
        _average(suite, one, hypothesis, frame, pairs=pairs, alpha=alpha)
        for one in averages
        for hypothesis, frame in compared[one.name].items()
    ]
    boards = [board for one in averages for board in _boards(suite, one, alpha, seed)]
    return AcrossTasks(
        outputs=outputs,
        by=by,
        alpha=alpha,
        average=averages[0].name,
        main=averages[0],
        scores=task_scores(suite),
        by_task=by_task(suite, pairs, how, 1 - alpha),
        averages=pd.concat(rows, ignore_index=True),
        leaderboard=pd.concat(boards, ignore_index=True),
        without=left_out(suite, averages[0], pairs, alpha),
        seed=seed,
    )


def _compared(suite: Suite, average: Average, how: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Comparisons of all pairs by hypothesis; one task is no sample of tasks."""
    of_units = suite.of_units(average)
    unit = suite.unit if suite.is_pooled(average) else "item"
    found = {THESE: compare(of_units, unit=unit, **how).frame}
    if len(average.tasks) > 1:
        of_tasks, unit = suite.of_tasks(average)
        found[LIKE_THESE] = compare(of_tasks, unit=unit, **how).frame
    return found


def _average(
    suite: Suite, average: Average, hypothesis: str, frame: pd.DataFrame, *, pairs: Any, alpha: float
) -> pd.DataFrame:
    """Rows of one average and hypothesis, a gain below 0 where the second system of the pair is ahead."""
    known = at_level(along(frame, pairs), suite.metric.scale, 1 - alpha)[list(_KEPT)]
    i, j = (pd.Index(suite.outputs.names).get_indexer(side) for side in pairs)
    scores, turned = suite.averaged(average), suite.metric.sign
    places = [list(suite.tasks).index(name) for name in average.tasks]
    gains = rounded(turned * (suite.scores[i][:, places] - suite.scores[j][:, places]), suite.scores)
    if hypothesis == THESE and len(average.tasks) > 1:
        se, df = suite.gain_spread(average, i, j)
        half = reach(se, df, 1 - alpha)
        known = known.assign(gain_se=se, df=df, gain_low=known["gain"] - half, gain_high=known["gain"] + half)
    t = (known["gain"] / known["gain_se"]).abs()
    return pd.DataFrame(
        {
            "average": average.name,
            "hypothesis": hypothesis,
            "metric": suite.metric.name,
            "metric_unit": suite.metric.unit,
            "system_a": pairs[0],
            "system_b": pairs[1],
            "score_a": scores[i],
            "score_b": scores[j],
            **known,
            "p_holm": holm(known["p_value"].to_numpy()[None, :])[0],
            "p_t": 2 * special.stdtr(known["df"], -t),
            "n_tasks": len(average.tasks),
            "unit": suite.unit if hypothesis == THESE else suite.by,
            "n_units": frame["n_units"].iloc[0],
            "tasks_won": (gains > 0).sum(axis=1),
            "tasks_lost": (gains < 0).sum(axis=1),
            "tasks_tied": (gains == 0).sum(axis=1),
        }
    )


def _boards(suite: Suite, average: Average, alpha: float, seed: int) -> list[pd.DataFrame]:
    """The leaderboard of one average under each hypothesis, with stratified intervals for these tasks."""
    sets = ["rank", "rank_low", "rank_high", "rank_low_own", "rank_high_own", "may_be_best"]
    columns = ["system", "score", "score_low", "score_high", *sets, "n_units"]
    unit = suite.unit if suite.is_pooled(average) else "item"
    board = leaderboard(suite.of_units(average), unit=unit, level=1 - alpha, n_bootstrap=_RANK_RESAMPLES, seed=seed)
    if len(average.tasks) > 1:
        parts, bounds = suite.weighted(average)
        half = pd.Series(reach(*spread_of(parts, bounds), 1 - alpha), suite.outputs.names)[board["system"]].to_numpy()
        board = board.assign(score_low=board["score"] - half, score_high=board["score"] + half)
    found = {THESE: board}
    if len(average.tasks) > 1:
        of_tasks, unit = suite.of_tasks(average)
        found[LIKE_THESE] = leaderboard(of_tasks, unit=unit, level=1 - alpha, n_bootstrap=_RANK_RESAMPLES, seed=seed)
    metric = suite.metric.name
    return [
        board[columns].assign(average=average.name, hypothesis=name, metric=metric, level=1 - alpha)
        for name, board in found.items()
    ]
