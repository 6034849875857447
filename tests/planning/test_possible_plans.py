"""Random plans: nothing impossible comes out, power rises with size, and gains, sizes and powers invert one another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import simstudy as ss
from simstudy.metrics import get_metric
from simstudy.planning.answers import answer, at_size
from simstudy.planning.cases import BETTER, Case, Target
from simstudy.planning.guesses import of_guess
from simstudy.planning.settings import Level
from tests.planning.options import nouns_of

LEVELS = st.builds(
    Level, st.sampled_from([0.01, 0.05, 0.1]), st.sampled_from(["two-sided", "greater"]), st.sampled_from([1, 3, 500])
)
SHARES = st.floats(0.02, 0.98)
DESIGNS = st.one_of(
    st.just({}), st.fixed_dictionaries({"cluster_size": st.integers(2, 20), "icc": st.floats(0.0, 1.0)})
)
JUDGES = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"judge_error": st.floats(0.0, 0.4), "judgements": st.just(3), "judge_agreement": st.floats(0.0, 1.0)}
    ),
)


@st.composite
def answers_of_two(draw: st.DrawFn) -> tuple[dict[str, Any], float]:
    """Guesses about two systems' right and wrong answers, and the largest gain that they leave."""
    score = draw(st.floats(1.0, 99.0))
    right, wrong = score / 100, 1 - score / 100
    known = {"score": score} | draw(DESIGNS) | draw(JUDGES)
    way, at = draw(st.sampled_from(["agreement", "r12", "usual"])), draw(SHARES)
    if way == "agreement":
        # Of systems with equal scores, at most all errors of both differ; one end of a range is another one.
        most = 2 * min(right, wrong)
        ends = sorted(1 - most * part for part in (at, draw(SHARES)))
        known["agreement"] = tuple(ends) if draw(st.booleans()) and ends[0] < ends[1] else ends[0]
        return known, 100 * min(1 - ends[0], wrong)
    if way == "r12":
        least = -min(right / wrong, wrong / right)
        known["r12"] = least + at * (1 - least)
    return known, 100 * wrong


@st.composite
def scores_of_two(draw: st.DrawFn) -> tuple[str, dict[str, Any], float]:
    """A metric with bounds, or without, guesses about its spread, and the largest gain."""
    metric, most = draw(st.sampled_from([("bleu", 100.0), ("f1", 100.0), ("ap", 1.0), ("mean", np.inf)]))
    size = min(most, 1e6) * draw(SHARES)
    known: dict[str, Any] = draw(DESIGNS)
    if draw(st.booleans()):
        return metric, known | {"sd": size / 2, "r12": draw(st.floats(-1.0, 0.99))}, most
    return metric, known | {"sd_difference": size}, most


def check_plan(metric: str, known: dict[str, Any], most: float, level: Level, n_items: int, power: float) -> None:
    target = Target(get_metric(metric), None, n_items, power, level)
    nouns = {"guess": ss.Guess(), "clusters": ss.Clusters(), "judge": ss.Judge()} | nouns_of(known)
    for case in of_guess(target.metric, None, **nouns):
        row = answer(case, target, BETTER)
        units, gain = row["at_units"], row["minimum_detectable_gain"]
        ends = np.array([row[f"minimum_detectable_gain{end}"] for end in ("_low", "", "_high")])
        assert ((ends > 0) & (ends <= most * (1 + 1e-9)))[~np.isnan(ends)].all()
        if level.least_p(units) > level.alpha / level.comparisons:
            assert np.isnan(ends).all()
            assert case.middle.power(min(case.middle.largest, 1.0) / 2, units, level) == 0
        if np.isnan(gain):
            continue
        # The gain that is told is one that can be planned for: nothing refuses it.
        cases = of_guess(target.metric, gain, **nouns)
        own = next(other for other in cases if other.relation == case.relation)
        told = at_size(own.allowing(gain), target, units, BETTER, gain)
        for name in ("power", "wrong_winner"):
            assert 0 <= told[f"{name}_low"] <= told[name] <= told[f"{name}_high"] <= 1
        alone = replace(case, low=case.middle, high=case.middle)
        check_rising(alone, target, units, gain)
        check_sizes(alone, target, units, gain)


def check_rising(case: Case, target: Target, units: int, gain: float) -> None:
    """Four times the units, and a larger gain, are never less power: that is beyond any step of a discrete test."""
    at = [at_size(case, target, n, BETTER, gain)["power"] for n in (max(2, units // 4), units, 4 * units)]
    assert at == sorted(at)
    np.testing.assert_allclose(at[1], target.power, atol=1e-4)
    smaller = at_size(case, target, units, BETTER, 0.9 * gain)["power"]
    assert smaller < at[1]


def check_sizes(case: Case, target: Target, units: int, gain: float) -> None:
    """The size for the gain is at most the size that has it, but for the steps of which the documentation tells."""
    row = answer(case, replace(target, gain=gain * (1 + 1e-5), n_items=None), BETTER)
    assert row["n_units"] <= 1.05 * units + 21
    assert row["power"] >= target.power - 1e-9
    back = at_size(case, target, int(row["n_units"]), BETTER, None)["minimum_detectable_gain"]
    assert back <= gain * (1 + 2e-5)


@given(answers_of_two(), LEVELS, st.integers(2, 3000), st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=30, deadline=None)
def test_answers(known: tuple[dict[str, Any], float], level: Level, n_items: int, power: float) -> None:
    check_plan("accuracy", *known, level, n_items, power)


@given(scores_of_two(), LEVELS, st.integers(2, 3000), st.sampled_from([0.5, 0.8, 0.95]))
@settings(max_examples=20, deadline=None)
def test_scores(known: tuple[str, dict[str, Any], float], level: Level, n_items: int, power: float) -> None:
    check_plan(*known, level, n_items, power)
