"""Columns of any type as Arrow arrays and a description of them, and back: what a file keeps of a table.

Everything is data: numbers, text, and JSON for cells of mixed types. What cannot come back as it was is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_object_dtype, pandas_dtype

from simstudy.validation import InputError


def encode(cells: pd.Series[Any], what: str) -> tuple[dict[str, Any], list[pa.Array]]:
    """A column as arrays, and what `decode` needs to know of them: JSON values.

    A ValueError names a column that has, or is of, a type that a file cannot keep.
    """
    kind: dict[str, Any] = {"kind": "", "dtype": str(cells.dtype), "n": len(cells)}
    dtype = cells.dtype
    try:
        if isinstance(dtype, pd.CategoricalDtype):
            of, arrays = encode(pd.Series(dtype.categories), what)
            return {**kind, "kind": "category", "ordered": bool(dtype.ordered), "of": of}, [
                pa.array(cells.cat.codes.to_numpy()),
                *arrays,
            ]
        if isinstance(dtype, pd.StringDtype):
            text = pa.array([None if pd.isna(cell) else str(cell) for cell in cells], pa.string())
            return {**kind, "kind": "text", "storage": dtype.storage, "nan": dtype.na_value is not pd.NA}, [text]
        if is_object_dtype(dtype):
            if all(cell is None or type(cell) is str for cell in cells) and _in_utf8(cells):
                return {**kind, "kind": "object of text"}, [pa.array(cells.tolist(), pa.string())]
            return {**kind, "kind": "object"}, [
                pa.array([json.dumps(_as_json(cell, what)) for cell in cells], pa.string())
            ]
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
            kind["dtype"] = str(dtype.newbyteorder("="))
            return {**kind, "kind": "numbers"}, [_numbers(cells.to_numpy())]
        if dtype.kind in "mM" and pandas_dtype(str(dtype)) == dtype:
            if isinstance(dtype, pd.DatetimeTZDtype):
                cells = cells.dt.tz_convert("UTC").dt.tz_localize(None)
            return {**kind, "kind": "times"}, [pa.array(cells.to_numpy().view(np.int64))]
        if dtype.kind in "biuf" and not isinstance(dtype, np.dtype) and str(dtype) in _NULLABLE:
            missing = cells.isna().to_numpy()
            values = cells.to_numpy(dtype=str(dtype).lower().replace("boolean", "bool"), na_value=0)
            return {**kind, "kind": "nullable"}, [pa.array(values, mask=missing)]
    except UnicodeEncodeError:
        raise InputError(f"column '{what}' cannot be saved: a cell of it has half a character (a surrogate)") from None
    except InputError:
        raise
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise InputError(f"column '{what}' cannot be saved: {' '.join(str(error).split())}") from None
    raise InputError(f"column '{what}' cannot be saved: it is of the type {dtype}")


def decode(kind: Mapping[str, Any], arrays: Sequence[pa.Array]) -> pd.Series[Any]:
    """The column that `encode` took apart; arrays may be longer than it."""
    own, dtype = arrays[0].slice(0, kind["n"]), kind["dtype"]
    if len(own) != kind["n"]:
        raise InputError("a column is too short")
    match kind["kind"]:
        case "category":
            categories = pd.Index(decode(kind["of"], arrays[1:]))
            codes = own.to_numpy(zero_copy_only=False)
            return pd.Series(pd.Categorical.from_codes(codes, categories, ordered=kind["ordered"]))
        case "text":
            text = pd.StringDtype(kind["storage"], na_value=np.nan if kind["nan"] else pd.NA)
            return pd.Series(pd.array(own.to_pylist(), dtype=text))
        case "object of text":
            return pd.Series(own.to_pylist(), dtype=object)
        case "object":
            return pd.Series([_from_json(json.loads(cell)) for cell in own.to_pylist()], dtype=object)
        case "numbers":
            return pd.Series(own.to_numpy(zero_copy_only=False).astype(dtype))
        case "times":
            known = pandas_dtype(dtype)
            values = own.to_numpy(zero_copy_only=False).astype(np.int64)
            if isinstance(known, pd.DatetimeTZDtype):
                utc = pd.Series(values.view(f"M8[{known.unit}]")).dt.tz_localize("UTC")
                return utc.dt.tz_convert(known.tz)
            return pd.Series(values.view(str(known)))
        case "nullable":
            missing = own.is_null().to_numpy(zero_copy_only=False)
            filled = own.fill_null(False if dtype == "boolean" else 0).to_numpy(zero_copy_only=False)
            cells = pd.Series(filled).astype(dtype)
            cells[missing] = pd.NA
            return cells
    raise InputError(f"a column of no known kind, '{kind['kind']}'")


_NULLABLE = {"boolean", "Float32", "Float64", *(f"{sign}Int{size}" for sign in ("", "U") for size in (8, 16, 32, 64))}


def _numbers(values: np.ndarray[Any, Any]) -> pa.Array:
    """An array with NaN as it is; half precision goes through single."""
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    return pa.array(values.astype(values.dtype.newbyteorder("="), copy=False), from_pandas=False)


def _in_utf8(cells: pd.Series[Any]) -> bool:
    try:
        "".join(cell for cell in cells if cell is not None).encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_json(cell: Any, what: str) -> Any:
    """A cell as JSON: text as it is, everything else with the name of its type."""
    kind = type(cell)
    if kind is str or cell is None:
        return cell
    if cell is pd.NA or cell is pd.NaT:
        return ["NA" if cell is pd.NA else "NaT"]
    if kind in (bool, int):
        return [kind.__name__, cell]
    if kind is float:
        return ["float", cell.hex()]
    if kind in (np.bool_, np.float16, np.float32, np.float64) or isinstance(cell, np.integer):
        value = cell.item()
        return ["numpy", cell.dtype.name, value.hex() if isinstance(value, float) else value]
    if kind is Decimal:
        return ["Decimal", str(cell)]
    if kind is date:
        return ["date", cell.isoformat()]
    if kind is datetime and cell.tzinfo is None:
        return ["datetime", cell.isoformat(), cell.fold]
    if kind is pd.Timestamp and cell.tzinfo is None:
        return ["Timestamp", int(cell.to_datetime64().view(np.int64)), cell.unit]
    raise InputError(f"column '{what}' cannot be saved: a cell of it is {cell!r:.60}, of the type {kind.__name__}")


def _from_json(cell: Any) -> Any:
    if cell is None or isinstance(cell, str):
        return cell
    match cell:
        case ["NA"]:
            return pd.NA
        case ["NaT"]:
            return pd.NaT
        case ["bool" | "int", value]:
            return value
        case ["float", value]:
            return float.fromhex(value)
        case ["numpy", name, value] if np.dtype(name).kind in "biuf":
            return np.dtype(name).type(float.fromhex(value) if isinstance(value, str) else value)
        case ["Decimal", value]:
            return Decimal(value)
        case ["date", value]:
            return date.fromisoformat(value)
        case ["datetime", value, fold]:
            return datetime.fromisoformat(value).replace(fold=fold)
        case ["Timestamp", value, unit]:
            return pd.Timestamp(np.datetime64(value, unit))
    raise InputError(f"a cell of no known type, {cell!r:.60}")
