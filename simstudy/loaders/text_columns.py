"""Columns of tables that have texts: what an item asks, what is right, and what systems answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.tables import numbers
from simstudy.loaders.usual_names import plain, usually_named

#: What columns are called that say what an item asks, what is right, and what a system answered; the first goes first.
INPUTS = (
    "input", "question", "prompt", "instruction", "query", "problem", "problem_statement", "source", "src", "text",
    "sentence", "source_text", "input_text", "ctx", "context", "goal", "premise", "user_input", "query_text", "title",
)  # fmt: skip
REFERENCES = (
    "reference", "references", "ref", "gold", "target", "label", "gold_label", "true_label", "expected",
    "expected_answer", "expected_output", "correct_answer", "ground_truth", "gold_answer", "solution", "answer",
)  # fmt: skip
ANSWERS = (
    "answer", "response", "output", "prediction", "predicted", "pred", "completion", "generation", "hypothesis", "hyp",
    "translation", "mt", "summary", "model_answer", "model_output", "model_response", "model_prediction",
    "predicted_label", "predicted_text", "generated_text", "generated", "output_text", "system_output", "reply",
)  # fmt: skip


def text_column(columns: Iterable[object], names: Sequence[str], but: Iterable[object] = ()) -> Any | None:
    """The column that has the first of these names, in whatever spelling, or a dotted name that ends in it."""
    found = usually_named((column for column in columns if column not in set(but)), names)
    return min(found, key=lambda column: names.index(plain(column).rpartition(".")[2]), default=None)


def as_text(value: object) -> str | None:
    """A value of a file as people read it: text as it is, else JSON; None where there is none."""
    if isinstance(value, str | None):
        return value
    if isinstance(value, float) and value != value:
        return None
    return json.dumps(value, ensure_ascii=False, default=str)


def annotated(words: Iterable[str], marks: Iterable[str]) -> str:
    """Words with a mark behind each, such as its tag; words without one as they are."""
    return " ".join(f"{word}/{mark}" if mark else word for word, mark in zip(words, marks, strict=True))


def answer_columns(frame: pd.DataFrame) -> dict[str, str]:
    """System -> the column with its answers in a wide table: "new:response" or "new_response" beside "new"."""
    names = [*map(str, frame.columns)]
    found: dict[str, str] = {}
    for name in names:
        for end in ANSWERS:
            system = name[: -len(end) - 1]
            if name.lower().endswith(end) and name[len(system) : -len(end)] in (":", "_", ".", " ") and system in names:
                found.setdefault(system, name)
    # A column of numbers called new_pred may be another system.
    return {
        system: name
        for system, name in found.items()
        if name[len(system)] == ":" or np.isnan(numbers(frame[name])).any()
    }
