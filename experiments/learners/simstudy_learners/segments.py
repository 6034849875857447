"""Flat arrays cut into segments, as a text into sentences: segment i is rows bounds[i] … bounds[i + 1] - 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]


def bounds_of(lengths: Any) -> Integers:
    """(n + 1,) bounds of n segments that follow one another.

    Examples
    --------
    >>> bounds_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])


def chosen_segments(bounds: Integers, chosen: Integers) -> tuple[Integers, Integers]:
    """The bounds of some segments when only these are kept, in that order, and which rows of all they are.

    Examples
    --------
    >>> bounds, rows = chosen_segments(np.array([0, 2, 3]), np.array([1, 0, 1]))
    >>> bounds.tolist(), rows.tolist()
    ([0, 1, 3, 4], [2, 0, 1, 2])
    """
    lengths = np.diff(bounds)[chosen]
    kept = bounds_of(lengths)
    return kept, np.repeat(bounds[chosen] - kept[:-1], lengths) + np.arange(kept[-1])


def places_in_segments(bounds: Integers) -> tuple[Integers, Integers]:
    """(rows,) which segment each row is in, and its place there, from 0 on.

    Examples
    --------
    >>> [column.tolist() for column in places_in_segments(np.array([0, 2, 3]))]
    [[0, 0, 1], [0, 1, 0]]
    """
    segment = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return segment, np.arange(len(segment)) - bounds[segment]


@njit(cache=True, nogil=True)
def longest_segment(bounds: Integers) -> int:
    """How many rows the longest segment has; 0 where there is none.

    A loop, as compiled functions call it: `numpy.diff` in each of them costs seconds of compiling.

    Examples
    --------
    >>> longest_segment(np.array([0, 2, 2, 3]))
    2
    """
    longest = 0
    for i in range(len(bounds) - 1):
        longest = max(longest, bounds[i + 1] - bounds[i])
    return longest
