"""How far searches look: the beam search of generation, and the candidates of a translation memory, by plain loops."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import groupby, pairwise, product
from typing import Any

import numpy as np
import pytest

from simstudy_learners.generation.beam_search import BeamSearch, Hypothesis, _Decoder
from simstudy_learners.generation.phrases import Part, word
from simstudy_learners.language_models.kneser_ney import next_word
from simstudy_learners.language_models.ngrams import END, START
from simstudy_learners.translation.translation_memory import TranslationMemory
from tests.learners.handed import handed
from tests.learners.sentences import pairs, words_of

PARTS = [word("x"), word("y"), Part("p", "1", ("p1",)), Part("p", "1", ("one",)), Part("q", "", ("{q}",)), word("z")]
PARTS.append(Part("p", "2", ("p2",)))
WIDE: dict[str, Any] = {"order": 3, "beam": 10_000, "threshold": 1e6, "between": 3, "words": 10, "phrases": 10}


@pytest.fixture
def texts(rng: np.random.Generator) -> list[tuple[list[Part], int]]:
    """Random ones, and one with three words between phrases that is far more frequent than all others."""
    found = [([PARTS[k] for k in rng.integers(7, size=rng.integers(1, 6))], int(rng.integers(1, 3))) for _ in range(40)]
    return [*found, ([PARTS[2], PARTS[0], PARTS[1], PARTS[5], PARTS[4]], 200)]


def decoder_of(texts: list[tuple[list[Part], int]], **settings: float) -> _Decoder:
    return _Decoder(BeamSearch(**(WIDE | settings)), texts)


@pytest.mark.parametrize(("words", "phrases"), [(1, 1), (1, 2), (2, 1), (10, 10)])
def test_the_most_probable_words_and_phrases_after_a_part_are_tried(
    texts: list[tuple[list[Part], int]], words: int, phrases: int
) -> None:
    """So many words, so many phrases of each value, and the value's most frequent phrase in any case."""
    decoder = decoder_of(texts, words=words, phrases=phrases)
    parts, model = decoder._parts, decoder._model
    number = {part: k for k, part in enumerate(parts)}
    after = defaultdict(set)
    often: Counter[int] = Counter()
    for text, weight in texts:
        own = [number[part] for part in text]
        for one, other in pairwise([START, *own, END]):
            after[one].add(other)
        for k in own:
            often[k] += weight
    usable = {"p": [("p", "1")], "q": [("q", "")]}
    for last in (START, *number.values()):
        state = model.start if last == START else next_word(model, 0, last)[1]
        chance = {k: round(next_word(model, state, k)[0], 9) for k in after[last]}
        likely = sorted(after[last], key=lambda k, chance=chance: (-chance[k], k))  # type: ignore[misc]
        expected = [k for k in likely if not parts[k].slot][:words]
        for slot, value in (("p", "1"), ("q", "")):
            own = [k for k in likely if parts[k].says == (slot, value)][:phrases]
            first = min((k for k in number.values() if parts[k].says == (slot, value)), key=lambda k: (-often[k], k))
            expected += [*own, *({first} - set(own))]
        if last != END:
            assert decoder._next(last, frozenset("pq"), usable) == expected


@pytest.mark.parametrize(("beam", "threshold"), [(1, 5.0), (4, 5.0), (4, 0.5), (100, 1.0)])
def test_hypotheses_go_on_that_are_among_the_best_and_near_the_best(
    rng: np.random.Generator, texts: list[tuple[list[Part], int]], beam: int, threshold: float
) -> None:
    decoder = decoder_of(texts, beam=beam, threshold=threshold)
    some = [Hypothesis(float(cost), (k,), frozenset(), k) for k, cost in enumerate(rng.uniform(0, 3, 20))]
    least = min(one.cost for one in some)
    cheaper = {one: sum(other.cost < one.cost for other in some) for one in some}
    expected = {one for one in some if one.cost <= least + threshold and cheaper[one] < beam}
    assert set(decoder._best({(one.state, one.unsaid): one for one in some})) == expected
    assert decoder._best({}) == []


@pytest.mark.parametrize("between", [1, 2, 3])
def test_no_more_words_than_that_stand_between_phrases(texts: list[tuple[list[Part], int]], between: int) -> None:
    """The best of all texts of up to five parts that say each slot once and have no longer runs of words.

    It says the value that is asked for, and nothing of a slot that was never seen.
    """
    decoder = decoder_of(texts, between=between)
    model, parts = decoder._model, decoder._parts

    def longest_run(text: tuple[int, ...]) -> int:
        return max((len([*run]) for is_word, run in groupby(text, lambda k: not parts[k].slot) if is_word), default=0)

    def cost(text: tuple[int, ...]) -> float:
        total, state = 0.0, model.start
        for part in (*text, END):
            logarithm, state = next_word(model, state, part)
            total -= logarithm
        return total

    for value in "12":
        usable = [k for k in range(END + 1, len(parts)) if parts[k].value in ("", value)]
        best = min(
            (cost(text), text)
            for n in range(2, 6)
            for text in product(usable, repeat=n)
            if sorted(parts[k].slot for k in text if parts[k].slot) == ["p", "q"] and longest_run(text) <= between
        )
        found = decoder.search((("p", value), ("q", "whatever"), ("r", "never seen")))
        assert found.parts == best[1]
        assert found.cost == pytest.approx(best[0])
        # The text that is far more frequent than all others says the first value, and has three.
        assert value == "2" or (longest_run(found.parts) > 2) == (between > 2)
    assert decoder.search((("r", "never seen"),)).unsaid == frozenset()


@pytest.mark.parametrize(("longest", "n_candidates"), [(1, 3), (2, 5), (3, 8)])
def test_a_memory_looks_up_ngrams_up_to_the_longest_for_so_many_candidates(longest: int, n_candidates: int) -> None:
    """What each is worth: the logarithm of pairs, and one, over those that have it; of an unknown one, over one."""
    given = pairs()
    weights = np.array([2, 0, 1, 3, 1, 0, 2, 1])
    base = TranslationMemory(n_candidates=n_candidates, longest=longest, n_iterations=1)
    found = handed(lambda: base.train(given, weights, 0)(given), "translation.translation_memory:look_up")

    def grams(k: int) -> set[tuple[int, ...]]:
        words = words_of(given.inputs, k)
        return {tuple(words[i : i + n]) for n in range(1, longest + 1) for i in range(len(words) - n + 1)}

    often: Counter[tuple[int, ...]] = Counter()
    for k, weight in enumerate(weights.tolist()):
        for gram in grams(k):
            often[gram] += weight
    n_pairs = weights.sum()
    worth = {gram: math.log((n_pairs + 1) / max(n, 1)) for gram, n in often.items()}
    seen = sorted(worth[gram] for gram, n in often.items() if n)
    np.testing.assert_allclose(sorted(found["index"].worth), seen)
    assert found["best"].shape == (8, n_candidates)
    np.testing.assert_allclose(found["asked"].whole, [sum(worth[gram] for gram in grams(k)) for k in range(8)])
    in_memory = [k for k in range(8) if weights[k]]
    np.testing.assert_allclose(found["index"].whole, [sum(worth[gram] for gram in grams(k)) for k in in_memory])
    judged = handed(lambda: base.train(given, weights, 0)(given), "translation.translation_memory:Judgement")["worth"]
    for number in range(len(given.inputs.vocabulary)):
        assert judged[number] == pytest.approx(worth.get((number,), math.log(n_pairs + 1)))
