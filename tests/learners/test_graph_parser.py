"""Eisner's algorithm against all projective trees; the perceptron over arcs against one written down plainly."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from simstudy.running.fingerprints import derived_seed
from simstudy.training import Examples
from simstudy_learners.dependencies.eisner import best_projective_tree
from simstudy_learners.dependencies.graph_parser import arc_slots, learn_arcs, nearest_projective
from simstudy_learners.dependencies.hashed_features import Learnt, averaged, tables
from simstudy_learners.dependencies.parsers import GraphParser, LabelledParser, Reparser, TransitionParser, presentation
from simstudy_learners.dependencies.relation_labeller import N_SLOTS, Tree, label_slots, learn_labels
from simstudy_learners.dependencies.sentences import sentence_of
from simstudy_learners.dependencies.transition_parser import learn_transitions
from simstudy_learners.dependencies.trees import Integers, Parses, Words
from tests.learners.handed import handed
from tests.learners.trees import is_projective, projective_trees, random_heads, random_words, trees


def best_tree(scores: np.ndarray, n: int) -> tuple[int, ...]:
    heads = np.full(n + 1, -1)
    best_projective_tree(scores, n, heads)
    return tuple(heads[1:].tolist())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_eisner_finds_the_best_of_all_projective_trees(rng: np.random.Generator, n: int) -> None:
    for _ in range(20):
        scores = rng.normal(size=(n + 1, n + 1))
        best = max(projective_trees(n), key=lambda heads: sum(scores[h, m] for m, h in enumerate(heads, start=1)))
        assert best_tree(scores, n) == best


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_eisner_reaches_every_projective_tree(n: int) -> None:
    """The number of projective trees with one dependent of the root is that of ternary trees by Fuss and Catalan."""
    assert len(projective_trees(n)) == [1, 2, 7, 30, 143][n - 1]
    for heads in projective_trees(n):
        scores = np.zeros((n + 1, n + 1))
        scores[heads, range(1, n + 1)] = 1
        assert best_tree(scores, n) == heads


@pytest.mark.parametrize("n", [3, 4, 5])
def test_trees_that_are_not_projective_become_the_nearest_ones_that_are(n: int) -> None:
    gold = trees(n)
    bounds = np.arange(len(gold) + 1) * (n + 2)
    flat = np.concatenate([[-1, *heads, -1] for heads in gold])
    found = np.empty(len(flat), np.int64)
    nearest_projective(bounds, flat, found)
    for heads, near in zip(gold, found.reshape(-1, n + 2)[:, 1:-1].tolist(), strict=True):
        assert is_projective(tuple(near))
        same = sum(a == b for a, b in zip(heads, near, strict=True))
        assert same == max(sum(a == b for a, b in zip(heads, o, strict=True)) for o in projective_trees(n))


def plain_average(words: Words, gold: Integers, order: Integers, margin: int, bits: int) -> np.ndarray:
    """The mean of a perceptron's whole weight vectors after every step."""
    weights, total = np.zeros(2**bits), np.zeros(2**bits)
    for item in order:
        first, last = words.bounds[item : item + 2]
        sentence, target = sentence_of(words.arrays, item), gold[first:last]
        n = last - first - 2
        features = np.zeros((n + 1, n + 1, 2**bits))
        for h in range(n + 1):
            for m in {*range(1, n + 1)} - {h}:
                between = sum({1 << int(t) for t in sentence.tag[min(h, m) + 1 : max(h, m)]})
                slots = np.empty(64, np.int64)
                k = arc_slots(sentence, (h, m), between, 2**bits - 1, slots)
                np.add.at(features[h, m], slots[:k], 1)
        scores = features @ weights
        scores[target[1:-1], range(1, n + 1)] -= margin
        for m, h in enumerate(best_tree(scores, n), start=1):
            weights += features[target[m], m] - features[h, m]
        total += weights
    return total / len(order)


@pytest.mark.parametrize("margin", [0, 3])
def test_averages_are_those_of_whole_weight_vectors(rng: np.random.Generator, margin: int) -> None:
    lengths = [1, 3, 4, 2, 4]
    words, gold = random_words(rng, lengths), random_heads(rng, lengths)
    order = presentation(np.array([2, 1, 1, 0, 1]), 3, seed=5)
    learnt = Learnt(*(table[:, 0] for table in tables(10, 1)))
    n_steps = learn_arcs(words.arrays, gold, order, margin, learnt)
    assert n_steps == len(order) == 15
    expected = plain_average(words, gold, order, margin, 10)
    np.testing.assert_allclose(averaged(learnt, n_steps), expected, rtol=1e-6, atol=1e-6)
    assert np.abs(expected).sum() > 0


