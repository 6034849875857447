"""Units of several items: design effects by algebra, enumeration and simulation; budgets, and the best size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.planning.arguments import Design
from simstudy.planning.benchmarks import CLUSTERS, usual_cv
from simstudy.planning.designs import best_size
from tests.planning.options import plan_with


def planned(**more: Any) -> ss.Plan:
    usual: dict[str, Any] = {"metric": "mean", "sd_difference": 1.0, "cluster_size": 10, "icc": 0.1, "cluster_cv": 0}
    return plan_with(**(usual | more))


@pytest.mark.parametrize(("sizes", "icc"), [((1, 1, 1, 5, 12), 0.3), ((2, 9), 1.0), ((3, 4, 5, 6), -0.1)])
def test_the_variance_of_a_total_is_that_of_its_covariance_matrix(sizes: tuple[int, ...], icc: float) -> None:
    """Items of variance 4, units as blocks of the covariance matrix, whose cells add up to the total's variance."""
    unit = np.repeat(np.arange(len(sizes)), sizes)
    covariance = 4 * np.where(unit[:, None] == unit, icc, 0.0)
    np.fill_diagonal(covariance, 4)
    n, mean = len(unit), float(np.mean(sizes))
    design = Design(mean, icc, float(np.std(sizes) / mean))
    assert design.effect == pytest.approx(covariance.sum() / (4 * n))
    assert 2 * design.unit_sd == pytest.approx(np.sqrt(covariance.sum() / len(sizes)) / mean)


def test_what_is_usual_stands_in_with_its_range_and_is_told() -> None:
    middle, low, high = usual_cv()
    cvs = np.array([cv for _, _, cv in CLUSTERS.values()])
    assert (cvs < low).sum() == (cvs > high).sum() == 1
    assert np.median(cvs) == middle
    plan = ss.plan(metric="mean", gain=0.1, guess=ss.Guess(sd_difference=1.0), clusters=ss.Clusters(size=10, icc=0.1))
    row = plan.answers.iloc[0]
    for name, cv in (("n_units", middle), ("n_units_low", low), ("n_units_high", high)):
        assert row[name] == planned(gain=0.1, cluster_cv=cv).answers["n_units"].iloc[0]
    assert "coefficient of variation of 1.2" in plan.sentences[1]
    assert "coefficients of variation from 0.29 to 1.5, as 80 % of 10 known test sets have" in "\n".join(
        plan.assumptions
    )
    given = planned(gain=0.1, cluster_cv=(0.5, 1.5))
    assert given.cases[0].range == "coefficients of variation from 0.5 to 1.5, as given"


def test_unlike_items_are_planned_for_equal_sizes() -> None:
    """Which have the larger variance, by the design effect: so no usual range makes a plan too small, or impossible."""
    unlike = plan_with(metric="mean", gain=0.1, sd_difference=1.0, cluster_size=10, icc=-0.08)
    assert unlike.cases[0].range == ""
    assert unlike.answers.equals(planned(icc=-0.08, gain=0.1).answers)
    assert Design(10, -0.05, 0.8).effect < Design(10, -0.05).effect


