from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.studies.figures import plotted_pairs, thinned


def pairs(gain: np.ndarray, p_value: np.ndarray) -> pd.DataFrame:
    names = [f"s{k:03}" for k in range(len(gain) + 1)]
    return pd.DataFrame({"system_a": names[:-1], "system_b": names[1:], "gain": gain, "p_value": p_value})


def test_every_so_many_of_the_undecided_pairs_by_gain(rng: np.random.Generator) -> None:
    """Of 100 gains 0 … 99 the lowest, the highest, and the ones between in equal steps."""
    table = pairs(np.arange(100.0), np.full(100, 0.2)).sample(frac=1, random_state=1)
    assert plotted_pairs(table, 12)["gain"].tolist() == [9.0 * k for k in range(12)]
    decided = pairs(np.arange(200.0, 300.0), np.full(100, 0.0009))
    chosen = plotted_pairs(pd.concat([decided, table]), 12)
    assert chosen["gain"].tolist() == [9.0 * k for k in range(12)]


def test_fewer_pairs_than_asked_for_are_all_shown_once() -> None:
    table = pairs(np.array([3.0, 1.0, 2.0]), np.array([0.1, 0.0001, 0.001]))
    assert plotted_pairs(table, 10)["gain"].tolist() == [2.0, 3.0]


def test_where_all_pairs_are_decided_they_are_shown() -> None:
    table = pairs(np.arange(50.0), np.zeros(50))
    assert plotted_pairs(table, 8)["gain"].tolist() == [7.0 * k for k in range(8)]


def test_rows_of_any_order_give_the_same_choice(rng: np.random.Generator) -> None:
    table = pairs(rng.integers(0, 9, 60).astype(float), rng.random(60).round(1))
    one = plotted_pairs(table, 20).reset_index(drop=True)
    for seed in range(3):
        again = plotted_pairs(table.sample(frac=1, random_state=seed), 20).reset_index(drop=True)
        pd.testing.assert_frame_equal(one, again)


def test_more_points_are_drawn_of_the_whole_home_test_set_than_of_others() -> None:
    """Of each relation class so many."""
    k = np.arange(1200)
    table = pairs(k / 100.0, np.full(1200, 0.5))
    sets = [("home", 1200), ("home", 300), ("away", 1200)]
    each = [(*one, "accuracy", kind) for one in sets for kind in ("same family", "different families")]
    keys = ["test_set", "n_items", "metric", "relation"]
    every = pd.concat([table.assign(test_set=a, n_items=b, metric=c, relation=d) for a, b, c, d in each])
    wanted = [plotted_pairs(table, 1000 if one[:2] == ("home", 1200) else 80) for one in each]
    drawn = thinned(every, "home", 1200)
    assert [*drawn] == [*keys, "gain", "p_value"]
    assert drawn.index.tolist() == [*range(sum(map(len, wanted)))]
    for (key, rows), chosen in zip(drawn.groupby(keys, sort=False), wanted, strict=True):
        assert rows["gain"].tolist() == chosen["gain"].tolist(), key
