"""Base systems of dependency parsing: what finds heads, and what labels the arcs of the trees found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simstudy.running.fingerprints import derived_seed
from simstudy.training import Examples
from simstudy.validation import check_flag, check_whole
from simstudy_learners.dependencies.eisner import reparse
from simstudy_learners.dependencies.graph_parser import learn_arcs, nearest_projective, parse_arcs
from simstudy_learners.dependencies.hashed_features import Learnt, averaged, tables
from simstudy_learners.dependencies.relation_labeller import label_trees, learn_labels
from simstudy_learners.dependencies.transition_parser import learn_transitions, parse_transitions
from simstudy_learners.dependencies.trees import Integers, Parses, Words


class HeadFinder(Protocol):
    """An unlabelled parser that can be trained."""

    def learn(self, words: Words, heads: Integers, weights: Integers, seed: int) -> Callable[[Words], Integers]:
        """Learn from sentences, each there as often as weights (n,) say; return what finds other words' heads."""


@dataclass(frozen=True)
class TransitionParser:
    """A greedy arc-hybrid parser with a dynamic oracle (Goldberg and Nivre 2013): averaged perceptron.

    Attributes
    ----------
    epochs
        How often the training set is gone through, each time in another order.
    right_to_left
        Whether sentences are read from right to left.
    bits
        Features are hashed into 2^bits rows of weights.
    """

    epochs: int = 10
    right_to_left: bool = False
    bits: int = 21

    def __post_init__(self) -> None:
        check_whole("epochs", self.epochs, 1)
        check_flag("right_to_left", self.right_to_left)
        check_whole("bits", self.bits, 1, 32)

    def learn(self, words: Words, heads: Integers, weights: Integers, seed: int) -> Callable[[Words], Integers]:
        """Learn to take transitions."""
        if self.right_to_left:
            words, heads = words.mirrored(), words.mirrored_heads(heads)
        order = presentation(weights, self.epochs, seed)
        learnt = tables(self.bits, 4)
        n_steps = learn_transitions(words.arrays, heads, order, int(weights.sum()), learnt)
        model = averaged(learnt, n_steps)

        def find(words: Words) -> Integers:
            found = np.empty(len(words.forms), np.int64)
            parse_transitions((words.mirrored() if self.right_to_left else words).arrays, model, found)
            return words.mirrored_heads(found) if self.right_to_left else found

        return find


@dataclass(frozen=True)
class GraphParser:
    """A first-order graph-based parser (McDonald et al. 2005): Eisner's algorithm, averaged perceptron with a margin.

    Trees are projective. A training tree that is not is replaced by the projective one that has most of its arcs.

    Attributes
    ----------
    epochs
        How often the training set is gone through, each time in another order.
    margin
        By how much a gold tree's score is to be above another's for each arc that differs; a perceptron's update
        changes an arc's score by about 35, the number of its features.
    bits
        Features are hashed into 2^bits weights.
    """

    epochs: int = 6
    margin: int = 40
    bits: int = 22

    def __post_init__(self) -> None:
        check_whole("epochs", self.epochs, 1)
        check_whole("margin", self.margin, 0)
        check_whole("bits", self.bits, 1, 32)

    def learn(self, words: Words, heads: Integers, weights: Integers, seed: int) -> Callable[[Words], Integers]:
        """Learn to score arcs."""
        order = presentation(weights, self.epochs, seed)
        target = np.empty(len(heads), np.int64)
        nearest_projective(words.bounds, heads, target)
        empty = tables(self.bits, 1)
        learnt = Learnt(empty.weights[:, 0], empty.sums[:, 0])
        n_steps = learn_arcs(words.arrays, target, order, self.margin, learnt)
        model = averaged(learnt, n_steps)

        def find(words: Words) -> Integers:
            found = np.empty(len(words.forms), np.int64)
            parse_arcs(words.arrays, model, found)
            return found

        return find


@dataclass(frozen=True)
class Reparser:
    """An ensemble of parsers: the projective tree with most of their votes (Sagae and Lavie 2006).

    Surdeanu and Manning (2010) found such ensembles of a few simple parsers to be as good as more elaborate ones.

    Attributes
    ----------
    members
        The parsers, each with its own randomness.
    votes
        How many votes each of them has.
    """

    members: tuple[HeadFinder, ...]
    votes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.members:
            raise ValueError("members must be at least one parser, not none")
        if len(self.votes) != len(self.members):
            raise ValueError(f"votes must be a number for each of the {len(self.members)} members, not {self.votes}")
        for number in self.votes:
            check_whole("votes", number, 1)

    def learn(self, words: Words, heads: Integers, weights: Integers, seed: int) -> Callable[[Words], Integers]:
        """Let every member learn."""
        finders = [
            member.learn(words, heads, weights, derived_seed(seed, "member", k))
            for k, member in enumerate(self.members)
        ]

        def find(words: Words) -> Integers:
            proposals = np.stack([finder(words) for finder in finders])
            found = np.empty(len(words.forms), np.int64)
            reparse(words.bounds, proposals, np.array(self.votes), found)
            return found

        return find


@dataclass(frozen=True)
class LabelledParser:
    """A base system: what finds heads, and a linear classifier of arcs that labels them, trained on gold trees.

    Attributes
    ----------
    heads
        What finds heads.
    label_epochs
        How often the labels' classifier goes through the training set.
    label_bits
        Its features are hashed into 2^label_bits rows of weights.
    """

    heads: HeadFinder
    label_epochs: int = 3
    label_bits: int = 18

    def __post_init__(self) -> None:
        check_whole("label_epochs", self.label_epochs, 1)
        check_whole("label_bits", self.label_bits, 1, 32)

    def train(self, examples: Examples, weights: Integers, seed: int) -> Callable[[Examples], Parses]:
        """Train on sentences that are `Words` with `Parses` in an order that the seed draws."""
        words: Words = examples.inputs
        gold: Parses = examples.gold
        find = self.heads.learn(words, gold.heads, weights, derived_seed(seed, "heads"))
        order = presentation(weights, self.label_epochs, derived_seed(seed, "labels"))
        learnt = tables(self.label_bits, int(gold.relations.max()) + 1)
        n_steps = learn_labels(words.arrays, gold.heads, gold.relations, order, learnt)
        model = averaged(learnt, n_steps)

        def parse(other: Examples) -> Parses:
            words: Words = other.inputs
            found = find(words)
            relations = np.empty(len(found), np.int64)
            label_trees(words.arrays, found, model, relations)
            return Parses(found, relations)

        return parse


def presentation(weights: Integers, epochs: int, seed: int) -> Integers:
    """The order in which sentences are learnt from: in each epoch every one as often as its weight says, shuffled."""
    rng = np.random.default_rng(seed)
    items = np.repeat(np.arange(len(weights)), weights)
    return np.concatenate([rng.permutation(items) for _ in range(epochs)])
