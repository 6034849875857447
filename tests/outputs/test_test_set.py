"""TestSet: outputs with how they are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simstudy as ss
from tests.oracles import compared


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    return ss.truth.correlated_accuracies([0.6, 0.7], 50, test_set="quiz")


def test_it_has_the_name_and_the_metric_of_its_outputs(outputs: ss.Outputs) -> None:
    test_set = ss.TestSet(outputs)
    assert (test_set.name, test_set.metric, test_set.by) == ("quiz", "accuracy", ())


def test_one_column_is_a_string_and_several_are_a_list(outputs: ss.Outputs) -> None:
    assert ss.TestSet(outputs, by="group").by == ("group",)
    assert ss.TestSet(outputs, by=["group", "family"]).by == ("group", "family")  # type: ignore[arg-type]


def test_its_options_are_those_of_compare(outputs: ss.Outputs) -> None:
    test_set = ss.TestSet(outputs, unit="item", settings={"test": "sign"})
    assert compared(outputs, **test_set.options).equals(compared(outputs, test="sign", unit="item"))


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
        ({"notes": "one"}, "notes must be a list of texts, not 'one'"),
    ],
)
def test_what_is_no_test_set(outputs: ss.Outputs, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        ss.TestSet(**{"outputs": outputs, **options})
