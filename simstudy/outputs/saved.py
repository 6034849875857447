"""Outputs in files: Parquet with a row for each item, and everything else in its header.

A file is data only. Checksums of its pages, of its header and of its content say whether it is damaged.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from simstudy.files.parquet import read_parquet
from simstudy.files.whole import atomic_path
from simstudy.metrics import Metric, get_metric
from simstudy.outputs.outputs import Outputs
from simstudy.validation import InputError, NoSuchFile

_HEADER, _SYSTEMS, _CHECKSUM = b"simstudy.outputs/4", b"simstudy.systems", b"simstudy.sha256"

# Names of columns of items are free: this stands before them.
_ITEM = "item:"

# Types of columns that files keep.
_PLAIN = (
    *(pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_boolean, pa.types.is_null),
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_date, pa.types.is_timestamp),
)


def write(outputs: Outputs, path: str | Path) -> None:
    """Write Outputs to one file, which appears whole or not at all; see `simstudy.Outputs.save`."""
    systems, items = _plain_table(outputs.systems, "systems"), _plain_table(outputs.items, "items", _ITEM)
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, systems.schema) as writer:
        writer.write_table(systems)
    given = {"statistics": outputs.statistics, "answers": outputs.answers, "samples": outputs.samples}
    arrays = {name: np.atleast_3d(array) for name, array in given.items() if array is not None}
    header = {
        "metric": outputs.metric.name,
        "definition": outputs.metric.definition,
        "signature": outputs.metric.signature,
        "statistics": outputs.metric.statistics,
        "task": outputs.task,
        "test_set": outputs.test_set,
        "arrays": {name: [array.shape[0], array.shape[2]] for name, array in arrays.items()},
        "fingerprint": outputs.fingerprint(),
    }
    metadata = {
        b"pandas": items.schema.metadata[b"pandas"],
        _HEADER: json.dumps(header).encode(),
        _SYSTEMS: stream.getvalue().to_pybytes(),
    }
    columns = {name: items[name] for name in items.column_names}
    for name, array in arrays.items():
        for k, s in np.ndindex(array.shape[0], array.shape[2]):
            columns[f"{name}:{k}:{s}"] = pa.array(array[k, :, s])
    table = pa.table(columns).replace_schema_metadata({**metadata, _CHECKSUM: _checksum(metadata)})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def read(path: str | Path, metric: Metric | None) -> Outputs:
    """Read Outputs that `write` wrote; see `simstudy.Outputs.load`."""
    if not Path(path).is_file():
        raise NoSuchFile(path)
    table = read_parquet(Path(path))
    metadata = dict(table.schema.metadata or {})
    if _HEADER not in metadata:
        raise InputError(f"{path} is a Parquet file, but not one of Outputs: it has no header '{_HEADER.decode()}'")
    if metadata.pop(_CHECKSUM, b"") != _checksum(metadata):
        raise InputError(f"{path} is damaged: its header is not the one that was written")
    header = json.loads(metadata[_HEADER])
    try:
        metric = metric or get_metric(header["metric"]).with_statistics(header["statistics"])
    except InputError:
        rule = f"has outputs of a user-defined metric, '{header['metric']}': give it as load(path, metric)"
        raise InputError(f"{path} {rule}") from None
    if metric.definition != header["definition"]:
        raise InputError(f"{path} has outputs of the metric {header['definition']}, unlike {metric.definition}")
    try:
        arrays = {name: _array(table, name, *shape) for name, shape in header["arrays"].items()}
        if "answers" in arrays:
            arrays["answers"] = arrays["answers"][..., 0]
        items = table.select([name for name in table.column_names if name.startswith(_ITEM)]).to_pandas()
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    outputs = Outputs(
        metric=metric.signed(header["signature"]),
        systems=pa.ipc.open_stream(metadata[_SYSTEMS]).read_pandas(),
        items=items.rename(columns=lambda name: name.removeprefix(_ITEM)),
        task=header["task"],
        test_set=header["test_set"],
        **arrays,
    )
    if outputs.fingerprint() != header["fingerprint"]:
        raise InputError(f"{path} is damaged: its content is not what was written")
    return outputs


def _array(table: pa.Table, name: str, n_systems: int, width: int) -> Any:
    """An array (K systems, n items, width) from its columns."""
    columns = [[table[f"{name}:{k}:{s}"].to_numpy() for s in range(width)] for k in range(n_systems)]
    return np.stack([np.stack(by_system, axis=-1) for by_system in columns])


def _plain_table(table: pd.DataFrame, what: str, prefix: str = "") -> pa.Table:
    """A table of Arrow whose names begin with the prefix; InputError for a column of another type than files keep."""
    for name, column in table.items():
        try:
            is_plain = isinstance(name, str) and any(is_type(pa.array(column).type) for is_type in _PLAIN)
        except (ValueError, TypeError, OverflowError, pa.ArrowException):
            is_plain = False
        if not is_plain:
            rule = "must have columns of numbers, of text, of true and false or of dates, named by text, to be saved"
            raise InputError(what, f"{rule}; column {name!r} is of another type ({column.dtype})")
    return pa.Table.from_pandas(table.add_prefix(prefix), preserve_index=False)


def _checksum(metadata: dict[bytes, bytes]) -> bytes:
    return hashlib.sha256(repr(sorted(metadata.items())).encode()).hexdigest().encode()
