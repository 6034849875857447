"""One cell of a growing test set: the usual test at every look, and the sequential test after every item."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

import simstudy as ss
from simstudy.studies import derived_seed

from .settings import Condition, Settings

USUAL, SEQUENTIAL = "usual test at each look", "sequential test"


def look_again(study: Settings, name: str, block: int, n_sets: int) -> list[dict[str, Any]]:
    """In how many sets of equally good systems each test has rejected by each number of looks."""
    condition, growing = study.conditions[name], study.growing
    rng = np.random.default_rng(derived_seed(study.seed, "growing", name, block))
    looks = np.arange(1, max(growing.n_looks) + 1) * growing.step
    drawn = condition.draw((n_sets, int(looks[-1])), 0.0, rng)
    first = np.array([first_rejection(own, study.alpha) for own in drawn])
    by_then = {
        USUAL: np.logical_or.accumulate(p_values(condition, drawn, looks) <= study.alpha, axis=1),
        SEQUENTIAL: first[:, None] <= looks,
    }
    return [
        {"n_looks": n, "method": method, "n_sets": n_sets, "n_rejected": int(rejected[:, n - 1].sum())}
        for method, rejected in by_then.items()
        for n in growing.n_looks
    ]


def cost(study: Settings, name: str, gain: float, block: int, n_sets: int) -> list[float]:
    """After how many items, as a multiple of the planned ones, the sequential test rejects; and the usual test once.

    The first number is the share of sets in which the usual test rejects after the planned items.
    """
    condition = study.conditions[name]
    rng = np.random.default_rng(derived_seed(study.seed, "cost", name, gain, block))
    planned = planned_items(study, condition, gain)
    drawn = condition.draw((n_sets, study.growing.most * planned), gain, rng)
    usual = p_values(condition, drawn, np.array([planned]))[:, 0] <= study.alpha
    first = np.array([first_rejection(own, study.alpha) for own in drawn])
    return [float(usual.mean()), *(first / planned).tolist()]


def planned_items(study: Settings, condition: Condition, gain: float) -> int:
    """How many items a test of a mean needs for a true gain, by the normal approximation."""
    z = stats.norm.ppf(1 - study.alpha / 2) + stats.norm.ppf(study.power)
    return int(np.ceil(z**2 * condition.variance(gain) / gain**2))


def first_rejection(differences: np.ndarray, alpha: float) -> float:
    """After how many items either side's e-value is first at least 2 / alpha; infinity for never."""
    reached = [ss.comparisons.e_values(sign * differences) >= 2 / alpha for sign in (1, -1)]
    either = reached[0] | reached[1]
    return float(either.argmax() + 1) if either.any() else np.inf


def p_values(condition: Condition, differences: np.ndarray, looks: np.ndarray) -> np.ndarray:
    """Two-sided p-values (sets, looks) of McNemar's exact test of answers, or of the paired t test."""
    if condition.kind == "answers":
        wins, losses = (np.cumsum(differences == sign, axis=1)[:, looks - 1] for sign in (1, -1))
        return mcnemar(wins, losses)
    mean = np.cumsum(differences, axis=1)[:, looks - 1] / looks
    square = np.cumsum(differences**2, axis=1)[:, looks - 1] / looks
    se = np.sqrt((square - mean**2).clip(min=0) / (looks - 1))
    t = np.divide(np.abs(mean), se, out=np.zeros_like(mean), where=se > 0)
    return np.asarray(2 * stats.t.sf(t, looks - 1))


def mcnemar(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Two-sided p-values of McNemar's exact test."""
    return np.asarray(np.minimum(2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5), 1.0))
