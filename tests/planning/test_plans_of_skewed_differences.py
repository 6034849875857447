"""Plans where the closed form is off: pooled ratios, skew, long tails, mostly zeros, few units (slow lane)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import simstudy as ss
from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.metrics.base import Array, FloatArray
from simstudy.outputs import Outputs
from tests.planning.test_pilots import Draw, f1, precision


def means(values: Callable[[tuple[int, int], np.random.Generator], FloatArray]) -> tuple[str, Draw]:
    """Differences of two systems' scores, of which the second one's are 0."""

    def draw(n_sets: int, n: int, rng: np.random.Generator) -> Array:
        drawn = values((n_sets, n), rng)
        one = np.ones_like(drawn)
        return np.stack([np.stack([drawn, one], -1), np.stack([0 * drawn, one], -1)], axis=1)

    return "mean", draw


def log_normal(side: float, gain: float) -> tuple[str, Draw]:
    """Of standard deviation 1."""
    mean, sd = np.exp(0.5), np.sqrt((np.e - 1) * np.e)
    return means(lambda shape, rng: gain + side * (rng.lognormal(0, 1, shape) - mean) / sd)


def mostly_zero(share: float, gain: float) -> tuple[str, Draw]:
    """So many are not 0: normal ones around the gain over that share."""
    return means(lambda shape, rng: (rng.random(shape) < share) * (gain / share + rng.normal(0, share**-0.5, shape)))


# What is planned with power 0.8, and between which powers it is in truth, by simulation.
CONDITIONS: dict[str, tuple[tuple[str, Draw], tuple[float, float]]] = {
    "precision .9 and .6": (precision((0.9, 0.6), (0.3, 0.3)), (0.76, 0.84)),
    "precision .9 and .6, of few": (precision((0.9, 0.6), (0.1, 0.3)), (0.76, 0.84)),
    "precision .9 and .6, of many": (precision((0.9, 0.6), (0.3, 0.1)), (0.76, 0.85)),
    "precision .6 and .3": (precision((0.6, 0.3), (0.2, 0.2)), (0.74, 0.84)),
    "precision .95 and .85": (precision((0.95, 0.85), (0.2, 0.2)), (0.76, 0.86)),
    "F1, recall up and precision down": (f1((0.85, 0.55), (1.1, 0.2)), (0.76, 0.84)),
    "F1, both up": (f1((0.8, 0.6), (0.3, 0.9)), (0.76, 0.84)),
    "F1, nine items": (f1((0.9, 0.6), (0.1, 0.5)), (0.7, 0.9)),
    "log-normal, right, small": (log_normal(1, 0.2), (0.76, 1.0)),
    "log-normal, right": (log_normal(1, 0.3), (0.76, 1.0)),
    "log-normal, left, small": (log_normal(-1, 0.2), (0.76, 1.0)),
    "log-normal, left": (log_normal(-1, 0.3), (0.76, 1.0)),
    "t(2.5)": (means(lambda shape, rng: 0.2 + rng.standard_t(2.5, shape) / np.sqrt(5)), (0.76, 1.0)),
    "95 % zeros, small": (mostly_zero(0.05, 0.15), (0.76, 1.0)),
    "95 % zeros": (mostly_zero(0.05, 0.3), (0.76, 1.0)),
}


def found(metric: str, draw: Draw, n: int, n_sets: int) -> float:
    """How often the default test finds the first system better."""
    rng, count, done = np.random.default_rng(7), 0, 0
    at_once = max(1, min(500, 1_000_000 // n))
    while done < n_sets:
        drawn = DrawnPairs(draw(at_once, n, rng), metric, n_resamples=999, seed=done)
        count += drawn.decisions(["sign_flips"], (0.05,), ["two-sided"])[0]["n_rejected_first"]
        done += at_once
    return count / done


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", CONDITIONS)
def test_the_power_is_in_the_range_that_plans_print(name: str) -> None:
    (metric, draw), (low, high) = CONDITIONS[name]
    population = Outputs.from_statistics(draw(1, 200_000, np.random.default_rng(1))[0], metric, ["new", "old"])
    gain = float(population.scores()[0] - population.scores()[1])
    plan = ss.plan(ss.Pilot(population, n_sets=0), gain=gain)
    n = int(plan.answers["n_units"].iloc[0])
    power = found(metric, draw, n, 5000)
    print(f"{name}: gain {gain:.3g}, {n} units, kurtosis {plan.cases[0].kurtosis:.1f}, {power:.3f}")
    assert low <= power <= high
