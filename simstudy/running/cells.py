"""Cells: pieces of work, known by what their results depend on, whose results are kept as data.

A kept result is a file <key>.cell: a format line, a checksum of the rest, a line of JSON, and the arrays and tables
that it names.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from simstudy.files.whole import atomic_path

SUFFIX = ".cell"

#: How long each took to make, a line each.
SECONDS = "seconds.txt"

_FORMAT = b"simstudy cell 1\n"


@dataclass(frozen=True)
class Cell:
    """One piece of work, known by what it *is*: more cells, or another order, change nothing about the others."""

    #: What it is called in messages.
    label: str
    #: What its result depends on beside the program, as JSON values: the data's fingerprint, settings, seed.
    description: Mapping[str, Any]
    #: What its function is called with.
    arguments: tuple[Any, ...]


class DamagedCell(ValueError):
    """A kept result that is not what was written, or belongs to another cell."""


def write(folder: Path, key: str, content: bytes) -> None:
    """Write a result that is `encoded` already, whole or not at all; a DamagedCell where it is not this cell's."""
    _header(key, content)
    with atomic_path(folder / f"{key}{SUFFIX}") as temporary:
        temporary.write_bytes(content)


def kept(folder: Path, key: str) -> Any:
    """A kept result; a DamagedCell where the file is not, to the last bit, what was written for this cell."""
    return decoded(key, (folder / f"{key}{SUFFIX}").read_bytes())


def note_seconds(folder: Path, key: str, seconds: float) -> None:
    """Write down how long a result took to make; beside it, so that its bytes are the same whenever it is made."""
    # On a full disk it is not known.
    with suppress(OSError), (folder / SECONDS).open("a", encoding="ascii") as file:
        file.write(f"{key} {seconds:.3f}\n")


def seconds(folder: Path) -> dict[str, float]:
    """How long the results of a folder took to make, by key."""
    try:
        lines = (folder / SECONDS).read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return {}
    # A kill may leave half of a line.
    found = [re.fullmatch(r"(\w{32}) (\d+\.\d{3})", line) for line in lines]
    return {match[1]: float(match[2]) for match in found if match}


def damaged(folder: Path) -> list[str]:
    """The names of kept results in a folder that are not, to the last bit, what was written."""
    found = []
    for path in sorted(folder.glob(f"[!.]*{SUFFIX}")):
        try:
            _header(path.stem, path.read_bytes())
        except (OSError, DamagedCell):
            found.append(path.name)
    return found


def encoded(key: str, label: str, value: Any) -> bytes:
    """A result as bytes. It is of JSON values, arrays and data frames; a TypeError names what is not."""
    parts: list[bytes] = []
    structure = _plain(value, parts)
    header = {"key": key, "label": label, "value": structure, "sizes": [len(part) for part in parts]}
    rest = b"".join([json.dumps(header).encode(), b"\n", *parts])
    return b"".join([_FORMAT, sha256(rest).hexdigest().encode(), b"\n", rest])


def decoded(key: str, content: bytes) -> Any:
    """What `encoded` made bytes of."""
    header, line = _header(key, content)
    try:
        bounds = np.cumsum([line, *header["sizes"]]).tolist()
        parts = [content[low:high] for low, high in zip(bounds, bounds[1:], strict=False)]
        return _value(header["value"], parts)
    except Exception as error:
        # Only what somebody forged has a checksum that fits and no value.
        raise DamagedCell(f"it is no result that was kept here ({error})") from None


def _header(key: str, content: bytes) -> tuple[dict[str, Any], int]:
    """The line of JSON, and where the parts begin, of a cell that is whole and this one."""
    start = len(_FORMAT) + 65
    rest = memoryview(content)[start:]
    if content[: len(_FORMAT)] != _FORMAT or content[start - 1 : start] != b"\n":
        raise DamagedCell("it is not a cell of this format")
    if content[len(_FORMAT) : start - 1] != sha256(rest).hexdigest().encode():
        raise DamagedCell("its checksum does not fit")
    line = content.index(b"\n", start) + 1
    try:
        header: dict[str, Any] = json.loads(content[start:line])
        owner = header["key"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedCell(f"it is no result that was kept here ({error})") from None
    if owner != key:
        raise DamagedCell("it belongs to another cell")
    return header, line


def _plain(value: Any, parts: list[bytes]) -> Any:
    """A value as JSON; arrays and tables go to the parts. What JSON has no word for is an object with one "@" key."""
    text = isinstance(value, str) and not isinstance(value, np.generic)
    if value is None or text or type(value) in (bool, int, float):
        return value
    if isinstance(value, list):
        return [_plain(each, parts) for each in value]
    if isinstance(value, tuple):
        return {"@tuple": [_plain(each, parts) for each in value]}
    if isinstance(value, dict):
        if not all(isinstance(name, str) and not name.startswith("@") for name in value):
            raise TypeError(f"a kept result must have keys of text without '@', not {list(value)[:5]}")
        return {name: _plain(each, parts) for name, each in value.items()}
    if isinstance(value, pd.DataFrame):
        parts.append(_parquet(value))
        return {"@table": len(parts) - 1}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcUS":
        parts.append(_npy(np.asarray(value)))
        return {"@array" if isinstance(value, np.ndarray) else "@number": len(parts) - 1}
    raise TypeError(f"a kept result must be of JSON values, arrays of numbers or text, and data frames, not {value!r}")


def _value(plain: Any, parts: list[bytes]) -> Any:
    if isinstance(plain, list):
        return [_value(each, parts) for each in plain]
    if not isinstance(plain, dict):
        return plain
    match plain:
        case {"@tuple": each}:
            return tuple(_value(one, parts) for one in each)
        case {"@table": k}:
            return pq.read_table(pa.BufferReader(parts[k])).to_pandas()
        case {"@array": k} | {"@number": k}:
            array = np.lib.format.read_array(io.BytesIO(parts[k]), allow_pickle=False)
            return array if "@array" in plain else array[()]
    return {name: _value(each, parts) for name, each in plain.items()}


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return stream.getvalue()


def _parquet(table: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pandas(table), stream, compression="zstd")
    except (pa.ArrowException, ValueError) as error:
        raise TypeError(f"a kept table must have columns of one type each ({error})") from None
    return stream.getvalue()
