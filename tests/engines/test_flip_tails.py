"""Tails of flipped sums against all signs, polynomials, another integral, and random flips."""

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import accumulate, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy
from simstudy.engines.asking import ask
from simstudy.engines.contour_kernels import MOST_ERROR_OF_SMALL, contour_tail, saddle_point, tilted
from simstudy.engines.flip_kernels import MOST_SIGNS, count_few, count_in_halves, distinct, flip_tail
from simstudy.engines.sign_flips import FlippedContributions, sign_flips
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs
from tests.engines.flipped import KINDS, WHOLE, asked, tails_of_all_kinds
from tests.oracles import compared


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


def other_line(numbers: FloatArray, least: float, n_nodes: int = 20_000) -> float:
    """Gil-Pelaez 1951: P(S >= x) = 1/2 - the sum of sin(t x) phi(t) / t, over pi, by the midpoint rule."""
    step = 0.02 / np.sqrt((numbers**2).sum())
    total = 0.5
    for t in np.array_split((np.arange(n_nodes) + 0.5) * step, max(n_nodes * len(numbers) // 2**22, 1)):
        phi = np.cos(np.outer(t, numbers)).prod(axis=1)
        total -= (np.sin(t * least) * phi / t).sum() * step / np.pi
    return float(total)


def test_many_numbers_agree_with_the_integral_along_the_other_line(rng: np.random.Generator) -> None:
    """The bound is for the worst numbers that have the same nodes; of these the tail is far nearer."""
    numbers = rng.normal(size=400) * rng.gamma(2, size=400)
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


def flipped_share(parts: FloatArray, least: float, rng: np.random.Generator, n_blocks: int = 256) -> float:
    """The share of n_blocks * 2^16 random flips that reach `least`: sums of 16 numbers at a time are looked up."""
    parts = np.pad(parts, (0, -len(parts) % 16)).reshape(-1, 16)
    signs = 1.0 - 2.0 * (np.arange(2**16)[:, None] >> np.arange(16) & 1)
    sums, n_extreme = parts @ signs.T, 0
    for _ in range(n_blocks):
        flips = rng.integers(0, 2**16, (len(parts), 2**16), dtype=np.uint16)
        total = np.zeros(2**16)
        for one, chosen in zip(sums, flips, strict=True):
            total += one[chosen]
        n_extreme += int((total >= least).sum())
    return n_extreme / (n_blocks * 2**16)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["bleu", "span_f1"])
def test_real_pairs_agree_with_many_flips_and_many_nodes(
    metric: str, shared_data: Path, rng: np.random.Generator
) -> None:
    """2^24 flips of four pairs of WMT24 or WNUT17, and the other line of integration with 65,536 nodes of six."""
    if metric == "bleu":
        files, reference = "wmt24_en-de/sys", "wmt24_en-de/ref.A.de"
    else:
        files, reference = "ner_wnut17/submissions", "ner_wnut17/emerging.test.annotated"
    loaded = simstudy.load(shared_data / files, metric=metric, references=shared_data / reference)
    question = ask(loaded.outputs.best_first(), test="sign_flips", alternative="greater")
    parts, (i, j), k = FlippedContributions(question), question.pairs, question.n_systems
    p_value = sign_flips(question).p_value
    contributions = parts.columns[:k][i] - parts.columns[:k][j]
    if len(parts.columns) > k:
        contributions -= parts.sums.pooled[:, None] * (parts.columns[k:][i] - parts.columns[k:][j])
    for of, least, p in list(zip(contributions, parts.sums.least, p_value, strict=True))[:6]:
        assert p == pytest.approx(other_line(of, least, 2**16), rel=1e-8, abs=1e-12)
    for wanted in (0.4, 0.05, 0.005, 0.0001):
        near = int(np.abs(np.log(p_value / wanted)).argmin())
        p = p_value[near]
        z = (flipped_share(contributions[near], parts.sums.least[near], rng) - p) / np.sqrt(p * (1 - p) / 2**24)
        assert abs(z) < 4.5, (metric, near, p, z)


@pytest.mark.parametrize("kind", ["decimals", "right or wrong"])
def test_p_is_never_0(kind: str, rng: np.random.Generator) -> None:
    """One of 2^1200 ways to flip is as extreme, fewer than double precision holds."""
    gains = rng.uniform(1, 2, 1200) if kind == "decimals" else np.ones(1200)
    for test in ("sign_flips", "randomization"):
        row = compared(Outputs.from_scores(pd.DataFrame({"a": gains, "b": 0.0 * gains})), test=test).iloc[0]
        assert (row["p_value"], row["monte_carlo"]) == (1e-300, False)


def test_numbers_that_are_nearly_multiples_of_each_other_are_refused_in_one_line(rng: np.random.Generator) -> None:
    """Which of many sums that differ in the eighth digit reach the gain, no integral can tell."""
    scores = pd.DataFrame({"a": rng.integers(0, 4, 300) + 1e-7 * rng.normal(size=300), "b": rng.integers(0, 4, 300)})
    outputs = Outputs.from_scores(scores, "mean")
    with pytest.raises(ValueError, match="nearly multiples of one another") as error:
        compared(outputs, monte_carlo=False)
    assert "\n" not in str(error.value)
    found = simstudy.examine(outputs, comparison={"n_resamples": 1000})
    assert found.pairs.frame["monte_carlo"].all()
    assert "p-values of 1 pair are from random flips" in str(found.test_set.notes)


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
