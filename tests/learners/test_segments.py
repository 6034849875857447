"""Flat arrays cut into runs."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy_learners.segments import bounds_of, longest_segment


@pytest.mark.parametrize("lengths", [[], [0], [3], [2, 0, 5, 5], [7, 1]])
def test_the_longest_segment_is_the_largest_of_their_lengths(lengths: list[int]) -> None:
    assert longest_segment(np.asarray(bounds_of(lengths), dtype=np.int64)) == max(lengths, default=0)
