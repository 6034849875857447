"""What is significant on the first items: the same as a comparison of those items, made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.analyses import corrected
from simstudy.examination import Examination
from simstudy.examination.sizes import significant_from, sizes, sizes_of
from simstudy.outputs import Outputs
from simstudy.statistics.decisions import Decision

COLUMNS = ["n_items", "n_units", "pairs", "significant", "significant_holm", "agreeing", "only_here", "reversed"]


def by_hand(found: Examination, part: Outputs, n_units: int) -> list[int]:
    pairs = corrected(ss.compare(part, unit=found.test_set.unit).frame)
    alone = Decision(found.alpha).significant(pairs)
    holm = Decision(found.alpha, p="p_holm").significant(pairs)
    whole = found.pairs.frame
    names = ["system_a", "system_b"]
    there = {tuple(pair) for pair in whole.loc[Decision(found.alpha, p="p_holm").significant(whole), names].to_numpy()}
    ordered = {tuple(pair) for pair in whole[names].to_numpy()}
    here = {tuple(pair) for pair in pairs.loc[holm, names].to_numpy()}
    counts = [part.n_items, n_units, len(pairs), int(alone.sum()), len(here)]
    return [*counts, len(here & there), len((here & ordered) - there), len(here - ordered)]


def systems(n: int, *, turned: int = 0) -> Outputs:
    """Six systems; on the first `turned` items the order is the other way round."""
    rng = np.random.default_rng(3)
    shares = np.linspace(0.45, 0.75, 6)
    right = rng.random((n, 6)) < np.where(np.arange(n)[:, None] < turned, shares[::-1], shares)
    items = pd.DataFrame({"id": range(n), "doc": [f"d{i // 10}" for i in range(n)], "domain": np.arange(n) * 2 // n})
    return Outputs.from_scores(pd.DataFrame(right.astype(int), columns=list("abcdef")), "accuracy", items=items)


@pytest.mark.parametrize("turned", [0, 150], ids=["one order", "another order first"])
def test_each_size_is_the_comparison_of_the_first_items(turned: int) -> None:
    outputs = systems(800, turned=turned)
    found = ss.examine(outputs)
    table = found.sizes
    assert table["n_items"].tolist() == [800, 600, 400, 266, 200, 100, 50]
    for row in table[COLUMNS].to_numpy().tolist():
        assert row == by_hand(found, outputs.head(row[0]), row[0])
    if turned:
        assert table["reversed"].sum() > 0
    ranked = found.by_size
    names = found.leaderboard["system"].tolist()
    for n, scores in zip(table["n_items"], ranked.scores, strict=True):
        np.testing.assert_allclose(scores, outputs.head(n).select(names).scores())
    assert ranked.domains.tolist() == [2, 2, 1, 1, 1, 1, 1]


def test_clusters_stay_whole_and_come_in_the_order_of_their_first_items() -> None:
    outputs = systems(400)
    order = np.random.default_rng(0).permutation(400)
    mixed = replace(outputs.take(order))
    found = ss.examine(mixed, comparison={"unit": "doc"})
    documents = list(dict.fromkeys(mixed.items["doc"]))
    assert found.sizes["n_units"].tolist() == [40, 30, 20, 13, 10]
    for row in found.sizes[COLUMNS].to_numpy().tolist():
        part = mixed.take(np.flatnonzero(mixed.items["doc"].isin(documents[: row[1]])))
        assert row == by_hand(found, part, row[1])


def test_of_two_systems_the_gain_is_told_from_the_side_of_the_better_one() -> None:
    outputs = systems(600, turned=150).select(["a", "f"])
    found = ss.examine(outputs)
    assert found.pairs["system_a"].tolist() == ["f"]
    table = found.sizes.set_index("n_items")
    assert table.loc[75, "gain"] < 0 < table.loc[600, "gain"]
    for n in (600, 150, 75):
        row = ss.compare(outputs.head(n)).frame.iloc[0]
        sign = 1 if row["system_a"] == "f" else -1
        ends = sorted(sign * row[end] for end in ("gain_low", "gain_high"))
        expected = [sign * row["gain"], *ends, row["p_value"]]
        np.testing.assert_allclose(table.loc[n, ["gain", "gain_low", "gain_high", "p_value"]], expected)


def test_the_fewest_items_from_which_on_a_pair_is_significant() -> None:
    found = sizes_of(ss.examine(systems(800)))
    table = found.table["n_items"].to_numpy()
    for pair, fewest in enumerate(significant_from(found)):
        at = dict(zip(table.tolist(), found.directions[:, pair] == 1, strict=True))
        enough = [n for n in at if all(at[m] for m in at if m >= n)]
        assert fewest == min(enough, default=0)


@pytest.mark.parametrize(
    ("n", "clusters", "expected"),
    [
        (1000, False, [1000, 750, 500, 333, 250, 125, 62]),
        (100, False, [100, 75, 50]),
        (60, False, [60]),
        (41, True, [41, 30, 20, 13, 10]),
        (12, True, [12]),
    ],
)
def test_sizes_go_down_to_fifty_items_or_ten_clusters(n: int, clusters: bool, expected: list[int]) -> None:
    assert sizes(n, clusters=clusters) == expected


def test_small_test_sets_and_battles_are_not_cut(tmp_path: object) -> None:
    assert ss.examine(systems(60)).sizes.empty
    winners = ["a", "b", "tie", "a"] * 30
    votes = pd.DataFrame({"model_a": ["x", "y"] * 60, "model_b": ["y", "x"] * 60, "winner": winners})
    votes.to_csv(f"{tmp_path}/votes.csv", index=False)
    assert ss.examine(f"{tmp_path}/votes.csv", "win_rate").sizes.empty


def test_a_size_on_which_the_metric_is_not_defined_is_left_out() -> None:
    """AUC of items of one class: the first half has no other."""
    rng = np.random.default_rng(4)
    gold = (np.arange(240) >= 130).astype(float)
    statistics = np.stack([np.stack([gold, gold + rng.normal(size=240)], axis=1) for _ in range(2)])
    found = ss.examine(Outputs.from_statistics(statistics, "auc", ["a", "b"]), comparison={"n_resamples": 200})
    assert found.sizes["n_items"].tolist() == [240, 180]


def test_so_few_units_that_no_p_value_is_small_enough() -> None:
    """Ten clusters: the least two-sided p-value of sign flips is 2 / 2^10, fifteen times which is above alpha / 2."""
    found = ss.examine(systems(400), alpha=0.02, comparison={"unit": "doc"})
    table = found.sizes.set_index("n_units")
    assert table.loc[40, "reachable"] == 15
    assert table.loc[10, "reachable"] == 0 == table.loc[10, "significant_holm"]
