"""What Outputs keep beside statistics: answers as numbers, and how many samples a score is the mean of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simstudy.validation import InputError

Answers = NDArray[np.int64]
"""(K systems, n items) numbers that stand for what the systems answered."""


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array in one piece, which nobody can write to."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def joined(one: NDArray[Any] | None, other: NDArray[Any] | None, axis: int) -> NDArray[Any] | None:
    """The answers or samples of two collections together, where both have them."""
    return None if one is None or other is None else np.concatenate([one, other], axis)


def checked_answers(answers: ArrayLike, shape: tuple[int, ...]) -> Answers:
    """Answers as an array; ValueError where they are no whole numbers of this shape."""
    array = np.asarray(answers)
    if array.shape != shape or array.dtype.kind not in "iu":
        raise InputError("answers", f"must be whole numbers of shape {shape}, as the statistics have", array.shape)
    return read_only(array.astype(np.int64))


def answers_of_clusters(answers: Answers, starts: NDArray[np.intp]) -> Answers:
    """(K, clusters) numbers, equal where all answers from one start to the next are: their sums, scrambled by place."""
    place = np.arange(answers.shape[1]) - np.repeat(starts, np.diff([*starts, answers.shape[1]]))
    mixed = answers.astype(np.uint64) + place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    # The last steps of SplitMix64: sums of such numbers are equal by chance once in 2^64.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.add.reduceat(mixed ^ (mixed >> np.uint64(31)), starts, axis=1).view(np.int64)


Samples = NDArray[np.float64]
"""(K systems, n items, 2): the number of samples, and the unbiased variance of one of them, NaN for one sample."""


def checked_samples(samples: ArrayLike, shape: tuple[int, ...]) -> Samples:
    """Samples as an array; ValueError for another shape, numbers below 1, and variances below 0."""
    try:
        # A copy: the caller's array stays as it is.
        array = np.array(samples, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("samples", f"must be numbers of shape {(*shape, 2)}", samples) from None
    if array.shape != (*shape, 2):
        raise InputError("samples", f"must be numbers of shape {(*shape, 2)}", array.shape)
    number, variance = array[..., 0], array[..., 1]
    if not ((number >= 1) & (number == np.rint(number)) & np.isfinite(number)).all():
        raise InputError("samples", "must have whole numbers of samples from 1 on")
    if (variance < 0).any() or np.isinf(variance).any():
        raise InputError("samples", "must have variances of at least 0, or NaN where they are not known")
    return read_only(array)


def of_shares(share: NDArray[np.float64], number: NDArray[np.float64]) -> Samples:
    """Samples (..., 2) of right and wrong answers, from the share of right ones and their number.

    Of n answers with a share p of right ones, the unbiased variance of one answer is p (1 - p) n / (n - 1).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(number > 1, share * (1 - share) * number / (number - 1), np.nan)
    return np.stack([number, np.maximum(variance, 0)], axis=-1)
