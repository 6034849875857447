"""Numbers of a plan's tables and sentences, each found another way: wrong winners, ranges, curves, single pairs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.planning.arguments import Design
from simstudy.planning.benchmarks import typical
from simstudy.planning.cases import Target
from simstudy.planning.differences import ClusteredDifference, MixedDifference, NormalDifference
from simstudy.planning.pilots import of_many, of_two
from simstudy.planning.results import size_rows
from simstudy.planning.right_or_wrong import JudgedDifference, RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.simulated import Simulated, simulate
from simstudy.planning.solving import size_for
from simstudy.planning.spreads import spread_interval
from tests.oracles import compared
from tests.planning.options import plan_with, size


def test_the_worse_system_wins_as_often_as_its_mean_is_larger() -> None:
    for gain, n in ((0.3, 4), (0.3, 6), (0.3, 30), (0.0, 30)):
        found = NormalDifference(1.7).detection(gain, n, Level())
        assert found.wrong_winner == pytest.approx(stats.norm.sf(gain * np.sqrt(n) / 1.7))


@pytest.mark.parametrize(("n", "disagreement", "gain"), [(25, 0.4, 10.0), (24, 0.5, 5.0), (9, 1.0, 20.0)])
def test_the_worse_system_wins_where_it_wins_more_items(n: int, disagreement: float, gain: float) -> None:
    """Enumerated: more items that only the worse one has right; ties are nobody's."""
    only = np.array([disagreement + gain / 100, disagreement - gain / 100]) / 2
    counts = np.array([(b, c, n - b - c) for b in range(n + 1) for c in range(n + 1 - b)])
    chance = stats.multinomial.pmf(counts, n, [*only, 1 - only.sum()])
    expected = chance[counts[:, 1] > counts[:, 0]].sum()
    assert RightOrWrongDifference(disagreement).detection(gain, n, Level()).wrong_winner == pytest.approx(expected)


@pytest.mark.parametrize("disagreement", [0.03, 0.2, 0.9])
def test_larger_test_sets_than_the_planned_one_have_the_power_too(disagreement: float) -> None:
    """Power goes up in steps: beyond the planned size it is never below by more than the promised 0.005."""
    difference, gain = RightOrWrongDifference(disagreement), 50 * disagreement
    n = size_for(difference, gain)
    powers = [difference.power(gain, larger, Level()) for larger in range(n, int(1.05 * n) + 20)]
    assert min(powers) >= 0.795
    assert powers[0] >= 0.8


def test_usual_ranges_are_those_of_known_benchmarks() -> None:
    usual = typical("bleu", "unlike systems", "sd")
    answers = ss.plan(metric="bleu", gain=1.5).answers.iloc[0]
    for end, sd in (("_low", usual.low), ("", usual.middle), ("_high", usual.high)):
        assert answers[f"n_items{end}"] == pytest.approx(size(sd, 1.5), rel=0.012)


def test_a_power_curve_is_the_power_at_its_sizes() -> None:
    plan = ss.plan(metric="mean", gain=0.3, guess=ss.Guess(sd_difference=(1.0, 1.6)))
    curve = plan.power_curve()
    assert curve["n_items"].max() == plan.sizes["n_items"].max()
    assert curve["n_items"].min() <= plan.sizes["n_items"].min()
    for row in curve[curve["n_items"].between(30, 400)].itertuples():
        expected = [
            stats.nct.sf(stats.t.isf(0.025, row.n_items - 1), row.n_items - 1, 0.3 * np.sqrt(row.n_items) / sd)
            for sd in (1.0, 1.3, 1.6)
        ]
        assert [row.power_high, row.power, row.power_low] == pytest.approx(expected, abs=2e-3)


