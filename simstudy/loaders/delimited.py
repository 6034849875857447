"""Tables of text with cells between commas (.csv, RFC 4180) or tabs (.tsv): read strictly, each row with its line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.reading import LONGEST, read_content
from simstudy.metrics.base import IntArray
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_UNNAMED = "Unnamed: 0"

# Cells as pandas reads them: text as it stands, and no line left out.
_AS_WRITTEN: dict[str, Any] = {"lineterminator": "\n", "header": 0, "index_col": False, "dtype": "str"}
_AS_WRITTEN |= {"na_filter": False, "low_memory": False, "skip_blank_lines": False}


class _Tsv(csv.excel_tab):
    """Tab-separated values have no quoting: a quote is part of the text (IANA text/tab-separated-values)."""

    quoting = csv.QUOTE_NONE


#: Ending of a file -> how its cells are kept apart.
DIALECTS: dict[str, type[csv.Dialect]] = {".csv": csv.excel, ".tsv": _Tsv}


def read_delimited(path: Path, dialect: type[csv.Dialect]) -> pd.DataFrame:
    """The cells of a file as text, as written; the index, called "line", has the line on which each row begins."""
    text = read_content(path)
    try:
        with _long_cells():
            header = next(csv.reader(StringIO(text), dialect))
    except csv.Error as error:
        raise InputError(f"{path}, line 1: {_problem(error)}") from None
    # As pandas writes an index without a name, and reads it.
    stripped = map(str.strip, header)
    names = [_UNNAMED if i == 0 and not name and len(header) > 1 else name for i, name in enumerate(stripped)]
    check_header(path, names)
    width = len(header)
    content = text.removesuffix("\n").encode() + b"\n"
    if _is_plain(content, dialect, width):
        frame: pd.DataFrame = pd.read_csv(BytesIO(content), dialect=dialect(), names=names, **_AS_WRITTEN)
        return frame.set_axis(pd.RangeIndex(2, len(frame) + 2, name="line"))
    cells, lines = _cells(path, text, dialect, width)
    columns = {name: pd.array(cells[k::width], dtype="str") for k, name in enumerate(names, start=width)}
    return pd.DataFrame(columns, index=pd.Index(lines, name="line"), copy=False)


def _is_plain(content: bytes, dialect: type[csv.Dialect], width: int) -> bool:
    """Whether each line is a row of `width` cells without quotes, none of which is longer than a line of text."""
    if b"\r" in content or b"\n\n" in content or (dialect.quoting != csv.QUOTE_NONE and b'"' in content):
        return False
    characters = np.frombuffer(content, dtype=np.uint8)
    separators = np.flatnonzero((characters == ord(dialect.delimiter)) | (characters == ord("\n")))
    at_ends = characters[separators] == ord("\n")
    rows_alike = at_ends.sum() * width == len(separators) and at_ends[width - 1 :: width].all()
    return bool(rows_alike and np.diff(separators, prepend=-1).max() <= LONGEST)


def _cells(path: Path, text: str, dialect: type[csv.Dialect], width: int) -> tuple[list[str], IntArray]:
    """All cells, row by row, and the line on which each row after the header begins; a ValueError names a bad row.

    Empty lines are left out.
    """
    reader = csv.reader(StringIO(text), dialect, strict=True)
    cells: list[str] = []
    lines, line = [], 1
    try:
        with _long_cells():
            for row in reader:
                if row and len(row) != width:
                    raise InputError(f"{path}, line {line}: {counted(len(row), 'cell')}, but the header has {width}")
                if row:
                    cells += row
                    lines.append(line)
                line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: {_problem(error)}") from None
    return cells, np.array(lines[1:], dtype=np.int64)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Within the block, a cell of csv.reader may be as long as a line of text."""
    usual = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def _problem(error: csv.Error) -> str:
    said = str(error)
    if "end of data" in said:
        return "a quote opens here that does not close"
    if "field larger" in said:
        return f"a cell has more than {LONGEST:,} characters"
    return f"{said}; lines must end with LF or CR LF" if "new-line" in said else said


def check_header(path: Path, header: Sequence[str]) -> None:
    """Raise a ValueError where columns have no names, or one name twice."""
    if len(header) == 1 and ";" in header[0]:
        raise InputError(
            f"{path} is separated by semicolons: save it with commas (or with tabs, as .tsv), and with decimal points"
        )
    if len(header) == 1 and "\t" in header[0]:
        raise InputError(f"{path}: the columns are separated by tabs: name the file .tsv")
    for i, name in enumerate(header):
        if not name.strip():
            raise InputError(f"{path}, line 1: columns must be named, but column {i + 1} of {len(header)} has no name")
        if name in header[:i]:
            raise InputError(f"{path}, line 1: columns must have different names, but '{name}' is there twice")
    broken = [name for name in header if "\n" in name or "\r" in name]
    if broken:
        raise InputError(f"{path}, line 1: the name of a column must be of one line, unlike {broken[0]!r}")
