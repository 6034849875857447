"""Tables in files (CSV, TSV, JSON, Parquet), read strictly; what is wrong in a cell is told by file and line."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from simstudy.files.unpacking import beginning, plain_name
from simstudy.loaders.delimited import DIALECTS, check_header, read_delimited
from simstudy.loaders.json_tables import read_json_table
from simstudy.loaders.reading import is_read, once
from simstudy.loaders.usual_names import USUAL
from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.ratio import whole
from simstudy.text.reprs import listed
from simstudy.validation import InputError, nearest

#: Row of a table -> its file and line.
Where = Callable[[int], str]

#: What a cell says where there is no score.
BLANK = ("", "NA", "N/A", "NaN", "nan")

#: What to say where a system lacks an item.
MISSING_HINT = "missing='drop' leaves such items out, missing='zero' scores a missing one as no answer"

#: What a cell says where there is no name; "NA" and "None" may be names.
NO_NAMES = ("NaN", "nan", "<NA>", "NaT")

#: Numbers of four bytes agree so far.
EXACT = 1e-6

_TRUTH = {"true": 1.0, "false": 0.0}

# What people write for right and wrong instead of 1 and 0, and a number as half of Europe writes it.
_RIGHT_OR_WRONG = {"yes", "no", "y", "n", "right", "wrong", "correct", "incorrect", "pass", "fail", "passed", "failed"}
_RIGHT_OR_WRONG |= {*"✓✔✅☑✗✘✖❌☒"}
_WIN_OR_LOSS = {"win", "won", "wins", "loss", "lose", "loses", "lost", "tie", "tied", "ties", "draw"}
_DECIMAL_COMMA = re.compile(r"-?\d*,\d+")
_PERCENT = re.compile(r"(-?\d+(?:\.\d+)?)\s*%")
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d*)?|(?:\.\d{3})+,\d*)")

#: How names of tables in JSON end.
JSON = (".json", ".jsonl", ".ndjson")

_NESTED = {list: "a list", np.ndarray: "a list", dict: "a struct", bytes: "bytes"}


@once
def read_table(path: Path, narrow: bool = False) -> pd.DataFrame:
    """A table from a file .csv (RFC 4180), .tsv, .json, .jsonl or .ndjson, all may be packed (.gz, .zst), or .parquet.

    The index says where each row is. Of CSV and TSV all cells are text, as written ("01" stays "01"), and the index,
    called "line", has the line on which each row begins; that of a Parquet file, called "row", counts from 1. The
    shapes of JSON are those of `simstudy.loaders.json_tables`. Whole numbers of Parquet may be held in few bytes
    (`narrow`).
    """
    kind = ending(path)
    check_no_workbook(path)
    if kind == ".parquet":
        frame = _read_parquet(path, narrow)
    elif kind in DIALECTS:
        frame = read_delimited(path, DIALECTS[kind])
    elif kind in JSON:
        frame = read_json_table(path)
    else:
        raise InputError(
            f"{path}: a table must be a file .csv, .tsv, .json or .jsonl (all may be packed, .gz or .zst) or .parquet"
        )
    if frame.empty:
        raise InputError(f"{path} has a header, but no rows")
    return frame


def read_header(path: Path) -> list[str]:
    """The names of a table's columns; none where the file is no table, or cannot be read: its loader says why."""
    kind = ending(path)
    try:
        if kind == ".parquet":
            from simstudy.files.parquet import parquet_columns  # only Parquet needs pyarrow

            return parquet_columns(path)
        if kind not in DIALECTS:
            return []
        text = beginning(path).decode("utf-8-sig", errors="replace")
        return [name.strip() for name in next(csv.reader(StringIO(text, newline=""), DIALECTS[kind]), [])]
    except (OSError, ValueError, csv.Error):
        return []


def places(frame: pd.DataFrame, origin: object) -> Where:
    """Where the rows of a table are, as its index says; the origin is the file where the index names none."""
    index = frame.index
    unit = index.names[-1] or "row"
    if index.nlevels > 1:
        return lambda row: f"{index[row][0]}, {unit} {index[row][-1]}"
    return lambda row: f"{origin}, {unit} {index[row]}"


