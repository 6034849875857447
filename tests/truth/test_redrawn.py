"""Test sets redrawn from a population, and halves of one, keep whole units together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs
from simstudy.studies.baselines import at_least
from simstudy.truth.redrawn import halves, redraw

#: Six clusters of one to six items; every number of the statistics tells its system and its item.
LABELS = [f"c{j}" for j, size in enumerate([3, 1, 2, 6, 4, 5]) for _ in range(size)]
ITEMS = pd.DataFrame({"id": [f"i{i}" for i in range(21)], "cluster": LABELS})
SCORES = np.array([[1000 * k + i for i in range(21)] for k in range(2)])
WHOLE = Outputs.from_statistics(np.stack([SCORES, np.ones_like(SCORES)], axis=-1), "mean", items=ITEMS, test_set="real")
SINGLE = Outputs.from_statistics(WHOLE.statistics, "mean")


def places(outputs: Outputs) -> list[int]:
    """Positions of the items in the population, by both systems."""
    np.testing.assert_array_equal(outputs.statistics[1, :, 0], outputs.statistics[0, :, 0] + 1000)
    return [int(score) for score in outputs.statistics[0, :, 0]]


def test_redrawn_items_are_the_ones_that_the_seed_and_the_draw_choose() -> None:
    drawn = redraw(WHOLE, 50, 3, unit="item", seed=7)
    assert places(drawn) == np.random.default_rng([7, 3]).integers(21, size=50).tolist()
    assert (drawn.test_set, redraw(SINGLE, 50, 3, seed=7).n_items) == ("real, redrawn", 50)


def test_a_cluster_that_is_drawn_twice_is_two_whole_clusters() -> None:
    """Clusters are drawn by default. Were copies one cluster, fewer than were drawn would be tested."""
    drawn, chosen = redraw(WHOLE, 40, 3, seed=7), np.random.default_rng([7, 3]).integers(6, size=40)
    members = {j: [i for i, label in enumerate(LABELS) if label == f"c{j}"] for j in range(6)}
    assert places(drawn) == [i for j in chosen for i in members[j]]
    expected = [(f"c{j}", k) for k, j in enumerate(chosen) for _ in members[j]]
    assert [name.split("#")[0] for name in drawn.items["cluster"]] == [name for name, _ in expected]
    assert pd.factorize(drawn.items["cluster"])[0].tolist() == [k for _, k in expected]
    assert drawn.sum_by("cluster").n_items == 40


@pytest.mark.parametrize("unit", [None, "item", "cluster"])
def test_halves_share_no_unit_and_lack_none(unit: str | None) -> None:
    one, other = halves(WHOLE, 3, unit=unit, seed=2)
    first, second = places(one), places(other)
    assert sorted([*first, *second]) == list(range(21))
    assert first == sorted(first), "the one half keeps the order"
    if unit == "item":
        assert (len(first), len(second)) == (10, 11)
    else:
        assert set(one.items["cluster"]).isdisjoint(other.items["cluster"])
        assert one.items["cluster"].nunique() == other.items["cluster"].nunique() == 3
    assert first != places(halves(WHOLE, 4, unit=unit, seed=2)[0]) != places(halves(WHOLE, 3, unit=unit, seed=3)[0])
    assert first == places(halves(WHOLE, 3, unit=unit, seed=2)[0])


def test_units_are_in_each_half_half_of_the_time_and_the_other_half_is_in_random_order() -> None:
    splits = [halves(SINGLE, d) for d in range(300)]
    counts = np.bincount([i for one, _ in splits for i in places(one)], minlength=21)
    # 10 of 21 units: the standard deviation of a count of 300 is below 8.7.
    assert np.abs(counts - 300 * 10 / 21).max() < 5 * 8.7
    first = [places(other)[0] for _, other in splits]
    # The mean of 0 … 20 is 10, its standard error 6.1 / sqrt(300).
    assert abs(np.mean(first) - 10) < 5 * 6.1 / np.sqrt(300)


def test_at_least_takes_whole_units() -> None:
    assert [at_least(WHOLE, n).n_items for n in (1, 3, 4, 5, 20, 21, 99)] == [3, 3, 4, 6, 21, 21, 21]
    assert [at_least(WHOLE, n, unit="item").n_items for n in (1, 5, 99)] == [1, 5, 21]
    assert places(at_least(WHOLE, 5)) == list(range(6))


def test_too_few_units_are_refused() -> None:
    assert [half.n_items for half in halves(WHOLE.take(np.arange(4)), 1, unit="item")] == [2, 2]
    with pytest.raises(ValueError, match=r"outputs must have at least 4 units \(item\) to be split, not 3"):
        halves(WHOLE.take(np.arange(3)), 1, unit="item")
    for options, message in (({"size": 0}, "size must be at least 1"), ({"draw": -1}, "draw must be at least 0")):
        with pytest.raises(ValueError, match=message):
            redraw(WHOLE, **{"size": 5, "draw": 1, **options})
