"""Tails of flipped sums against all signs, polynomials, another integral, and random flips."""

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import accumulate, product

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.contour_kernels import MOST_ERROR_OF_SMALL, contour_tail, saddle_point, tilted
from simstudy.engines.flip_kernels import MOST_SIGNS, count_few, count_in_halves, distinct, flip_tail
from simstudy.metrics.base import FloatArray, IntArray
from tests.engines.flipped import KINDS, WHOLE, asked, other_line, tails_of_all_kinds


def by_contour(sizes: FloatArray, least: float, step: float = 0.0) -> tuple[float, float]:
    """The integral, also where sums would be counted."""
    values, times = distinct(np.sort(np.abs(sizes)))
    return contour_tail(tilted(values, times, saddle_point(values, times, least)), least, step)


def all_sums(numbers: FloatArray) -> FloatArray:
    return np.array(list(product((1, -1), repeat=len(numbers)))) @ numbers


def of_polynomial(numbers: IntArray, most: int) -> Fraction:
    """P(the numbers with a negative sign add up to `most` or less), by the product of (1 + x^c) / 2."""
    weights = np.zeros(most + 1)
    weights[0] = 1
    for number in numbers:
        weights[number:] = weights[number:] + weights[: max(most + 1 - number, 0)]
    return Fraction(weights.sum()) / 2 ** len(numbers)


