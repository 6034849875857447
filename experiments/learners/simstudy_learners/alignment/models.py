"""Translation models, trained by expectation maximisation on the text alone: IBM model 1, fast_align's, and HMMs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np

from simstudy.validation import check_flag, check_number, check_whole
from simstudy_learners.alignment.bitexts import Bitext
from simstudy_learners.alignment.kernels import (
    Direction,
    Lexical,
    Posteriors,
    hmm_posteriors,
    link_posteriors,
    prior_distance,
)
from simstudy_learners.segments import Floats, Integers, places_in_segments

# fast_align keeps its tension within these.
_LEAST_TENSION, _MOST_TENSION = 0.1, 14.0

# The least count of a jump, so that none is impossible.
_LEAST_JUMPS = 0.5

# Below any sum of expected counts.
_NOTHING = 1e-300


@dataclass(frozen=True)
class Side:
    """One direction of a bitext: the words of one side are given, those of the other are generated from them.

    Attributes
    ----------
    bitext
        The sentence pairs.
    turned
        Whether target words generate source words; otherwise source words generate target words.
    """

    bitext: Bitext
    turned: bool

    @property
    def arrays(self) -> Direction:
        """What the kernels read."""
        b = self.bitext
        given, generated = (b.first_target, b.first_source) if self.turned else (b.first_source, b.first_target)
        return Direction(given, generated, b.first_cell, self.turned, b.pairs, self.generated)

    @property
    def generated(self) -> Integers:
        """Numbers of the generated words."""
        return self.bitext.source if self.turned else self.bitext.target

    @property
    def given_of_pair(self) -> Integers:
        """(pairs,) the given word of every word pair."""
        return self.bitext.lexicon.target if self.turned else self.bitext.lexicon.source

    @property
    def n_generated(self) -> int:
        """Number of different words that can be generated."""
        return self.bitext.lexicon.n_source if self.turned else self.bitext.lexicon.n_target

    def sentence_of_generated(self) -> Integers:
        """(generated words,) which sentence pair each belongs to."""
        return places_in_segments(self.arrays.first_generated)[0]


class TranslationModel(Protocol):
    """A model of one direction whose lexical table is kept elsewhere: its other parameters, and how it is learnt."""

    def posteriors(self, side: Side, lexical: Lexical, weights: Floats) -> tuple[Posteriors, Self, float]:
        """Posteriors of sentences of positive weight, the model updated by them, and the log-likelihood."""


@dataclass(frozen=True)
class Model1:
    """IBM model 1 (Brown et al. 1993): every position is as probable as any other, the empty word's too."""

    def posteriors(self, side: Side, lexical: Lexical, weights: Floats) -> tuple[Posteriors, Model1, float]:
        """Links by words alone."""
        found, log_likelihood, _ = link_posteriors(side.arrays, weights, lexical, 0.0, -1.0)
        return found, self, log_likelihood


@dataclass(frozen=True)
class DiagonalModel:
    """fast_align's model (Dyer et al. 2013): positions near the diagonal are more probable, exp(-tension distance).

    Attributes
    ----------
    tension
        How steep the prior is.
    p_null
        Probability of the empty word.
    adapts
        Whether the tension is learnt, within 0.1 and 14, as in fast_align. Learnt tension goes to 14 on short sentences
        like Multi30k's, which cost 0.5 to 1.1 BLEU on its val.
    """

    tension: float = 4.0
    p_null: float = 0.08
    adapts: bool = True

    def __post_init__(self) -> None:
        _check_probability("p_null", self.p_null)
        check_flag("adapts", self.adapts)
        check_number("tension", self.tension)
        if not self.tension > 0:
            raise ValueError(f"tension must be above 0, not {self.tension}")

    def posteriors(self, side: Side, lexical: Lexical, weights: Floats) -> tuple[Posteriors, DiagonalModel, float]:
        """Links by words and the diagonal; the tension is that whose expected distance is the one observed."""
        words = side.arrays
        found, log_likelihood, distance = link_posteriors(words, weights, lexical, self.tension, self.p_null)
        if not self.adapts:
            return found, self, log_likelihood
        linking = weights[side.sentence_of_generated()] * (1 - found.nulls)
        low, high = _LEAST_TENSION, _MOST_TENSION
        for _ in range(20):
            middle = (low + high) / 2
            closer = prior_distance(words.first_given, words.first_generated, linking, middle) < distance
            low, high = (low, middle) if closer else (middle, high)
        return found, replace(self, tension=round((low + high) / 2, 4)), log_likelihood


