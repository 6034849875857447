"""All pairs share their resamples: multiplicities of units times columns is one product for all systems.

Bootstrap, flips and swaps differ in what a resample's multiplicities are (how often a unit is drawn, whether it is
swapped) and in what is counted in the sums; the tiles, the threads and the product are these.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import kernels
from simstudy.engines.question import Question
from simstudy.metrics.base import Array, IntArray
from simstudy.running.progress import doing
from simstudy.running.threads import one_blas_thread

# Fills multiplicities (T, n) of the units in resamples first, first + 1, … of a seed.
Draw = Callable[[np.uint64, np.uint64, NDArray[Any]], None]

# What a thread's tile of counts and sums may take: small enough for the shared cache, large enough for the product. A
# product of few columns waits for memory, and is three times as fast if its tile stays in the thread's own cache.
_TILE_BYTES, _FEW, _BYTES_OF_FEW = 24 * 2**20, 16, 2**20

# Resamples in a tile where nothing is summed.
_CALLS = 128


class Tally(Protocol):
    """Which columns to sum in each resample, and what to count in their sums."""

    columns: Array
    """(C, n), single or double precision; (0, n) if the multiplicities themselves are asked for."""

    def add(self, sums: Array, extreme: IntArray) -> None:
        """Add to extreme (P,) how many of T resamples are extreme, given the sums (C, T) of the columns in them."""


def count_bootstrap(tally: Tally, question: Question) -> IntArray:
    """How many of the question's bootstrap resamples are extreme, for each pair (P,)."""
    return over_resamples(tally.columns, partial(kernels.draw_counts, question.strata), tally.add, question)


def count_shuffles(tally: Tally, question: Question) -> IntArray:
    """How many of the question's shuffles, in which fair coins pick units, are extreme, for each pair (P,)."""
    return over_resamples(tally.columns, kernels.draw_coins, tally.add, question)


def over_resamples(columns: Array, draw: Draw, add: Callable[[Array, IntArray], None], question: Question) -> IntArray:
    """Draw resamples, sum the columns (C, n) in each, and add up the whole numbers (P,) that `add` counts.

    Each of the question's threads draws, multiplies and tallies its own tiles, so memory is so many tiles whatever the
    number of resamples is. Whole numbers add up to the same whoever counts them.
    """
    size = _default_tile(columns, question.n_resamples)
    tiles: queue.SimpleQueue[int] = queue.SimpleQueue()
    for first in range(0, question.n_resamples, size):
        tiles.put(first)
    stopped = False
    lock = threading.Lock()

    def work() -> IntArray:
        counted = np.zeros(question.n_pairs, dtype=np.int64)
        multiplicities = np.empty((size, columns.shape[1]), dtype=columns.dtype)
        sums = np.empty((len(columns), size), dtype=columns.dtype)
        while not stopped:
            try:
                first = tiles.get_nowait()
            except queue.Empty:
                break
            width = min(size, question.n_resamples - first)
            drawn = multiplicities[:width]
            draw(np.uint64(question.seed), np.uint64(first), drawn)
            if len(columns) == 0:
                add(drawn.T, counted)
            else:
                # A short last tile is a strided view, which BLAS would not write to.
                product = sums if width == size else np.empty((len(columns), width), sums.dtype)
                _multiply(columns, drawn, product)
                add(product, counted)
            with lock:
                advance(width)
                if question.progress:
                    question.progress(width)
        return counted

    # One BLAS thread for each of ours: draws and tallies then run beside another tile's product.
    title = f"resampling {question.n_systems} systems"
    with (
        doing(title, question.n_resamples) as advance,
        one_blas_thread(),
        ThreadPoolExecutor(question.n_jobs) as threads,
    ):
        parts = [threads.submit(work) for _ in range(question.n_jobs)]
        try:
            counted: IntArray = np.sum([part.result() for part in parts], axis=0, dtype=np.int64)
            return counted
        except BaseException:
            stopped = True
            raise


def side_by_side(
    work: Callable[[NDArray[np.intp]], Array],
    todo: NDArray[np.intp],
    n_jobs: int,
    what: str = "p-values",
    n_parts: int | None = None,
) -> Array:
    """`work` done for so many parts of `todo`, pairs, in threads, and put together in its order."""
    if len(todo) == 0:
        return np.empty(0)
    parts = np.array_split(todo, min(len(todo), n_parts or (8 * n_jobs if n_jobs > 1 else 1)))
    done = []
    with doing(f"{what} of {len(todo):,} pairs", len(todo)) as advance, ThreadPoolExecutor(n_jobs) as threads:
        for part, values in zip(parts, threads.map(work, parts), strict=True):
            done.append(values)
            advance(len(part))
    return np.concatenate(done)


def _multiply(columns: Array, multiplicities: Array, sums: Array) -> None:
    """Fill sums (C, T) from columns (C, n) and resamples' multiplicities (T, n): where the time should go."""
    np.matmul(columns, multiplicities.T, out=sums)


def _default_tile(columns: Array, n_resamples: int) -> int:
    if len(columns) == 0:
        # A function is called for each: tiles are few otherwise, and threads have unequal work.
        return min(_CALLS, n_resamples)
    row = columns.itemsize * sum(columns.shape)
    size = _BYTES_OF_FEW if len(columns) <= _FEW else _TILE_BYTES
    return int(min(max(32, size // row // 32 * 32), 4096, n_resamples))
