"""CoNLL columns: each line has a token and its tag, and empty lines separate sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.metrics.spans import is_bio, span_counts
from simstudy.notes import note
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.readers.text_lines import check_as_many, line_rows
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_DOCUMENT = "-DOCSTART-"


@dataclass(frozen=True)
class TaggedSentence:
    """The tokens and tags of a sentence, and the number of its first line."""

    line: int
    tokens: tuple[str, ...]
    tags: tuple[str, ...]


def read(request: Request) -> LongTable:
    """Rows of tagged sentences, a file for each system, scored by F1 of spans or by accuracy against a gold file.

    Sentences, and their tokens, are matched by their order. They must be as many as in gold, but tokens may be spelt
    otherwise, which a note counts. ``columns["tag"]`` is the number of the column of tags, from 1 on.
    """
    gold_path = request.gold_file("CoNLL columns", ["span_f1", "accuracy"])
    spans, column = request.metric.name == "span_f1", _tag_column(request)
    gold = read_columns(gold_path, column, bio=spans)
    items = [str(number) for number in range(1, len(gold) + 1)]
    rows = []
    for name, path in request.named_files().items():
        sentences = read_columns(path, column, bio=spans)
        _check_alike(path, sentences, gold_path, gold)
        counts = np.array(
            [_counts(sentence.tags, right.tags, spans) for sentence, right in zip(sentences, gold, strict=True)]
        )
        values = dict(zip(request.metric.statistics, counts.T, strict=True))
        lines = [sentence.line for sentence in sentences]
        rows.append(line_rows(name, path, lines, items, values, [_text(sentence) for sentence in sentences]))
    expected = pd.DataFrame({"item": items, "input": [" ".join(s.tokens) for s in gold], "reference": map(_text, gold)})
    return LongTable(pd.concat(rows), request.metric.statistics, None, expected, numbered=True, answers_compare=True)


@once
def read_columns(path: Path, column: int | None = None, *, bio: bool = False) -> list[TaggedSentence]:
    """The sentences of a file of CoNLL columns.

    Columns are separated by tabs, or else by spaces; the first is the token, and the last, or that of the number
    `column` from 1 on, the tag. Lines of the token -DOCSTART- are in no sentence. Neither are lines before a sentence
    that begin with # and have another number of columns than the rest. With `bio` tags must be O, B-label or I-label.
    """
    lines = read_lines(path)
    model = next((line for line in lines if line.strip() and not line.startswith(("#", _DOCUMENT))), "# O")
    separator = "\t" if "\t" in model else " "
    width, least = len(_fields(model, separator)), max(2, column or 0)
    if width < least:
        raise InputError(f"has {counted(width, 'column')}, but a token and its tag need {least}", at=path)
    sentences: list[TaggedSentence] = []
    tokens: list[str] = []
    tags: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        fields = _fields(line, separator)
        if not fields or line.startswith(_DOCUMENT):
            if tokens:
                sentences.append(TaggedSentence(number - len(tokens), tuple(tokens), tuple(tags)))
            tokens, tags = [], []
        elif len(fields) == width:
            tag = fields[column - 1 if column else -1]
            if bio and not is_bio(tag):
                raise InputError("tag", "must be O, B-label or I-label", tag, at=f"{path}, line {number}")
            tokens.append(fields[0])
            tags.append(tag)
        elif tokens or not fields[0].startswith("#"):
            rule = f"{counted(len(fields), 'column')}, but the first sentence of the file has {width}"
            raise InputError(rule, at=f"{path}, line {number}")
    if not sentences:
        raise InputError("has no sentences", at=path)
    return sentences


def annotated(words: Iterable[str], marks: Iterable[str]) -> str:
    """Words with a mark behind each, such as its tag; words without a mark as they are."""
    return " ".join(f"{word}/{mark}" if mark else word for word, mark in zip(words, marks, strict=True))


def _fields(line: str, separator: str) -> list[str]:
    """The columns of a line, none if it is empty. A no-break space is part of a token."""
    return [field for field in line.split(separator) if field.strip(" ")]


def _text(sentence: TaggedSentence) -> str:
    """A sentence as people read it: tags stand behind tokens, except O, which marks no span."""
    return annotated(sentence.tokens, ("" if tag == "O" else tag for tag in sentence.tags))


def _counts(tags: Sequence[str], gold: Sequence[str], spans: bool) -> tuple[int, ...]:
    return span_counts(tags, gold) if spans else (sum(map(str.__eq__, tags, gold)), len(gold))


def _tag_column(request: Request) -> int | None:
    """The number of the column of tags, if it is given."""
    given = request.columns.get("tag")
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal()) or int(given) < 1:
        raise InputError("columns", "must give the number of the column of tags, from 1 on", f"tag={given}")
    return int(given)


def _check_alike(
    path: Path, sentences: Sequence[TaggedSentence], gold_path: Path, gold: Sequence[TaggedSentence]
) -> None:
    """Raise an InputError at the first sentence with more or fewer tokens than in gold; note tokens spelt otherwise."""
    n_altered = 0
    for i, (sentence, right) in enumerate(zip(sentences, gold, strict=False), start=1):
        if len(sentence.tokens) != len(right.tokens):
            rule = (
                f"sentence {i} has {counted(len(sentence.tokens), 'token')}, {len(right.tokens)} in {gold_path}, line "
            )
            raise InputError(f"{rule}{right.line}", at=f"{path}, line {sentence.line}")
        n_altered += sum(map(str.__ne__, sentence.tokens, right.tokens))
    check_as_many(path, len(sentences), "sentence", gold_path, len(gold))
    if n_altered:
        note("tokens unlike gold", path=path, n=f"{n_altered:,}", all=f"{sum(len(s.tokens) for s in gold):,}")


FORMAT = Format("conll", "CoNLL columns", read, ("*.conll", "*.bio"), metrics=("span_f1",))
