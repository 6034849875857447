"""How many pairs of a large table fit into a given memory at a time, and tables that do not fit, found unread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.engines.memory import available, needed, taken
from simstudy.engines.question import Question
from simstudy.engines.registry import default_test
from simstudy.files.packed import size_of
from simstudy.metrics import Metric
from simstudy.notes import Argument, Words
from simstudy.readers.tables import ending
from simstudy.running.jobs import n_workers
from simstudy.validation import InputError, Shown

# Measured: bytes for each pair of a block (its row, what the row is made of, and as it is written), and for each pair
# of all (its p-value, and what corrects it). Fewer pairs than the last are no block.
_OF_ROW, _OF_PAIR, _LEAST_ROWS = 800, 72, 2**12

# Measured: what numba takes of all that is read in late.
_OF_NUMBA = 64 * 2**20

# Measured: bytes for each item while a table is read (its name, its row, its place among the names), and afterwards.
_OF_ITEM_READ, _OF_ITEM = 150, 50

# Rows of a block where memory would take more: large ones for tests that draw again for each.
_SOME_ROWS, _MOST_ROWS = 2**18, 2**21


def block_size(question: Question, test: str, memory: str | int | None, ahead: int) -> int:
    """How many pairs a block may have if so many blocks are made ahead of the one that is written."""
    answers = question.right_or_wrong and question.computes
    most = _SOME_ROWS if answers else _MOST_ROWS
    k, n, s = question.statistics.shape
    fixed = _beside_rows(test, (k, n, s), question.n_jobs, n_asked(question), memory, answers=answers)
    of_row = _OF_ROW * (1 + ahead)
    there = np.inf if memory is None else size_of("memory", memory) - taken()
    left = min(there, available())
    if np.isinf(left):
        return most
    # A tenth is left for what the interpreter does not give back.
    rows = (0.9 * left - fixed) // of_row
    if rows < min(_LEAST_ROWS, n_asked(question)):
        least = (fixed + _LEAST_ROWS * of_row) / 0.9 + (0 if memory is None else taken())
        raise _too_little(least, n_asked(question), (k, n), memory, left)
    return min(int(rows), most)


def n_asked(question: Question) -> int:
    """How many pairs a question is about; all pairs of thousands of systems are not listed for it."""
    k = question.n_systems
    return k * (k - 1) // 2 if question.asked is None else len(question.asked[0])


def _beside_rows(
    test: str, shape: tuple[int, int, int], n_jobs: int, n_pairs: int, memory: object, *, answers: bool
) -> int:
    """Bytes beside the rows of pairs. If there is a limit, numba is imported before the rest is counted."""
    if memory is not None:
        import numba  # noqa: F401
    fixed = needed(test, shape, 0, n_jobs, answers=answers) + _OF_PAIR * n_pairs
    return fixed - (_OF_NUMBA if memory is not None else 0)


def _too_little(
    least: float, n_pairs: int, shape: tuple[int, int], memory: str | int | None, left: float
) -> InputError:
    # Rounded up, with what may be read in later: what is named is enough.
    mib = 50 * ceil((least / 2**20 + 25) / 50)
    enough = f"{mib} MiB" if mib < 1024 else f"{ceil(least / 2**30 * 10) / 10:.1f} GiB"
    given = f"the {left / 2**30:.1f} GiB that are left" if memory is None else memory
    rule = f"must be at least {enough} for {n_pairs:,} pairs of {shape[0]:,} systems on {shape[1]:,} units"
    remedy = Words(": compare fewer systems at a time, or some of the pairs ({against})", against=Argument("against"))
    return InputError("memory", rule, Shown(given), remedy)


def check_tables(paths: Iterable[Path], metric: Metric, *, memory: str | int | None = None, **options: Any) -> None:
    """Raise a ValueError where a Parquet table and a comparison of its systems would not fit into memory, unread.

    The table has a row for each item; of other files `write_pairs` tells. Memory and options are as there.
    """
    left = available() + taken()
    there = min(left, np.inf if memory is None else size_of("memory", memory))
    test, against = options.get("test") or default_test(metric), options.get("against")
    n_jobs = n_workers(options.get("n_jobs", 1))
    for path in paths:
        if ending(path) != ".parquet" or not path.is_file():
            continue
        from simstudy.files.parquet import parquet_sizes  # only Parquet needs pyarrow

        n, sizes = parquet_sizes(path)
        by_system = Counter(name.rpartition(":")[0] for name in sizes)
        # A column for each system, but for that of the items; or one for each of its statistics.
        k = len(by_system) - 1 if ":" in "".join(sizes) else max(len(sizes) - 1, 1)
        s, n_pairs = len(metric.statistics), k * (k - 1) // 2
        if against is not None:
            n_pairs = k if isinstance(against, str) else min(k * len(against), n_pairs)
        width = max(4 if size == 2 else size for size in [*sizes.values()][1:] or [8])
        of_statistics, of_columns = k * s * width, sum(sizes.values())
        answers = width == 1 and metric.item_range is not None
        reading = n * (2 * of_columns + of_statistics + _OF_ITEM_READ)
        # Right or wrong answers have blocks of pairs side by side.
        rows = _LEAST_ROWS * _OF_ROW * (1 + (n_jobs if answers and n_jobs > 1 else 0))
        rows += _beside_rows(test, (k, n, s), n_jobs, n_pairs, memory, answers=answers)
        comparing = n * (2 * of_statistics + _OF_ITEM) + rows
        least = taken() + max(reading, comparing) / 0.9
        if least > there:
            raise _too_little(least, n_pairs, (k, n), memory, left)
