"""Spreads, ranges and designs that pilots give, by loops over what their definitions say."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.metrics import METRICS, Ratio
from simstudy.metrics.base import Array
from simstudy.outputs import Outputs
from simstudy.planning import predict
from simstudy.planning.cases import Case, Target
from simstudy.planning.differences import MixedDifference, NormalDifference
from simstudy.planning.pilots import of_many, of_two
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.simulating import simulate
from simstudy.planning.solving import minimum_detectable_gain
from tests.oracles import compared
from tests.planning.forms import FORMS, SCORES, pilot, planned


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


@pytest.mark.parametrize("apart", [0.0, 1.8, 2.6])
def test_the_range_of_many_systems_is_for_other_units_and_systems(ratings: ss.Outputs, apart: float) -> None:
    """Twenty groups of documents left out in turn; families by the study's interval of the detectable gain.

    Systems that are far apart have pairs that are not in doubt, which do not count if ten others are left.
    """
    statistics = ratings.statistics.astype(float)
    statistics[..., 0] += np.linspace(0, apart, 7)[:, None]
    ratings = ss.Outputs.from_statistics(statistics, "mean", ratings.names, items=ratings.items)
    case = of_many(ratings)[-1]
    assert isinstance(case.middle, MixedDifference)
    pairs = compared(ratings, n_resamples=10)
    named = [frozenset(pair) for pair in zip(pairs["system_a"], pairs["system_b"], strict=True)]
    assert set(named) == {frozenset(pair) for pair in combinations("abcdefg", 2)}
    rows = ss.comparisons.significant_gains(pairs.assign(relation="all pairs"), power=(0.8,))
    of_systems = np.log(rows["true_80_high"] / rows["true_80_low"]).iloc[0] / (2 * stats.norm.isf(0.025))
    # In doubt: below twice the gain of t standard errors that is just significant.
    close = pairs["gain"] < 2 * stats.t.isf(0.025, 44) * pairs["gain_se"]
    assert (close.sum() < 10, close.sum() < 18) == (apart > 2, apart > 0)
    about, which = (pairs[close], "close pairs") if close.sum() >= 10 else (pairs, "pairs")
    assert f"(the median of {len(about)} {which} on 45 clusters" in case.known
    differences = [unit_differences(ratings, a, b) for a, b in zip(about["system_a"], about["system_b"], strict=True)]
    groups = np.arange(45) % 20
    squares = [(one - one.mean()) ** 2 for one in differences]
    logs = [np.mean([np.log(one[groups != g].sum()) / 2 for one in squares]) for g in range(20)]
    of_units = np.sqrt(19 / 20 * ((logs - np.mean(logs)) ** 2).sum())
    times = np.exp(stats.norm.isf(0.025) * np.hypot(of_units, of_systems))
    middle = case.middle.sd_of(0.0)
    assert case.high.sd_of(0.0) / middle == pytest.approx(times, rel=1e-3)
    assert middle / case.low.sd_of(0.0) == pytest.approx(times, rel=1e-3)
    # Twenty-one pairs are no multiple of the number of classes; within a class there is hardly any spread.
    assert middle == pytest.approx(np.sqrt(np.mean([one.var(ddof=1) for one in differences])), rel=0.002)


@pytest.mark.parametrize("names", ["ag", "abcdefg"])
def test_the_design_of_a_pilot(ratings: ss.Outputs, names: str) -> None:
    """The correlation within documents over all pairs of items, and one item's spread by the design effect.

    Of many systems the correlation is the mean over those that follow one another.
    """
    outputs = ratings.select(list(names))
    case = of_two(outputs) if len(names) == 2 else of_many(outputs)[0]
    assert case.design is not None
    codes = outputs.items["cluster"].to_numpy()
    same, found = (codes[:, None] == codes[None, :]) & ~np.eye(len(codes), dtype=bool), []
    for values in -np.diff(outputs.statistics[..., 0], axis=0):
        centred = values - values.mean()
        found.append(np.outer(centred, centred)[same].mean() / centred.var())
    assert case.design.icc == pytest.approx(np.mean(found))
    assert case.design.cv == pytest.approx(np.bincount(codes).std() / np.bincount(codes).mean())
    if len(names) == 2:
        spread = unit_differences(ratings, *names).std(ddof=1)
        assert case.middle.sd_of(0.0) == pytest.approx(spread, rel=1e-6)
    spread = case.middle.sd_of(0.0)
    assert case.item_sd == pytest.approx(spread / np.sqrt(case.design.effect / case.size), rel=1e-6)


@pytest.mark.parametrize("duplicates", ["drop", "keep"])
def test_near_duplicates_of_many_systems_are_left_out_and_told(ratings: ss.Outputs, duplicates: str) -> None:
    """A copy of a system, but for one item: a plan without it is that of the others, and one with it is not."""
    statistics = np.concatenate([ratings.statistics, ratings.statistics[:1]])
    statistics[-1, 0, 0] += 1e-9
    every = ss.Outputs.from_statistics(statistics, "mean", [*ratings.names, "copy"], items=ratings.items)
    plans = [
        ss.plan(ss.Pilot(outputs, duplicates=duplicates, n_sets=0, n_draws=100), n_items=200, sizes=[200])
        for outputs in (ratings, every)
    ]
    same = [getattr(plans[0], name).equals(getattr(plans[1], name)) for name in ("answers", "predicted")]
    told = "near-duplicates left out: 1 of 8 systems (duplicates='keep' keeps them)" in plans[1].notes
    assert told == all(same) == any(same) == (duplicates == "drop")


def test_the_gain_of_a_pilot_is_bounded_by_the_metric() -> None:
    """Twelve documents, each of which one system has wholly right: a standard deviation of 104 points.

    Six documents of one sign would need a mean of 1.79 standard deviations, which is more than 100 points.
    """
    new = np.repeat([1, 0] * 6, 3)
    items = pd.DataFrame({"id": range(36), "cluster": np.repeat(range(12), 3)})
    outputs = ss.Outputs.from_scores(pd.DataFrame({"new": new, "old": 1 - new}), "accuracy", items=items)
    assert stats.norm.cdf(100 / 104.4) ** 6 < 0.8
    found = [ss.plan(ss.Pilot(outputs, n_sets=0), n_items=n, sizes=[]).answers.iloc[0] for n in (18, 48, 600)]
    assert np.isnan(found[0]["minimum_detectable_gain"])
    for row in found[1:]:
        ends = row[[f"minimum_detectable_gain{end}" for end in ("_low", "", "_high")]].to_numpy(dtype=float)
        assert not (ends > 100).any()
    assert found[2]["minimum_detectable_gain"] == pytest.approx(104.4 * 2.8 / np.sqrt(200) + 100 / 600, rel=0.01)


def test_a_pilots_gain_is_not_what_is_planned_for() -> None:
    plan = ss.plan(ss.truth.correlated_accuracies([0.6, 0.73], 300))
    assert plan.target.gain is None
    assert plan.answers["at_items"].iloc[0] == 300
    assert np.isnan(plan.answers["n_items"].iloc[0])


def test_a_pilot_of_right_and_wrong_answers_is_one_under_any_name() -> None:
    """One system right on every other item, the other one on all, by accuracy and by a metric of the user's own."""
    answers = np.stack([np.arange(50) % 2, np.ones(50, dtype=int)])
    statistics = np.stack([answers, np.ones_like(answers)], axis=-1)
    own = Ratio("share", ("right", "total"), True, (1, 0), (0, 1))
    plans = [
        ss.plan(ss.Pilot(ss.Outputs.from_statistics(statistics, metric, ["a", "b"]), n_sets=0), gain=3, sizes=[])
        for metric in ("accuracy", own)
    ]
    numbers = plans[0].answers.drop(columns="metric")
    pd.testing.assert_frame_equal(plans[1].answers.drop(columns="metric"), numbers)
    # Half of all items differ: the textbook's number, and a little more for an exact test.
    textbook = (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) ** 2 * (0.5 - 0.03**2) / 0.03**2
    assert textbook < numbers["n_items"].item() < 1.03 * textbook


