"""The arguments of a comparison: its test, its units, its strata."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.arguments import applicable
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from tests.oracles import compared, shuffled_p


def with_items(outputs: Outputs, **columns: Any) -> Outputs:
    """The same results on items with other columns; None takes one away."""
    items = outputs.items.assign(**{name: column for name, column in columns.items() if column is not None})
    items = items.drop(columns=[name for name, column in columns.items() if column is None])
    return Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.systems, items)


@pytest.mark.parametrize("test", [name for name in TESTS if name not in ("mcnemar", "precision_score", "fisher")])
def test_units_are_documents_by_default(test: str, answered: Outputs) -> None:
    options: dict[str, Any] = {"test": test, "n_resamples": 300}
    by_default = compared(answered, **options)
    pd.testing.assert_frame_equal(by_default, compared(answered, unit="cluster", **options))
    assert (set(by_default["unit"]), set(by_default["n_units"]), set(by_default["n_items"])) == (
        {"cluster"},
        {15},
        {60},
    )
    by_item = compared(answered, unit="item", **options)
    assert (set(by_item["unit"]), set(by_item["n_units"])) == ({"item"}, {60})
    assert (by_item["gain"] == by_default["gain"]).all()
    # Tests of two tables of counts do not look at units at all.
    assert (by_item["p_value"] != by_default["p_value"]).any() == (test not in ("two_proportions", "chi_square"))
    assert (by_item["gain_se"] != by_default["gain_se"]).all()
    pd.testing.assert_frame_equal(compared(with_items(answered, cluster=None), **options), by_item)


def test_items_without_a_document_among_others_are_named(answered: Outputs) -> None:
    """A column of nothing is no column."""
    assert set(compared(with_items(answered, cluster=np.nan))["unit"]) == {"item"}
    some = answered.items["cluster"].where(np.arange(60) != 7)
    with pytest.raises(ValueError, match="item 's7' has no cluster"):
        compared(with_items(answered, cluster=some))
    assert set(compared(with_items(answered, cluster=some), unit="item")["unit"]) == {"item"}


@pytest.mark.parametrize("unit", [None, "cluster"])
def test_one_document_is_refused_in_one_line(unit: str | None, answered: Outputs) -> None:
    """One unit shows nothing of what another would bring."""
    outputs = with_items(answered, cluster="exam")
    message = (
        r"outputs must have at least 2 units to resample \(cluster\), not 1: all items have cluster 'exam'; "
        "unit='item' uses items"
    )
    for function in (compared, applicable):
        with pytest.raises(ValueError, match=message) as error:
            function(outputs, unit=unit)  # type: ignore[operator]
        assert "\n" not in str(error.value)
    assert set(compared(outputs, unit="item")["n_units"]) == {60}


def test_documents_are_swapped_as_wholes(answered: Outputs) -> None:
    """All 2^15 ways to swap the two systems' documents, of four answers each, in fractions."""
    for row in compared(answered).itertuples():
        pair = answered.select([row.system_a, row.system_b])
        sums = pair.statistics.reshape(2, 15, 4, 2).sum(axis=2)
        assert row.p_value == pytest.approx(shuffled_p(sums, pair.metric, two_sided=True), rel=1e-12, abs=0)


def test_resampling_documents_is_resampling_their_sums(tagged: Outputs) -> None:
    options: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "n_resamples": 2000}
    by_document = compared(tagged, unit="cluster", **options)
    by_sums = compared(tagged.sum_by("cluster"), unit="item", **options)
    np.testing.assert_array_equal(by_document["n_extreme"], by_sums["n_extreme"])


def test_strata_hold_whole_clusters_of_which_there_are_two(tagged: Outputs) -> None:
    with pytest.raises(ValueError, match="strata must not split a resampling unit, but some cluster"):
        compared(tagged, test="bootstrap", unit="cluster", strata="domain")
    with pytest.raises(ValueError, match=r"at least 2 units each \(item\); id 's0' has 1"):
        compared(tagged, test="bootstrap", unit="item", strata="id")


def test_strata_keep_what_differs_between_them_out_of_the_resamples() -> None:
    """a wins all of one stratum and loses all of the other: resampled within strata, the gain never varies."""
    right = np.array([[1] * 30 + [0] * 20, [0] * 30 + [1] * 20])
    mixed = np.random.default_rng(0).permutation(50)
    items = pd.DataFrame({"id": range(50), "domain": np.array(["x"] * 30 + ["y"] * 20)[mixed]})
    statistics = np.stack([right, np.ones_like(right)], axis=-1)[:, mixed]
    outputs = Outputs.from_statistics(statistics, "accuracy", ["a", "b"], items)
    options: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "n_resamples": 999}
    assert compared(outputs, strata="domain", **options).p_value[0] == 1 / 1000
    assert compared(outputs, **options).p_value[0] > 0.02


@pytest.mark.parametrize("argument", ["test", "alternative", "convention", "unit", "strata", "n_resamples", "seed"])
@pytest.mark.parametrize("value", [["item"], 2.5, np.array([1, 2])])
def test_options_of_another_type_are_refused_in_one_line(tagged: Outputs, argument: str, value: object) -> None:
    options: dict[str, Any] = {"test": "bootstrap", argument: value}
    with pytest.raises(ValueError, match=f"{argument} must be"):
        compared(tagged, **options)


def test_applicable_to_scores_leaves_other_hypotheses_out(answered: Outputs, accepting: Outputs) -> None:
    for outputs in (answered, accepting):
        names = applicable(outputs, unit="item")
        of_scores = applicable(outputs, unit="item", of_scores=True)
        assert of_scores == [test for test in names if test not in ("sign", "wilcoxon", "fisher")]
        assert len(of_scores) < len(names)
