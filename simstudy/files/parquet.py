"""Parquet files: their tables, within the limit of `packed`, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from simstudy.files.packed import size_limit, too_large
from simstudy.validation import InputError

# Rows that are unpacked before their size is looked at; cells, of a table of numbers.
_ROWS, _CELLS = 1024, 2**22


def read_parquet(path: Path, *, narrow: bool = False) -> pa.Table:
    """A Parquet file's table, whose pages must have their checksums where they have any.

    If it is to be `narrow`, whole numbers are held in the fewest bytes that the file says are enough for a column.
    """
    limit = size_limit()
    with _checked(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        about, schema = file.metadata, file.schema_arrow
        if sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups)) > limit:
            raise too_large(path)
        if narrow:
            schema = _narrowed(schema, about)
        # What is stored once may be in all rows: the size of a table is known when it is unpacked.
        is_numeric = all(pa.types.is_primitive(field.type) for field in schema)
        n_rows = max(_ROWS, _CELLS // max(1, len(schema))) if is_numeric else _ROWS
        batches, size = [], 0
        for batch in file.iter_batches(batch_size=n_rows):
            batches.append(batch.cast(schema) if narrow else batch)
            size += batches[-1].nbytes
            if size > limit:
                raise too_large(path)
        return pa.Table.from_batches(batches, schema.remove_metadata()).replace_schema_metadata(schema.metadata)


def read_frame(path: Path, *, narrow: bool = False) -> pd.DataFrame:
    """A Parquet file's table as a data frame, see `frame_of`."""
    table = read_parquet(path, narrow=narrow)
    # A column is freed once it is converted; of more columns than rows that would take longer.
    freed = narrow and len(table) > table.num_columns
    with _checked(path):
        return frame_of(table, self_destruct=narrow, split_blocks=freed)


def frame_of(table: pa.Table, **options: bool) -> pd.DataFrame:
    """A table of Arrow as a data frame: nested columns have dotted names, and lists are lists, as in JSON."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    lists = {k: table.column(k).to_pylist() for k, kind in enumerate(table.schema.types) if pa.types.is_nested(kind)}
    frame: pd.DataFrame = table.to_pandas(**options)
    for k, values in lists.items():
        frame[table.schema.names[k]] = pd.Series(values, frame.index, dtype=object)
    return frame


def _narrowed(schema: pa.Schema, about: pq.FileMetaData) -> pa.Schema:
    """The schema with columns of whole numbers in the fewest bytes for what each row group says of them."""
    fields = {field.name: field for field in schema}
    for column in range(about.num_columns):
        field = fields.get(about.schema.column(column).path)
        ends = [about.row_group(group).column(column).statistics for group in range(about.num_row_groups)]
        if field is None or not pa.types.is_integer(field.type) or not all(end and end.has_min_max for end in ends):
            continue
        largest = max((max(end.max, -1 - end.min) for end in ends), default=0)
        kinds = [kind for kind in (pa.int8(), pa.int16(), pa.int32()) if largest < 2 ** (kind.bit_width - 1)]
        if kinds and kinds[0].bit_width < field.type.bit_width:
            fields[field.name] = field.with_type(kinds[0])
    return pa.schema([*fields.values()], schema.metadata)


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns of a Parquet file."""
    with _checked(path):
        return [str(name) for name in pq.read_schema(path).names]


@contextmanager
def _checked(path: Path) -> Iterator[None]:
    """Within the block, an error of Arrow is an InputError that names the file."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, MemoryError, ValueError, TypeError, OverflowError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path} cannot be read as a Parquet file: {reason}") from None
