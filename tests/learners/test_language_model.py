"""n-grams and the language model against definitions spelt out with dictionaries."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from simstudy_learners.language_models.kneser_ney import next_word, scored, successors, train_language_model
from simstudy_learners.language_models.ngrams import END, START, Ngrams
from tests.learners.sentences import invented, words_of

N_WORDS = 8
Gram = tuple[int, ...]


@pytest.fixture
def sentences(rng: np.random.Generator) -> list[list[int]]:
    return [rng.integers(2, N_WORDS - 1, rng.integers(1, 7)).tolist() for _ in range(12)]


def flat(sentences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(sentences).astype(np.int64), np.cumsum([0, *map(len, sentences)])


def test_ngrams_are_numbered_by_length_then_words(sentences: list[list[int]]) -> None:
    ngrams, numbers = Ngrams.of(*flat(sentences), N_WORDS, 3)
    every = {tuple(s[i : i + n]) for s in sentences for n in (1, 2, 3) for i in range(len(s) - n + 1)}
    expected = {gram: k for k, gram in enumerate(sorted(every, key=lambda gram: (len(gram), gram)))}
    rows = iter(numbers.tolist())
    for s in sentences:
        for i in range(len(s)):
            grams = [tuple(s[i : i + n]) if i + n <= len(s) else None for n in (1, 2, 3)]
            assert next(rows) == [-1 if gram is None else expected[gram] for gram in grams]
    prefixes, last = ngrams.prefixes(), ngrams.last_words()
    for gram, k in expected.items():
        assert last[k] == gram[-1]
        assert prefixes[k] == (expected[gram[:-1]] if len(gram) > 1 else -1)
    other = [[2, 3, 4], [N_WORDS - 1, 2], [5]]
    found = ngrams.find(*flat(other)).tolist()
    asked = [[tuple(s[i : i + n]) for n in (1, 2, 3)] for s in other for i in range(len(s))]
    lengths = [[i + n <= len(s) for n in (1, 2, 3)] for s in other for i in range(len(s))]
    assert found == [
        [expected.get(gram, -1) if there else -1 for gram, there in zip(*row, strict=True)]
        for row in zip(asked, lengths, strict=True)
    ]


def kneser_ney(sentences: list[list[int]], weights: list[int], order: int, context: Gram, word: int) -> float:
    """Interpolated Kneser-Ney by its recursive definition."""
    padded = [[START, *s, END] for s in sentences]
    raw: Counter[Gram] = Counter()
    before: dict[Gram, set[int]] = defaultdict(set)
    for s, weight in zip(padded, weights, strict=True):
        for n in range(1, order + 1):
            for i in range(len(s) - n + 1):
                raw[tuple(s[i : i + n])] += weight
                if i and n < order:
                    before[tuple(s[i : i + n])].add(s[i - 1])

    def count(gram: Gram) -> int:
        if gram == (START,):
            return 0
        return raw[gram] if len(gram) == order or gram[0] == START else len(before[gram])

    def probability(context: Gram, word: int) -> float:
        grams = [gram for gram in raw if len(gram) == len(context) + 1 and count(gram)]
        ones, twos = (sum(count(gram) == n for gram in grams) for n in (1, 2))
        discount = ones / (ones + 2 * twos) if ones and twos else 0.5
        own = [gram for gram in grams if gram[:-1] == context]
        total = sum(map(count, own))
        if context and not total:
            return probability(context[1:], word)
        left = sum(min(count(gram), discount) for gram in own) / total
        below = probability(context[1:], word) if context else 1 / (len(own) + 1)
        return max(count((*context, word)) - discount, 0) / total + left * below

    return probability(context, word)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_probabilities_are_kneser_neys_and_sum_to_one(sentences: list[list[int]], order: int) -> None:
    weights = np.random.default_rng(order).integers(1, 4, len(sentences))
    model = train_language_model(*flat(sentences), weights, N_WORDS, order)
    known = [END, *sorted({word for s in sentences for word in s})]
    unknown = N_WORDS - 1
    for s in [*sentences, [3, 3, 3, 3, 3], [unknown, 3]]:
        state, seen = model.start, [START]
        for word in [*s, END]:
            context = tuple(seen[-order + 1 :])
            expected = {w: kneser_ney(sentences, weights.tolist(), order, context, w) for w in [*known, unknown]}
            found = {w: math.exp(next_word(model, state, w)[0]) for w in [*known, unknown]}
            assert found == pytest.approx(expected, rel=1e-9)
            assert sum(found.values()) == pytest.approx(1)
            _, state = next_word(model, state, word)
            seen.append(word)


@pytest.mark.parametrize("order", [2, 4])
def test_successors_are_the_words_seen_after_another_by_probability(sentences: list[list[int]], order: int) -> None:
    weights = np.random.default_rng(order).integers(1, 4, len(sentences))
    bounds, words = successors(train_language_model(*flat(sentences), weights, N_WORDS, order))
    pairs = {pair for s in sentences for pair in pairwise([START, *s, END])}
    for word in range(N_WORDS):
        seen = [other for before, other in pairs if before == word]
        chance = {w: round(kneser_ney(sentences, weights.tolist(), order, (word,), w), 12) for w in seen}
        assert words[bounds[word] : bounds[word + 1]].tolist() == sorted(seen, key=lambda w: (-chance[w], w))


def test_texts_are_scored_as_the_sum_of_their_words(rng: np.random.Generator) -> None:
    text, _ = invented(rng, 6)
    weights = np.ones(6, np.int64)
    model = train_language_model(text.words, text.bounds, weights, len(text.vocabulary), 3)
    for sentences in (True, False):
        scores = scored(model, text.words, text.bounds, sentences=sentences)
        for k in range(6):
            state, total = (model.start if sentences else 0), 0.0
            for word in words_of(text, k) + [END] * sentences:
                score, state = next_word(model, state, word)
                total += score
            assert scores[k] == pytest.approx(total)


def test_one_sentence_is_enough() -> None:
    """Of one word: no count of two, and no n-gram of four words at all."""
    model = train_language_model(np.array([3]), np.array([0, 1]), np.array([1]), N_WORDS, 4)
    assert all(np.isfinite(next_word(model, model.start, word)[0]) for word in range(1, N_WORDS))