def test_sizes_show_margins_as_the_answers_do() -> None:
    plan = ss.plan(metric="mean", margin=0.2, guess=ss.Guess(sd_difference=1.0), sizes=[150, 400])
    n, se = np.array([150, 400]), 1 / np.sqrt([150, 400])
    # Normal: each of two one-sided tests has this power, less twice what both miss.
    one = stats.norm.sf(stats.norm.isf(0.025) - 0.2 / se)
    np.testing.assert_allclose(plan.sizes["shown_not_worse"], one, atol=0.015)
    np.testing.assert_allclose(plan.sizes["shown_equivalent"], np.maximum(2 * one - 1, 0), atol=0.02)
    shown = size_rows(plan).text()
    for goal, column in (("not worse", "shown_not_worse"), ("equivalent", "shown_equivalent")):
        assert shown[f"{goal} by 0.2"].tolist() == [f"{value:.2f}" for value in plan.sizes[column]]
    assert n.tolist() == plan.sizes["n_items"].tolist()


def test_whole_units_of_a_number_of_items() -> None:
    plan = ss.plan(
        metric="mean", n_items=50, guess=ss.Guess(sd_difference=1.0), clusters=ss.Clusters(size=7, icc=0.1), sizes=[]
    )
    row = plan.answers.iloc[0]
    assert (row["at_units"], row["at_items"]) == (7, 49)
    (note,) = plan.notes
    assert note == "50 items are no whole number of clusters of 7: planned are 7 clusters, 49 items"
    whole = ss.plan(
        metric="mean", n_items=49, guess=ss.Guess(sd_difference=1.0), clusters=ss.Clusters(size=7, icc=0.1), sizes=[21]
    )
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


@pytest.mark.parametrize(("disagreement", "gain"), [(0.1, 1.0), (0.1, 2.0), (0.3, 10.0)])
def test_clusters_of_independent_answers_need_about_as_many_as_answers(disagreement: float, gain: float) -> None:
    """Flips of clusters move the number of wins by two, as flips of items do, so that p-values are as coarse."""
    exact = size_for(RightOrWrongDifference(disagreement), gain)
    item = RightOrWrongDifference(disagreement)
    clustered = 2 * size_for(ClusteredDifference(item, Design(2, 0.0)), gain)
    assert clustered == pytest.approx(exact, rel=0.015)
    # Without steps it takes fewer than of independent items, which cannot be.
    assert 2 * size_for(NormalDifference(item.sd_of(gain) / np.sqrt(2)), gain) < 0.98 * exact


@pytest.mark.statistical
@pytest.mark.parametrize(("n", "gain"), [(6, 20.0), (26, 20.0), (30, 20.0)])
def test_the_power_of_clusters_of_answers_by_simulation(n: int, gain: float) -> None:
    """Clusters of two items or ten, three of ten of which differ, each set of clusters tested by all its flips."""
    size, chances = (10 if n == 6 else 2), [0.25, 0.05, 0.7]
    counts = np.random.default_rng(1).multinomial(size, chances, (4000, n))
    both = np.stack([counts[..., 0], counts[..., 1]], axis=1)
    statistics = np.stack([both, np.full_like(both, size)], axis=-1)
    found = DrawnPairs(statistics, "accuracy", n_resamples=999, seed=0).decisions(
        ["sign_flips"], (0.05,), ["two-sided"]
    )
    power = ClusteredDifference(RightOrWrongDifference(0.3), Design(size, 0.0)).power(gain, n, Level())
    assert found[0]["n_rejected_first"] / 4000 == pytest.approx(power, abs=0.03)


def test_a_pilot_of_right_and_wrong_answers_is_one_under_any_name() -> None:
    """One system right on every other item, the other one on all, by accuracy and by a metric of the user's own."""
    answers = np.stack([np.arange(50) % 2, np.ones(50, dtype=int)])
    statistics = np.stack([answers, np.ones_like(answers)], axis=-1)
    own = ss.metric("share", lambda right, total: 100 * right / total)
    plans = [
        ss.plan(ss.Pilot(ss.Outputs.from_statistics(statistics, metric, ["a", "b"]), n_sets=0), gain=3)
        for metric in ("accuracy", own)
    ]
    numbers = plans[0].answers.drop(columns="metric")
    pd.testing.assert_frame_equal(plans[1].answers.drop(columns="metric"), numbers)
    # Half of all items differ: the textbook's number, and a little more for an exact test.
    textbook = (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) ** 2 * (0.5 - 0.03**2) / 0.03**2
    assert textbook < numbers["n_items"].item() < 1.03 * textbook


