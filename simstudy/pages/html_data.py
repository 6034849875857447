"""Tables and charts as the JSON inside an HTML page: by columns, repeated texts once, nothing that ends a script."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from simstudy.pages.sections import Chart, Column, Table
from simstudy.text.plain_text import json_text, shown

# A browser's parser of HTML looks for these inside a script, and old ones of JavaScript for the line ends of Unicode.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}

# What people read as a number: aligned to the right.
_NUMBER = r"[<>≈]?\s*[-−+±]?\d[\d,.]*(?:[eE][-+]?\d+)?\s*(?:%|points?|s)?(?:[\s–/\[(].*)?"


def json_of(content: Mapping[str, Any]) -> str:
    """JSON for a script element: it has the same meaning, and no character that ends the element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return json_text(text.translate(_ESCAPED))


def table_data(table: Table) -> dict[str, Any]:
    """A table for a script.

    head: the headings. text: the cells that people read, by column. numeric: whether a column is of numbers. names and
    values: the table's own columns that the cells are made from, unrounded to six digits: what a CSV file has. by: for
    each heading the place among them of what it is sorted by; null: by its text. pair: the headings of a pair's two
    systems; system: that of a single system; null where there is none.
    """
    texts = table.text()
    head = [str(name) for name in texts.columns]
    fields = [] if table.across is not None or _of_text(table) else _fields(table)
    names = list(dict.fromkeys(name for own in fields for name in own))
    rows = table.rows
    by = [names.index(own[0]) if own and own[0] in rows and _is_number(rows[own[0]]) else None for own in fields] or [
        None
    ] * len(head)
    first = [own[0] if own else "" for own in fields]
    pair = [first.index(name) if name in first else None for name in ("system_a", "system_b")]
    return {
        "head": [shown(name) for name in head],
        "numeric": [_numeric(texts.iloc[:, k]) for k in range(len(head))],
        "text": [_encoded(texts.iloc[:, k]) for k in range(len(head))],
        "names": names or head,
        "values": [_encoded(rows[name]) for name in names] if names else None,
        "by": by,
        "pair": None if None in pair else pair,
        "system": first.index("system") if "system" in first else None,
    }


def chart_data(chart: Chart) -> dict[str, Any]:
    """A chart for a script: its kind, its tables by columns, its settings."""
    return {
        "kind": chart.kind,
        "tables": {
            name: {str(column): _encoded(rows[column]) for column in rows} for name, rows in chart.tables.items()
        },
        "settings": dict(chart.settings),
    }


def _fields(table: Table) -> list[list[str]]:
    return [(Column(form) if isinstance(form, str) else form).fields for form in table.columns.values()]


def _of_text(table: Table) -> bool:
    """Whether the rows are text already, in columns without names of their own."""
    return [str(name) for name in table.rows.columns] == [f"c{k}" for k in range(len(table.rows.columns))]


def _is_number(column: pd.Series[Any]) -> bool:
    return bool((is_float_dtype(column) or is_integer_dtype(column)) and not is_bool_dtype(column))


def _numeric(texts: pd.Series[Any]) -> bool:
    """Whether a column of text is one of numbers."""
    known = texts[texts.astype(str).str.strip() != ""].astype(str)
    return len(known) > 0 and bool(known.drop_duplicates().str.fullmatch(_NUMBER).all())


def _encoded(column: pd.Series[Any]) -> Any:
    """A column as a list, or, where that is shorter, as its distinct texts (of) and the places of these (at)."""
    if is_bool_dtype(column):
        return [bool(value) for value in column]
    if is_integer_dtype(column):
        return [None if pd.isna(value) else int(value) for value in column]
    if is_float_dtype(column):
        return _rounded(column.to_numpy(dtype=np.float64))
    texts = [None if value is None or value is pd.NA or value != value else str(value) for value in column]
    distinct = list(dict.fromkeys(texts))
    if len(distinct) > 0.7 * len(texts):
        return texts
    places = {text: k for k, text in enumerate(distinct)}
    return {"of": distinct, "at": [places[text] for text in texts]}


def _rounded(numbers: Sequence[float] | np.ndarray[Any, Any]) -> list[float | None]:
    """Six significant digits, as the CSV files of a folder have them; null for what is no number."""
    found: list[float | None] = []
    for number in numbers:
        value = float(f"{number:.6g}") if np.isfinite(number) else None
        found.append(int(value) if value is not None and value.is_integer() and abs(value) < 1e15 else value)
    return found
