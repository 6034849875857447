"""Two systems compared after every item: what the differences are, what the table says, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.arrivals import Arrivals
from simstudy.comparisons.sequential import e_values, sequential
from simstudy.outputs import Outputs


@pytest.fixture
def ratings() -> Outputs:
    """Ratings from 1 to 5 of 300 items in documents of unlike size, in an order that is not that of their names."""
    rng = np.random.default_rng(5)
    old = rng.integers(1, 6, 300)
    new = np.clip(old + rng.choice([-1, 0, 1, 2], 300), 1, 5)
    items = pd.DataFrame({"id": [f"q{i}" for i in range(300, 0, -1)], "doc": [f"d{(i**2) % 41}" for i in range(300)]})
    return Outputs.from_scores(pd.DataFrame({"old": old, "new": new}), items=items)


def test_differences_are_parts_of_the_range_in_the_order_of_the_file(ratings: Outputs) -> None:
    arrived = Arrivals.of(ratings, "new", "old", score_range=(1, 5))
    old, new = ratings.statistics[..., 0]
    assert arrived.ids == [f"q{i}" for i in range(300, 0, -1)]
    np.testing.assert_array_equal(arrived.differences, (new - old) / 4)
    assert (arrived.scale, arrived.same_weights) == (4, True)
    errors = Outputs.from_scores(pd.DataFrame({"old": old, "new": new}, dtype=float), lower_is_better=True)
    turned = Arrivals.of(errors, "new", "old", score_range=(1, 5))
    np.testing.assert_array_equal(turned.differences, (old - new) / 4)
    np.testing.assert_array_equal(turned.turned().differences, arrived.differences)
    assert not np.signbit(turned.differences[old == new]).any(), "-0.0 has other bits"


def test_a_cluster_counts_once_with_the_mean_of_its_items(ratings: Outputs) -> None:
    arrived = Arrivals.of(ratings, "new", "old", unit="doc", score_range=(1, 5))
    frame = pd.DataFrame({"d": np.diff(ratings.statistics[..., 0], axis=0)[0] / 4, "doc": ratings.items["doc"]})
    means = frame.groupby("doc", sort=False)["d"].mean()
    assert arrived.ids == means.index.tolist()
    np.testing.assert_allclose(arrived.differences, means)
    assert not arrived.same_weights
    # The column "cluster" is the unit if no other is named.
    items = pd.DataFrame({"id": list("xyz"), "cluster": ["v", "u", "v"]})
    clustered = Outputs.from_scores(pd.DataFrame({"a": [1, 1, 0], "b": [0, 1, 1]}), "accuracy", items=items)
    assert Arrivals.of(clustered, "a", "b").differences.tolist() == [0, 0]
    assert Arrivals.of(clustered, "a", "b", unit="item").differences.tolist() == [1, 0, -1]


def test_the_table_has_e_values_of_both_sides_and_of_the_margin(ratings: Outputs) -> None:
    looks = [1, 40, 41, 300]
    table = sequential(ratings, "new", "old", score_range=(1, 5), looks=looks, margin=0.2)
    d = (ratings.statistics[1, :, 0] - ratings.statistics[0, :, 0]) / 4
    for k, look in enumerate(looks):
        row = table.iloc[k]
        so_far = {sign: max(1.0, e_values(sign * d[:look]).max()) for sign in (1, -1)}
        assert (row["e_better"], row["e_worse"]) == pytest.approx((so_far[1], so_far[-1]))
        assert row["p_value"] == pytest.approx(min(1.0, 2 / max(so_far.values())))
        assert row["gain"] == pytest.approx(4 * d[:look].mean())
        # A margin of 0.2 points is a twentieth of the range.
        not_worse, not_better = (1 / max(1.0, e_values(sign * d[:look], -0.05).max()) for sign in (1, -1))
        assert row["p_noninferiority"] == pytest.approx(not_worse)
        assert row["p_equivalence"] == pytest.approx(max(not_worse, not_better))
    last = table.iloc[-1]
    assert (last["better"], last["gain_low"] > 0, table["better"].iloc[0]) == ("new", True, "")
    assert table["gain_low"].is_monotonic_increasing
    assert table["gain_high"].is_monotonic_decreasing
    mirror = sequential(ratings, "old", "new", score_range=(1, 5), looks=looks)
    np.testing.assert_allclose(-mirror["gain_high"], table["gain_low"], atol=1e-7)
    assert mirror["better"].tolist() == table["better"].tolist()


def test_by_default_there_are_twenty_looks_up_to_the_last_unit() -> None:
    outputs = ss.truth.correlated_accuracies([0.6, 0.6], 30)
    looks, few = (sequential(some, "system-1", "system-2")["n_units"].tolist() for some in (outputs, outputs.head(3)))
    assert (len(looks), looks[-1], few) == (20, 30, [1, 2, 3])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "score_range must be given for metric 'mean'"),
        ({"score_range": (2, 5)}, "score_range must hold all scores, unlike 1 of system 'new', item 'q"),
        ({"score_range": (1, 4)}, "score_range must hold all scores, unlike 5 of system"),
        ({"score_range": (5, 1)}, "score_range must be two scores, the lower first, not \\(5, 1\\)"),
        ({"score_range": (1, 5), "looks": [3, 3]}, "looks must be numbers of units, ascending, up to 300"),
        ({"score_range": (1, 5), "looks": [301]}, "looks must be numbers of units, ascending, up to 300"),
        ({"score_range": (1, 5), "margin": 4}, "margin must be below 4, the largest gain there can be, not 4"),
        ({"score_range": (1, 5), "margin": 0}, "margin must be a number above 0"),
        ({"score_range": (1, 5), "alpha": 1}, "alpha must lie between 0 and 1"),
        ({"score_range": (1, 5), "other": "new"}, "system and other must be two different systems, not 'new' twice"),
        ({"score_range": (1, 5), "other": "odl"}, "other must be one of old, new, not 'odl' \\(did you mean 'old'"),
    ],
)
def test_what_is_wrong_is_named(ratings: Outputs, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sequential(ratings, **{"system": "new", "other": "old", **changes})  # type: ignore[arg-type]


def test_only_means_of_item_scores_in_a_known_range_can_be_bet_on() -> None:
    f1 = Outputs.from_statistics(np.ones((2, 3, 3), dtype=int), "f1", ["a", "b"])
    accuracy = Outputs.from_scores(pd.DataFrame({"a": [1, 0], "b": [0, 0]}), "accuracy")
    # One system has no score of the second item.
    holes = Outputs.from_statistics([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], "precision_of_accepted", ["a", "b"])
    for outputs, options, message in (
        (f1, {}, "mean of item scores in a known range .accuracy, .*rouge1.* or mean .*, not 'f1'"),
        (accuracy, {"score_range": (0, 1)}, "must not be given for metric 'accuracy', whose range is known"),
        (holes, {}, "a score of both systems for every item, unlike item '1'"),
    ):
        with pytest.raises(ValueError, match=message):
            sequential(outputs, "a", "b", **options)  # type: ignore[arg-type]


def test_items_that_come_domain_by_domain_are_refused() -> None:
    """The first domain would decide about all."""

    def of_domains(domains: list[str]) -> Outputs:
        items = pd.DataFrame({"id": range(40), "domain": domains})
        return Outputs.from_scores(pd.DataFrame({"a": [1] * 40, "b": [0] * 40}), "accuracy", items=items)

    with pytest.raises(ValueError, match="they come domain by domain, first 'x': put the rows in random order"):
        sequential(of_domains(["x"] * 20 + ["y"] * 20), "a", "b")
    for domains in (["x", "y"] * 20, ["x"] * 40):
        assert sequential(of_domains(domains), "a", "b")["better"].iloc[-1] == "a"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 1.5],), "differences must lie between -1 and 1, not 1.5"),
        (([0.5, np.nan],), "differences must be a list of numbers"),
        (("abc",), "differences must be a list of numbers"),
        (([0.5], 1), "null must lie between -1 and 1, both excluded, not 1"),
        (([0.5], True), "null must lie between -1 and 1, both excluded, not True"),
    ],
)
def test_e_values_are_of_numbers_in_a_known_range(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        e_values(*arguments)
    assert 1e303 < e_values([1] * 3000)[-1] < np.inf
