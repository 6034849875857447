"""Small training sets for tests of what base systems hand on."""

from __future__ import annotations

import numpy as np

from simstudy.training import Examples, Rows
from simstudy_learners.constituency.binary_trees import Symbols
from simstudy_learners.constituency.constituents import GoldTrees, Sentences, Vocabulary
from simstudy_learners.sequences.trigram_tagger import spelling_view
from tests.learners import trees
from tests.learners.test_aligners import examples_of, made_up
from tests.learners.treebank import TREES


def labelled_sentences() -> Examples:
    return trees.examples(trees.invented(np.random.default_rng(0), [2, 3, 4]))


def treebank() -> Examples:
    symbols = Symbols.of(TREES)
    bare = [tree.without_traces() for tree in TREES]
    return Examples(Sentences.of(bare, Vocabulary.of(bare)), GoldTrees.of(TREES, symbols))


def tagged(**names: str) -> Examples:
    """Three sentences in the views of taggers; a view can be given another name."""
    types, words = ["", "a", "ba", "Ca", "da"], np.array([1, 2, 3, 1, 4, 2, 2])
    views = {
        "numbered": np.array([[1, 2], [2, 3], [3, 0], [1, 4], [4, 1], [2, 2], [2, 3]], np.int32),
        "spelling": spelling_view(types, words),
        "symbols": np.stack([words, words % 2], axis=1),
    }
    rows = {names.get(view, view): rows for view, rows in views.items()}
    return Examples(Rows(rows, np.array([0, 0, 0, 1, 1, 2, 2])), np.array(["X", "Y", "X", "X", "Z", "Y", "X"]))


def linked() -> Examples:
    text, links = made_up(np.random.default_rng(0), 6)
    return examples_of((text, links))[0]
