"""Tables from JSON of many shapes: a row for each record, and nested keys as columns with dotted names.

- JSON Lines, whatever the file is called: each line is a record, ``{"item": "q1", "metrics": {"em": 1}}``; the columns
  are ``item`` and ``metrics.em``.
- A list of records; an object of lists of one length, which are columns; ``{"columns": [...], "data": [[...], ...]}``.
- One list of records under a key, ``{"model": "new", "results": [...]}``. What else the object says is the same in
  each row.
- An object of objects: ``{"new": {"q1": 1}, "old": {"q1": 0}}``. The keys are columns ``key1``, ``key2`` (``key`` where
  there is one level of them), and what is not an object is the column ``value``. Objects of one shape below the keys,
  such as ``{"q1": {"correct": true}}``, are records, and so are those in lists, ``{"new": [...], "old": [...]}``. A
  system may have its scores below one more key, ``{"new": {"accuracy": 0.5, "scores": {"q1": 1, ...}}}``.
- Records of an item with the scores of each system, ``{"id": "q1", "scores": {"new": 1, "old": 0}}``, and records of a
  system with those of each item, ``{"model": "new", "scores": {"q1": 1}}``, have a row for each score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.loaders.json_files import NotJSONError, parse_json
from simstudy.loaders.reading import read_content
from simstudy.loaders.usual_names import USUAL, names_anything, plain
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError

#: A row of a table: column -> cell.
Record = dict[str, Any]

#: What the one key is called below which a file has its records.
_WRAPPERS = frozenset(
    ("results", "result", "data", "records", "samples", "items", "instances", "examples", "predictions", "details")
    + ("rows", "scores", "outputs", "per_instance", "per_item", "per_sample", "questions", "tasks")
)

# Levels of objects in a record, and columns of a table, that are more than anybody writes.
_DEEPEST, _WIDEST = 50, 20_000

# Records may have several scores below this key.
_SCORES = "scores."

# A system may have those of its items under these keys, if there are at least so many.
_OF_SYSTEM = {"scores", "results", "items", "instances", "questions", "per_item", "per_instance", "per_sample"}
_SEVERAL = 3

_SCALAR = (str, int, float, bool, type(None))


def read_json_table(path: Path) -> pd.DataFrame:
    """The table in a file of JSON; its index, called "line" or "record", says where each row is."""
    text = read_content(path)
    lines = _lines(text, path)
    if lines is None:
        records = _Document(path).records(parse_json(text, path))
        places, unit = [*range(1, len(records) + 1)], "record"
    else:
        for line, record in lines:
            if not isinstance(record, dict):
                raise InputError(f"{path}, line {line}: a line of JSON must be an object, not {_kind(record)}")
        records = [_flat(record, f"{path}, line {line}") for line, record in lines]
        places, unit = [line for line, _ in lines], "line"
    if not records:
        raise InputError(f"{path} has no records")
    columns = list(dict.fromkeys(name for record in records for name in record))
    if len(columns) > _WIDEST:
        raise InputError(f"{path}: records have {len(columns):,} columns, more than {_WIDEST:,}: are ids keys in them?")
    for name in columns:
        _check_text(name, f"{path}")
        if not name.strip() or "\n" in name or "\r" in name:
            raise InputError(f"{path}: the name of a column must be of one line, unlike {name!r}")
    for place, record in zip(places, records, strict=True):
        for cell in record.values():
            _check_text(cell, f"{path}, {unit} {place}")
    # Whole numbers stay whole where a record lacks one: as ids they are names.
    cells = {name: pd.Series([record.get(name) for record in records], dtype=object) for name in columns}
    return pd.DataFrame(cells).set_axis(pd.Index(places, name=unit))


def _lines(text: str, path: Path) -> list[tuple[int, Any]] | None:
    """The records of JSON Lines with their lines; None where the text is one JSON value."""
    rows = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    by_name = ".jsonl" in path.name.lower() or ".ndjson" in path.name.lower()
    try:
        first = parse_json(rows[0][1], path, rows[0][0])
    except NotJSONError:
        if not by_name or rows[0][1].strip() in "[{":
            return None
        first = None
    # One line may be a whole document: {"q1": 1, "q2": 0}.
    if isinstance(first, list) or (len(rows) == 1 and not (by_name and _is_record(first))):
        return None if isinstance(first, dict | list) or not by_name else [(rows[0][0], first)]
    return [(number, parse_json(line, path, number)) for number, line in rows]


def of_each_score(frame: pd.DataFrame, named: Collection[str]) -> pd.DataFrame:
    """A table of JSON with a row for each score, where records have several under ``scores``; else as it is.

    The keys are systems in records of an item, and items in records of a system, unless columns are `named` so.
    """
    keys = {name: name.removeprefix(_SCORES) for name in map(str, frame) if name.startswith(_SCORES)}
    has = {ours for ours in ("system", "item") if any(plain(name) in (ours, *USUAL[ours]) for name in frame)}
    metrics = any(map(names_anything, keys.values())) or not keys.keys().isdisjoint(named)
    if not keys or len(has) != 1 or metrics or "score" in frame:
        return frame
    other = "item" if "system" in has else "system"
    rows, places = [], []
    for place, record in zip(frame.index, frame.to_dict("records"), strict=True):
        about = {str(name): cell for name, cell in record.items() if name not in keys}
        for name, key in keys.items():
            if record[name] is None:
                continue
            if not isinstance(record[name], int | float):
                return frame
            rows.append(about | {other: key, "score": record[name]})
            places.append(place)
    return pd.DataFrame(rows, dtype=object).set_axis(pd.Index(places, name=frame.index.name))


class _Document:
    """One JSON value, as records."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def records(self, value: Any) -> list[Record]:
        """The rows of the table that this value is."""
        if isinstance(value, list):
            return self._of_list(value, "")
        if not isinstance(value, dict):
            raise InputError(f"{self.path}: JSON must be a list or an object to be a table, not {_kind(value)}")
        if not value:
            raise InputError(f"{self.path} has no records")
        if isinstance(value.get("data"), list) and isinstance(value.get("columns"), list):
            return self._of_split(value["columns"], value["data"])
        if isinstance(value.get("data"), list) and isinstance(value.get("schema"), dict):
            return self._of_list(value["data"], "")
        lists = {key: cells for key, cells in value.items() if isinstance(cells, list)}
        objects = {key: cells for key, cells in lists.items() if cells and all(isinstance(c, dict) for c in cells)}
        if len(objects) == 1 or (objects and len(objects) == len(value)):
            return self._of_objects(value, objects)
        if objects:
            raise InputError(
                f"{self.path}: lists of records are under {listed([*objects], 12)}, beside other keys: write one "
                "of them to a file of its own"
            )
        if lists and len(lists) == len(value):
            return self._of_columns(lists)
        nested = {key: inside for key, inside in value.items() if isinstance(inside, dict)}
        wrapped = [key for key in nested if key.lower() in _WRAPPERS]
        if len(wrapped) == len(nested) == 1:
            about = _constants(value, wrapped)
            return [about | record for record in self.records(value[wrapped[0]])]
        if _is_record(value):
            return [_flat(value, f"{self.path}, record 1")]
        # As pandas writes a table: {"item": {"0": "q1"}, "score": {"0": 1}}.
        shapes = {tuple(inside) for inside in nested.values()}
        tabled = len(nested) == len(value) and len(shapes) == 1 and any(map(names_anything, value))
        if tabled and not any(map(_is_record, nested.values())):
            return self._of_columns({key: list(inside.values()) for key, inside in nested.items()})
        return self._of_keys(value)

    def _of_list(self, rows: Sequence[Any], under: str) -> list[Record]:
        if all(isinstance(row, dict) for row in rows):
            return [_flat(row, f"{self.path}, {under}record {i}") for i, row in enumerate(rows, start=1)]
        if all(isinstance(row, _SCALAR) for row in rows):
            return [{"value": cell} for cell in rows]
        wrong = next((i for i, row in enumerate(rows) if not isinstance(row, dict)), 0)
        raise InputError(
            f"{self.path}, {under}record {wrong + 1}: a record must be an object, not {_kind(rows[wrong])}"
        )

    def _of_split(self, columns: Sequence[Any], rows: Sequence[Any]) -> list[Record]:
        names = [str(name) for name in columns]
        if len(set(names)) < len(names):
            raise InputError(f"{self.path}: columns must be named once each")
        for i, row in enumerate(rows, start=1):
            if not isinstance(row, list) or len(row) != len(names):
                raise InputError(f"{self.path}, record {i}: a row must be a list of {counted(len(names), 'cell')}")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _of_objects(self, value: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]) -> list[Record]:
        """Records in lists; what lies beside one list, or the keys of several, is in each of its records."""
        about = _constants(value, lists)
        if len(lists) == 1 and (about or len(value) > 1 or next(iter(lists)).lower() in _WRAPPERS):
            (rows,) = lists.values()
            return [about | record for record in self._of_list(rows, "")]
        return [
            {"key1": key} | record for key, rows in lists.items() for record in self._of_list(rows, f"under '{key}' ")
        ]

    def _of_columns(self, lists: Mapping[str, Sequence[Any]]) -> list[Record]:
        lengths = {key: len(cells) for key, cells in lists.items()}
        first, n = next(iter(lengths.items()))
        other = next((key for key, length in lengths.items() if length != n), None)
        if other is not None:
            raise InputError(
                f"{self.path}: lists must be of one length, but '{first}' has {n:,}, '{other}' {lengths[other]:,}"
            )
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]

    def _of_keys(self, value: Mapping[str, Any]) -> list[Record]:
        """Records below the keys of objects; keys that all records could have are columns, not keys."""
        rows = list(_below(value, (), f"{self.path}"))
        depths = {len(keys) for keys, _ in rows}
        if len(depths) > 1:
            raise InputError(
                f"{self.path}: objects of keys must be of one depth, but '{_dotted(rows[0][0])}' and "
                f"'{_dotted(next(keys for keys, _ in rows if len(keys) != len(rows[0][0])))}' are not: write a list of "
                'records to a file of its own, such as [{"item": "q1", "system": "A", "score": 1}], or JSON lines'
            )
        (depth,) = depths
        names = ["key"] if depth == 1 else [f"key{i}" for i in range(1, depth + 1)]
        return [dict(zip(names, keys, strict=True)) | record for keys, record in rows]


