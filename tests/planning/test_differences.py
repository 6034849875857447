"""What tests find of a true gain: closed forms against noncentral t, enumeration and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.planning.correlated_answers import disagreement_of, disagreement_of_correlation, of_spread
from simstudy.planning.differences import NormalDifference
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.solving import detectable_gain, size_for


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize(("gain", "n"), [(0.2, 10), (0.5, 10), (0.5, 8), (0.1, 400), (0.05, 3000)])
def test_power_of_a_normal_difference_is_that_of_the_noncentral_t(gain: float, n: int, alternative: str) -> None:
    """At the level that flips of so many units have: a whole number of their 2^n outcomes."""
    level = Level(0.05, alternative)
    nominal = 0.05 if alternative == "greater" else 0.025
    tail = np.floor(nominal * 2.0**n) / 2.0**n if n < 30 else nominal
    found = NormalDifference(1.0).detection(gain, n, level)
    critical, shift = stats.t.isf(tail, n - 1), gain * np.sqrt(n)
    assert found.power == pytest.approx(stats.nct.sf(critical, n - 1, shift), abs=2e-4)
    wrong = stats.nct.cdf(-critical, n - 1, shift) if alternative == "two-sided" else 0.0
    assert found.wrong == pytest.approx(wrong, abs=2e-4)


def test_significant_gains_exaggerate_as_simulated_ones_do() -> None:
    n, sd, gain = 12, 2.0, 0.8
    drawn = np.random.default_rng(0).normal(gain, sd, (400_000, n))
    mean, t = drawn.mean(axis=1), stats.ttest_1samp(drawn, 0, axis=1).statistic
    significant = np.abs(t) > stats.t.isf(0.025, n - 1)
    found = NormalDifference(sd).detection(gain, n, Level())
    assert found.exaggeration == pytest.approx(np.abs(mean[significant]).mean() / gain, rel=5e-3)
    assert found.wrong_sign == pytest.approx((t[significant] < 0).mean(), rel=0.2)


def enumerated(n: int, only_better: float, only_worse: float, level: Level) -> tuple[float, float, float]:
    """Power, wrong winners and the mean significant difference in items, over all results of n items."""
    power = wrong = size = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            chance = stats.multinomial.pmf(
                [b, c, n - b - c], n, [only_better, only_worse, 1 - only_better - only_worse]
            )
            sides = 2 if level.alternative == "two-sided" else 1
            right, left = (min(1.0, sides * stats.binom.sf(k - 1, b + c, 0.5)) for k in (b, c))
            if right <= level.alpha / level.comparisons and b > c:
                power, size = power + chance, size + chance * (b - c)
            elif left <= level.alpha / level.comparisons and c > b and sides == 2:
                wrong, size = wrong + chance, size + chance * (c - b)
    return power, wrong, size / (power + wrong)


@pytest.mark.parametrize(
    ("n", "disagreement", "gain", "level"),
    [(25, 0.4, 10.0, Level()), (40, 0.3, 5.0, Level(0.1)), (30, 0.5, 20.0, Level(0.05, "greater")),
     (35, 0.6, 20.0, Level(0.05, comparisons=4))],
)  # fmt: skip
def test_right_and_wrong_answers_are_enumerated(n: int, disagreement: float, gain: float, level: Level) -> None:
    share = gain / 100
    expected = enumerated(n, (disagreement + share) / 2, (disagreement - share) / 2, level)
    found = RightOrWrongDifference(disagreement).detection(gain, n, level)
    assert (found.power, found.wrong, found.exaggeration * share * n) == pytest.approx(expected, rel=1e-9)


def test_many_right_and_wrong_answers_are_nearly_normal() -> None:
    """Where one sum gives way to the other power moves by less than a half percent."""
    difference = RightOrWrongDifference(0.1)
    exact, normal = (difference.detection(0.4, n, Level()) for n in (50_000, 50_001))
    assert exact.power == pytest.approx(normal.power, abs=0.005)
    assert exact.exaggeration == pytest.approx(normal.exaggeration, rel=0.005)


def test_size_and_gain_are_each_others_answer() -> None:
    for difference, gain in (
        (NormalDifference(0.5), 0.1),
        (RightOrWrongDifference(0.2), 4.0),
        (of_spread(0.4, 0.5), 0.03),
    ):
        n = size_for(difference, gain, power=0.8)
        assert difference.detection(gain, n, Level()).power >= 0.8
        assert difference.detection(gain, int(0.95 * n), Level()).power < 0.8
        assert detectable_gain(difference, n, power=0.8) == pytest.approx(gain, rel=0.01)


def test_a_planner_s_own_simulation_comes_out() -> None:
    """80 against 81 % at 4,000 and 8,000 items, by drawing answers."""
    difference = RightOrWrongDifference(disagreement_of(80, 1, 0.877))
    rng = np.random.default_rng(0)
    for n in (4000, 8000):
        b, c, _ = rng.multinomial(n, [0.0665, 0.0565, 0.877], 40_000).T
        p = np.minimum(2 * stats.binom.cdf(np.minimum(b, c), b + c, 0.5), 1)
        assert difference.detection(1.0, n, Level()).power == pytest.approx(((p <= 0.05) & (b > c)).mean(), abs=0.01)


def test_guesses_give_the_share_of_items_that_differ() -> None:
    assert disagreement_of(80, 1, 0.9) == pytest.approx(0.1)
    # Two systems of 60 and 70 % with 50 % right together.
    r12 = (0.5 - 0.6 * 0.7) / np.sqrt(0.6 * 0.4 * 0.7 * 0.3)
    assert disagreement_of_correlation(60, 10, r12) == pytest.approx(0.6 + 0.7 - 2 * 0.5)
    assert of_spread(2.0, 0.75).sd == pytest.approx(np.sqrt(4 + 4 - 2 * 0.75 * 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: disagreement_of(80, 5, 0.99),
            "agreement must be from 0.65 to 0.95 between systems of 80 and 85 %, not",
        ),
        (lambda: disagreement_of_correlation(90, 5, 0.95), "r12 must be from -0.07647 to 0.6882 between"),
        (lambda: size_for(RightOrWrongDifference(0.1), 11), "gain must be above 0 and at most 10, not 11"),
        (lambda: size_for(NormalDifference(1.0), 1e-6), "gain must be larger for a test set of up to 10,000,000"),
        (lambda: size_for(NormalDifference(1.0), 0.1, power=0.01), "power must be above 0.025, which a test has"),
        (lambda: Level(1.5), "alpha must lie between 0 and 1"),
        (lambda: of_spread(1.0, 1.0), "r12 must be at least -1 and below 1, not 1"),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
