"""Descriptions of items and systems: those in files of outputs, and tables of `--items` and `--systems`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.notes import Argument, Note, Words, kind_of, note
from simstudy.outputs import Outputs, check_outputs
from simstudy.outputs.frames import complete_systems
from simstudy.readers.columns import (
    NO_NAMES,
    OURS,
    ROW,
    USUAL,
    first_named,
    first_of,
    item_column,
    joined,
    no_column,
    numbers,
    on_one_line,
    place,
    placed,
    plain,
)
from simstudy.readers.request import Request, column
from simstudy.readers.tables import JSON, TABLES, ending, read_table
from simstudy.readers.text_files import read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError, check_path, nearest

# Our names whose columns a table of the items needs not have: they are of the files of outputs.
_OF_FILES = ("system", "item", "sample", "n_samples", "score", "gold", "predicted", "filter", "tag", "reference")

# Columns that may number the rows.
_ROW_NUMBERS = ("id", "index", "idx", "unnamed:_0")

# Clusters of one item each are noted from so many items on: there is little to resample in fewer.
_FEWEST_NOTED = 5

# Kinds of notes that say what the clusters are.
_ON_CLUSTERS = ("clusters of items", "clusters of domains", "clusters across domains", "clusters not used")


def described(items: pd.DataFrame, numbered: bool, request: Request) -> pd.DataFrame:
    """The items (a column ``id``) with what the request's table says of them, and with clusters that are one domain's.

    Items that are `numbered` have an order but no ids: row i of the table is item i, and its ids are theirs.
    """
    if request.items is not None:
        items = _with_table(items, numbered, request.items, request)
    return _in_domains(items)


def for_unit(notes: Iterable[str], unit: str | None) -> tuple[str, ...]:
    """The notes; those on clusters say what tests resample instead, if another unit is asked for."""
    if unit in (None, "cluster"):
        return tuple(notes)
    kept = []
    for text in notes:
        kind = kind_of(text)
        if kind == "samples of questions" and unit == "item":
            text = Note("samples as items", text.fields)  # type: ignore[attr-defined]
        elif kind == "clusters of items":
            text = Note("clusters not used", {**text.fields, "unit": unit})  # type: ignore[attr-defined]
        if kind != "repositories":
            kept.append(text)
    return tuple(kept)


def notes_of(outputs: Outputs, notes: Sequence[Note]) -> tuple[Note, ...]:
    """The notes on all items that hold for these: none on clusters if no two of these share one."""
    alone = "cluster" in outputs.items and outputs.items["cluster"].is_unique
    return tuple(note for note in notes if not (alone and kind_of(note) in _ON_CLUSTERS))


def _with_table(items: pd.DataFrame, numbered: bool, path: Path, request: Request) -> pd.DataFrame:
    """The items with the columns of the table, which may have more items.

    Rows are matched by ids. Row i is item i if items are numbered, unless the table has the same ids in another order.
    """
    table = _lines(items, path, request) if numbered else None
    if table is None:
        table = joined(placed(read_table(path), path), request.columns, path)
    if numbered and len(table) != len(items):
        rule = f"must have a row for each of {counted(len(items), 'item')}, but {path} has {counted(len(table), 'row')}"
        raise InputError("items", rule)
    key = request.columns.get("id", request.columns.get("item", "id" if numbered or "id" in table else ""))
    if key == ROW and key not in table:
        table = table.assign(**{ROW: [str(row) for row in range(1, len(table) + 1)]})
    key = key or item_column(table) or "id"
    if key not in table and not numbered:
        remedy = Words("items are matched by it; name it with {named}", named=column("id"))
        no_column(path, key, table.columns, remedy)
    table = _under_our_names(table, key if key in table else None, request, items)
    if "id" in table:
        _check_ids(table)
    if "id" not in table or (numbered and {*table["id"]} != {*items["id"]}):
        if (name := first_named(table, _ROW_NUMBERS)) is not None:
            check_row_numbers(name, table[name], path)
        ids = {"id": table["id"].to_numpy()} if "id" in table else {}
        return _added(items.assign(**ids), table)
    rows = pd.Index(table["id"]).get_indexer(pd.Index(items["id"]))
    if (lacking := items["id"][rows < 0]).size:
        rule = f"{path} lacks {len(lacking)} of {counted(len(items), 'item')}, first '{lacking.iloc[0]}'"
        raise InputError("items", "must have a row for each item", remedy=rule)
    return _added(items, table.iloc[rows])


def _lines(items: pd.DataFrame, path: Path, request: Request) -> pd.DataFrame | None:
    """The table of a file without a header: as many lines as items, each a document, or a domain and a document.

    None if the file is a table: it has a line more, or further columns.
    """
    kind = ending(path)
    if kind in (".parquet", *JSON):
        return None
    rows = [line.split("," if kind == ".csv" else "\t") for line in read_lines(path)]
    widths = {len(row) for row in rows}
    if kind in TABLES and {plain(cell) for cell in rows[0]} & {*OURS, *USUAL["cluster"], *request.columns.values()}:
        return None
    if len(rows) != len(items) or widths not in ({1}, {2}):
        if kind in TABLES:
            return None
        rule = f"must be a table ({', '.join(TABLES)}) or have a line for each of {counted(len(items), 'item')}"
        remedy = f"a line is a document, or a domain, a tab and a document; {path} has {counted(len(rows), 'line')}"
        raise InputError("items", rule, remedy=remedy)
    names = ["cluster"] if widths == {1} else ["domain", "cluster"]
    note("items without a header", path=path, columns=" and ".join(names))
    index = pd.RangeIndex(1, len(rows) + 1, name="line")
    return placed(pd.DataFrame([[cell.strip() for cell in row] for row in rows], index, names), path)


def _under_our_names(table: pd.DataFrame, key: str | None, request: Request, items: pd.DataFrame) -> pd.DataFrame:
    """The table under our names of columns, `key` as ``id``; a column may get two names, or be of the items already."""
    names = {ours: name for ours, name in request.columns.items() if ours.partition("@")[0] not in _OF_FILES}
    named = {ours: table[name] for ours, name in names.items() if name in table and ours != "id"}
    for ours, name in names.items():
        is_needed = ours not in OURS or ours in ("cluster", "domain", "factor")
        if is_needed and name not in table and ours not in items:
            no_column(request.items, name, table.columns)
    if "cluster" not in {*named, *table} and (cluster := first_named(table, USUAL["cluster"])) and cluster != key:
        named["cluster"] = table[cluster]
        n = counted(table[cluster].nunique(), "cluster")
        note("clusters of items", column=cluster, clusters=n, items=Argument("unit", "item"))
    ids = {} if key is None else {"id": table[key].astype(str).map(on_one_line)}
    aside = {key, *names.values(), *named, *ids}
    others = {str(name): table[name] for name in table if name not in aside}
    return pd.DataFrame({**ids, **others, **named}, index=table.index)


def _check_ids(table: pd.DataFrame) -> None:
    for name in ("id", "domain", "cluster"):
        if name in table and (row := first_of(table[name].astype(str).str.strip().isin(NO_NAMES))) is not None:
            raise InputError(f"no {name}", at=place(table, row))
    if (row := first_of(table["id"].duplicated())) is not None:
        raise InputError(f"item '{table['id'].iloc[row]}' comes again", at=place(table, row))


def check_row_numbers(name: str, cells: pd.Series[Any], path: Path) -> None:
    """Raise an InputError if a column numbers the rows of a table, as pandas writes its index, in another order."""
    order = numbers(cells)
    if np.array_equal(np.sort(order), np.arange(len(order)) + order.min(initial=np.inf)) and (np.diff(order) < 0).any():
        rule = f"'{name}' numbers the rows, which are in another order, and lines of text go by their order"
        raise InputError(rule, remedy="sort the rows by it, or take it out", at=path)


def _added(items: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The items with the table's columns, which go before those of the files."""
    table = table.drop(columns="id", errors="ignore").reset_index(drop=True)
    kept = items[[name for name in items if name not in table]].reset_index(drop=True)
    return pd.concat([kept, table], axis=1)


