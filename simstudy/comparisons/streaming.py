"""Tables of millions of pairs: written to one Parquet file by row groups while they are made, within a given memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simstudy.comparisons.comparing import asked, table_of, with_others
from simstudy.comparisons.fitting import block_size, n_asked
from simstudy.engines.question import Pairs, Question
from simstudy.engines.registry import TESTS
from simstudy.files.whole import atomic_path
from simstudy.outputs import Outputs
from simstudy.running.progress import shown_to_people
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import benjamini_hochberg, holm
from simstudy.validation import check_fraction, check_path

if TYPE_CHECKING:
    import pyarrow as pa

_T = TypeVar("_T")
_R = TypeVar("_R")

# Name of a column -> the corrected p-values of all pairs.
_Corrected = dict[str, NDArray[np.float64]]

# The columns that say whether rows are significant.
_DECISIVE = ["system_a", "better", "gain", "p_value", "p_floor", "p_holm"]

# Texts that are the same for all pairs, numbers of which nearly each is another one, and columns of whose least and
# largest value each row group keeps note.
_SAME = [
    *("task", "test_set", "metric", "metric_unit", "metric_signature", "test", "alternative", "convention", "unit"),
    *("strata", "interval"),
]
_DISTINCT = ["gain_se", "minimum_detectable_gain", "skewness"]
_NOTED = ["gain", "p_value", "p_holm", "p_bh"]

# Rows of a row group. With a quarter of them, pairs of 5,000 systems took a sixth more time and space.
_ROW_GROUP = 2**18


@shown_to_people
def write_pairs(
    outputs: Outputs, path: str | Path, *, memory: str | int | None = None, alpha: float = 0.05, **options: Any
) -> tuple[int, int]:
    """Write the table of `simstudy.compare`, with corrected p-values, to a Parquet file, by row groups as it is made.

    The rows have the same bits, in the same order, as ``compare(outputs, …).corrected()``, whatever the memory is. The
    file appears whole or not at all; ``Comparisons(pd.read_parquet(path))`` has all of it, and
    ``pd.read_parquet(path, columns=[…])`` a part.

    Parameters
    ----------
    outputs
        At least two systems.
    path
        The file; one that is there is replaced.
    memory
        What the whole process may take at its peak: a number of bytes, or a text such as "4GiB". None: what the machine
        has free. Pairs are tested in blocks of as many as fit. A test that resamples draws again for each
        block, so that less memory takes more time; tests that compute their p-values do not.
    alpha
        The level of the count of significant pairs.
    options
        Of `simstudy.compare`, `against` among them.

    Returns
    -------
    counts
        How many pairs there are, and how many are significant after Holm's correction for all of them.

    Raises
    ------
    ValueError
        As `simstudy.compare` does, and where the memory is too small.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from simstudy.truth.synthetic import correlated_accuracies
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     counts = write_pairs(correlated_accuracies([0.5, 0.7, 0.9], 400), f"{folder}/pairs.parquet")
    ...     table = pd.read_parquet(f"{folder}/pairs.parquet", columns=["system_a", "system_b"])
    >>> counts, table.values.tolist()
    ((3, 3), [['system-3', 'system-2'], ['system-3', 'system-1'], ['system-2', 'system-1']])
    """
    check_path("path", path)
    check_fraction("alpha", alpha)
    outputs, against = with_others(outputs, options.pop("against", None))
    ranked, question, test = asked(outputs, against=against, **options)
    # Right or wrong answers of many pairs are tested as fast as their rows are made: blocks are made side by side. A
    # test of other scores has the threads within a block.
    answers = question.right_or_wrong and question.computes
    ahead = question.n_jobs if answers and question.n_jobs > 1 else 0
    n, size = n_asked(question), block_size(question, test, memory, ahead)
    blocks = [(first, min(first + size, n)) for first in range(0, n, size)]
    tables = _of_blocks(partial(_table, ranked, test, options.get("strata")), question, blocks, ahead)
    with atomic_path(Path(path)) as whole, ExitStack() as stack:
        # Where nothing can be written, Python says it before the work, and names the file.
        whole.touch()
        # What corrects a p-value is known when all are there. Those of answers take an eighth of the time of their
        # rows: they come first, alone. Other rows are kept until all p-values are there.
        if answers:
            alone = _of_blocks(lambda about: TESTS[test].run(about).p_value, question, blocks, ahead)
            p_value = np.concatenate([*alone])
        else:
            rows = whole.with_suffix(".rows")
            stack.callback(rows.unlink, missing_ok=True)
            p_value, tables = _keep(tables, rows), _kept(rows)
        return len(p_value), _write(whole, tables, _corrected(p_value, answers=answers), alpha, ahead)


def _of_blocks(
    work: Callable[[Question], _R], question: Question, blocks: Sequence[tuple[int, int]], ahead: int
) -> Iterator[_R]:
    """The work on the pairs of each block, in order."""
    places = (_places(question, *block) for block in blocks)
    # The first one finds what all need to know of the systems.
    known = (replace(question, n_jobs=1) if ahead and len(blocks) > 1 else question).about(next(places))
    yield work(known)
    yield from _ahead(work, map(known.about, places), ahead)


def _ahead(work: Callable[[_T], _R], items: Iterable[_T], n: int) -> Iterator[_R]:
    """The work on each item, in order, while n threads are that many items ahead."""
    if not n:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n) as threads:
        waiting = deque[Future[_R]]()
        for item in items:
            waiting.append(threads.submit(work, item))
            if len(waiting) > n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _table(ranked: Outputs, test: str, strata: str | None, question: Question) -> pa.Table:
    import pyarrow as pa  # only Parquet needs it

    table = pa.Table.from_pandas(table_of(ranked, question, test, strata), preserve_index=False)
    # A text that is there once takes a fifth of the time to write.
    none = np.zeros(len(table), dtype=np.int8)
    for name in _SAME:
        once = pa.DictionaryArray.from_arrays(none, table[name].slice(0, 1).combine_chunks())
        table = table.set_column(table.schema.get_field_index(name), name, once)
    return table


def _keep(tables: Iterator[pa.Table], rows: Path) -> NDArray[np.float64]:
    """Write tables to the file of rows; their p-values."""
    import pyarrow as pa  # only Parquet needs it

    p_values, quickly = [], pa.ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as stack:
        writer = None
        for table in tables:
            writer = writer or stack.enter_context(pa.ipc.new_file(str(rows), table.schema, options=quickly))
            writer.write_table(table, max_chunksize=_ROW_GROUP)
            p_values.append(table["p_value"].to_numpy())
            # Memory is for this table and those ahead, not for one more while the next is waited for.
            del table
    return np.concatenate(p_values)


def _kept(rows: Path) -> Iterator[pa.Table]:
    """The tables in the file of rows."""
    import pyarrow as pa  # only Parquet needs it

    with pa.OSFile(str(rows)) as file, pa.ipc.open_file(file) as batches:
        for k in range(batches.num_record_batches):
            yield pa.Table.from_batches([batches.get_batch(k)])


def _write(path: Path, tables: Iterator[pa.Table], corrected: _Corrected, alpha: float, ahead: int) -> int:
    """Write tables to Parquet with corrected p-values; how many pairs are significant by Holm's."""
    import pyarrow as pa  # only Parquet needs it
    from pyarrow import parquet

    decision, significant = Decision(alpha, p="p_holm"), []

    def completed() -> Iterator[pa.Table]:
        first = 0
        for table in tables:
            those = slice(first, first + len(table))
            for name, values in corrected.items():
                table = table.append_column(name, pa.array(values[those]))
            significant.append(int(decision.significant(table.select(_DECISIVE).to_pandas()).sum()))
            yield table
            first = those.stop

    rest = completed()
    one = next(rest)
    # What pandas reads are texts: so they are known by the file, however they were written.
    texts = [field.with_type(pa.large_string()) if field.name in _SAME else field for field in one.schema]
    told = pa.Table.from_pandas(pa.schema(texts).empty_table().to_pandas(), preserve_index=False).schema
    schema = one.schema.with_metadata(told.metadata)
    # A dictionary of numbers that do not come again takes twice the time. Their bytes are grouped by place: so snappy
    # compresses the exponents. Pairs of 5,000 systems took zstd a quarter more time, and six percent less space.
    coded = [name for name in schema.names if name not in _DISTINCT]
    options: dict[str, Any] = {"compression": "snappy", "store_schema": False, "write_statistics": _NOTED}
    options |= {"use_dictionary": coded, "column_encoding": dict.fromkeys(_DISTINCT, "BYTE_STREAM_SPLIT")}
    with parquet.ParquetWriter(path, schema, **options) as writer:
        # A file has one writer at a time.
        for _ in _ahead(partial(writer.write_table, row_group_size=_ROW_GROUP), chain([one], rest), min(ahead, 1)):
            pass
    return sum(significant)


