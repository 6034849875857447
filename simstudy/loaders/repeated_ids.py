"""Advice for a system that has an item twice: the names of the table's other columns tell what its rows may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.column_names import joins_that_tell
from simstudy.loaders.items import HINT
from simstudy.loaders.tables import numbers
from simstudy.loaders.usual_names import plain
from simstudy.outputs.item_columns import names_clusters

# How columns are called that number samples, name those who judge, and name metrics.
_SAMPLES = {"k", "seed", "run", "trial", "attempt", "draw", "generation"}
_JUDGES = {"judge", "judge_model", "annotator", "rater", "worker", "worker_id", "evaluator"}
_METRICS = {"metric", "metric_name", "measure", "scorer"}


def advice(
    frame: pd.DataFrame,
    systems: Sequence[int],
    items: Sequence[int],
    others: Sequence[str],
    columns: Mapping[str, str],
) -> str:
    """Advice that makes each row of a system one item, by the `others` of a table's columns.

    A row has the numbers of its system and item. `columns` has the file's own names, which people know.
    """
    item = columns.get("item", "item")
    # Logs often have columns with one value in all rows of an item: they tell no rows apart.
    several = frame[[*others]].astype(str).groupby([[*systems], [*items]]).nunique() > 1
    others = [str(name) for name, tells in several.any().items() if tells]
    named = {plain(theirs): theirs for theirs in (columns.get(name, name) for name in others)}
    metric, judge, sample = (
        next((theirs for name, theirs in named.items() if name in known), None)
        for known in (_METRICS, _JUDGES, _SAMPLES)
    )
    if metric is not None:
        return f"column '{metric}' names metrics: keep the rows of one of them"
    if judge is not None:
        return f"if the rows are judgments of one item, columns={{'item': '{judge}+{item}', 'cluster': '{item}'}}"
    samples = "if the rows are samples of one question, columns={{'sample': '{}'}}"
    column = joins_that_tell(frame, systems, items, others)
    theirs = columns.get(column, column)
    if sample is None and column and _numbers_samples(frame[column], systems, items):
        sample = theirs
    if sample is not None:
        return samples.format(sample)
    if column:
        # Samples of an item are one cluster, as items of one id are.
        return (
            f"if an id is another item in each '{theirs}', columns={{'item': '{theirs}+{item}'}} joins them; "
            + samples.format(theirs)
        )
    return HINT


def _numbers_samples(cells: pd.Series[Any], systems: Sequence[int], items: Sequence[int]) -> bool:
    """Whether a column has the numbers 0 … k - 1, or 1 … k, where a system has at most k rows of an item."""
    found = numbers(cells)
    if names_clusters(cells.name) or not (found == np.rint(found)).all() or found.min() not in (0, 1):
        return False
    most = pd.DataFrame({"system": list(systems), "item": list(items)}).value_counts().max()
    return bool(found.max() - found.min() == most - 1)
