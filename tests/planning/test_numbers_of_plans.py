"""Smaller parts of plans against their definitions: sizes of tables, simulations, priors, scales turned round."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.metrics import METRICS
from simstudy.planning import predict, simulated
from simstudy.planning.answers import merged, sizes_around
from simstudy.planning.benchmarks import EDITIONS, next_edition
from simstudy.planning.cases import Case, Target, noted_fractions
from simstudy.planning.leaderboards import posterior
from simstudy.planning.pilots import of_many, of_two
from simstudy.planning.settings import Level
from simstudy.planning.simulated import Simulated, simulate
from simstudy.planning.solving import detectable_gain
from tests.planning.test_equal_plans import PILOTS, pilot, planned
from tests.planning.test_what_is_said import numbers


@pytest.mark.parametrize("n", [2, 7, 31, 120, 969, 2100, 84_000, 3_000_000])
def test_sizes_of_a_table_are_round_and_neither_far_from_the_planned_one_nor_beside_it(n: int) -> None:
    rounds = [step * 10**power for power in range(1, 8) for step in (1, 2, 5)]
    near = [k for k in rounds if n <= 12 * k and k <= 12 * n and k <= 10_000_000]
    assert sizes_around(n) == sorted({n, *(k for k in near if k <= 0.8 * n or k >= 1.25 * n)})


@pytest.mark.parametrize("keep", [[969], [40, 2100], [100, 969, 5000]])
def test_sizes_of_several_cases_are_about_a_dozen_with_those_that_are_kept(keep: list[int]) -> None:
    sizes = sorted({k for n in keep for k in sizes_around(n)} | set(range(300, 900, 70)))
    found = merged(sizes, keep=keep)
    assert found == sorted(set(found))
    assert set(keep) <= set(found) <= set(sizes) | set(keep)
    assert len(keep) < len(found) <= 10 + len(keep)
    far = [k for k in sizes if all(k == own or k <= 0.8 * own or k >= 1.25 * own for own in keep)]
    assert {far[0], far[-1]} <= set(found), "from the smallest to the largest"
    assert set(found) <= {*far, *keep}
    few = far[:4]
    assert merged(few, keep=keep) == sorted({*few, *keep})


def test_single_pairs_of_a_size_detect_gains_of_their_own() -> None:
    """The 10th and the 90th percentile of the pairs' spreads, each planned alone."""
    for name in ("of many answers", "of many documents"):
        plan = planned(name, n_items=400, n_sets=0, n_draws=0, sizes=[], alpha=0.02)
        (said,) = [one for one in plan.sentences if one.startswith("Single pairs differ: 80 % of them detect")]
        row, case = plan.answers.iloc[0], plan.cases[0]
        assert case.single is not None
        gains = [detectable_gain(end, int(row["at_units"]), level=Level(0.02)) for end in case.single]
        assert gains[0] < gains[1]
        assert row[["single_gain_low", "single_gain_high"]].tolist() == pytest.approx(gains)
        assert re.findall(r"detect (\S+) to (\S+)\.", said) == [tuple(f"{gain:.2f}" for gain in gains)]
        pairs = ss.compare(pilot(name), n_resamples=10).frame
        n, of_answers = (150, True) if "answers" in name else (40, False)
        spreads = 100 * np.sqrt((pairs["n_better"] + pairs["n_worse"]) / n) if of_answers else pairs["gain_se"] * n**0.5
        ends = [end.sd_of(0.0) ** (2 if of_answers else 1) for end in case.single]
        assert ends == pytest.approx(np.quantile(spreads ** (2 if of_answers else 1), [0.1, 0.9]))


def test_what_is_said_of_the_next_edition_has_its_ends_in_order() -> None:
    plan = planned("of many answers", n_items=400, n_sets=0, n_draws=0, sizes=[])
    (said,) = [one for one in plan.assumptions if "next edition of a benchmark" in one]
    low, middle, high = next_edition()
    editions = len({edition[:3] for edition in EDITIONS})
    expected = [low, high, middle, 80, len(EDITIONS), editions]
    assert numbers(said) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("metric", "given", "meant"),
    [
        ("accuracy", {"score": 0.8, "gain": 0.01}, "score=80, gain=1"),
        ("accuracy", {"score": 0.8, "gain": 0.5, "margin": 0.7}, "score=80, gain=50, margin=70"),
        ("accuracy", {"score": 0.8, "gain": 2.0}, "score=80"),
        ("accuracy", {"score": 80.0, "gain": 0.05}, "gain=5"),
        ("accuracy", {"score": 80.0, "gain": 0.1, "margin": 0.5}, None),
        ("bleu", {"gain": 0.02, "margin": 0.03}, "gain=2, margin=3"),
        ("bleu", {"gain": -0.02, "margin": 0.3}, None),
        ("ap", {"gain": 0.02}, None),
        ("mean", {"score": 0.5, "gain": 0.02}, None),
    ],
)
def test_fractions_are_told_from_points(metric: str, given: dict[str, float], meant: str | None) -> None:
    notes = noted_fractions(METRICS[metric], **({"score": None, "gain": None, "margin": None} | given))
    label = METRICS[metric].label
    said = f"scores of {label} go to 100, and gains are in points of these: did you mean {meant}?"
    assert notes == ([] if meant is None else [said])


