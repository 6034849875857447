"""Plans held against simulation, of a fitted model or of the own units of a pilot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning import simulating
from simstudy.planning.cases import Case, Target
from simstudy.planning.differences import Difference, NormalDifference
from simstudy.planning.pilots import of_two
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.sentences import _CHECKED
from simstudy.planning.settings import Level
from simstudy.planning.simulated import Simulated
from simstudy.planning.simulating import against_closed_form, simulate
from simstudy.planning.solving import size_for
from tests.planning.forms import ANSWERS, EVERYTHING, LEVEL, PILOTS, Options, numbers, pilot, planned, printed_once
from tests.planning.options import plan_with

Drawn = tuple[np.ndarray, np.ndarray]  # type: ignore[type-arg]


Draw = Callable[[int, float, int, np.random.Generator], Drawn]


def normal_sets(n: int, gain: float, sets: int, rng: np.random.Generator) -> Drawn:
    """Of normal differences with standard deviation 1: what the t test finds, and the observed gains."""
    mean = rng.normal(gain, 1 / np.sqrt(n), sets)
    spread = np.sqrt(rng.chisquare(n - 1, sets) / (n - 1))
    return mean * np.sqrt(n) / spread > stats.t.isf(0.025, n - 1), mean


def answered_sets(n: int, gain: float, sets: int, rng: np.random.Generator) -> Drawn:
    """The same of answers, a tenth of which only one system has right, by McNemar's exact test; gains in points."""
    won, lost, _ = rng.multinomial(n, [(0.1 + gain / 100) / 2, (0.1 - gain / 100) / 2, 0.9], sets).T
    p = np.minimum(2 * stats.binom.sf(won - 1, won + lost, 0.5), 1)
    return (p <= 0.05) & (won > lost), 100 * (won - lost) / n


def told(found: np.ndarray, gains: np.ndarray, difference: Difference, gain: float, n: int) -> Simulated:  # type: ignore[type-arg]
    spread, expected, error = against_closed_form(found, gains, difference, gain=gain, n_units=n, level=Level())
    power, sets = float(found.mean()), len(found)
    return Simulated("", ("new", "old"), sets, sets, n, power, 0.0, 1.0, expected, error, spread, spread, 0.0, 1.0)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("draw", "difference", "gain", "n"),
    [(normal_sets, NormalDifference(1.0), 0.65, 20), (answered_sets, RightOrWrongDifference(0.1), 5.0, 300)],
)
def test_exact_plans_are_said_to_be_off_as_rarely_as_is_said(
    draw: Draw, difference: Difference, gain: float, n: int
) -> None:
    """One in a hundred: of 600 exact plans six, and 21 once in a million runs."""
    rng = np.random.default_rng(1)
    off = [told(*draw(n, gain, 400, rng), difference, gain, n).off for _ in range(600)]
    assert sum(off) <= 20


def test_the_error_is_that_of_both_estimates_together() -> None:
    """The standard deviation of the comparison over 600 simulations of one plan."""
    rng = np.random.default_rng(2)
    rows = [told(*normal_sets(20, 0.65, 400, rng), NormalDifference(1.0), 0.65, 20) for _ in range(600)]
    compared = np.array([row.power - row.expected for row in rows])
    assert np.mean([row.error for row in rows]) == pytest.approx(compared.std(), rel=0.1)


def test_a_plan_that_is_off_is_told() -> None:
    """Of a test that finds a tenth less than the closed form says."""
    rng = np.random.default_rng(3)
    found, gains = normal_sets(20, 0.65, 2000, rng)
    assert not told(found, gains, NormalDifference(1.0), 0.65, 20).off
    fewer = found & (rng.random(2000) < 0.9)
    off = told(fewer, gains, NormalDifference(1.0), 0.65, 20)
    assert off.off
    assert "This plan is somewhat off" in off.text()
    assert "This plan is somewhat off" not in replace(off, error=1.0).text()


def test_a_plan_that_its_simulation_refutes_says_so_first() -> None:
    """A system that scores 30 on two of forty items: most sets of sixteen items have too few of these for any test."""
    scores = pd.DataFrame({"a": [30.0, 30.0] + [0.0] * 38, "b": 0.1 * np.random.default_rng(0).normal(size=40)})
    plan = ss.plan(ss.Pilot(ss.Outputs.from_scores(scores), n_sets=1000), gain=5)
    held = plan.simulated
    assert held is not None
    assert held.planned == pytest.approx(plan.answers["power"].item())
    assert held.power < 0.5 < held.planned
    said = (
        f"Do not rely on this plan: it expects power {held.planned:.2f}, and the simulated power is {held.power:.2f}."
    )
    assert plan.text.count(said) == repr(plan).count(said) == 1
    assert plan.text.count("Simulated: ") == 1
    assert "This plan has fewer: do not rely on it." in plan.text
    # At most a tenth beyond the interval is no reason.
    assert "Do not rely" not in replace(held, planned=held.high + 0.1).text()
    assert "Do not rely" in replace(held, planned=held.low - 0.11).text()