Draw = Callable[[int, int, np.random.Generator], Array]


def precision(right: tuple[float, float], accepted: tuple[float, float]) -> tuple[str, Draw]:
    """Two systems that accept candidates independently, so many of which are right."""

    def draw(n_sets: int, n: int, rng: np.random.Generator) -> Array:
        takes = rng.random((n_sets, 2, n)) < np.array(accepted)[:, None]
        correct = takes & (rng.random((n_sets, 2, n)) < np.array(right)[:, None])
        return np.stack([correct, takes, np.ones_like(takes)], -1).astype(np.int64)

    return "precision", draw


def f1(recall: tuple[float, float], per_item: tuple[float, float], gold: int = 3) -> tuple[str, Draw]:
    """Items with three gold answers; what a system finds of them is binomial, its wrong answers are Poisson."""

    def draw(n_sets: int, n: int, rng: np.random.Generator) -> Array:
        hard = rng.normal(0, 0.7, (n_sets, 1, n))
        chance = stats.norm.cdf(stats.norm.ppf(np.array(recall))[:, None] * np.sqrt(1.49) + hard)
        correct = rng.binomial(gold, chance)
        wrong = rng.poisson(np.array(per_item)[:, None], (n_sets, 2, n))
        return np.stack([correct, correct + wrong, np.full_like(correct, gold)], -1)

    return "f1", draw


