"""Texts of items are found by the ids of items, whatever happened to the items since."""

from __future__ import annotations

import pytest

from simstudy.outputs import TestSet
from simstudy.outputs.texts import ItemTexts, PackedTexts
from simstudy.truth.synthetic import correlated_accuracies

PLACES = {"q1": 0, "q2": 1, "q3": 2}


def test_texts_are_found_by_id_in_any_order() -> None:
    packed = PackedTexts(PLACES, ["Oslo", None, "half \ud800 and\x00NUL"])
    assert packed.of(["q3", "q1", "q9", "q2"]) == ["half \ud800 and\x00NUL", "Oslo", None, None]


def test_texts_shrink() -> None:
    texts = [f"the answer to question {i} is that nobody knows" for i in range(500)]
    packed = PackedTexts({str(i): i for i in range(500)}, texts)
    assert packed.n_bytes < sum(map(len, texts)) / 3
    assert packed.of(["499"]) == [texts[499]]


def test_a_question_has_the_answers_of_its_samples() -> None:
    """Equal ones are there once; what is asked is that of the first sample."""
    places = {"q1#1": 0, "q1#2": 1, "q1#3": 2, "q2#1": 3, "q2#2": 4}
    samples = {"q1": ["q1#1", "q1#2", "q1#3"], "q2": ["q2#1", "q2#2"]}
    answers = PackedTexts(places, ["4", "5", "4", "7", "7"])
    asked = PackedTexts(places, ["2 + 2?", "2 + 2?", "2 + 2?", "3 + 4?", "3 + 4?"])
    texts = ItemTexts(asked, None, {"a": answers}, samples)
    assert texts.answers_of("a", ["q2", "q1"]) == ["2 samples: 7", "2 of 3 samples: 4\n1 of 3 samples: 5"]
    assert texts.answers_of("a", ["q1#2"]) == ["5"]
    assert texts.inputs_of(["q1", "q2#1"]) == ["2 + 2?", "3 + 4?"]
    assert texts.references_of(["q1"]) == [None]
    assert texts.answers_of("nobody", ["q1"]) == [None]


def test_a_test_set_takes_texts_and_nothing_else() -> None:
    outputs = correlated_accuracies([0.5, 0.6], 20)
    texts = ItemTexts(answers={"system-1": PackedTexts(PLACES, ["a", "b", "c"])})
    assert TestSet(outputs, texts=texts).with_settings(test="sign").texts is texts
    assert "1 systems" in repr(texts)
    with pytest.raises(ValueError, match="texts must be ItemTexts"):
        TestSet(outputs, texts={"a": "b"})  # type: ignore[arg-type]
