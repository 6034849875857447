"""What stands beside Outputs: settings of a test set, units, and texts for people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.outputs import Outputs
from simstudy.outputs.test_set import ItemTexts
from simstudy.outputs.units import in_units, stratified


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    return ss.truth.correlated_accuracies([0.6, 0.7], 50, test_set="quiz")


def test_its_own_settings_go_before_others(outputs: ss.Outputs) -> None:
    test_set = ss.TestSet(outputs, settings={"n_resamples": 99}).with_settings("item", n_resamples=5, seed=3)
    assert test_set.options == {"n_resamples": 99, "seed": 3, "unit": "item"}
    assert ss.TestSet(outputs, unit="item").with_settings("cluster").unit == "item"


def test_its_segments_end_with_the_whole(outputs: ss.Outputs) -> None:
    segments = ss.TestSet(outputs, by="group", sizes=(10, 20, 50, 70)).segments()
    assert [one.outputs.n_items for one in segments] == [10, 20, 50]
    assert {one.by for one in segments} == {("group",)}
    assert segments[-1].outputs.fingerprint() == outputs.fingerprint()
    assert np.array_equal(segments[0].outputs.statistics, outputs.statistics[:, :10])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": "runs/"}, r"outputs must be Outputs \(see Outputs.from_scores\), not str"),
        ({"by": 3}, "by must be a list of names of columns of the systems table, not 3"),
        ({"by": ["group", None]}, "by must be a list of names of columns of the systems table, not None"),
        ({"unit": 3}, "unit must be the name of a column of the items, or None, not 3"),
        ({"settings": "sign"}, "settings must map options of simstudy.compare to values, not 'sign'"),
        ({"sizes": 3}, "sizes must be a list of numbers of items, not 3"),
        ({"sizes": [0]}, "sizes must be at least 1, not 0"),
        ({"texts": {"a": "b"}}, "texts must be ItemTexts, as simstudy.load gives, or None, not {'a': 'b'}"),
        ({"notes": "one"}, "notes must be a list of texts, not 'one'"),
    ],
)
def test_what_is_no_test_set(outputs: ss.Outputs, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        ss.TestSet(**{"outputs": outputs, **options})


ITEMS = pd.DataFrame({"id": ["10", "9", "b", "1"], "cluster": ["d10", "d9", "d10", "d1"], "user": ["v", "u", "u", "u"]})
OUTPUTS = Outputs.from_statistics([[[1, 1], [2, 3], [0, 1], [4, 4]]] * 2, "mean", ["x", "y"], ITEMS)


@pytest.mark.parametrize(
    ("unit", "ids", "sums"),
    [
        ("item", ["1", "9", "b", "10"], [4, 2, 0, 1]), (None, ["d1", "d9", "d10"], [4, 2, 1]),
        ("cluster", ["d1", "d9", "d10"], [4, 2, 1]), ("user", ["u", "v"], [6, 1]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 0, 2, 1]])
def test_shorter_names_come_first(unit: str | None, ids: list[str], sums: list[int], order: list[int]) -> None:
    found = in_units(OUTPUTS.take(order), unit)
    assert found.items["id"].tolist() == ids
    assert found.statistics[1, :, 0].tolist() == sums


def test_a_unit_is_a_name() -> None:
    with pytest.raises(ValueError, match="unit must be the name of a column of the items, or None, not 3"):
        in_units(OUTPUTS, 3)  # type: ignore[arg-type]


def test_units_of_a_stratum_stand_together_in_their_order() -> None:
    order, bounds, names = stratified(OUTPUTS.take([1, 0, 2, 3]), "cluster")
    assert (names, bounds.tolist(), order.tolist()) == (["d1", "d9", "d10"], [0, 1, 2, 4], [3, 0, 1, 2])
    assert [part.tolist() for part in stratified(OUTPUTS, "user")[:2]] == [[1, 2, 3, 0], [0, 3, 4]]
    order, bounds, names = stratified(OUTPUTS, None)
    assert (order.tolist(), bounds.tolist(), names) == ([0, 1, 2, 3], [0, 4], [""])
    assert np.array_equal(OUTPUTS.take(order).statistics, OUTPUTS.statistics)


def test_a_question_has_the_answers_of_its_samples() -> None:
    """Equal ones are there once; what is asked is that of the first sample."""
    samples = {"q1": ["q1#1", "q1#2", "q1#3"], "q2": ["q2#1", "q2#2"]}
    answers = {"q1#1": "4", "q1#2": "5", "q1#3": "4", "q2#1": "7", "q2#2": "7"}
    inputs = {"q1#1": "2 + 2?", "q1#2": "2 + 2?", "q2": "3 + 4?"}
    texts = ItemTexts(inputs, {"q2#1": "7"}, {"a": answers}, samples)
    assert texts.answers_of("a", ["q2", "q1"]) == ["2 of 2 samples: 7", "2 of 3 samples: 4\n1 of 3 samples: 5"]
    assert texts.answers_of("a", ["q1#2"]) == ["5"]
    assert texts.inputs_of(["q1", "q2", "q9"]) == ["2 + 2?", "3 + 4?", None]
    assert texts.references_of(["q1", "q2"]) == [None, "7"]
    assert texts.answers_of("nobody", ["q1"]) == [None]
