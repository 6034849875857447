"""The names of columns that describe items: their clusters and domains. No column of these names is a system."""

from __future__ import annotations

from typing import Any

import pandas as pd

from simstudy.notes import note

#: Names of columns of clusters, whatever they hold; no other column is one unless a user says so.
CLUSTERS = ("cluster", "document", "document_id", "doc", "doc_id")

# Clusters of one item each are told of from so many items on: there is little to resample in fewer.
_FEWEST_NOTED = 5


def cluster_column(columns: pd.Index[Any]) -> Any | None:
    """The column with the first name of `CLUSTERS`, in any case; None if there is none."""
    names = {str(name).lower(): name for name in reversed([*columns])}
    return next((names[name] for name in CLUSTERS if name in names), None)


def note_single_items(clusters: pd.Series[Any]) -> None:
    """Tell that each item is a cluster of its own, if it is: then there are no clusters."""
    if len(clusters) >= _FEWEST_NOTED and clusters.notna().all() and clusters.astype(str).is_unique:
        note("clusters of one item")
