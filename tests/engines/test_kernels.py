"""Compiled loops: random numbers are functions of seed and resample, items and coins fair, counts over pairs."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from simstudy.engines import kernels


def words(seed: int, replicate: int, block: int) -> list[int]:
    out = np.empty((4, 1), np.uint32)
    kernels.philox_words(np.uint64(seed), np.uint64(replicate), block, out)
    return [int(w) for w in out[:, 0]]


def test_philox_known_answers() -> None:
    """Vectors of the Random123 distribution (kat_vectors, philox4x32 10); the second counter word is 0 here."""
    assert words(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    # All counter words and keys set: checked through the inner function.
    full = np.uint32(0xFFFFFFFF)
    assert [int(w) for w in kernels._philox((full, full, full, full), (full, full))] == [
        0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD,
    ]  # fmt: skip
    pi = [np.uint32(w) for w in (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)]
    assert [int(w) for w in kernels._philox(tuple(pi[:4]), tuple(pi[4:]))] == [
        0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1,
    ]  # fmt: skip


def counts(n: int, n_resamples: int, *, seed: int = 0, first: int = 0, strata: list[int] | None = None) -> np.ndarray:
    out = np.empty((n_resamples, n), np.float32)
    bounds = np.array(strata or [0, n], dtype=np.int64)
    kernels.draw_counts(bounds, np.uint64(seed), np.uint64(first), out)
    return out


def test_a_replicate_depends_on_seed_and_number_alone() -> None:
    whole = counts(37, 100, seed=5)
    np.testing.assert_array_equal(counts(37, 30, seed=5, first=60), whole[60:90])
    assert (counts(37, 100, seed=6) != whole).any(axis=1).all()
    big = 2**64 - 1
    assert (counts(37, 5, seed=big) != counts(37, 5, seed=big - 1)).any()
    # Seeds that share their low half are different streams too.
    assert (counts(37, 5, seed=1) != counts(37, 5, seed=1 + 2**32)).any()


def test_strata_keep_their_sizes() -> None:
    drawn = counts(20, 200, strata=[0, 3, 4, 20])
    assert (drawn[:, :3].sum(axis=1) == 3).all()
    assert (drawn[:, 3] == 1).all()
    assert (drawn[:, 4:].sum(axis=1) == 16).all()


def test_biased_words_are_rejected_and_replaced() -> None:
    """Lemire's rule written out: with 2,999,999 items about one word in 1,500 is rejected."""
    n, seed = 2_999_999, 4
    blocks = -(-n // 4)
    drawn = np.empty((4, blocks), np.uint32)
    kernels.philox_words(np.uint64(seed), np.uint64(0), 0, drawn)
    stream = drawn.reshape(-1)[:n].astype(np.uint64)
    limit = 2**32 % n
    rejected = np.flatnonzero((stream * np.uint64(n)) % np.uint64(2**32) < limit)
    assert len(rejected) > 100
    next_block = blocks
    for position in rejected:
        word = 0
        while word * n % 2**32 < limit:
            word = words(seed, 0, next_block)[0]
            next_block += 1
        stream[position] = word
    expected = np.bincount((stream * np.uint64(n) >> np.uint64(32)).astype(np.int64), minlength=n)
    np.testing.assert_array_equal(counts(n, 1, seed=seed)[0], expected)


def test_resamples_that_reach_a_margin_are_counted(rng: np.random.Generator) -> None:
    """Any pairs, in any order and more than once, each with a margin of its own."""
    values = rng.integers(-5, 5, size=(4, 3000)).astype(np.int32)
    better, worse = rng.integers(0, 4, size=(2, 20))
    margins = rng.integers(-2, 3, size=20).astype(np.int32)
    extreme = np.full(20, 7, np.int64)
    kernels.count_reached(values, (better, worse), margins, extreme)
    for i, j, margin, count in zip(better, worse, margins, extreme, strict=True):
        assert count == 7 + int((values[i] - values[j] >= margin).sum())


def test_sizes_are_sums_over_pairs(rng: np.random.Generator) -> None:
    """|a - b| in whole steps: of eighths, in steps of an eighth, nothing is lost."""
    eighths = rng.integers(-40, 40, size=(4, 3000))
    better, worse = np.triu_indices(4, k=1)
    steps = np.full(6, 2, np.int64)
    kernels.add_sizes(eighths / 8, (better, worse), 1 / 8, steps)
    for i, j, found in zip(better, worse, steps, strict=True):
        assert found == 2 + np.abs(eighths[i] - eighths[j]).sum()


def coins(n: int, n_shuffles: int, *, seed: int = 0, first: int = 0) -> np.ndarray:
    out = np.full((n_shuffles, n), np.nan, np.float32)
    kernels.draw_coins(np.uint64(seed), np.uint64(first), out)
    return out


@pytest.mark.parametrize("n", [1, 31, 32, 33, 127, 128, 129, 1000])
def test_coins_depend_on_seed_and_shuffle_alone(n: int) -> None:
    whole = coins(n, 100, seed=5)
    assert np.isin(whole, (0, 1)).all()
    np.testing.assert_array_equal(coins(n, 30, seed=5, first=60), whole[60:90])
    assert (coins(n, 100, seed=6) != whole).any()
    assert (coins(n, 100, seed=5 + 2**32) != whole).any()


@pytest.mark.statistical
def test_coins_are_fair_and_independent() -> None:
    """Each unit's share of heads, neighbours in a shuffle, and a unit in shuffles next to each other."""
    n, n_shuffles = 260, 40_000
    flips = coins(n, n_shuffles, seed=9).astype(np.int64)
    z = (flips.sum(axis=0) - n_shuffles / 2) / np.sqrt(n_shuffles / 4)
    assert 1e-7 < stats.chi2.sf((z**2).sum(), n) < 1 - 1e-7
    for lag in (1, 2, 32, 64, 128):
        equal = (flips[:, lag:] == flips[:, :-lag]).sum()
        assert stats.binomtest(int(equal), flips[:, lag:].size).pvalue > 1e-7
    for lag in (1, 2, 4096):
        equal = (flips[lag:] == flips[:-lag]).sum()
        assert stats.binomtest(int(equal), flips[lag:].size).pvalue > 1e-7


def test_functions_give_the_same_numbers_before_they_are_compiled() -> None:
    """In a process without numba: exact ones to the last bit, and approximated tails of flips to 1e-9."""
    code = """
import json, sys
import numpy as np
from simstudy.compiled import few
from simstudy.engines.exact_distributions import add_trinomial_tails
from simstudy.engines.sign_flip_tails import EXACT, sign_flip_tail
rng = np.random.default_rng(7)
numbers = [(rng.normal(size=n), False) for n in (20, 200)]
numbers += [(rng.integers(1, largest, size=90).astype(float), True) for largest in (9, 90, 9000)]
counts = np.array([(more, less) for more in range(61) for less in range(0, min(more + 1, 40), 2)])
trinomial = np.zeros((2, len(counts)))
with few(0) if sys.argv[1] == "few" else few(2**60):
    tails = [sign_flip_tail(c, z * np.sqrt((c**2).sum()) - 0.25, whole) for c, whole in numbers for z in (0.5, 2, 6)]
    for two_sided, row in enumerate(trinomial):
        add_trinomial_tails(137, counts, two_sided, row)
assert ("numba" in sys.modules) == (sys.argv[1] == "many")
exact = [float(tail) for tail, how in tails if how == EXACT]
print(json.dumps([exact + trinomial.ravel().tolist(), [float(tail) for tail, how in tails if how != EXACT]]))
"""
    plain, compiled = (
        json.loads(subprocess.run([sys.executable, "-c", code, how], check=True, capture_output=True, text=True).stdout)
        for how in ("few", "many")
    )
    assert plain[0] == compiled[0]
    assert plain[1] == pytest.approx(compiled[1], rel=1e-9)
