"""Every option of `plan`, of `predict` and of the command changes what it should change, and nothing is ignored."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.planning import predict
from simstudy.planning.cases import Target
from simstudy.planning.pilots import of_two
from simstudy.planning.settings import Level
from simstudy.planning.simulating import simulate
from simstudy.tables import records
from tests.planning.options import ANSWERS, CLUSTERS, NOUNS, OPTIONS, plan_with


def test_every_option_is_tested() -> None:
    """The fields of the nouns are options; those of a pilot are tested below, its samples in test_sampling."""
    options = {str(one.metadata.get("option", one.name)) for noun in NOUNS.values() for one in fields(noun)}
    # Only outputs with several samples of an item have a use for a sample's cost: test_sampling has it.
    of_pilots = {one.name for one in fields(ss.Pilot)} | {"cost_sample"}
    told = "tests/planning/options.py has each option with the number that follows from it"
    assert set(OPTIONS) | of_pilots | set(NOUNS) == options | set(inspect.signature(ss.plan).parameters), told
    assert len(options) == sum(len(fields(noun)) for noun in NOUNS.values())


@cache
def set_to(name: str) -> ss.Plan:
    # The table of other sizes takes longest.
    return plan_with(**{"sizes": [50]} | OPTIONS[name].base | OPTIONS[name].set_to)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_leads_to_the_number_that_follows_from_it(name: str) -> None:
    option = OPTIONS[name]
    base: dict[str, Any] = {"sizes": [50]} | option.base
    before, after = option.number(plan_with(**base)), option.number(set_to(name))
    assert after == pytest.approx(option.expected, rel=option.rel)
    assert before != after


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "sizes"])
def test_the_command_has_the_option(name: str) -> None:
    asked = OPTIONS[name].base | OPTIONS[name].set_to
    line = ["plan", "--json"]
    for argument, value in asked.items():
        if value is not None:
            line += [f"--{argument.replace('_', '-')}", str(value)]
    told = json.loads(CliRunner().invoke(app, line).stdout)
    plan = set_to(name)
    for table in ("answers", "designs"):
        expected = json.loads(json.dumps(records(getattr(plan, table))))
        assert told[table] == expected


def test_a_range_is_read_by_the_command() -> None:
    told = json.loads(
        CliRunner().invoke(
            app, ["plan", "--json", "--metric", "accuracy", "--score", "80", "--gain", "5", "--agreement", "0.85:0.97"]
        ).stdout
    )  # fmt: skip
    plan = ss.plan(metric="accuracy", gain=5.0, guess=ss.Guess(score=80.0, agreement=(0.85, 0.95)))
    for name in ("n_items_low", "n_items", "n_items_high", "power_low", "power_high"):
        assert told["answers"][0][name] == pytest.approx(plan.answers[name].item())
    assert "agreement from 0.85 to 0.95, the possible part of 0.85 to 0.97" in "".join(told["assumptions"])


def test_extremes_of_gains_and_levels_are_planned_without_a_warning() -> None:
    told = [
        ss.plan(metric="mean", gain=1e60, guess=ss.Guess(sd_difference=1e-60)),
        ss.plan(metric="mean", gain=0.1, alpha=1e-300, guess=ss.Guess(sd_difference=1.0)),
        ss.plan(metric="accuracy", gain=1, alpha=1e-300, guess=ss.Guess(score=80, agreement=0.9)),
    ]
    assert [plan.answers["n_items"].item() > 1000 for plan in told] == [False, True, True]


def test_the_unit_of_scores_does_not_matter() -> None:
    """Times in seconds and in a unit 10^50 times as long."""
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.lognormal(size=(60, 2)), columns=["new", "old"])
    plain, scaled = (
        ss.plan(ss.Pilot(ss.Outputs.from_scores(scores * c), n_sets=0), gain=0.4 * c).answers.iloc[0]
        for c in (1.0, 1e-50)
    )
    for name in ("n_items", "n_items_low", "n_items_high", "power"):
        assert scaled[name] == pytest.approx(plain[name])
    assert scaled["minimum_detectable_gain"] == pytest.approx(1e-50 * plain["minimum_detectable_gain"])


@pytest.fixture(scope="module")
def documents() -> ss.Outputs:
    return ss.truth.clustered_accuracies([0.4, 0.48, 0.53, 0.6, 0.62, 0.7, 0.75, 0.79], 40, 5, within=0.4, between=0.3)


def test_units_are_those_that_were_asked_for(documents: ss.Outputs) -> None:
    """The spread of the units' differences, by hand."""
    two = documents.select(documents.names[:2])
    right = two.statistics[..., 0].astype(float)
    items = 100 * (right[0] - right[1])
    means = pd.Series(items).groupby(two.items["cluster"].to_numpy()).mean()
    by_cluster, by_item = (ss.plan(ss.Pilot(two, unit=unit, n_sets=0), gain=5).answers for unit in (None, "item"))
    assert by_cluster["unit"].item() == "cluster"
    assert by_cluster["n_units"].item() == pytest.approx(size_by(means.std(ddof=1), 5), rel=0.06)
    assert by_item["n_units"].item() == pytest.approx(size_by(np.sqrt((items**2).mean() - 25), 5), rel=0.04)


