"""Columns that say which items depend on each other, whatever they are called: document, user, repository, question.

A table of items may have such a column under another name than ``cluster``. Its values are then taken as the clusters
that tests resample as wholes, and a note says so:

- its name is one of `NAMES`, in any case and with or without "id", "key" or "name" behind it: ``doc_id``, ``User``;
- some value comes again, there are at least two values, and no item lacks one;
- nothing else is said: a column ``cluster`` (``columns={"cluster": "doc"}`` names it) goes first, a column that
  ``columns`` makes the ``domain`` is no cluster, and ``unit="item"`` tests items one by one.

Of several columns it is the one whose name comes first in `NAMES`. A note names those that are not taken, and says why,
but for columns in which no value comes again.
"""

from __future__ import annotations

import pandas as pd

from simstudy.loaders.tables import any_spelling
from simstudy.notes import note

#: What columns of clusters are called: those whose clusters hold others of these come first.
NAMES = (
    "cluster", "user", "speaker", "author", "patient", "repository", "repo", "project", "book", "document", "doc",
    "article", "story", "session", "conversation", "dialogue", "dialog", "thread", "passage", "paragraph", "image",
    "video", "question", "problem",
)  # fmt: skip

_NAME = any_spelling(NAMES, ("id", "key", "name"))


def names_clusters(column: object) -> bool:
    """Whether a column has a name of clusters, in whatever spelling.

    Examples
    --------
    >>> names_clusters("doc_id"), names_clusters("Repository"), names_clusters("doctor"), names_clusters("domain")
    (True, True, False, False)
    """
    return _NAME.fullmatch(str(column)) is not None


def clustered(items: pd.DataFrame) -> pd.DataFrame:
    """The items with a column ``cluster``, where they have none and another column says which depend on each other.

    Parameters
    ----------
    items
        A row for each item.

    Examples
    --------
    >>> from simstudy.notes import notes_kept
    >>> with notes_kept() as notes:
    ...     items = clustered(pd.DataFrame({"id": ["1", "2", "3"], "doc": ["a", "a", "b"]}))
    >>> items["cluster"].tolist(), notes[0].partition(", which")[0]
    (['a', 'a', 'b'], "items of one 'doc' are a cluster, 2 in all")
    """
    if "cluster" in items:
        return items
    taken = None
    for name in sorted(filter(names_clusters, items), key=_place):
        labels = items[name].astype(str).str.strip()
        lacking = items[name].isna() | (labels == "")
        n = labels.nunique()
        if n == len(labels):
            continue
        if taken:
            note(f"'{name}' is not taken as a cluster: '{taken}' is")
        elif lacking.any():
            note(f"'{name}' is not taken as a cluster: item '{items['id'][lacking].iloc[0]}' has none")
        elif n == 1:
            note(f"'{name}' is not taken as a cluster: all items have '{items[name].iloc[0]}'")
        else:
            taken = name
            note(
                f"items of one '{name}' are a cluster, {n:,} in all, which is tested as a whole unless unit='item'; "
                "columns={'cluster': ...} names another column"
            )
    return items if taken is None else items.assign(cluster=items[taken])


def _place(column: object) -> int:
    """Where the name of clusters that a column has is in `NAMES`."""
    found = _NAME.fullmatch(str(column))
    return NAMES.index(found[1].lower()) if found else len(NAMES)
