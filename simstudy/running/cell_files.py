"""Results of cells as files of data: JSON, arrays and tables in an .npz archive, in which nothing can be executed."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.files.whole import atomic_path

SUFFIX = ".npz"

_Arrays = dict[str, np.ndarray[Any, Any]]


class DamagedCell(ValueError):
    """A file that is not, to the last bit, the result of this cell."""


def encode(key: str, label: str, value: Any) -> bytes:
    """A result as bytes: JSON values, tuples, arrays and data frames. A TypeError names anything else."""
    arrays: _Arrays = {}
    header = {"key": key, "label": label, "value": _plain(value, arrays)}
    stream = io.BytesIO()
    np.savez(stream, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    # Readers of archives leave out what follows their end.
    stream.write(sha256(stream.getbuffer()).digest())
    return stream.getvalue()


def decode(key: str, content: bytes) -> Any:
    """The result that `encode` made bytes of; a DamagedCell where they are damaged, or belong to another cell."""
    try:
        if sha256(content[:-32]).digest() != content[-32:]:
            raise DamagedCell("its checksum does not fit")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes())
            if header["key"] != key:
                raise DamagedCell("it belongs to another cell")
            return _value(header["value"], file)
    except DamagedCell:
        raise
    except Exception as error:
        raise DamagedCell(f"it is no result that was kept here ({error})") from None


def write(folder: Path, key: str, content: bytes) -> None:
    """Write an encoded result, whole or not at all."""
    with atomic_path(folder / f"{key}{SUFFIX}") as temporary:
        temporary.write_bytes(content)


def read(folder: Path, key: str) -> Any:
    """A kept result; a FileNotFoundError or a DamagedCell where there is none."""
    return decode(key, (folder / f"{key}{SUFFIX}").read_bytes())


def damaged(folder: Path) -> list[str]:
    """The names of the files in a folder that are damaged."""
    names = []
    for path in sorted(folder.glob(f"[!.]*{SUFFIX}")):
        try:
            read(folder, path.stem)
        except (OSError, DamagedCell):
            names.append(path.name)
    return names


def _plain(value: Any, arrays: _Arrays) -> Any:
    """A value as JSON. What JSON has no word for is an object with one key "@…"; arrays are parts of the archive."""
    text = isinstance(value, str) and not isinstance(value, np.generic)
    if value is None or text or type(value) in (bool, int, float):
        return value
    if isinstance(value, list):
        return [_plain(element, arrays) for element in value]
    if isinstance(value, tuple):
        return {"@tuple": [_plain(element, arrays) for element in value]}
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) and not name.startswith("@") for name in value):
            raise TypeError(f"a kept result must have keys of text without '@', not {list(value)[:5]}")
        return {name: _plain(element, arrays) for name, element in value.items()}
    if isinstance(value, pd.DataFrame):
        return {"@table": _plain_table(value, arrays)}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcUSmM":
        return {"@array" if isinstance(value, np.ndarray) else "@number": _added(np.asarray(value), arrays)}
    raise TypeError(f"a kept result must be of JSON values, arrays of numbers or text, and data frames, not {value!r}")


def _added(array: np.ndarray[Any, Any], arrays: _Arrays) -> str:
    name = f"part{len(arrays)}"
    arrays[name] = array
    return name


def _plain_table(table: pd.DataFrame, arrays: _Arrays) -> dict[str, Any]:
    if not all(isinstance(name, str) for name in table) or not table.columns.is_unique:
        raise TypeError(f"a kept table must have columns with one name each, as text, not {list(table)[:5]}")
    if isinstance(table.index, pd.MultiIndex):
        raise TypeError("a kept table must have a plain index: reset_index() makes columns of its levels")
    plain = table.index.equals(pd.RangeIndex(len(table))) and table.index.name is None
    index = None if plain else [table.index.name, _plain_column(table.index.to_series(), arrays)]
    return {
        "rows": len(table),
        "index": index,
        "columns": [[name, _plain_column(table[name], arrays)] for name in table],
    }


def _plain_column(column: pd.Series[Any], arrays: _Arrays) -> dict[str, Any]:
    """A column by what it holds: numbers, categories, text, or any JSON values."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufcmM":
        return {"numbers": _added(column.to_numpy(), arrays)}
    if isinstance(dtype, pd.CategoricalDtype):
        categories = _plain_column(column.cat.categories.to_series(), arrays)
        return {
            "categories": categories,
            "codes": _added(column.cat.codes.to_numpy(), arrays),
            "ordered": dtype.ordered,
        }
    if pd.api.types.infer_dtype(column, skipna=True) == "string":
        # Names of systems stand in many rows.
        codes, texts = pd.factorize(column)
        return {"texts": [str(text) for text in texts], "codes": _added(codes, arrays), "dtype": dtype.name}
    objects = [None if element is pd.NA else _plain(element, arrays) for element in column.tolist()]
    return {"objects": objects, "dtype": dtype.name}


def _value(plain: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    if isinstance(plain, list):
        return [_value(element, arrays) for element in plain]
    if not isinstance(plain, dict):
        return plain
    match plain:
        case {"@tuple": elements}:
            return tuple(_value(element, arrays) for element in elements)
        case {"@table": table}:
            columns = {name: _column(column, arrays) for name, column in table["columns"]}
            found = pd.DataFrame(columns, index=pd.RangeIndex(table["rows"]))
            if table["index"] is not None:
                name, index = table["index"]
                found.index = pd.Index(_column(index, arrays), name=name)
            return found
        case {"@array": part}:
            return arrays[part]
        case {"@number": part}:
            return arrays[part][()]
    return {name: _value(element, arrays) for name, element in plain.items()}


def _column(plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    match plain:
        case {"numbers": part}:
            return pd.Series(arrays[part])
        case {"categories": categories, "codes": part, "ordered": ordered}:
            values = pd.Index(_column(categories, arrays))
            return pd.Series(pd.Categorical.from_codes(arrays[part], values, ordered=ordered))
        case {"texts": texts, "codes": part, "dtype": dtype}:
            return pd.Series(np.array([*texts, None], object)[arrays[part]], dtype=dtype)
    return pd.Series([_value(element, arrays) for element in plain["objects"]], dtype=plain["dtype"])