def renamed(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """A table whose columns have our names where `columns` maps these to theirs; others so called are left out."""
    there = {ours: theirs for ours, theirs in columns.items() if theirs in frame}
    others = [name for name in frame if name not in there and name not in there.values()]
    named = frame[others].assign(**{ours: frame[theirs] for ours, theirs in there.items()})
    return named.set_axis([str(name) for name in named], axis=1)


def no_column(origin: object, wanted: str, known: Iterable[object], hint: str = "") -> NoReturn:
    """Raise the ValueError that lists the columns there are; `hint` is a sentence, or several."""
    names = [str(name) for name in known]
    # Another of our names is no misspelling of this one, and a system called old is none of gold.
    others = [] if wanted == "gold" else [name for name in names if not {wanted, name} <= set(USUAL)]
    meant = nearest(wanted, others).strip(" ()")
    said = " ".join(filter(None, [meant[:1].upper() + meant[1:], hint]))
    # Where there is a column of systems, a table of their averages may be meant, or one that has a row for each system.
    raise InputError(
        f"{origin}: no column '{wanted}' (columns: {listed(names, 12)}){'. ' if said else ''}{said}"
        + " If each row is a system, turn the table round; if it has averages alone, they cannot be tested"
        * (wanted == "item" and not meant and any(name.strip().lower() in USUAL["system"] for name in names))
    )


def first_of(wrong: Array | pd.Series[bool]) -> int | None:
    """The position of the first of several things that is wrong; None where none is."""
    return int(np.argmax(wrong)) if np.any(wrong) else None


def not_plain(cells: pd.Series[Any]) -> tuple[int, str] | None:
    """The position of the first cell that is no text, number or date, as Parquet may have them, and what it is."""
    if cells.dtype != object:
        return None
    return next(((i, _NESTED[type(cell)]) for i, cell in enumerate(cells) if type(cell) in _NESTED), None)


def check_plain(cells: pd.Series[Any], column: object, where: Where) -> None:
    """Raise a ValueError that names the first cell of a column that is no text, number or date."""
    if nested := not_plain(cells):
        raise InputError(f"{where(nested[0])}: column '{column}' must hold text or numbers, not {nested[1]}")


def coded(cells: pd.Series[Any], what: str, where: Where) -> tuple[IntArray, list[str]]:
    """Cells that name things, as positions (n,) in a list of the names, each of which is there and of one line."""
    if (row := first_of(cells.isna())) is not None:
        raise InputError(f"{where(row)}: no {what}")
    codes, known = pd.factorize(cells.astype(str))
    for code, name in enumerate(known):
        if name in NO_NAMES:
            place = where(int(np.argmax(codes == code)))
            raise InputError(f"{place}: no {what}: '{name}' is how programs write that there is none")
        if not name.strip() or "\n" in name or "\r" in name:
            problem = f"the {what} must be of one line, not {name!r}" if name.strip() else f"no {what}"
            raise InputError(f"{where(int(np.argmax(codes == code)))}: {problem}")
    return codes.astype(np.int64), [str(name) for name in known]


def takes_one_score(metric: Metric) -> bool:
    """Whether items may have one score each: 0 to 1 for accuracy, any number within its range for a mean."""
    return metric.item_range is not None


def number(text: str) -> float:
    """A text as a number, NaN where it is none: ASCII digits, and no underscores between them."""
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def numbers(cells: pd.Series[Any]) -> FloatArray:
    """Cells as numbers, True and False as 1 and 0; NaN where one is not a number."""
    if isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "biuf":
        return cells.to_numpy(dtype=np.float64)
    if is_bool_dtype(cells) or is_numeric_dtype(cells):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    if cells.dtype.kind in "mM":
        # Times would be taken for their nanoseconds.
        return np.full(len(cells), np.nan)
    try:
        converted = pd.to_numeric(cells, errors="coerce")
    except OverflowError:
        # A whole number of JSON may have thousands of digits.
        too_large = cells.map(lambda cell: isinstance(cell, int) and abs(cell) > sys.float_info.max)
        converted = pd.to_numeric(cells.mask(too_large, np.inf), errors="coerce")
    found = np.asarray(converted.to_numpy(dtype=np.float64, na_value=np.nan)).copy()
    if len(words := np.flatnonzero(np.isnan(found))):
        found[words] = [_TRUTH.get(str(cell).lower(), np.nan) for cell in cells.iloc[words]]
    return found


def is_right_or_wrong(found: FloatArray) -> bool:
    """Whether numbers, those that are missing aside, are 0 and 1 only."""
    there = found[~np.isnan(found)]
    return bool(there.size) and bool(np.isin(there, (0, 1)).all())


def decimals(values: FloatArray) -> int:
    """The largest number of decimal places with which numbers are written."""
    return max(len(np.format_float_positional(value, trim="-").partition(".")[2]) for value in values.tolist())


def how_to_write(cell: object) -> str:
    """How a score that is no number must be written, for an error; empty where nothing is known."""
    # Signs may be followed by one that asks for colours.
    text = str(cell).strip().removesuffix("\ufe0f")
    if text.casefold() in _RIGHT_OR_WRONG:
        return " (write 1 for right and 0 for wrong)"
    if text.casefold() in _WIN_OR_LOSS:
        return " (write 1 for a win, 0.5 for a tie and 0 for a loss)"
    if percent := _PERCENT.fullmatch(text):
        share, own = f"{float(percent[1]) / 100:.12g}", percent[1]
        return f" (write {share}{'' if share == own else f', or {own}'}, without %)"
    if _THOUSANDS.fullmatch(text):
        return " (leave out the thousands separator)"
    return " (write numbers with a decimal point)" if _DECIMAL_COMMA.fullmatch(text) else ""


def narrow(values: FloatArray) -> Array:
    """Whole numbers as integers, so that scores that tie are known to tie."""
    return values.astype(np.int64) if values.size and whole(values) else values


def score_statistics(cells: pd.Series[Any], metric: Metric, where: Where) -> Array:
    """The statistics (n, 2) of items with one score each: numbers, true and false, or texts of these.

    The first score that is no number, is infinite, or is out of the metric's range is a ValueError.
    """
    check_takes_one_score(metric)
    found = numbers(cells)
    check_scores(found, cells, metric, where)
    return narrow(np.stack([found, np.ones_like(found)], axis=-1))


def check_scores(found: FloatArray, cells: pd.Series[Any], metric: Metric, where: Where) -> None:
    """Raise a ValueError for the first of the numbers of cells that is no score of an item by the metric."""
    low, high = metric.item_range or (-np.inf, np.inf)
    between = f"between {low:g} and {high:g} for metric '{metric.name}'"
    out_of_range = ~((found >= low) & (found <= high))
    hint = ""
    if metric.name == "accuracy":
        # Between 0 and 1: the mean of several answers to one question.
        outside = found[np.isfinite(found) & out_of_range]
        percentages = outside.size and outside.min() > 1 and outside.max() <= 100
        hint = f"; {'divide percentages by 100, or ' if percentages else ''}take metric='mean'"
    for wrong, rule, more in ((~np.isfinite(found), "a number", ""), (out_of_range, between, hint)):
        if (row := first_of(wrong)) is not None:
            value = cells.iloc[row]
            if pd.isna(value) or str(value).strip() in BLANK:
                raise InputError(f"{where(row)}: no score; {MISSING_HINT}")
            shown = repr(value) if np.isnan(found[row]) else np.format_float_positional(found[row], trim="-")
            more = more or how_to_write(value)
            raise InputError(f"{where(row)}: a score must be {rule}, not {shown}{more}")


def check_takes_one_score(metric: Metric) -> None:
    """Raise a ValueError for a metric that needs more than one number an item."""
    if not takes_one_score(metric):
        other = "metric='accuracy' (0 to 1) or metric='mean'"
        if not metric.higher_is_better:
            other = "metric='mean' with lower_is_better=True"
        raise InputError(
            f"metric '{metric.name}' needs ({', '.join(metric.statistics)}) of each item, but there is one score: "
            f"{other}"
        )


def ending(path: Path) -> str:
    """How the file's name ends, in lower case; of a packed one that of the file in it."""
    return Path(plain_name(path)).suffix.lower()


def check_no_workbook(path: Path) -> None:
    """Raise a ValueError that says what to do with a file whose name is that of a workbook."""
    if ending(path) in (".xlsx", ".xlsm", ".xls", ".ods"):
        raise InputError(f"{path} is a workbook: save it as CSV")


def _read_parquet(path: Path, narrow: bool) -> pd.DataFrame:
    from simstudy.files.parquet import read_frame  # only Parquet needs pyarrow

    is_read(path)
    frame = read_frame(path, narrow=narrow)
    check_header(path, [str(name) for name in frame.columns])
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))