@pytest.mark.parametrize("n", [10, 50])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.36, 0.44, 0.5])
def test_the_interval_of_differences_of_two_values_holds_the_truth(n: int, share: float) -> None:
    """Over all numbers of the one value that a pilot may have, but 0 and n."""
    counts = np.arange(1, n)
    ends = np.array([spread_interval(np.repeat([-0.7, 0.3], [k, n - k]))[1:] for k in counts])
    held = (ends[:, 0] <= np.sqrt(share * (1 - share))) & (np.sqrt(share * (1 - share)) <= ends[:, 1] + 1e-12)
    chance = stats.binom.pmf(counts, n, share)
    assert chance @ held / chance.sum() >= 0.95


def test_no_interval_of_a_spread_has_no_width() -> None:
    """Values nearly as far from their mean: the variance of a squared mean is left, 2 / n^2 of the squared variance."""
    values = np.tile([-1.0, 1.0], 25) + 1e-6 * np.random.default_rng(0).normal(size=50)
    middle, low, high = spread_interval(values)
    assert np.log(high / middle) >= 0.99 * stats.t.isf(0.025, 49) * np.sqrt(2) / 50 / 2
    assert np.log(middle / low) >= 0.99 * stats.t.isf(0.025, 49) * np.sqrt(2) / 50 / 2


