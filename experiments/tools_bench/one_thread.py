"""numba's parallel loops in one thread that draws from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import numpy as np


@contextmanager
def one_seeded_thread(seed: int) -> Iterator[None]:
    """Parallel loops run in one thread, whose generator is seeded."""
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        # Some threading layers of numba run loops in another thread than the one that calls, with its own generator.
        _seed_loops(seed)
        yield
    finally:
        # It is of the whole process.
        numba.set_num_threads(threads)


@numba.njit(parallel=True)
def _seed_loops(seed):  # type: ignore[no-untyped-def]
    for _ in numba.prange(1):
        np.random.seed(seed)  # noqa: NPY002
