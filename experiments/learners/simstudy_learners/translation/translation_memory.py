"""Translation by retrieval: the most similar sentence of a translation memory, repaired word by word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np

from simstudy.training import Examples
from simstudy.validation import check_number, check_whole
from simstudy_learners.language_models.kneser_ney import train_language_model
from simstudy_learners.language_models.ngrams import Ngrams
from simstudy_learners.segments import Integers, bounds_of, places_in_segments
from simstudy_learners.translation.aligned_bitexts import AlignedBitext, aligned
from simstudy_learners.translation.memory_index import Asked, Index, look_up
from simstudy_learners.translation.memory_repair import Judgement, Memory, translate
from simstudy_learners.translation.texts import Text, spelt_out


@dataclass(frozen=True)
class TranslationMemory:
    """Example-based translation: a similar sentence's translation, with the words replaced in which they differ.

    Nagao (1984) proposed to translate by analogy; replacing the words of a fuzzy match through word alignment is the
    repair of Koehn and Senellart (2010), here with single words in place of a phrase-based
    system. Words and n-grams are worth their inverse document frequency in the resample.

    Attributes
    ----------
    n_candidates
        Sentences of the memory whose repaired translations are looked at.
    longest
        Words of an n-gram that sentences may share.
    fluency
        Worth of the mean logarithm of the probability of a translation's words, beside the likeness of the sentences
        (0 to 1).
    order
        Of the language model.
    n_iterations
        Of EM, for the word alignment.
    """

    n_candidates: int = 100
    longest: int = 3
    fluency: float = 0.2
    order: int = 4
    n_iterations: int = 5

    def __post_init__(self) -> None:
        for name in ("n_candidates", "longest", "n_iterations"):
            check_whole(name, getattr(self, name), 1)
        check_whole("order", self.order, 2)
        check_number("fluency", self.fluency)
        if not isfinite(self.fluency):
            raise ValueError(f"fluency must be finite, not {self.fluency}")

    def train(self, examples: Examples, weights: Integers, seed: int) -> Callable[[Examples], list[str]]:
        """Store sentence pairs that are `Text`; the seed is not used, for nothing is random."""
        corpus = aligned(examples, weights, self.n_iterations)
        bitext, n_words = corpus.bitext, corpus.n_words
        language = train_language_model(bitext.target, bitext.first_target, corpus.weights, n_words, self.order)
        ngrams, numbers = Ngrams.of(bitext.source, bitext.first_source, n_words, self.longest)
        sentence, number = distinct(numbers, bitext.first_source)
        often = np.bincount(number, corpus.weights[sentence])
        n_pairs = corpus.weights.sum()
        # Never 0: what is everywhere still counts a little.
        worth = np.log((n_pairs + 1) / often)
        whole = np.bincount(sentence, worth[number]).astype(np.float64)
        order = np.argsort(number, kind="stable")
        index = Index(np.searchsorted(number[order], np.arange(len(worth) + 1)), sentence[order], worth, whole)
        # Words and n-grams that the memory has not are worth most.
        unseen = np.log(n_pairs + 1.0)
        word_worth = np.full(n_words, unseen)
        word_worth[ngrams.keys[0]] = worth[: len(ngrams.keys[0])]
        memory = Memory(bitext.bounds, bitext.source, bitext.target, corpus.links)
        judgement = Judgement(word_worth, likeliest(corpus), language, float(self.fluency))

        def answer(other: Examples) -> list[str]:
            text: Text = other.inputs
            at, asked = distinct(ngrams.find(text.words, text.bounds), text.bounds)
            of_all, _ = distinct(Ngrams.of(text.words, text.bounds, n_words, self.longest)[1], text.bounds)
            n_unseen = np.bincount(of_all, minlength=len(text)) - np.bincount(at, minlength=len(text))
            total = np.bincount(at, worth[asked], len(text)) + n_unseen * unseen
            best = np.empty((len(text), self.n_candidates), np.int64)
            look_up(Asked(np.searchsorted(at, np.arange(len(text) + 1)), asked, total), index, best)
            translations, sizes = translate(text.words, text.bounds, best, memory, judgement)
            words = translations[np.arange(translations.shape[1]) < sizes[:, None]]
            return spelt_out(words, bounds_of(sizes), text.vocabulary)

        return answer


def distinct(numbers: Integers, bounds: Integers) -> tuple[Integers, Integers]:
    """Sentences and the distinct n-grams in them, from those that begin at each word; by sentence, then n-gram."""
    at, level = np.nonzero(numbers >= 0)
    sentence = places_in_segments(bounds)[0][at]
    number = numbers[at, level]
    width = int(number.max(initial=0)) + 1
    keys = np.unique(sentence * width + number)
    return keys // width, keys % width


def likeliest(corpus: AlignedBitext) -> Integers:
    """(words of the vocabulary,) each word's most frequent translation, 0 for none; itself where it is unknown."""
    linked, left_out = np.flatnonzero(corpus.lexicon.to_target), np.flatnonzero(corpus.lexicon.left_out)
    source = np.concatenate([corpus.bitext.lexicon.source[linked], left_out])
    target = np.concatenate([corpus.bitext.lexicon.target[linked], np.zeros(len(left_out), np.int64)])
    share = np.concatenate([corpus.lexicon.to_target[linked], corpus.lexicon.left_out[left_out]]).round(9)
    order = np.lexsort((target, -share, source))
    first = np.unique(source[order], return_index=True)[1]
    found = np.arange(corpus.n_words)
    found[source[order][first]] = target[order][first]
    return found
