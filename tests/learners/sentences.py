"""Small texts and invented alignments for tests of translation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.learners import Examples
from simstudy.learners.translation.bitexts import Bitext
from simstudy.learners.translation.texts import Text, index_texts
from simstudy.learners.translation.word_alignment import Links, lexicon

GERMAN = [
    "ein hund läuft", "ein kleiner hund schläft", "zwei hunde laufen im schnee", "eine katze schläft auf dem sofa",
    "ein mann mit einem hund läuft im schnee", "zwei kleine katzen", "ein mann schläft", "ein kleiner mann läuft",
]  # fmt: skip
ENGLISH = [
    "a dog runs", "a small dog sleeps", "two dogs run in the snow", "a cat sleeps on the couch",
    "a man with a dog runs in the snow", "two small cats", "a man sleeps", "a small man runs",
]  # fmt: skip


def pairs(source: Sequence[str] = GERMAN, target: Sequence[str] = ENGLISH) -> Examples:
    """Sentence pairs to train on."""
    return Examples(*index_texts([source, target]))


def invented(rng: np.random.Generator, n: int, longest: int = 5, n_words: int = 4) -> tuple[Text, Text]:
    """Sentence pairs of random words."""

    def lines(letter: str) -> list[str]:
        sizes = rng.integers(1, longest + 1, n)
        return [" ".join(f"{letter}{w}" for w in rng.integers(n_words, size=size)) for size in sizes]

    source, target = index_texts([lines("s"), lines("t")])
    return source, target


def random_links(rng: np.random.Generator, source: Text, target: Text, share: float = 0.3) -> Links:
    """Links anywhere."""
    bounds = np.concatenate([[0], np.cumsum(source.lengths * target.lengths)])
    return Links((rng.random(bounds[-1]) < share).astype(np.uint8), bounds)


def randomly_linked(rng: np.random.Generator, n: int, longest: int = 5) -> Bitext:
    """Random sentence pairs with random links and weights."""
    source, target = invented(rng, n, longest)
    links, weights = random_links(rng, source, target), rng.integers(1, 4, n)
    return Bitext(source, target, weights, links, lexicon(source, target, weights, links))


def matrix(bitext: Bitext, k: int) -> np.ndarray:
    """The links of a sentence pair, source words by target words."""
    first, last = bitext.links.bounds[k : k + 2]
    return bitext.links.linked[first:last].reshape(bitext.source.lengths[k], bitext.target.lengths[k]) > 0


def words_of(text: Text, k: int) -> list[int]:
    """The words of a sentence."""
    return list(text.words[text.bounds[k] : text.bounds[k + 1]].tolist())
