"""Tables as CSV files, and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_float_dtype

from simstudy.files.whole import atomic_path, check_file_names
from simstudy.text.formulas import with_formulas, without_formulas

# Rows of a table in another order that are held at a time.
_TOGETHER = 2**16

# The kinds of columns that a file does not tell from others, and the types that they are read as.
_TYPES: dict[str, Any] = {"t": str, "f": float, "i": "Int64"}


@dataclass(frozen=True)
class InOrder:
    """A table that is written in another order of its rows, some at a time: of a million pairs no copy is made."""

    table: pd.DataFrame
    order: NDArray[np.intp]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.order)

    def parts(self) -> Iterator[pd.DataFrame]:
        """Yield its rows, some at a time."""
        for first in range(0, len(self), _TOGETHER):
            yield self.table.iloc[self.order[first : first + _TOGETHER]]


def write_tables(tables: Mapping[str, pd.DataFrame | InOrder], folder: Path) -> None:
    """Each table as <name>.csv, six significant digits; no text is a formula (`simstudy.text.plain_text.csv_cell`)."""
    check_file_names("table", tables)
    for name, table in tables.items():
        parts = table.parts() if isinstance(table, InOrder) else [table]
        with (
            atomic_path(folder / f"{name}.csv") as temporary,
            temporary.open("w", encoding="utf-8", newline="") as file,
        ):
            for k, part in enumerate(parts):
                without_formulas(part).to_csv(
                    file, header=k == 0, index=False, float_format="%.6g", lineterminator="\n"
                )


def kinds_of(table: pd.DataFrame) -> str:
    """A letter for each column: t for text, f for numbers that need not be whole, i for whole ones, - for others.

    A file of the table does not say whether "1" is a name, and whether 2 is always whole: `read_table` needs to know.
    """
    return "".join(_kind(column) for _, column in table.items())


def _kind(column: pd.Series[Any]) -> str:
    found = infer_dtype(column, skipna=True)
    if is_float_dtype(column) or found == "floating":
        return "f"
    return {"integer": "i", "string": "t", "categorical": "t", "empty": "t"}.get(found, "-")


def read_table(path: Path, kinds: str) -> pd.DataFrame:
    """A table that `write_tables` wrote, whose columns are of these kinds (`kinds_of`); empty text is missing.

    Kinds that are not known are guessed from what is there.
    """
    try:
        names = list(pd.read_csv(path, nrows=0))
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    types = {name: _TYPES[kind] for name, kind in zip(names, kinds, strict=bool(kinds)) if kind in _TYPES}
    table = pd.read_csv(path, dtype=types, keep_default_na=False, na_values=[""])
    whole = {name: "int64" for name, kind in types.items() if kind == "Int64" and table[name].notna().all()}
    return with_formulas(table.astype(whole))
