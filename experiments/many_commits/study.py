"""A gate at each commit: a new system at each look, compared with one baseline on one test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.studies import Block, by_block

from .page import show as show

EQUAL, SOME_BETTER, KEPT = (
    "all equal to the baseline",
    "some better than the baseline",
    "changes that raise the score are kept",
)
USUAL, SHARES, PLANNED = RULES = ("the whole level at each look", "alpha / (k (k + 1))", "alpha / planned looks")


@by_block
def generate(condition: Mapping[str, Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of items that each commit wins, and that it loses, against the baseline (n, commits, 2)."""
    return kept_changes(condition, n, rng) if condition["commits"] == KEPT else variants(condition, n, rng)


def variants(condition: Mapping[str, Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Wins and losses of commits that are alike given the baseline's answers."""
    n_items, score, differ = (condition[name] for name in ("n_items", "score", "differ"))
    right = rng.random((n, n_items)) < score
    # The probabilities that keep a commit's score: a right answer becomes wrong, a wrong one right.
    lost, won = differ / 2 / score, differ / 2 / (1 - score)
    extra = detectable_gain(condition) * better_commits(condition) / (1 - score)
    counts = np.empty((n, condition["n_commits"], 2), dtype=np.int64)
    for k, more in enumerate(extra):
        drawn = rng.random((n, n_items))
        counts[:, k, 0] = (~right & (drawn < won + more)).sum(axis=1)
        counts[:, k, 1] = (right & (drawn < lost)).sum(axis=1)
    return counts


def kept_changes(condition: Mapping[str, Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Wins and losses if each change is kept that raises the score on the test set; no change is better on others."""
    shape, score = (n, condition["n_items"]), condition["score"]
    baseline = rng.random(shape) < score
    current = baseline.copy()
    counts = np.empty((n, condition["n_commits"], 2), dtype=np.int64)
    for k in range(condition["n_commits"]):
        # Answers that are drawn again are right as often as before on other test sets.
        changed = np.where(rng.random(shape) < condition["changed"], rng.random(shape) < score, current)
        counts[:, k, 0] = (changed & ~baseline).sum(axis=1)
        counts[:, k, 1] = (~changed & baseline).sum(axis=1)
        raised = changed.sum(axis=1) > current.sum(axis=1)
        current[raised] = changed[raised]
    return counts


def better_commits(condition: Mapping[str, Any]) -> np.ndarray:
    """Which commits are better than the baseline (commits,)."""
    every = condition["better_every"] if condition["commits"] == SOME_BETTER else np.inf
    return np.asarray(np.arange(1, condition["n_commits"] + 1) % every == 0)


def detectable_gain(condition: Mapping[str, Any]) -> float:
    """The true gain for which the usual test has the power, by the normal approximation."""
    z = stats.norm.isf(condition["alpha"] / 2) + stats.norm.ppf(condition["power"])
    return float(z * np.sqrt(condition["differ"] / condition["n_items"]))


@by_block
def gates(block: Block) -> dict[str, dict[str, np.ndarray]]:
    """Whether each rule has passed a commit falsely by a look, and whether it passes a better commit at that look."""
    condition, (wins, losses) = block.condition, np.moveaxis(block.data, 2, 0)
    better = better_commits(condition)
    # McNemar's exact test, two-sided.
    p = np.minimum(2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5), 1)
    statements = {}
    for rule in RULES:
        passed = passes(condition, p, wins > losses, rule)
        false = np.logical_or.accumulate(passed & ~better, axis=1)
        statements[rule] = {f"false pass by look {k}": false[:, k - 1] for k in condition["n_looks"]} | {
            f"true pass at look {k}": passed[:, k - 1] for k in condition["n_looks"] if better[k - 1]
        }
    return statements


def passes(condition: Mapping[str, Any], p: np.ndarray, ahead: np.ndarray, rule: str) -> np.ndarray:
    """Whether each commit passes (sets, commits): a look that passes hands its level on to the next one."""
    passed, level = np.zeros(p.shape, dtype=bool), np.asarray(np.zeros(len(p)))
    for k in range(p.shape[1]):
        handed_on = np.where(passed[:, k - 1] & (rule != USUAL), level, 0.0)
        level = share_of_level(condition, rule, k + 1) + handed_on
        passed[:, k] = ahead[:, k] & (p[:, k] <= level)
    return passed


def share_of_level(condition: Mapping[str, Any], rule: str, k: int) -> float:
    """The part of the level that look k may use by itself."""
    alpha = condition["alpha"]
    return float({USUAL: alpha, SHARES: alpha / (k * (k + 1)), PLANNED: alpha / condition["n_commits"]}[rule])


def summarise(study: Any, tables: dict[str, pd.DataFrame], context: Any) -> dict[str, pd.DataFrame]:
    """The kind's tables, and for each look the level and how many times as many items a test needs at this level."""
    fixed = study.fixed
    looks = pd.DataFrame([(rule, k) for rule in RULES for k in fixed["n_looks"]], columns=["rule", "look"])
    looks["level"] = [share_of_level(fixed, *row) for row in looks.itertuples(index=False)]
    z = stats.norm.ppf(fixed["power"])
    times = (stats.norm.isf(looks["level"] / 2) + z) / (stats.norm.isf(fixed["alpha"] / 2) + z)
    return tables | {"looks": looks.assign(times_items=times**2)}
