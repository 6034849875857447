"""Grammars whose symbols have latent states, learned by splitting, estimation and merging (Petrov et al. 2006).

Every symbol but TOP is split in two again and again. A state's rules are learned by expectation maximisation from
binary trees in which symbols are seen and states are not; splits of little use are undone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy_learners.constituency.binary_trees import BinaryTrees, FloatArray, IntArray
from simstudy_learners.constituency.grammars import Rules, totals
from simstudy_learners.constituency.latent_kernels import (
    Forest,
    InsideOutside,
    expected_counts,
    inside,
    merging_losses,
    outside,
)

LongArray = NDArray[np.int64]

# How far chance moves the two halves of a state apart, so that they can become different.
_NOISE = 0.01

# How much of a rule's probability comes from its average over the parent's states (Petrov et al. 2006, section 2.4).
_SMOOTHING = 0.01

# Rules of states that are less probable are left out of the grammar that is parsed with.
_LEAST = 1e-6


@dataclass(frozen=True)
class Events:
    """Trees for learning: each node is an event, the use of a rule of plain symbols.

    Attributes
    ----------
    trees
        Binary trees, of which only those with a weight are looked at.
    weight
        (nodes,) how often each counts.
    rule
        (nodes,) which rule a node is: two children, one, or a tag's word.
    rules
        (rules, 3) parent, left, right child; -1 where there is none. A tag and a word have no children.
    words
        (rules,) a tag's word, otherwise -1.
    """

    trees: BinaryTrees
    weight: FloatArray
    rule: IntArray
    rules: IntArray
    words: IntArray

    @classmethod
    def of(cls, trees: BinaryTrees, word: IntArray, weights: FloatArray) -> Events:
        """Events of trees with these words (all words,) and weights (trees,)."""
        chosen = np.flatnonzero(weights[trees.tree] > 0)
        at = np.full(len(trees.tree) + 1, -1, dtype=np.int32)
        at[chosen] = np.arange(len(chosen))
        part = BinaryTrees(
            trees.symbol[chosen], at[trees.left[chosen]], at[trees.right[chosen]], trees.start[chosen],
            trees.end[chosen], trees.tree[chosen],
        )  # fmt: skip
        symbol = np.append(part.symbol, -1).astype(np.int64)
        left, right = symbol[part.left], symbol[part.right]
        words = np.where(part.left < 0, word[part.start], -1).astype(np.int64)
        n = int(symbol.max(initial=0)) + 2
        _, first, rule = np.unique(
            ((words + 1) * n + symbol[:-1]) * n * n + (left + 1) * n + right + 1, return_index=True, return_inverse=True
        )
        rules = np.stack([symbol[:-1], left, right], axis=1)[first].astype(np.int32)
        return cls(part, weights[part.tree], rule.astype(np.int32), rules, words[first].astype(np.int32))


@dataclass(frozen=True)
class States:
    """The states of plain symbols, and the cells of all rules' tables: one for each way to choose states.

    Attributes
    ----------
    first
        (symbols + 1,) where the states of each symbol begin.
    offset
        (rules + 1,) where the cells of each rule begin: by parent's state, then left child's, then right child's.
    rule, parent, left, right
        (cells,) the rule of each cell, and states; -1 for none.
    """

    first: LongArray
    offset: LongArray
    rule: LongArray
    parent: LongArray
    left: LongArray
    right: LongArray

    @classmethod
    def of(cls, rules: IntArray, n_states: LongArray) -> States:
        """For rules of symbols with so many states (symbols,)."""
        first = np.concatenate([[0], np.cumsum(n_states)])
        shape = np.where(rules >= 0, n_states[rules], 1)
        size = shape.prod(axis=1)
        offset = np.concatenate([[0], np.cumsum(size)])
        rule = np.repeat(np.arange(len(rules)), size)
        cell = np.arange(offset[-1]) - offset[rule]
        within = (
            cell // (shape[rule, 1] * shape[rule, 2]),
            cell // shape[rule, 2] % shape[rule, 1],
            cell % shape[rule, 2],
        )
        parent, left, right = (np.where(rules[rule, c] >= 0, first[rules[rule, c]] + within[c], -1) for c in range(3))
        return cls(first, offset, rule, parent, left, right)

    def cells(
        self, rule: LongArray, parent: LongArray, left: LongArray, right: LongArray, rules: IntArray
    ) -> LongArray:
        """Which cells have these states."""
        counts = np.diff(self.first)
        symbol = rules[rule]
        shape = np.where(symbol >= 0, counts[symbol], 1)
        states = np.stack([parent, left, right], axis=1)
        within = np.where(symbol >= 0, states - self.first[symbol], 0)
        cells: LongArray = self.offset[rule] + (within[:, 0] * shape[:, 1] + within[:, 1]) * shape[:, 2] + within[:, 2]
        return cells


@dataclass(frozen=True)
class LatentGrammar:
    """Probabilities of all cells, and how often each was used when they were last estimated.

    Attributes
    ----------
    log_likelihood
        Of the trees, before the last estimation.
    """

    states: States
    probability: FloatArray
    count: FloatArray
    log_likelihood: float

    def coarse(self) -> IntArray:
        """The plain symbol (states,) of each state."""
        return np.repeat(np.arange(len(self.states.first) - 1), np.diff(self.states.first)).astype(np.int32)

    def rules(self) -> Rules:
        """The rules of states, smoothed, without words."""
        states = self.states
        n_parents = np.diff(states.first)[np.searchsorted(states.first, states.parent, side="right") - 1]
        n_states = int(states.first[-1])
        # The average over the states of the parent: cells of a rule that have the same children.
        group = (states.rule * (n_states + 1) + states.left + 1) * (n_states + 1) + states.right + 1
        kinds, group = np.unique(group, return_inverse=True)
        mean = totals(group, self.probability / n_parents, len(kinds))[group]
        smooth = (1 - _SMOOTHING) * self.probability + _SMOOTHING * mean
        pairs = np.flatnonzero((states.right >= 0) & (smooth > _LEAST))
        pairs = pairs[np.lexsort((states.parent[pairs], states.right[pairs], states.left[pairs]))]
        singles = np.flatnonzero((states.right < 0) & (states.left >= 0) & (smooth > _LEAST))
        singles = singles[np.lexsort((states.parent[singles], states.left[singles]))]
        columns = states.parent, states.left, states.right
        return Rules(
            np.stack([column[pairs] for column in columns], axis=1).astype(np.int32),
            smooth[pairs],
            np.stack([column[singles] for column in columns[:2]], axis=1).astype(np.int32),
            smooth[singles],
        )

    def state_counts(self) -> FloatArray:
        """How often each state was seen (states,)."""
        return totals(self.states.parent, self.count, int(self.states.first[-1]))


def plain_grammar(events: Events, n_symbols: int) -> LatentGrammar:
    """One state for each symbol: relative frequencies."""
    states = States.of(events.rules, np.ones(n_symbols, dtype=np.int64))
    count = totals(events.rule, events.weight, len(events.rules))
    return LatentGrammar(states, normalised(count, states), count, -np.inf)


def normalised(count: FloatArray, states: States) -> FloatArray:
    """Probabilities of cells given their parent's state; 0 for a state that was never seen."""
    total = totals(states.parent, count, int(states.first[-1]))[states.parent]
    return np.divide(count, total, out=np.zeros_like(count), where=total > 0)


