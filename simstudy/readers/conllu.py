"""CoNLL-U: annotated sentences, as Universal Dependencies treebanks have them, and systems that parsed or tagged them.

`read_conllu` reads a corpus; `read` compares the sentences of systems with those of a gold file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from pathlib import Path

from simstudy.metrics.annotations import right_attachments
from simstudy.notes import Argument, note
from simstudy.readers.annotations import Annotated, annotated, compared_with_gold
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_N_COLUMNS = 10

# Ids of multiword tokens (1-2) and of empty nodes (8.1).
_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")

# The number of a word, or none.
_HEAD = re.compile(r"[0-9]{1,9}|_")

# Metrics that look at heads; others look at tags.
_OF_HEADS = ("uas", "las")


@dataclass(frozen=True)
class Sentence:
    """A sentence of n words: the lines with a whole number as id, not multiword-token ranges and empty nodes."""

    #: Its ``sent_id`` (or ``tweet_id``), and the latest ``newdoc id`` before it; empty if there is none.
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

    def marks(self, metric: str) -> Sequence[str]:
        """The annotation of each word that a metric compares: tags, heads, or heads with their relations."""
        if metric not in _OF_HEADS:
            return self.tags
        pairs = zip(self.heads, self.relations, strict=True)
        return [f"{head}:{relation}" if metric == "las" else str(head) for head, relation in pairs]


def read(request: Request) -> LongTable:
    """Rows of parsed or tagged sentences, a file for each system, scored by UAS, LAS, or universal tags.

    Sentences are matched by ``sent_id``, or by their order if a system's sentences have no ids of gold. Their words
    must be the same. Documents are the items' clusters.
    """
    metric = request.metric.name
    gold_path = request.gold_file("CoNLL-U", ["uas", "las", "upos", "accuracy"])
    treebank = _sentences(gold_path, metric)
    have_ids = all(sentence.id for sentence in treebank)
    gold = {sentence.id if have_ids else str(n): sentence for n, sentence in enumerate(treebank, start=1)}
    remarks: list[str] = []

    def sentences_of(path: Path) -> dict[str, Annotated[Sentence]]:
        sentences = _sentences(path, metric)
        by_id = {sentence.id: sentence for sentence in sentences if sentence.id}
        in_order = len(by_id) < len(sentences) or not by_id.keys() & gold.keys()
        if in_order:
            remarks.append("sentences are matched by their order")
            by_id = dict(zip(gold, sentences, strict=False))
        for item, sentence in by_id.items():
            _check_words(sentence, gold.get(item, sentence), path, gold_path)
        if in_order and len(sentences) != len(treebank):
            raise InputError(f"has {counted(len(sentences), 'sentence')}, {gold_path} {len(treebank):,}", at=path)
        return {item: _annotated(sentence, metric) for item, sentence in by_id.items()}

    documents = [sentence.document for sentence in treebank]
    if all(documents) and request.items is None:
        n_documents = counted(len({*documents}), "document")
        note("documents as clusters", n=n_documents, items=Argument("unit", "item"))
    return compared_with_gold(
        request,
        {item: _annotated(sentence, metric) for item, sentence in gold.items()},
        sentences_of,
        lambda guessed, gold: _counts(guessed, gold, metric),
        numbered=not have_ids,
        clusters=documents if all(documents) else (),
        remarks=remarks,
    )


def _sentences(path: Path, metric: str) -> list[Sentence]:
    """All sentences of a file; an InputError if a word has no head and the metric looks at heads."""
    sentences = read_conllu(path)
    for sentence in sentences:
        if metric in _OF_HEADS and -1 in sentence.heads:
            raise InputError("a sentence has a word without a head", at=f"{path}, line {sentence.line}")
    return sentences


def _check_words(sentence: Sentence, gold: Sentence, path: Path, gold_path: Path) -> None:
    """Raise an InputError that names the first word that is not gold's: systems must have gold's tokens."""
    if sentence.words != gold.words:
        pairs = enumerate(zip_longest(sentence.words, gold.words, fillvalue=""), start=1)
        n, word, expected = next((n, *words) for n, words in pairs if words[0] != words[1])
        rule = f"must have the words of gold ({gold_path}, line {gold.line}): word {n} must be '{expected}'"
        raise InputError("sentence", rule, word, at=f"{path}, line {sentence.line}")


def _annotated(sentence: Sentence, metric: str) -> Annotated[Sentence]:
    text = annotated(sentence.words, sentence.marks(metric))
    return Annotated(sentence.line, " ".join(sentence.words), sentence, text)


def _counts(guessed: Sentence, gold: Sentence, metric: str) -> tuple[int, ...]:
    """(right, all) words of a sentence for accuracy, else (right, the system's, gold) words."""
    if metric in _OF_HEADS:
        parses = ((sentence.heads, sentence.relations) for sentence in (guessed, gold))
        n_right = right_attachments(*parses, labelled=metric == "las")
    else:
        n_right = sum(tag == gold_tag for tag, gold_tag in zip(guessed.tags, gold.tags, strict=True))
    n = len(gold.words)
    return (n_right, n) if metric == "accuracy" else (n_right, n, n)


@once
def read_conllu(path: Path) -> list[Sentence]:
    """All sentences of a CoNLL-U file."""
    sentences: list[Sentence] = []
    lines: dict[str, int] = {}
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
        name = comments.get("sent_id") or comments.get("tweet_id") or ""
        if not words:
            raise InputError("a sentence has no words", at=place)
        if name in lines:
            raise InputError(f"sentence '{name}' is there already, at line {lines[name]}", at=place)
        lines |= {name: line} if name else {}
        forms, tags, heads, relations = (tuple(columns[k] for columns in words) for k in (1, 3, 6, 7))
        for word, head in enumerate(heads, start=1):
            if not _HEAD.fullmatch(head) or (head != "_" and int(head) > len(words)):
                rule = f"of word {word} must be a word of the sentence, 1 to {len(words)}, or 0"
                raise InputError("head", rule, head, at=place)
        numbers = tuple(-1 if head == "_" else int(head) for head in heads)
        sentences.append(Sentence(name, document, forms, tags, numbers, relations, line))
    return sentences


FORMAT = Format("conllu", "CoNLL-U treebanks", read, ("*.conllu",), metrics=("uas", "las", "upos"))
