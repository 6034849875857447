"""Retrieval and repair against brute force on small texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from math import log

import numpy as np
import pytest

from simstudy_learners.language_models.kneser_ney import scored, train_language_model
from simstudy_learners.language_models.ngrams import Ngrams
from simstudy_learners.translation.memory_index import Asked, Index, look_up
from simstudy_learners.translation.memory_repair import Judgement, Match, Memory, Room, edit_path, repair, translate
from simstudy_learners.translation.translation_memory import TranslationMemory, distinct, likeliest
from tests.learners.sentences import invented, matrix, pairs, randomly_linked, source_of, target_of, words_of


def grams(words: list[int], longest: int) -> set[tuple[int, ...]]:
    return {tuple(words[i : i + n]) for n in range(1, longest + 1) for i in range(len(words) - n + 1)}


def test_the_nearest_sentences_share_most(rng: np.random.Generator) -> None:
    memory, _ = invented(rng, 40, longest=6)
    ngrams, numbers = Ngrams.of(memory.words, memory.bounds, len(memory.vocabulary), 3)
    sentence, number = distinct(numbers, memory.bounds)
    every = [grams(words_of(memory, k), 3) for k in range(40)]
    often = {gram: sum(gram in one for one in every) for one in every for gram in one}
    worth = np.log(41 / np.bincount(number))
    whole = np.bincount(sentence, worth[number])
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(len(worth) + 1))
    best = np.empty((40, 5), np.int64)
    own = np.searchsorted(sentence, np.arange(41))
    look_up(Asked(own, number, whole), Index(bounds, sentence[order], worth, whole), best)
    for k in range(40):

        def worth_of(some: set[tuple[int, ...]]) -> float:
            return sum(log(41 / often[gram]) for gram in some)

        likeness = [2 * worth_of(every[k] & other) / (worth_of(every[k]) + worth_of(other)) for other in every]
        # Of equals the first in the memory is first.
        expected = sorted(range(40), key=lambda s: (-round(likeness[s], 9), s))[:5]
        expected = [s for s in expected if likeness[s] > 0]
        assert best[k, : len(expected)].tolist() == expected
        assert (best[k, len(expected) :] == -1).all()


def test_edits_are_the_cheapest_of_all_alignments(rng: np.random.Generator) -> None:
    worth = rng.integers(1, 20, 6).astype(float)
    for _ in range(60):
        one, other = (rng.integers(6, size=rng.integers(1, 6)) for _ in range(2))
        cheapest = np.inf
        for n in range(min(len(one), len(other)) + 1):
            for a in combinations(range(len(one)), n):
                for b in combinations(range(len(other)), n):
                    changed = sum(
                        max(worth[one[i]], worth[other[j]]) for i, j in zip(a, b, strict=True) if one[i] != other[j]
                    )
                    left = sum(worth[one[i]] for i in range(len(one)) if i not in a)
                    left += sum(worth[other[j]] for j in range(len(other)) if j not in b)
                    cheapest = min(cheapest, changed + left)
        partner = np.empty(len(one), np.int64)
        assert edit_path(one, other, worth, np.empty((8, 8)), partner) == cheapest
        kept = partner[partner >= 0].tolist()
        assert kept == sorted(set(kept))
        spent = sum(worth[w] for w, p in zip(one, partner, strict=True) if p < 0)
        spent += sum(worth[w] for p, w in enumerate(other) if p not in kept)
        spent += sum(
            max(worth[w], worth[other[p]]) for w, p in zip(one, partner, strict=True) if p >= 0 and w != other[p]
        )
        assert spent == cheapest


def test_repairs_replace_put_in_and_leave_out() -> None:
    """Words: 2 … 9 are source words, word w's translation is w + 10; each is linked to its own."""

    def repaired(words: list[int], others: list[int], partner: list[int]) -> list[int]:
        room = Room(*(np.empty(20, np.int64) for _ in range(3)))
        lexical = np.array([w + 10 if w > 1 else w for w in range(10)])
        match = Match(np.array(others), np.array(others) + 10, np.eye(len(others), dtype=bool))
        n = repair(np.array(words), np.array(partner), match, lexical, room)
        return room.written[:n].tolist()

    assert repaired([2, 3, 4], [2, 3, 4], [0, 1, 2]) == [12, 13, 14]
    assert repaired([2, 5, 4], [2, 3, 4], [0, 1, 2]) == [12, 15, 14]
    assert repaired([2, 3, 5, 4], [2, 3, 4], [0, 1, -1, 2]) == [12, 13, 15, 14]
    assert repaired([2, 4], [2, 3, 4], [0, 2]) == [12, 14]
    assert repaired([5, 6], [2], [-1, -1]) == [15, 16]


