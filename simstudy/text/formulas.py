"""Tables in CSV files that no spreadsheet takes for formulas, and the same tables read back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from simstudy.text.plain_text import csv_cell, csv_name

_TEXTS = (pd.StringDtype, pd.CategoricalDtype)


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """The table with cells of text that no spreadsheet takes for a formula: the same one, where it has no others."""
    if not has_formulas(table):
        return table
    without = table.copy()
    for name in _with_formulas(table):
        cells = [csv_cell(cell) if isinstance(cell, str) else cell for cell in table[name]]
        without[name] = pd.Series(cells, index=table.index, dtype=object)
    return without.set_axis([csv_cell(str(name)) for name in table.columns], axis="columns")


def has_formulas(table: pd.DataFrame) -> bool:
    """Whether a spreadsheet takes some text of the table for a formula."""
    return bool(_with_formulas(table)) or any(csv_cell(str(name)) != str(name) for name in table.columns)


def _with_formulas(table: pd.DataFrame) -> list[Any]:
    """Columns with a cell of text that a spreadsheet takes for a formula."""
    text = [name for name, column in table.items() if isinstance(column.dtype, _TEXTS) or column.dtype == object]
    return [name for name in text if any(isinstance(c, str) and csv_cell(c) != c for c in _cells(table[name]))]


def _cells(column: pd.Series[Any]) -> Iterable[Any]:
    """The column's values, of text each once: a million pairs have a few thousand names."""
    return column.drop_duplicates() if isinstance(column.dtype, _TEXTS) else column


def with_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """The table that `without_formulas` was given, from what a file of it has."""
    columns = {
        csv_name(str(name)): column
        if is_numeric_dtype(column)
        else column.map(lambda cell: csv_name(cell) if isinstance(cell, str) else cell)
        for name, column in table.items()
    }
    return pd.DataFrame(columns, copy=False)
