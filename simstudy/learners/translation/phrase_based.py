"""Phrase-based translation (Koehn et al. 2003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simstudy.learners.examples import Examples
from simstudy.learners.translation.bitexts import aligned
from simstudy.learners.translation.candidates import best_candidates, check_search, check_weights, translated
from simstudy.learners.translation.hypotheses import Search
from simstudy.learners.translation.language_model import LanguageModel, scored, train_language_model
from simstudy.learners.translation.phrases import PhraseTable, phrase_table
from simstudy.learners.translation.stack_decoder import Models
from simstudy.learners.translation.texts import Integers
from simstudy.validation import check_whole


@dataclass(frozen=True)
class PhraseWeights:
    """Weights of a log-linear model; only their proportions matter.

    Those given by default came from benchmarks/tune_translation.py: BLEU on Multi30k's val.

    Attributes
    ----------
    translation
        Of the four features of a phrase pair, see `phrases.FEATURES`.
    phrase, word
        What each phrase, and each word that is written, adds.
    language
        Of the language model.
    distortion
        What each word adds that a phrase begins away from the end of the one before; subtracted.
    """

    translation: tuple[float, float, float, float] = (1.0, 0.4, 0.4, 0.3)
    phrase: float = -0.3
    word: float = 0.6
    language: float = 1.0
    distortion: float = 0.8

    def __post_init__(self) -> None:
        if len(self.translation) != 4:
            raise ValueError(f"translation must be four weights, not {len(self.translation)}")
        check_weights(self)


@dataclass(frozen=True)
class PhraseBased:
    """A phrase-based translator: word alignment, phrase pairs, a language model, and a stack decoder.

    Words for which there is no phrase stay as they are. Sentences of more than 62 words are translated in pieces of
    62.

    Attributes
    ----------
    weights
        Of the log-linear model.
    longest
        Words of a phrase, on either side.
    order
        Of the language model.
    n_iterations
        Of EM, for the word alignment.
    n_options
        Translations of a phrase that are looked at, the best.
    search
        Stack size, by how much a hypothesis may be worse than the best of its stack, and the distortion limit.
    """

    weights: PhraseWeights = PhraseWeights()
    longest: int = 5
    order: int = 4
    n_iterations: int = 5
    n_options: int = 20
    search: Search = Search(stack=30, width=8.0, distortion_limit=5)

    def __post_init__(self) -> None:
        for name in ("longest", "n_iterations", "n_options"):
            check_whole(name, getattr(self, name), 1)
        check_whole("order", self.order, 2)
        check_search(self.search)

    def train(self, examples: Examples, weights: Integers, seed: int) -> Callable[[Examples], list[str]]:
        """Train on sentence pairs that are `Text`; the seed is not used, for nothing is random."""
        bitext = aligned(examples, weights, self.n_iterations)
        n_words = len(bitext.target.vocabulary)
        language = train_language_model(bitext.target.words, bitext.target.bounds, bitext.weights, n_words, self.order)
        return self.translator(phrase_table(bitext, self.longest), language)

    def translator(self, table: PhraseTable, language: LanguageModel) -> Callable[[Examples], list[str]]:
        """What translates with a phrase table and a language model."""
        weights = self.weights
        models = Models(language, language, weights.language, 0.0, weights.distortion)
        score = table.features @ np.array(weights.translation) + weights.phrase
        score += weights.word * np.diff(table.word_bounds)
        alone = scored(language, table.words, table.word_bounds, sentences=False)
        no_unit = np.zeros(len(score), np.int64)
        candidates = best_candidates(table, score, score + weights.language * alone, no_unit, self.n_options)
        as_it_is = weights.phrase + weights.word
        unknown = (as_it_is, as_it_is + weights.language * language.unknown, 0)
        return lambda other: translated(other.inputs, candidates, unknown, models, self.search)
