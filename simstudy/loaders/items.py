"""What is known of a test set's items: what the files say, and what a table of the items adds.

Samples: where a system has several rows of an item, something must number them: the epoch of a log, or a column of a
table that is called ``sample`` (``columns={"sample": "k"}`` names it) or has another name in `NUMBERS`
(`simstudy.loaders.usual_names`). Each sample is then an item of its own, called ``<item>#<sample>``, and the item is
its ``cluster``, unless items have clusters already. Rows that nothing numbers are refused: they may as well be scores
by several metrics, or a file given twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from simstudy.loaders.base import Source
from simstudy.loaders.clusters import clustered
from simstudy.loaders.column_names import ROW, usual_items, with_joined
from simstudy.loaders.reading import read_lines
from simstudy.loaders.tables import JSON, Where, check_plain, coded, ending, first_of, no_column, places, read_table
from simstudy.notes import note
from simstudy.outputs.item_columns import names_clusters
from simstudy.outputs.samples import SAMPLE_OF
from simstudy.outputs.tables import SAMPLES
from simstudy.text.numerals import counted
from simstudy.validation import InputError

# Columns that tests and analyses go by: no cell of theirs may be empty. Of others, `Outputs.labels` sees to it.
_KEYS = ("id", "domain", "cluster")

# What `Source.columns` may say of a format's own files: a table of items need not have it.
_OF_FILES = ("system", "item", "score", "filter", "tag", "reference")

#: What to say of rows that nothing numbers.
HINT = (
    "several samples of a question need a column 'sample' with their numbers. Name it with columns={'sample': 'NAME'}, "
    "or use the order of the rows with columns={'sample': 'row'}"
)


def sample_id(item: str, sample: object) -> str:
    """The id of a sample of an item."""
    return f"{item}#{sample}"


def numbered(n: int) -> pd.DataFrame:
    """Items that have an order but no names: their ids are "1" … "n"."""
    return pd.DataFrame({"id": [str(i) for i in range(1, n + 1)]})


def items_by_id(source: Source, known: pd.DataFrame, found: Iterable[str] = ()) -> pd.DataFrame:
    """What is known of items that have ids, in their order; what the source's table says goes first.

    The table needs a column ``id`` (or what `Source.columns` calls ``id`` or ``item``); its rows may be in any order,
    and more of them. Columns whose names of ours are in `found` are in other files: the table need not have them.
    """
    if source.items is None:
        return clustered(known, _in_names(source))
    table = read_table(source.items)
    key = source.columns.get("id", source.columns.get("item", "id"))
    table = with_joined(table, source.columns, source.items, places(table, source.items))
    if key == ROW and key not in table:
        table = table.assign(**{key: [str(row) for row in range(1, len(table) + 1)]})
    if key == "id" and "id" not in table and (usual := usual_items(table)):
        key = usual
        note("text", text=f"{source.items}: simstudy uses {key} as id. To change this, use columns={{'id': 'NAME'}}.")
    if key not in table:
        no_column(source.items, key, table.columns, "Items are matched by it. Name it with columns={'id': 'NAME'}.")
    if "+" in key and key != "id":
        # It is a part of the ids.
        table = table.drop(columns="id", errors="ignore")
    table = _named(table, source, key, found)
    table = table.assign(id=table["id"].astype(str))
    _check_ids(table["id"], places(table, source.items))
    there = set(table["id"])
    lacking = [item for item in known["id"] if item not in there]
    if lacking:
        of = counted(len(known), "item")
        raise InputError(f"{source.items} lacks {len(lacking)} of {of}, first '{lacking[0]}'")
    return _together(table.set_index("id").loc[known["id"]].reset_index(), known, source)


def items_in_order(source: Source, known: pd.DataFrame, *, named: bool = False) -> pd.DataFrame:
    """What is known of items that have an order; what the source's table says goes first.

    Row i of the table is item i; rows whose ids are those of the items in another order go by them. Where the ids of
    the items are names (`named`), the table's own ids must be the same. Else they are numbers (`numbered`), and the
    items take the table's ids where it has any.
    """
    if source.items is None:
        return clustered(known, _in_names(source))
    path, n = source.items, len(known)
    table = _without_header(path, n)
    if table is None:
        table = read_table(path)
        table = with_joined(table, source.columns, path, places(table, path))
    if len(table) != n:
        verb = "is" if n == 1 else "are"
        raise InputError(f"{path} has {counted(len(table), 'row')}, but there {verb} {counted(n, 'item')}")
    table = _named(table, source)
    where = places(table, path)
    for key in _KEYS:
        if key in table:
            table = table.assign(**{key: table[key].astype(str)})
            if (row := first_of(table[key].str.strip() == "")) is not None:
                raise InputError(f"{where(row)}: no {key}")
    own = known["id"].tolist()
    if "id" not in table:
        table = table.assign(id=own)
    coded(table["id"], "id", where)
    _check_ids(table["id"], where)
    unlike = set(own).symmetric_difference(table["id"])
    if unlike and named:
        raise InputError(f"{path} must have the ids of the items; '{min(unlike)}' is in one of them only")
    table = table[["id", *table.columns.drop("id")]]
    table = table.reset_index(drop=True) if unlike else table.set_index("id").loc[own].reset_index()
    return _together(table, known, source)


def _without_header(path: Path, n: int) -> pd.DataFrame | None:
    """The table of a file with a line for each of n items and no header; None where it is no such file.

    One column is of clusters, as the files of documents beside many test sets of translation; two, between tabs or in
    a .csv file between commas, are of domains and clusters. If the second numbers the items of the first (document and
    segment), the first is of clusters.
    """
    kind = ending(path)
    if kind in (".parquet", *JSON):
        return None
    lines = read_lines(path)
    rows = [line.split("," if kind == ".csv" else "\t") for line in lines]
    widths = {len(row) for row in rows}
    if len(rows) != n or widths not in ({1}, {2}) or any('"' in cell for row in rows for cell in row):
        if kind in (".csv", ".tsv"):
            return None
        raise InputError(
            f"{path} must be a table (.csv, .tsv, .json, .parquet), or have a line for each of {counted(n, 'item')}: a "
            f"document, or a domain, a tab and a document; it has {counted(len(lines), 'line')}"
        )
    if any(names_clusters(cell) or cell.strip() in (*_KEYS, *_OF_FILES) for cell in rows[0]):
        return None
    names = ["cluster"] if widths == {1} else ["domain", "cluster"]
    why = ""
    if widths == {2} and len({tuple(row) for row in rows}) == n > len({row[0] for row in rows}):
        names = ["cluster", "segment"]
        why = ": no value of the second column comes again within one of the first"
    note(
        "text",
        text=f"{path} has no header. simstudy uses its lines as {' and '.join(names)} of the items, in order{why}.",
    )
    index = pd.Index(range(1, n + 1), name="line")
    return pd.DataFrame([[cell.strip() for cell in row] for row in rows], columns=names, index=index)


def _together(table: pd.DataFrame, known: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Rows of the same items: the table's columns, and those that only the files have."""
    return clustered(table.join(known[[name for name in known if name not in table]]), _in_names(source))