def _below(value: Mapping[str, Any], keys: tuple[str, ...], path: str) -> Iterator[tuple[tuple[str, ...], Record]]:
    """Each record with the keys that lead to it: what has a name that we know, or is no object."""
    if len(keys) > _DEEPEST:
        raise InputError(f"{path}: objects are nested too deeply")
    nested = [inside for inside in value.values() if isinstance(inside, dict)]
    # Records of items have 0 or 1 each. One system may be right, or wrong, on all of its items.
    items = all(any(names_anything(key) and one in (0, 1) for key, one in inside.items()) for inside in nested)
    for key, inside in value.items():
        own = (*keys, key)
        if isinstance(inside, dict) and not items and (scores := _scores_of_items(inside)):
            yield from _below(scores, own, path)
        elif isinstance(inside, dict) and not _is_record(inside):
            yield from _below(inside, own, path)
        elif isinstance(inside, dict):
            yield own, _flat(inside, f"{path}, '{_dotted(own)}'")
        elif isinstance(inside, list) and inside and all(isinstance(one, dict) for one in inside):
            for one in inside:
                yield own, _flat(one, f"{path}, '{_dotted(own)}'")
        else:
            yield own, {"value": inside}


def _scores_of_items(value: Mapping[str, Any]) -> dict[str, Any]:
    """Find the scores under ``scores`` or the like, which may stand beside their average; empty if there are none.

    There are several, and their keys name items. A record of one item has scores by names that we know.
    """
    wrapped = [inside for key, inside in value.items() if key.lower() in _OF_SYSTEM and isinstance(inside, dict)]
    about = {key: inside for key, inside in value.items() if not isinstance(inside, dict | list)}
    own = any(names_anything(key) and isinstance(one, str) for key, one in about.items())
    if own or len(wrapped) != 1 or 1 + len(about) < len(value):
        return {}
    (inside,) = wrapped
    return {} if len(inside) < _SEVERAL or any(map(names_anything, inside)) else inside


