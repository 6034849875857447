"""Preferences between the answers of two systems, as arenas of language models collect them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.items import items_by_id, numbered
from simstudy.loaders.json_files import first_keys
from simstudy.loaders.tables import Where, coded, first_of, no_column, places, read_header, read_table, renamed
from simstudy.loaders.text_columns import ANSWERS, INPUTS, as_text, text_column
from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, IntArray
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.outputs.item_columns import names_clusters
from simstudy.outputs.texts import ItemTexts, PackedTexts
from simstudy.statistics.bradley_terry import meeting_parts, separated, strengths
from simstudy.text.numerals import counted
from simstudy.validation import InputError, check_choice

#: The metrics of preferences.
ARENA_METRICS = ("bradley_terry", "win_rate")

# Elo points of a logit: 400 points are odds of ten to one. The mean strength is 1,000.
_ELO, _MIDDLE = 400 / np.log(10), 1000.0

_COLUMNS = ("model_a", "model_b", "winner")
#: What the column of winners says beside the names of the systems: points of the first one.
_POINTS = {
    **dict.fromkeys(("model_a", "a", "left"), 1.0),
    **dict.fromkeys(("model_b", "b", "right"), 0.0),
    **dict.fromkeys(("tie", "tie (bothbad)", "both bad", "both_bad", "bothbad", "draw"), 0.5),
}
#: Columns that say which battles have one prompt: what is resampled.
_PROMPTS = ("question_id", "prompt_id", "qid", "prompt", "question", "item", "instance_id", "conversation_id")


def read_arena(source: Source) -> Loaded:
    """Systems from tables of battles with columns ``model_a``, ``model_b`` and ``winner``, a row for each battle.

    ``winner`` is model_a (or a), model_b (or b), tie (also "tie (bothbad)", draw), or the name of the winner. A tie is
    half a win. Battles are the items; those with the same prompt (``question_id``, ``prompt_id``, …) are a cluster,
    unless another column is named: ``{"cluster": "judge"}``.

    - "win_rate": the share of its battles that a system wins. It depends on the opponents that the system met.
    - "bradley_terry": strengths by maximum likelihood, in Elo points with mean 1,000. What is averaged over items is a
      battle's influence on the strength, so tests and intervals are those of the sandwich estimate.
    """
    check_choice("metric of preferences", source.metric.name, ARENA_METRICS)
    frames = [read_table(path) for path in source.paths]
    frame = pd.concat(frames, keys=map(str, source.paths), names=["file", frames[0].index.name])
    table = renamed(frame, source.columns)
    for name in _COLUMNS:
        if name not in table:
            no_column(source.paths[0], name, table.columns, f"Name it with columns={{'{name}': 'NAME'}}.")
    where = places(table, source.paths[0])
    (first, names_a), (second, names_b) = (coded(table[name], name, where) for name in _COLUMNS[:2])
    names = sorted({*names_a, *names_b})
    place = {name: k for k, name in enumerate(names)}
    first, second = np.array([place[n] for n in names_a])[first], np.array([place[n] for n in names_b])[second]
    if (row := first_of(first == second)) is not None:
        raise InputError(f"{where(row)}: model_a and model_b are both '{names[first[row]]}'")
    points = _points(table, first, second, place, where)
    if bothbad := int(table["winner"].astype(str).str.lower().str.contains("bad").sum()):
        note("text", text=f"{counted(bothbad, 'battle')} in which both answers were called bad are ties")
    if (row := first_of(np.isnan(points))) is not None:
        raise InputError(
            f"{where(row)}: winner must be model_a, model_b, tie, both_bad or the name of one of the two, not "
            f"{table['winner'].iloc[row]!r}"
        )
    items = items_by_id(source, _battles(table, points))
    if source.metric.name == "win_rate":
        statistics = np.zeros((len(names), len(table), 2))
        every = np.arange(len(table))
        statistics[first, every] = np.stack([points, np.ones_like(points)], axis=-1)
        statistics[second, every] = np.stack([1 - points, np.ones_like(points)], axis=-1)
        note("text", text="win rates depend on the opponents that a system met; metric='bradley_terry' allows for them")
    else:
        _check_mixed(first, second, points, names)
        beta = strengths(first, second, points, len(names))
        parts = meeting_parts(first, second, points, beta)
        scores = _MIDDLE + _ELO * (beta[:, None] + len(table) * parts)
        statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
    outputs = Outputs.from_statistics(statistics, METRICS[source.metric.name], names, items)
    return Loaded(outputs, texts=battle_texts(table, first, second, names) if source.keeps_texts else None)


def holds_battles(path: Path) -> bool:
    """Whether a table, or JSON, has the columns of battles."""
    return _has(path, {*_COLUMNS})


def declares_battles(source: Source) -> bool:
    """Whether `Source.columns` name columns of battles; "winner" alone may be another column of a table of scores."""
    named = source.columns.keys() & {*_COLUMNS}
    if named != {"winner"}:
        return bool(named)
    wanted = {source.columns.get(name, name) for name in _COLUMNS}
    return all(_has(path, wanted) for path in source.paths)


def _has(path: Path, wanted: set[str]) -> bool:
    return wanted <= ({*read_header(path)} or first_keys(path))


def _points(table: pd.DataFrame, first: Array, second: Array, place: Mapping[str, int], where: Where) -> Array:
    """Points of the first system of each battle; NaN where the winner is not known. Systems have a `place` each."""
    said, winners = coded(table["winner"], "winner", where)
    listed = np.array([_POINTS.get(winner.strip().lower(), np.nan) for winner in winners])
    points = np.asarray(listed[said])
    named = np.array([place.get(winner, -1) for winner in winners])[said]
    points[named == first] = 1.0
    points[named == second] = 0.0
    return points


def _battles(table: pd.DataFrame, points: Array) -> pd.DataFrame:
    """The battles as items: who met, what the first got, and which have one prompt."""
    n = len(table)
    items = numbered(n)
    for name in ("model_a", "model_b"):
        items[name] = table[name].astype(str).to_numpy()
    items["points_a"] = points
    for column in table:
        if column in ("domain", "cluster") or names_clusters(column):
            items[str(column)] = table[column].to_numpy()
    prompts = next((name for name in _PROMPTS if name in table and table[name].duplicated().any()), None)
    if prompts is not None and "cluster" not in items:
        items["cluster"] = table[prompts].astype(str).to_numpy()
        note("text", text=f"battles with the same '{prompts}' form a cluster ({items['cluster'].nunique():,} clusters)")
    return items


def _check_mixed(first: Array, second: Array, points: Array, names: list[str]) -> None:
    apart = separated(first, second, points, len(names))
    if len(apart):
        listed = ", ".join(f"'{names[k]}'" for k in apart[:3]) + (" …" if len(apart) > 3 else "")
        raise InputError(
            f"{counted(len(apart), 'system')} ({listed}) won or lost all battles with the other systems, or never met "
            "them, so that there is no Bradley-Terry strength: leave out such systems, or use metric='win_rate'"
        )


_SAID = (*ANSWERS, "conversation", "messages", "text")


def battle_texts(table: pd.DataFrame, first: IntArray, second: IntArray, names: Sequence[str]) -> ItemTexts | None:
    """The texts of battles, in the order of the table; None where no column has any.

    Prompts are in a column with a usual name. Answers are in two, ``response_a`` and ``response_b``, or in
    ``conversation_a`` and ``conversation_b``, which are lists of messages; what the user says there is the prompt.
    """
    columns = [text_column(table.columns, [f"{name}{ending}" for name in _SAID]) for ending in ("_a", "_b")]
    prompt = text_column(table.columns, INPUTS)
    if prompt is None and None in columns:
        return None
    places = {str(i + 1): i for i in range(len(table))}
    inputs = [None] * len(table) if prompt is None else [as_text(cell) for cell in table[prompt]]
    if prompt is None and columns[0] is not None:
        inputs = [_said(cell, by_user=True) for cell in table[columns[0]]]
    said = [[None] * len(table) if name is None else [_said(cell) for cell in table[name]] for name in columns]
    answers: dict[str, PackedTexts] = {}
    for k, name in enumerate(names):
        # Most systems are in few of the battles.
        own = np.flatnonzero((first == k) | (second == k)).tolist()
        texts = [said[0][i] if first[i] == k else said[1][i] for i in own]
        answers[name] = PackedTexts({str(i + 1): at for at, i in enumerate(own)}, texts)
    return ItemTexts(PackedTexts(places, inputs), None, answers)


def _said(cell: Any, *, by_user: bool = False) -> str | None:
    """An answer; of messages those of the model, or those of the user."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, list) and cell and all(isinstance(one, dict) for one in cell):
        own = [one.get("content") for one in cell if (one.get("role") == "user") == by_user]
        return "\n\n".join(as_text(one) or "" for one in own)
    return None if by_user else as_text(cell)
