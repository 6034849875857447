"""Suites of tasks whose true gains are known, and tests and intervals of the average gain."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from simstudy.studies import Block, by_block

from .page import show as show
from .tables import summarise as summarise

NO_GAIN, SKEWED, GAIN = "no gain on any task", "much better on few tasks", "a true gain"
# Only items are drawn again, of the same tasks in every suite.
ITEMS = "items"
MACRO, FLIPS, T_TASKS, POOLED, WON = (
    "macro, these tasks",
    "macro, tasks like these: sign flips",
    "macro, tasks like these: t test",
    "all items pooled",
    "tasks won, sign test",
)
# With at most so many tasks, all flips of their signs are enumerated.
MOST_ENUMERATED = 12
TIE = 1e-9


def truth(condition: Mapping[str, Any]) -> float:
    """The true macro gain in points: of these tasks if items are redrawn, else of the population of tasks."""
    if condition["gains"] != GAIN:
        return 0.0
    least, most = condition["least"], condition["most"]
    if condition["redrawn"] == ITEMS:
        accuracies = np.linspace(least, most, condition["n_tasks"])
        differ = np.mean(2 * accuracies * (1 - accuracies))
    else:
        # E(2 a (1 - a)) of an accuracy that is uniform between its ends.
        differ = 2 * ((least + most) / 2 - (least**2 + least * most + most**2) / 3)
    return float(100 * condition["gain"] * differ * (1 - condition["correlation"]))


@by_block
def generate(condition: Mapping[str, Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Suites (n, tasks, 3): the items of each task, and how many only the first or only the second has right."""
    n_items, first, second = draw_tasks(condition, n, rng)
    won = rng.binomial(n_items, first)
    lost = rng.binomial(n_items - won, second / (1 - first))
    return np.stack([n_items, won, lost], axis=-1)


