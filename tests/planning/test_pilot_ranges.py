"""Ranges and designs that pilots give, by loops over what their definitions say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.differences import MixedDifference
from simstudy.planning.pilots import of_many, of_two
from simstudy.planning.spreads import spread_interval
from tests.oracles import compared
from tests.planning.options import size


@pytest.fixture(scope="module")
def ratings() -> ss.Outputs:
    """Seven systems on documents of 1 to 6 items, all numbers different."""
    rng = np.random.default_rng(11)
    codes = np.repeat(np.arange(45), rng.integers(1, 7, 45))
    scores = rng.normal(size=(len(codes), 7)) * np.linspace(0.6, 1.7, 7) + rng.normal(size=(45, 7))[codes]
    items = pd.DataFrame({"id": range(len(codes)), "cluster": codes})
    return ss.Outputs.from_scores(pd.DataFrame(scores + np.linspace(0, 0.4, 7), columns=list("abcdefg")), items=items)


def unit_differences(outputs: ss.Outputs, a: str, b: str) -> np.ndarray:  # type: ignore[type-arg]
    """What each document adds to the gain, times their number: the jackknife of a ratio of sums, by leaving out."""
    values = outputs.select([a, b]).statistics[..., 0]
    codes = outputs.items["cluster"].to_numpy()
    n = codes.max() + 1
    gain = values[0].mean() - values[1].mean()
    without = np.array([(values[0][codes != k].mean() - values[1][codes != k].mean()) for k in range(n)])
    return np.asarray((n - 1) * (without.mean() - without) + gain)


def test_the_range_of_many_systems_is_for_other_units_and_systems(ratings: ss.Outputs) -> None:
    """Twenty groups of documents left out in turn; families by the study's interval of the detectable gain."""
    case = of_many(ratings)[-1]
    assert isinstance(case.middle, MixedDifference)
    pairs = compared(ratings, n_resamples=10)
    named = [frozenset(pair) for pair in zip(pairs["system_a"], pairs["system_b"], strict=True)]
    assert set(named) == {frozenset(pair) for pair in combinations("abcdefg", 2)}
    rows = ss.significant_gains(pairs.assign(relation="all pairs"), power=(0.8,))
    of_systems = np.log(rows["true_80_high"] / rows["true_80_low"]).iloc[0] / (2 * stats.norm.isf(0.025))
    # In doubt: below twice the gain of t standard errors that is just significant.
    doubtful = pairs["gain"] < 2 * stats.t.isf(0.025, 44) * pairs["gain_se"]
    about = pairs[doubtful] if doubtful.sum() >= 10 else pairs
    differences = [unit_differences(ratings, a, b) for a, b in zip(about["system_a"], about["system_b"], strict=True)]
    groups = np.arange(45) % 20
    logs = [np.mean([np.log(one[groups != g].std(ddof=1)) for one in differences]) for g in range(20)]
    of_units = np.sqrt(19 / 20 * ((logs - np.mean(logs)) ** 2).sum())
    times = np.exp(stats.norm.isf(0.025) * np.hypot(of_units, of_systems))
    middle = case.middle.sd_of(0.0)
    assert case.high.sd_of(0.0) / middle == pytest.approx(times, rel=0.02)
    assert middle / case.low.sd_of(0.0) == pytest.approx(times, rel=0.02)
    # Twenty-one pairs are no multiple of the number of classes; within a class there is hardly any spread.
    assert middle == pytest.approx(np.sqrt(np.mean([one.var(ddof=1) for one in differences])), rel=0.002)


def test_the_design_of_a_pilot(ratings: ss.Outputs) -> None:
    """The correlation within documents over all pairs of items, and one item's spread by the design effect."""
    two = ratings.select(["a", "g"])
    case = of_two(two)
    assert case.design is not None
    values = two.statistics[0, :, 0] - two.statistics[1, :, 0]
    codes = two.items["cluster"].to_numpy()
    centred = values - values.mean()
    same = (codes[:, None] == codes[None, :]) & ~np.eye(len(codes), dtype=bool)
    icc = np.outer(centred, centred)[same].mean() / centred.var()
    assert case.design.icc == pytest.approx(icc)
    spread = unit_differences(ratings, "a", "g").std(ddof=1)
    assert case.middle.sd_of(0.0) == pytest.approx(spread, rel=1e-6)
    assert case.item_sd == pytest.approx(spread / np.sqrt(case.design.effect / case.size), rel=1e-6)


