"""N-gram-based translation: a language model of bilingual units (Mariño et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy.validation import check_whole
from simstudy_learners.language_models.kneser_ney import LanguageModel, train_language_model
from simstudy_learners.segments import Floats
from simstudy_learners.translation.aligned_bitexts import AlignedBitext
from simstudy_learners.translation.log_linear import LONG_PAIR, LogLinear, check_weights
from simstudy_learners.translation.phrases import PhraseTable, tabulated
from simstudy_learners.translation.units import units


@dataclass(frozen=True)
class UnitWeights:
    """Weights of a log-linear model of units; only their proportions matter.

    Those given by default came from benchmarks/tune_translation.py: BLEU on Multi30k's val.

    Attributes
    ----------
    units
        Of the language model of bilingual units.
    language
        Of the language model of the target language.
    lexical
        Of the lexical weights of the target words given the source words, and of the reverse.
    phrase, word
        What each unit, and each word that is written, adds.
    distortion
        What each word adds that a unit begins away from the end of the one before; subtracted.
    """

    units: float = 1.0
    language: float = 0.2
    lexical: tuple[float, float] = (0.2, 0.2)
    phrase: float = 0.0
    word: float = 1.0
    distortion: float = 1.0

    def __post_init__(self) -> None:
        if len(self.lexical) != 2:
            raise ValueError(f"lexical must be two weights, not {len(self.lexical)}")
        check_weights(self)

    @property
    def features(self) -> Floats:
        """Of the features of a phrase pair: relative frequencies do not count."""
        return np.array([0.0, 0.0, *self.lexical])


@dataclass(frozen=True)
class BilingualNgrams(LogLinear):
    """A translator whose model is an n-gram model of the smallest phrase pairs, in the order of the target sentence.

    What a phrase-based model knows from long phrases this one knows from the units before. The other features are those
    of Mariño et al. (2006): a language model of the target language, lexical weights both ways, numbers of words and
    units. Units are "unfolded" (Crego et al. 2005), so that the decoder may reorder them, at a cost for the distance. A
    word that is in no unit by itself is translated by the lexicon. Units of more words than `longest` are only context.

    Attributes
    ----------
    weights
        Of the log-linear model.
    unit_order
        Of the language model of units.
    """

    weights: UnitWeights = UnitWeights()
    unit_order: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("unit_order", self.unit_order, 2)

    def phrase_pairs(self, corpus: AlignedBitext, language: LanguageModel) -> tuple[PhraseTable, LanguageModel]:
        """The units, and a language model of their sequences."""
        rows = units(corpus.bitext, corpus.links)
        short = (rows[:, [2, 4]] <= self.longest).all(axis=1)
        table, pairs = tabulated(corpus, rows[short], self.longest)
        names = np.full(len(rows), LONG_PAIR)
        names[short] += 1 + pairs
        # The last name is that of units that are not in the training set.
        n_names = LONG_PAIR + 1 + len(table.word_bounds)
        sentence_bounds = np.searchsorted(rows[:, 0], np.arange(len(corpus.bitext) + 1))
        return table, train_language_model(names, sentence_bounds, corpus.weights, n_names, self.unit_order)