def test_what_is_said_of_a_pilot_that_settles_the_power() -> None:
    """Five items cannot be significant, whatever the spread is."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.7], 200, seed=1)
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=5, n_items=5, sizes=[])
    assert "The pilot says that the power of 5 items is 0.00, in all of its 95 % interval;" in plan.text
    single = ss.Outputs.from_statistics(
        outputs.statistics, outputs.metric, outputs.names, items=outputs.items.assign(cluster=range(200))
    )
    assert re.search(r"power 0.8: [\d,]+ clusters of 1 item \(", ss.plan(ss.Pilot(single, n_sets=0), gain=5).text)


class TestManySystems:
    @pytest.fixture(scope="class")
    @classmethod
    def answers(cls) -> ss.Outputs:
        return ss.truth.correlated_accuracies([0.6 + k / 80 for k in range(9)], 260, seed=3)

    def test_the_range_of_answers_is_one_of_spreads(self, answers: ss.Outputs) -> None:
        """The sentence says by what factor spreads are smaller and larger: standard deviations, not shares."""
        case = of_many(answers)[-1]
        low, high = map(float, re.findall(r"spreads (\S+) to (\S+) times", case.range)[0])
        for end, factor in ((case.low, low), (case.high, high)):
            assert end.sd_of(0.0) / case.middle.sd_of(0.0) == pytest.approx(factor, abs=0.006)

    def test_single_pairs(self, answers: ss.Outputs) -> None:
        """The 10th and 90th percentile of the shares of items that differ, each planned alone."""
        plan = ss.plan(ss.Pilot(answers, n_sets=0, n_draws=0), gain=6, sizes=[260])
        case = plan.cases[0]
        assert isinstance(case.middle, MixedDifference)
        pairs = compared(answers)
        about = pairs[pairs["gain"] < 2 * stats.t.isf(0.025, 259) * pairs["gain_se"]]
        shares = np.quantile((about["n_better"] + about["n_worse"]) / 260, [0.1, 0.9])
        sizes = [size_for(RightOrWrongDifference(float(share)), 6) for share in shares]
        said = next(text for text in plan.sentences if text.startswith("Single pairs"))
        found = [int(number.replace(",", "")) for number in re.findall(r"takes ([\d,]+) to ([\d,]+) items", said)[0]]
        assert found == pytest.approx(sizes, rel=0.04)
        units = int(plan.answers["at_units"].iloc[0])
        powers = sorted(RightOrWrongDifference(float(share)).power(6, units, Level()) for share in shares)
        told = [float(number) for number in re.findall(r"probability (\S+) to (\d\.\d+)", said)[0]]
        assert told == pytest.approx(powers, abs=0.006)

    def test_documents_are_the_units_of_predictions(self) -> None:
        outputs = ss.truth.clustered_accuracies([0.5, 0.58, 0.63, 0.7], 40, 5, within=0.4, between=0.3)
        plan = ss.plan(ss.Pilot(outputs, n_sets=0, n_draws=100), n_items=100, sizes=[100, 300])
        assert plan.predicted["n_units"].tolist() == [20, 60]
        assert plan.predicted["n_items"].tolist() == [100, 300]


def test_a_judge_of_pairs_turns_wins_round() -> None:
    """Of n pairs without ties w are won, as the judge says: binomial with 1/2 + 0.7 x 0.1."""
    plan = ss.plan(metric="win_rate", n_items=200, gain=10.0, judge=ss.Judge(error=0.15))
    wins = np.arange(201)
    significant = (2 * stats.binom.sf(wins - 1, 200, 0.5) <= 0.05) & (wins > 100)
    chance = stats.binom.pmf(wins, 200, 0.5 + 0.7 * 0.1)
    assert plan.answers["power"].iloc[0] == pytest.approx(chance[significant].sum())
    # What is seen of a significant gain, over the true one.
    other = (2 * stats.binom.cdf(wins, 200, 0.5) <= 0.05) & (wins < 100)
    size_of = np.abs(wins - 100) / 200 * 100
    expected = (chance * size_of)[significant | other].sum() / chance[significant | other].sum() / 10
    assert plan.answers["exaggeration"].iloc[0] == pytest.approx(expected)


def test_clusters_of_judged_answers_show_as_much_of_a_gain_as_answers_do() -> None:
    asked: dict[str, Any] = {"metric": "accuracy", "score": 70, "agreement": 0.8, "gain": 5, "judge_error": 0.2}
    plain = plan_with(**asked, n_items=20_000).answers["exaggeration"].item()
    # Clusters of one item are items; the test is another one.
    clustered = plan_with(**asked, n_items=20_000, cluster_size=1, icc=0.0).answers["exaggeration"].item()
    assert clustered == pytest.approx(plain, rel=0.01)
    # Nearly all gains are significant, and look 0.6 times as large as they are.
    assert plain == pytest.approx(0.6, abs=0.01)


def test_the_largest_gain_of_an_agreement_and_of_a_judge() -> None:
    """95 % with a tenth that differs: none of the worse system's 5 % of errors is left to be won."""
    assert np.isnan(
        ss.plan(metric="accuracy", n_items=5000, guess=ss.Guess(score=95, agreement=0.9))
        .answers["detectable_gain"]
        .item()
    )
    found = (
        ss.plan(metric="accuracy", n_items=5000, guess=ss.Guess(score=95, agreement=0.94))
        .answers["detectable_gain"]
        .item()
    )
    assert 0 < found <= 4
    judged = JudgedDifference(RightOrWrongDifference(0.06, most=4.0), 0.1, "answers")
    assert judged.largest == 4.0


def test_simulations_of_a_named_system_are_one_sided() -> None:
    outputs = ss.truth.correlated_accuracies([0.6, 0.7], 200, seed=1)
    case = of_two(outputs)
    held = {}
    for alternative in ("two-sided", "greater"):
        asked = Target(outputs.metric, 5.0, level=Level(0.05, alternative))
        found = simulate(outputs, asked, 500, case=case, n_sets=600, seed=3)
        assert isinstance(found, Simulated)
        assert not found.off
        held[alternative] = found
    assert held["greater"].power > held["two-sided"].power + 0.05
    # A fifth seed draws other sets; the worse system has the better score as rarely as the normal says.
    other = simulate(outputs, Target(outputs.metric, 5.0), 500, case=case, n_sets=600, seed=4)
    assert isinstance(other, Simulated)
    assert other.power != held["two-sided"].power
    expected = stats.norm.sf(5.0 * np.sqrt(500) / other.spread)
    assert other.wrong_winner == pytest.approx(expected, abs=5 * np.sqrt(expected / 600))
