"""Texts of battles: the prompt, and the answers of the two systems that met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.text_columns import ANSWERS, INPUTS, as_text, text_column
from simstudy.metrics.base import IntArray
from simstudy.outputs.texts import ItemTexts, PackedTexts

_SIDES = ("_a", "_b")


def battle_texts(table: pd.DataFrame, first: IntArray, second: IntArray, names: Sequence[str]) -> ItemTexts | None:
    """The texts of battles, in the order of the table; None where no column has any.

    Prompts are in a column with a usual name. Answers are in two, ``response_a`` and ``response_b``, or in
    ``conversation_a`` and ``conversation_b``, which are lists of messages; what the user says there is the prompt.
    """
    columns = [_side(table, ending) for ending in _SIDES]
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


def _side(table: pd.DataFrame, ending: str) -> Any | None:
    """The column of the answers of one side."""
    named = [f"{name}{ending}" for name in (*ANSWERS, "conversation", "messages", "text")]
    return text_column(table.columns, named)


def _said(cell: Any, *, by_user: bool = False) -> str | None:
    """An answer; of messages those of the model, or those of the user."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, list) and cell and all(isinstance(one, dict) for one in cell):
        own = [one.get("content") for one in cell if (one.get("role") == "user") == by_user]
        return "\n\n".join(as_text(one) or "" for one in own)
    return None if by_user else as_text(cell)
