"""Ranks of candidates, with ties broken at random or kept (Evert 2004, footnotes 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simstudy.metrics.base import FloatArray, IntArray

#: As good as a random number of each candidate.
Jitter = NDArray[np.uint64]


def jitter(ids: Iterable[str], seed: int) -> Jitter:
    """A number for each candidate that is a function of the seed and its id alone: wherever it stands, it is the same.

    Examples
    --------
    >>> bool((jitter(["a", "b"], 0) == jitter(["b", "a"], 0)[::-1]).all())
    True
    """
    key = seed.to_bytes(8, "little")
    digests = b"".join(blake2b(name.encode(), digest_size=8, key=key).digest() for name in ids)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def ranks_of(scores: FloatArray, jitter: Jitter | None) -> IntArray:
    """Ranks (K, n) of scores (K, n), 1 for the highest.

    The jitter (n,) decides between equal scores. Without it those that tie have the rank of their first.

    Examples
    --------
    >>> scores = np.array([[5.0, 7.0, 5.0, 1.0]])
    >>> ranks_of(scores, None).tolist(), ranks_of(scores, np.array([9, 0, 3, 0], dtype=np.uint64)).tolist()
    ([[2, 1, 2, 4]], [[3, 1, 2, 4]])
    """
    if jitter is None:
        return np.asarray(stats.rankdata(-scores, method="min", axis=1), dtype=np.int64)
    ranks = np.empty(scores.shape, dtype=np.int64)
    for own, of_function in zip(ranks, scores, strict=True):
        own[np.lexsort((jitter, -of_function))] = np.arange(1, own.size + 1)
    return ranks
