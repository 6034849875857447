"""The table of a test set's items, for formats whose items have an order but no names."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from simstudy.loaders.base import Source, counted
from simstudy.loaders.tables import item_columns, read_table

#: Columns that tests and analyses go by: no cell of theirs may be empty. Of others, `Outputs.labels` sees to it.
KEYS = ("id", "domain", "cluster")


def read_items(source: Source, n: int, ids: Sequence[str] | None = None) -> pd.DataFrame | None:
    r"""The table of a source's items, row i for item i; None where the source has none.

    Parameters
    ----------
    source
        Its `items` is a table as `read_table` reads it; `columns` renames columns, as {"cluster": "doc"}; all others
        keep their names.
    n
        How many items there are.
    ids
        Theirs, where they have names: the table's ids must be the same, in any order.

    Returns
    -------
    pd.DataFrame
        (n, …) with a column ``id`` in front: the file's, or `ids`, or "1" … "n" where it has none. Rows whose ids are
        these in another order go by them.

    Raises
    ------
    ValueError
        Where the file has no n rows, a cell of ``id``, ``domain`` or ``cluster`` is empty, an id is of several lines
        or occurs twice; and as `read_table` and `item_columns`.

    Examples
    --------
    >>> from pathlib import Path
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
        verb = "is" if n == 1 else "are"
        raise ValueError(f"{path} has {counted(len(table), 'row')}, but there {verb} {counted(n, 'item')}")
    table = item_columns(table, source)
    for key in KEYS:
        if key in table:
            table[key] = table[key].astype(str)
            empty = table[key].str.strip() == ""
            if empty.any():
                raise ValueError(f"{path}, {table.index.name} {table.index[empty][0]}: no {key}")
    own = list(ids) if ids is not None else [str(i) for i in range(1, n + 1)]
    if "id" not in table:
        table = table.assign(id=own)
    broken = table["id"].str.contains("[\r\n]")
    if broken.any():
        where = f"{path}, {table.index.name} {table.index[broken][0]}"
        raise ValueError(f"{where}: an item's name must be of one line, unlike {table['id'][broken].iloc[0]!r}")
    twice = table["id"].duplicated()
    if twice.any():
        where = f"{path}, {table.index.name} {table.index[twice][0]}"
        raise ValueError(f"{where}: item '{table['id'][twice].iloc[0]}' occurs twice")
    unlike = set(own).symmetric_difference(table["id"])
    if unlike and ids is not None:
        raise ValueError(f"{path} must have the ids of the references; '{min(unlike)}' is in one of them only")
    table = table[["id", *table.columns.drop("id")]]
    return table.reset_index(drop=True) if unlike else table.set_index("id").loc[own].reset_index()
