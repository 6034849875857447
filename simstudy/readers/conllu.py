"""CoNLL-U: annotated sentences, as Universal Dependencies treebanks have them, and systems that parsed or tagged them.

`read_conllu` reads a corpus; `read` compares the sentences of systems with those of a gold file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from simstudy.metrics.attachment import attachment_counts
from simstudy.readers.annotations import Annotated, annotated, compared_with_gold
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_N_COLUMNS = 10

# Ids of ranges of words (1-2) and of empty nodes (8.1).
_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")

# The number of a word, or none.
_HEAD = re.compile(r"[0-9]{1,9}|_")


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
    metric = request.metric.name
    gold_path = request.gold_file("CoNLL-U", ["uas", "las", "accuracy"])

    def by_id(path: Path) -> dict[str, Annotated[Sentence]]:
        sentences = {}
        for sentence in read_conllu(path):
            # What the metric looks at: tags, heads, or heads with their relations.
            marks = [*map(str, sentence.heads)] if metric != "accuracy" else sentence.tags
            if metric == "las":
                marks = [f"{head}:{relation}" for head, relation in zip(marks, sentence.relations, strict=True)]
            text = annotated(sentence.words, marks)
            sentences[sentence.id] = Annotated(sentence.line, " ".join(sentence.words), sentence, text)
        return sentences

    def counts(sentence: Sentence, right: Sentence) -> tuple[int, ...]:
        if sentence.words != right.words:
            raise InputError(f"the words of sentence '{sentence.id}' are not those of gold")
        if metric == "accuracy":
            return sum(map(str.__eq__, sentence.tags, right.tags)), len(right.words)
        if -1 in sentence.heads:
            raise InputError(f"sentence '{sentence.id}' has a word without a head")
        parses = ((parse.heads, parse.relations) for parse in (sentence, right))
        return attachment_counts(*parses, labelled=metric == "las")

    gold = by_id(gold_path)
    documents = [sentence.annotation.document for sentence in gold.values()]
    clusters = documents if all(documents) else ()
    return compared_with_gold(request, gold, by_id, counts, numbered=False, clusters=clusters)


@once
def read_conllu(path: Path) -> list[Sentence]:
    """All sentences of a CoNLL-U file."""
    sentences: dict[str, Sentence] = {}
    document = ""
    for filled, block in groupby(enumerate(read_lines(path), start=1), key=lambda line: bool(line[1].strip())):
        if not filled:
            continue
        numbered = list(block)
        comments: dict[str, str] = {}
        words: list[list[str]] = []
        for number, text in numbered:
            columns = text.split("\t")
            if text.startswith("#"):
                key, _, value = text[1:].partition("=")
                comments[key.strip()] = value.strip()
            elif len(columns) != _N_COLUMNS:
                rule = f"{counted(len(columns), 'column')} between tabs, but CoNLL-U has {_N_COLUMNS}"
                raise InputError(rule, at=f"{path}, line {number}")
            elif columns[0] == str(len(words) + 1):
                words.append(columns)
            elif not _NO_WORD.fullmatch(columns[0]):
                rule = f"must be that of word {len(words) + 1}"
                raise InputError("id", rule, columns[0], at=f"{path}, line {number}")
        line = numbered[0][0]
        place = f"{path}, line {line}"
        document = comments.get("newdoc id", document)
        name = comments.get("sent_id") or comments.get("tweet_id")
        if not name or not words:
            raise InputError(f"a sentence has no {'words' if name else 'sent_id'}", at=place)
        if name in sentences:
            raise InputError(f"sentence '{name}' is there already, at line {sentences[name].line}", at=place)
        forms, tags, heads, relations = (tuple(columns[k] for columns in words) for k in (1, 3, 6, 7))
        for word, head in enumerate(heads, start=1):
            if not _HEAD.fullmatch(head) or (head != "_" and int(head) > len(words)):
                rule = f"of word {word} must be a word of the sentence, 1 to {len(words)}, or 0"
                raise InputError("head", rule, head, at=place)
        numbers = tuple(-1 if head == "_" else int(head) for head in heads)
        sentences[name] = Sentence(name, document, forms, tags, numbers, relations, line)
    return list(sentences.values())


FORMAT = Format("conllu", "CoNLL-U treebanks", read, ("*.conllu",), metrics=("uas", "las"))
