"""A Parquet file with a JSON header: how Outputs are kept. Data only; what is damaged is told by checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from simstudy.files import atomic_path
from simstudy.unpacking import read_parquet

_KEY = "simstudy.outputs/2"
_SUM = "simstudy.sha256"


def write(path: str | Path, header: Mapping[str, Any], columns: Mapping[str, pa.Array]) -> None:
    """Write columns and a header to one file, which appears whole or not at all; short columns end in nulls."""
    n = max((len(column) for column in columns.values()), default=0)
    filled = {
        name: pa.concat_arrays([column, pa.nulls(n - len(column), column.type)]) if len(column) < n else column
        for name, column in columns.items()
    }
    text = json.dumps(header)
    table = pa.table(filled).replace_schema_metadata({_KEY: text, _SUM: hashlib.sha256(text.encode()).hexdigest()})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def read(path: str | Path) -> tuple[dict[str, Any], pa.Table]:
    """Read header and columns.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        Where it is not one that `write` wrote, or is damaged, or too large (`simstudy.unpacking`).
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"no such file: {path}")
    table = read_parquet(Path(path))
    metadata = table.schema.metadata or {}
    header = metadata.get(_KEY.encode())
    if header is None:
        raise ValueError(f"{path} is a Parquet file, but not one of Outputs: it has no header '{_KEY}'")
    if hashlib.sha256(header).hexdigest().encode() != metadata.get(_SUM.encode()):
        raise ValueError(f"{path} is damaged: its header is not the one that was written")
    return json.loads(header), table
