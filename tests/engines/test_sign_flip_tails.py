"""Tails of flipped sums against all signs, polynomials, another integral, and random flips."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import simstudy
from simstudy.engines.arguments import make_question
from simstudy.engines.sign_flip_tails import APPROXIMATED, DRAWN, EXACT, sign_flip_tail
from simstudy.engines.sign_flips import FlippedContributions, sign_flips
from simstudy.metrics.base import FloatArray
from tests.engines.pairs import ask, by_item
from tests.oracles import all_signs, n_subsets

#: What contributions are like, none of which dominates: kind -> m of them.
KINDS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "heavy tails": lambda rng, m: rng.lognormal(0, 0.5, size=m),
    "few sizes, roughly": lambda rng, m: rng.choice([1, 2, 3, 5.5, 7.25], size=m) + rng.normal(size=m) * 0.2,
    "a ratio's": lambda rng, m: ratio_contributions(rng, m),
}


def ratio_contributions(rng: np.random.Generator, m: int) -> FloatArray:
    """The right answers among few accepted ones, weighted as sign flips weight them."""
    right = rng.integers(1, 6, m)
    accepted = right + rng.integers(0, 6, m)
    return np.asarray((right - 0.8731 * accepted) / np.sqrt(1 - accepted / accepted.sum()))


def gil_pelaez(numbers: FloatArray, least: float, n_nodes: int = 20_000) -> float:
    """Gil-Pelaez 1951: P(S >= x) = 1/2 - the sum of sin(t x) phi(t) / t, over pi, by the midpoint rule."""
    step = 0.02 / np.sqrt((numbers**2).sum())
    total = 0.5
    for t in np.array_split((np.arange(n_nodes) + 0.5) * step, max(n_nodes * len(numbers) // 2**22, 1)):
        phi = np.cos(np.outer(t, numbers)).prod(axis=1)
        total -= (np.sin(t * least) * phi / t).sum() * step / np.pi
    return float(total)


@pytest.mark.parametrize("m", [1, 2, 5, 11, 16])
@pytest.mark.parametrize("whole", [False, True])
def test_few_numbers_have_the_tails_of_all_their_signs(m: int, whole: bool, rng: np.random.Generator) -> None:
    signs = all_signs(m)
    for _ in range(10):
        numbers = rng.integers(-4, 5, size=m).astype(float) if whole else rng.normal(size=m)
        sums = signs @ numbers
        for point in (*rng.choice(sums, 3), 0.0 if whole else float(rng.normal())):
            least = float(point) - (0.5 if whole else 1e-9)
            # What was observed is one of the flips.
            expected = max(float((sums >= least).mean()), 2.0 ** -int((numbers != 0).sum()) if least > 0 else 0.0)
            assert sign_flip_tail(numbers, least, whole) == (expected, EXACT)


def test_whole_numbers_have_the_tails_of_their_polynomial(rng: np.random.Generator) -> None:
    """Exactly if there are few sums, in any unit; else with a continuity correction."""
    for largest, n, computation in ((1, 150, EXACT), (3, 120, EXACT), (40, 90, EXACT), (900, 90, APPROXIMATED)):
        numbers = rng.integers(1, largest + 1, size=n)
        total = int(numbers.sum())
        ways = n_subsets(numbers, total // 2)
        for share in (0.0, 0.1, 0.3, 0.6):
            most = int(total * (1 - share) / 2)
            expected = float(Fraction(ways[most], 2**n))
            for scale in (1, 1000):
                tail, how = sign_flip_tail(numbers * float(scale), scale * (total - 2.0 * most) - 0.5, True)
                assert how == computation
                assert tail == pytest.approx(expected, rel=1e-12 if how == EXACT else 0.01)


def test_equal_numbers_are_coins() -> None:
    """An exact binomial, and one of more numbers than have an exact distribution."""
    for n, rel in ((40, 1e-12), (1000, 1e-12), (20_000, 1e-3)):
        for heads in (n // 2, int(0.51 * n), int(0.6 * n)):
            expected = float(stats.binom.sf(heads - 1, n, 0.5))
            tail, _ = sign_flip_tail(np.full(n, 37.0), 37.0 * (2 * heads - n) - 1, True)
            assert tail == pytest.approx(max(expected, 2.0**-n), rel=rel)


@pytest.mark.parametrize("kind", KINDS)
def test_many_numbers_agree_with_an_integral(kind: str, rng: np.random.Generator) -> None:
    for m in (30, 120, 1000):
        for z in (-1.0, 0.1, 1.0, 1.96, 3.0):
            numbers = KINDS[kind](rng, m)
            least = z * float(np.sqrt((numbers**2).sum()))
            tail, how = sign_flip_tail(numbers, least, False)
            if how == APPROXIMATED:
                assert tail == pytest.approx(gil_pelaez(numbers, least), rel=0.03)
            assert how == APPROXIMATED or m == 30


def test_small_tails() -> None:
    """Exact as whole numbers, and approximated as reals: the sums are a step apart, of which the middle is asked."""
    numbers = np.random.default_rng(20120712).integers(1, 7, size=1000)
    total, ways = int(numbers.sum()), n_subsets(numbers, 1700)
    for exponent in (10, 30, 100, 300):
        most = next(most for most in range(100, 1700, 20) if ways[most] * 10**exponent >= 2**1000)
        expected = float(Fraction(ways[most], 2**1000))
        tail, how = sign_flip_tail(numbers.astype(float), total - 2.0 * most - 1, True)
        assert (tail, how) == (pytest.approx(expected, rel=1e-8, abs=0), EXACT)
        tail, how = sign_flip_tail(numbers + 1e-6, total - 2.0 * most - 1, False)
        assert (tail, how) == (pytest.approx(expected, rel=0.25), APPROXIMATED)


@pytest.mark.parametrize(
    "numbers",
    [
        np.r_[np.random.default_rng(1).normal(size=60), 12.0],
        np.tile([0.1, 0.2, 0.3], 40) + 1e-6 * np.random.default_rng(2).normal(size=120),
        np.tile([2.0, 3.0], 20) + 1e-5 * np.random.default_rng(3).normal(size=40),
        np.r_[np.ones(40), 0.01 * np.random.default_rng(4).random(30)],
    ],
    ids=["one dominates", "nearly tenths", "nearly multiples of a unit that is not there", "nearly right or wrong"],
)
def test_flips_are_drawn_where_the_approximation_may_be_wrong(numbers: FloatArray) -> None:
    least = float(np.sqrt((numbers**2).sum()))
    tail, how = sign_flip_tail(numbers, least, False)
    assert how == DRAWN
    # Why: the true share of flips is elsewhere.
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(200_000, len(numbers)))
    assert abs(tail / (signs @ numbers >= least).mean() - 1) > 0.01


@pytest.mark.parametrize("n_large", [1, 3, 6, 13, 15])
def test_large_numbers_among_small_ones_have_the_tails_of_their_polynomial(
    n_large: int, rng: np.random.Generator
) -> None:
    """In extreme sums the large ones always have the same sign and no variance, yet sums lie apart."""
    n_drawn = 0
    for times in (5, 20, 200):
        large = rng.uniform(0.95, 1.05, n_large) * 10 * times
        numbers = np.rint(np.r_[large, rng.uniform(5, 15, 250)]).astype(int)
        total = int(numbers.sum())
        ways = n_subsets(numbers, total // 2)
        for share in (0.4, 0.1, 0.03, 0.008, 0.001):
            most = next(k for k, of in enumerate(ways) if of >= share * 2 ** len(numbers))
            expected = float(Fraction(ways[most], 2 ** len(numbers)))
            tail, how = sign_flip_tail(numbers.astype(float), total - 2.0 * most - 1, False)
            assert how == DRAWN or tail == pytest.approx(expected, rel=0.05)
            n_drawn += how == DRAWN
    assert 0 < n_drawn < 15, "and some are approximated"


def test_a_tail_is_at_least_one_of_all_flips() -> None:
    numbers = np.sort(np.random.default_rng(5).uniform(1, 2, size=50))
    for least, ways in ((numbers.sum() + 1.0, 1), (numbers.sum() - 0.5, 1), (numbers.sum() - 2 * numbers[2] - 1e-9, 4)):
        assert sign_flip_tail(numbers, least, False)[0] == ways * 2.0**-50
    gains = np.random.default_rng(6).uniform(1, 2, 1200)
    assert ask(by_item([gains, 0 * gains]), "mean", test="sign_flips")["p_value"] == 1e-300, "2^-1200 is no double"


def test_neither_unit_nor_order_nor_signs_matter(rng: np.random.Generator) -> None:
    for numbers in (rng.normal(size=500), np.append(rng.normal(size=40), [4.0, 1e-200]), np.arange(-60.0, 60.0)):
        least = 1.3 * float(np.sqrt((numbers**2).sum()))
        tail, how = sign_flip_tail(numbers, least, False)
        assert 0 < tail < 0.5
        for scale in (2.0**-300, 2.0**300):
            assert sign_flip_tail(numbers * scale, least * scale, False) == (pytest.approx(tail, rel=1e-12), how)
        assert sign_flip_tail(-rng.permutation(numbers), least, False) == (pytest.approx(tail, rel=1e-12), how)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["bleu", "span_f1"])
def test_real_pairs_agree_with_an_integral(metric: str, shared_data: Path) -> None:
    """Pairs of WMT24 or WNUT17, by 65,536 nodes."""
    if metric == "bleu":
        files, reference = "wmt24_en-de/sys", "wmt24_en-de/ref.A.de"
    else:
        files, reference = "ner_wnut17/submissions", "ner_wnut17/emerging.test.annotated"
    loaded = simstudy.load(shared_data / files, metric=metric, references=shared_data / reference)
    question = make_question(loaded.outputs.best_first(), test="sign_flips", alternative="greater")
    flips, (i, j), k = FlippedContributions(question), question.pairs, question.n_systems
    columns = flips.columns.reshape(-1, k, question.n_units)
    contributions = np.einsum("ps,spn->pn", flips.weights, columns[:, i] - columns[:, j])
    p_value = sign_flips(question).p_value
    for p in np.flatnonzero(p_value > 1e-4)[:12]:
        assert p_value[p] == pytest.approx(gil_pelaez(contributions[p], flips.least[p], 2**16), rel=0.03)
