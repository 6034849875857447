"""Parsers: a lexicon, a plain grammar that prunes and an annotated one that decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy.validation import brief, check_flag, check_share, check_whole
from simstudy_learners.constituency.binary_trees import BinaryTrees, FloatArray, IntArray, Symbols
from simstudy_learners.constituency.coarse_pass import (
    Coarse,
    CoarseBeam,
    boundaries,
    coarse_grammar,
    coarse_pass,
    forward,
)
from simstudy_learners.constituency.constituents import Brackets, GoldTrees, Sentences
from simstudy_learners.constituency.fine_grammar import Fine, fine_grammar
from simstudy_learners.constituency.fine_pass import FineBeam, best_parse
from simstudy_learners.constituency.grammars import Annotated, counted, markovised, plain, probabilities, totals
from simstudy_learners.constituency.latent_grammar import Events, learned
from simstudy_learners.constituency.lexicon import tag_scores

# Where a pass leaves no parse, the next is tried.
_COARSE_PASSES = (CoarseBeam(3e-3, 1e-5), CoarseBeam(3e-3, 0.0), CoarseBeam(1e-4, 0.0))
_FINE_PASSES = (FineBeam(posterior=1e-3, share=1e-3), FineBeam(posterior=1e-5, share=1e-6))

# A word's best tag gets this as its probability, so that long sentences stay within the range of floats.
_SCALE = 500.0


@dataclass(frozen=True)
class TagCounts:
    """How often words were seen with a grammar's tags, which are its symbols 1 … n_tags.

    Attributes
    ----------
    word, tag, count
        (pairs,) the word's number, the tag's (from 0) and how often.
    """

    word: IntArray
    tag: IntArray
    count: FloatArray
    n_tags: int

    @classmethod
    def of(
        cls, sentences: Sentences, trees: BinaryTrees, annotated: Annotated, n_plain_tags: int, weights: FloatArray
    ) -> TagCounts:
        """Counts in trees that weigh so much."""
        leaves = np.flatnonzero(trees.left < 0)
        leaves = leaves[weights[trees.tree[leaves]] > 0]
        n_tags = int(np.count_nonzero((annotated.coarse > 0) & (annotated.coarse <= n_plain_tags)))
        code, place = np.unique(
            sentences.word[trees.start[leaves]].astype(np.int64) * n_tags + annotated.symbol[leaves] - 1,
            return_inverse=True,
        )
        count = totals(place, weights[trees.tree[leaves]], len(code))
        return cls((code // n_tags).astype(np.int32), (code % n_tags).astype(np.int32), count, n_tags)

    def scores(self, forms: IntArray, wanted: IntArray) -> FloatArray:
        """P(word | tag) (wanted, tags), scaled so that a word's best tag has the same in all words."""
        scores = tag_scores(self.word, self.tag, self.count, self.n_tags, forms=forms, wanted=wanted)
        best = scores.max(axis=1, initial=0.0, keepdims=True)
        scaled: FloatArray = scores * (_SCALE / np.where(best > 0, best, 1.0))
        return scaled