def _is_record(value: Any) -> bool:
    """Whether an object is a row: one of its keys is a name of systems, items or scores, and no list or object."""
    return isinstance(value, dict) and any(
        names_anything(key) and isinstance(inside, _SCALAR) for key, inside in value.items()
    )


def _constants(value: Mapping[str, Any], but: Collection[str]) -> Record:
    """What an object says beside these keys, without lists."""
    rest = {key: inside for key, inside in value.items() if key not in but}
    return {name: cell for name, cell in _flat(rest, "").items() if isinstance(cell, _SCALAR)}


def _flat(record: Mapping[str, Any], place: str) -> Record:
    """A record with dotted names for what is nested; a list stays one cell."""
    flat: Record = {}
    left = [(name, cell, 1) for name, cell in reversed([*record.items()])]
    while left:
        name, cell, depth = left.pop()
        if depth > _DEEPEST:
            raise InputError(f"{place}: objects are nested too deeply")
        if isinstance(cell, dict):
            left += [(f"{name}.{inner}", inside, depth + 1) for inner, inside in reversed([*cell.items()])]
            continue
        if name in flat:
            raise InputError(f"{place}: two keys are '{name}', with and without nesting")
        flat[name] = cell
    return flat


def _check_text(text: object, place: str) -> None:
    """Raise a ValueError where a text has halves of characters, as JSON may write them."""
    if isinstance(text, str) and not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{place}: texts must be of whole characters (UTF-8), unlike {text[:60]!a}") from None


def _kind(value: Any) -> str:
    known = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return known.get(type(value), "a number")


def _dotted(keys: Sequence[str]) -> str:
    return ".".join(keys)
