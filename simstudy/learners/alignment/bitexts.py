"""Sentence pairs as flat arrays: words, pairs of a source and a target word, and the links that gold files have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.learners.examples import Examples
from simstudy.loaders.alignments import Links

Integers = NDArray[np.integer[Any]]

#: A sentence pair's source words and target words.
SentencePair = tuple[Sequence[str], Sequence[str]]

#: Of a source or target sentence; the hidden Markov models' time grows with the cube of it.
MOST_WORDS = 200

#: What a cell of gold links is; `UNALIGNED` where nobody aligned the sentence pair.
UNALIGNED, NO_LINK, POSSIBLE, SURE = -1, 0, 1, 2


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

    def sentence_of_cell(self) -> Integers:
        """(cells,) which sentence pair a cell belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_cell))

    def places(self) -> tuple[Integers, Integers]:
        """(cells,) place of the source word and of the target word in their sentences, from 0 on."""
        n_target = np.diff(self.first_target)[self.sentence_of_cell()]
        inside = np.arange(len(self.pairs)) - np.repeat(self.first_cell[:-1], np.diff(self.first_cell))
        return inside // n_target, inside % n_target

    def select(self, sentences: Integers) -> tuple[Bitext, Integers]:
        """Some of the sentence pairs, and the numbers of their cells among all."""
        (first_source, source), (first_target, target), (first_cell, cells) = (
            _rows_of(first, sentences) for first in (self.first_source, self.first_target, self.first_cell)
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
            sides.append((_bounds([len(pair[side]) for pair in corpus]), indexed))
        texts.append(sides)
    codes = []
    for (first_source, source), (first_target, target) in texts:
        places = zip(first_source[:-1], first_source[1:], first_target[:-1], first_target[1:], strict=True)
        grids = [(source[a:b, None] * len(numbers[1]) + target[None, c:d]).ravel() for a, b, c, d in places]
        codes.append(np.concatenate([*grids, np.empty(0, np.int64)]))
    every, inverse = np.unique(np.concatenate(codes), return_inverse=True)
    of_source, of_target = np.divmod(every, max(1, len(numbers[1])))
    in_target = np.array([numbers[1].get(word, -1) for word in numbers[0]], np.int64)
    alike = in_target[of_source] == of_target
    lexicon = WordPairs(of_source, of_target, alike, len(numbers[0]), len(numbers[1]))
    ends = np.cumsum([len(own) for own in codes])
    return [
        Bitext(
            first_source,
            first_target,
            _bounds(np.diff(first_source) * np.diff(first_target)),
            source,
            target,
            inverse[end - len(own) : end].astype(np.int32),
            lexicon,
        )
        for ((first_source, source), (first_target, target)), own, end in zip(texts, codes, ends, strict=True)
    ]


def check_sentence_pairs(sources: Sequence[str], targets: Sequence[str], where: tuple[str, str]) -> list[SentencePair]:
    """The sentence pairs of two texts, a sentence a line and words between blanks.

    Parameters
    ----------
    where
        What the two texts are called in messages.

    Raises
    ------
    ValueError
        Where they have unequal numbers of lines, and where sentences are empty or have more than 200 words: it says
        how many and names the first ones.

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
                raise ValueError(f"{name}: {len(lines):,} sentences are {problem} (line {shown})")
    return list(pairs)


def gold_cells(bitext: Bitext, links: Sequence[Links | None]) -> NDArray[np.int8]:
    """Gold links as `NO_LINK`, `POSSIBLE` or `SURE` for every cell (cells,); sure ones need not be listed as possible.

    Cells of sentence pairs whose links are None are `UNALIGNED`.

    Raises
    ------
    ValueError
        Where there are not links for every sentence pair, or one is outside of its sentence.
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


def _bounds(lengths: Any) -> Integers:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.int64)


def _rows_of(first: Integers, sentences: Integers) -> tuple[Integers, Integers]:
    """The bounds of some sentences' rows when only these are kept, and which rows of all they are."""
    lengths = np.diff(first)[sentences]
    bounds = _bounds(lengths)
    return bounds, np.repeat(first[sentences] - bounds[:-1], lengths) + np.arange(bounds[-1])
