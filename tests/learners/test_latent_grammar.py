"""Latent states: inside-outside in observed trees, expectation maximisation, splits and mergers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from simstudy.metrics.annotations import Tree
from simstudy_learners.constituency import latent_grammar
from simstudy_learners.constituency.binary_trees import BinaryTrees, Symbols
from simstudy_learners.constituency.constituents import Sentences, Vocabulary
from simstudy_learners.constituency.latent_grammar import (
    Events,
    LatentGrammar,
    inside_outside,
    learned,
    merged,
    plain_grammar,
    re_estimated,
    split,
)
from tests.learners.treebank import TREES

SYMBOLS = Symbols.of(TREES)
VOCABULARY = Vocabulary.of([tree.without_traces() for tree in TREES])


def events(trees: list[Tree], weights: Any = None) -> Events:
    words = Sentences.of([tree.without_traces() for tree in trees], VOCABULARY).word
    counts = np.ones(len(trees)) if weights is None else np.asarray(weights, dtype=float)
    return Events.of(BinaryTrees.of(trees, SYMBOLS), words, counts)


def halved(of: Events, rounds: int, seed: int = 0) -> LatentGrammar:
    """States that are unlike: every cell's probability is random."""
    rng = np.random.default_rng(seed)
    grammar = plain_grammar(of, SYMBOLS.size)
    for _ in range(rounds):
        grammar = split(grammar, of, rng)
    random = grammar.probability * rng.uniform(0.2, 1.8, len(grammar.probability))
    return LatentGrammar(grammar.states, random, random, 0.0)


def test_inside_outside_is_the_sum_over_all_states() -> None:
    small = events([TREES[2], TREES[6]])
    grammar = halved(small, 1)
    inside, outside, scale = inside_outside(grammar, small)
    states, trees = grammar.states, small.trees
    n_states = np.diff(states.first)
    for t in (0, 1):
        nodes = np.flatnonzero(trees.tree == t)
        total, share = 0.0, np.zeros(inside.shape)
        for choice in product(*(range(n_states[trees.symbol[node]]) for node in nodes)):
            state = dict(zip(nodes.tolist(), choice, strict=True))
            p = 1.0
            for node in nodes:
                family = (node, trees.left[node], trees.right[node])
                own = [states.first[trees.symbol[x]] + state[x] if x >= 0 else -1 for x in family]
                (cell,) = np.flatnonzero(
                    (states.rule == small.rule[node])
                    & (states.parent == own[0]) & (states.left == own[1]) & (states.right == own[2])
                )  # fmt: skip
                p *= grammar.probability[cell]
            total += p
            for node in nodes:
                share[node, state[node]] += p
        np.testing.assert_allclose(scale[nodes].prod(), total)
        np.testing.assert_allclose((inside * outside)[nodes], share[nodes] / total)


def test_likelihood_never_falls_and_probabilities_sum_to_1() -> None:
    data = events(TREES, [1, 2, 1, 1, 3, 1, 1, 1, 2, 1])
    grammar = halved(data, 2)
    grammar = re_estimated(grammar, data)
    likelihoods = []
    for _ in range(12):
        grammar = re_estimated(grammar, data)
        likelihoods.append(grammar.log_likelihood)
        total = np.bincount(grammar.states.parent, grammar.probability)
        np.testing.assert_allclose(total[total > 0], 1)
        np.testing.assert_allclose(grammar.count.sum(), data.weight.sum())
    assert (np.diff(likelihoods) >= -1e-9).all()
    assert likelihoods[-1] > likelihoods[0] + 1


def test_one_state_is_relative_frequencies_which_stay() -> None:
    data = events(TREES)
    grammar = plain_grammar(data, SYMBOLS.size)
    np.testing.assert_allclose(re_estimated(grammar, data).probability, grammar.probability)


def test_weights_are_copies() -> None:
    weights = [0, 2, 1, 0, 3, 1, 0, 1, 1, 2]
    copies = [tree for tree, weight in zip(TREES, weights, strict=True) for _ in range(weight)]
    one, other = events(TREES, weights), events(copies)
    np.testing.assert_array_equal(one.rules, other.rules)
    first, second = (
        learned(data, SYMBOLS.size, rounds=2, n_iterations=6, share_merged=0.5, seed=3) for data in (one, other)
    )
    np.testing.assert_allclose(first.log_likelihood, second.log_likelihood)
    np.testing.assert_array_equal(first.states.first, second.states.first)
    np.testing.assert_allclose(first.probability, second.probability, atol=1e-6)


