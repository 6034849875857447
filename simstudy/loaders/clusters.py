"""Which items of a test set belong together: the clusters that tests resample as wholes.

A table of items may have a column of documents, users, questions and the like under another name than ``cluster``. Its
values are then taken as the clusters, and a note says so:

- its name is one of `simstudy.outputs.item_columns.CLUSTERS`, in any case and with or without "id", "key" or
  "name" behind it: ``doc_id``, ``User``;
- some value comes again, there are at least two values, and no item lacks one;
- it is no part of the items' names (``columns={"item": "subject+question_id"}``);
- nothing else is said: a column ``cluster`` (``columns={"cluster": "doc"}`` names it) goes first, a column that
  ``columns`` makes the ``domain`` is no cluster, and ``unit="item"`` tests items one by one.

The column whose name comes first in `CLUSTERS` is taken, if several fit. A note names those that are not taken, and
says why, but for columns in which no value comes again.

Clusters belong to one domain: document 1 of the news and document 1 of the web are two clusters, ``news/1`` and
``web/1``, and a note says so. They are one where no two items of a domain share a cluster: one item is of each domain.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from pandas.api.types import is_numeric_dtype

from simstudy.notes import note
from simstudy.outputs.item_columns import cluster_rank, names_clusters, note_single_items

if TYPE_CHECKING:
    from simstudy.outputs import Outputs

# How notes on clusters begin, and how the first goes on where nothing else is the resampling unit.
_CLUSTERED = re.compile(r"(items of one '(.*)' form a cluster)(?: \([\d,]+ clusters?\))?")
_SAMPLED = re.compile(r"(.* samples?\.) The samples of a question form one cluster\..*")
_ACROSS = "clusters have items of several domains"


def clustered(items: pd.DataFrame, in_names: Collection[str] = ()) -> pd.DataFrame:
    """The items with a column ``cluster``, where they have none and another column says which depend on each other.

    Clusters of two domains are two, whatever they are called. Columns that are part of the items' names (`in_names`)
    are no clusters: number 5 of each subject are different questions.
    """
    if "cluster" in items:
        found = _in_domains(items)
        note_single_items(found["cluster"])
        return found
    taken, clusters = None, pd.Series()
    for name in sorted(filter(names_clusters, items), key=cluster_rank):
        labels = items[name].astype(str).str.strip()
        lacking = items[name].isna() | (labels == "")
        n = _by_domain(items.assign(cluster=labels))["cluster"].nunique()
        if n == len(labels):
            continue
        if name in in_names:
            if n > 1 and not lacking.any():
                note(
                    "text",
                    text=f"'{name}' is not used as the cluster: it is part of the items' names; "
                    f"columns={{'cluster': '{name}'}} makes it one",
                )
        elif taken:
            note("text", text=f"'{name}' is not used as the cluster: '{taken}' is")
        elif lacking.any():
            note("text", text=f"'{name}' is not used as the cluster: item '{items['id'][lacking].iloc[0]}' has none")
        elif n == 1:
            note("text", text=f"'{name}' is not used as the cluster: all items have '{items[name].iloc[0]}'")
        else:
            # Numbers stay numbers: their order is that of the clusters.
            taken, clusters = name, items[name] if is_numeric_dtype(items[name]) else labels
            note(
                "text",
                text=(
                    f"items of one '{name}' form a cluster ({n:,} clusters). unit='item' treats each item as "
                    "independent. columns={'cluster': 'NAME'} names another column."
                ),
            )
    return items if taken is None else _in_domains(items.assign(cluster=clusters), str(taken))


def for_unit(notes: Iterable[str], unit: str | None) -> tuple[str, ...]:
    """The notes, where that on clusters says so if another resampling unit than the cluster is asked for."""
    if unit in (None, "cluster"):
        return tuple(notes)
    found = ((_CLUSTERED.match(text), text) for text in notes)
    said = (_with_unit(begins, unit) if begins else text for begins, text in found)
    alone = (
        r"\1 unit='item' makes each sample an item of its own. All tests, exact ones too, take items to be "
        "independent. The samples of a question are not, so p-values are too small."
    )
    return tuple(_SAMPLED.sub(alone, text) if unit == "item" else text for text in said)


def _with_unit(begins: re.Match[str], unit: str) -> str:
    """The note on clusters, and what tests resample instead of these."""
    if unit == begins[2]:
        # The number of clusters may be another one: these are not counted by domain.
        return f"{begins[1]}. Tests resample these clusters: the resampling unit is '{unit}'."
    instead = "unit='item' treats each item as independent" if unit == "item" else f"the resampling unit is '{unit}'"
    return f"{begins[0]}. Tests do not use these clusters: {instead}."


def units_first(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes, those first that say what the clusters are: they change what all numbers mean."""
    return tuple(sorted(notes, key=lambda text: _CLUSTERED.match(text) is None and " clusters" not in text))


def notes_of(outputs: Outputs, notes: Sequence[str]) -> tuple[str, ...]:
    """The notes on all items that hold for these: none on clusters where no two of these share one."""
    alone = "cluster" in outputs.items and outputs.items["cluster"].is_unique
    return tuple(note for note in notes if not (alone and (_CLUSTERED.match(note) or note.startswith(_ACROSS))))


def _in_domains(items: pd.DataFrame, column: str = "cluster") -> pd.DataFrame:
    """As `_by_domain` has it; a note tells of clusters whose names come again in another domain."""
    found = _by_domain(items)
    pairs = _pairs(items)
    again = pairs["cluster"].duplicated()
    if not again.any():
        return found
    name = pairs["cluster"][again].iloc[0]
    first, second = pairs["domain"][pairs["cluster"] == name].iloc[:2]
    if found is items:
        note("text", text=f"{_ACROSS}, such as {column} '{name}' of '{first}' and '{second}'")
        return found
    as_one = "" if column == "cluster" else f"; unit='{column}' makes them one"
    note(
        "text",
        text=(
            f"{len(pairs):,} clusters, not {pairs['cluster'].nunique():,}: {column} '{name}' of domain '{first}' and "
            f"that of '{second}' are two{as_one}"
        ),
    )
    return found


def _by_domain(items: pd.DataFrame) -> pd.DataFrame:
    """The items, with the domain in the names of clusters if some name comes again in another domain.

    Where no two items of a domain have one cluster, the names are of clusters across domains: parallel items.
    """
    pairs = _pairs(items)
    if pairs["cluster"].is_unique or len(pairs) == len(items):
        return items
    return items.assign(cluster=items["domain"].astype(str) + "/" + items["cluster"].astype(str))


def _pairs(items: pd.DataFrame) -> pd.DataFrame:
    """Each domain with each of its clusters; none where some item lacks either."""
    if "domain" not in items or items[["domain", "cluster"]].isna().any(axis=None):
        return pd.DataFrame({"domain": [], "cluster": []}, dtype=str)
    return items[["domain", "cluster"]].astype(str).drop_duplicates()
