"""CoNLL-U: annotated sentences, as Universal Dependencies treebanks have them, and systems that parsed or tagged them.

`read_conllu` reads a corpus; `read` compares the sentences of systems with those of a gold file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.metrics.attachment import attachment_counts
from simstudy.readers.conll import annotated
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.readers.text_lines import line_rows
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_N_COLUMNS = 10

# Ids of ranges of words (1-2) and of empty nodes (8.1).
_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")


@dataclass(frozen=True)
class Sentence:
    """A sentence of n words: the lines with a whole number as id, not multiword-token ranges and empty nodes."""

    #: Its ``sent_id`` (or ``tweet_id``), and the latest ``newdoc id`` before it, if there is one.
    id: str
    document: str
    words: tuple[str, ...]
    #: Universal part-of-speech tags.
    tags: tuple[str, ...]
    #: The words that these depend on: 0 for the root, -1 if the file does not say.
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    #: The number of its first line.
    line: int


def read(request: Request) -> LongTable:
    """Rows of parsed or tagged sentences, a file for each system, scored by UAS, LAS or accuracy of universal tags.

    Sentences are matched by ``sent_id``; their words must be the same. Documents are the items' clusters.
    """
    metric = request.metric
    gold_path = request.gold_file("CoNLL-U", ["uas", "las", "accuracy"])
    gold = {sentence.id: sentence for sentence in _read_annotated(gold_path, metric.name)}
    rows = []
    for name, path in request.named_files().items():
        sentences = _read_annotated(path, metric.name)
        counts = np.array(
            [_counts(path, sentence, gold_path, gold.get(sentence.id, sentence), metric.name) for sentence in sentences]
        )
        values = dict(zip(metric.statistics, counts.T, strict=True))
        lines, ids = [sentence.line for sentence in sentences], [sentence.id for sentence in sentences]
        rows.append(line_rows(name, path, lines, ids, values, [_text(sentence, metric.name) for sentence in sentences]))
    n_words = np.array([len(sentence.words) for sentence in gold.values()])
    nothing = [np.zeros_like(n_words)] * (len(metric.statistics) - 1) + [n_words]
    expected = pd.DataFrame({"item": list(gold), **dict(zip(metric.statistics, nothing, strict=True))})
    expected["input"] = [" ".join(sentence.words) for sentence in gold.values()]
    expected["reference"] = [_text(sentence, metric.name) for sentence in gold.values()]
    if all(sentence.document for sentence in gold.values()):
        expected["cluster"] = [sentence.document for sentence in gold.values()]
    return LongTable(pd.concat(rows), metric.statistics, None, expected, answers_compare=True)


@once
def read_conllu(path: Path) -> list[Sentence]:
    """All sentences of a CoNLL-U file."""
    sentences: dict[str, Sentence] = {}
    document = ""
    for line, block in _blocks(read_lines(path)):
        comments = dict(_comment(text) for text in block if text.startswith("#"))
        document = comments.get("newdoc id", document)
        name = comments.get("sent_id") or comments.get("tweet_id")
        words = list(_words(path, line, block))
        place = f"{path}, line {line}"
        if not name or not words:
            raise InputError(f"a sentence has no {'words' if name else 'sent_id'}", at=place)
        if name in sentences:
            raise InputError(f"sentence '{name}' is there already, at line {sentences[name].line}", at=place)
        forms, tags, relations = (tuple(columns[k] for _, columns in words) for k in (1, 3, 7))
        heads = tuple(_head(f"{path}, line {n}", columns[6], len(words)) for n, columns in words)
        sentences[name] = Sentence(name, document, forms, tags, heads, relations, line)
    if not sentences:
        raise InputError("has no sentences", at=path)
    return list(sentences.values())


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The runs of lines between empty lines, and the number of the first line of each."""
    for filled, numbered in groupby(enumerate(lines, start=1), key=lambda line: bool(line[1].strip())):
        if filled:
            run = list(numbered)
            yield run[0][0], [text for _, text in run]


def _comment(line: str) -> tuple[str, str]:
    """The key and the value of a comment ``# key = value``."""
    key, _, value = line[1:].partition("=")
    return key.strip(), value.strip()


def _words(path: Path, line: int, block: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The columns of each word of a sentence, and the number of its line."""
    expected = 1
    for number, text in enumerate(block, start=line):
        if text.startswith("#"):
            continue
        columns = text.split("\t")
        place = f"{path}, line {number}"
        if len(columns) != _N_COLUMNS:
            rule = f"{counted(len(columns), 'column')} between tabs, but CoNLL-U has {_N_COLUMNS}"
            raise InputError(rule, at=place)
        if columns[0] == str(expected):
            expected += 1
            yield number, columns
        elif not _NO_WORD.fullmatch(columns[0]):
            raise InputError("id", f"must be that of word {expected}", columns[0], at=place)


def _head(place: str, text: str, n_words: int) -> int:
    """The head of a word; -1 if the file does not say."""
    if text == "_":
        return -1
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) <= n_words):
        raise InputError("head", f"must be a word of the sentence, 1 to {n_words}, or 0", text, at=place)
    return int(text)


def _read_annotated(path: Path, metric: str) -> list[Sentence]:
    """The sentences of a file that have what the metric needs."""
    sentences = read_conllu(path)
    for sentence in sentences:
        if metric != "accuracy" and -1 in sentence.heads:
            rule = f"sentence '{sentence.id}' has a word without a head"
            raise InputError(rule, at=f"{path}, line {sentence.line}")
    return sentences


def _counts(path: Path, sentence: Sentence, gold_path: Path, gold: Sentence, metric: str) -> tuple[int, ...]:
    if sentence.words != gold.words:
        rule = f"the words of sentence '{sentence.id}' are not those of {gold_path}, line {gold.line}"
        raise InputError(rule, at=f"{path}, line {sentence.line}")
    if metric == "accuracy":
        return sum(map(str.__eq__, sentence.tags, gold.tags)), len(gold.words)
    parses = ((parse.heads, parse.relations) for parse in (sentence, gold))
    return attachment_counts(*parses, labelled=metric == "las")


def _text(sentence: Sentence, metric: str) -> str:
    """A sentence with what a metric looks at behind each word: its tag, or the number of its head and the relation."""
    if metric == "accuracy":
        return annotated(sentence.words, sentence.tags)
    heads = map(str, sentence.heads)
    if metric == "uas":
        return annotated(sentence.words, heads)
    return annotated(sentence.words, map(":".join, zip(heads, sentence.relations, strict=True)))


FORMAT = Format("conllu", "CoNLL-U treebanks", read, ("*.conllu",), metrics=("uas", "las"))
