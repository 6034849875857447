"""N-gram-based translation: a language model of bilingual units (Mariño et al. 2006)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simstudy.learners.examples import Examples
from simstudy.learners.translation.bitexts import aligned
from simstudy.learners.translation.candidates import best_candidates, check_search, check_weights, translated
from simstudy.learners.translation.hypotheses import Search
from simstudy.learners.translation.language_model import LanguageModel, scored, train_language_model
from simstudy.learners.translation.phrases import PhraseTable, tabulated
from simstudy.learners.translation.stack_decoder import Models
from simstudy.learners.translation.texts import END, START, Integers
from simstudy.learners.translation.units import units
from simstudy.validation import check_whole

# What units are called in their language model, after the marks: units that are too long, then those of the table.
_LONG = max(START, END) + 1


@dataclass(frozen=True)
class UnitWeights:
    """Weights of a log-linear model; only their proportions matter.

    Those given by default came from benchmarks/tune_translation.py: BLEU on Multi30k's val.

    Attributes
    ----------
    units
        Of the language model of bilingual units.
    language
        Of the language model of the target language.
    lexical
        Of the lexical weights of the target words given the source words, and of the reverse.
    unit, word
        What each unit, and each word that is written, adds.
    distortion
        What each word adds that a unit begins away from the end of the one before; subtracted.
    """

    units: float = 1.0
    language: float = 0.2
    lexical: tuple[float, float] = (0.2, 0.2)
    unit: float = 0.0
    word: float = 1.0
    distortion: float = 0.8

    def __post_init__(self) -> None:
        if len(self.lexical) != 2:
            raise ValueError(f"lexical must be two weights, not {len(self.lexical)}")
        check_weights(self)


@dataclass(frozen=True)
class BilingualNgrams:
    """A translator whose model is an n-gram model of the smallest phrase pairs, in the order of the target sentence.

    What a phrase-based model knows from long phrases this one knows from the units before. The other features are those
    of Mariño et al. (2006): a language model of the target language, lexical weights both ways, numbers of words and
    units. Units are "unfolded" (Crego et al. 2005), so that the decoder may reorder them, at a cost for the distance. A
    word that is in no unit by itself is translated by the lexicon; others that are unknown stay as they are.

    Attributes
    ----------
    weights
        Of the log-linear model.
    longest
        Words of a unit, on either side; longer ones are only context.
    unit_order, order
        Of the language models of units and of words.
    n_iterations
        Of EM, for the word alignment.
    n_options
        Units of a source phrase that are looked at, the best.
    search
        Stack size, by how much a hypothesis may be worse than the best of its stack, and the distortion limit.
    """

    weights: UnitWeights = UnitWeights()
    longest: int = 5
    unit_order: int = 3
    order: int = 4
    n_iterations: int = 5
    n_options: int = 20
    search: Search = Search(stack=30, width=8.0, distortion_limit=5)

    def __post_init__(self) -> None:
        for name in ("longest", "n_iterations", "n_options"):
            check_whole(name, getattr(self, name), 1)
        for name in ("unit_order", "order"):
            check_whole(name, getattr(self, name), 2)
        check_search(self.search)

    def train(self, examples: Examples, weights: Integers, seed: int) -> Callable[[Examples], list[str]]:
        """Train on sentence pairs that are `Text`; the seed is not used, for nothing is random."""
        bitext = aligned(examples, weights, self.n_iterations)
        source, target = bitext.source, bitext.target
        language = train_language_model(target.words, target.bounds, bitext.weights, len(target.vocabulary), self.order)
        rows = units(source.bounds, target.bounds, bitext.links)
        short = (rows[:, [2, 4]] <= self.longest).all(axis=1)
        table, pairs = tabulated(bitext, rows[short], self.longest)
        names = np.full(len(rows), _LONG)
        names[short] += 1 + pairs
        # The last name is that of units that are not in the training set.
        n_names = _LONG + 1 + len(table.word_bounds)
        sentence_bounds = np.searchsorted(rows[:, 0], np.arange(len(source) + 1))
        model = train_language_model(names, sentence_bounds, bitext.weights, n_names, self.unit_order)
        return self.translator(table, model, language)

    def translator(
        self, table: PhraseTable, model: LanguageModel, language: LanguageModel
    ) -> Callable[[Examples], list[str]]:
        """What translates with a table of units, a language model of them, and one of words."""
        weights = self.weights
        n_pairs = len(table.word_bounds) - 1
        models = Models(language, model, weights.language, weights.units, weights.distortion)
        score = table.features[:, 2:] @ np.array(weights.lexical) + weights.unit
        score += weights.word * np.diff(table.word_bounds)
        unit = _LONG + 1 + np.arange(n_pairs)
        alone = scored(language, table.words, table.word_bounds, sentences=False)
        as_unit = scored(model, unit, np.arange(n_pairs + 1), sentences=False)
        expected = score + weights.language * alone + weights.units * as_unit
        candidates = best_candidates(table, score, expected, unit, self.n_options)
        as_it_is = weights.unit + weights.word
        expected_as_it_is = as_it_is + weights.language * language.unknown + weights.units * model.unknown
        unknown = (as_it_is, expected_as_it_is, _LONG + 1 + n_pairs)
        return lambda other: translated(other.inputs, candidates, unknown, models, self.search)
