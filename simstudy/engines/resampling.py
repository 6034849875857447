"""All pairs share their resamples: multiplicities of units times columns is one product for all systems.

Bootstrap and randomization differ in what a resample's multiplicities are (how often an item is drawn, whether it is
swapped) and in what is counted in the sums; the tiles, the threads and the product are these.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simstudy.engines.question import Question
from simstudy.metrics.base import Array
from simstudy.running.progress import doing
from simstudy.running.threads import one_blas_thread

Draw = Callable[[np.uint64, np.uint64, NDArray[Any]], None]
Found = NDArray[np.int64]

# What a thread's tile of counts and sums may take: small enough for the shared cache, large enough for the product. A
# product of few columns waits for memory, and is three times as fast if its tile stays in the thread's own cache.
_TILE_BYTES, _FEW, _BYTES_OF_FEW = 24 * 2**20, 16, 2**20

# Resamples in a tile where nothing is summed.
_CALLS = 128

# Ranges of resamples that an executor's workers are given: enough for many workers, each worth the sending.
_RANGES = 64


class _Range(NamedTuple):
    """Resamples from `begin` to before `end`, in which these numbers (*n_found, P) are found."""

    begin: int
    end: int
    n_found: tuple[int, ...]


def over_resamples(
    columns: NDArray[Any],
    draw: Draw,
    add: Callable[[NDArray[Any], Found], None],
    question: Question,
    n_found: tuple[int, ...] = (),
) -> NDArray[np.int64]:
    """Draw resamples, sum the columns (C, n) in each, and add up the numbers that `add` finds for each pair (..., P).

    Where there is no column (0, n) the sums are the multiplicities themselves, (n, T).

    `draw` fills multiplicities (T, n) of the units in resamples first, first + 1, …, given the seed and the first;
    `add` adds to found (*n_found, P) what it finds in the sums (C, T). Each of the question's threads draws,
    multiplies and tallies its own tiles, so memory is so many tiles whatever the number of resamples is. What is found
    are whole numbers, whose sum does not depend on who found them: an executor's workers have ranges of resamples each.
    """
    if question.executor is None:
        return _of_range(columns, draw, add, question, _Range(0, question.n_resamples, n_found))
    # joblib: only who has an executor waits for its import.
    from simstudy.running.keys import Cell
    from simstudy.running.parallel import run_cells

    ends = np.linspace(0, question.n_resamples, min(_RANGES, question.n_resamples) + 1).astype(np.int64).tolist()
    # A worker has one thread, and no executor of its own.
    alone = replace(question, executor=None, progress=None, n_jobs=1)
    cells = [
        Cell(f"resamples {first + 1:,} to {last:,}", (columns, draw, add, alone, _Range(first, last, n_found)))
        for first, last in pairwise(ends)
    ]
    with doing(f"resampling {question.n_systems} systems", len(cells)) as advance:
        parts = run_cells(_of_range, cells, executor=question.executor, finished=lambda _: advance(1))
    found: Found = np.sum(parts, axis=0, dtype=np.int64)
    return found


def _of_range(
    columns: NDArray[Any],
    draw: Draw,
    add: Callable[[NDArray[Any], Found], None],
    question: Question,
    which: _Range,
) -> Found:
    """What is found in some of the resamples."""
    begin, end, n_found = which
    size = _default_tile(columns, end - begin)
    tiles: queue.SimpleQueue[int] = queue.SimpleQueue()
    for first in range(begin, end, size):
        tiles.put(first)
    stopped = False
    lock = threading.Lock()

    def work() -> Found:
        found = np.zeros((*n_found, question.n_pairs), dtype=np.int64)
        counts = np.empty((size, columns.shape[1]), dtype=columns.dtype)
        sums = np.empty((len(columns), size), dtype=columns.dtype)
        while not stopped:
            try:
                first = tiles.get_nowait()
            except queue.Empty:
                break
            width = min(size, end - first)
            draw(np.uint64(question.seed), np.uint64(first), counts[:width])
            # A short last tile is a strided view, which BLAS would not write to.
            if len(columns) == 0:
                add(counts[:width].T, found)
            else:
                product = sums if width == size else np.empty((len(columns), width), sums.dtype)
                _multiply(columns, counts[:width], product)
                add(product, found)
            with lock:
                advance(width)
                if question.progress:
                    question.progress(width)
        return found

    # One BLAS thread for each of ours: draws and tallies then run beside another tile's product.
    title = f"resampling {question.n_systems} systems"
    with (
        doing(title, end - begin) as advance,
        one_blas_thread(),
        ThreadPoolExecutor(question.n_jobs) as threads,
    ):
        parts = [threads.submit(work) for _ in range(question.n_jobs)]
        try:
            found: Found = np.sum([part.result() for part in parts], axis=0, dtype=np.int64)
            return found
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
    found = []
    with doing(f"{what} of {len(todo):,} pairs", len(todo)) as advance, ThreadPoolExecutor(n_jobs) as threads:
        for part, values in zip(parts, threads.map(work, parts), strict=True):
            found.append(values)
            advance(len(part))
    return np.concatenate(found)


def _multiply(columns: NDArray[Any], counts: NDArray[Any], sums: NDArray[Any]) -> None:
    """Fill sums (C, T) from columns (C, n) and resamples' multiplicities (T, n): where the time should go."""
    np.matmul(columns, counts.T, out=sums)


def _default_tile(columns: NDArray[Any], n_resamples: int) -> int:
    if len(columns) == 0:
        # A function is called for each: tiles are few otherwise, and threads have unequal work.
        return min(_CALLS, n_resamples)
    row = columns.itemsize * sum(columns.shape)
    size = _BYTES_OF_FEW if len(columns) <= _FEW else _TILE_BYTES
    return int(min(max(32, size // row // 32 * 32), 4096, n_resamples))