def test_a_plan_says_once_which_power_is_its_own_unless_its_simulation_does_not_confirm_it() -> None:
    plan = planned("of answers", gain=8.0)
    said = "The simulation confirms the formula."
    assert plan.simulated is not None
    assert plan.simulated.warning == ""
    assert plan.text.count(said) == 1
    assert said not in "".join([*plan.sentences, *plan.assumptions, plan.to_latex(), plan.to_markdown()])
    for warned in (replace(plan.simulated, error=1e-6), replace(plan.simulated, planned=1.5)):
        assert warned.warning
        assert said not in warned.text()


def test_methods_have_what_the_simulation_found_and_remarks_stand_beside_them() -> None:
    """A reviewer reads numbers in the methods; that a plan is off, and how many sets were asked for, are notes."""
    plan = planned("of answers", gain=8.0)
    assert plan.simulated is not None
    off = replace(plan.simulated, n_asked=5000, error=1e-6, power=0.5, expected=0.6)
    paper = replace(plan, simulated=off).paper()
    methods = "".join(map(str, paper.methods))
    assert "A simulation checks the plan: the gain is significant in 50.0 % (" in methods
    assert (
        "formula gives 60.0 % with the standard deviation of these test sets' differences. The two are 10.0" in methods
    )
    assert f"has the better score in {100 * off.wrong_winner:.2g} % of these test sets." in methods
    assert f"Their significant gains are on average {off.exaggeration:.2f} times the true gain." in methods
    for remark in ("somewhat off", "Chance", "exact plans", "Only", "memory", "Simulated:", "Your", "rely"):
        assert remark not in methods
    assert list(paper.notes)[len(plan.notes) :] == [
        "This plan is somewhat off: its simulation differs from it by more than chance.",
        "Only 200 were simulated instead of 5,000: sets are large, and memory is bounded.",
    ]
    assert list(plan.paper().notes) == list(plan.notes)


def test_fewer_units_than_long_tails_were_simulated_with() -> None:
    """The smallest plan of those is for a gain of 0.3 standard deviations."""
    assert size_for(NormalDifference(1.0), 0.3) == _CHECKED


@pytest.mark.slow
@pytest.mark.statistical
def test_simulated_answers_are_rarely_off() -> None:
    """The whole of it: 300 simulations of one plan by sign flips; nine and more once in a hundred runs, 16 never."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.66], 200, seed=5)
    asked, case = Target(outputs.metric, 6.0), of_two(outputs)
    rows = [simulate(outputs, asked, 400, case=case, n_sets=400, seed=seed) for seed in range(300)]
    assert sum(row.off for row in rows if isinstance(row, Simulated)) <= 15


@pytest.mark.parametrize("form", [form for form in PILOTS if "many" not in form])
def test_simulations_are_beside_the_plan_of_the_spread_that_they_have(form: str) -> None:
    parts = printed_once(form, **LEVEL)
    held, answer = parts["simulated"].iloc[0], parts["answers"].iloc[0]
    gain = EVERYTHING["gain"]
    guess: Options = {"metric": "mean", "sd_difference": held["spread"]}
    if form == "of answers":
        guess = ANSWERS | {"agreement": 1 - (held["spread"] ** 2 + gain**2) / 100**2}
    if form != "of precision":
        own = plan_with(**guess, **LEVEL, gain=gain, n_items=held["n_units"], sizes=[]).answers
        assert held["expected"] == pytest.approx(own["power"].item())
    # Five standard errors of 200 test sets.
    assert held["power"] == pytest.approx(held["expected"], abs=0.18)
    assert held["wrong_winner"] == pytest.approx(answer["wrong_winner"], abs=0.1)
    assert held["exaggeration"] == pytest.approx(answer["exaggeration"], abs=0.12)


TOLD = Simulated(
    "two systems", ("new", "old"), 1234, 2000, 567, 0.811, 0.701, 0.902, 0.833, 0.5, 12.3, 14.5, 0.021, 1.37, True,
    0.66, "item",
)  # fmt: skip


@pytest.mark.parametrize("unit", ["item", "cluster", "user"])
def test_a_simulation_is_told_with_each_of_its_numbers(unit: str) -> None:
    held = replace(TOLD, unit=unit)
    words = {"item": "567 items", "cluster": "567 clusters", "user": "567 clusters (user)"}[unit]
    assert (
        f"of 1,234 test sets of {words} drawn from a model fitted to new and old. Only 1,234 were simulated instead of "
        "2,000: sets are large, and memory is bounded. The plan's formula"
    ) in held.text()
    told = [81.1, 70.1, 90.2, 95, 1234, 567, 1234, 2000, 83.3, 2.2, 50, 2.1, 1.37]
    assert numbers(held.text().replace(words, "567")) == told
    assert (
        "The plan's formula gives 83.3 % with the standard deviation of these test sets' differences. The two are 2.2 "
        "points apart (standard error 50.0). Chance can explain that."
    ) in held.text()
    assert "Only" not in replace(held, n_asked=1234).text()
    off = replace(held, error=0.001)
    assert (off.off, held.off) == (True, False)
    assert "Only 1 in 100 exact plans is that far off." in off.text()
    assert held.text().endswith(" Significant gains are 1.37 times the true gain.")
    assert replace(held, exaggeration=np.nan).text().endswith("Wrong winner: 2.1 %.")


def test_a_simulation_is_off_beyond_the_point_that_one_in_a_hundred_exceeds() -> None:
    z = stats.norm.isf(0.005)
    for sign in (-1, 1):
        near, far = (replace(TOLD, expected=TOLD.power + sign * times * z * 0.01, error=0.01) for times in (0.99, 1.01))
        assert (near.off, far.off) == (False, True)


@pytest.mark.parametrize(("name", "size"), [("of answers", 1.0), ("of documents", 5.375), ("of precision", 1.0)])
def test_so_many_test_sets_are_drawn_as_there_is_room_for(
    name: str, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two statistics more than of three; both systems, and all items of a cluster, count."""
    outputs = pilot(name)
    case, room = of_two(outputs), {2: 60_000, 3: 40_000}
    assert case.size == pytest.approx(size)
    monkeypatch.setattr(simulating, "_DRAWN", room)
    most = room[3 if "precision" in name else 2] / 2 / size
    target = Target(outputs.metric, 8.0)
    n = int(most / 230)
    held = simulate(outputs, target, n, case=case, n_sets=500, seed=1)
    assert isinstance(held, Simulated)
    assert (held.n_sets, held.n_asked, held.n_units, held.unit) == (int(most / n), 500, n, case.unit)
    ends = stats.binomtest(round(held.power * held.n_sets), held.n_sets).proportion_ci()
    assert (held.low, held.high) == pytest.approx((ends.low, ends.high))
    too_many = int(most / 190)
    refused = simulate(outputs, target, too_many, case=case, n_sets=500)
    assert refused == f"test sets of {too_many} {case.unit}s are too large to draw"
    few = simulate(outputs, target, n, case=case, n_sets=200)
    assert isinstance(few, Simulated)
    assert few.n_sets == few.n_asked == 200


