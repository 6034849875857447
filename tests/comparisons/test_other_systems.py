"""What pairs can say of other systems: families, or variants of them, or nothing."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.other_systems import _two_sides, other_systems


def pairs_of(sizes: list[int], relation: str = "different") -> pd.DataFrame:
    """All pairs of systems of families of these sizes, of one relation class or both."""
    family = np.repeat([f"f{k:02}" for k in range(len(sizes))], sizes)
    two = [(a, b) for a, b in combinations(range(len(family)), 2)]
    if relation != "both":
        two = [(a, b) for a, b in two if (family[a] == family[b]) == (relation == "same")]
    rows = [(f"s{a:02}", f"s{b:02}", family[a], family[b]) for a, b in two]
    return pd.DataFrame(rows, columns=["system_a", "system_b", "family_a", "family_b"])


@pytest.mark.parametrize(
    ("sizes", "relation", "interval_for", "df"),
    [
        ([1] * 20, "different", "other systems", 19),
        ([4] * 10, "different", "other systems", 9),
        ([4] * 10, "same", "other systems", 9),
        ([15] * 5, "different", "other systems", 4),
        # Eight families are in 10 pairs each, one in 24 and in 3 of its own.
        ([1] * 8 + [3], "both", "other systems", (80 + 27) ** 2 / (8 * 10**2 + 27**2) - 1),
        ([1] * 5, "different", "other systems", 4),
        ([15] * 4, "different", "other variants of these families", 56),
        ([15] * 4, "same", "other variants of these families", 56),
        ([5] * 4, "both", "other variants of these families", 16),
        ([3] * 4, "both", "", None),
        ([1] * 4, "different", "", None),
        # A single system is in 20 of 210 pairs, in 14 of 105, and two of them in 29 of 120.
        ([10, 10, 1], "both", "other variants of these families", 18),
        ([7, 7, 1], "both", "", None),
        ([7, 7, 1, 1], "both", "", None),
        # One family is in five pairs of six: it is not one of 10 that are alike; and single systems have no variants.
        ([30] + [1] * 9, "different", "", None),
    ],
)
def test_families_speak_where_there_are_enough_else_their_variants(
    sizes: list[int], relation: str, interval_for: str, df: float | None
) -> None:
    found = other_systems(pairs_of(sizes, relation))
    assert found.interval_for == interval_for
    if df is not None:
        assert found.df == pytest.approx(df)
        assert found.note == ""
    else:
        assert found.note == f"too few systems for an interval: {sum(sizes)} of {len(sizes)} families"
        assert np.isnan(found.jackknife(1.0, np.ones(3))).all()
        assert found.pairs_by_cluster().shape[0] == 0


def test_systems_without_a_family_are_families_of_their_own() -> None:
    pairs = pairs_of([6, 6], "both")
    assert other_systems(pairs.drop(columns=["family_a", "family_b"])).df == pytest.approx(11)
    unknown = pairs.assign(family_a=np.nan, family_b=None)
    assert other_systems(unknown).interval_for == "other systems"
    # A family may be called like a system of another one.
    named = pairs_of([1] * 8).assign(family_a=lambda t: t["family_a"].replace("f01", "s00"))
    assert other_systems(named).df == pytest.approx(7)


def test_few_systems_against_many_are_few() -> None:
    """Three combinations, each against thirty single systems: what is known of combinations, three know."""
    rows = [(f"c{k}", f"s{n:02}") for k in range(3) for n in range(30)]
    pairs = pd.DataFrame(rows, columns=["system_a", "system_b"])
    assert other_systems(pairs).interval_for == ""
    # Were all of these compared with one another, they would be 33.
    assert other_systems(pairs_of([1] * 33)).interval_for == "other systems"


def test_redrawn_families_bring_their_systems_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair of a family is there as often as the family, and pairs of two as often as their product."""
    pairs = pairs_of([2] * 8, "both")
    everything = np.ones(len(pairs), dtype=bool)
    drawn = pd.DataFrame(np.vstack(list(other_systems(pairs).redrawn(everything, 200, seed=3))).T)
    same = pairs["family_a"] == pairs["family_b"]
    times = drawn[same].set_index(pairs.loc[same, "family_a"])
    assert set(times.sum()) == {8}, "as many families as there are"
    for pair, row in zip(pairs[~same].itertuples(), drawn[~same].to_numpy(), strict=True):
        np.testing.assert_array_equal(row, times.loc[pair.family_a] * times.loc[pair.family_b])
    half = np.arange(len(pairs)) % 2 == 0
    monkeypatch.setattr("simstudy.comparisons.other_systems._TOGETHER", 7 * half.sum())
    parts = list(other_systems(pairs).redrawn(half, 200, seed=3))
    assert len(parts) == 29, "seven draws at a time"
    np.testing.assert_array_equal(np.vstack(parts), drawn[half].T)


