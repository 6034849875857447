"""The bitext of a translator: what is linked, weights, and the lexicon by counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from simstudy_learners.translation.aligned_bitexts import aligned
from tests.learners.sentences import GERMAN, matrix, pairs, randomly_linked, source_of, target_of


def test_words_that_go_together_are_linked() -> None:
    examples = pairs()
    corpus = aligned(examples, np.ones(len(GERMAN), np.int64), 5)
    names = examples.inputs.vocabulary
    counts: Counter[tuple[str, str]] = Counter()
    for k in range(len(GERMAN)):
        source, target = source_of(corpus.bitext, k), target_of(corpus.bitext, k)
        for i, j in zip(*np.nonzero(matrix(corpus, k)), strict=True):
            counts[names[source[i]], names[target[j]]] += 1
    for german, english in [("hund", "dog"), ("mann", "man"), ("schläft", "sleeps"), ("zwei", "two")]:
        partners = {pair[1]: n for pair, n in counts.items() if pair[0] == german}
        assert max(partners, key=lambda word: partners[word]) == english


def test_the_lexicon_counts_links_and_words_without_any(rng: np.random.Generator) -> None:
    corpus = randomly_linked(rng, 20)
    counts: Counter[tuple[int, int]] = Counter()
    for k in range(20):
        source, target, own = source_of(corpus.bitext, k), target_of(corpus.bitext, k), matrix(corpus, k)
        weight = int(corpus.weights[k])
        for i, word in enumerate(source):
            for j in np.flatnonzero(own[i]):
                counts[word, target[j]] += weight
            if not own[i].any():
                counts[word, 0] += weight
        for j, word in enumerate(target):
            if not own[:, j].any():
                counts[0, word] += weight
    of_source, of_target = Counter[int](), Counter[int]()
    for (a, b), n in counts.items():
        of_source[a] += n
        of_target[b] += n
    words, known = corpus.lexicon, corpus.bitext.lexicon
    for k, (a, b) in enumerate(zip(known.source.tolist(), known.target.tolist(), strict=True)):
        assert words.to_target[k] == pytest.approx(counts[a, b] / of_source[a])
        assert words.to_source[k] == pytest.approx(counts[a, b] / of_target[b])
    for word in range(2, corpus.n_words):
        assert words.target_of_none[word] == pytest.approx(counts[0, word] / of_source[0])
        assert words.source_of_none[word] == pytest.approx(counts[word, 0] / of_target[0])
        assert words.left_out[word] == pytest.approx(counts[word, 0] / max(1, of_source[word]))


def test_only_pairs_with_a_weight_are_there() -> None:
    examples = pairs()
    corpus = aligned(examples, np.array([0, 2, 0, 0, 1, 0, 0, 0]), 2)
    for k, line in enumerate((GERMAN[1], GERMAN[4])):
        assert " ".join(examples.inputs.vocabulary[word] for word in source_of(corpus.bitext, k)) == line
    assert corpus.weights.tolist() == [2, 1]
    with pytest.raises(ValueError, match="weights must give at least one sentence pair a count above 0"):
        aligned(examples, np.zeros(8, np.int64), 2)
