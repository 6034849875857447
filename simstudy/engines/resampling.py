"""The paired bootstrap of all pairs of systems at once (Berg-Kirkpatrick et al. 2012, section 2.2 and footnote 5)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from simstudy.engines import kernels
from simstudy.engines.tallies import Event, Tally, make_tally
from simstudy.metrics import Metric

# What a thread's tile of counts and sums may take: small enough for the shared cache, large enough for the product.
_TILE_BYTES = 24 * 2**20


def bootstrap(
    statistics: NDArray[Any],
    metric: Metric,
    events: Sequence[Event],
    *,
    strata: NDArray[np.int64],
    n_resamples: int,
    seed: int,
    n_jobs: int,
    tile_size: int | None,
    progress: Callable[[int], None] | None,
) -> NDArray[np.int64]:
    """Count, for every pair of systems, the resamples in which one of the events holds.

    Parameters
    ----------
    statistics
        (K systems, best first; n units, those of a stratum next to each other; S).
    strata
        (H + 1,) bounds of the strata in the units; each is resampled to its own size.
    n_jobs
        Threads; each draws, multiplies and tallies its own tiles, so memory is n_jobs tiles whatever B is.

    Returns
    -------
    extreme
        (K, K) counts; entry (i, j) with i < j is the count for better system i against j.
    """
    tally = make_tally(statistics, metric)
    n_systems = statistics.shape[0]
    size = tile_size or _default_tile(tally.columns, n_resamples)
    tiles: queue.SimpleQueue[int] = queue.SimpleQueue()
    for first in range(0, n_resamples, size):
        tiles.put(first)
    stopped = False
    lock = threading.Lock()

    def work() -> NDArray[np.int64]:
        extreme = np.zeros((n_systems, n_systems), dtype=np.int64)
        counts = np.empty((size, tally.columns.shape[1]), dtype=tally.columns.dtype)
        sums = np.empty((len(tally.columns), size), dtype=tally.columns.dtype)
        while not stopped:
            try:
                first = tiles.get_nowait()
            except queue.Empty:
                break
            width = min(size, n_resamples - first)
            _tile(tally, events, seed, first, strata, counts[:width], sums[:, :width], extreme)
            if progress:
                with lock:
                    progress(width)
        return extreme

    # One BLAS thread for each of ours: draws and tallies then run beside another tile's product.
    with _single_blas_thread(), ThreadPoolExecutor(n_jobs) as threads:
        parts = [threads.submit(work) for _ in range(n_jobs)]
        try:
            extreme = np.sum([part.result() for part in parts], axis=0, dtype=np.int64)
        except BaseException:
            stopped = True
            raise
    # Two tails overlap where the gain is 0 and the resample's gain is 0 too.
    return np.minimum(extreme, n_resamples)


def _tile(
    tally: Tally,
    events: Sequence[Event],
    seed: int,
    first: int,
    strata: NDArray[np.int64],
    counts: NDArray[Any],
    sums: NDArray[Any],
    extreme: NDArray[np.int64],
) -> None:
    kernels.resample_counts(np.uint64(seed), np.uint64(first), strata, counts)
    # A short last tile is a strided view, which BLAS would not write to.
    product = sums if sums.flags.c_contiguous else np.empty(sums.shape, sums.dtype)
    _multiply(tally.columns, counts, product)
    for event in events:
        tally.add(product, event, extreme)


def _multiply(columns: NDArray[Any], counts: NDArray[Any], sums: NDArray[Any]) -> None:
    """Fill sums (C, T) from columns (C, n) and resamples' counts (T, n): where the time should go."""
    np.matmul(columns, counts.T, out=sums)


class _SingleBlasThread:
    """Limits BLAS to one thread as long as any comparison runs: the limit is the whole process's.

    Comparisons may run side by side; the first sets the limit, the last gives back what there was before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._limits: threadpool_limits | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._limits = threadpool_limits(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if self._running == 0 and self._limits:
                    self._limits.restore_original_limits()


_single_blas_thread = _SingleBlasThread()


def _default_tile(columns: NDArray[Any], n_resamples: int) -> int:
    row = columns.itemsize * sum(columns.shape)
    return int(min(max(32, _TILE_BYTES // row // 32 * 32), 4096, n_resamples))