def test_a_precision_is_held_to_the_variance_of_the_pooled_one() -> None:
    """By algebra: 0.9 and 0.6 right of 30 % each make 0.75, around which a candidate is right or wrong."""
    metric, draw = precision((0.9, 0.6), (0.3, 0.3))
    pilot = Outputs.from_statistics(draw(1, 100_000, np.random.default_rng(1))[0], metric, ["new", "old"])
    squares = sum((of * 0.25**2 + (1 - of) * 0.75**2) / 0.3 for of in (0.9, 0.6)) + 2 * 0.15**2
    middle = of_two(pilot).middle
    assert isinstance(middle, NormalDifference)
    assert middle.sd == pytest.approx(100 * np.sqrt((0.9 * 0.1 + 0.6 * 0.4) / 0.3), rel=0.01)
    assert middle.null_sd(30) == pytest.approx(100 * np.sqrt(squares - 0.3**2), rel=0.01)


def test_the_null_variance_is_that_of_the_tests_own_contributions() -> None:
    """Of a pilot's own gain: the squares of (a - R d) / D by hand, less the gain's."""
    metric, draw = f1((0.85, 0.55), (1.1, 0.2))
    statistics = draw(1, 4000, np.random.default_rng(2))[0].astype(float)
    above, below = 2 * statistics[..., 0], statistics[..., 1] + statistics[..., 2]
    pooled, whole = above.sum() / below.sum(), below.sum(axis=1, keepdims=True)
    parts = 100 * ((above - pooled * below) / whole)
    gain = 100 * np.subtract(*(above.sum(axis=1) / below.sum(axis=1)))
    middle = of_two(Outputs.from_statistics(statistics, metric, ["new", "old"])).middle
    assert isinstance(middle, NormalDifference)
    variance = 4000 * ((parts[0] - parts[1]) ** 2).sum() - gain**2
    assert middle.null_sd(gain) == pytest.approx(np.sqrt(variance), rel=1e-3)


def test_single_pairs_of_a_size_detect_gains_of_their_own() -> None:
    """The 10th and the 90th percentile of the pairs' spreads, each planned alone."""
    for name in ("of many answers", "of many documents"):
        plan = planned(name, n_items=400, n_sets=0, n_draws=0, sizes=[], alpha=0.02)
        (said,) = [one for one in plan.sentences if one.startswith("Pairs differ: 80 % of them detect")]
        row, case = plan.answers.iloc[0], plan.cases[0]
        assert case.single is not None
        gains = [minimum_detectable_gain(end, int(row["at_units"]), level=Level(0.02)) for end in case.single]
        assert gains[0] < gains[1]
        assert row[["single_gain_low", "single_gain_high"]].tolist() == pytest.approx(gains)
        assert re.findall(r"detect a gain of (\S+) to (\S+)\.", said) == [tuple(f"{gain:.2f}" for gain in gains)]
        pairs = ss.compare(pilot(name), n_resamples=10).frame
        n, of_answers = (150, True) if "answers" in name else (40, False)
        spreads = 100 * np.sqrt((pairs["wins"] + pairs["losses"]) / n) if of_answers else pairs["gain_se"] * n**0.5
        ends = [end.sd_of(0.0) ** (2 if of_answers else 1) for end in case.single]
        assert ends == pytest.approx(np.quantile(spreads ** (2 if of_answers else 1), [0.1, 0.9]))


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


def test_the_ends_of_a_case_are_its_least_and_its_most_spread() -> None:
    unlike = SCORES | {"cluster_size": 6.0, "icc": -0.05, "cluster_cv": (0.2, 0.9)}
    cases: list[Case] = [planned(form, n_items=300, n_sets=0, n_draws=0, sizes=[]).cases[0] for form in FORMS]
    cases.append(planned(unlike, n_items=300, sizes=[]).cases[0])
    for case in [*cases, of_two(pilot("of precision"))]:
        spreads = [end.sd_of(0.0) for end in (case.low, case.middle, case.high)]
        assert spreads == sorted(spreads)
        assert (spreads[0] < spreads[2]) == bool(case.range)
        if case.single is not None:
            assert spreads[0] / 3 < case.single[0].sd_of(0.0) < case.single[1].sd_of(0.0) < 3 * spreads[2]


def test_a_gain_that_an_end_of_the_range_cannot_have_leaves_it_just_enough_answers_that_differ() -> None:
    """Five of 50 answers differ: their interval begins at 3.3 %, of which no system can be 5 points better."""
    answers = np.zeros((50, 2), dtype=int)
    answers[:3, 0] = answers[3:5, 1] = 1
    outputs = ss.Outputs.from_scores(pd.DataFrame(answers, columns=["new", "old"]), "accuracy")
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=5.0, sizes=[100])
    ends = [RightOrWrongDifference(share) for share in (0.05, 0.1, stats.binomtest(5, 50).proportion_ci().high)]
    for table, n in ((plan.answers, int(plan.answers["n_units"].item())), (plan.sizes, 100)):
        told = table[["power_low", "power", "power_high"]].iloc[0].tolist()
        assert told == pytest.approx(sorted(end.power(5.0, n, Level()) for end in ends))