def _in_domains(items: pd.DataFrame) -> pd.DataFrame:
    """Items whose clusters belong to one domain: document 1 of the news and document 1 of the web are two clusters.

    If no two items of a domain share a cluster, the clusters are parallel items of several domains, and stay one.
    """
    if "cluster" not in items:
        return items
    clusters = items["cluster"]
    if len(clusters) >= _FEWEST_NOTED and clusters.notna().all() and clusters.astype(str).is_unique:
        note("clusters of one item")
    if "domain" not in items or items[["domain", "cluster"]].isna().any(axis=None):
        return items
    pairs = items[["domain", "cluster"]].astype(str).drop_duplicates()
    again = pairs["cluster"].duplicated()
    if not again.any():
        return items
    name = pairs["cluster"][again].iloc[0]
    first, other = pairs["domain"][pairs["cluster"] == name].iloc[:2]
    if len(pairs) == len(items):
        note("clusters across domains", cluster=name, first=first, other=other)
        return items
    note("clusters of domains", n=len(pairs), names=pairs["cluster"].nunique(), cluster=name, first=first, other=other)
    return items.assign(cluster=items["domain"].astype(str) + "/" + items["cluster"].astype(str))


# Systems -------------------------------------------------------------------------------------------------------------
def describe_systems(outputs: Outputs, table: pd.DataFrame | str | Path) -> Outputs:
    """The same Outputs, with a table that describes their systems. A note names systems that the table lacks.

    Parameters
    ----------
    outputs
        K systems.
    table
        A row a system, with a column ``system`` (or ``name``) and any others: family, group, base_model,
        combination … A path is read by `read_systems`. Rows of other systems are left out.

    Raises
    ------
    InputError
        If the table has no such column, names a system twice, or names none of the systems.

    Examples
    --------
    >>> outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0], "b": [1, 1]}))
    >>> table = pd.DataFrame({"system": ["a", "b", "c"], "group": ["NLP lab", "NLP lab", "others"]})
    >>> describe_systems(outputs, table).systems["group"].tolist()
    ['NLP lab', 'NLP lab']
    """
    check_outputs("outputs", outputs)
    if not isinstance(table, pd.DataFrame):
        check_path("table (or a DataFrame)", table)
    source = "the systems table" if isinstance(table, pd.DataFrame) else str(table)
    rows = system_rows(table if isinstance(table, pd.DataFrame) else read_systems(Path(table)), source)
    in_table = {*rows["name"]}
    lacking = [name for name in outputs.names if name not in in_table]
    if len(lacking) == outputs.n_systems:
        rule = f"must have rows for the systems; it has none for '{lacking[0]}' and all others"
        raise InputError(source, f"{rule}{nearest(lacking[0], in_table)}")
    described = outputs.systems[["name", "source"]].merge(rows, on="name", how="left", suffixes=("_of_outputs", ""))
    extra = [c for c in outputs.systems.columns if c not in described and outputs.systems[c].notna().any()]
    described = complete_systems(pd.concat([described, outputs.systems[extra]], axis=1))
    if lacking:
        etc = " …" if len(lacking) > 1 else ""
        note("systems not described", source=source, n=len(lacking), all=outputs.n_systems, first=lacking[0], etc=etc)
    return replace(outputs, systems=described)


def system_rows(rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """A table of systems with their names in a column ``name``, each once."""
    key = next((name for name in ("system", "name") if name in rows), None)
    if key is None:
        raise InputError(source, f"must have a column 'system'; it has {', '.join(map(str, rows.columns))}")
    if key == "system":
        # A column "name" beside it is what people call the system, not what the outputs do.
        rows = rows.drop(columns="name", errors="ignore").rename(columns={key: "name"})
    again = rows["name"].astype(str).duplicated()
    if (row := first_of(rows["name"].isna() | again)) is not None:
        rule = f"system '{rows['name'].iloc[row]}' occurs twice" if again.iloc[row] else "no system"
        raise InputError(rule, at=f"{source}, {place(rows, row)}" if rows.index.name else source)
    return rows.assign(name=rows["name"].astype(str))


def read_systems(path: Path) -> pd.DataFrame:
    """A systems table from a file .csv, .tsv, .json or .parquet, whose index says where each row is.

    Text stays text: "01" is a name, and a group may be called "NA". Empty cells are what is not known.
    """
    rows = read_table(path)
    return rows.mask(rows.astype(object) == "")