@dataclass(frozen=True)
class HiddenMarkov:
    """The hidden Markov model of Vogel et al. (1996), with an empty word as Och and Ney (2003) have it.

    Attributes
    ----------
    p_null
        Probability of the empty word.
    most
        Jumps wider than this, forward or backward, have the probability of one so wide.
    jumps
        (2 most + 1,) how probable jumps are to one another, from the widest backward one on; equal at the beginning.
        In a sentence they are scaled to sum to 1 - p_null over its positions.
    """

    p_null: float = 0.2
    most: int = 7
    jumps: tuple[float, ...] = field(default=())

    def __post_init__(self) -> None:
        _check_probability("p_null", self.p_null)
        check_whole("most", self.most, 1)
        if not self.jumps:
            object.__setattr__(self, "jumps", (1.0,) * (2 * self.most + 1))
        if len(self.jumps) != 2 * self.most + 1 or not min(self.jumps) > 0:
            raise ValueError(f"jumps must be {2 * self.most + 1} numbers above 0, not {self.jumps}")

    def posteriors(self, side: Side, lexical: Lexical, weights: Floats) -> tuple[Posteriors, HiddenMarkov, float]:
        """Links by words and the previous link; jump probabilities by one step of generalised iterative scaling."""
        jumps = np.array(self.jumps)
        found, jumped, expected, log_likelihood = hmm_posteriors(side.arrays, weights, lexical, jumps, self.p_null)
        # Sentences may be too short for a jump to be possible at all.
        grown = jumps * np.where(expected > 0, np.maximum(jumped, _LEAST_JUMPS) / np.maximum(expected, 1e-12), 1)
        return found, replace(self, jumps=tuple((grown / grown.sum()).tolist())), log_likelihood


def _check_probability(name: str, value: float) -> None:
    check_number(name, value)
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, both excluded, not {value}")


def estimate(side: Side, found: Posteriors, weights: Floats, floor: float) -> Lexical:
    """The lexical table from expected counts: relative frequencies, but none below the floor.

    The floor is the probability of word pairs that are not in what is trained on, and of those that no longer count.
    Variational Bayes, which fast_align offers, was worse on so little text: by 2.5 to 4 points of AER for fast_align's
    model, by six and more for the others.
    """
    links = np.bincount(
        side.bitext.pairs, found.cells * weights[side.bitext.sentence_of_cell()], len(side.given_of_pair)
    )
    of_given = np.bincount(side.given_of_pair, links)
    nulls = np.bincount(side.generated, found.nulls * weights[side.sentence_of_generated()], side.n_generated)
    table = links / np.maximum(of_given, _NOTHING)[side.given_of_pair]
    return Lexical(np.maximum(table, floor), np.maximum(nulls / max(nulls.sum(), _NOTHING), floor))


def uniform(side: Side) -> Lexical:
    """Every word as probable as any other."""
    chance = 1 / max(1, side.n_generated)
    return Lexical(np.full(len(side.given_of_pair), chance), np.full(side.n_generated, chance))


@dataclass(frozen=True)
class Stage:
    """A model, and how many iterations of expectation maximisation it has; the lexical table goes on to the next."""

    model: TranslationModel
    iterations: int = 5

    def __post_init__(self) -> None:
        check_whole("iterations", self.iterations, 1)


@dataclass(frozen=True)
class Trained:
    """A model and a lexical table for either direction: source to target, target to source."""

    models: tuple[TranslationModel, TranslationModel]
    lexicals: tuple[Lexical, Lexical]

    def posteriors(self, bitext: Bitext) -> tuple[Posteriors, Posteriors]:
        """Posteriors of both directions in any sentence pairs."""
        weights = np.ones(len(bitext))
        first, second = (
            model.posteriors(Side(bitext, turned), lexical, weights)[0]
            for turned, model, lexical in zip((False, True), self.models, self.lexicals, strict=True)
        )
        return first, second


def train_both(
    bitext: Bitext, weights: Integers, stages: tuple[Stage, ...], floor: float, *, agree: bool = False
) -> Trained:
    """Both directions, each through the stages: apart, or together so that they agree (Liang et al. 2006).

    With agreement the expected count of a link is the product of its posteriors in both directions (their section
    3.2.1). Posteriors of the empty word, and jumps, are each direction's own.
    """
    check_flag("agree", agree)
    counted = weights.astype(np.float64)
    sides = (Side(bitext, False), Side(bitext, True))
    lexicals = [uniform(side) for side in sides]
    models: list[TranslationModel] = []
    for stage in stages:
        models = [stage.model, stage.model]
        for _ in range(stage.iterations):
            found = []
            for k, side in enumerate(sides):
                own, models[k], _ = models[k].posteriors(side, lexicals[k], counted)
                found.append(own)
            if agree:
                both = found[0].cells * found[1].cells
                found = [Posteriors(both, one.nulls) for one in found]
            lexicals = [estimate(side, own, counted, floor) for side, own in zip(sides, found, strict=True)]
    return Trained((models[0], models[1]), (lexicals[0], lexicals[1]))
