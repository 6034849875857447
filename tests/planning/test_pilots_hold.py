"""What pilots leave open: how often the truth is in the printed intervals of spread and power (slow lane)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.metrics.base import FloatArray
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.solving import size_for
from simstudy.planning.spreads import spread_interval

Draw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]

#: Values, their true standard deviation, and the least share of intervals that hold it.
VALUES: dict[str, tuple[Draw, float, float]] = {
    "normal": (lambda rng, shape: rng.normal(size=shape), 1.0, 0.94),
    "ratings": (
        lambda rng, shape: rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], p=[0.05, 0.2, 0.5, 0.2, 0.05], size=shape),
        np.sqrt(0.8),
        0.94,
    ),
    "nine of ten 0": (lambda rng, shape: (rng.random(shape) < 0.1) * rng.normal(size=shape), np.sqrt(0.1), 0.94),
    "t(5)": (lambda rng, shape: rng.standard_t(5, shape), np.sqrt(5 / 3), 0.9),
    "normal times log-normal": (
        lambda rng, shape: rng.normal(size=shape) * rng.lognormal(0, 0.8, shape),
        np.exp(0.64),
        0.84,
    ),
    "log-normal": (lambda rng, shape: rng.lognormal(0, 1, shape), np.sqrt((np.e - 1) * np.e), 0.82),
    "log-normal differences": (
        lambda rng, shape: rng.lognormal(0, 1, shape) - rng.lognormal(0, 1, shape),
        np.sqrt(2 * (np.e - 1) * np.e),
        0.83,
    ),
}


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("n", [50, 100, 200])
@pytest.mark.parametrize("name", VALUES)
def test_the_interval_of_a_spread_holds_the_truth_as_often_as_it_says(name: str, n: int) -> None:
    """Of 4,000 pilots; the least shares are those of the docstring, less two standard errors."""
    draw, true, least = VALUES[name]
    ends = np.array([spread_interval(values) for values in draw(np.random.default_rng(n), (4000, n)) if values.any()])
    held = float(((ends[:, 1] <= true) & (true <= ends[:, 2])).mean())
    print(f"{name}, {n}: {held:.3f}")
    assert held >= least


@pytest.mark.slow
@pytest.mark.statistical
def test_the_range_of_power_that_a_pilot_leaves_holds_the_true_power() -> None:
    """Pilots of 50 items with agreement 0.9, each planned for 5 points: the true power of what each one plans."""
    rng, held, powers = np.random.default_rng(0), [], []
    true = RightOrWrongDifference(0.1)
    for _ in range(200):
        wins, losses, _ = rng.multinomial(50, [0.06, 0.04, 0.9])
        if wins + losses < 3:
            continue  # No room for the gain.
        answers = np.zeros((50, 2), dtype=int)
        answers[:wins, 0] = 1
        answers[wins : wins + losses, 1] = 1
        pilot = ss.Outputs.from_scores(pd.DataFrame(answers, columns=["new", "old"]), "accuracy")
        row = ss.plan(ss.Pilot(pilot, n_sets=0), gain=5.0, sizes=[]).answers.iloc[0]
        powers.append(true.power(5.0, int(row["n_units"]), Level()))
        held.append(row["power_low"] <= powers[-1] <= row["power_high"])
    print(f"{np.mean(held):.3f}; 10 and 90 %: {np.quantile(powers, [0.1, 0.9]).round(2)}")
    assert np.mean(held) >= 0.93
    # Which is why the range is printed.
    assert np.quantile(powers, 0.1) < 0.6


def test_what_a_pilot_leaves_open_is_printed() -> None:
    """The power at the ends of the interval of disagreement, by the exact form; the far end's own size."""
    answers = np.zeros((50, 2), dtype=int)
    answers[:3, 0] = answers[3:5, 1] = 1
    pilot = ss.Outputs.from_scores(pd.DataFrame(answers, columns=["new", "old"]), "accuracy")
    plan = ss.plan(ss.Pilot(pilot, n_sets=0), gain=5.0)
    n = int(plan.answers["n_units"].iloc[0])
    # Clopper and Pearson's interval of 5 of 50, and at least the gain.
    ends = [RightOrWrongDifference(share) for share in (0.05, 0.218136)]
    high, low = (end.power(5.0, n, Level()) for end in ends)
    far = size_for(ends[1], 5.0)
    assert (
        f"leaves the power of {n} items open between {low:.2f} and {high:.2f} (95 % interval); {far} items" in plan.text
    )
