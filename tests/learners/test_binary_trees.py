"""Binary trees: there and back again, and what annotation says of their nodes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from simstudy.metrics.annotations import Bracket, Tree, bracket_counts, without_function_tags
from simstudy.readers.trees import parse_trees
from simstudy.training.examples import Examples
from simstudy_learners.constituency.binary_trees import BinaryTrees, Symbols
from simstudy_learners.constituency.constituents import Brackets, GoldTrees, Sentences, Vocabulary, count_brackets
from simstudy_learners.constituency.grammars import Annotated, markovised
from tests.conftest import SHARED
from tests.learners.treebank import TREES, random_tree


def expected_brackets(tree: Tree) -> list[Bracket]:
    """A tree's brackets without function tags, without tops, and without a node right above its own like."""
    bare = [(without_function_tags(label), i, j) for label, i, j in tree.without_traces().brackets]
    kept = [(label, i, j) for label, i, j in bare if label not in ("", "TOP", "ROOT", "S1") and i < j]
    return [kept[0], *(b for a, b in pairwise(kept) if a != b)] if kept else []


def assert_round_trip(trees: list[Tree]) -> None:
    symbols = Symbols.of(trees)
    binary = BinaryTrees.of(trees, symbols)
    assert binary.brackets(symbols) == [expected_brackets(tree) for tree in trees]
    assert (binary.left < np.arange(len(binary.left))).all()
    two = binary.right >= 0
    np.testing.assert_array_equal(binary.end[binary.left[two]], binary.start[binary.right[two]])
    assert np.count_nonzero(binary.symbol == 0) == len(trees)


def test_round_trip_of_made_up_trees() -> None:
    assert_round_trip(TREES)


def test_round_trip_of_random_trees() -> None:
    rng = np.random.default_rng(0)
    labels = ["NP", "NP-SBJ", "VP", "S", "", "TOP", "PRT", "ADJP|ADVP"]
    assert_round_trip([random_tree(rng, int(rng.integers(1, 9)), labels, ["NN", "VB", ","]) for _ in range(300)])


@pytest.mark.parametrize("article", ["11319941", "17590087"])
def test_round_trip_of_real_trees(article: str) -> None:
    path = SHARED / f"craft_treebank/penn/{article}.tree"
    if not path.is_file():
        pytest.skip(f"needs the real data in {SHARED}")
    trees = parse_trees(path.read_text(encoding="utf-8"), path)
    assert len(trees) > 100
    assert_round_trip(trees)


def test_empty_trees_have_no_nodes_and_one_word_has_two() -> None:
    (empty, word) = parse_trees("(()) ((NN dog))", "example")
    symbols = Symbols.of([word])
    binary = BinaryTrees.of([empty, word, empty], symbols)
    assert [symbols.name(s) for s in binary.symbol] == ["NN", "TOP"]
    assert binary.tree.tolist() == [1, 1]
    assert BinaryTrees.of([empty], symbols).brackets(symbols) == []


def names(
    trees: list[Tree], horizontal: int, vertical: int, splits: bool = False
) -> tuple[BinaryTrees, Annotated, Symbols]:
    symbols = Symbols.of(trees)
    binary = BinaryTrees.of(trees, symbols)
    return binary, markovised(binary, symbols, horizontal, vertical, splits), symbols


def test_splits_are_those_of_klein_and_manning() -> None:
    """Base noun phrases and finite verb phrases are told apart; prepositional phrases are not."""
    text = "((S (NP (NP (NN a)) (PP (IN of) (NP (NN b)))) (VP (VBZ c) (VP (VBN d) (PP (IN by) (NP (NN e)))))))"
    binary, annotated, symbols = names(parse_trees(text, "example"), 0, 1, True)
    kinds = {
        label: annotated.symbol[binary.symbol == symbols.labels.index(label) + symbols.first_label].tolist()
        for label in symbols.labels
    }
    assert [len(set(kinds[label])) for label in ("NP", "VP", "PP")] == [2, 2, 1]
    a, b, top, e = kinds["NP"][0], kinds["NP"][1], kinds["NP"][2], kinds["NP"][3]
    assert a == b == e != top


def test_brackets_are_counted_as_the_metric_counts_them() -> None:
    rng = np.random.default_rng(1)
    labels = ["NP", "NP-SBJ", "VP", "PRT", "ADVP", "", "TOP", ":"]
    tags = ["NN", "VB", ",", ".", "``"]
    golds, guesses = [], []
    for _ in range(300):
        n = int(rng.integers(1, 8))
        golds.append(random_tree(rng, n, labels, tags))
        guesses.append(Tree(golds[-1].words, golds[-1].tags, random_tree(rng, n, labels, tags).brackets))
    symbols = Symbols.of(golds + guesses)
    sentences = Sentences.of(golds, Vocabulary.of(golds))
    examples = Examples(sentences, GoldTrees.of(golds, symbols))
    rows = [
        (t, symbols.labels.index(without_function_tags(label)), i, j)
        for t, tree in enumerate(guesses)
        for label, i, j in tree.brackets
        if without_function_tags(label) in symbols.labels
    ]
    counts = count_brackets(examples, Brackets(*np.array(rows).T))
    np.testing.assert_array_equal(counts, [bracket_counts(a, b) for a, b in zip(guesses, golds, strict=True)])
    nothing = count_brackets(examples, Brackets(*np.empty((4, 0), dtype=np.int64)))
    np.testing.assert_array_equal(nothing[:, :2], 0)
    np.testing.assert_array_equal(nothing[:, 2], counts[:, 2])
