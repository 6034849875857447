"""Test sets redrawn from a population, and halves of one, keep whole units together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs
from simstudy.truth.redrawn import at_least, halves, redraw
from simstudy.truth.synthetic import clustered_accuracies, correlated_accuracies


@pytest.mark.parametrize("unit", [None, "item", "cluster"])
def test_halves_share_no_unit_and_lack_none(unit: str | None) -> None:
    outputs = clustered_accuracies([0.6, 0.7], 15, 4, within=0.3, seed=1)
    one, other = halves(outputs, 3, unit=unit)
    assert sorted([*one.items["id"], *other.items["id"]]) == sorted(outputs.items["id"])
    assert set(one.items["id"]).isdisjoint(other.items["id"])
    if unit != "item":
        assert set(one.items["cluster"]).isdisjoint(other.items["cluster"])
        assert (one.items["cluster"].nunique(), other.items["cluster"].nunique()) == (7, 8)
    scores = one.statistics.sum(axis=1) + other.statistics.sum(axis=1)
    np.testing.assert_array_equal(scores, outputs.statistics.sum(axis=1))


def test_halves_depend_on_seed_and_draw_alone_and_hold_each_item_half_of_the_time() -> None:
    outputs = correlated_accuracies([0.6, 0.7], 10)
    again = [halves(outputs, 1, seed=4)[0].items["id"].tolist() for _ in range(2)]
    assert again[0] == again[1] != halves(outputs, 2, seed=4)[0].items["id"].tolist()
    counts = pd.concat([halves(outputs, d)[0].items["id"] for d in range(400)]).value_counts()
    # 200 of 400 with standard deviation 10.
    assert counts.between(150, 250).all()


def test_initial_segments_of_the_other_half_are_random_samples() -> None:
    outputs = correlated_accuracies([0.6, 0.7], 40)
    first = [int(at_least(halves(outputs, d)[1], 1).items["id"][0]) for d in range(300)]
    # The mean of 0 … 39 is 19.5, its standard error 11.5 / sqrt(300).
    assert abs(np.mean(first) - 19.5) < 5 * 11.5 / np.sqrt(300)


def test_at_least_takes_whole_units() -> None:
    outputs = clustered_accuracies([0.6, 0.7], 15, 4, within=0.3, seed=1)
    assert [at_least(outputs, n).n_items for n in (1, 4, 5, 60, 99)] == [4, 4, 8, 60, 60]
    assert [at_least(outputs, n, unit="item").n_items for n in (1, 5, 99)] == [1, 5, 60]


def test_redrawn_clusters_are_drawn_by_default() -> None:
    outputs = clustered_accuracies([0.6, 0.7], 15, 4, within=0.3, seed=1)
    drawn = redraw(outputs, 6, 1)
    assert (drawn.n_items, drawn.items["cluster"].nunique()) == (24, 6)
    assert redraw(outputs, 6, 1, unit="item").n_items == 6


def test_a_cluster_that_is_drawn_twice_is_two_clusters() -> None:
    """Else copies would be summed into one, and fewer clusters than were drawn would be tested."""
    labels = ["a"] * 2 + ["b"] * 3 + ["c"]
    items = pd.DataFrame({"id": range(6), "cluster": labels})
    population = Outputs.from_statistics([[[right, 1] for right in (0, 1, 0, 0, 1, 1)]], "accuracy", items=items)
    redrawn = redraw(population, 40, draw=3)
    sizes = redrawn.items.groupby("cluster").size()
    whole = {"a": 2, "b": 3, "c": 1}
    assert len(sizes) == redrawn.sum_by("cluster").n_items == 40
    assert [whole[str(name)[0]] for name in sizes.index] == sizes.tolist()


def test_too_few_units_to_split() -> None:
    with pytest.raises(ValueError, match=r"outputs must have at least 4 units \(item\) to be split, not 3"):
        halves(correlated_accuracies([0.6, 0.7], 3), 1)
