"""One block of suites: what each way to test and to estimate the gain says of them.

Right and wrong answers of two systems on a task are two counts: items that only the first, or only the second, has
right. All p-values and intervals follow from these counts as `simstudy.across_tasks` has them; a test holds both
against each other.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from simstudy.studies import derived_seed

from .settings import DRAWN, Settings, Tasks

MACRO, FLIPS, T_TASKS, POOLED, WON = METHODS = (
    "macro, these tasks",
    "macro, tasks like these: sign flips",
    "macro, tasks like these: t test",
    "all items pooled",
    "tasks won, sign test",
)
# So many tasks have all their flips looked at.
_ALL = 12
_TIE = 1e-9


def examine(
    study: Settings, sizes: str, agreement: str, n_tasks: int, truth: str, redrawn: str, block: int, n_sets: int
) -> list[dict[str, Any]]:
    """How many suites each method finds a gain in, and how many of its intervals cover the macro gain."""
    at = (sizes, agreement, n_tasks, truth, redrawn, block)
    rng = np.random.default_rng(derived_seed(study.seed, *at))
    tasks = Tasks.draw(
        study, study.sizes[sizes], study.agreement[agreement], truth, redrawn, (n_sets, n_tasks), rng
    )  # fmt: skip
    won = rng.binomial(tasks.n_items, tasks.first)
    lost = rng.binomial(tasks.n_items - won, tasks.second / (1 - tasks.first))
    true = tasks.population_gain if redrawn == DRAWN else tasks.gain
    return [
        counted(method, found, true, study.alpha) for method, found in outcomes(tasks.n_items, won, lost, study, rng)
    ]


def outcomes(
    n: Any, won: Any, lost: Any, study: Settings, rng: np.random.Generator
) -> list[tuple[str, dict[str, Any]]]:
    """p-values (M,) and intervals (M,) of each method, from numbers of items (M, T), won and lost by the first."""
    gains = (won - lost) / n
    return [
        (MACRO, these_tasks(n, won, lost, study, rng)),
        (FLIPS, like_these(gains, study, rng)),
        (T_TASKS, like_these(gains, study, None)),
        (POOLED, pooled(n, won, lost, study)),
        (WON, tasks_won(gains)),
    ]


def these_tasks(n: Any, won: Any, lost: Any, study: Settings, rng: np.random.Generator) -> dict[str, Any]:
    """Sign flips of items' contributions; variances of tasks added, Satterthwaite's degrees of freedom."""
    n_tasks, gains, differ = n.shape[1], (won - lost) / n, won + lost
    gain = gains.mean(axis=1)
    extreme = np.zeros(len(n), dtype=np.int64)
    for _ in range(study.n_flips):
        flipped = ((2 * rng.binomial(differ, 0.5) - differ) / n).mean(axis=1)
        extreme += np.abs(flipped) >= np.abs(gain) - _TIE
    of_tasks = (differ / n - gains**2) / (n - 1) / n_tasks**2
    variance = of_tasks.sum(axis=1)
    known = variance > 0
    df = np.ones(len(n))
    df[known] = variance[known] ** 2 / (of_tasks**2 / (n - 1)).sum(axis=1)[known]
    half = np.where(known, stats.t.ppf(1 - study.alpha / 2, df) * np.sqrt(variance), np.nan)
    return {"p": (extreme + 1) / (study.n_flips + 1), "gain": gain, "half": half}


def like_these(gains: Any, study: Settings, rng: np.random.Generator | None) -> dict[str, Any]:
    """Sign flips of tasks' gains, or Student's t without a generator; the interval is of t."""
    n_tasks, gain = gains.shape[1], gains.mean(axis=1)
    se = gains.std(axis=1, ddof=1) / np.sqrt(n_tasks)
    half = np.where(se > 0, stats.t.ppf(1 - study.alpha / 2, n_tasks - 1) * se, np.nan)
    if rng is None:
        t = np.divide(gain, se, out=np.zeros_like(gain), where=se > 0)
        return {"p": np.where(se > 0, 2 * stats.t.sf(np.abs(t), n_tasks - 1), 1.0), "gain": gain, "half": half}
    if n_tasks <= _ALL:
        flips, more = np.array(list(product([1, -1], repeat=n_tasks))).T, 0
    else:
        flips, more = rng.choice([-1, 1], (n_tasks, study.n_flips)), 1
    extreme = (np.abs(gains @ flips) >= np.abs(gains.sum(axis=1))[:, None] - _TIE).sum(axis=1)
    return {"p": (extreme + more) / (flips.shape[1] + more), "gain": gain, "half": half}


def pooled(n: Any, won: Any, lost: Any, study: Settings) -> dict[str, Any]:
    """McNemar's exact test of all items as one test set, and the interval of their gain by t."""
    total, more, less = n.sum(axis=1), won.sum(axis=1), lost.sum(axis=1)
    gain = (more - less) / total
    p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(more, less), more + less, 0.5))
    se = np.sqrt(((more + less) / total - gain**2) / (total - 1))
    return {"p": p, "gain": gain, "half": stats.t.ppf(1 - study.alpha / 2, total - 1) * se}


def tasks_won(gains: Any) -> dict[str, Any]:
    """The sign test of tasks won and lost; there is no interval."""
    more, less = (gains > 0).sum(axis=1), (gains < 0).sum(axis=1)
    p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(more, less), more + less, 0.5))
    return {"p": p, "gain": gains.mean(axis=1), "half": np.full(len(gains), np.nan)}


def counted(method: str, found: dict[str, Any], true: Any, alpha: float) -> dict[str, Any]:
    """Counts over suites; an interval that is not there covers only a gain without error."""
    known = ~np.isnan(found["half"])
    covers = np.abs(found["gain"] - true) <= np.where(known, found["half"], 0) + _TIE
    return {
        "method": method,
        "n_sets": len(found["p"]),
        "n_significant": int((found["p"] <= alpha + _TIE).sum()),
        "n_covered": int(covers.sum()),
        "n_intervals": int(known.sum()) if method != WON else 0,
        "sum_true": float(np.sum(np.broadcast_to(true, len(covers)))),
        "sum_half": float(np.nansum(found["half"])),
    }
