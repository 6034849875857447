"""All n-grams of a text, numbered exactly: without hashes, in an order that is the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy_learners.segments import Integers, bounds_of

#: Numbers of the marks that stand before and after a sentence in language models; no word has them.
START, END = 0, 1


@dataclass(frozen=True)
class Ngrams:
    """The distinct n-grams of a text, n = 1 … longest, as a trie: numbered by n, then by their words.

    Attributes
    ----------
    keys
        For each n, ascending: prefix * n_words + word, with the prefix' place among those of n - 1 (0 where n is 1).
    n_words
        Size of the vocabulary.
    """

    keys: tuple[Integers, ...]
    n_words: int

    @property
    def firsts(self) -> Integers:
        """(longest + 1,) the number of the first n-gram of each n, and at last how many there are."""
        return bounds_of([*map(len, self.keys)])

    @classmethod
    def of(cls, words: Integers, bounds: Integers, n_words: int, longest: int) -> tuple[Ngrams, Integers]:
        """The n-grams of sentences, and which of them begin at each word.

        Returns
        -------
        ngrams
            All of them.
        numbers
            (words, longest): the numbers of the n-grams that begin there; -1 where they would leave the sentence.

        Examples
        --------
        >>> ngrams, numbers = Ngrams.of(np.array([5, 2, 5, 2]), np.array([0, 3, 4]), 9, longest=2)
        >>> numbers.tolist()    # 2 and 5; then 2 5 and 5 2
        [[1, 3], [0, 2], [1, -1], [0, -1]]
        """
        keys: list[Integers] = []

        def add(asked: Integers) -> Integers:
            distinct, place = np.unique(asked, return_inverse=True)
            keys.append(distinct)
            return place.astype(np.int64)

        numbers = _numbered(words, bounds, n_words, longest, add)
        ngrams = cls(tuple(keys), n_words)
        return ngrams, np.where(numbers >= 0, numbers + ngrams.firsts[:-1], -1)

    def find(self, words: Integers, bounds: Integers) -> Integers:
        """(words, longest): the numbers of the n-grams of other sentences; -1 for those that are not among these."""
        level = iter(self.keys)

        def look_up(asked: Integers) -> Integers:
            known = next(level)
            if not len(known):
                return np.full(len(asked), -1)
            place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
            return np.where(known[place] == asked, place, -1)

        numbers = _numbered(words, bounds, self.n_words, len(self.keys), look_up)
        return np.where(numbers >= 0, numbers + self.firsts[:-1], -1)

    def prefixes(self) -> Integers:
        """For each n-gram, the number of what is left without its last word; -1 for single words."""
        firsts = self.firsts
        parts = [np.full(len(self.keys[0]), -1)]
        parts += [keys // self.n_words + firsts[n] for n, keys in enumerate(self.keys[1:])]
        return np.concatenate(parts)

    def last_words(self) -> Integers:
        """For each n-gram, its last word."""
        return np.concatenate(self.keys) % self.n_words


def _numbered(words: Integers, bounds: Integers, n_words: int, longest: int, place_of: object) -> Integers:
    """Places of the n-grams that begin at each word, n = 1 … longest, -1 where there is none."""
    assert callable(place_of)
    left = np.repeat(bounds[1:], np.diff(bounds)) - np.arange(len(words))
    numbers = np.full((len(words), longest), -1, np.int64)
    prefix = np.zeros(len(words), np.int64)
    for n in range(longest):
        there = np.flatnonzero((left > n) & (prefix >= 0))
        numbers[there, n] = place_of(prefix[there] * n_words + words[there + n])
        prefix = numbers[:, n]
    return numbers
