"""Small texts and invented alignments for tests of translation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.training import Examples
from simstudy_learners.alignment.bitexts import Bitext, numbered_bitexts
from simstudy_learners.translation.aligned_bitexts import AlignedBitext, lexicon
from simstudy_learners.translation.texts import Text, index_texts

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


def randomly_linked(rng: np.random.Generator, n: int, longest: int = 5, n_words: int = 4) -> AlignedBitext:
    """Random sentence pairs with links anywhere, and with weights."""
    source, target = invented(rng, n, longest, n_words)
    n_words = len(source.vocabulary)
    (bitext,) = numbered_bitexts(
        [(source.words, source.bounds, target.words, target.bounds)], np.arange(n_words), n_words
    )
    links, weights = rng.random(len(bitext.pairs)) < 0.3, rng.integers(1, 4, n)
    return AlignedBitext(bitext, weights, links, lexicon(bitext, weights, links))


def matrix(corpus: AlignedBitext, k: int) -> np.ndarray:
    """The links of a sentence pair, source words by target words."""
    first, last = corpus.bitext.first_cell[k : k + 2]
    return corpus.links[first:last].reshape(len(source_of(corpus.bitext, k)), -1)


def source_of(bitext: Bitext, k: int) -> list[int]:
    """The words of a source sentence."""
    return list(bitext.source[bitext.first_source[k] : bitext.first_source[k + 1]].tolist())


def target_of(bitext: Bitext, k: int) -> list[int]:
    """The words of a target sentence."""
    return list(bitext.target[bitext.first_target[k] : bitext.first_target[k + 1]].tolist())


def words_of(text: Text, k: int) -> list[int]:
    """The words of a sentence."""
    return list(text.words[text.bounds[k] : text.bounds[k + 1]].tolist())
