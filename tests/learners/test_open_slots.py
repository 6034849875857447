"""Which slots are open is what the parameter says, whatever they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simstudy.training import Examples
from simstudy_learners.generation.alignment import Alignment, learn_alignment
from simstudy_learners.generation.beam_search import BeamSearch
from simstudy_learners.generation.meanings import Meaning, delexicalised
from simstudy_learners.generation.phrases import in_phrases
from simstudy_learners.generation.retrieval import Retrieval, features
from simstudy_learners.generation.templates import Templates
from tests.learners.test_generators import restaurants

# Of these "food" is open by default; another name for it that stands at the same place in the alphabet is not.
WAYS = [("name", "food"), ("name",), ("name", "food", "area")]

MEANINGS: list[Meaning] = [
    (("name", "Zizzi"), ("food", food), ("area", area), ("priceRange", price))
    for food in ("Thai", "Greek")
    for area in ("riverside", "city centre")
    for price in ("cheap", "high")
]


def renamed(meaning: Meaning) -> Meaning:
    return tuple((_renamed(slot), value) for slot, value in meaning)


def _renamed(slot: str) -> str:
    return "fooe" if slot == "food" else slot


@pytest.mark.parametrize("open_slots", WAYS)
@pytest.mark.parametrize("system", [Retrieval, Templates, BeamSearch])
def test_answers_do_not_hang_on_the_name_of_a_slot(system: Any, open_slots: tuple[str, ...]) -> None:
    """Also where values are asked for that training has not seen, which only open slots can say."""
    given = restaurants()
    other = Examples([renamed(meaning) for meaning in given.inputs], given.gold)
    weights = np.resize([3, 1, 2], given.n_items)
    one = system(open_slots=open_slots).train(given, weights, 0)(Examples(MEANINGS, [["-"]] * 8))
    of_renamed = system(open_slots=tuple(map(_renamed, open_slots))).train(other, weights, 0)
    assert of_renamed(Examples([renamed(meaning) for meaning in MEANINGS], [["-"]] * 8)) == one
    for (_, (_, food), *_), answer in zip(MEANINGS, one, strict=True):
        if "food" in open_slots:
            assert food in answer
        else:
            assert "Greek" not in answer


@pytest.mark.parametrize("open_slots", WAYS)
def test_open_slots_have_placeholders_and_no_value_of_their_own(open_slots: tuple[str, ...]) -> None:
    """In texts, in what meanings are compared by, and among what words may come of."""
    meaning: Meaning = (("name", "Cotto"), ("food", "Thai"), ("area", "Soho"))
    expected = ["serves", *(f"{{{slot}}}" if slot in open_slots else value.lower() for slot, value in meaning)]
    text = delexicalised("Serves Cotto Thai Soho", meaning, open_slots)
    assert text == tuple(expected)
    values = {(slot, value) for slot, value in meaning if slot not in open_slots}
    assert features(meaning, open_slots) == {*((slot, "") for slot, _ in meaning), *values}
    learned = learn_alignment([meaning], [text], np.array([1]), open_slots, 1)
    slots = {(slot, "") for slot, _ in meaning if slot != "name"}
    assert set(learned.said) == {None, *slots, *(value for value in values if value[0] != "name")}


@pytest.mark.parametrize("open_slots", WAYS)
def test_words_that_say_an_open_slot_but_no_value_are_a_phrase(open_slots: tuple[str, ...]) -> None:
    """ "dishes" says that there is food, whichever it is: of a slot that is not open that is no phrase."""
    learned = Alignment({None: {}, ("food", ""): {"dishes": 0.9}, ("area", ""): {"nearby": 0.9}})
    meaning: Meaning = (("food", "Thai"), ("area", "Soho"))
    found = [part.slot for part in in_phrases(("dishes", "nearby"), meaning, learned, open_slots)]
    assert found == [slot if slot in open_slots else "" for slot in ("food", "area")]
