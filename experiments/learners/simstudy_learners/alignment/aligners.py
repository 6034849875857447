"""Base systems of word alignment: unsupervised aligners of both directions, and a classifier of links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy.validation import brief, check_choice, check_flag, check_number
from simstudy_learners.alignment.bitexts import POSSIBLE, SURE, UNALIGNED, Bitext
from simstudy_learners.alignment.kernels import Posteriors
from simstudy_learners.alignment.link_features import dice, link_features
from simstudy_learners.alignment.models import Side, Stage, train_both
from simstudy_learners.alignment.symmetrisation import SYMMETRISATIONS, best_links, probable_links, symmetrise
from simstudy_learners.segments import Floats, Integers

Links = NDArray[np.bool_]

# Probabilities that differ by less are equal, so that links do not hang on how a machine rounds.
_DECIMALS = 6


@dataclass(frozen=True)
class TextAligner:
    """A base system of bitexts: translation models of both directions, learnt from the words alone; nothing is random.

    Sentence pairs of weight w count w times. Words and word pairs that training has not seen have the floor's
    probability, so that where they stand decides.

    Attributes
    ----------
    stages
        The models that are trained one after the other, each beginning with the lexical table of the one before.
    agree
        Whether both directions are trained to agree (Liang et al. 2006).
    combination
        How the directions become one alignment: one of `SYMMETRISATIONS` of the best links of each, or "posteriors",
        the links whose posteriors have a geometric mean above `threshold`.
    threshold
        A fraction.
    floor
        The least probability of a word given another.

    Raises
    ------
    ValueError
        For parameters outside their rules.
    """

    stages: tuple[Stage, ...]
    agree: bool = False
    combination: str = "grow-diag-final-and"
    threshold: float = 0.3
    floor: float = 1e-5

    def __post_init__(self) -> None:
        if not isinstance(self.stages, tuple) or not self.stages:
            raise ValueError(f"stages must be a tuple of at least one Stage, not {brief(self.stages)}")
        check_flag("agree", self.agree)
        check_choice("combination", self.combination, [*SYMMETRISATIONS, "posteriors"])
        _check_fraction("threshold", self.threshold)
        _check_fraction("floor", self.floor)

    def posteriors(self, bitext: Bitext, weights: Integers) -> Callable[[Bitext], tuple[Posteriors, Posteriors]]:
        """Train; return what finds the posteriors of both directions in other sentence pairs.

        Raises
        ------
        ValueError
            Where no sentence pair has a weight above 0.
        """
        if not (weights > 0).any():
            raise ValueError("weights must give at least one sentence pair a count above 0")
        return train_both(bitext, weights, self.stages, self.floor, agree=self.agree).posteriors

    def combine(self, bitext: Bitext, found: tuple[Posteriors, Posteriors]) -> Links:
        """The links (cells,) that the posteriors of both directions say."""
        if self.combination == "posteriors":
            return probable_links(*found, self.threshold)
        forward, backward = (
            best_links(Side(bitext, turned), one) for turned, one in zip((False, True), found, strict=True)
        )
        return symmetrise(bitext, forward, backward, self.combination)

    def train(self, examples: Examples, weights: Integers, seed: int) -> Callable[[Examples], Links]:
        """Train on the text of the sentence pairs; gold links are not looked at."""
        posteriors = self.posteriors(examples.inputs, weights)
        return lambda other: self.combine(other.inputs, posteriors(other.inputs))


@dataclass(frozen=True)
class LinkClassifier:
    """A supervised base system: a logistic regression says of every link whether it is one.

    An unsupervised aligner is first trained on the text of all sentence pairs; its posteriors are features, as those of
    the hidden Markov model are in Haghighi et al. (2009). The regression learns from the sentence pairs that have gold
    links: sure links against cells without any. Links that are only possible are left out, since AER takes them either
    way. Nothing is random.

    Attributes
    ----------
    text
        The unsupervised aligner.
    threshold
        Links more probable than that are guessed.
    penalty
        The coefficient of half the sum of squared weights, features being standardised.
    """

    text: TextAligner
    threshold: float = 0.4
    penalty: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.text, TextAligner):
            raise ValueError(f"text must be a TextAligner, not {brief(self.text)}")
        _check_fraction("threshold", self.threshold)
        check_number("penalty", self.penalty)
        if not 0 < self.penalty < np.inf:
            raise ValueError(f"penalty must be above 0, not {self.penalty}")

    def train(self, examples: Examples, weights: Integers, seed: int) -> Callable[[Examples], Links]:
        """Train on the text, then on the gold links.

        Raises
        ------
        ValueError
            Where no sentence pair of the resampled training set has sure gold links, and cells without a link.
        """
        from sklearn.linear_model import LogisticRegression

        bitext: Bitext = examples.inputs
        posteriors = self.text.posteriors(bitext, weights)
        association = dice(bitext, weights)

        def features(other: Bitext) -> Floats:
            return np.round(link_features(other, posteriors(other), association), _DECIMALS)

        has_gold = examples.gold[bitext.first_cell[:-1]] != UNALIGNED
        aligned = np.flatnonzero(has_gold & (weights > 0))
        known, cells = bitext.select(aligned)
        counts, gold = weights[aligned][known.sentence_of_cell()], examples.gold[cells]
        learnt = gold != POSSIBLE
        is_sure, often = gold[learnt] == SURE, counts[learnt].astype(np.float64)
        if len(np.unique(is_sure)) < 2:
            raise ValueError("weights must give a sentence pair with sure links, and others without, a count above 0")
        rows = features(known)[learnt]
        mean = (often @ rows) / often.sum()
        spread = np.sqrt((often @ (rows - mean) ** 2) / often.sum())
        spread[spread == 0] = 1.0
        # Newton's method ends so close to the optimum that its last bits do not matter.
        model = LogisticRegression(C=1 / self.penalty, solver="newton-cholesky", tol=1e-8, max_iter=100)
        model.fit((rows - mean) / spread, is_sure, sample_weight=often)

        def align(other: Examples) -> Links:
            probabilities = model.predict_proba((features(other.inputs) - mean) / spread)[:, 1]
            links: Links = np.round(probabilities, _DECIMALS) > self.threshold
            return links

        return align


def _check_fraction(name: str, value: float) -> None:
    check_number(name, value)
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, both excluded, not {value}")
