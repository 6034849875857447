"""Files of Comparisons: tables of comma-separated values, which spreadsheets open too."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from simstudy.schema import OWN, names_of
from simstudy.tables import COMPARISONS, check_table
from simstudy.text.formulas import with_formulas, without_formulas
from simstudy.text.plain_text import line


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a table of pairs, unrounded; no text is a formula (`simstudy.text.plain_text.csv_cell`)."""
    without_formulas(frame).to_csv(path, index=False)


def read_table(path: str | Path) -> pd.DataFrame:
    """The table of pairs that `write_table`, or a study, wrote; a ValueError where the file has another one or none."""
    argument = f"path '{path}'"
    text = dict.fromkeys(names_of("text"), str)
    missing = dict.fromkeys(names_of("number"), [""])
    try:
        read = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=missing)
    except ValueError as error:
        raise ValueError(f"{argument} must be a CSV file of {COMPARISONS}: {line(error)}") from None
    frame = with_formulas(read)
    check_table(argument, frame, OWN, COMPARISONS, empty=True)
    return frame