def test_a_split_changes_no_likelihood_but_for_chance_and_a_merger_undoes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simstudy_learners.constituency.latent_grammar._NOISE", 0.0)
    data = events(TREES)
    grammar = re_estimated(plain_grammar(data, SYMBOLS.size), data)
    halves = split(grammar, data, np.random.default_rng(0))
    assert halves.states.first[-1] == 2 * SYMBOLS.size - 1
    estimated = re_estimated(halves, data)
    np.testing.assert_allclose(estimated.log_likelihood, grammar.log_likelihood)
    whole = merged(estimated, data, 1.0)
    assert whole.states.first[-1] == SYMBOLS.size
    np.testing.assert_allclose(whole.probability, grammar.probability)


@pytest.mark.parametrize(("share", "after"), [(0.25, ["merged", "re_estimated", "re_estimated"]), (0.0, [])])
def test_a_round_splits_estimates_merges_and_estimates_half_as_often(
    monkeypatch: pytest.MonkeyPatch, share: float, after: list[str]
) -> None:
    """Halves differ by a hundredth at most, either way."""
    data, done = events(TREES), list[str]()
    whole = plain_grammar(data, SYMBOLS.size)
    halves = split(whole, data, np.random.default_rng(0))
    shared = whole.probability / 2.0 ** (data.rules[:, 1:] >= 0).sum(axis=1)
    noise = halves.count / shared[halves.states.rule]
    assert 0.99 <= noise.min() < 0.991 < 1.009 < noise.max() <= 1.01
    for name in ("split", "re_estimated", "merged"):
        monkeypatch.setattr(latent_grammar, name, lambda one, *_, n=name: (one, done.append(n))[0])  # type: ignore[func-returns-value]
    learned(data, SYMBOLS.size, rounds=2, n_iterations=5, share_merged=share, seed=0)
    assert done == ["split", *["re_estimated"] * 5, *after] * 2


def test_mergers_undo_the_share_that_loses_least() -> None:
    """Of two tags, the states of one are told apart by their parents; merging the other's loses nothing."""
    data = events(TREES)
    grammar = split(plain_grammar(data, SYMBOLS.size), data, np.random.default_rng(0))
    for _ in range(20):
        grammar = re_estimated(grammar, data)
    before = re_estimated(grammar, data).log_likelihood
    losses = [before - re_estimated(merged(grammar, data, share), data).log_likelihood for share in (0.3, 0.6, 1.0)]
    assert losses[0] < 0.05 * losses[2]
    assert losses[0] <= losses[1] <= losses[2]
    sizes = [int(merged(grammar, data, share).states.first[-1]) for share in (0.0, 0.5, 1.0)]
    pairs = SYMBOLS.size - 1
    assert sizes == [1 + 2 * pairs, 1 + 2 * pairs - round(0.5 * pairs), 1 + pairs]


def test_rules_are_smoothed_by_their_mean_over_the_states_of_the_parent() -> None:
    """A hundredth comes of the mean; what is then below one in a million, and words, are left out."""
    data = events(TREES)
    grammar = learned(data, SYMBOLS.size, rounds=2, n_iterations=5, share_merged=0.3, seed=0)
    states, coarse, expected = grammar.states, grammar.coarse(), {}
    cells = list(zip(states.parent, states.left, states.right, grammar.probability, strict=True))
    chance = {(p, a, b): x for p, a, b, x in cells if a >= 0}
    for parent, a, b in chance:
        mean = np.mean([chance[p, a, b] for p in np.flatnonzero(coarse == coarse[parent])])
        expected[parent, a, b] = 0.99 * chance[parent, a, b] + 0.01 * mean
    rules = grammar.rules()
    found = {(*rule, -1): weight for rule, weight in zip(rules.unary.tolist(), rules.unary_weight, strict=True)}
    found |= {tuple(rule): weight for rule, weight in zip(rules.binary.tolist(), rules.binary_weight, strict=True)}
    assert found == pytest.approx({rule: weight for rule, weight in expected.items() if weight > 1e-6})
    assert len(found) < len(expected)
    assert rules.binary[:, 1:].tolist() == sorted(rules.binary[:, 1:].tolist())
    assert rules.unary[:, 1].tolist() == sorted(rules.unary[:, 1].tolist())
