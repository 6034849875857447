"""Coins: fair, independent, and a function of seed and shuffle alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.engines import swap_kernels


def coins(n: int, n_shuffles: int, *, seed: int = 0, first: int = 0) -> np.ndarray:
    out = np.full((n_shuffles, n), np.nan, np.float32)
    swap_kernels.coin_flips(np.uint64(seed), np.uint64(first), out)
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
    # All eight outcomes of three units are equally frequent.
    triples = np.bincount(flips[:, 0] + 2 * flips[:, 131] + 4 * flips[:, 259], minlength=8)
    assert stats.chisquare(triples).pvalue > 1e-7