def test_true_scores_have_the_prior_of_weighted_systems_and_errors_of_their_own() -> None:
    """Of weights 1, 2, 3, 4: their mean and spread; a system is drawn towards it by its own error; but never wholly."""
    scores, errors, weights = np.array([3.0, -8, 11, 6]), np.array([1.0, 4, 9, 2]), np.array([1.0, 2, 3, 4])
    middle = np.average(scores, weights=weights)
    spread = np.average((scores - middle) ** 2, weights=weights) * 4 / 3 - np.average(errors, weights=weights)
    part = spread / (spread + errors)
    found = posterior(scores, np.diag(errors), 7 * weights)
    np.testing.assert_allclose(found.mean, middle + part * (scores - middle))
    np.testing.assert_allclose(found.root @ found.root.T, np.diag(part * errors), atol=1e-12)
    drawn = np.array([found.draw(np.random.default_rng(k)) for k in range(4000)])
    np.testing.assert_allclose(drawn.mean(axis=0), found.mean, atol=5 * 3 / np.sqrt(4000))
    np.testing.assert_allclose(drawn.var(axis=0), part * errors, rtol=0.13)
    # Scores much nearer than their errors: a tenth of the mean error is the least standard deviation.
    least = posterior(scores / 1000, np.diag(errors), weights)
    np.testing.assert_allclose(np.diag(least.root @ least.root.T), 0.04 * errors / (0.04 + errors))


def scored(metric: str, k: int) -> ss.Outputs:
    """Documents of costs, or of gains, which are the same with the other sign."""
    outputs = pilot("of many documents" if k > 2 else "of documents")
    values = outputs.statistics.astype(float)
    if metric != "mean":
        values[..., 0] *= -1
    return ss.Outputs.from_statistics(values, metric, outputs.systems, items=outputs.items)


def test_costs_are_planned_for_and_predicted_as_gains_are() -> None:
    """Whether more or less is better only changes which of two systems is ahead."""
    metrics = ("mean", "mean (lower is better)")
    tables = [predict(scored(metric, 4), [30, 60], n_draws=100, seed=2) for metric in metrics]
    pd.testing.assert_frame_equal(*tables)
    assert tables[0]["wrong_winner"].max() > 0
    many = [of_many(scored(metric, 4))[0] for metric in metrics]
    two = [of_two(scored(metric, 2)) for metric in metrics]
    for one, other in (many, two):
        for name in ("middle", "low", "high"):
            assert getattr(one, name).sd_of(3.0) == pytest.approx(getattr(other, name).sd_of(3.0))
        assert (one.known, one.range, one.example) == (other.known, other.range, other.example)
    not_drawn = simulate(scored(metrics[1], 2), Target(METRICS[metrics[1]], 5.0), 50, case=two[1], n_sets=200)
    assert not_drawn == f"{METRICS[metrics[1]].label} is not drawn"


TOLD = Simulated(
    "two systems", ("new", "old"), 1234, 2000, 567, 0.811, 0.701, 0.902, 0.833, 0.5, 12.3, 14.5, 0.021, 1.37, True,
    0.66, "item",
)  # fmt: skip


@pytest.mark.parametrize("unit", ["item", "cluster", "user"])
def test_a_simulation_is_told_with_each_of_its_numbers(unit: str) -> None:
    held = replace(TOLD, unit=unit)
    words = {"item": "567 items", "cluster": "567 clusters", "user": "567 clusters (user)"}[unit]
    assert f"on 1,234 test sets (no more, as they are large) of {words} drawn of a model fitted to new and old" in (
        held.text()
    )
    assert f"difference on one {'item' if unit == 'item' else 'cluster'}, 12.3 (the outputs': 14.5)" in held.text()
    assert numbers(held.text().replace(words, "567")) == [
        1234, 567, 81.1, 70.1, 90.2, 83.3, 12.3, 14.5, 99, 2.1, 1.37,
    ]  # fmt: skip
    assert "(no more" not in replace(held, n_asked=1234).text()
    assert "differ by no more than the error of simulation" in held.text()
    off = replace(held, error=0.001)
    assert (off.off, held.off) == (True, False)
    assert "differ by more than the error of simulation, as 1 % of exact plans do" in off.text()
    assert held.text().endswith("and significant gains are 1.37 times the true one.")
    assert replace(held, exaggeration=np.nan).text().endswith("better score in 2.1 %.")


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
    monkeypatch.setattr(simulated, "_DRAWN", room)
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
