"""Preferences between the answers of two systems, as arenas of language models collect them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.mean import strength_metric, strength_penalty
from simstudy.notes import Argument, Words, note
from simstudy.outputs.units import BATTLE
from simstudy.readers.columns import USUAL, first_named, first_of, joined, no_column, place
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable, as_text, coded
from simstudy.readers.request import Request
from simstudy.readers.tables import JSON, TABLE_FILES, ending, read_table
from simstudy.readers.text_files import first_keys, first_text
from simstudy.statistics.bradley_terry import meeting_parts, separated, strengths
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError, check_choice

# Elo points of a logit: 400 points are odds of ten to one. The mean strength is 1,000.
_ELO, _MIDDLE = 400 / np.log(10), 1000.0

#: The columns of battles.
COLUMNS = ("model_a", "model_b", "winner")

# Texts in the column of winners beside the names of the systems: points of the first one.
_POINTS = {
    **dict.fromkeys(("model_a", "a", "left"), 1.0),
    **dict.fromkeys(("model_b", "b", "right"), 0.0),
    **dict.fromkeys(("tie", "tie (bothbad)", "both bad", "both_bad", "bothbad", "draw"), 0.5),
}

# Columns that say which battles have one prompt.
_PROMPTS = ("question_id", "prompt_id", "qid", "prompt", "question", "item", "instance_id", "conversation_id")


def read(request: Request) -> LongTable:
    """Rows from tables of battles with columns ``model_a``, ``model_b`` and ``winner``, a row for each battle.

    ``winner`` is model_a (or a), model_b (or b), tie (also "tie (bothbad)", draw), or the name of the winner. A tie is
    half a win. Battles are the items; those with the same prompt (``question_id``, ``prompt_id``, …) are a cluster,
    unless another column is named: ``{"cluster": "judge"}``.

    - "win_rate": the share of its battles that a system wins.
    - "bradley_terry": strengths by maximum likelihood, in Elo points with mean 1,000. The score of an item is the mean
      strength plus the influence of the battle on it, so that tests and intervals are those of the sandwich estimate.
      "bradley_terry:alpha=0.1" is a fit with a penalty, which ranks systems that won or lost all battles too.
    """
    alpha = strength_penalty(request.metric.name)
    if strength_metric(request.metric.name) is None:
        check_choice("metric of preferences", request.metric.name, ("bradley_terry", "win_rate"))
    frames = [read_table(path) for path in request.paths]
    table = pd.concat(frames, keys=map(str, request.paths), names=["file", frames[0].index.name])
    table = joined(table, request.columns, request.paths[0])
    table = table.assign(**{ours: table[name] for ours, name in request.columns.items() if name in table})
    for name in COLUMNS:
        if name not in table:
            no_column(request.paths[0], name, table.columns)
    (first_codes, first_names), (second_codes, second_names) = coded(table, "model_a"), coded(table, "model_b")
    names = np.union1d(first_names, second_names)
    first = np.searchsorted(names, first_names)[first_codes]
    second = np.searchsorted(names, second_names)[second_codes]
    if (row := first_of(first == second)) is not None:
        raise InputError(f"model_a and model_b are both '{names[first[row]]}'", at=place(table, row))
    points = _points(table, first, second, names)
    k, n = len(names), len(table)
    expected = _battles(table, points, request)
    if request.metric.name == "win_rate":
        wins, met = np.zeros((2, k, n))
        battles = np.arange(n)
        wins[first, battles], wins[second, battles] = points, 1 - points
        met[first, battles] = met[second, battles] = 1
        values = {"sum": wins.ravel(), "count": met.ravel()}
        note("win rates", metric=Argument("metric", "bradley_terry"))
    else:
        apart = [] if alpha else [str(name) for name in names[separated(first, second, points, k)]]
        if apart:
            rule = (
                f"{counted(len(apart), 'system')} ({listed(apart, 3)}) won or lost all battles with the other systems, "
                "or never met them, so that there is no Bradley-Terry strength"
            )
            penalised, win_rate = Argument("metric", "bradley_terry:alpha=0.1"), Argument("metric", "win_rate")
            remedy = "{penalised} fits strengths with a penalty, {win_rate} compares shares of wins"
            raise InputError(rule, remedy=Words(remedy, penalised=penalised, win_rate=win_rate))
        beta = strengths(first, second, points, k, alpha)
        parts = meeting_parts(first, second, points, beta, alpha)
        values = {"score": (_MIDDLE + _ELO * (beta[:, None] + n * parts)).ravel()}
    every = np.tile(np.arange(n), k)
    rows = pd.DataFrame(
        {
            "system": pd.Categorical.from_codes(np.repeat(np.arange(k), n), categories=pd.Index(names)),
            "item": pd.Categorical.from_codes(every, categories=pd.Index(expected["item"])),
            **values,
        },
        index=pd.Index(every + 1, name="battle"),
    )
    if request.keeps_texts:
        columns = [str(name) for name in table]
        if prompt := first_named(columns, USUAL["input"]):
            expected["input"] = [as_text(cell) for cell in table[prompt]]
        answers = np.full((k, n), None, dtype=object)
        for side, systems in (("_a", first), ("_b", second)):
            if answer := first_named(columns, [f"{name}{side}" for name in (*USUAL["answer"], "answer")]):
                answers[systems, np.arange(n)] = [as_text(cell) for cell in table[answer]]
        rows["answer"] = answers.ravel()
    return LongTable(rows, (*values,), expected=expected, numbered=True)


def _holds(path: Path) -> bool:
    """Whether a table, or JSON, has the columns of battles."""
    if ending(path) in JSON:
        return {*COLUMNS} <= first_keys(path)
    if ending(path) == ".parquet":
        from simstudy.files.parquet import parquet_columns  # only Parquet needs pyarrow

        return {*COLUMNS} <= {*parquet_columns(path)}
    header = first_text(path).partition("\n")[0]
    return {*COLUMNS} <= {name.strip(' "\r') for name in re.split("[,\t]", header)}


def _points(table: pd.DataFrame, first: IntArray, second: IntArray, names: Array) -> FloatArray:
    """Points (n,) of the first system of each battle. The name of a system is no side of the battle."""
    codes, winners = coded(table, "winner")
    position = {name: k for k, name in enumerate(names)}
    by_side = [_POINTS.get(text.strip().lower(), np.nan) for text in winners]
    if both := [text for text, side in zip(winners, by_side, strict=True) if text in position and not np.isnan(side)]:
        note("systems called like sides", names=listed(both))
    winner = np.array([position.get(text, -1) for text in winners])[codes]
    by_name = np.where(winner == first, 1.0, np.where(winner == second, 0.0, np.nan))
    points = np.where(winner >= 0, by_name, np.array(by_side)[codes])
    if (row := first_of(np.isnan(points))) is not None:
        rule = f"must be model_a, model_b, tie, both_bad or '{names[first[row]]}' or '{names[second[row]]}'"
        raise InputError("winner", rule, table["winner"].iloc[row], at=place(table, row))
    return points


def _battles(table: pd.DataFrame, points: FloatArray, request: Request) -> pd.DataFrame:
    """The battles as items: who met, what the first got, and which have one prompt."""
    wanted = {"domain", "cluster", *request.item_columns, *request.columns} - {*COLUMNS}
    names = [*BATTLE[:2], *(name for name in table if name in wanted)]
    items = pd.DataFrame({"item": np.arange(1, len(table) + 1).astype(str).astype(object)})
    items[names] = table[names].to_numpy(dtype=object)
    items[BATTLE[2]] = points
    prompts = next((name for name in _PROMPTS if name in table and table[name].astype(str).duplicated().any()), None)
    if prompts is not None and "cluster" not in items:
        items["cluster"] = table[prompts].astype(str).to_numpy(dtype=object)
        note("prompts of battles", column=prompts, n=f"{items['cluster'].nunique():,}")
    return items


FORMAT = Format("arena", "preferences between two systems", read, TABLE_FILES, _holds, columns=COLUMNS, scored=True)
