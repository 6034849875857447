"""One cell of commits: a new system at each look, compared with one baseline on one test set."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from simstudy.studies import derived_seed

from .growing import mcnemar
from .settings import Settings

EQUAL, SOME_BETTER, KEPT = TRUTHS = (
    "all equal to the baseline",
    "some better than the baseline",
    "changes that raise the score are kept",
)
USUAL, SHARES, PLANNED = RULES = ("the whole level at each look", "alpha / (k (k + 1))", "alpha / planned looks")


def examine(study: Settings, truth: str, block: int, n_sets: int) -> list[dict[str, Any]]:
    """In how many sets each rule has passed a commit falsely by each look, and has passed a true gain at it."""
    commits = study.commits
    rng = np.random.default_rng(derived_seed(study.seed, "commits", truth, block))
    better = np.zeros(commits.n_commits, dtype=bool)
    if truth == SOME_BETTER:
        better[commits.better_every - 1 :: commits.better_every] = True
    p, ahead = kept(study, n_sets, rng) if truth == KEPT else variants(study, better, n_sets, rng)
    rows = []
    for rule in RULES:
        passed = gate(p, ahead, rule, study)
        false = np.logical_or.accumulate(passed & ~better, axis=1)
        for n in commits.n_looks:
            found = int(passed[:, n - 1].sum()) if better[n - 1] else None
            rows.append(
                {"n_looks": n, "rule": rule, "n_sets": n_sets, "n_false": int(false[:, n - 1].sum()), "n_found": found}
            )
    return rows


def variants(
    study: Settings, better: np.ndarray, n_sets: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """p-values (sets, commits) of commits that are alike given the baseline's answers, and whether they are ahead."""
    commits = study.commits
    right = rng.random((n_sets, commits.n_items, 1)) < commits.score
    # The chances that keep a commit's score: of a right answer to become wrong, and of a wrong one to become right.
    lost, won = commits.differ / 2 / commits.score, commits.differ / 2 / (1 - commits.score)
    extra = gain(study) * better / (1 - commits.score)
    p, ahead = np.empty((2, n_sets, commits.n_commits))
    for k, more in enumerate(extra):
        drawn = rng.random((n_sets, commits.n_items))
        losses = (right[..., 0] & (drawn < lost)).sum(axis=1)
        wins = (~right[..., 0] & (drawn < won + more)).sum(axis=1)
        p[:, k], ahead[:, k] = mcnemar(wins, losses), wins > losses
    return p, ahead.astype(bool)


def gain(study: Settings) -> float:
    """The true gain that the usual test finds with the power asked for."""
    z = stats.norm.ppf(1 - study.alpha / 2) + stats.norm.ppf(study.power)
    return float(z * np.sqrt(study.commits.differ / study.commits.n_items))


def kept(study: Settings, n_sets: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same of somebody who keeps each change that raises the score on the test set; no change is any better."""
    commits = study.commits
    shape = (n_sets, commits.n_items)
    baseline = rng.random(shape) < commits.score
    current = baseline.copy()
    p, ahead = np.empty((2, n_sets, commits.n_commits))
    for k in range(commits.n_commits):
        # Answers that are drawn again are right as often as before on other test sets.
        tried = np.where(rng.random(shape) < commits.changed, rng.random(shape) < commits.score, current)
        wins, losses = (tried & ~baseline).sum(axis=1), (~tried & baseline).sum(axis=1)
        p[:, k], ahead[:, k] = mcnemar(wins, losses), wins > losses
        raised = tried.sum(axis=1) > current.sum(axis=1)
        current[raised] = tried[raised]
    return p, ahead.astype(bool)


def gate(p: np.ndarray, ahead: np.ndarray, rule: str, study: Settings) -> np.ndarray:
    """Whether each commit passes (sets, commits): a look that passes hands its level on to the next one."""
    passed, level = np.zeros(p.shape, dtype=bool), np.zeros(len(p))
    for k in range(p.shape[1]):
        handed_on = np.where(passed[:, k - 1], level, 0.0) if rule != USUAL else np.zeros(len(p))
        level = share(study, rule, k + 1) + handed_on
        passed[:, k] = ahead[:, k] & (p[:, k] <= level)
    return passed


def share(study: Settings, rule: str, k: int) -> float:
    """The part of the level that look k may use by itself."""
    alpha = study.alpha
    return {USUAL: alpha, SHARES: alpha / (k * (k + 1)), PLANNED: alpha / study.commits.n_commits}[rule]


def times_items(study: Settings, level: float) -> float:
    """How many times as many items a test at this level needs for the power of one at alpha."""
    z = stats.norm.ppf(study.power)
    return float(((stats.norm.isf(level / 2) + z) / (stats.norm.isf(study.alpha / 2) + z)) ** 2)
