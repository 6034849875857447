"""The names of columns that describe items: clusters of them, samples, domains. No such column is a system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.notes import Argument, Words, note
from simstudy.validation import InputError

#: What columns of clusters are called: those whose clusters hold others of these come first.
CLUSTERS = (
    "cluster", "user", "speaker", "author", "patient", "repository", "repo", "project", "book", "document", "doc",
    "article", "story", "session", "conversation", "dialogue", "dialog", "thread", "passage", "paragraph", "image",
    "video", "question", "problem",
)  # fmt: skip

#: What columns are called that number the samples of an item.
NUMBERS = ("sample", "epoch", "repetition", "attempt", "trial")

# Clusters of one item each are told of from so many items on: there is little to resample in fewer.
_FEWEST_NOTED = 5

# Scores of fewer items may be 1, 2, 3, … by chance, and are in examples.
_FEWEST_NUMBERED = 10


def _any_spelling(names: Sequence[str], endings: Sequence[str]) -> re.Pattern[str]:
    """A pattern of columns with one of these names (its first group), in any case, with an ending or without."""
    return re.compile(rf"({'|'.join(names)})[ _.-]?(?:{'|'.join(endings)})?", re.IGNORECASE)


_CLUSTER = _any_spelling(CLUSTERS, ("id", "key", "name"))
_NUMBER = _any_spelling(NUMBERS, ("id", "idx", "index", "no", "number"))


def names_clusters(column: object) -> bool:
    """Whether a column has a name of clusters, in whatever spelling."""
    return _CLUSTER.fullmatch(str(column)) is not None


def names_samples(column: object) -> bool:
    """Whether a column has a name of samples, in whatever spelling."""
    return _NUMBER.fullmatch(str(column)) is not None


def cluster_rank(column: object) -> int:
    """The place in `CLUSTERS` of the name of clusters that a column has."""
    found = _CLUSTER.fullmatch(str(column))
    return CLUSTERS.index(found[1].lower()) if found else len(CLUSTERS)


def describes_items(column: object) -> bool:
    """Whether a column has a name of domains, clusters or samples."""
    return str(column) == "domain" or names_clusters(column) or names_samples(column)


def note_single_items(clusters: pd.Series[Any]) -> None:
    """Say so where each item is a cluster of its own: then there are no clusters."""
    if len(clusters) >= _FEWEST_NOTED and clusters.notna().all() and clusters.astype(str).is_unique:
        note("clusters of one item")


def check_not_row_numbers(origin: object, column: str, values: NDArray[Any]) -> None:
    """Raise an InputError if a column that is taken for a system has the numbers of the rows, from 0 or 1."""
    n = len(values)
    if n >= _FEWEST_NUMBERED and values[0] in (0, 1) and np.array_equal(values, np.arange(n) + values[0]):
        remedy = "leave it out, or say {columns} if it names the items"
        raise InputError(
            f"column '{column}'",
            f"has the numbers of the rows, {values[0]:.0f} to {values[-1]:,.0f}, and is no system",
            remedy=Words(remedy, columns=Argument("columns", {"item": column})),
            at=origin,
        )
