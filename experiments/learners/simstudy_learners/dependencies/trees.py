"""Sentences with dependency trees as flat arrays, checked to be trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.readers.conllu import Sentence, read_conllu
from simstudy.training import Examples
from simstudy_learners.dependencies.sentences import Sentences

Integers = NDArray[np.int64]

# Number 0 stands for no word, 1 for the root.
_N_SPECIAL = 2

# A tag's number has five bits in a feature.
_MOST_TAGS = 32 - _N_SPECIAL

# A word's has eighteen.
_MOST_FORMS = 2**18 - _N_SPECIAL


@dataclass(frozen=True)
class Words:
    """The words of n sentences; each sentence begins with the root and ends with an entry for no word.

    Attributes
    ----------
    bounds
        (n + 1,): sentence i is entries bounds[i] … bounds[i + 1] - 1.
    forms, tags, suffixes
        (entries,): numbers of lower-cased words, of part-of-speech tags, and of the words' last three letters.
    """

    bounds: Integers
    forms: Integers
    tags: Integers
    suffixes: Integers

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def arrays(self) -> Sentences:
        """The same for compiled functions."""
        return Sentences(self.bounds, self.forms, self.tags, self.suffixes)

    def mirror(self) -> Integers:
        """Which entry is at each place when sentences read from right to left; its own inverse."""
        places = np.arange(len(self.forms))
        inner = np.ones(len(places), bool)
        inner[self.bounds[:-1]] = inner[self.bounds[1:] - 1] = False
        ends = np.repeat(self.bounds[:-1] + self.bounds[1:] - 1, np.diff(self.bounds))
        mirrored: Integers = np.where(inner, ends - places, places)
        return mirrored

    def mirrored(self) -> Words:
        """The same sentences, read from right to left."""
        order = self.mirror()
        return Words(self.bounds, self.forms[order], self.tags[order], self.suffixes[order])

    def mirrored_heads(self, heads: Integers) -> Integers:
        """The heads of the mirrored sentences from those of these, or the reverse."""
        lengths = np.repeat(np.diff(self.bounds) - 2, np.diff(self.bounds))
        return np.where(heads > 0, lengths + 1 - heads, heads)[self.mirror()]


@dataclass(frozen=True)
class Parses:
    """The trees of sentences that are `Words`, as gold or as guessed.

    Attributes
    ----------
    heads
        (entries,): a word's head by its place in the sentence, 0 for the root; -1 for entries that are no words.
    relations
        (entries,): numbers of relations, without subtypes; -1 for entries that are no words.
    """

    heads: Integers
    relations: Integers


def read_dependencies(path: Path) -> list[Sentence]:
    """All sentences of a CoNLL-U file; a ValueError names file, line and sentence where one has no tree."""
    sentences = read_conllu(path)
    for sentence in sentences:
        problem = _flaw(sentence)
        if problem:
            raise ValueError(f"{path}, line {sentence.line}: sentence '{sentence.id}' {problem}")
    return sentences


def _flaw(sentence: Sentence) -> str:
    """What keeps a sentence from having a labelled tree with one root, and tags; empty where nothing does."""
    heads = sentence.heads
    if -1 in heads:
        return f"has a word without a head, '{sentence.words[heads.index(-1)]}'"
    for what, values in (("relation", sentence.relations), ("part-of-speech tag", sentence.tags)):
        if "_" in values:
            return f"has a word without a {what}, '{sentence.words[values.index('_')]}'"
    if heads.count(0) != 1:
        return f"must have one word whose head is the root, not {heads.count(0)}"
    rooted = {0}
    for word in range(1, len(heads) + 1):
        way: list[int] = []
        while word not in rooted:
            if word in way:
                return f"has a cycle: word {word}, '{sentence.words[word - 1]}', is its own ancestor"
            way.append(word)
            word = heads[word - 1]
        rooted.update(way)
    return ""


def index_sentences(corpora: Sequence[Sequence[Sentence]]) -> list[tuple[Words, Parses]]:
    """Sentences of several corpora as arrays, with the same numbers in all: those of the first appearance.

    A ValueError is raised where there are more than 30 part-of-speech tags, or 262,142 words.
    """
    forms: dict[str, int] = {}
    tags: dict[str, int] = {}
    suffixes: dict[str, int] = {}
    relations: dict[str, int] = {}

    def numbers(known: dict[str, int], texts: Sequence[str]) -> list[int]:
        return [1, *(known.setdefault(text, len(known) + _N_SPECIAL) for text in texts), 0]

    indexed = []
    for sentences in corpora:
        columns: tuple[list[int], ...] = ([], [], [], [], [])
        for sentence in sentences:
            lowered = [word.lower() for word in sentence.words]
            bare = [relation.partition(":")[0] for relation in sentence.relations]
            for column, values in zip(
                columns,
                (
                    numbers(forms, lowered),
                    numbers(tags, sentence.tags),
                    numbers(suffixes, [word[-3:] for word in lowered]),
                    (-1, *sentence.heads, -1),
                    (-1, *(relations.setdefault(relation, len(relations)) for relation in bare), -1),
                ),
                strict=True,
            ):
                column += values
        bounds = np.cumsum([0, *(len(sentence.words) + 2 for sentence in sentences)])
        flat = [np.array(column, np.int64) for column in columns]
        indexed.append((Words(bounds, *flat[:3]), Parses(*flat[3:])))
    if len(tags) > _MOST_TAGS:
        raise ValueError(f"sentences must have at most {_MOST_TAGS} different part-of-speech tags, not {len(tags)}")
    if max(len(forms), len(suffixes)) > _MOST_FORMS:
        raise ValueError(f"sentences must have at most {_MOST_FORMS:,} different words, not {len(forms):,}")
    return indexed


def count_uas(examples: Examples, guessed: Parses) -> NDArray[Any]:
    """(correct, guessed, gold) words of each sentence, (n, 3), by their heads, as in the CoNLL 2018 shared task."""
    return _counts(examples, guessed.heads == examples.gold.heads)


def count_las(examples: Examples, guessed: Parses) -> NDArray[Any]:
    """The same by heads and relations; subtypes of relations do not count."""
    gold = examples.gold
    return _counts(examples, (guessed.heads == gold.heads) & (guessed.relations == gold.relations))


def _counts(examples: Examples, right: NDArray[np.bool_]) -> NDArray[Any]:
    bounds = examples.inputs.bounds
    correct = np.add.reduceat(right & (examples.gold.heads >= 0), bounds[:-1], dtype=np.int64)
    words = np.diff(bounds) - 2
    return np.stack([correct, words, words], axis=1)
