"""Outputs in files: Parquet with a JSON header. Data only; what is damaged is told by checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from simstudy.files.parquet import read_parquet
from simstudy.files.whole import atomic_path
from simstudy.metrics import Metric, get_metric
from simstudy.outputs.answers import read_only
from simstudy.outputs.base import OutputsBase
from simstudy.outputs.columns import decode, encode
from simstudy.validation import InputError, NoSuchFile

_KEY = "simstudy.outputs/3"
_SUM = "simstudy.sha256"

C = TypeVar("C", bound=OutputsBase)


def write(outputs: OutputsBase, path: str | Path) -> None:
    """Write a collection to one file, which appears whole or not at all; see `simstudy.Outputs.save`."""
    tables: dict[str, list[dict[str, Any]]] = {"systems": [], "items": []}
    columns: dict[str, pa.Array] = {}
    # Systems and columns by number: their names, which are free, are in the header.
    for kind, table in (("systems", outputs.systems), ("items", outputs.items)):
        for c, name in enumerate(table.columns):
            if type(name) not in (str, int):
                raise InputError(f"column {name!r} of the {kind} cannot be saved: its name is not text")
            described, arrays = encode(table.iloc[:, c].reset_index(drop=True), str(name))
            tables[kind].append({"name": name, "arrays": len(arrays), **described})
            columns |= {f"{kind}:{c}:{a}": array for a, array in enumerate(arrays)}
    statistics = outputs.statistics
    if statistics.dtype == np.float16:
        statistics = statistics.astype(np.float32)
    for k in range(outputs.n_systems):
        for s in range(statistics.shape[2]):
            columns[f"{k}:{s}"] = pa.array(statistics[k, :, s])
        if outputs.answers is not None:
            columns[f"{k}:answers"] = pa.array(outputs.answers[k])
        for s in range(0 if outputs.samples is None else 2):
            columns[f"{k}:samples:{s}"] = pa.array(outputs.samples[k, :, s])  # type: ignore[index]
    header = {
        "metric": outputs.metric.name,
        "statistics": outputs.metric.statistics,
        "metric_as": outputs.metric.definition,
        "metric_signature": outputs.metric.signature,
        "task": outputs.task,
        "test_set": outputs.test_set,
        "shape": outputs.statistics.shape,
        "dtype": str(outputs.statistics.dtype),
        "answers": outputs.answers is not None,
        "samples": outputs.samples is not None,
        **tables,
        "fingerprint": outputs.fingerprint(),
    }
    n = max((len(column) for column in columns.values()), default=0)
    # Short columns end in nulls.
    filled = {
        name: pa.concat_arrays([column, pa.nulls(n - len(column), column.type)]) if len(column) < n else column
        for name, column in columns.items()
    }
    text = json.dumps(header)
    table = pa.table(filled).replace_schema_metadata({_KEY: text, _SUM: hashlib.sha256(text.encode()).hexdigest()})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def read(kind: type[C], path: str | Path, metric: Metric | None) -> C:
    """Read a collection that `write` wrote; see `simstudy.Outputs.load`."""
    header, table = _read(path)
    try:
        found = metric or get_metric(header["metric"]).with_statistics(header.get("statistics", ()))
    except InputError:
        raise InputError(
            f"{path} has outputs of a user-defined metric, '{header['metric']}': give it as load(path, metric)"
        ) from None
    if found.definition != header["metric_as"]:
        raise InputError(f"{path} has outputs of the metric {header['metric_as']}, unlike {found.definition}")
    try:
        outputs = _collection(kind, header, table, found.signed(header["metric_signature"]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, pa.ArrowException) as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    if outputs.fingerprint() != header["fingerprint"]:
        raise InputError(f"{path} is damaged: its content is not what was written")
    return outputs


def _collection(kind: type[C], header: Mapping[str, Any], table: pa.Table, metric: Metric) -> C:
    n_systems, n_items, width = header["shape"]
    statistics = np.empty((n_systems, n_items, width), dtype=header["dtype"])
    for k in range(n_systems):
        for s in range(width):
            statistics[k, :, s] = table[f"{k}:{s}"].slice(0, n_items).to_numpy()
    answers = None
    if header["answers"]:
        answers = read_only(np.stack([table[f"{k}:answers"].slice(0, n_items).to_numpy() for k in range(n_systems)]))
    samples = None
    # Files of earlier versions have none.
    if header.get("samples"):
        samples = np.empty((n_systems, n_items, 2))
        for k, s in np.ndindex(n_systems, 2):
            samples[k, :, s] = table[f"{k}:samples:{s}"].slice(0, n_items).to_numpy()
        samples = read_only(samples)
    tables = []
    for name in ("systems", "items"):
        cells = [
            decode(one, [table[f"{name}:{c}:{a}"].combine_chunks() for a in range(one["arrays"])])
            for c, one in enumerate(header[name])
        ]
        tables.append(pd.concat(cells, axis=1).set_axis([one["name"] for one in header[name]], axis=1))
    systems, items = tables
    return kind(read_only(statistics), metric, systems, items, header["task"], header["test_set"], answers, samples)


def _read(path: str | Path) -> tuple[dict[str, Any], pa.Table]:
    """Read header and columns; an error says where the file is missing, damaged, too large or none that was written."""
    if not Path(path).is_file():
        raise NoSuchFile(path)
    table = read_parquet(Path(path))
    metadata = table.schema.metadata or {}
    header = metadata.get(_KEY.encode())
    if header is None:
        raise InputError(f"{path} is a Parquet file, but not one of Outputs: it has no header '{_KEY}'")
    if hashlib.sha256(header).hexdigest().encode() != metadata.get(_SUM.encode()):
        raise InputError(f"{path} is damaged: its header is not the one that was written")
    return json.loads(header), table
