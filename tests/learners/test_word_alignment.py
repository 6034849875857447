"""Word alignment: what is learnt, symmetry, weights, and the lexicon by counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from simstudy.learners.translation.bitexts import Bitext, aligned
from simstudy.learners.translation.texts import index_texts
from simstudy.learners.translation.word_alignment import align
from tests.learners.sentences import ENGLISH, GERMAN, invented, matrix, pairs, randomly_linked, words_of


def linked_words(bitext: Bitext) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    names = bitext.source.vocabulary
    for k in range(len(bitext.source)):
        source, target = words_of(bitext.source, k), words_of(bitext.target, k)
        for i, j in zip(*np.nonzero(matrix(bitext, k)), strict=True):
            counts[names[source[i]], names[target[j]]] += 1
    return counts


def test_words_that_go_together_are_linked() -> None:
    bitext = aligned(pairs(), np.ones(len(GERMAN), np.int64), 5)
    counts = linked_words(bitext)
    for german, english in [("hund", "dog"), ("mann", "man"), ("schläft", "sleeps"), ("zwei", "two")]:
        partners = {pair[1]: n for pair, n in counts.items() if pair[0] == german}
        assert max(partners, key=lambda word: partners[word]) == english


def test_other_way_round_the_links_are_transposed(rng: np.random.Generator) -> None:
    """Of each direction's best links, those of both, their neighbours and lone words: none depends on the side."""
    source, target = invented(rng, 30, n_words=6)
    weights = np.ones(30, np.int64)
    there, back = align(source, target, weights, 3), align(target, source, weights, 3)
    for k in range(30):
        first, last = there.bounds[k : k + 2]
        shape = (source.lengths[k], target.lengths[k])
        one = there.linked[first:last].reshape(shape)
        other = back.linked[first:last].reshape(shape[::-1])
        both = one.astype(bool) & other.T.astype(bool)
        # The order of growing may differ; what both directions agree on, and that some link is there, does not.
        assert one.any() == other.any()
        assert both.any() or not one.any()


def test_a_weight_is_a_number_of_copies() -> None:
    weights = np.array([2, 1, 3, 1, 1, 2, 1, 1])
    copies = np.repeat(np.arange(8), weights)
    texts = index_texts([[*GERMAN, *(GERMAN[k] for k in copies)], [*ENGLISH, *(ENGLISH[k] for k in copies)]])
    once = [text.chosen(np.arange(8)) for text in texts]
    often = [text.chosen(np.arange(8, 8 + len(copies))) for text in texts]
    plain, spelt_out = align(*once, weights, 5), align(*often, np.ones(len(copies), np.int64), 5)
    expected = [plain.linked[plain.bounds[k] : plain.bounds[k + 1]] for k in copies]
    np.testing.assert_array_equal(spelt_out.linked, np.concatenate(expected))


def test_the_lexicon_counts_links_and_words_without_any(rng: np.random.Generator) -> None:
    bitext = randomly_linked(rng, 20)
    counts: Counter[tuple[int, int]] = Counter()
    for k in range(20):
        source, target, own = words_of(bitext.source, k), words_of(bitext.target, k), matrix(bitext, k)
        weight = int(bitext.weights[k])
        for i, word in enumerate(source):
            for j in np.flatnonzero(own[i]):
                counts[word, target[j]] += weight
            if not own[i].any():
                counts[word, 0] += weight
        for j, word in enumerate(target):
            if not own[:, j].any():
                counts[0, word] += weight
    words = bitext.words
    found = {(int(a), int(b)): n for a, b, n in zip(words.source, words.target, words.often, strict=True)}
    assert found == dict(counts)
    for a, b, to_source, to_target in zip(
        words.source, words.target, words.source_share, words.target_share, strict=True
    ):
        n = counts[int(a), int(b)]
        assert to_source == pytest.approx(n / sum(m for (x, _), m in counts.items() if x == a))
        assert to_target == pytest.approx(n / sum(m for (_, y), m in counts.items() if y == b))


def test_only_pairs_with_a_weight_are_there() -> None:
    examples = pairs()
    bitext = aligned(examples, np.array([0, 2, 0, 0, 1, 0, 0, 0]), 2)
    assert bitext.source.lines == (GERMAN[1], GERMAN[4])
    assert bitext.weights.tolist() == [2, 1]
    with pytest.raises(ValueError, match="weights must be above 0 for at least one"):
        aligned(examples, np.zeros(8, np.int64), 2)