def _corrected(p_value: NDArray[np.float64], *, answers: bool) -> _Corrected:
    """Corrected p-values. Both corrections begin with the order of all, which is found once."""
    import pyarrow as pa  # only Parquet needs it

    which: Any = slice(None)
    last: Any = slice(None)
    values = p_value
    if answers:
        # Millions of pairs of answers have some thousand distinct p-values, which take no time to sort.
        distinct = pa.array(p_value).dictionary_encode()
        which, values = distinct.indices.to_numpy(), distinct.dictionary.to_numpy()
    order = np.argsort(values)
    ascending = values[order]
    if answers:
        times = np.bincount(which, minlength=len(values))[order]
        # Equal p-values are equal after a correction: one of them tells it.
        ascending, last = np.repeat(ascending, times), np.cumsum(times) - 1
    corrected: _Corrected = {}
    for name, correct in (("p_holm", holm), ("p_bh", benjamini_hochberg)):
        own = np.empty_like(values)
        own[order] = correct(ascending)[last]
        corrected[name] = own[which]
    return corrected


def _places(question: Question, first: int, last: int) -> Pairs:
    """The systems of some pairs, in the order of all."""
    if question.asked is not None:
        return question.asked[0][first:last], question.asked[1][first:last]
    k = question.n_systems
    # Pairs of all systems that come before: where each system's own begin.
    starts = np.arange(k, dtype=np.int64) * (2 * k - np.arange(k) - 1) // 2
    which = np.arange(first, last)
    better = np.searchsorted(starts, which, side="right") - 1
    # The last system has no pair of its own: it begins where all end.
    return better, which - starts[better] + better + 1
