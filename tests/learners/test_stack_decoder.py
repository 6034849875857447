"""The stack decoder against an enumeration of every segmentation and order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from simstudy_learners.language_models.kneser_ney import LanguageModel, next_word, train_language_model
from simstudy_learners.language_models.ngrams import END, Ngrams
from simstudy_learners.translation.candidates import Candidates, found, options_of
from simstudy_learners.translation.hypotheses import Hypothesis, Search, clear, prune, push, stacks
from simstudy_learners.translation.stack_decoder import Models, Options, decode

WIDE = Search(stack=2000, width=1e9, distortion_limit=0)


@dataclass
class Option:
    first: int
    stop: int
    score: float
    words: list[int]
    unit: int


def model_of(rng: np.random.Generator, n_words: int) -> LanguageModel:
    words = rng.integers(2, n_words, 60)
    return train_language_model(words, np.arange(0, 61, 5), np.ones(12, np.int64), n_words, 3)


def random_options(rng: np.random.Generator, n: int) -> list[Option]:
    """Translations of phrases of up to three words, none to two of each, but at least one of each word."""
    options = []
    for first in range(n):
        for stop in range(first + 1, min(n, first + 3) + 1):
            for _ in range(rng.integers(1 if stop == first + 1 else 0, 3)):
                words = rng.integers(2, 8, rng.integers(3)).tolist()
                options.append(Option(first, stop, float(rng.normal()), words, int(rng.integers(2, 6))))
    return options


def packed(sentences: list[list[Option]]) -> Options:
    flat = [option for options in sentences for option in options]
    score = np.array([option.score for option in flat])
    return Options(
        np.cumsum([0, *map(len, sentences)]),
        np.array([option.first for option in flat]),
        np.array([option.stop for option in flat]),
        score,
        # What is expected guides a search, and is no part of a score.
        score + np.cos(np.arange(len(score))),
        np.array([word for option in flat for word in option.words], np.int64),
        np.cumsum([0, *(len(option.words) for option in flat)]),
        np.array([option.unit for option in flat]),
    )


def every_order(options: list[Option], n: int, limit: int) -> Iterator[list[Option]]:
    """All ways to translate each word once that the decoder's rules allow."""

    def continued(done: list[Option], covered: set[int], last: int) -> Iterator[list[Option]]:
        if len(covered) == n:
            yield done
            return
        gap = min(set(range(n)) - covered)
        for option in options:
            own = set(range(option.first, option.stop))
            leaves_out = option.first > gap and option.stop - gap > limit
            if not own & covered and abs(option.first - last) <= limit and not leaves_out:
                yield from continued([*done, option], covered | own, option.stop)

    return continued([], set(), 0)


def score_of(order: list[Option], models: Models) -> float:
    total, last = 0.0, 0
    for option in order:
        total += option.score - models.distortion_weight * abs(option.first - last)
        last = option.stop
    for model, weight, asked in (
        (models.language, models.language_weight, [word for option in order for word in option.words]),
        (models.units, models.unit_weight, [option.unit for option in order]),
    ):
        state = model.start
        for word in [*asked, END]:
            logarithm, state = next_word(model, state, word)
            total += weight * logarithm
    return total


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
@pytest.mark.parametrize("unit_weight", [0.0, 0.7])
def test_a_wide_search_finds_the_best_of_all(rng: np.random.Generator, limit: int, unit_weight: float) -> None:
    models = Models(model_of(rng, 8), model_of(rng, 6), 0.9, unit_weight, 0.3)
    lengths = np.array([1, 2, 3, 4, 5] * 8)
    sentences = [random_options(rng, n) for n in lengths]
    options, search = packed(sentences), WIDE._replace(distortion_limit=limit)
    chosen, count, scores = decode(lengths, options, models, search, stacks(5, search.stack))
    words, bounds = found(lengths, options, models, search)
    for k, (n, own) in enumerate(zip(lengths, sentences, strict=True)):
        best = max((score_of(order, models) for order in every_order(own, n, limit)), default=-np.inf)
        assert scores[k] == pytest.approx(best)
        order = [own[o - options.bounds[k]] for o in chosen[k, : count[k]]]
        assert score_of(order, models) == pytest.approx(best)
        assert words[bounds[k] : bounds[k + 1]].tolist() == [word for option in order for word in option.words]


