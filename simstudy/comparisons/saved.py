"""Files of Comparisons: tables of comma-separated values, which spreadsheets open too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from simstudy.schema import OWN, names_of
from simstudy.tables import COMPARISONS, check_table
from simstudy.text.plain_text import csv_cell, csv_name, line


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table of pairs, unrounded; no text is a formula (`simstudy.text.plain_text.csv_cell`)."""
    _each_text(frame, csv_cell).to_csv(path, index=False)


def read_table(path: str | Path) -> pd.DataFrame:
    """The table of pairs that `write_table`, or a study, wrote; a ValueError where the file has another one or none."""
    argument = f"path '{path}'"
    text = dict.fromkeys(names_of("text"), str)
    missing = dict.fromkeys(names_of("number"), [""])
    try:
        read = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=missing)
    except ValueError as error:
        raise ValueError(f"{argument} must be a CSV file of {COMPARISONS}: {line(error)}") from None
    frame = _each_text(read, csv_name)
    check_table(argument, frame, OWN, COMPARISONS, empty=True)
    return frame


def _each_text(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """The table with its texts, and the names of its columns, changed."""

    def changed(cell: Any) -> Any:
        return change(cell) if isinstance(cell, str) else cell

    columns = {
        change(str(name)): column if is_numeric_dtype(column) else column.map(changed) for name, column in frame.items()
    }
    return pd.DataFrame(columns, copy=False)
