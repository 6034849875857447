"""Annotated sentences, a file for each system, compared with those of one gold file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import pandas as pd

from simstudy.notes import Argument, Words
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class Annotated(Generic[T]):
    """A sentence of a file: the number of its first line, its words, and its annotation, also as people read it."""

    line: int
    #: None if the file does not have them.
    words: str | None
    annotation: T
    text: str


def compared_with_gold(
    request: Request,
    gold: Mapping[str, Annotated[T]],
    read: Callable[[Path], Mapping[str, Annotated[T]]],
    counts: Callable[[T, T], Sequence[int] | None],
    *,
    numbered: bool = True,
    clusters: Sequence[str] = (),
    columns: Collection[str] = (),
    remarks: Collection[str] = (),
) -> LongTable:
    """Rows of the sentences of all systems, each with its counts against the gold sentence of the same id.

    `read` makes sentences by their ids of a system's file, and `counts` the metric's statistics of an annotation and
    the gold one; None if the system has not annotated the sentence. A ValueError says why the two cannot be compared.
    Sentences that are `numbered` are in the order of gold, and as many. The gold sentences may be in `clusters`. The
    format has these `columns`: others are refused. `read` may add `remarks` for the first note.
    """
    if (unlike := {*request.columns} - {*columns}) and request.items is None:
        rule = f"of such files are {listed([*columns])}" if columns else "must not be given for such files"
        remedy = Words("a table of the items ({items}) has their clusters and domains", items=Argument("items"))
        raise InputError("columns", rule, min(unlike), remedy)
    names, gold_path = request.metric.statistics, request.references[0]

    def rows_of(system: str, path: Path, sentences: Mapping[str, Annotated[T]]) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = []
        for item, sentence in sentences.items():
            place = f"{path}, line {sentence.line}"
            if numbered and item not in gold:
                raise InputError(f"sentence {item} is not in {gold_path}", at=place)
            # `outputs_of` refuses or leaves out sentences that gold lacks.
            gold_sentence = gold.get(item, sentence)
            try:
                values = counts(sentence.annotation, gold_sentence.annotation)
            except ValueError as error:
                raise InputError(f"{error} (gold: {gold_path}, line {gold_sentence.line})", at=place) from None
            if values is not None:
                rows.append((str(path), sentence.line, system, item, *values, sentence.text))
        if not rows:
            raise InputError("has no annotated sentences", at=path)
        if numbered and len(sentences) < len(gold):
            raise InputError(f"has {counted(len(sentences), 'sentence')}, {gold_path} {len(gold):,}", at=path)
        return rows

    columns = ["file", "line", "system", "item", *names, "answer"]
    expected = pd.DataFrame(rows_of("", gold_path, gold), columns=columns)
    if len(expected) < len(gold):
        first = next(sentence for item, sentence in gold.items() if item not in {*expected["item"]})
        raise InputError("a gold sentence without words", at=f"{gold_path}, line {first.line}")
    # A sentence that a system lacks has the counts of gold, and nothing else.
    expected[[name for name in names if name not in request.metric.of_item]] = 0
    expected = expected.rename(columns={"answer": "reference"}).drop(columns=["file", "line", "system"])
    expected["input"] = [sentence.words for sentence in gold.values()]
    if clusters:
        expected["cluster"] = clusters
    rows = [row for system, path in request.named_files().items() for row in rows_of(system, path, read(path))]
    table = pd.DataFrame(rows, columns=columns).set_index(["file", "line"])
    return LongTable(
        table, names, None, expected, numbered=numbered, answers_compare=True, remarks=[*dict.fromkeys(remarks)]
    )


def annotated(words: Iterable[str], marks: Iterable[str]) -> str:
    """Words with a mark behind each, such as its tag; words without a mark as they are."""
    return " ".join(f"{word}/{mark}" if mark else word for word, mark in zip(words, marks, strict=True))
