"""Sentences to parse, their gold trees, and how many labelled brackets of the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics.annotations import Tree, counted_label, counts_in_extent
from simstudy.training import Examples
from simstudy_learners.constituency.binary_trees import BinaryTrees, IntArray, Symbols
from simstudy_learners.constituency.lexicon import forms_of


@dataclass(frozen=True)
class Vocabulary:
    """All words of a task, and their forms."""

    words: tuple[str, ...]
    forms: IntArray

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Vocabulary:
        """The words of some trees, in alphabetical order."""
        words = tuple(sorted({word for tree in trees for word in tree.words}))
        return cls(words, forms_of(words))


@dataclass(frozen=True)
class Sentences:
    """The words of sentences.

    Attributes
    ----------
    word
        (all words,) their numbers in the vocabulary.
    bounds
        (sentences + 1,) where each sentence begins.
    forms
        (vocabulary, levels) of all words that there are, see `forms_of`.
    """

    word: IntArray
    bounds: NDArray[np.int64]
    forms: IntArray

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @classmethod
    def of(cls, trees: Sequence[Tree], vocabulary: Vocabulary) -> Sentences:
        """The words of trees without traces."""
        number = {word: i for i, word in enumerate(vocabulary.words)}
        bounds = np.cumsum([0, *(len(tree.words) for tree in trees)])
        word = np.array([number[word] for tree in trees for word in tree.words], dtype=np.int32)
        return cls(word, bounds, vocabulary.forms)


@dataclass(frozen=True)
class Brackets:
    """Labelled brackets of sentences.

    Attributes
    ----------
    sentence, label, start, end
        (brackets,) where each is, by positions in its own sentence; labels are numbers in `Symbols.labels`.
    unparsed
        Sentences for which there is no parse; they have no brackets.
    """

    sentence: NDArray[np.int64]
    label: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    unparsed: int = 0


@dataclass(frozen=True)
class GoldTrees:
    """The trees of sentences: binary ones for grammars, and what is needed to count brackets.

    Attributes
    ----------
    symbols
        The tags and labels of all of a task's trees.
    trees
        The trees.
    kept
        (all words,) whether a word counts in the extent of a bracket.
    brackets
        All gold brackets, with function tags removed but those left out that `BinaryTrees` leaves out for repeating
        themselves.
    """

    symbols: Symbols
    trees: BinaryTrees
    kept: NDArray[np.bool_]
    brackets: Brackets

    @classmethod
    def of(cls, trees: Sequence[Tree], symbols: Symbols) -> GoldTrees:
        """Of trees without traces."""
        number = _numbers(symbols)
        rows = [
            (i, number[label], start, end)
            for i, tree in enumerate(trees)
            for full, start, end in tree.brackets
            if (label := counted_label(full)) is not None
        ]
        table: NDArray[Any] = np.array(rows, dtype=np.int64).reshape(-1, 4)
        kept = np.array([counts_in_extent(tag) for tree in trees for tag in tree.tags], dtype=bool)
        return cls(symbols, BinaryTrees.of(trees, symbols), kept, Brackets(*np.ascontiguousarray(table.T)))


def _numbers(symbols: Symbols) -> dict[str, int]:
    """Numbers of what labels count as, whether or not it is a label itself."""
    return {label: i for i, label in enumerate(dict.fromkeys([*symbols.labels, "ADVP"]))}


def count_brackets(examples: Examples, predicted: Brackets | GoldTrees) -> NDArray[np.int32]:
    """(correct, guessed, gold) brackets of each sentence (n, 3), as `parseval.bracket_counts` counts them.

    A parser's labels are those of the trees, of which not all count; the gold brackets are those that do.
    """
    gold: GoldTrees = examples.gold
    sentences: Sentences = examples.inputs
    number = _numbers(gold.symbols)
    counted = [counted_label(label) for label in gold.symbols.labels]
    counts_as = np.array([-1 if label is None else number[label] for label in counted] + [number["ADVP"]])
    n, n_labels = len(sentences), len(counts_as)
    # Kept words before each word, and the sentence's longest.
    before = np.concatenate([[0], np.cumsum(gold.kept)])
    width = int(np.diff(sentences.bounds).max(initial=0)) + 1
    found = []
    for answer in (predicted, gold):
        brackets = answer.brackets if isinstance(answer, GoldTrees) else answer
        first = sentences.bounds[brackets.sentence]
        label = brackets.label if isinstance(answer, GoldTrees) else counts_as[brackets.label]
        start, end = (before[first + place] - before[first] for place in (brackets.start, brackets.end))
        code = ((brackets.sentence * n_labels + label) * width + start) * width + end
        found.append(np.unique(code[(label >= 0) & (start < end)], return_counts=True))
    (guessed, n_guessed), (wanted, n_wanted) = found
    common, left, right = np.intersect1d(guessed, wanted, assume_unique=True, return_indices=True)
    columns = (common, np.minimum(n_guessed[left], n_wanted[right])), (guessed, n_guessed), (wanted, n_wanted)
    counts = [np.bincount(code // (n_labels * width**2), times, n) for code, times in columns]
    return np.stack(counts, axis=1).astype(np.int32)
