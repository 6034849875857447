"""Units drawn with unequal chances, so that a pilot has a true gain."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

import simstudy as ss
from simstudy.planning.simulating import _of_own_units, tilted_chances
from simstudy.truth import Responses


def f1_pilot(n: int = 200) -> ss.Outputs:
    model = Responses((0.75, 0.74), (0.77, 0.765))
    return ss.Outputs.from_statistics(
        model.draw(1, n, np.random.default_rng(1)).by("item")[0], "f1", ["new", "old"]
    ).select(["old", "new"])


def test_the_chances_of_right_and_wrong_answers_are_those_of_the_least_change() -> None:
    """Of 7 wins, 5 losses and 18 ties: the nearest shares with a gain of 20 points, by minimising the divergence."""
    answers = np.zeros((2, 30, 2), dtype=int)
    answers[..., 1] = 1
    answers[0, :7, 0] = answers[1, 7:12, 0] = 1
    found = tilted_chances(ss.Outputs.from_statistics(answers, "accuracy"), 20.0)
    shares = np.array([found[:7].sum(), found[7:12].sum(), found[12:].sum()])
    pilot = np.array([7, 5, 18]) / 30

    def divergence(wins: float) -> float:
        three = np.array([wins, wins - 0.2, 1.2 - 2 * wins])
        return float((three * np.log(three / pilot)).sum())

    wins = optimize.minimize_scalar(divergence, bounds=(0.2001, 0.5999), method="bounded", options={"xatol": 1e-10}).x
    np.testing.assert_allclose(shares, [wins, wins - 0.2, 1.2 - 2 * wins], atol=1e-6)


def test_what_is_drawn_has_the_gain() -> None:
    units = f1_pilot()
    draw = _of_own_units(units, 3.0)
    drawn = draw(1, 400_000, np.random.default_rng(0))[0]
    first, second = units.metric.score(drawn.sum(axis=1))
    # The standard error is 25 / sqrt(400,000).
    assert first - second == pytest.approx(3.0, abs=0.2)
    assert draw(7, 11, np.random.default_rng(0)).shape == (7, 2, 11, 3)


def test_gains_that_no_chances_make_are_refused() -> None:
    answers = np.zeros((2, 30, 2), dtype=int)
    answers[..., 1] = 1
    answers[1, :3, 0] = 1
    with pytest.raises(ValueError, match="gain must be from -100.000 to 0.000, however the units are weighted, not 1"):
        tilted_chances(ss.Outputs.from_statistics(answers, "accuracy"), 1.0)
    answers[0, 29, 0] = 1
    with pytest.raises(ValueError, match="gain must be smaller, because it would rest on too few units, not 90"):
        tilted_chances(ss.Outputs.from_statistics(answers, "accuracy"), 90.0)


def test_a_plan_for_more_than_a_pilot_shows_is_held_against_its_units() -> None:
    """F1 of two systems 1 point apart, planned for 5, which no mixture of their laws has."""
    units = f1_pilot()
    plan = ss.plan(ss.Pilot(units, n_sets=1000), gain=5.0)
    held = plan.simulated
    assert held is not None, plan.notes
    better, worse = (units.names[k] for k in np.argsort(-units.scores()))
    assert (held.fitted, held.n_sets, held.systems) == (False, 1000, (better, worse))
    drawn_from = "They were drawn from the items of the pilot with unequal chances, so that the true gain"
    assert f"of {better} and {worse}. {drawn_from}" in held.text()
    # The textbook's power of what was drawn; four standard errors of 1,000 test sets, and 0.02 for the normal form.
    expected = stats.norm.sf(1.96 - 5.0 * np.sqrt(held.n_units) / held.spread)
    assert held.power == pytest.approx(expected, abs=4 * 0.0127 + 0.02)
    assert 1 <= held.exaggeration <= 1.3
