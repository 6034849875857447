"""E-values and confidence sequences by betting, against products written out and all outcomes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from simstudy.engines.betting import confidence_sequence, largest, log_e_values

#: 2^(-k/2), k = 0 … 16: what docstrings say.
STAKES = [2.0 ** (-k / 2) for k in range(17)]


def written_out(differences: Sequence[float], null: float = 0.0) -> float:
    mean = (1 + null) / 2
    capital = [np.prod([1 + f * ((1 + d) / 2 / mean - 1) for d in differences]) for f in STAKES]
    return float(np.mean(capital))


@pytest.mark.parametrize("null", [-0.3, 0.0, 0.01, 0.8])
def test_an_e_value_is_the_mean_of_17_products(null: float) -> None:
    rng = np.random.default_rng(3)
    for differences in (rng.choice([-1.0, 0.0, 1.0], 40), rng.uniform(-1, 1, 40), np.ones(5), np.zeros(3)):
        found = np.exp(log_e_values(differences, null))
        expected = [written_out(differences[: n + 1], null) for n in range(len(differences))]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    # Single bets leave the range of numbers: by logarithms, without the bet that has lost everything.
    long = rng.choice([-1.0, 1.0], 20_000, p=[0.4, 0.6])
    mean = (1 + null) / 2
    logs = [np.log1p(f * ((1 + long) / 2 / mean - 1)).sum() for f in STAKES[1:]]
    assert log_e_values(long, null)[-1] == pytest.approx(np.logaddexp.reduce(logs) - np.log(17), rel=1e-10)


@pytest.mark.parametrize(
    ("values", "null"),
    [((-1, 1), 0.0), ((-1, 1), -0.2), ((-0.5, 0.0, 1.0), 0.1), ((-0.9, 0.3), 0.0)],
)
def test_under_the_null_hypothesis_no_look_has_an_expectation_above_1_nor_do_all_looks_exceed_the_level(
    values: tuple[float, ...], null: float
) -> None:
    """All outcomes of up to 12 items whose mean is `null`, with their exact probabilities.

    The expectation is 1 at each time, the expected next e-value is the one before (a martingale), and the probability
    that the e-value ever reaches 1 / alpha is at most alpha.
    """
    n = 12 if len(values) == 2 else 7
    chances = _chances(values, null)
    outcomes = list(product(range(len(values)), repeat=n))
    weight = np.array([float(np.prod([chances[k] for k in outcome])) for outcome in outcomes])
    paths = np.array([np.exp(log_e_values(np.array(values, dtype=float)[list(path)], null)) for path in outcomes])
    np.testing.assert_allclose(weight @ paths, 1.0, rtol=1e-10)
    # Outcomes with the same beginning follow one another.
    for k in range(n - 1):
        width = len(values) ** (n - 1 - k)
        later = (weight * paths[:, k + 1]).reshape(-1, width).sum(axis=1) / weight.reshape(-1, width).sum(axis=1)
        np.testing.assert_allclose(later, paths[::width, k], rtol=1e-9)
    for alpha in (0.5, 0.3, 0.1, 0.05):
        assert weight[paths.max(axis=1) >= 1 / alpha].sum() <= alpha
    assert weight[paths.max(axis=1) >= 2].sum() > 0.01, "it can become large"


def _chances(values: tuple[float, ...], null: float) -> list[float]:
    """Probabilities that give this mean: of two values the only ones."""
    if len(values) == 2:
        high = Fraction(null - values[0]) / Fraction(values[1] - values[0])
        return [float(1 - high), float(high)]
    low, middle, top = values
    of_top = (null - 0.7 * middle - 0.3 * low) / (top - low)
    return [0.3 - of_top, 0.7, of_top]


def test_the_largest_so_far_never_falls_and_is_finite() -> None:
    logs = log_e_values(np.r_[np.ones(3000), -np.ones(3000)])
    assert logs[2999] == pytest.approx(3000 * np.log(2) - np.log(17), rel=1e-3)
    assert logs[-1] < -100
    found = largest(logs)
    assert (np.diff(found) >= 0).all()
    assert np.isfinite(found).all()
    assert largest(log_e_values(-np.ones(5))).tolist() == [1.0] * 5, "1 / e is no p-value above 1"


def test_the_interval_holds_what_the_test_has_not_rejected_at_any_look() -> None:
    rng = np.random.default_rng(8)
    # All bets but one may lose nearly everything first.
    late = np.repeat([-1.0, 1.0], [80_000, 400_000])
    for differences in (rng.choice([-1.0, 0.0, 1.0], 400, p=[0.1, 0.6, 0.3]), rng.uniform(-0.5, 0.7, 400), late):
        looks = np.array([1, 50, 400, len(differences)])
        for sign, ends in zip((1.0, -1.0), confidence_sequence(differences, 0.05, looks), strict=True):
            assert (sign * np.diff(ends) >= 0).all()
            for look, end in zip(looks, sign * ends, strict=True):
                assert largest(log_e_values(sign * differences[:look], end + 1e-7))[-1] < 40
                if end > -1 + 1e-6:
                    assert largest(log_e_values(sign * differences[:look], end - 1e-7))[-1] >= 40


def test_the_interval_misses_the_true_mean_at_any_look_with_the_probability_of_its_level_at_most() -> None:
    """All 2^8 outcomes of coins that show 1 with probability 0.3."""
    looks, mean = np.arange(1, 9), 0.3 - 0.7
    missed = 0.0
    for outcome in product((-1.0, 1.0), repeat=8):
        low, high = confidence_sequence(np.array(outcome), 0.4, looks)
        if (low > mean).any() or (high < mean).any():
            missed += 0.3 ** outcome.count(1.0) * 0.7 ** outcome.count(-1.0)
    assert 0.02 < missed <= 0.4
