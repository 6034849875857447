"""How many samples the score of an item is the mean of, and how much one of them varies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simstudy.outputs.answers import read_only

Samples = NDArray[np.float64]
"""(K systems, n items, 2): the number of samples, and the unbiased variance of one of them, NaN for one sample."""


def samples_joined(one: Samples | None, other: Samples | None, axis: int) -> Samples | None:
    """The samples of two collections together, where both have them."""
    return None if one is None or other is None else np.concatenate([one, other], axis)


def checked_samples(samples: ArrayLike, shape: tuple[int, ...]) -> Samples:
    """Samples as an array; ValueError for another shape, numbers below 1, and variances below 0."""
    # A copy: the caller's array stays as it is.
    array = np.array(samples, dtype=np.float64)
    if array.shape != (*shape, 2):
        raise ValueError(f"samples must be numbers of shape {(*shape, 2)}, not {array.shape}")
    number, variance = array[..., 0], array[..., 1]
    if not ((number >= 1) & (number == np.rint(number)) & np.isfinite(number)).all():
        raise ValueError("samples must have whole numbers of samples from 1 on")
    if (variance < 0).any() or np.isinf(variance).any():
        raise ValueError("samples must have variances of at least 0, or NaN where they are not known")
    return read_only(array)


def of_shares(share: NDArray[np.float64], number: NDArray[np.float64]) -> Samples:
    """Samples (..., 2) of right and wrong answers, from the share of right ones and their number.

    Of n answers with a share p of right ones, the unbiased variance of one answer is p (1 - p) n / (n - 1).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(number > 1, share * (1 - share) * number / (number - 1), np.nan)
    return np.stack([number, np.maximum(variance, 0)], axis=-1)
