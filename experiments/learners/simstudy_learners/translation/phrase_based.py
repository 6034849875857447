"""Phrase-based translation (Koehn et al. 2003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simstudy_learners.language_models.kneser_ney import LanguageModel
from simstudy_learners.segments import Floats
from simstudy_learners.translation.aligned_bitexts import AlignedBitext
from simstudy_learners.translation.log_linear import LogLinear, check_weights
from simstudy_learners.translation.phrases import PhraseTable, extracted, tabulated


@dataclass(frozen=True)
class PhraseWeights:
    """Weights of a log-linear model of phrases; only their proportions matter.

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

    translation: tuple[float, float, float, float] = (1.4, 0.4, 0.0, 0.3)
    phrase: float = -0.3
    word: float = 0.6
    language: float = 1.0
    distortion: float = 0.8

    def __post_init__(self) -> None:
        if len(self.translation) != 4:
            raise ValueError(f"translation must be four weights, not {len(self.translation)}")
        check_weights(self)

    @property
    def features(self) -> Floats:
        """Of the features of a phrase pair."""
        return np.array(self.translation)

    @property
    def units(self) -> float:
        """There is no language model of phrase pairs."""
        return 0.0


@dataclass(frozen=True)
class PhraseBased(LogLinear):
    """A phrase-based translator: all phrase pairs that the word alignment allows.

    Attributes
    ----------
    weights
        Of the log-linear model.
    """

    weights: PhraseWeights = PhraseWeights()

    def phrase_pairs(self, corpus: AlignedBitext, language: LanguageModel) -> tuple[PhraseTable, LanguageModel]:
        """All phrase pairs."""
        return tabulated(corpus, extracted(corpus.bitext, corpus.links, self.longest), self.longest)[0], language