@pytest.mark.parametrize("m", [1, 2, 5, 11])
@pytest.mark.parametrize("whole", [False, True])
def test_few_numbers_have_the_tails_of_all_their_signs(m: int, whole: bool, rng: np.random.Generator) -> None:
    for _ in range(20):
        numbers = rng.integers(-4, 5, size=m).astype(float) if whole else rng.normal(size=m)
        sums = all_sums(numbers)
        for least in (*rng.choice(sums, 3), float(rng.normal()) if not whole else 0.0):
            bound = float(least) - 1e-9
            expected = float((sums >= bound).mean())
            least_p = 2.0 ** -int((numbers != 0).sum())
            assert flip_tail(numbers, asked(bound)) == (expected, 0.0)
            assert flip_tail(numbers, asked(bound, observed=1)) == (max(expected, least_p), 0.0)
            sizes = np.sort(np.abs(numbers))
            few = count_few(sizes, (sizes.sum() - bound) / 2)
            assert few / 2**m == expected or (few == 1 and expected == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_integral_is_as_near_to_all_signs_as_it_says(kind: str, rng: np.random.Generator) -> None:
    """Of more than 32 numbers the tail is the integral; counting goes on to 38 here."""
    for m in (MOST_SIGNS + 1, 38):
        for z in (-0.7, 0.0, 0.5, 0.9, 1.5, 2.0, 3.0):
            numbers = KINDS[kind](rng, m)
            sizes = np.sort(np.abs(numbers))
            least = z * float(np.sqrt((sizes**2).sum()))
            expected = count_in_halves(sizes, (sizes.sum() - least) / 2) / 2**m
            found, error = flip_tail(numbers, asked(least))
            assert abs(found - expected) <= error + 1e-9 * expected
            assert error <= 0.2 * expected


@pytest.mark.parametrize("kind", WHOLE)
def test_the_bound_holds_where_sums_lie_in_heaps(kind: str, rng: np.random.Generator) -> None:
    """Whole numbers are reals too. Nodes that end see no fine steps: how much these may add is part of the bound."""
    used = []
    for m in (60, 200):
        numbers = WHOLE[kind](rng, m)
        for z in (0.0, 0.3, 1.0, 1.96, 3.0, 5.0):
            if z > 1 and kind == "two huge":
                break
            most = int((numbers.sum() - z * np.sqrt((numbers**2).sum())) / 2)
            least = numbers.sum() - 2.0 * most - 0.5
            expected = float(of_polynomial(numbers, most))
            found, error = flip_tail(numbers.astype(float), asked(least))
            used.append(abs(found - expected) / (error + 1e-9 * expected))
            assert error <= MOST_ERROR_OF_SMALL * expected or kind == "two sizes"
    assert max(used) <= 1
    # Not by being far too large: of these the sums have steps that half of the bound is needed for.
    assert max(used) > 0.3 or kind not in ("two sizes", "nearly 1, 2 and 3")


def test_more_nodes_are_spent_where_no_random_flip_would_tell(rng: np.random.Generator) -> None:
    """A tail of 1e-9 of nearly equal numbers: all sums with 16 negative signs reach it, and some with 17."""
    n, base = 90, 400_000
    less = rng.integers(0, 100, n)
    # By how many sets of j numbers lack so much of their common size.
    ways = np.zeros((18, 17 * 100))
    ways[0, 0] = 1
    for one in less:
        ways[1:, one:] += ways[:-1, : ways.shape[1] - one].copy()
    middle = int(17 * less.mean())
    expected = (sum(math.comb(n, j) for j in range(17)) + ways[17, middle:].sum()) / 2.0**n
    least = (base - less).sum() - 2.0 * (17 * base - middle) - 0.5
    found, error = flip_tail(base - less.astype(float), asked(least))
    assert abs(found - expected) <= error <= MOST_ERROR_OF_SMALL * expected


def test_whole_numbers_have_the_tails_of_their_polynomial(rng: np.random.Generator) -> None:
    for largest, n in ((1, 150), (3, 120), (40, 90)):
        numbers = rng.integers(1, largest + 1, size=n)
        total = int(numbers.sum())
        for share in (0.0, 0.1, 0.3, 0.6, 0.9):
            most = int(total * (1 - share) / 2)
            expected = float(of_polynomial(numbers, most))
            # A thousand times as large: the divisor is found. Just above the last sum that does not count is enough.
            for scale, least in ((1, total - 2 * most), (1000, 1000 * (total - 2 * most) - 1999)):
                found, error = flip_tail(numbers * float(scale), asked(float(least), step=1.0))
                assert found == pytest.approx(expected, rel=1e-9, abs=0)
                assert error <= 1e-9 * expected


def test_equal_numbers_are_coins() -> None:
    for n in (40, 1000):
        for heads in (n // 2, int(0.6 * n), int(0.7 * n)):
            expected = float(stats.binom.sf(heads - 1, n, 0.5))
            found, _ = flip_tail(np.full(n, 37.0), asked(37.0 * (2 * heads - n) - 1, step=1.0))
            assert found == pytest.approx(expected, rel=1e-9, abs=0)


def test_many_numbers_agree_with_the_integral_along_the_other_line(rng: np.random.Generator) -> None:
    """The bound is for the worst numbers that have the same nodes; of these the tail is far nearer."""
    numbers = rng.normal(size=120) * rng.gamma(2, size=120)
    for z in (0.1, 1.0, 1.96, 3.0):
        least = z * float(np.sqrt((numbers**2).sum()))
        assert flip_tail(numbers, asked(least))[0] == pytest.approx(other_line(numbers, least), rel=1e-9, abs=1e-12)


@functools.cache
def large_polynomial() -> tuple[IntArray, list[int]]:
    """1,100 numbers, and in how many ways up to 0, 1, … are the sum of those with a negative sign."""
    numbers = np.random.default_rng(20120712).integers(1, 7, size=1100)
    weights = np.zeros(1700, dtype=object)
    weights[0] = 1
    for number in numbers:
        weights[number:] = weights[number:] + weights[:-number]
    return numbers, list(accumulate(weights))


@pytest.mark.parametrize("exponent", [10, 30, 100, 300])
def test_small_tails_are_as_accurate_as_large_ones(exponent: int) -> None:
    """By whole numbers, of which few have a negative sign in so small a tail, as multiples of a step and as reals."""
    numbers, ways = large_polynomial()
    total, all_signs = int(numbers.sum()), 2 ** len(numbers)
    most = next(most for most in range(100, len(ways), 20) if ways[most] * 10**exponent >= all_signs)
    expected = Fraction(ways[most], all_signs)
    exact, error = flip_tail(numbers.astype(float), asked(total - 2.0 * most - 1, step=1.0))
    assert exact == pytest.approx(float(expected), rel=1e-8, abs=0)
    assert error <= 1e-8 * exact
    found, error = by_contour(numbers.astype(float), total - 2.0 * most - 1)
    assert abs(found - exact) <= error


@pytest.mark.parametrize("scale", [2.0**-900, 2.0**-30, 2.0**900])
def test_the_unit_of_the_numbers_does_not_matter(scale: float, rng: np.random.Generator) -> None:
    for numbers in (rng.normal(size=500), np.append(rng.normal(size=40), [90.0, 1e-200]), np.arange(-60.0, 60.0)):
        least = 0.9 * float(np.sqrt((numbers**2).sum()))
        assert flip_tail(numbers * scale, asked(least * scale)) == flip_tail(numbers, asked(least))
        assert 0 < flip_tail(numbers, asked(least))[0] < 0.5


def test_the_order_of_the_numbers_and_their_signs_do_not_matter(rng: np.random.Generator) -> None:
    for numbers in (rng.normal(size=500), np.append(rng.normal(size=40), [90.0, 2000.0])):
        first = flip_tail(numbers, asked(30.0))
        assert flip_tail(-rng.permutation(numbers), asked(30.0)) == first


def test_arrays_give_the_bits_of_compiled_loops() -> None:
    """In a process without numba, except for what are too many numbers for arrays."""
    code = f"""
import json, sys
from simstudy.compiled import plain
from {tails_of_all_kinds.__module__} import tails_of_all_kinds
from simstudy.engines import by_arrays
by_arrays._MOST_FACTORS = by_arrays._MOST_NODES = by_arrays._MOST_CONTRIBUTIONS = 2**30
with plain():
    print(json.dumps(tails_of_all_kinds()))
assert "numba" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120)
    assert json.loads(run.stdout) == tails_of_all_kinds()
