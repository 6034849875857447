"""Advice on tables that are not as they must be: a cell that is no score, or a system that has an item twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.column_names import joins_that_tell
from simstudy.loaders.items import HINT
from simstudy.loaders.tables import BLANK, Where, first_of, how_to_write, numbers
from simstudy.loaders.usual_names import plain
from simstudy.metrics.base import IntArray
from simstudy.outputs.item_columns import names_clusters
from simstudy.text.reprs import listed
from simstudy.validation import InputError

# A column of which more than this share are numbers has scores.
_MOST = 0.5

# How columns are called that number samples, name those who judge, and name metrics.
_SAMPLES = {"k", "seed", "run", "trial", "attempt", "draw", "generation"}
_JUDGES = {"judge", "judge_model", "annotator", "rater", "worker", "worker_id", "evaluator"}
_METRICS = {"metric", "metric_name", "measure", "scorer"}


def check_numbers(frame: pd.DataFrame, system: str, rows: IntArray, where: Where, systems: Iterable[str]) -> None:
    """Raise a ValueError for the first of a system's cells, those in `rows`, that is no number.

    If the column has other words than scores, all those of the `systems` that do are named.
    """
    cells = frame[system].iloc[rows]
    wrong = np.isnan(numbers(cells))
    if (i := first_of(wrong)) is None:
        return
    place, cell = where(rows[i]), cells.iloc[i]
    _check_battles(frame, place)
    written = how_to_write(cell)
    if written and all(map(how_to_write, cells[wrong].unique())):
        raise InputError(f"{place}: a score of system '{system}' must be a number, not '{cell}'{written}")
    if wrong.mean() < _MOST:
        raise InputError(
            f"{place}: a score of system '{system}' must be a number, not '{cell}': leave the cell empty and choose "
            "missing='drop' or missing='zero', or write 0"
        )
    words = [name for name in systems if name in frame and _has_words(frame[name])] or [system]
    one = len(words) == 1
    own = ", ".join(f"'{name}': '{name}'" for name in words)
    named = listed([f"'{name}'" for name in words], 12)
    advice = f"columns={{{own}}} makes {'it a column' if one else 'them columns'} of the items"
    if one and frame["item"].duplicated().any():
        # Rows come again for each system.
        advice += f"; if it names systems, say columns={{'system': '{system}', 'score': 'NAME'}}"
    used = f"column {named} is used as a system, but has" if one else f"columns {named} are used as systems, but have"
    raise InputError(f"{place}: {used} '{cell}'{written}; {advice}")


def _has_words(cells: pd.Series) -> bool:
    """Whether most cells of a column, those that are empty aside, are no numbers."""
    there = cells[cells.notna() & ~cells.isin(BLANK)]
    return bool(len(there)) and float(np.isnan(numbers(there)).mean()) >= _MOST


def _check_battles(frame: pd.DataFrame, place: str) -> None:
    """Raise a ValueError where two columns name models, as in tables of preferences."""
    known = {plain(name): str(name) for name in frame}
    if not {"model_a", "model_b"} <= {*known}:
        return
    others = [name for name in frame if plain(name) not in ("item", "model_a", "model_b") and _has_words(frame[name])]
    winner = others[0] if len(others) == 1 else "NAME"
    two = "".join(f"'{name}': '{known[name]}', " for name in ("model_a", "model_b") if known[name] != name)
    raise InputError(
        f"{place}: the columns 'model_a' and 'model_b' name the systems of a comparison: "
        f"metric='bradley_terry' and columns={{{two}'winner': '{winner}'}} say which of the two is better"
    )


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