def test_a_narrow_search_finishes_every_sentence(rng: np.random.Generator) -> None:
    """Also with a full stack of the smallest size, and the scores it reports are those of what it chose."""
    models = Models(model_of(rng, 8), model_of(rng, 6), 0.9, 0.0, 0.3)
    lengths = rng.integers(1, 20, 30)
    sentences = [random_options(rng, n) for n in lengths]
    options = packed(sentences)
    better = []
    for stack in (1, 10, 200):
        search = Search(stack, 1e9, 4)
        chosen, count, scores = decode(lengths, options, models, search, stacks(20, stack))
        for k, own in enumerate(sentences):
            order = [own[o - options.bounds[k]] for o in chosen[k, : count[k]]]
            assert sorted(i for option in order for i in range(option.first, option.stop)) == list(range(lengths[k]))
            assert score_of(order, models) == pytest.approx(scores[k])
        better.append(scores.sum())
    assert better == sorted(better)


@pytest.mark.parametrize(("stack", "width", "n"), [(2, 1e9, 60), (3, 0.8, 60), (50, 0.5, 30), (50, 1e9, 60)])
def test_a_stack_keeps_the_best_of_those_that_differ_in_what_can_follow(
    rng: np.random.Generator, stack: int, width: float, n: int
) -> None:
    """The one of the highest total stays of hypotheses with the same words done, the same end and the same state."""
    hyps, search = stacks(2, stack), Search(stack, width, 5)
    clear(hyps, 2)
    best: dict[tuple[int, int, int], tuple[float, ...]] = {}
    for k in range(n):
        key = (int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(2)))
        score, total = (rng.uniform(0, 3, 2) + (width < 1) * k / 20).tolist()
        push(hyps, 1, search, Hypothesis(*key, score, total, k, 100 + k))
        best[key] = max(best.get(key, (-1.0,)), (total, score, *key, k, 100 + k))
    prune(hyps, 1, stack, width)
    expected = sorted(best.values(), reverse=True)[:stack]
    expected = [one for one in expected if one[0] >= expected[0][0] - width]
    kept = range(hyps.filled[1])
    assert [(*hyps.real[1, h].tolist(), *hyps.whole[1, h].tolist()) for h in kept] == expected


def test_options_are_the_candidates_of_all_phrases_and_words_without_any_as_they_are() -> None:
    """In the order of their places; no phrase has words of two sentences."""
    sources, _ = Ngrams.of(np.array([2, 3, 4]), np.array([0, 3]), 9, 2)
    # "2" has two candidates, "3" none, "4" one without a word; "2 3" one, "3 4" two.
    of_each: list[list[tuple[float, float, list[int], int]]] = [
        [(0.1, 1.1, [7], 20), (0.2, 1.2, [8, 7], 21)], [], [(0.3, 1.3, [], 22)],
        [(0.4, 1.4, [5, 5, 5], 23)], [(0.5, 1.5, [6], 24), (0.6, 1.6, [4, 8], 25)],
    ]  # fmt: skip
    flat = [one for own in of_each for one in own]
    score, expected, texts, unit = zip(*flat, strict=True)
    table = Candidates(
        sources, np.cumsum([0, *map(len, of_each)]), np.array([word for text in texts for word in text]),
        np.cumsum([0, *map(len, texts)]), np.array(score), np.array(expected), np.array(unit),
    )  # fmt: skip
    found = options_of(np.array([2, 3, 6, 3, 4, 2]), np.array([0, 3, 6]), table, (-0.7, -1.7, 30))
    own = [part.tolist() for part in np.split(found.words, found.word_bounds[1:-1])]
    rows = [*zip(found.first, found.stop, found.score, found.expected, own, found.unit, strict=True)]
    assert rows == [
        (0, 1, *flat[0]), (0, 1, *flat[1]), (0, 2, *flat[3]), (1, 2, -0.7, -1.7, [3], 30), (2, 3, -0.7, -1.7, [6], 30),
        (0, 2, *flat[4]), (0, 2, *flat[5]), (0, 1, -0.7, -1.7, [3], 30), (1, 2, *flat[2]), (2, 3, *flat[0]),
        (2, 3, *flat[1]),
    ]  # fmt: skip
    assert found.bounds.tolist() == [0, 5, 11]