def test_larger_clusters_are_planned_from_clusters_of_one_item() -> None:
    """Of a range it is the middle that designs are made of; what a cluster costs beside its items counts for each."""
    costs = {"cost_item": 2.0, "cost_cluster": 0.9}
    asked: dict[str, Any] = {"sd_difference": (0.6, 1.2), "icc": 0.2, "gain": 0.13, "sizes": []} | costs
    rows = planned(**asked, cluster_size=1).designs.set_index("items_per_unit")
    assert {1.0, 2.0, 4.0} <= set(rows.index)
    for items, row in rows.iterrows():
        own = planned(**asked, cluster_size=items).answers
        assert row["n_units"] == own["n_units"].item()
        assert row["cost"] == pytest.approx(row["n_units"] * (0.9 + 2.0 * float(items)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Costs.cluster must be 0 where items come in no clusters, not 0.9"):
        plan_with(metric="mean", sd_difference=1.0, gain=0.1, cost_item=2.0, cost_cluster=0.9)


def test_where_items_are_unlike_printed_effects_and_sizes_follow_one_rule() -> None:
    """Every row of a table of designs: its units are those of independent units with that effect."""
    plan = planned(icc=-0.02, gain=0.1)
    assert plan.designs["items_per_unit"].tolist() == [2, 5, 10, 20, 40]
    for row in plan.designs.to_dict("records"):
        sd = np.sqrt(row["design_effect"] / row["items_per_unit"])
        assert row["design_effect"] == pytest.approx(1 - 0.02 * (row["items_per_unit"] - 1))
        assert row["n_units"] == plan_with(metric="mean", gain=0.1, sd_difference=sd).answers["n_units"].item()
    # Forty items cannot all be as unlike as -0.05.
    assert planned(icc=-0.05, gain=0.1).designs["items_per_unit"].tolist() == [2, 5, 10, 20]


@pytest.mark.parametrize(("size", "cost"), [(2.5, 1.0), (1.3, 0.7), (7.1, 3.3), (10, 0.1)])
def test_a_budget_buys_as_many_units_in_plan_and_table(size: float, cost: float) -> None:
    for units in (2, 3, 101, 1013):
        plan = planned(cluster_size=size, cost_item=cost, budget=units * size * cost)
        as_asked = plan.designs.query("which.str.startswith('as planned')")
        assert (plan.answers["at_units"].iloc[0], as_asked["at_units"].iloc[0]) == (units, units)


@pytest.mark.parametrize("cv", [0.0, 1.5])
def test_the_best_design_of_a_plan_costs_least_of_all(cv: float) -> None:
    """By algebra: the cost of clusters of k items, times the variance of an item's worth of them."""
    plan = planned(gain=0.05, icc=0.05, cluster_cv=cv, cost_item=1, cost_cluster=20)
    k = np.arange(2, 200)
    cost = (20 + k) * (1 + ((1 + cv**2) * k - 1) * 0.05) / k
    best = plan.designs[plan.designs["which"].str.contains("best")]
    assert best["items_per_unit"].tolist() == [k[cost.argmin()]]
    assert best["cost"].iloc[0] == plan.designs["cost"].min()


@pytest.mark.parametrize("cv", [0.0, 0.7, 1.5])
@pytest.mark.parametrize(
    ("icc", "unit", "item"), [(0.05, 20.0, 1.0), (0.5, 1.0, 1.0), (0.01, 3.0, 7.0), (0.2, 0.0, 1.0)]
)
def test_the_best_size_is_the_best_of_all(icc: float, unit: float, item: float, cv: float) -> None:
    sizes = np.arange(1, 500)
    effect = 1 + ((1 + np.where(sizes > 1, cv, 0) ** 2) * sizes - 1) * icc
    assert best_size(icc, unit, item, cv) == sizes[((unit + sizes * item) * effect / sizes).argmin()]


def test_whole_units_of_a_number_of_items() -> None:
    plan = planned(n_items=50, cluster_size=7, sizes=[])
    row = plan.answers.iloc[0]
    assert (row["at_units"], row["at_items"]) == (7, 49)
    (note,) = plan.notes
    assert note == "50 items are no whole number of clusters of 7: planned are 7 clusters, 49 items"
    whole = planned(n_items=49, cluster_size=7, sizes=[21])
    assert whole.notes == ()
    assert whole.answers.equals(plan.answers)


def test_clusters_of_one_item_are_items() -> None:
    asked: dict[str, Any] = {"metric": "accuracy", "gain": 1, "guess": ss.Guess(score=80, agreement=0.9)}
    items = ss.plan(**asked)
    for icc in (0.0, 0.3):
        plan = ss.plan(**asked, clusters=ss.Clusters(1, icc, 0))
        pd.testing.assert_frame_equal(plan.answers, items.answers)
        pd.testing.assert_frame_equal(plan.sizes, items.sizes)
        assert (plan.sentences, plan.assumptions) == (items.sentences, items.assumptions)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("mean", "icc", "gain"), [(10, 0.1, 0.1), (20, 0.3, 0.15), (20, 0.3, 0.2), (5, 0.5, 0.2)])
def test_the_power_with_geometric_sizes_is_the_planned_one(mean: int, icc: float, gain: float) -> None:
    """Sign flips of units on 4,000 test sets of the planned size; a plan for equal sizes would have 0.56 to 0.65."""
    n = int(planned(cluster_size=mean, icc=icc, gain=gain, cluster_cv=(1 - 1 / mean) ** 0.5).answers["n_units"].iloc[0])
    rng = np.random.default_rng(1)
    found = 0
    for batch in range(8):
        sizes = rng.geometric(1 / mean, (500, n)).astype(float)
        sums = sizes * (gain + np.sqrt(icc) * rng.normal(size=sizes.shape))
        sums += np.sqrt((1 - icc) * sizes) * rng.normal(size=sizes.shape)
        statistics = np.stack([np.stack([sums, sizes], -1), np.stack([np.zeros_like(sums), sizes], -1)], axis=1)
        drawn = DrawnPairs(statistics, "mean", n_resamples=1999, seed=batch)
        found += sum(row["n_rejected_first"] for row in drawn.decisions(["sign_flips"], (0.05,), ["two-sided"]))
    print(f"mean {mean}, icc {icc}, gain {gain}: {n} units, {found / 4000:.3f}")
    assert abs(found / 4000 - 0.8) <= 0.03
