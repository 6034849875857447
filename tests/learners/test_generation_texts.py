"""Meanings and texts with placeholders, word alignment, and phrases."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from simstudy.training import Examples
from simstudy_learners.generation.alignment import Alignment, learn_alignment
from simstudy_learners.generation.meanings import delexicalised, read_meaning, read_references, sentences, surface
from simstudy_learners.generation.phrases import Part, in_phrases, spelt, word
from simstudy_learners.generation.training import seen_texts


@pytest.mark.parametrize(
    "text",
    ["", "name", "name[]", "name[ ]", "[The Mill]", "name[The Mill] food[Thai]", "name[A], name[B]", "name[A],,b[C]"],
)
def test_malformed_meanings_are_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"^mr must (be slot\[value\]|have each slot once)"):
        read_meaning(text)


def test_a_value_may_have_commas() -> None:
    assert read_meaning("name[Fish, and chips], near[B]") == (("name", "Fish, and chips"), ("near", "B"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"mr,text\n", "train.csv: there is no column 'ref'; columns must be mr and ref"),
        (b"", "train.csv is empty"),
        (b"mr,ref\n", "train.csv: there are no references"),
        (b'mr,ref\nname[A],A.\nname[B]," "\n', "train.csv, row 2: the reference is empty"),
        (b"mr,ref\nname[A]\n", "train.csv, row 1: the reference is empty"),
        (b'mr,ref\n"",A.\n', r"train.csv, row 1: mr must be slot\[value\]"),
    ],
)
def test_malformed_files_are_named(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_references(content, "train.csv")


def test_line_ends_do_not_matter() -> None:
    windows = b'"mr","ref"\r\n"name[A], area[B]","A, in B."\r\n'
    assert read_references(windows, "f") == read_references(windows.replace(b"\r", b""), "f")


@pytest.mark.parametrize(
    "text",
    [
        "The Mill is near The Mill Inn.",
        "An Indian pub, THE MILL: it's good!",
        "Cheap (and cheerful). Near The Mill Inn, in the city centre? £20-25.",
        "A pub serves an Italian menu; 5 out of 5.",
    ],
)
def test_a_text_comes_back_from_its_placeholders(text: str) -> None:
    meaning = (("name", "The Mill"), ("near", "The Mill Inn"), ("food", "Indian"), ("eatType", "pub"))
    again = surface(delexicalised(text, meaning), dict(meaning))
    assert again.lower() == text.lower()


def test_the_longer_value_is_found_first() -> None:
    meaning = (("name", "The Mill"), ("near", "The Mill Inn"))
    assert delexicalised("the mill near The Mill Inn", meaning) == ("{name}", "near", "{near}")
    # No value is found within a word.
    assert delexicalised("pubs", (("eatType", "pub"),)) == ("pubs",)


def test_other_values_take_other_articles_and_none_leaves_no_gap() -> None:
    tokens = delexicalised("It is an Indian pub.", (("food", "Indian"),))
    assert surface(tokens, {"food": "French"}) == "It is a French pub."
    assert surface(tokens, {}) == "It is a pub."


def test_braces_of_a_text_are_no_placeholders() -> None:
    assert "{food}" not in delexicalised("It has {food}.", (("food", "Indian"),))


def test_sentences_together_are_the_text() -> None:
    for marks in product([".", "!", "a"], repeat=5):
        found = sentences(marks)
        assert sum(found, ()) == marks
        assert all(mark == "a" for one in found for mark in one[:-1])


def test_alignment_is_model_1_by_hand() -> None:
    """One iteration from equal probabilities: every word of a text is shared out equally among what may say it."""
    meanings = [(("name", "A"), ("area", "river")), (("name", "B"), ("area", "city"))]
    texts = [("{name}", "by", "water", "."), ("by", "town")]
    said = learn_alignment(meanings, texts, np.array([1, 2]), iterations=1).said
    # Each word has three sources (nothing, area, its value); "by" is there 1 + 2 times, "water" once, "town" twice.
    assert said[None] == pytest.approx({"by": 3 / 6, "water": 1 / 6, "town": 2 / 6})
    assert said["area", ""] == pytest.approx(said[None])
    assert said["area", "river"] == pytest.approx({"by": 1 / 2, "water": 1 / 2})
    assert said["area", "city"] == pytest.approx({"by": 1 / 2, "town": 1 / 2})


def test_phrases_are_runs_of_one_slot() -> None:
    learned = Alignment(
        {
            None: {"a": 0.5, "rating": 0.1, "of": 0.2},
            ("rating", ""): {"rating": 0.5, "customer": 0.5},
            ("rating", "3 of 5"): {"3": 0.5, "5": 0.4},
        }
    )
    meaning = (("name", "N"), ("rating", "3 of 5"), ("food", "Thai"))
    text = ("{name}", "has", "a", "customer", "rating", "of", "a", "3", ",", "5", "{food}", "customer")
    parts = in_phrases(text, meaning, learned)
    assert spelt(parts) == text
    assert parts == [
        Part("name", "", ("{name}",)), word("has"), word("a"),
        Part("rating", "3 of 5", ("customer", "rating", "of", "a", "3")), word(","), Part("rating", "3 of 5", ("5",)),
        Part("food", "", ("{food}",)), word("customer"),
    ]  # fmt: skip
    # Three words that say nothing are too many within a phrase; each name is a phrase of its own.
    apart = in_phrases(("3", "of", "a", "of", "5", "{name}", "{name}"), meaning, learned)
    assert [part.slot for part in apart] == ["rating", "", "", "", "rating", "name", "name"]


def test_a_word_says_the_slot_that_is_most_probable_if_the_odds_are_even() -> None:
    """A slot with any value and with its own together, against all slots and nothing."""
    said: dict[Any, dict[str, float]] = {
        None: {"w": 0.5, "x": 0.625, "y": 0.25},
        ("a", ""): {"w": 0.25, "x": 0.25, "v": 0.125}, ("a", "1"): {"w": 0.5, "x": 0.25, "y": 0.5, "v": 0.125},
        ("a", "2"): {"w": 9.0}, ("b", ""): {"w": 0.25, "y": 0.125, "v": 0.25}, ("name", ""): {"w": 9.0, "z": 9.0},
    }  # fmt: skip
    learned, meaning = Alignment(said), (("name", "N"), ("a", "1"), ("b", "1"))
    found = [learned.slot_of(word, meaning) for word in ("w", "x", "y", "v", "z", ",", "{near}", "unseen")]
    assert found == ["a", None, "a", "a", None, None, "near", None]
    assert [learned.tells(word, "a", "1") for word in "wxyvz"] == [False, False, True, False, False]
    assert learned.tells("w", "a", "2")


def test_what_is_not_in_the_resample_is_not_read() -> None:
    examples = Examples([(("name", "A"),), (("name", "B"),)], [["A."], ["B."]])
    assert [text for _, text, _ in seen_texts(examples, np.array([0, 3]))] == ["B."]


@pytest.mark.parametrize(
    ("inputs", "gold", "weights", "message"),
    [
        ([()], [["A."]], [1], "inputs must have at least one slot for every item, unlike item number 0"),
        (
            [(("name", "A"),)],
            [[]],
            [1],
            "gold must have a list of at least one text for every item, unlike item number 0",
        ),
        ([(("name", "A"),)], ["A."], [1], "gold must have a list of at least one text"),
        ([(("name", "A"),)], [["A."]], [0], "weights must be above 0 for at least one item"),
    ],
)
def test_bad_training_items_are_named(inputs: list, gold: list, weights: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(seen_texts(Examples(inputs, gold), np.array(weights)))