@dataclass(frozen=True)
class Parser:
    """What has been learned from one training set."""

    symbols: Symbols
    coarse: Coarse
    coarse_tags: TagCounts
    fine: Fine
    fine_tags: TagCounts

    @classmethod
    def of(cls, examples: Examples, weights: FloatArray, fine: Fine, fine_tags: TagCounts) -> Parser:
        """With a plain grammar of the same trees."""
        gold: GoldTrees = examples.gold
        n_tags = len(gold.symbols.tags)
        annotated = plain(gold.trees, gold.symbols)
        rules = probabilities(counted(gold.trees, annotated, weights), gold.symbols.size)
        coarse = coarse_grammar(rules, gold.symbols.size, *boundaries(gold.trees, gold.symbols, weights))
        return cls(
            gold.symbols, coarse, TagCounts.of(examples.inputs, gold.trees, annotated, n_tags, weights), fine, fine_tags
        )

    def __call__(self, examples: Examples) -> Brackets:
        """The best parse of every sentence."""
        sentences: Sentences = examples.inputs
        wanted, word = np.unique(sentences.word, return_inverse=True)
        tags = self.coarse_tags.scores(sentences.forms, wanted)
        fine = self.fine_tags.scores(sentences.forms, wanted)
        merit = self._boundary_merits(tags)
        found, unparsed = [], 0
        for i, (first, last) in enumerate(zip(sentences.bounds[:-1], sentences.bounds[1:], strict=True)):
            nodes = self._parse(word[first:last], tags, fine, *merit)
            unparsed += not len(nodes)
            found.append(np.column_stack([np.full(len(nodes), i), nodes]))
        table = np.concatenate([np.empty((0, 4), dtype=np.int64), *found])
        label = self.fine.coarse[table[:, 1]] - self.symbols.first_label
        chosen = (label >= 0) & (label < len(self.symbols.labels))
        return Brackets(table[chosen, 0], label[chosen].astype(np.int64), table[chosen, 2], table[chosen, 3], unparsed)

    def _boundary_merits(self, tags: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What each word (and last, the end of the sentence) says for symbols that begin behind, or end before it."""
        shares = tags / np.maximum(tags.sum(axis=1, keepdims=True), 1e-300)
        end = np.zeros((1, tags.shape[1] + 1))
        end[0, 0] = 1.0
        given_tag = np.concatenate([np.column_stack([np.zeros(len(tags)), shares]), end])
        given_symbol = np.concatenate([np.column_stack([np.zeros(len(tags)), tags]), end])
        # Rounded, so that no machine's last bits decide what is pruned.
        return (given_tag @ self.coarse.before.T).round(12), (given_symbol @ self.coarse.after.T).round(12)

    def _parse(
        self, word: NDArray[np.intp], tags: FloatArray, fine: FloatArray, before: FloatArray, after: FloatArray
    ) -> IntArray:
        """The nodes of one sentence's best parse, see `best_parse`."""
        n = len(word)
        leaves = np.zeros((n, self.symbols.size))
        leaves[:, 1 : 1 + tags.shape[1]] = tags[word]
        bounded = np.concatenate([[-1], word, [-1]])
        # As in Caraballo and Charniak (1998), equation 8: an estimate of a symbol's posterior.
        prefix = forward(tags[word], self.coarse.transition)[:, None]
        merit = before[bounded[: n + 1]] * prefix[:-1], after[bounded[1:]] / prefix[1:]
        for beam in _COARSE_PASSES if n else ():
            inside, outside = coarse_pass(leaves, *merit, self.coarse, beam)
            for fine_beam in _FINE_PASSES if inside[0, n, 0] > 0 else ():
                nodes = best_parse(fine[word], inside, outside, self.fine, fine_beam)
                if len(nodes):
                    return nodes
        return np.empty((0, 3), dtype=np.int32)


@dataclass(frozen=True)
class TreebankGrammar:
    """A PCFG of annotated nodes, its rules counted (Klein and Manning 2003).

    Attributes
    ----------
    horizontal, vertical, splits
        How much a node knows, see `markovised`.
    """

    horizontal: int
    vertical: int
    splits: bool

    def __post_init__(self) -> None:
        for name, order, known in (("horizontal", self.horizontal, (0, 1, 2)), ("vertical", self.vertical, (1, 2))):
            if order not in known or isinstance(order, bool):
                raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, not {brief(order)}")
        check_flag("splits", self.splits)

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], Brackets]:
        """A parser from trees that count so many times; nothing is random in it."""
        gold: GoldTrees = examples.gold
        counts = weights.astype(np.float64)
        annotated = markovised(gold.trees, gold.symbols, self.horizontal, self.vertical, self.splits)
        rules = probabilities(counted(gold.trees, annotated, counts), len(annotated.coarse))
        tags = TagCounts.of(examples.inputs, gold.trees, annotated, len(gold.symbols.tags), counts)
        seen = totals(annotated.symbol, counts[gold.trees.tree], len(annotated.coarse))
        return Parser.of(examples, counts, fine_grammar(rules, annotated.coarse, seen), tags)


@dataclass(frozen=True)
class LatentStates:
    """A PCFG of latent states, learned by splitting and merging (Petrov et al. 2006).

    Attributes
    ----------
    rounds
        How often states are split.
    n_iterations
        Of expectation maximisation after each split, and half as many after each merger.
    share_merged
        The share of splits that is undone.
    """

    rounds: int
    n_iterations: int
    share_merged: float

    def __post_init__(self) -> None:
        check_whole("rounds", self.rounds, 0)
        check_whole("n_iterations", self.n_iterations, 1)
        check_share("share_merged", self.share_merged)

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], Brackets]:
        """A parser from trees that count so many times; the seed moves the two halves of a state apart."""
        gold: GoldTrees = examples.gold
        counts = weights.astype(np.float64)
        events = Events.of(gold.trees, examples.inputs.word, counts)
        grammar = learned(
            events,
            gold.symbols.size,
            rounds=self.rounds,
            n_iterations=self.n_iterations,
            share_merged=self.share_merged,
            seed=seed,
        )
        states = grammar.states
        leaves = np.flatnonzero(states.left < 0)
        n_tags = int(states.first[gold.symbols.first_label]) - 1
        tags = TagCounts(
            events.words[states.rule[leaves]],
            (states.parent[leaves] - 1).astype(np.int32),
            grammar.count[leaves],
            n_tags,
        )
        fine = fine_grammar(grammar.rules(), grammar.coarse(), grammar.state_counts())
        return Parser.of(examples, counts, fine, tags)
