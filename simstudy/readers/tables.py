"""Tables in files: CSV, TSV, JSON and Parquet as data frames whose index says where each row is."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.files.packed import plain_name
from simstudy.metrics import canonical
from simstudy.metrics.ranking import ranking_metric
from simstudy.readers.columns import is_no_item
from simstudy.readers.text_files import LONGEST, NotJSONError, is_read, once, parse_json, read_content
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError

#: Endings of names of tables.
JSON = (".json", ".jsonl", ".ndjson")
TABLES = (".csv", ".tsv", ".parquet", *JSON)

#: Patterns of names of tables.
TABLE_FILES = tuple(f"*{end}" for end in TABLES)

_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")

# Levels of objects in a record, and columns of a table, that are more than anybody writes.
_DEEPEST, _WIDEST = 50, 20_000

# Fewer systems may have fewer items.
_FEW = 10

# Keys of a first record that sums up others.
_SUMMARY_KEYS = {"accuracy", "correct_count", "total_count"}

_SCALAR = (str, int, float, bool, type(None))

# JSON may have half of a character, as "\ud800".
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")

#: What JSON may look like, for errors.
_SHAPES = (
    "a table in JSON is a list of records, records one below the other (JSON lines), one list of records under a key, "
    '{"columns": [...], "data": [[...]]}, or {"system": {"item": score}}'
)


class _Tsv(csv.excel_tab):
    """Tab-separated values have no quoting: a quote is part of the text (IANA text/tab-separated-values)."""

    quoting = csv.QUOTE_NONE


# The header of tab-separated values that are quoted all the same, as R writes them.
_QUOTED_HEADER = re.compile(r'"[^"\t\n]*"(\t"[^"\t\n]*")*\n')


def ending(path: Path) -> str:
    """How the name of a file ends, in lower case; of a packed file that of the file in it."""
    return Path(plain_name(path)).suffix.lower()


@once
def read_table(path: Path, narrow: bool = False) -> pd.DataFrame:
    """A table from a file .csv (RFC 4180), .tsv, .json, .jsonl or .ndjson, packed (.gz, .zst) or not, or .parquet.

    The index says where each row is: "line" of CSV, TSV and JSON lines, "record" of JSON, "row" of Parquet. All cells
    of CSV and TSV are text as written: "01" stays "01". Nested keys of JSON are columns with dotted names. `narrow`
    holds whole numbers of Parquet in the fewest bytes.
    """
    kind = ending(path)
    if kind in _WORKBOOKS:
        raise InputError(f"{path} is a workbook: save it as CSV")
    if kind == ".parquet":
        from simstudy.files.parquet import read_frame  # only Parquet needs pyarrow

        is_read(path)
        frame = read_frame(path, narrow=narrow)
        _check_header(path, [str(name) for name in frame.columns])
        frame = frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))
    elif kind in (".csv", ".tsv"):
        frame = _read_delimited(path, kind)
    elif kind in JSON:
        frame = _read_json(path)
    else:
        raise InputError(f"{path}: a table must be a file {', '.join(TABLES)}")
    if frame.empty:
        raise InputError(f"{path} has a header, but no rows")
    return frame


# CSV and TSV -------------------------------------------------------------------------------------------------------
def _read_delimited(path: Path, kind: str) -> pd.DataFrame:
    """The cells of a file as text; the index has the line on which each row begins.

    Rows without a text are left out, and so are columns at the end that have neither a name nor a text: spreadsheets
    leave them.
    """
    text = read_content(path)
    dialect: type[csv.Dialect] = csv.excel
    if kind == ".tsv":
        dialect = csv.excel_tab if _QUOTED_HEADER.match(text) else _Tsv
    rows: list[list[str]] = []
    lines: list[int] = []
    line, remedy = 1, ""
    usual_size = csv.field_size_limit(LONGEST)
    reader = csv.reader(StringIO(text), dialect, strict=True)
    try:
        for row in reader:
            if rows and row and len(row) != len(rows[0]):
                _check_separator(path, rows[0])
                if len(row) == len(rows[0]) + 1 and len(rows) == 1:
                    remedy = "R writes names of rows without a header: row.names = FALSE leaves them out"
                rule = f"{counted(len(row), 'cell')}, but the header has {len(rows[0])}"
                raise InputError(rule, remedy=remedy, at=f"{path}, line {line}")
            if len(row) == 1 or any(row):
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        message = str(error)
        if "end of data" in message:
            message = "a quote opens here that does not close"
        elif "new-line" in message:
            message += "; lines must end with LF or CR LF"
        elif "expected after" in message:
            message = 'a quote inside of a cell must be doubled (in R: qmethod = "double")'
        raise InputError(message, at=f"{path}, line {line}") from None
    finally:
        csv.field_size_limit(usual_size)
    header = [name.strip() for name in rows.pop(0)]
    while len(header) > 1 and not header[-1] and not any(row[len(header) - 1] for row in rows):
        header.pop()
    if len(header) > 1 and not header[0]:
        # pandas writes an index without a name so.
        header[0] = "Unnamed: 0"
    _check_header(f"{path}, line {lines[0]}", header)
    cells = np.array([row[: len(header)] for row in rows], dtype=object).reshape(len(rows), len(header))
    return pd.DataFrame(cells, pd.Index(lines[1:], name="line"), header, dtype="str")


def _check_separator(at: object, header: Sequence[str]) -> None:
    """Raise an InputError if a header is one name with other separators in it."""
    if len(header) == 1 and ";" in header[0]:
        remedy = "save it with commas (or with tabs, as .tsv), and with decimal points"
        raise InputError("columns are separated by semicolons", remedy=remedy, at=at)
    if len(header) == 1 and "\t" in header[0]:
        raise InputError("columns are separated by tabs", remedy="name the file .tsv", at=at)


def _check_header(at: object, header: Sequence[str]) -> None:
    """Raise an InputError if columns have no names, or one name twice."""
    _check_separator(at, header)
    names = set()
    for i, name in enumerate(header, start=1):
        if not name.strip():
            raise InputError(f"columns must be named, but column {i} of {len(header)} has no name", at=at)
        if name in names:
            raise InputError(f"columns must have different names, but '{name}' is there twice", at=at)
        if "\n" in name or "\r" in name:
            raise InputError("the name of a column", "must be one line", name, at=at)
        names.add(name)


# JSON --------------------------------------------------------------------------------------------------------------
def _read_json(path: Path) -> pd.DataFrame:
    """The table in a file of JSON, or of JSON lines; the index says where each record is."""
    text = read_content(path)
    unit, records = "line", _json_lines(text, path)
    if records is None:
        unit, records = "record", dict(enumerate(_records(parse_json(text, path), path), start=1))
    if not records:
        raise InputError(f"{path} has no records")
    if {*next(iter(records.values()))} >= _SUMMARY_KEYS:
        # The score files of BFCL.
        rule = f"{path} begins with a summary, and has only the items that the system failed"
        raise InputError(rule, remedy="write a record for each item, right or wrong")
    rows = [_flat(record, f"{path}, {unit} {n}") for n, record in records.items()]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if len(columns) > _WIDEST:
        rule = f"records have {len(columns):,} columns, more than {_WIDEST:,}: are ids keys in them?"
        raise InputError(rule, at=path)
    _check_header(path, columns)
    index = pd.Index([*records], name=unit)
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], index) for name in columns}, index)


def _json_lines(text: str, path: Path) -> dict[int, Any] | None:
    """The records of JSON lines by their lines; None if a file .json is one JSON value over all lines."""
    lines = {n: line for n, line in enumerate(text.split("\n"), start=1) if line.strip()}
    may_be_one_value = ending(path) == ".json"
    if may_be_one_value and len(lines) < 2:
        return None
    records: dict[int, Any] = {}
    for n, line in lines.items():
        try:
            records[n] = parse_json(line, path, n)
        except NotJSONError:
            # One value over several lines, or a line that is cut.
            if may_be_one_value and not records:
                return None
            raise
        if not isinstance(records[n], dict):
            if may_be_one_value:
                return None
            raise InputError(f"a line of JSON must be an object, not {_kind(records[n])}", at=f"{path}, line {n}")
    return records


def _records(value: Any, path: Path) -> list[dict[str, Any]]:
    """The rows of one JSON value of the shapes that `_SHAPES` names."""
    if isinstance(value, list):
        return _objects(value, path)
    if not isinstance(value, dict) or not value:
        raise InputError(f"{path} is {_kind(value)}", remedy=_SHAPES)
    names, rows = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        _check_header(path, [*map(str, names)])
        for i, row in enumerate(rows, start=1):
            if not isinstance(row, list) or len(row) != len(names):
                rule = f"a row must be a list of {counted(len(names), 'cell')}"
                raise InputError(rule, at=f"{path}, record {i}")
        return [dict(zip(map(str, names), row, strict=True)) for row in rows]
    lists = {key: rows for key, rows in value.items() if isinstance(rows, list) and rows and isinstance(rows[0], dict)}
    if len(lists) == 1:
        # Texts beside the list, such as the model, are the same in each row. Numbers there sum up, or are settings.
        ((key, rows),) = lists.items()
        about = {name: cell for name, cell in value.items() if isinstance(cell, str)}
        return [about | row for row in _objects(rows, path)]
    if len(lists) > 1:
        rule = f"lists of records are under {listed([*lists], 12)}"
        raise InputError(rule, remedy="write one of them to a file of its own", at=path)
    if all(isinstance(cell, _SCALAR) for cell in value.values()):
        _check_keys(value, path)
        return [{"item": item, "value": cell} for item, cell in value.items()]
    if all(isinstance(scores, dict) for scores in value.values()):
        return _scores_of_systems(value, path)
    raise InputError(f"{path} has another shape", remedy=_SHAPES)


def _scores_of_systems(value: Mapping[str, Mapping[str, Any]], path: Path) -> list[dict[str, Any]]:
    """The rows of {"system": {"item": score}}, or of measures of rankings, {"map": {"topic": score}}.

    An InputError for other objects, and for a summary among the items.
    """
    if all(ranking_metric(canonical(name.lower())) for name in value):
        # As ranx has the measures of a run: {"map": {"q1": 0.5}}.
        items = dict.fromkeys(item for scores in value.values() for item in scores)
        columns = {"score" if len(value) == 1 else name: scores for name, scores in value.items()}
        return [{"item": item, **{name: scores.get(item) for name, scores in columns.items()}} for item in items]
    rows = []
    n_items = max(map(len, value.values()))
    if len(value) > max(_FEW, 2 * n_items):
        rule = f"{len(value):,} systems with {counted(n_items, 'item')} each seem to be items"
        raise InputError(rule, remedy='write {"system": {"item": score}}', at=path)
    for system, scores in value.items():
        _check_keys(scores, path)
        for item, score in scores.items():
            if isinstance(score, dict | list):
                rule = f"'{system}' has {_kind(score)} under '{item}', not a score"
                raise InputError(rule, remedy=_SHAPES, at=path)
            rows.append({"system": system, "item": item, "score": score})
    return rows


def _check_keys(scores: Mapping[str, Any], path: Path) -> None:
    """Raise an InputError if a key among the items of a system is called like a summary or a metric."""
    for item, score in scores.items():
        if is_no_item(item) and isinstance(score, int | float):
            rule = f"'{item}' seems to be a summary or a metric, and no item"
            remedy = f'take it out, or write records: [{{"item": "{item}", "score": {json.dumps(score)}}}, ...]'
            raise InputError(rule, remedy=remedy, at=path)


def _objects(rows: Sequence[Any], path: Path) -> list[dict[str, Any]]:
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f"a record must be an object, not {_kind(row)}", at=f"{path}, record {i}")
    return [*rows]


def _flat(record: Mapping[str, Any], at: str) -> dict[str, Any]:
    """A record with dotted names for what is nested; a list stays one cell."""
    flat: dict[str, Any] = {}
    left = [(str(name), cell, 1) for name, cell in reversed([*record.items()])]
    while left:
        name, cell, depth = left.pop()
        if depth > _DEEPEST:
            raise InputError("objects are nested too deeply", at=at)
        if isinstance(cell, dict):
            left += [(f"{name}.{inner}", inside, depth + 1) for inner, inside in reversed([*cell.items()])]
            continue
        if name in flat:
            raise InputError(f"two keys are '{name}', with and without nesting", at=at)
        if isinstance(cell, str) and _HALF_CHARACTER.search(cell):
            raise InputError(f"texts must be of whole characters (UTF-8), unlike {cell[:60]!a}", at=at)
        flat[name] = cell
    return flat


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
