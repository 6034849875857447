"""CoNLL columns: each line has a token and its tag, and empty lines separate sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.items import items_in_order, numbered
from simstudy.loaders.reading import check_as_many, once, read_lines
from simstudy.loaders.text_columns import annotated
from simstudy.metrics.spans import is_bio, span_counts
from simstudy.notes import note
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_DOCUMENT = "-DOCSTART-"


@dataclass(frozen=True)
class TaggedSentence:
    """A sentence's tokens and tags, and the number of its first line."""

    line: int
    tokens: tuple[str, ...]
    tags: tuple[str, ...]


def read_conll_columns(source: Source) -> Loaded:
    """Tagged tokens, one file for each system, scored by F1 of spans (tags O, B-label, I-label) or accuracy.

    Columns are separated by tabs, or else by blanks; the first is the token, the last (or that of the number in
    ``columns["tag"]``, from 1 on) the tag. Sentences, and their tokens, are matched by their order: they must be as
    many, but tokens may be spelt otherwise, which a note counts. Lines of the token -DOCSTART- are not part of any
    sentence, nor are lines before a sentence that begin with # and have another number of columns than the rest.
    """
    gold_path = source.gold("CoNLL columns", ["span_f1", "accuracy"])
    spans = source.metric.name == "span_f1"
    column = _tag_column(source)
    gold = read_columns(gold_path, column, bio=spans)
    items = items_in_order(source, numbered(len(gold)))
    ids = items["id"].tolist()
    systems = []
    for name, path in source.systems().items():
        own = read_columns(path, column, bio=spans)
        _check_same(path, own, gold_path, gold)
        pairs = list(zip(own, gold, strict=True))
        altered = sum(a != b for s, g in pairs for a, b in zip(s.tokens, g.tokens, strict=True))
        if altered:
            of, verb = counted(sum(len(g.tokens) for g in gold), "token"), "is" if altered == 1 else "are"
            note("text", text=f"{path}: {altered:,} of {of} {verb} not spelt as in gold")
        counts = [
            span_counts(s.tags, g.tags)
            if spans
            else (sum(a == b for a, b in zip(s.tags, g.tags, strict=True)), len(g.tags))
            for s, g in pairs
        ]
        texts = map(_text, own)
        systems.append(SystemOutputs(name, str(path), ids, np.array(counts), [s.tags for s in own], texts=texts))
    asked = Asked.of(ids, (" ".join(s.tokens) for s in gold), map(_text, gold))
    return assemble(systems, source, items, asked=asked)


def _text(sentence: TaggedSentence) -> str:
    """A sentence as people read it: tags stand behind tokens, but for O, which marks no span."""
    return annotated(sentence.tokens, ("" if tag == "O" else tag for tag in sentence.tags))


@once
def read_columns(path: Path, column: int | None = None, *, bio: bool = False) -> list[TaggedSentence]:
    """The sentences of a file; the tags are in the column of this number, from 1 on, by default the last."""
    lines = read_lines(path)
    model = next((line for line in lines if line.strip() and not line.startswith(("#", _DOCUMENT))), "# O")
    tabs = "\t" in model
    width, need = len(_fields(model, tabs)), max(2, column or 0)
    if width < need:
        raise InputError(f"{path} has {counted(width, 'column')}, where a token and its tag need {need}")
    sentences: list[TaggedSentence] = []
    tokens: list[str] = []
    tags: list[str] = []
    for n, line in enumerate([*lines, ""], start=1):
        row = _fields(line, tabs)
        if not row or line.startswith(_DOCUMENT):
            if tokens:
                sentences.append(TaggedSentence(n - len(tokens), tuple(tokens), tuple(tags)))
            tokens, tags = [], []
        elif len(row) == width:
            tag = row[column - 1 if column else -1]
            if bio and not is_bio(tag):
                raise InputError(f"{path}, line {n}: tags of spans must be O, B-label or I-label, not '{tag}'")
            tokens.append(row[0])
            tags.append(tag)
        elif tokens or not row[0].startswith("#"):
            found = counted(len(row), "column")
            raise InputError(f"{path}, line {n}: {found}, where the file's first sentence has {width}")
    if not sentences:
        raise InputError(f"{path} has no sentences")
    return sentences


def _fields(line: str, tabs: bool) -> list[str]:
    """A line's columns; none where it is empty. A no-break space does not separate: it is part of a token."""
    return [field for field in line.split("\t" if tabs else " ") if field.strip(" ")]


def _tag_column(source: Source) -> int | None:
    """The number of the tags' column, where one is given."""
    given = source.columns.get("tag")
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal()) or int(given) < 1:
        raise InputError(f"columns must give the number of the tag's column, from 1 on, not tag={given}")
    return int(given)


def _check_same(path: Path, own: Sequence[TaggedSentence], gold_path: Path, gold: Sequence[TaggedSentence]) -> None:
    """Raise a ValueError at the first sentence of another number of tokens than in gold."""
    for i, (s, g) in enumerate(zip(own, gold, strict=False), start=1):
        if len(s.tokens) != len(g.tokens):
            raise InputError(
                f"{path}, line {s.line}: sentence {i} has {counted(len(s.tokens), 'token')}, not {len(g.tokens)} as in "
                f"{gold_path}, line {g.line}"
            )
    check_as_many(path, len(own), "sentence", gold_path, len(gold))
