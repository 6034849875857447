"""Log-linear models of phrase pairs, with language models and a stack decoder: the base of two translators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol

import numpy as np

from simstudy.training import Examples
from simstudy.validation import check_number, check_whole
from simstudy_learners.language_models.kneser_ney import LanguageModel, scored, train_language_model
from simstudy_learners.language_models.ngrams import END, START
from simstudy_learners.segments import Floats, Integers
from simstudy_learners.translation.aligned_bitexts import AlignedBitext, aligned
from simstudy_learners.translation.candidates import best_candidates, translated
from simstudy_learners.translation.hypotheses import Search
from simstudy_learners.translation.phrases import PhraseTable
from simstudy_learners.translation.stack_decoder import Models

#: The name in a language model of phrase pairs, after the marks, of those that are too long for the table; then come
#: the names of those of the table, and of those that were not in the training set.
LONG_PAIR = max(START, END) + 1


class Weights(Protocol):
    """Weights of a log-linear model; only their proportions matter."""

    @property
    def features(self) -> Floats:
        """(4,) of the features of a phrase pair, see `phrases.FEATURES`."""

    @property
    def phrase(self) -> float:
        """What each phrase adds."""

    @property
    def word(self) -> float:
        """What each word adds that is written."""

    @property
    def language(self) -> float:
        """Of the language model of the target language."""

    @property
    def units(self) -> float:
        """Of the language model of phrase pairs."""

    @property
    def distortion(self) -> float:
        """What each word adds that a phrase begins away from the end of the one before; subtracted."""


def check_weights(weights: Any) -> None:
    """Raise a ValueError where a weight of a log-linear model is no finite number; it names the weight."""
    for name, value in vars(weights).items():
        for one in value if isinstance(value, tuple) else (value,):
            check_number(name, one)
            if not isfinite(one):
                raise ValueError(f"{name} must be finite, not {one}")


@dataclass(frozen=True)
class LogLinear(ABC):
    """A translator: word alignment, pairs of phrases, a language model, and a stack decoder.

    Words for which there is no phrase stay as they are. Sentences of more than 62 words are translated in pieces of
    62.

    Attributes
    ----------
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

    longest: int = 5
    order: int = 4
    n_iterations: int = 5
    n_options: int = 20
    search: Search = Search(stack=30, width=8.0, distortion_limit=5)

    def __post_init__(self) -> None:
        for name in ("longest", "n_iterations", "n_options"):
            check_whole(name, getattr(self, name), 1)
        check_whole("order", self.order, 2)
        check_whole("search.stack", self.search.stack, 1)
        check_number("search.width", self.search.width)
        if self.search.width < 0:
            raise ValueError(f"search.width must not be below 0, not {self.search.width}")
        check_whole("search.distortion_limit", self.search.distortion_limit, 0)

    @property
    @abstractmethod
    def weights(self) -> Weights:
        """Of the log-linear model."""

    @abstractmethod
    def phrase_pairs(self, corpus: AlignedBitext, language: LanguageModel) -> tuple[PhraseTable, LanguageModel]:
        """The table of phrase pairs, and a language model of them; any where its weight is 0."""

    def train(self, examples: Examples, weights: Integers, seed: int) -> Callable[[Examples], list[str]]:
        """Train on sentence pairs that are `Text`; the seed is not used, for nothing is random."""
        corpus = aligned(examples, weights, self.n_iterations)
        target, bounds = corpus.bitext.target, corpus.bitext.first_target
        language = train_language_model(target, bounds, corpus.weights, corpus.n_words, self.order)
        return self.translator(language, *self.phrase_pairs(corpus, language))

    def translator(
        self, language: LanguageModel, table: PhraseTable, units: LanguageModel
    ) -> Callable[[Examples], list[str]]:
        """What translates with a language model, a table of phrase pairs, and a language model of them."""
        weights = self.weights
        n_pairs = len(table.word_bounds) - 1
        unit = LONG_PAIR + 1 + np.arange(n_pairs)
        score = table.features @ weights.features + weights.phrase + weights.word * np.diff(table.word_bounds)
        expected = score + weights.language * scored(language, table.words, table.word_bounds, sentences=False)
        as_it_is = weights.phrase + weights.word
        expected_as_it_is = as_it_is + weights.language * language.unknown
        if weights.units:
            expected += weights.units * scored(units, unit, np.arange(n_pairs + 1), sentences=False)
            expected_as_it_is += weights.units * units.unknown
        candidates = best_candidates(table, score, expected, unit, self.n_options)
        unknown = (as_it_is, expected_as_it_is, LONG_PAIR + 1 + n_pairs)
        models = Models(language, units, weights.language, weights.units, weights.distortion)
        return lambda other: translated(other.inputs, candidates, unknown, models, self.search)
