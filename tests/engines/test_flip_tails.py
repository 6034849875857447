"""Tails of flipped sums against all signs, polynomials, another integral, and random flips."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.flip_kernels import (
    MOST_SIGNS,
    FlippedSum,
    contour_tail,
    count_few,
    count_in_halves,
    distinct,
    flip_tail,
    saddle_point,
)
from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs
from tests.oracles import compared

#: What contributions are like: kind -> m of them.
KINDS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "heavy tails": lambda rng, m: rng.lognormal(0, 1, size=m),
    "nearly few sizes": lambda rng, m: rng.choice([1, 2, 3, 5.5, 7.25], size=m) + rng.normal(size=m) * 0.01,
    "a ratio's": lambda rng, m: ratio_contributions(rng, m),
}


def ratio_contributions(rng: np.random.Generator, m: int) -> FloatArray:
    """Of right answers among few accepted ones, weighted as sign flips weight them."""
    right = rng.integers(1, 6, m)
    accepted = right + rng.integers(0, 6, m)
    return np.asarray((right - 0.8731 * accepted) / np.sqrt(1 - accepted / accepted.sum()))


def asked(least: float, step: float = 0.0, observed: int = 1) -> FlippedSum:
    return FlippedSum(least, 0.0, step, observed, 2**24)


def by_contour(sizes: FloatArray, least: float, step: float = 0.0) -> tuple[float, float]:
    """The integral, also where sums would be counted."""
    sizes = np.sort(np.abs(sizes))
    values, times = np.empty(len(sizes)), np.zeros(len(sizes), np.int64)
    n = distinct(sizes, values, times)
    values, times = values[:n], times[:n]
    s = saddle_point(values, times, least, float((times * values**2).sum()))
    return contour_tail(values, times, asked(least, step), s)


def all_sums(numbers: FloatArray) -> FloatArray:
    return np.array(list(product((1, -1), repeat=len(numbers)))) @ numbers


@pytest.mark.parametrize("m", [1, 2, 5, 11])
@pytest.mark.parametrize("whole", [False, True])
def test_few_numbers_have_the_tails_of_all_their_signs(m: int, whole: bool, rng: np.random.Generator) -> None:
    for _ in range(20):
        numbers = rng.integers(-4, 5, size=m).astype(float) if whole else rng.normal(size=m)
        sums = all_sums(numbers)
        for least in (*rng.choice(sums, 3), float(rng.normal()) if not whole else 0.0):
            bound = float(least) - 1e-9
            expected = float((sums >= bound).mean())
            assert flip_tail(numbers, asked(bound)) == (max(expected, 2.0 ** -int((numbers != 0).sum())), 0.0)
            sizes = np.sort(np.abs(numbers))
            few = count_few(sizes, (sizes.sum() - bound) / 2)
            assert few / 2**m == expected or (few == 1 and expected == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_integral_is_as_near_to_all_signs_as_it_says(kind: str, rng: np.random.Generator) -> None:
    """Of more than 32 numbers the tail is the integral; counting goes on to 38 here."""
    for m in (MOST_SIGNS + 1, 38):
        for z in (0.0, 0.5, 1.5, 2.0, 3.0):
            numbers = KINDS[kind](rng, m)
            sizes = np.sort(np.abs(numbers))
            least = z * float(np.sqrt((sizes**2).sum()))
            expected = count_in_halves(sizes, (sizes.sum() - least) / 2) / 2**m
            found, error = flip_tail(numbers, asked(least))
            assert abs(found - expected) <= error + 1e-9 * expected
            assert error <= max(0.05 * expected, 1e-10)


def test_whole_numbers_have_the_tails_of_their_polynomial(rng: np.random.Generator) -> None:
    """The product of (1 + x^c) / 2 has the distribution of the numbers with a negative sign."""
    for largest, n in ((1, 150), (3, 120), (40, 90)):
        numbers = rng.integers(1, largest + 1, size=n)
        weights = np.ones(1)
        for number in numbers:
            one = np.zeros(number + 1)
            one[[0, -1]] += 0.5
            weights = np.convolve(weights, one)
        total = int(numbers.sum())
        for share in (0.0, 0.1, 0.3, 0.6, 0.9):
            most = int(total * (1 - share) / 2)
            expected = weights[: most + 1].sum()
            # A thousand times as large: the divisor is found. Just above the last sum that does not count is enough.
            for scale, least in ((1, total - 2 * most), (1000, 1000 * (total - 2 * most) - 1999)):
                found, error = flip_tail(numbers * float(scale), asked(float(least), step=1.0))
                assert error == 0 or expected < 1e-9
                assert found == pytest.approx(expected, rel=1e-9, abs=0)


def test_equal_numbers_are_coins() -> None:
    for n in (40, 1000):
        for heads in (n // 2, int(0.6 * n), int(0.7 * n)):
            expected = float(stats.binom.sf(heads - 1, n, 0.5))
            found, _ = flip_tail(np.full(n, 0.37), asked(0.37 * (2 * heads - n) - 1e-12, step=0.37))
            assert found == pytest.approx(expected, rel=1e-9, abs=0)


def test_many_numbers_agree_with_the_integral_along_the_other_line(rng: np.random.Generator) -> None:
    """Gil-Pelaez 1951: P(S >= x) = 1/2 - sum of sin(t x) phi(t) / t, over pi, by the midpoint rule and 20,000 nodes."""
    numbers = rng.normal(size=400) * rng.gamma(2, size=400)
    deviation = np.sqrt((numbers**2).sum())
    step = 0.02 / deviation
    t = (np.arange(20_000) + 0.5) * step
    phi = np.exp(np.log(np.abs(np.cos(np.outer(t, numbers)))).sum(axis=1))
    phi *= np.sign(np.cos(np.outer(t, numbers))).prod(axis=1)
    for z in (0.1, 1.0, 1.96, 3.0):
        expected = 0.5 - (np.sin(t * z * deviation) * phi / t).sum() * step / np.pi
        assert flip_tail(numbers, asked(z * deviation))[0] == pytest.approx(expected, rel=0, abs=1e-13)


def test_small_tails_are_as_accurate_as_large_ones(rng: np.random.Generator) -> None:
    """Whole numbers are reals too: of many sizes, the sum's steps are below what is asked."""
    numbers = rng.integers(1, 2000, size=500).astype(float)
    deviation = float(np.sqrt((numbers**2).sum()))
    for z in (2, 6, 12, 16):
        least = 2 * int(z * deviation / 2) + numbers.sum() % 2 - 1
        exact, error = by_contour(numbers, least, 1.0)
        assert error <= 1e-12 * exact
        assert by_contour(numbers, least)[0] == pytest.approx(exact, rel=2e-7)


