"""CoNLL-U: annotated sentences, as the Universal Dependencies treebanks have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import conllu

from simstudy.loaders.reading import once, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_N_COLUMNS = 10

# Columns that are not read stay as they are: to take them apart would take a third of the time.
_UNREAD = dict.fromkeys(("feats", "deps", "misc"), lambda columns, i: columns[i])

Token = Mapping[str, Any]


@dataclass(frozen=True)
class Sentence:
    """A sentence of n words: the lines with a whole number as id, not multiword-token ranges and empty nodes."""

    #: Its ``sent_id`` (or ``tweet_id``), and the latest ``newdoc id``, where there is one.
    id: str
    document: str
    words: tuple[str, ...]
    #: Universal part-of-speech tags.
    tags: tuple[str, ...]
    #: Whose dependents the words are: 0 for the root, -1 where the file does not say.
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    #: The number of its first line.
    line: int


@once
def read_conllu(path: Path) -> list[Sentence]:
    """All sentences of a CoNLL-U file."""
    sentences: dict[str, Sentence] = {}
    document = ""
    for line, block in _blocks(read_lines(path)):
        rows = [n for n, text in enumerate(block, start=line) if not text.startswith("#")]
        for n in rows:
            columns = block[n - line].count("\t") + 1
            if columns != _N_COLUMNS:
                raise InputError(
                    f"{path}, line {n}: {counted(columns, 'column')} between tabs, where CoNLL-U has {_N_COLUMNS}"
                )
        try:
            parsed = conllu.parse("\n".join(block), field_parsers=_UNREAD)
        except (ValueError, conllu.exceptions.ParseException) as error:
            raise InputError(f"{path}, sentence at line {line}: {' '.join(str(error).split())}") from None
        tokens = parsed[0] if parsed else conllu.TokenList()
        metadata: Mapping[str, str] = tokens.metadata or {}
        words = list(_words(path, zip(rows, tokens, strict=True)))
        document = metadata.get("newdoc id", document)
        name = metadata.get("sent_id") or metadata.get("tweet_id")
        if not name or not words:
            raise InputError(f"{path}, line {line}: a sentence has no {'words' if name else 'sent_id'}")
        if name in sentences:
            raise InputError(f"{path}, line {line}: sentence '{name}' is there already, at line {sentences[name].line}")
        forms, tags, relations = (tuple(word[c] for _, word in words) for c in ("form", "upos", "deprel"))
        sentences[name] = Sentence(name, document, forms, tags, _heads(path, words), relations, line)
    if not sentences:
        raise InputError(f"{path} has no sentences")
    return list(sentences.values())


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The runs of lines between empty lines, and the number of the first line of each."""
    for filled, numbered in groupby(enumerate(lines, start=1), key=lambda line: bool(line[1].strip())):
        if filled:
            run = list(numbered)
            yield run[0][0], [text for _, text in run]


def _words(path: str | Path, tokens: Iterable[tuple[int, Token]]) -> Iterator[tuple[int, Token]]:
    """The words among the tokens of a sentence, each with its line: ranges and empty nodes are left out."""
    expected = 1
    for n, token in tokens:
        if token["id"] == expected:
            yield n, token
            expected += 1
        elif not isinstance(token["id"], tuple):
            raise InputError(f"{path}, line {n}: '{token['id']}' is not the id of word {expected}")


def _heads(path: str | Path, words: Sequence[tuple[int, Token]]) -> tuple[int, ...]:
    """The heads of a sentence's words; -1 where the file does not say."""
    heads = []
    for n, word in words:
        head = word["head"]
        if head is not None and not 0 <= head <= len(words):
            raise InputError(
                f"{path}, line {n}: head '{head}' is outside the sentence of {counted(len(words), 'word')}"
            )
        heads.append(-1 if head is None else int(head))
    return tuple(heads)