@pytest.mark.parametrize("name", PILOTS)
def test_a_plan_is_held_against_its_own_size_gain_and_pair(name: str) -> None:
    plan = planned(name, gain=8.0, n_items=200, n_draws=0, n_sets=200, sizes=[])
    held, row, case = plan.simulated, plan.answers.iloc[0], plan.cases[0]
    assert held is not None
    assert (held.n_units, held.relation, held.unit) == (row["at_units"], case.relation, case.unit)
    names = list(case.example) or pilot(name).names
    two = pilot(name).select(names)
    assert sorted(held.systems) == sorted(names)
    assert list(held.systems) == [two.names[k] for k in np.argsort(-two.scores())], "the better one comes first"
    own: Case = of_two(two)
    assert held.planned == pytest.approx(own.middle.power(8.0, held.n_units, Level()))
    assert held.spread_outputs == pytest.approx(own.middle.sd_of(0.0))
    ends = stats.binomtest(round(held.power * 200), 200).proportion_ci()
    assert (held.low, held.high) == pytest.approx((ends.low, ends.high))


def test_a_plan_that_is_not_held_against_a_simulation_says_why() -> None:
    documents, answers = pilot("of documents"), pilot("of answers")

    def notes(outputs: ss.Outputs, *, unit: str | None = None, **asked: Any) -> list[str]:
        plan = ss.plan(ss.Pilot(outputs, unit=unit, n_sets=200, n_draws=0), **({"sizes": []} | asked))
        assert plan.simulated is None
        return [note for note in plan.notes if note.startswith("The plan is not simulated")]

    assert notes(answers, n_items=200) == ["The plan is not simulated: that needs a gain above 0."]
    assert notes(answers, margin=9.0, gain=-1.0) == notes(answers, n_items=200)
    assert notes(documents, unit="item", gain=8.0) == [
        "The plan is not simulated: its resampling units are not the natural ones (cluster)."
    ]
    assert notes(answers, gain=0.1) == [
        f"The plan is not simulated: test sets of {needed(answers, 0.1):,} items are too large to draw."
    ]
    scores = pd.DataFrame({"new": np.arange(20.0) / 2, "old": np.arange(20.0)[::-1] / 2})
    (beyond,) = notes(ss.Outputs.from_scores(scores), gain=40.0, n_items=20)
    assert beyond.startswith("The plan is not simulated: no population of these items has the gain (gain must be ")


def needed(outputs: ss.Outputs, gain: float) -> int:
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=gain, sizes=[])
    return int(plan.answers["n_items"].item())