def re_estimated(grammar: LatentGrammar, events: Events) -> LatentGrammar:
    """One iteration of expectation maximisation."""
    found = inside_outside(grammar, events)
    count = expected_counts(_forest(grammar, events), found, events.weight)
    log_likelihood = float(events.weight @ np.log(found.scale))
    return LatentGrammar(grammar.states, normalised(count, grammar.states), count, log_likelihood)


def split(grammar: LatentGrammar, events: Events, rng: np.random.Generator) -> LatentGrammar:
    """Every state but TOP's becomes two, which chance moves a little apart."""
    old = grammar.states
    n_states = 2 * np.diff(old.first)
    n_states[0] = 1
    new = States.of(events.rules, n_states)
    n_new = int(new.first[-1])
    # State s > 0 becomes 2 s - 1 and 2 s, TOP, which is 0, stays; so does entry -1 (no child).
    was = np.append((np.arange(n_new) + 1) // 2, -1)
    cells = old.cells(new.rule, was[new.parent], was[new.left], was[new.right], events.rules)
    halves = 2.0 ** ((new.left >= 0).astype(int) + (new.right >= 0))
    noise = 1 + _NOISE * rng.uniform(-1, 1, len(cells))
    count = grammar.probability[cells] / halves * noise
    return LatentGrammar(new, normalised(count, new), count, grammar.log_likelihood)


def merged(grammar: LatentGrammar, events: Events, share: float) -> LatentGrammar:
    """Undo the share of the last splits whose loss in likelihood is the least (section 2.3)."""
    old = grammar.states
    n_states = int(old.first[-1])
    seen = grammar.state_counts()
    partner = (np.arange(n_states) - 1 ^ 1) + 1
    partner[0] = 0
    both = seen + seen[partner]
    frequency = np.divide(seen, both, out=np.full(n_states, 0.5), where=both > 0)
    found = inside_outside(grammar, events)
    loss = merging_losses(events.trees.symbol, old.first, found, events.weight, frequency)
    pairs = len(loss)
    undone = np.zeros(pairs, dtype=bool)
    undone[np.argsort(loss.round(6), kind="stable")[: round(share * pairs)]] = True
    # The second state of a pair that is undone becomes the first.
    is_new = np.ones(n_states, dtype=bool)
    is_new[2::2] = ~undone
    becomes = np.append(np.cumsum(is_new) - 1, -1)
    coarse = grammar.coarse()
    new = States.of(events.rules, np.bincount(coarse[is_new], minlength=len(old.first) - 1))
    cells = new.cells(old.rule, becomes[old.parent], becomes[old.left], becomes[old.right], events.rules)
    count = totals(cells, grammar.count, int(new.offset[-1]))
    return LatentGrammar(new, normalised(count, new), count, grammar.log_likelihood)


def learned(
    events: Events, n_symbols: int, *, rounds: int, n_iterations: int, share_merged: float, seed: int
) -> LatentGrammar:
    """Rounds of splitting, estimation, merging and estimation again."""
    rng = np.random.default_rng(seed)
    grammar = plain_grammar(events, n_symbols)
    for _ in range(rounds):
        grammar = split(grammar, events, rng)
        for _ in range(n_iterations):
            grammar = re_estimated(grammar, events)
        if share_merged:
            grammar = merged(grammar, events, share_merged)
            for _ in range(n_iterations // 2):
                grammar = re_estimated(grammar, events)
    return grammar


def inside_outside(grammar: LatentGrammar, events: Events) -> InsideOutside:
    """Inside and outside probabilities of all nodes."""
    forest = _forest(grammar, events)
    scaled, scale = inside(forest, int(np.diff(grammar.states.first).max()))
    return InsideOutside(scaled, outside(forest, scaled, scale), scale)


def _forest(grammar: LatentGrammar, events: Events) -> Forest:
    trees = events.trees
    offset = grammar.states.offset[events.rule]
    return Forest(trees.symbol, trees.left, trees.right, np.diff(grammar.states.first), offset, grammar.probability)
