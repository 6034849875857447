"""What systems answered, as numbers: where two systems gave an item the same answer they have the same number there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Answers = NDArray[np.int64]
"""(K systems, n items) numbers that stand for what the systems answered."""


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array in one piece, which nobody can write to."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def answers_joined(one: Answers | None, other: Answers | None, axis: int) -> Answers | None:
    """The answers of two collections together, where both have them."""
    return None if one is None or other is None else np.concatenate([one, other], axis)


def checked_answers(answers: ArrayLike, shape: tuple[int, ...]) -> Answers:
    """Answers as an array; ValueError where they are no whole numbers of this shape."""
    array = np.asarray(answers)
    if array.shape != shape or array.dtype.kind not in "iu":
        raise ValueError(f"answers must be whole numbers of shape {shape}, as the statistics have, not {array.shape}")
    return read_only(array.astype(np.int64))


def answers_of_clusters(answers: Answers, starts: NDArray[np.intp]) -> Answers:
    """(K, clusters) numbers, equal where all answers from one start to the next are: their sums, scrambled by place."""
    place = np.arange(answers.shape[1]) - np.repeat(starts, np.diff([*starts, answers.shape[1]]))
    mixed = answers.astype(np.uint64) + place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    # The last steps of SplitMix64: sums of such numbers are equal by chance once in 2^64.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.add.reduceat(mixed ^ (mixed >> np.uint64(31)), starts, axis=1).view(np.int64)