def test_sets_draws_and_seed(documents: ss.Outputs) -> None:
    two = documents.select(documents.names[:2])
    seeds = [ss.plan(ss.Pilot(two, n_sets=200, seed=seed), gain=10).simulated for seed in (0, 1)]
    assert all(held is not None and held.n_sets == 200 for held in seeds)
    assert seeds[0] != seeds[1]
    assert ss.plan(ss.Pilot(two, n_sets=0), gain=10).simulated is None
    asked: dict[str, Any] = {"n_items": 200, "n_sets": 0, "sizes": [200]}
    drawn = [plan_with(documents, **asked, n_draws=100, seed=seed).predicted for seed in (0, 0, 1)]
    pd.testing.assert_frame_equal(drawn[0], drawn[1])
    assert not drawn[0].equals(drawn[2])
    assert plan_with(documents, **asked, n_draws=0).predicted.empty


def test_systems_that_always_differ_are_planned_for() -> None:
    """One is right on all 60 items and the other on none: they differ on all, and no pilot says less than 94 %."""
    outputs = ss.Outputs.from_scores(pd.DataFrame({"new": [1] * 60, "old": [0] * 60}), "accuracy")
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=40)
    low = stats.binomtest(60, 60).proportion_ci().low
    assert "100 % of items that only one system has right" in plan.text
    assert f"range: {100 * low:.3g} to 100 %" in plan.text
    # Of n items that all differ w are won: the sign test.
    wins = np.arange(51)
    found = (2 * stats.binom.sf(wins - 1, 50, 0.5) <= 0.05) & (wins > 25)
    power = ss.plan(ss.Pilot(outputs, n_sets=0), gain=40, n_items=50).answers["power"].item()
    assert power == pytest.approx(stats.binom.pmf(wins, 50, 0.7)[found].sum())


def size_by(sd: float, gain: float) -> float:
    return float((stats.norm.isf(0.025) + stats.norm.ppf(0.8)) ** 2 * (sd / gain) ** 2)


def test_relations_are_planned_and_predicted_by_the_column() -> None:
    outputs = ss.truth.correlated_accuracies([0.6 + k / 100 for k in range(12)], 200, families=list("aabbccddeeff"))
    asked: dict[str, Any] = {"n_items": 200, "sizes": [200], "n_sets": 0, "n_draws": 100}
    plan = plan_with(outputs, **asked, by="family")
    assert plan.answers["relation"].tolist() == ["same family", "different families", "all pairs"]
    assert plan.predicted["relation"].tolist() == plan.answers["relation"].tolist()
    assert plan_with(outputs, **asked).answers["relation"].tolist() == ["all pairs"]


def test_each_option_of_a_prediction_changes_what_it_should(documents: ss.Outputs) -> None:
    def shown(n: int = 60, **more: Any) -> pd.Series[Any]:
        return predict(documents, [n], **({"n_draws": 100} | more)).iloc[0]

    plain = shown()
    assert shown(240)["share_significant"] > plain["share_significant"]
    assert shown(level=Level(0.001))["share_significant"] < plain["share_significant"]
    assert shown(level=Level(alternative="greater"))["share_significant"] > plain["share_significant"]
    assert shown(level=Level(comparisons=28))["share_significant"] < plain["share_significant"]
    # Sixty items are fewer than sixty clusters of five.
    by_item = shown(unit="item")
    assert (by_item["n_items"], plain["n_items"]) == (60, 300)
    assert by_item["share_significant"] < plain["share_significant"]
    assert not shown(seed=1).equals(plain)
    assert not shown(n_draws=400).equals(plain)


def test_thresholds_are_gains_of_pairs_near_the_level() -> None:
    """Independent scores of one spread: 0.04 <= p <= 0.06 is 1.88 to 2.05 standard errors."""
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(rng.normal(size=(2000, 70)) + rng.normal(0, 0.1, 70))
    found = predict(ss.Outputs.from_scores(scores), [300], n_draws=100)["threshold"].item()
    least, most = stats.norm.isf([0.03, 0.02]) * np.sqrt(2 / 300)
    assert 0.97 * least < found < 1.06 * most


def test_every_stream_has_the_seed_and_a_key_of_its_own(documents: ss.Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[tuple[int, ...]] = []
    made = np.random.default_rng

    def recorded(key: Any) -> np.random.Generator:
        keys.append(tuple(key))
        return made(key)

    case, two = of_two(documents.select(documents.names[:2])), documents.select(documents.names[:2])
    monkeypatch.setattr(np.random, "default_rng", recorded)
    predict(documents, [50, 60], n_draws=100, seed=77)
    assert len(keys) == len(set(keys)) == 3
    assert {key[0] for key in keys} == {77}
    keys.clear()
    simulate(two, Target(two.metric, 5.0), 2000, case=case, n_sets=250, seed=77)
    assert len(keys) == len(set(keys)) > 1
    assert {key[0] for key in keys} == {77}


@pytest.mark.parametrize("base", [ANSWERS, CLUSTERS])
def test_sizes_are_any_sequence(base: dict[str, Any]) -> None:
    expected, none = (plan_with(**base, sizes=sizes) for sizes in ([60, 90], []))
    for sizes in (np.array([60, 90]), range(60, 91, 30), pd.Series([60, 90]), (60, 90)):
        pd.testing.assert_frame_equal(plan_with(**base, sizes=sizes).sizes, expected.sizes)
        assert plan_with(**base, sizes=sizes[:0]).text == none.text


def test_a_level_with_nothing_else_is_its_alpha() -> None:
    plans = [
        ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=80, agreement=0.9), alpha=alpha, sizes=[])
        for alpha in (0.01, ss.Level(0.01))
    ]
    assert plans[0].text == plans[1].text
