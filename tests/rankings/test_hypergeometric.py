"""Fisher's exact test and hypergeometric tails, against whole numbers of any size, scipy and algebra."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log, log1p, log10

import numpy as np
import pytest
from scipy import stats

from simstudy.rankings.hypergeometric import fisher_exact, log10_upper_tail, log_likelihood_ratio


def ways(x: int, n_1: int, y: int, n_2: int) -> dict[int, int]:
    """How many ways there are to have k hits among the first, of all tables with these margins."""
    hits = x + y
    first, last = max(0, hits - n_2), min(hits, n_1)
    of = {first: comb(n_1, first) * comb(n_2, hits - first)}
    for k in range(first, last):
        of[k + 1] = of[k] * (n_1 - k) * (hits - k) // ((k + 1) * (n_2 - hits + k + 1))
    return of


def exact_p(x: int, n_1: int, y: int, n_2: int) -> Fraction:
    of = ways(x, n_1, y, n_2)
    # The relative tolerance of R, 1 part in 10^7.
    return Fraction(sum(w for w in of.values() if w * 10**7 <= of[x] * (10**7 + 1)), sum(of.values()))


def exact_tail(o11: int, r1: int, c1: int, n: int) -> Fraction:
    of = ways(o11, r1, c1 - o11, n - r1)
    return Fraction(sum(w for k, w in of.items() if k >= o11), sum(of.values()))


def log10_of(p: Fraction) -> float:
    """Fractions beyond the range of decimals too; near 1 by what is missing."""
    if p > Fraction(1, 2):
        return log1p(-float(1 - p)) / log(10)
    shift = max(0, p.denominator.bit_length() - p.numerator.bit_length() - 60)
    return log10(p * 2**shift) - shift * log10(2)


def test_every_small_table() -> None:
    """All tables of up to 7 and 8 candidates."""
    tables = [(x, n_1, y, n_2) for n_1 in range(8) for n_2 in range(9) for x in range(n_1 + 1) for y in range(n_2 + 1)]
    found = fisher_exact(*np.array(tables).T)
    np.testing.assert_allclose(found, [float(exact_p(*table)) for table in tables], rtol=1e-14)


@pytest.mark.parametrize("equal", [True, False], ids=["lists of one length", "of two"])
def test_random_tables_of_the_size_of_n_best_lists(equal: bool) -> None:
    rng = np.random.default_rng(1)
    n_1, n_2 = rng.integers(1, 1500, size=(2, 60))
    n_2 = n_1 if equal else n_2
    x, y = rng.binomial(n_1, rng.random(60) ** 2), rng.binomial(n_2, rng.random(60) ** 2)
    y[::2] = np.minimum(x * n_2 // n_1 + rng.integers(0, 5, 60), n_2)[::2]
    tables = [tuple(int(v) for v in table) for table in zip(x, n_1, y, n_2, strict=True)]
    expected = np.array([float(exact_p(*table)) for table in tables])
    keep = expected > 1e-300
    assert keep.sum() > 50
    assert 1e-300 < expected[keep].min() < 1e-100 < 0.9 < expected.max()
    found = fisher_exact(x, n_1, y, n_2)
    np.testing.assert_allclose(found[keep], expected[keep], rtol=1e-11)
    assert (found[~keep] < 1e-300).all()
    # R's rule, as scipy has it.
    theirs = [stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue for a, n, b, m in tables]
    np.testing.assert_allclose(found[keep], np.array(theirs)[keep], rtol=1e-9)


def test_small_p_values_are_as_accurate_as_large_ones() -> None:
    """All hits on one side: 2 / C(2n, n) for lists of one length, down to 1e-300; beyond the decimals it is 0."""
    for n in (5, 100, 250, 415, 500):
        assert fisher_exact(n, n, 0, n) == pytest.approx(float(Fraction(2, comb(2 * n, n))), rel=1e-12, abs=0)
    assert 0 < fisher_exact(500, 500, 0, 500) < 1e-298
    assert fisher_exact(5000, 5000, 0, 5000) == 0
    # One table is as unlikely as 60 hits of the first alone: the observed one.
    assert fisher_exact(60, 60, 0, 900) == pytest.approx(float(Fraction(1, comb(960, 60))), rel=1e-12, abs=0)
    # The other tail is farther from the mode than powers of ten are kept: 1e200 times as likely in between.
    table = (400, 900, 0, 1000)
    assert fisher_exact(*table) == pytest.approx(float(exact_p(*table)), rel=1e-11, abs=0)


def test_sides_and_hits_and_misses_can_change_places() -> None:
    rng = np.random.default_rng(2)
    n_1, n_2 = rng.integers(0, 400, size=(2, 500))
    x, y = rng.binomial(n_1, 0.2), rng.binomial(n_2, 0.25)
    p = fisher_exact(x, n_1, y, n_2)
    for other in (fisher_exact(y, n_2, x, n_1), fisher_exact(n_1 - x, n_1, n_2 - y, n_2)):
        np.testing.assert_allclose(other, p, rtol=1e-12)
    np.testing.assert_allclose(fisher_exact(x, x + y, n_1 - x, n_1 + n_2 - x - y), p, rtol=1e-12)
    assert ((p > 0) & (p <= 1)).all()


def test_tables_that_differ_by_a_part_in_ten_million_are_as_likely() -> None:
    """Near the mode of very many, neighbours differ by less: R's tolerance counts them as no more likely."""
    n = 10**9
    for d in (1, 100, 60_000):
        # ln of P(mode) / P(observed) is (d / sd)^2 / 2 where the variance is n / 8.
        expected = 1.0 if d**2 * 4 / n < 0.9e-7 else 2 * stats.norm.sf((d - 0.5) / np.sqrt(n / 8))
        assert fisher_exact(n // 2 - d, n, n // 2 + d, n) == pytest.approx(expected, rel=2e-4)


def test_no_contrast_is_p_1() -> None:
    for table in ((0, 0, 3, 9), (3, 9, 0, 0), (0, 0, 0, 0), (0, 5, 0, 7), (5, 5, 7, 7), (4, 9, 4, 9), (4, 9, 5, 9)):
        assert fisher_exact(*table) == 1.0


def test_counts_broadcast() -> None:
    found = fisher_exact(np.arange(4)[:, None], 10, np.arange(5), [10, 11, 12, 13, 14])
    assert found.shape == (4, 5)
    assert found[3, 1] == fisher_exact(3, 10, 1, 11)
    assert fisher_exact(3.0, 10, 1, 11).shape == ()
    assert fisher_exact([], [], [], []).shape == (0,)
    assert log10_upper_tail([[1], [2]], 5, [4, 5, 6], 20).shape == (2, 3)


def test_tails_of_every_small_table() -> None:
    tables = [
        (o, r, c, n)
        for n in (0, 1, 2, 5, 9, 12)
        for r in range(n + 1)
        for c in range(n + 1)
        for o in range(max(0, r + c - n), min(r, c) + 1)
    ]
    expected = [log10_of(exact_tail(*table)) for table in tables]
    np.testing.assert_allclose(log10_upper_tail(*np.array(tables).T), expected, rtol=1e-12, atol=1e-16)


def test_tails_of_moderate_tables_are_scipys() -> None:
    rng = np.random.default_rng(3)
    n = rng.integers(50, 20_000, size=300)
    r, c = rng.binomial(n, rng.random(300)), rng.binomial(n, rng.random(300))
    o = np.clip(rng.hypergeometric(r, n - r, c) + rng.integers(-9, 10, 300), np.maximum(0, r + c - n), np.minimum(r, c))
    expected = stats.hypergeom.logsf(o - 1, n, r, c) / np.log(10)
    np.testing.assert_allclose(log10_upper_tail(o, r, c, n), expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(
    "table",
    [
        (30, 5_000, 3_000, 40_000_000),
        (600, 2_000, 3_000, 40_000_000),
        (3, 20_000, 6_000, 40_000_000),
        (4, 20_000, 6_000, 40_000_000),
        (1, 60_000, 8_000, 40_000_000),
        (0, 60_000, 8_000, 40_000_000),
        (2_500, 2_500, 2_500, 100_000_000),
        (1, 1, 1, 100_000_000),
        (5, 100, 200, 300),
        (95, 100, 200, 300),
    ],
)
def test_tails_of_large_tables_are_those_of_whole_numbers(table: tuple[int, int, int, int]) -> None:
    """Millions of tokens: differences of log gammas would leave 7 digits. The first and last lie near p = 0 and 1."""
    o, r, c, n = table
    # More than some hundred terms beyond the first do not matter to 12 digits.
    if n > 10**6 and o * n > 3 * r * c:
        p = Fraction(sum(comb(r, k) * comb(n - r, c - k) for k in range(o, min(r, c, o + 60) + 1)), comb(n, c))
    elif n > 10**6:
        p = 1 - Fraction(sum(comb(r, k) * comb(n - r, c - k) for k in range(o)), comb(n, c))
    else:
        p = exact_tail(*table)
    assert log10_upper_tail(*table) == pytest.approx(log10_of(p), rel=1e-12, abs=0)


def test_log_likelihood_near_independence_keeps_its_digits() -> None:
    """40 million tokens, one pair off: terms that cancel in all but some digits; against fractions."""
    for o, r, c, n in (
        (1_000, 200_000, 200_000, 40_000_000),
        (1_001, 200_000, 200_000, 40_000_000),
        (999, 200_000, 200_000, 40_000_000),
        (10_000_001, 20_000_000, 20_000_000, 40_000_000),
        (1_999_999_999, 4 * 10**9, 4 * 10**9, 8 * 10**9),
    ):
        found = log_likelihood_ratio(*(np.array([count]) for count in (o, r, c, n)))[0]
        assert found == pytest.approx(float(exact_ratio(o, r, c, n)), rel=1e-12, abs=0)


def exact_ratio(o: int, r: int, c: int, n: int) -> Fraction:
    """2 sum E ((1 + u) ln(1 + u) - u), u = (O - E) / E, by a power series in fractions; for small u."""
    total = Fraction(0)
    above = o - Fraction(r * c, n)
    for expected, difference in (
        (Fraction(r * c, n), above),
        (Fraction(r * (n - c), n), -above),
        (Fraction((n - r) * c, n), -above),
        (Fraction((n - r) * (n - c), n), above),
    ):
        u = difference / expected
        total += expected * sum((-u) ** k * Fraction(1, k * (k - 1)) for k in range(2, 12))
    return 2 * total
