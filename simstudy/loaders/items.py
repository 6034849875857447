"""The table of a test set's items, for formats whose items have an order but no names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from simstudy.loaders.base import Source
from simstudy.loaders.tables import no_column, read_table

#: Columns that tests and analyses go by: no cell of theirs may be empty.
KEYS = ("id", "domain", "cluster")


def read_items(source: Source, n: int) -> pd.DataFrame | None:
    r"""The table of a source's items, row i for item i; None where the source has none.

    Parameters
    ----------
    source
        Its `items` is a table as `read_table` reads it; `columns` renames columns, as {"cluster": "doc"}; all others
        keep their names.
    n
        How many items there are.

    Returns
    -------
    pd.DataFrame
        (n, …) with a column ``id`` in front: the file's, or "1" … "n" where it has none.

    Raises
    ------
    ValueError
        Where the file has no n rows, ``id``, ``domain`` or ``cluster`` is renamed from a column that is not there, or
        a cell of these is empty, or an id occurs twice; and as `read_table`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from simstudy.metrics import get_metric
    >>> path = Path(mkdtemp()) / "items.tsv"
    >>> _ = path.write_text("doc\tgenre\nd1\tnews\nd1\tnews\n")
    >>> read_items(Source((), get_metric("bleu"), items=path, columns={"cluster": "doc"}), 2).to_dict("list")
    {'id': ['1', '2'], 'genre': ['news', 'news'], 'cluster': ['d1', 'd1']}
    """
    if source.items is None:
        return None
    path = source.items
    table, _ = read_table(path)
    if len(table) != n:
        raise ValueError(f"{path} has {len(table):,} rows, but there are {n:,} items")
    table = _renamed(table, source.columns, path)
    for key in KEYS:
        if key in table:
            table[key] = table[key].astype(str)
            empty = table[key].str.strip() == ""
            if empty.any():
                raise ValueError(f"{path}, {table.index.name} {table.index[empty][0]}: no {key}")
    if "id" not in table:
        table = table.assign(id=[str(i) for i in range(1, n + 1)])
    twice = table["id"].duplicated()
    if twice.any():
        where = f"{path}, {table.index.name} {table.index[twice][0]}"
        raise ValueError(f"{where}: item '{table['id'][twice].iloc[0]}' occurs twice")
    return table[["id", *table.columns.drop("id")]].reset_index(drop=True)


def _renamed(table: pd.DataFrame, columns: Mapping[str, str], path: Path) -> pd.DataFrame:
    """The table with our names of columns; a column may get two."""
    for ours in KEYS:
        if ours in columns and columns[ours] not in table:
            no_column(path, columns[ours], table.columns)
    named = {ours: table[theirs] for ours, theirs in columns.items() if theirs in table}
    others = table.drop(columns=[columns[ours] for ours in named])
    for ours in named:
        if ours in others:
            raise ValueError(f"{path} has a column '{ours}' of its own: '{columns[ours]}' cannot take its name")
    return others.assign(**named)