def _in_names(source: Source) -> frozenset[str]:
    """The columns that are the items' names, or are joined into these."""
    joined = [source.columns[key] for key in ("item", "id") if key in source.columns]
    return frozenset(part.strip() for theirs in joined for part in theirs.split("+"))


def _check_ids(ids: pd.Series[str], where: Where) -> None:
    if (row := first_of(ids.duplicated())) is not None:
        raise InputError(f"{where(row)}: item '{ids.iloc[row]}' occurs twice; {SAMPLES}")


def _named(table: pd.DataFrame, source: Source, key: str | None = None, found: Iterable[str] = ()) -> pd.DataFrame:
    """A table of items under our names of columns, `key` as ``id``; a column may get two."""
    path = source.items
    for name in table:
        check_plain(table[name], name, places(table, path))
    own = {*_OF_FILES, *source.metric.statistics}
    columns = {ours: theirs for ours, theirs in source.columns.items() if ours.partition("@")[0] not in own}
    columns |= {"id": key} if key else {}
    for ours, theirs in columns.items():
        if theirs not in table and ours not in found:
            no_column(path, theirs, table.columns)
    named = {ours: table[theirs] for ours, theirs in columns.items() if theirs in table}
    others = table.drop(columns=[columns[ours] for ours in named])
    for ours in named:
        if ours in others:
            raise InputError(f"{path} has a column '{ours}' of its own: '{columns[ours]}' cannot take its name")
    return others.assign(**named)


def of_samples(items: pd.DataFrame, samples: Mapping[str, str]) -> pd.DataFrame:
    """A row for each sample (id of a sample -> id of its item), with what is known of the item."""
    own = list(samples.values())
    table = items.set_index("id").loc[own].reset_index()
    return table.assign(id=list(samples), **({} if "cluster" in table else {"cluster": own}), **{SAMPLE_OF: own})