def draw_tasks(
    condition: Mapping[str, Any], n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items of each task, and the true shares of them that only the first or only the second has right (n, tasks)."""
    n_tasks, least, most = (condition[name] for name in ("n_tasks", "least", "most"))
    smallest, largest = condition["smallest"], condition["largest"]
    mean = condition["gain"] if condition["gains"] == GAIN else 0.0
    shape = (n, n_tasks)
    if condition["redrawn"] == ITEMS:
        # The same tasks in every block: sizes and difficulties spread evenly, in an order of their own.
        fixed = np.random.default_rng([condition["tasks_seed"], n_tasks])
        sizes = np.geomspace(smallest, largest, n_tasks)
        accuracies = fixed.permutation(np.linspace(least, most, n_tasks))
        relative = mean + task_gains(condition, (1, n_tasks), fixed)[0]
        sizes, accuracies, relative = (np.broadcast_to(values, shape) for values in (sizes, accuracies, relative))
    else:
        sizes = np.exp(rng.uniform(np.log(smallest), np.log(largest), shape))
        accuracies, relative = rng.uniform(least, most, shape), mean + task_gains(condition, shape, rng)
    differ = 2 * accuracies * (1 - accuracies) * (1 - condition["correlation"])
    if condition["redrawn"] == ITEMS:
        # These tasks have exactly this macro gain.
        relative = relative + mean - (relative * differ).sum(axis=1, keepdims=True) / differ.sum(axis=1, keepdims=True)
    gains = relative * differ
    return sizes.round().astype(np.int64), (differ + gains) / 2, (differ - gains) / 2


def task_gains(condition: Mapping[str, Any], shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Each task's gain beside the mean one, as a share of the items that differ; 0 on average over the population."""
    if condition["gains"] == NO_GAIN:
        return np.zeros(shape)
    if condition["gains"] == SKEWED:
        # On one task in ten far better, on the others a little worse: standard deviation 1.
        return np.asarray(condition["spread"] * np.where(rng.random(shape) < 0.1, 3.0, -1 / 3))
    return np.asarray(condition["spread"] * np.clip(rng.standard_normal(shape), -2, 2))


@by_block
def averages(block: Block) -> dict[str, dict[str, np.ndarray]]:
    """p-value, gain and interval of each method; all follow from the counts, as `simstudy.across_tasks` has them."""
    n, won, lost = np.moveaxis(block.data, 2, 0)
    rng, condition = np.random.default_rng(block.seed("flips")), block.condition
    gains = (won - lost) / n
    return {
        MACRO: these_tasks(n, won, lost, condition, rng),
        FLIPS: {"p_value": flips_of_tasks(gains, condition["n_flips"], rng)},
        T_TASKS: t_of_tasks(gains, condition["alpha"]),
        POOLED: pooled(n, won, lost, condition["alpha"]),
        WON: {"p_value": sign_test((gains > 0).sum(axis=1), (gains < 0).sum(axis=1))},
    }


def these_tasks(
    n: np.ndarray, won: np.ndarray, lost: np.ndarray, condition: Mapping[str, Any], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Sign flips of items' contributions; variances of tasks added, Satterthwaite's degrees of freedom."""
    n_tasks, gains, differ, n_flips = n.shape[1], (won - lost) / n, won + lost, condition["n_flips"]
    gain = gains.mean(axis=1)
    extreme = np.zeros(len(n), dtype=np.int64)
    for _ in range(n_flips):
        flipped = ((2 * rng.binomial(differ, 0.5) - differ) / n).mean(axis=1)
        extreme += np.abs(flipped) >= np.abs(gain) - TIE
    variances = (differ / n - gains**2) / (n - 1) / n_tasks**2
    variance = variances.sum(axis=1)
    with np.errstate(invalid="ignore"):
        df = variance**2 / (variances**2 / (n - 1)).sum(axis=1)
    return {"p_value": (extreme + 1) / (n_flips + 1)} | interval(gain, np.sqrt(variance), df, condition["alpha"])


def flips_of_tasks(gains: np.ndarray, n_flips: int, rng: np.random.Generator) -> np.ndarray:
    """p-values of sign flips of the tasks' gains (n, tasks): all flips of few tasks, or random ones."""
    n_tasks = gains.shape[1]
    if n_tasks <= MOST_ENUMERATED:
        flips, observed = np.array(list(product([1, -1], repeat=n_tasks))).T, 0
    else:
        flips, observed = rng.choice([-1, 1], (n_tasks, n_flips)), 1
    extreme = (np.abs(gains @ flips) >= np.abs(gains.sum(axis=1))[:, None] - TIE).sum(axis=1)
    return np.asarray((extreme + observed) / (flips.shape[1] + observed))


def t_of_tasks(gains: np.ndarray, alpha: float) -> dict[str, np.ndarray]:
    """Student's t test and interval of the tasks' gains."""
    n_tasks, gain = gains.shape[1], gains.mean(axis=1)
    se = gains.std(axis=1, ddof=1) / np.sqrt(n_tasks)
    t = np.divide(np.abs(gain), se, out=np.zeros_like(gain), where=se > 0)
    return {"p_value": 2 * stats.t.sf(t, n_tasks - 1)} | interval(gain, se, n_tasks - 1, alpha)


def pooled(n: np.ndarray, won: np.ndarray, lost: np.ndarray, alpha: float) -> dict[str, np.ndarray]:
    """McNemar's exact test of all items as one test set, and the interval of their gain by t."""
    total, wins, losses = (counts.sum(axis=1) for counts in (n, won, lost))
    gain = (wins - losses) / total
    se = np.sqrt(((wins + losses) / total - gain**2) / (total - 1))
    return {"p_value": sign_test(wins, losses)} | interval(gain, se, total - 1, alpha)


def sign_test(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Two-sided p-values of the sign test; of right and wrong answers it is McNemar's exact test."""
    return np.asarray(np.minimum(2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5), 1))


def interval(gain: np.ndarray, se: np.ndarray, df: Any, alpha: float) -> dict[str, np.ndarray]:
    """The gain in points with its interval by Student's t; without a standard error there is none."""
    reach = np.where(se > 0, stats.t.ppf(1 - alpha / 2, df) * se, np.nan)
    return {"estimate": 100 * gain, "low": 100 * (gain - reach), "high": 100 * (gain + reach)}
