"""Advice for a system that has an item twice: the names of the table's other columns tell what its rows may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from simstudy.loaders.column_names import joins_that_tell
from simstudy.loaders.items import HINT
from simstudy.loaders.usual_names import plain

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
    # Logs often have such columns with one value in all rows of an item.
    rows = frame[[*others]].astype(str).groupby([[*systems], [*items]])
    told = [str(name) for name, several in (rows.nunique() > 1).any().items() if several]
    named = {plain(theirs): theirs for theirs in (columns.get(name, name) for name in told)}
    metric, judge, sample = (
        next((theirs for name, theirs in named.items() if name in known), None)
        for known in (_METRICS, _JUDGES, _SAMPLES)
    )
    if metric is not None:
        return f"column '{metric}' names metrics: keep the rows of one of them"
    if judge is not None:
        return f"if the rows are judgments of one item, columns={{'item': '{judge}+{item}', 'cluster': '{item}'}}"
    found = f"if the rows are samples of one question, columns={{'sample': '{sample}'}}; else " if sample else ""
    if column := joins_that_tell(frame, systems, items, others):
        theirs = columns.get(column, column)
        return (
            f"{found}{HINT}; if ids come again in each '{theirs}', columns={{'item': '{theirs}+{item}'}} joins them, "
            f"or where an id is the same item in each, columns={{'item': '{theirs}+{item}', 'cluster': '{item}'}}"
        )
    return f"{found}{HINT}"