def test_counts_of_redrawn_pairs_are_sums_of_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three kinds of pairs, of three draws that are drawn again too; all at once, and four resamples at a time."""
    pairs = pairs_of([2] * 8, "both")
    counted, draw = np.random.default_rng(0).random((3, 120)) < 0.5, np.arange(120) % 3
    weights = np.vstack(list(other_systems(pairs).redrawn(np.ones(120, dtype=bool), 30, seed=3)))
    rng = np.random.default_rng(3)
    rng.multinomial(8, [1 / 8] * 8, size=30)  # those of the families come first
    of_draw = rng.multinomial(3, [1 / 3] * 3, size=30)
    for together in (2**20, 36):
        monkeypatch.setattr("simstudy.comparisons.other_systems._TOGETHER", together)
        found = other_systems(pairs).redrawn_counts(counted, 30, 3, draw)
        np.testing.assert_array_equal(found, counted @ (weights * of_draw[:, draw]).T)
        found = other_systems(pairs).redrawn_counts(counted, 30, 3)
        np.testing.assert_array_equal(found, counted @ weights.T)


def test_redrawn_variants_keep_the_size_of_their_family() -> None:
    pairs = pairs_of([2, 20], "both")
    found = other_systems(pairs)
    assert found.interval_for == "other variants of these families"
    drawn = np.vstack(list(found.redrawn(np.ones(len(pairs), dtype=bool), 300, seed=1)))
    between = (pairs["family_a"] != pairs["family_b"]).to_numpy()
    assert set(drawn[:, between].sum(axis=1)) == {40}
    # The one pair of the family of two is there when each of the two is drawn once.
    first = (pairs["family_b"] == "f00").to_numpy()
    assert set(drawn[:, first].ravel()) == {0, 1}
    assert drawn[:, first].mean() == pytest.approx(0.5, abs=0.12)


def test_variance_of_a_mean_over_strata() -> None:
    """For a sum of systems' own values the jackknife within families is the textbook's stratified variance."""
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(0, 0.01, 12), rng.normal(3, 0.02, 12)])
    found = other_systems(pairs_of([12, 12], "both"))
    left = np.array(
        [
            values.sum() / 24 - (values[k] - values[12 * (k // 12) : 12 * (k // 12) + 12].mean()) / 11 / 2
            for k in range(24)
        ]
    )
    low, high = found.jackknife(float(np.exp(values.mean())), np.exp(left))
    variance = sum(part.var(ddof=1) / 12 for part in (values[:12], values[12:])) / 4
    assert np.log(high / low) / 2 == pytest.approx(2.073873 * np.sqrt(variance), rel=1e-6)
    assert low * high == pytest.approx(np.exp(2 * values.mean()))


def test_sides_are_those_of_a_graph() -> None:
    rng = np.random.default_rng(1)
    two_sided = 0
    for _ in range(60):
        first, second = rng.integers(0, 8, (2, 5))
        graph = nx.Graph(zip(first.tolist(), second.tolist(), strict=True))
        sides = _two_sides(first, second, 8)
        assert (sides is not None) == nx.is_bipartite(graph)
        if sides is not None:
            two_sided += 1
            assert (sides[first] != sides[second]).all()
    assert 5 < two_sided < 55