def test_labels_are_learnt_by_a_perceptron_over_the_arcs_of_gold_trees(rng: np.random.Generator) -> None:
    """One step an arc; what it has learnt is the mean of its whole weight vectors after every step."""
    lengths = [1, 3, 4, 2, 4]
    words, heads = random_words(rng, lengths), random_heads(rng, lengths)
    gold = np.where(heads >= 0, rng.integers(3, size=len(heads)), -1)
    order = presentation(np.array([2, 1, 1, 0, 1]), 3, seed=5)
    learnt = tables(10, 3)
    n_steps = learn_labels(words.arrays, heads, gold, order, learnt)
    plain, total, slots = np.zeros((2**10, 3)), np.zeros((2**10, 3)), np.empty(N_SLOTS, np.int64)
    for item in order:
        first, last = words.bounds[item : item + 2]
        own, n = heads[first:last], last - first - 2
        children = [[m for m in range(1, n + 1) if own[m] == h] for h in range(n + 2)]
        left = [min([m for m in some if m < h], default=n + 1) for h, some in enumerate(children)]
        right = [max([m for m in some if m > h], default=n + 1) for h, some in enumerate(children)]
        for m in range(1, n + 1):
            label_slots(sentence_of(words.arrays, item), Tree(own, np.array([left, right])), m, 2**10 - 1, slots)
            guessed, right_one = int(plain[slots].sum(axis=0).argmax()), gold[first + m]
            if guessed != right_one:
                np.add.at(plain[:, right_one], slots, 1)
                np.add.at(plain[:, guessed], slots, -1)
            total += plain
    assert n_steps == sum(lengths[item] for item in order)
    np.testing.assert_array_equal(learnt.weights, plain)
    np.testing.assert_allclose(averaged(learnt, n_steps), total / n_steps, rtol=1e-6, atol=1e-6)


def test_parsers_find_trees_by_the_means_of_what_they_learn(rng: np.random.Generator) -> None:
    """In the order that the seed draws; to a graph-based one a tree is the nearest projective one."""
    lengths = [3, 4, 5, 2] * 2
    words, gold = random_words(rng, lengths), random_heads(rng, lengths, projective=False)
    relations = np.where(gold >= 0, rng.integers(4, size=len(gold)), -1)
    given, weights, near = Examples(words, Parses(gold, relations)), np.array([2, 0, 1, 3, 1, 1, 2, 1]), gold.copy()
    nearest_projective(words.bounds, gold, near)
    assert (near != gold).any()
    heads, labels = (presentation(weights, 2, derived_seed(3, part)) for part in ("heads", "labels"))
    arcs, moves, names = Learnt(*(table[:, 0] for table in tables(9, 1))), tables(9, 4), tables(8, 4)
    n_moves = learn_transitions(words.arrays, gold, heads, 11, moves)
    expected = {
        "parse_arcs": averaged(arcs, learn_arcs(words.arrays, near, heads, 7, arcs)),
        "parse_transitions": averaged(moves, n_moves),
        "label_trees": averaged(names, learn_labels(words.arrays, gold, relations, labels, names)),
    }
    for finder, parse in ((GraphParser(2, 7, 9), "parse_arcs"), (TransitionParser(2, False, 9), "parse_transitions")):
        predict = LabelledParser(finder, label_epochs=2, label_bits=8).train(given, weights, 3)
        for function in (parse, "label_trees"):
            found = handed(partial(predict, given), f"dependencies.parsers:{function}")
            np.testing.assert_array_equal(found["weights"], expected[function])


def test_a_parser_learns_its_training_set_by_heart(rng: np.random.Generator) -> None:
    lengths = [1, 2, 3, 4, 5] * 5
    words, gold = random_words(rng, lengths, n_forms=2000), random_heads(rng, lengths)
    find = GraphParser(epochs=20, bits=16).learn(words, gold, np.ones(len(lengths), np.int64), seed=0)
    np.testing.assert_array_equal(find(words), gold)


class Proposes:
    """A parser that gives the same heads whatever it has learnt from."""

    def __init__(self, heads: tuple[int, ...]) -> None:
        self.heads = np.array([-1, *heads, -1])

    def learn(self, words: Words, heads: Integers, weights: Integers, seed: int) -> object:
        return lambda other: self.heads


@pytest.mark.parametrize("votes", [(1, 1, 1), (3, 2, 2), (1, 2, 4)])
def test_reparsing_gives_the_projective_tree_of_most_votes(
    rng: np.random.Generator, votes: tuple[int, int, int]
) -> None:
    words = random_words(rng, [5])
    for _ in range(30):
        members = [trees(5)[rng.integers(len(trees(5)))] for _ in range(3)]
        find = Reparser(tuple(Proposes(heads) for heads in members), votes).learn(  # type: ignore[arg-type]
            words, np.empty(0), np.ones(1, np.int64), seed=0
        )
        found = find(words)
        assert found[[0, -1]].tolist() == [-1, -1]
        guessed = tuple(found[1:-1].tolist())

        def won(tree: tuple[int, ...], members: list[tuple[int, ...]] = members) -> int:
            return sum(
                vote * (a == b)
                for vote, heads in zip(votes, members, strict=True)
                for a, b in zip(heads, tree, strict=True)
            )

        assert guessed in projective_trees(5)
        assert won(guessed) == max(won(tree) for tree in projective_trees(5))
