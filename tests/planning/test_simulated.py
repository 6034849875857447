"""A plan beside its simulation: the warning that they differ fires as often as it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.cases import Target
from simstudy.planning.differences import Difference, NormalDifference
from simstudy.planning.pilots import of_two
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.sentences import _CHECKED
from simstudy.planning.settings import Level
from simstudy.planning.simulated import Simulated, against_closed_form, simulate
from simstudy.planning.solving import size_for

Drawn = tuple[np.ndarray, np.ndarray]  # type: ignore[type-arg]
Draw = Callable[[int, float, int, np.random.Generator], Drawn]


def normal_sets(n: int, gain: float, sets: int, rng: np.random.Generator) -> Drawn:
    """Of normal differences with standard deviation 1: what the t test finds, and the observed gains."""
    mean = rng.normal(gain, 1 / np.sqrt(n), sets)
    spread = np.sqrt(rng.chisquare(n - 1, sets) / (n - 1))
    return mean * np.sqrt(n) / spread > stats.t.isf(0.025, n - 1), mean


def answered_sets(n: int, gain: float, sets: int, rng: np.random.Generator) -> Drawn:
    """The same of answers, a tenth of which only one system has right, by McNemar's exact test; gains in points."""
    won, lost, _ = rng.multinomial(n, [(0.1 + gain / 100) / 2, (0.1 - gain / 100) / 2, 0.9], sets).T
    p = np.minimum(2 * stats.binom.sf(won - 1, won + lost, 0.5), 1)
    return (p <= 0.05) & (won > lost), 100 * (won - lost) / n


def told(found: np.ndarray, gains: np.ndarray, difference: Difference, gain: float, n: int) -> Simulated:  # type: ignore[type-arg]
    spread, expected, error = against_closed_form(found, gains, difference, gain=gain, n_units=n, level=Level())
    power, sets = float(found.mean()), len(found)
    return Simulated("", ("new", "old"), sets, sets, n, power, 0.0, 1.0, expected, error, spread, spread, 0.0, 1.0)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("draw", "difference", "gain", "n"),
    [(normal_sets, NormalDifference(1.0), 0.65, 20), (answered_sets, RightOrWrongDifference(0.1), 5.0, 300)],
)
def test_exact_plans_are_said_to_be_off_as_rarely_as_is_said(
    draw: Draw, difference: Difference, gain: float, n: int
) -> None:
    """One in a hundred: of 600 exact plans six, and 21 once in a million runs."""
    rng = np.random.default_rng(1)
    off = [told(*draw(n, gain, 400, rng), difference, gain, n).off for _ in range(600)]
    assert sum(off) <= 20


def test_the_error_is_that_of_both_estimates_together() -> None:
    """The standard deviation of the comparison over 600 simulations of one plan."""
    rng = np.random.default_rng(2)
    rows = [told(*normal_sets(20, 0.65, 400, rng), NormalDifference(1.0), 0.65, 20) for _ in range(600)]
    compared = np.array([row.power - row.expected for row in rows])
    assert np.mean([row.error for row in rows]) == pytest.approx(compared.std(), rel=0.1)


def test_a_plan_that_is_off_is_told() -> None:
    """Of a test that finds a tenth less than the closed form says."""
    rng = np.random.default_rng(3)
    found, gains = normal_sets(20, 0.65, 2000, rng)
    assert not told(found, gains, NormalDifference(1.0), 0.65, 20).off
    fewer = found & (rng.random(2000) < 0.9)
    off = told(fewer, gains, NormalDifference(1.0), 0.65, 20)
    assert off.off
    assert "This plan is somewhat off" in off.text()
    assert "This plan is somewhat off" not in replace(off, error=1.0).text()


def test_a_plan_that_its_simulation_refutes_says_so_first() -> None:
    """A system that scores 30 on two of forty items: most sets of sixteen items have too few of these for any test."""
    scores = pd.DataFrame({"a": [30.0, 30.0] + [0.0] * 38, "b": 0.1 * np.random.default_rng(0).normal(size=40)})
    plan = ss.plan(ss.Pilot(ss.Outputs.from_scores(scores), n_sets=1000), gain=5)
    held = plan.simulated
    assert held is not None
    assert held.planned == pytest.approx(plan.answers["power"].item())
    assert held.power < 0.5 < held.planned
    said = (
        f"Do not rely on this plan: it expects power {held.planned:.2f}, and the simulated power is {held.power:.2f}."
    )
    assert plan.text.count(said) == repr(plan).count(said) == 1
    assert plan.text.count("Simulated: ") == 1
    assert "This plan has fewer: do not rely on it." in plan.text
    # At most a tenth beyond the interval is no reason.
    assert "Do not rely" not in replace(held, planned=held.high + 0.1).text()
    assert "Do not rely" in replace(held, planned=held.low - 0.11).text()


def test_fewer_units_than_long_tails_were_simulated_with() -> None:
    """The smallest plan of those is for a gain of 0.3 standard deviations."""
    assert size_for(NormalDifference(1.0), 0.3) == _CHECKED


def test_how_many_sets_are_too_few() -> None:
    outputs = ss.truth.correlated_accuracies([0.6, 0.7], 100, seed=1)
    case = of_two(outputs)
    with pytest.raises(ValueError, match="Pilot.n_sets must be at least 200, not 100"):
        ss.Pilot(outputs, n_sets=100)
    assert isinstance(simulate(outputs, Target(outputs.metric, 5.0), 500, case=case, n_sets=200), Simulated)


@pytest.mark.slow
@pytest.mark.statistical
def test_simulated_answers_are_rarely_off() -> None:
    """The whole of it: 300 simulations of one plan by sign flips; nine and more once in a hundred runs, 16 never."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.66], 200, seed=5)
    asked, case = Target(outputs.metric, 6.0), of_two(outputs)
    rows = [simulate(outputs, asked, 400, case=case, n_sets=400, seed=seed) for seed in range(300)]
    assert sum(row.off for row in rows if isinstance(row, Simulated)) <= 15
