"""The inner products of pairs: by numpy and by the compiled loop they are the same to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simstudy.engines import product_kernels


@pytest.mark.parametrize("n", [1, 15, 16, 17, 2034])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_both_ways_give_the_same_bits_and_are_right(n: int, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (1000 * np.random.default_rng(n).normal(size=(7, n))).astype(dtype)
    pairs = np.triu_indices(7, 1)
    few, many = np.empty(21, dtype), np.empty(21, dtype)
    product_kernels.pair_products(rows, rows[::-1].copy(), pairs, few)
    monkeypatch.setattr(product_kernels, "_FEW", 0)
    product_kernels.pair_products(rows, rows[::-1].copy(), pairs, many)
    assert few.tobytes() == many.tobytes()
    for found, i, j in zip(few.tolist(), *pairs, strict=True):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(rows[i].tolist(), rows[6 - j].tolist(), strict=True))
        size = sum(abs(a * b) for a, b in zip(rows[i].tolist(), rows[6 - j].tolist(), strict=True))
        assert abs(Fraction(found) - exact) <= n * 2.0**-52 * size


@pytest.mark.parametrize("n", [1, 16, 63, 65, 2034])
def test_bits_that_two_rows_have_in_common_are_counted(n: int) -> None:
    right, pairs = np.random.default_rng(n).random((7, n)) < 0.6, np.triu_indices(7, 1)
    counts = right.astype(np.int64) @ right.T
    assert product_kernels.common_bits(right, pairs).tolist() == counts[pairs].tolist()