def test_the_order_of_the_numbers_and_their_signs_do_not_matter(rng: np.random.Generator) -> None:
    numbers = rng.normal(size=500)
    first = flip_tail(numbers, asked(30.0))
    assert flip_tail(-rng.permutation(numbers), asked(30.0)) == first


def answers(kind: str, rng: np.random.Generator) -> Outputs:
    if kind == "decimals":
        scores = rng.beta(2, 1, size=(120, 1)) + 0.1 * rng.normal(size=(120, 5)) + np.arange(5) * 0.01
        return Outputs.from_scores(pd.DataFrame(scores, columns=list("abcde")), "mean")
    if kind == "large whole numbers":
        return Outputs.from_scores(pd.DataFrame(rng.integers(0, 10**6, size=(120, 5)), columns=list("abcde")), "mean")
    gold = rng.integers(3, 9, size=120)
    guessed = gold + rng.integers(-2, 3, size=(5, 120))
    correct = np.minimum(rng.integers(0, 9, size=(5, 120)), np.minimum(gold, guessed))
    counts = np.stack([correct, guessed, np.broadcast_to(gold, (5, 120))], axis=-1)
    return Outputs.from_statistics(counts, "f1", list("abcde"))


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize(
    ("kind", "test"),
    [
        ("decimals", "sign_flips"),
        ("decimals", "randomization"),
        ("large whole numbers", "sign_flips"),
        ("large whole numbers", "randomization"),
        ("f1", "sign_flips"),
    ],
)
def test_random_flips_come_near_and_nothing_else_matters(
    kind: str, test: str, alternative: str, rng: np.random.Generator
) -> None:
    """65,536 flips of 10 pairs: none is further off than five standard errors, once in 100,000 seeds."""
    outputs = answers(kind, rng)
    options = {"test": test, "alternative": alternative, "monte_carlo": False}
    found = compared(outputs, **options)
    assert not found["monte_carlo"].any()
    drawn = compared(outputs, **options | {"monte_carlo": True}, n_resamples=2**16)
    assert (drawn["n_resamples"] == 2**16).all()
    error = np.sqrt(found["p_value"] * (1 - found["p_value"]) / 2**16)
    assert (np.abs(drawn["p_value"] - found["p_value"]) <= 5 * error + 2.0**-16).all()
    pd.testing.assert_frame_equal(compared(outputs, **options, n_jobs=3), found)
    pd.testing.assert_frame_equal(compared(outputs.select(list("dbeca")), **options), found)
    shuffled = outputs.take(rng.permutation(outputs.n_items))
    np.testing.assert_array_equal(compared(shuffled, **options)["p_value"], found["p_value"])


def test_numbers_that_are_nearly_multiples_of_each_other_are_refused_in_one_line(rng: np.random.Generator) -> None:
    """Which of many sums that differ in the eighth digit reach the gain, no integral can tell."""
    scores = pd.DataFrame({"a": rng.integers(0, 4, 300) + 1e-7 * rng.normal(size=300), "b": rng.integers(0, 4, 300)})
    outputs = Outputs.from_scores(scores, "mean")
    with pytest.raises(ValueError, match="nearly multiples of one another") as error:
        compared(outputs, monte_carlo=False)
    assert "\n" not in str(error.value)
    assert compared(outputs, n_resamples=1000)["monte_carlo"].all()
