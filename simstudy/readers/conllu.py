"""CoNLL-U: annotated sentences, as Universal Dependencies treebanks have them, and systems that parsed or tagged them.

`read_conllu` reads a corpus; `read` compares the sentences of systems with those of a gold file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, groupby
from os.path import commonprefix
from pathlib import Path

from simstudy.metrics.dependencies import Parse, TextWord, align_words, right_attachments, text_words
from simstudy.notes import Argument, Words, note
from simstudy.readers.annotations import Annotated, annotated, compared_with_gold
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_N_COLUMNS = 10

# Ids of ranges of words (1-2), which are a token, and of empty nodes (8.1).
_RANGE = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_EMPTY_NODE = re.compile(r"[0-9]+\.[0-9]+")

# The number of a word, or none.
_HEAD = re.compile(r"[0-9]{1,9}|_")

# Metrics that look at heads; others look at tags.
_OF_HEADS = ("uas", "las")

# Characters that an error shows of two texts that differ.
_SHOWN = 20

#: The metric's statistics of a sentence.
Counts = tuple[int, ...]


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
    #: Each token as the text has it, and its words.
    tokens: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def marks(self, metric: str) -> Sequence[str]:
        """The annotation of each word that a metric compares: tags, heads, or heads with their relations."""
        if metric not in _OF_HEADS:
            return self.tags
        pairs = zip(self.heads, self.relations, strict=True)
        return [f"{head}:{relation}" if metric == "las" else str(head) for head, relation in pairs]


def read(request: Request) -> LongTable:
    """Rows of parsed or tagged sentences, a file for each system, scored by UAS, LAS, or universal tags.

    Sentences are matched by ``sent_id``, or else by their order, if their words are the same. Other words of the same
    text are aligned, and counted in the gold sentence in which they begin. Documents are the items' clusters.
    """
    metric = request.metric.name
    gold_path = request.gold_file("CoNLL-U", ["uas", "las", "upos", "accuracy"])
    treebank = _sentences(gold_path, metric)
    have_ids = all(sentence.id for sentence in treebank)
    gold = {sentence.id if have_ids else str(n): sentence for n, sentence in enumerate(treebank, start=1)}
    remarks: list[str] = []

    def of_system(path: Path) -> dict[str, Annotated[Counts]]:
        sentences = _sentences(path, metric)
        by_id = {sentence.id: sentence for sentence in sentences if sentence.id}
        shared = by_id.keys() & gold.keys()
        same_words = all(by_id[item].words == gold[item].words for item in shared)
        if len(by_id) == len(sentences) and shared and same_words:
            return _rows({item: gold.get(item, sentence) for item, sentence in by_id.items()}, sentences, metric)
        in_order = [sentence.words for sentence in sentences] == [sentence.words for sentence in treebank]
        if not in_order:
            _check_text(sentences, path, treebank, gold_path)
            if metric == "accuracy":
                remedy = Words("{upos} aligns words", upos=Argument("metric", "upos"))
                raise InputError(f"the words are not those of {gold_path}", remedy=remedy, at=path)
        aligned = "words are aligned as in the CoNLL 2018 shared task"
        remarks.append("sentences are matched by their order" if in_order else aligned)
        return _rows(gold, sentences, metric, aligned=not in_order)

    documents = [sentence.document for sentence in treebank]
    if all(documents) and request.items is None:
        n_documents = counted(len({*documents}), "document")
        note("documents as clusters", n=n_documents, items=Argument("unit", "item"))
    return compared_with_gold(
        request,
        _rows(gold, treebank, metric),
        of_system,
        lambda counts, _: counts,
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


def _text(sentences: Sequence[Sentence]) -> tuple[str, list[TextWord], list[int]]:
    """The text of sentences without blanks, their words, and the position in the text at which each sentence begins."""
    text, words = text_words(chain(*(sentence.tokens for sentence in sentences)))
    firsts = accumulate((len(sentence.words) for sentence in sentences[:-1]), initial=0)
    return text, words, [words[first].start for first in firsts]


def _check_text(sentences: Sequence[Sentence], path: Path, gold: Sequence[Sentence], gold_path: Path) -> None:
    """Raise an InputError if sentences have another text than those of gold, whatever their words."""
    (text, _, starts), (gold_text, _, gold_starts) = _text(sentences), _text(gold)
    if text != gold_text:
        at = len(commonprefix([text, gold_text]))
        line, gold_line = sentences[bisect_right(starts, at) - 1].line, gold[bisect_right(gold_starts, at) - 1].line
        shown, expected = text[at : at + _SHOWN], gold_text[at : at + _SHOWN]
        rule = f"neither words nor text are those of gold: '{shown}', not '{expected}' ({gold_path}, line {gold_line})"
        raise InputError(rule, at=f"{path}, line {line}")


def _rows(
    gold: Mapping[str, Sentence], sentences: Sequence[Sentence], metric: str, *, aligned: bool = False
) -> dict[str, Annotated[Counts]]:
    """The counts of each gold sentence: (right, the system's, gold) words, or (right, gold) words for accuracy.

    Sentences are those of gold with the same words, unless words are to be aligned.
    """
    treebank = [*gold.values()]
    sentence_of = [k for k, sentence in enumerate(treebank) for _ in sentence.words]
    pairs, sentence_of_word = [(i, i) for i in range(len(sentence_of))], sentence_of
    if aligned:
        (_, gold_words, starts), (_, words, _) = _text(treebank), _text(sentences)
        pairs = align_words(gold_words, words)
        sentence_of_word = [bisect_right(starts, word.start) - 1 for word in words]
        for g, s in pairs:
            # A multiword token may have words of two gold sentences.
            sentence_of_word[s] = sentence_of[g]
    n_right = Counter(sentence_of[g] for g, s in _right_pairs(pairs, treebank, sentences, metric))
    of_words = [(s.line, w, m) for s in sentences for w, m in zip(s.words, s.marks(metric), strict=True)]
    inside: list[list[tuple[int, str, str]]] = [[] for _ in gold]
    for k, word in zip(sentence_of_word, of_words, strict=True):
        inside[k].append(word)
    rows: dict[str, Annotated[Counts]] = {}
    for k, (item, right) in enumerate(gold.items()):
        lines, forms, marks = zip(*inside[k], strict=True) if inside[k] else ((1,), (), ())
        counts = (n_right[k], len(right.words)) if metric == "accuracy" else (n_right[k], len(forms), len(right.words))
        rows[item] = Annotated(lines[0], " ".join(right.words), counts, annotated(forms, marks))
    return rows


def _right_pairs(
    pairs: Sequence[tuple[int, int]], gold: Sequence[Sentence], system: Sequence[Sentence], metric: str
) -> list[tuple[int, int]]:
    """The pairs of aligned words that a metric counts as right."""
    if metric in _OF_HEADS:
        return right_attachments(_parse(system), _parse(gold), pairs, labelled=metric == "las")
    gold_tags, tags = ([tag for sentence in file for tag in sentence.tags] for file in (gold, system))
    return [(g, s) for g, s in pairs if gold_tags[g] == tags[s]]


def _parse(sentences: Sequence[Sentence]) -> Parse:
    """The heads and relations of the words of all sentences, which are numbered as one."""
    heads: list[int] = []
    for sentence in sentences:
        start = len(heads)
        heads += [start + head if head else 0 for head in sentence.heads]
    return heads, [relation for sentence in sentences for relation in sentence.relations]


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
        # The form of each token, and the numbers of its first and last word.
        tokens: list[tuple[str, int, int]] = []
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
                if not tokens or tokens[-1][2] < len(words):
                    tokens.append((columns[1], len(words), len(words)))
            elif match := _RANGE.fullmatch(columns[0]):
                first, last = int(match[1]), int(match[2])
                if not len(words) + 1 == first <= last or (tokens and tokens[-1][2] >= first):
                    raise InputError("id", "must begin at the next word", columns[0], at=f"{path}, line {number}")
                tokens.append((columns[1], first, last))
            elif not _EMPTY_NODE.fullmatch(columns[0]):
                rule = f"must be that of word {len(words) + 1}"
                raise InputError("id", rule, columns[0], at=f"{path}, line {number}")
        line = numbered[0][0]
        place = f"{path}, line {line}"
        document = comments.get("newdoc id", document)
        name = comments.get("sent_id") or comments.get("tweet_id") or ""
        if not words or tokens[-1][2] > len(words):
            raise InputError("a sentence has no words" if not words else "a multiword token lacks words", at=place)
        if name in lines:
            raise InputError(f"sentence '{name}' is there already, at line {lines[name]}", at=place)
        lines |= {name: line} if name else {}
        forms, tags, heads, relations = (tuple(columns[k] for columns in words) for k in (1, 3, 6, 7))
        for word, head in enumerate(heads, start=1):
            if not _HEAD.fullmatch(head) or (head != "_" and int(head) > len(words)):
                rule = f"of word {word} must be a word of the sentence, 1 to {len(words)}, or 0"
                raise InputError("head", rule, head, at=place)
        numbers = tuple(-1 if head == "_" else int(head) for head in heads)
        of_tokens = tuple((form, forms[first - 1 : last]) for form, first, last in tokens)
        sentences.append(Sentence(name, document, forms, tags, numbers, relations, line, of_tokens))
    return sentences


FORMAT = Format("conllu", "CoNLL-U treebanks", read, ("*.conllu",), metrics=("uas", "las", "upos"))