def test_designs_by_the_design_effect_and_costs() -> None:
    plan = ss.plan(
        metric="mean",
        gain=0.11,
        guess=ss.Guess(sd_difference=1.3),
        clusters=ss.Clusters(size=6, icc=0.07, cv=0),
        costs=ss.Costs(item=1.5, cluster=4.0),
    )
    for _, row in plan.designs.iterrows():
        items = row["items_per_unit"]
        effect = 1 + (items - 1) * 0.07
        assert row["design_effect"] == pytest.approx(effect)
        assert row["n_units"] == pytest.approx(size(1.3 * np.sqrt(effect / items), 0.11), abs=1.5)
        assert row["n_items"] == np.ceil(row["n_units"] * items)
        assert row["cost"] == pytest.approx(row["n_units"] * (4.0 + 1.5 * items))


def test_clusters_of_answers_have_the_spread_of_their_gain() -> None:
    """A tenth of all items differ, and the gain is 8 points: 0.1 - 0.08^2, times the design effect over the size.

    Each flip moves the number of wins by two, and as many wins as observed count against it: one item less is won.
    """

    def needed(sd: float, items: int) -> float:
        n = size(sd, 8)
        for _ in range(20):
            n = size(sd, 8 - 100 / (n * items))
        return n

    plan = ss.plan(
        metric="accuracy", gain=8, guess=ss.Guess(score=80, agreement=0.9), clusters=ss.Clusters(size=4, icc=0.3, cv=0)
    )
    sd = 100 * np.sqrt((0.1 - 0.08**2) * 1.9 / 4)
    assert plan.answers["n_units"].item() == pytest.approx(needed(sd, 4), abs=1.5)
    twice = plan.designs.set_index("items_per_unit").loc[8.0]
    assert twice["n_units"] == pytest.approx(needed(100 * np.sqrt((0.1 - 0.08**2) * 3.1 / 8), 8), abs=1.5)


def test_the_gain_of_a_pilot_is_bounded_by_the_metric() -> None:
    """Twelve documents, each of which one system has wholly right: a standard deviation of 104 points.

    Six documents of one sign would need a mean of 1.79 standard deviations, which is more than 100 points.
    """
    new = np.repeat([1, 0] * 6, 3)
    items = pd.DataFrame({"id": range(36), "cluster": np.repeat(range(12), 3)})
    outputs = ss.Outputs.from_scores(pd.DataFrame({"new": new, "old": 1 - new}), "accuracy", items=items)
    assert stats.norm.cdf(100 / 104.4) ** 6 < 0.8
    found = [ss.plan(ss.Pilot(outputs, n_sets=0), n_items=n, sizes=[]).answers.iloc[0] for n in (18, 48, 600)]
    assert np.isnan(found[0]["detectable_gain"])
    for row in found[1:]:
        ends = row[["detectable_gain_low", "detectable_gain", "detectable_gain_high"]].to_numpy(dtype=float)
        assert not (ends > 100).any()
    assert found[2]["detectable_gain"] == pytest.approx(104.4 * 2.8 / np.sqrt(200) + 100 / 600, rel=0.01)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("two", [True, False])
def test_the_interval_of_a_spread_moves_with_the_scale_and_with_nothing_else(share: float, two: bool) -> None:
    """Neither sign nor place of the differences matters, whether they have two values or many."""
    rng = np.random.default_rng(5)
    values = np.repeat([1.0, 0.0], [round(100 * share), 100 - round(100 * share)])
    values = values if two else values * rng.normal(2, 1, 100)
    plain = np.array(spread_interval(values))
    assert (np.diff(plain[[1, 0, 2]]) >= 0).all()
    assert plain[0] == pytest.approx(values.std(ddof=1))
    for scale, place in ((-1.0, 0.0), (1.0, 40.0), (-0.03, 7.0)):
        np.testing.assert_allclose(spread_interval(scale * values + place), abs(scale) * plain, rtol=1e-6)
    if two:
        # A share that is above or below one half has the spread of the nearest and the farthest share that may be.
        ends = stats.binomtest(round(100 * share), 100).proportion_ci()
        possible = np.sqrt([p * (1 - p) for p in np.linspace(ends.low, ends.high, 2001)])
        assert plain[1:] == pytest.approx([possible.min(), max(possible.max(), plain[0])], rel=1e-4)
