"""CoNLL-U: annotated sentences, as the Universal Dependencies treebanks have them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import conllu
import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source, counted
from simstudy.loaders.items import items_in_order
from simstudy.loaders.reading import once, read_lines
from simstudy.loaders.text_columns import annotated
from simstudy.metrics.attachment import attachment_counts
from simstudy.metrics.base import IntArray

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


def read_conllu_outputs(source: Source) -> Loaded:
    """Parsed or tagged sentences, one file for each system, scored by UAS, LAS or accuracy (of universal tags).

    Sentences are matched by ``sent_id``; their words must be the same. Documents are the items' ``cluster``.
    """
    gold_path, metric = source.gold("CoNLL-U", ["uas", "las", "accuracy"]), source.metric.name
    gold = {sentence.id: sentence for sentence in _read(gold_path, metric)}
    systems = []
    for name, path in source.systems().items():
        sentences = _read(path, metric)
        counts = [_counts(path, s, gold_path, gold.get(s.id, s), metric) for s in sentences]
        answers = [_answer(sentence, metric) for sentence in sentences]
        texts = (_text(sentence, metric) for sentence in sentences)
        ids = [sentence.id for sentence in sentences]
        systems.append(SystemOutputs(name, str(path), ids, np.array(counts), answers, texts=texts))

    def nothing(item: str) -> IntArray:
        n = len(gold[item].words)
        return np.array([0, n] if metric == "accuracy" else [0, 0, n])

    items = pd.DataFrame({"id": list(gold)})
    if all(sentence.document for sentence in gold.values()):
        items["cluster"] = [sentence.document for sentence in gold.values()]
    items = items_in_order(source, items, named=True)
    words = {name: " ".join(sentence.words) for name, sentence in gold.items()}
    asked = Asked(words, {name: _text(sentence, metric) for name, sentence in gold.items()})
    return assemble(systems, source, items, nothing, asked)


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
                raise ValueError(
                    f"{path}, line {n}: {counted(columns, 'column')} between tabs, where CoNLL-U has {_N_COLUMNS}"
                )
        try:
            parsed = conllu.parse("\n".join(block), field_parsers=_UNREAD)
        except (ValueError, conllu.exceptions.ParseException) as error:
            raise ValueError(f"{path}, sentence at line {line}: {' '.join(str(error).split())}") from None
        tokens = parsed[0] if parsed else conllu.TokenList()
        metadata: Mapping[str, str] = tokens.metadata or {}
        words = list(_words(path, zip(rows, tokens, strict=True)))
        document = metadata.get("newdoc id", document)
        name = metadata.get("sent_id") or metadata.get("tweet_id")
        if not name or not words:
            raise ValueError(f"{path}, line {line}: a sentence has no {'words' if name else 'sent_id'}")
        if name in sentences:
            raise ValueError(f"{path}, line {line}: sentence '{name}' is there already, at line {sentences[name].line}")
        forms, tags, relations = (tuple(word[c] for _, word in words) for c in ("form", "upos", "deprel"))
        sentences[name] = Sentence(name, document, forms, tags, _heads(path, words), relations, line)
    if not sentences:
        raise ValueError(f"{path} has no sentences")
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
            raise ValueError(f"{path}, line {n}: '{token['id']}' is not the id of word {expected}")


def _heads(path: str | Path, words: Sequence[tuple[int, Token]]) -> tuple[int, ...]:
    """The heads of a sentence's words; -1 where the file does not say."""
    heads = []
    for n, word in words:
        head = word["head"]
        if head is not None and not 0 <= head <= len(words):
            raise ValueError(
                f"{path}, line {n}: head '{head}' is outside the sentence of {counted(len(words), 'word')}"
            )
        heads.append(-1 if head is None else int(head))
    return tuple(heads)


def _read(path: Path, metric: str) -> list[Sentence]:
    sentences = read_conllu(path)
    if metric != "accuracy":
        for sentence in sentences:
            if -1 in sentence.heads:
                raise ValueError(f"{path}, line {sentence.line}: sentence '{sentence.id}' has a word without a head")
    return sentences


def _counts(path: Path, own: Sentence, gold_path: Path, gold: Sentence, metric: str) -> tuple[int, ...]:
    if own.words != gold.words:
        raise ValueError(
            f"{path}, line {own.line}: the words of sentence '{own.id}' are not those of {gold_path}, line {gold.line}"
        )
    if metric == "accuracy":
        return sum(a == b for a, b in zip(own.tags, gold.tags, strict=True)), len(gold.words)
    parses = ((sentence.heads, sentence.relations) for sentence in (own, gold))
    return attachment_counts(*parses, labelled=metric == "las")


def _text(sentence: Sentence, metric: str) -> str:
    """A sentence with what a metric looks at behind each word: its tag, or its head's number and the relation."""
    if metric == "accuracy":
        return annotated(sentence.words, sentence.tags)
    heads = map(str, sentence.heads)
    if metric == "uas":
        return annotated(sentence.words, heads)
    return annotated(sentence.words, (f"{head}:{rel}" for head, rel in zip(heads, sentence.relations, strict=True)))


def _answer(sentence: Sentence, metric: str) -> Hashable:
    """What a metric looks at."""
    return {
        "accuracy": sentence.tags,
        "uas": sentence.heads,
        "las": (sentence.heads, sentence.relations),
    }[metric]
