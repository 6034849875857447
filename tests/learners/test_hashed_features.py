"""Hashed features: every feature has one place, and places are spread evenly."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy_learners.dependencies.hashed_features import slot


@pytest.mark.parametrize("varied", ["template", "x", "y", "all"])
def test_features_are_spread_as_if_by_chance(varied: str) -> None:
    """Of as many rows as features a share of about 1 / e stays empty, whichever part of the features varies."""
    bits = 12
    m = 2**bits
    if varied == "all":
        keys = [(t, x, y) for t in range(16) for x in range(16) for y in range(16)]
    else:
        # A template has at most 9 bits.
        keys = [(k % 512 if varied == "template" else 3, k // 512 if varied == "template" else 5, 7) for k in range(m)]
        keys = [
            (3, 32 * k, 7) if varied == "x" else (3, 5, 32 * k) if varied == "y" else key for k, key in enumerate(keys)
        ]
    rows = np.array([slot(*key, m - 1) for key in keys])
    assert rows.min() >= 0
    assert rows.max() < m
    empty = 1 - len(set(rows.tolist())) / m
    # The standard deviation of the share is sqrt(1/e - 2/e^2) / sqrt(m), 0.005.
    assert abs(empty - np.exp(-1)) < 0.025
    assert [slot(*key, m - 1) for key in keys[:50]] == rows[:50].tolist()
