"""What is known of a test set's items: what the files of outputs say, and what a table of the items adds."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from simstudy.loaders.base import Source, counted
from simstudy.loaders.clusters import clustered
from simstudy.loaders.tables import Where, check_plain, coded, first_of, no_column, places, read_table
from simstudy.outputs.tables import SAMPLES

# Columns that tests and analyses go by: no cell of theirs may be empty. Of others, `Outputs.labels` sees to it.
_KEYS = ("id", "domain", "cluster")

# What `Source.columns` may say of a format's own files: a table of items need not have it.
_OF_FILES = ("system", "item", "score", "filter", "tag", "reference")


def numbered(n: int) -> pd.DataFrame:
    """Items that have an order but no names: their ids are "1" … "n"."""
    return pd.DataFrame({"id": [str(i) for i in range(1, n + 1)]})


def items_by_id(source: Source, known: pd.DataFrame, found: Iterable[str] = ()) -> pd.DataFrame:
    """What is known of items that have ids, in their order; what the source's table says goes first.

    The table needs a column ``id`` (or what `Source.columns` calls ``id`` or ``item``); its rows may be in any order,
    and more of them. Columns whose names of ours are in `found` are in other files: the table need not have them.
    Columns of documents, users and the like are taken as clusters (`simstudy.loaders.clusters`).
    """
    if source.items is None:
        return clustered(known)
    table = read_table(source.items)
    key = source.columns.get("id", source.columns.get("item", "id"))
    if key not in table:
        no_column(source.items, key, table.columns, "; items are matched by it: columns={'id': ...} names it")
    table = _named(table, source, key, found)
    table = table.assign(id=table["id"].astype(str))
    _check_ids(table["id"], places(table, source.items))
    there = set(table["id"])
    lacking = [item for item in known["id"] if item not in there]
    if lacking:
        of = counted(len(known), "item")
        raise ValueError(f"{source.items} lacks {len(lacking)} of {of}, first '{lacking[0]}'")
    return _together(table.set_index("id").loc[known["id"]].reset_index(), known)


def items_in_order(source: Source, known: pd.DataFrame, *, named: bool = False) -> pd.DataFrame:
    r"""What is known of items that have an order; what the source's table says goes first.

    Row i of the table is item i; rows whose ids are those of the items in another order go by them. Where the ids of
    the items are names (`named`), the table's own ids must be the same. Else they are numbers (`numbered`), and the
    items take the table's ids where it has any. Columns of documents, users and the like are taken as clusters
    (`simstudy.loaders.clusters`).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from simstudy.metrics import get_metric
    >>> path = Path(mkdtemp()) / "items.tsv"
    >>> _ = path.write_text("text\tgenre\nt1\tnews\nt1\tnews\n")
    >>> source = Source((), get_metric("bleu"), items=path, columns={"cluster": "text"})
    >>> items_in_order(source, numbered(2)).to_dict("list")
    {'id': ['1', '2'], 'genre': ['news', 'news'], 'cluster': ['t1', 't1']}
    """
    if source.items is None:
        return clustered(known)
    path, n = source.items, len(known)
    table = read_table(path)
    if len(table) != n:
        verb = "is" if n == 1 else "are"
        raise ValueError(f"{path} has {counted(len(table), 'row')}, but there {verb} {counted(n, 'item')}")
    table = _named(table, source)
    where = places(table, path)
    for key in _KEYS:
        if key in table:
            table = table.assign(**{key: table[key].astype(str)})
            if (row := first_of(table[key].str.strip() == "")) is not None:
                raise ValueError(f"{where(row)}: no {key}")
    own = known["id"].tolist()
    if "id" not in table:
        table = table.assign(id=own)
    coded(table["id"], "id", where)
    _check_ids(table["id"], where)
    unlike = set(own).symmetric_difference(table["id"])
    if unlike and named:
        raise ValueError(f"{path} must have the ids of the items; '{min(unlike)}' is in one of them only")
    table = table[["id", *table.columns.drop("id")]]
    return _together(table.reset_index(drop=True) if unlike else table.set_index("id").loc[own].reset_index(), known)


def _together(table: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Rows of the same items: the table's columns, and those that only the files have."""
    return clustered(table.join(known[[name for name in known if name not in table]]))


def _check_ids(ids: pd.Series[str], where: Where) -> None:
    if (row := first_of(ids.duplicated())) is not None:
        raise ValueError(f"{where(row)}: item '{ids.iloc[row]}' occurs twice; {SAMPLES}")


def _named(table: pd.DataFrame, source: Source, key: str | None = None, found: Iterable[str] = ()) -> pd.DataFrame:
    """A table of items under our names of columns, `key` as ``id``; a column may get two."""
    path = source.items
    for name in table:
        check_plain(table[name], name, places(table, path))
    own = {*_OF_FILES, *source.metric.statistics}
    columns = {ours: theirs for ours, theirs in source.columns.items() if ours not in own}
    columns |= {"id": key} if key else {}
    for ours, theirs in columns.items():
        if theirs not in table and ours not in found:
            no_column(path, theirs, table.columns)
    named = {ours: table[theirs] for ours, theirs in columns.items() if theirs in table}
    others = table.drop(columns=[columns[ours] for ours in named])
    for ours in named:
        if ours in others:
            raise ValueError(f"{path} has a column '{ours}' of its own: '{columns[ours]}' cannot take its name")
    return others.assign(**named)
