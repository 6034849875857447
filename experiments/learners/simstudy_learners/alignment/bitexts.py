"""Sentence pairs as flat arrays: words, pairs of a source and a target word, and the links that gold files have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simstudy.readers.alignments import Links
from simstudy.training import Examples
from simstudy_learners.segments import Integers, bounds_of, chosen_segments, places_in_segments

#: A sentence pair's source words and target words.
SentencePair = tuple[Sequence[str], Sequence[str]]

#: Of a source or target sentence; the hidden Markov models' time grows with the cube of it.
MOST_WORDS = 200

#: What a cell of gold links is; `UNALIGNED` where nobody aligned the sentence pair.
UNALIGNED, NO_LINK, POSSIBLE, SURE = -1, 0, 1, 2


class Bounds(NamedTuple):
    """Where the source words, the target words and the cells of n sentence pairs begin, (n + 1,) each."""

    source: Integers
    target: Integers
    cell: Integers


@dataclass(frozen=True)
class WordPairs:
    """The pairs of a source and a target word that share a sentence pair, sorted, with a number each.

    Attributes
    ----------
    source, target
        (pairs,) numbers of the words, from 0 on.
    alike
        (pairs,) whether both are spelt the same.
    n_source, n_target
        Numbers of different words.
    """

    source: Integers
    target: Integers
    alike: NDArray[np.bool_]
    n_source: int
    n_target: int


@dataclass(frozen=True)
class Bitext:
    """n sentence pairs; a cell is a place for a link: a source word and a target word of a sentence pair.

    Attributes
    ----------
    first_source, first_target
        (n + 1,) bounds of the sentences' words.
    first_cell
        (n + 1,) bounds of their cells: of a source sentence of I words and a target sentence of J, the link of source
        word i and target word j is cell i * J + j.
    source, target
        (words,) numbers of the words.
    pairs
        (cells,) numbers of the word pairs.
    lexicon
        The word pairs, those of other bitexts that are used with this one among them.
    """

    first_source: Integers
    first_target: Integers
    first_cell: Integers
    source: Integers
    target: Integers
    pairs: Integers
    lexicon: WordPairs

    def __len__(self) -> int:
        return len(self.first_cell) - 1

    @property
    def bounds(self) -> Bounds:
        """All bounds, for compiled functions."""
        return Bounds(self.first_source, self.first_target, self.first_cell)

    def sentence_of_cell(self) -> Integers:
        """(cells,) which sentence pair a cell belongs to."""
        return places_in_segments(self.first_cell)[0]

    def words_of_cells(self) -> tuple[Integers, Integers]:
        """(cells,) where the source word and the target word are among the words of all sentence pairs."""
        return _words_of_cells(self.first_source, self.first_target, self.first_cell)

    def places(self) -> tuple[Integers, Integers]:
        """(cells,) place of the source word and of the target word in their sentences, from 0 on."""
        sentence, (source, target) = self.sentence_of_cell(), self.words_of_cells()
        return source - self.first_source[sentence], target - self.first_target[sentence]

    def select(self, sentences: Integers) -> tuple[Bitext, Integers]:
        """Some of the sentence pairs, and the numbers of their cells among all."""
        (first_source, source), (first_target, target), (first_cell, cells) = (
            chosen_segments(first, sentences) for first in (self.first_source, self.first_target, self.first_cell)
        )
        chosen = replace(
            self,
            first_source=first_source,
            first_target=first_target,
            first_cell=first_cell,
            source=self.source[source],
            target=self.target[target],
            pairs=self.pairs[cells],
        )
        return chosen, cells

    def content(self) -> list[Any]:
        """What the sentence pairs are made of, as arrays, for a hash that is the same in every process."""
        return [self.first_source, self.first_target, self.source, self.target, self.pairs, self.lexicon.alike]


def index_bitexts(corpora: Sequence[Sequence[SentencePair]]) -> list[Bitext]:
    """Sentence pairs of several corpora as arrays, with the same numbers of words and word pairs in all.

    Words are lower-cased.

    Examples
    --------
    >>> (bitext,) = index_bitexts([[(["a", "house"], ["une", "maison"]), (["House"], ["maison"])]])
    >>> bitext.pairs.tolist(), bitext.first_cell.tolist()
    ([0, 1, 2, 3, 3], [0, 4, 5])
    """
    numbers: tuple[dict[str, int], dict[str, int]] = ({}, {})
    texts = []
    for corpus in corpora:
        sides = []
        for side, known in enumerate(numbers):
            words = [word.lower() for pair in corpus for word in pair[side]]
            indexed = np.array([known.setdefault(word, len(known)) for word in words], np.int64)
            sides.append((indexed, bounds_of([len(pair[side]) for pair in corpus])))
        texts.append((*sides[0], *sides[1]))
    in_target = np.array([numbers[1].get(word, -1) for word in numbers[0]], np.int64)
    return numbered_bitexts(texts, in_target, len(numbers[1]))


def numbered_bitexts(
    texts: Sequence[tuple[Integers, Integers, Integers, Integers]], in_target: Integers, n_target: int
) -> list[Bitext]:
    """Bitexts of words that are numbers already, with the same numbers of word pairs in all.

    Each of the texts has the source words and the bounds of source sentences, and the same of the target side.
    `in_target` has the number of the target word that is spelt as a source word is, -1 for none; `n_target` is how many
    different target words there are.
    """
    cells = [bounds_of(np.diff(first_source) * np.diff(first_target)) for _, first_source, _, first_target in texts]
    codes = []
    for (source, first_source, target, first_target), first_cell in zip(texts, cells, strict=True):
        of_source, of_target = _words_of_cells(first_source, first_target, first_cell)
        codes.append(source[of_source] * n_target + target[of_target])
    every, inverse = np.unique(np.concatenate(codes), return_inverse=True)
    sources, targets = np.divmod(every, max(1, n_target))
    lexicon = WordPairs(sources, targets, in_target[sources] == targets, len(in_target), n_target)
    pairs = np.split(inverse.astype(np.int32), np.cumsum([len(own) for own in codes])[:-1])
    return [
        Bitext(first_source, first_target, first_cell, source, target, own, lexicon)
        for (source, first_source, target, first_target), first_cell, own in zip(texts, cells, pairs, strict=True)
    ]


def check_sentence_pairs(sources: Sequence[str], targets: Sequence[str], where: tuple[str, str]) -> list[SentencePair]:
    """The sentence pairs of two texts, a sentence a line and words between blanks.

    `where` is what the two texts are called in messages. A ValueError is raised where they have unequal numbers of
    lines, and where sentences are empty or have more than 200 words: it says how many and names the first ones.

    Examples
    --------
    >>> check_sentence_pairs(["a house"], ["une maison"], ("text.e", "text.f"))
    [(['a', 'house'], ['une', 'maison'])]
    """
    if len(sources) != len(targets):
        raise ValueError(f"{where[0]} has {len(sources):,} lines, {where[1]} {len(targets):,}; they must have as many")
    pairs = [(source.split(), target.split()) for source, target in zip(sources, targets, strict=True)]
    for side, name in enumerate(where):
        lengths = np.array([len(pair[side]) for pair in pairs])
        for problem, wrong in (("empty", lengths == 0), (f"longer than {MOST_WORDS} words", lengths > MOST_WORDS)):
            if wrong.any():
                lines = (1 + np.flatnonzero(wrong)).tolist()
                shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
                count = "1 sentence is" if len(lines) == 1 else f"{len(lines):,} sentences are"
                raise ValueError(f"{name}: {count} {problem} (line {shown})")
    return list(pairs)


def gold_cells(bitext: Bitext, links: Sequence[Links | None]) -> NDArray[np.int8]:
    """Gold links as `NO_LINK`, `POSSIBLE` or `SURE` for every cell (cells,); sure ones need not be listed as possible.

    Cells of sentence pairs whose links are None are `UNALIGNED`. A ValueError is raised where there are not links for
    every sentence pair, or one is outside of its sentence.
    """
    if len(links) != len(bitext):
        raise ValueError(f"links must be given for each of the {len(bitext)} sentence pairs, not for {len(links)}")
    cells = np.full(len(bitext.pairs), NO_LINK, np.int8)
    lengths = zip(np.diff(bitext.first_source), np.diff(bitext.first_target), strict=True)
    for number, (own, (n_source, n_target)) in enumerate(zip(links, lengths, strict=True)):
        if own is None:
            cells[bitext.first_cell[number] : bitext.first_cell[number + 1]] = UNALIGNED
            continue
        for kind, several in ((POSSIBLE, own.possible), (SURE, own.sure)):
            for i, j in several:
                if not (0 <= i < n_source and 0 <= j < n_target):
                    raise ValueError(
                        f"links of sentence pair {number + 1} must be within its {n_source} x {n_target} words, "
                        f"not {i}-{j}"
                    )
                cells[bitext.first_cell[number] + i * n_target + j] = kind
    return cells


def count_aer(examples: Examples, answers: NDArray[Any]) -> NDArray[np.int64]:
    """Statistics (n, 4) of AER: guessed links in sure ones, in possible ones, guessed and sure ones.

    Answers are like gold cells, with anything but 0 for a link.
    """
    bitext: Bitext = examples.inputs
    guessed, gold = np.asarray(answers) != NO_LINK, examples.gold
    columns = [guessed & (gold == SURE), guessed & (gold != NO_LINK), guessed, gold == SURE]
    before = np.zeros((1 + len(guessed), len(columns)), np.int64)
    np.cumsum(np.stack(columns, axis=1), axis=0, out=before[1:])
    return before[bitext.first_cell[1:]] - before[bitext.first_cell[:-1]]


def _words_of_cells(first_source: Integers, first_target: Integers, first_cell: Integers) -> tuple[Integers, Integers]:
    sentence, inside = places_in_segments(first_cell)
    n_target = np.diff(first_target)[sentence]
    return first_source[sentence] + inside // n_target, first_target[sentence] + inside % n_target