def test_repairs_follow_the_links_of_the_other_sentence() -> None:
    """A changed word's translation stands where the old one stood, once where that had two words."""
    room = Room(*(np.empty(20, np.int64) for _ in range(3)))
    match = Match(np.array([2, 3]), np.array([13, 23, 12]), np.array([[0, 0, 1], [1, 1, 0]], bool))
    n = repair(np.array([2, 4]), np.array([0, 1]), match, np.arange(10) + 10, room)
    assert room.written[:n].tolist() == [14, 12]


def test_the_likeliest_translation_is_the_most_frequent(rng: np.random.Generator) -> None:
    corpus = randomly_linked(rng, 25)
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for k in range(25):
        own, target = matrix(corpus, k), target_of(corpus.bitext, k)
        for i, word in enumerate(source_of(corpus.bitext, k)):
            for partner in [target[j] for j in np.flatnonzero(own[i])] or [0]:
                counts[word][partner] += int(corpus.weights[k])
    found = likeliest(corpus)
    for word in range(2, len(found)):
        expected = min(counts[word], key=lambda b: (-counts[word][b], b)) if word in counts else word
        assert found[word] == expected


def test_a_sentence_of_the_memory_has_its_own_translation() -> None:
    examples = pairs()
    answers = TranslationMemory(fluency=0.0).train(examples, np.ones(8, np.int64), 0)(examples)
    assert answers == list(examples.gold.lines)


@pytest.mark.parametrize("fluency", [0.0, 0.2, -1.0])
def test_the_best_repair_is_like_the_sentence_and_fluent(rng: np.random.Generator, fluency: float) -> None:
    """Of all that were found, as far as something is written; without any, words by the lexicon."""
    corpus = randomly_linked(rng, 25)
    bitext, n_words = corpus.bitext, corpus.n_words
    language = train_language_model(bitext.target, bitext.first_target, corpus.weights, n_words, 3)
    worth, lexical = rng.uniform(1, 3, n_words), likeliest(corpus)
    best = np.array([[*rng.permutation(25)[:3], -1] for _ in range(24)] + [[-1] * 4])
    memory = Memory(bitext.bounds, bitext.source, bitext.target, corpus.links)
    judged = Judgement(worth, lexical, language, fluency)
    found, sizes = translate(bitext.source, bitext.first_source, best, memory, judged)
    for k in range(25):
        words, choices = np.array(source_of(bitext, k)), []
        for s in best[k, best[k] >= 0]:
            other, partner = np.array(source_of(bitext, s)), np.empty(len(words), np.int64)
            edits = edit_path(words, other, worth, np.empty((9, 9)), partner)
            room = Room(*(np.empty(20, np.int64) for _ in range(3)))
            match = Match(other, np.array(target_of(bitext, s)), matrix(corpus, s))
            written = room.written[: repair(words, partner, match, lexical, room)].tolist()
            log_probability = scored(
                language, np.array(written, np.int64), np.array([0, len(written)]), sentences=True
            )[0]
            likeness = 1 - edits / (worth[words].sum() + worth[other].sum())
            choices += [(likeness + fluency * log_probability / (len(written) + 1), written)] if written else []
        literal = [w for w in lexical[words].tolist() if w > 0]
        assert found[k, : sizes[k]].tolist() == max(choices, default=(0, literal), key=lambda one: round(one[0], 9))[1]


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="n_candidates must be"):
        TranslationMemory(n_candidates=0)
    with pytest.raises(ValueError, match="fluency must be"):
        TranslationMemory(fluency=float("nan"))
