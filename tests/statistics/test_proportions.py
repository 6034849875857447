from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import optimize, stats

from simstudy.statistics.proportions import tango, tango_z


def by_quartic(b: int, c: int, n: int, level: float) -> tuple[float, float]:
    """The limits as the outermost real roots of a quartic (Yang, Sun and Hardin 2013, Statistics in Medicine 32)."""
    g = stats.norm.ppf((1 + level) / 2) ** 2
    d, s = b - c, b + c
    coefficients = [
        n**2 * (n / g + 1) ** 2,
        -n * d * (n / g + 1) * (4 * n / g + 1),
        2 * n * d**2 * (3 * n / g + 2) / g - n**2 * (s / g + 1),
        n * d * (2 * s / g + 1) - d**3 * (4 * n / g + 1) / g,
        d**2 * (d**2 / g - s) / g,
    ]
    roots = np.roots(coefficients)
    real = roots.real[np.abs(roots.imag) < 1e-6]
    return float(real.min()), float(real.max())


def by_likelihood(b: int, c: int, n: int, d: float) -> float:
    """(b - c - n d) over its standard error at the likeliest trinomial whose difference is d, found by search."""

    def surprise(only_second: float) -> float:
        shares = np.array([only_second + d, only_second, 1 - d - 2 * only_second])
        return -float(np.array([b, c, n - b - c]) @ np.log(np.maximum(shares, 1e-300)))

    bounds = (max(0.0, -d), (1 - d) / 2)
    only_second = optimize.minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return (b - c - n * d) / sqrt(n * (2 * only_second + d - d**2))


def random_counts(rng: np.random.Generator, size: int) -> list[list[int]]:
    """Wins, losses and numbers of items."""
    n = rng.integers(2, 400, size)
    b = rng.integers(0, n + 1)
    return np.stack([b, rng.integers(0, n - b + 1), n], axis=1).tolist()


@pytest.mark.parametrize(
    ("b", "c", "n", "level", "low", "high"),
    [
        # Fagerland, Lydersen and Laake 2014 (airway hyper-responsiveness); R's ratesci has the same.
        (1, 7, 21, 0.95, -0.517, -0.026),
        # R's PropCIs, scoreci.mp(25, 28, 618, 0.9), which is of the second less the first.
        (28, 25, 618, 0.9, -0.0148, 0.0247),
    ],
)
def test_intervals_that_others_print(b: int, c: int, n: int, level: float, low: float, high: float) -> None:
    found = tango([b], [c], n, level)
    assert [float(bound[0]) for bound in found] == pytest.approx([low, high], abs=6e-4 if n == 21 else 6e-5)


def test_limits_are_the_roots_of_a_quartic(rng: np.random.Generator) -> None:
    for b, c, n in random_counts(rng, 80):
        if n in (b, c):
            continue  # at an end of the scale two roots are one, which numpy knows to 1e-6
        level = float(rng.choice([0.8, 0.9, 0.95, 0.99]))
        low, high = tango([b], [c], n, level)
        assert (low[0], high[0]) == pytest.approx(by_quartic(b, c, n, level), abs=1e-7), (b, c, n, level)


def test_the_statistic_is_that_of_the_likeliest_proportions(rng: np.random.Generator) -> None:
    for b, c, n in random_counts(rng, 60):
        if b + c in (0, n):
            continue
        difference = float(rng.uniform(-0.9, 0.9))
        found = tango_z(np.array([b]), np.array([c]), n, np.array([difference]))
        assert found[0] == pytest.approx(by_likelihood(b, c, n, difference), rel=1e-4, abs=1e-6), (b, c, n, difference)


def test_of_no_difference_it_is_mcnemars() -> None:
    b, c = np.array([9.0, 3.0, 0.0, 7.0]), np.array([3.0, 9.0, 5.0, 7.0])
    np.testing.assert_allclose(tango_z(b, c, 40, np.zeros(4)), (b - c) / np.sqrt(b + c), atol=1e-12)
    found = tango_z(np.zeros(1), np.zeros(1), 40, np.zeros(1))
    assert found.tolist() == [0.0], "nothing differs, which no difference explains"


def test_pairs_of_one_call_may_have_unlike_numbers_of_items() -> None:
    low, high = tango([9, 9, 9], [3, 3, 3], [40, 400, 40])
    for k, n in enumerate((40, 400, 40)):
        alone = tango([9], [3], n)
        assert (low[k], high[k]) == (alone[0][0], alone[1][0])


def test_the_ends_of_the_scale() -> None:
    low, high = tango([20, 0], [0, 20], 20)
    assert (high[0], low[1]) == pytest.approx((1, -1))
    assert low[0] == pytest.approx(-high[1])
    assert 0 < low[0] < 1
