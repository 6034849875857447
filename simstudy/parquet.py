"""A Parquet file with a JSON header: how Outputs are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from simstudy.files import atomic_path

_KEY = "simstudy.outputs/1"


def write(path: str | Path, header: Mapping[str, Any], columns: Mapping[str, pa.Array]) -> None:
    """Write columns of equal length and a header to one file, which appears whole or not at all."""
    table = pa.table(dict(columns)).replace_schema_metadata({_KEY: json.dumps(header)})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read(path: str | Path) -> tuple[dict[str, Any], pa.Table]:
    """Read header and columns.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        Where it is not one that `write` wrote.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is not a Parquet file, or a damaged one: {error}") from None
    header = (table.schema.metadata or {}).get(_KEY.encode())
    if header is None:
        raise ValueError(f"{path} is a Parquet file, but not one of Outputs: it has no header '{_KEY}'")
    return json.loads(header), table
