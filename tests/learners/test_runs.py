"""Flat arrays cut into runs."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy.learners.runs import bounds_of, longest_run


@pytest.mark.parametrize("lengths", [[], [0], [3], [2, 0, 5, 5], [7, 1]])
def test_the_longest_run_is_the_largest_of_their_lengths(lengths: list[int]) -> None:
    assert longest_run(np.asarray(bounds_of(lengths), dtype=np.int64)) == max(lengths, default=0)
