"""Plans: ways in, ranges, designs, judges, margins, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.answers import best_size
from simstudy.planning.arguments import Design
from simstudy.planning.cases import EQUIVALENT, NOT_WORSE
from simstudy.planning.correlated_answers import AlikeAnswers, CorrelatedAnswers
from simstudy.planning.differences import MixedDifference, NormalDifference
from simstudy.planning.pilots import of_many, of_two
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.spreads import intraclass_correlation, share_interval, spread_interval
from simstudy.truth.scores import Bernoulli, Beta, GaussianCopula, ItemClusters, ScoreModel
from tests.oracles import compared
from tests.planning.options import plan_with


def normal_size(sd: float, gain: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The textbook's (z + z)^2 sd^2 / gain^2."""
    return float((stats.norm.isf(alpha / 2) + stats.norm.ppf(power)) ** 2 * sd**2 / gain**2)


@pytest.fixture(scope="module")
def many() -> ss.Outputs:
    return ss.truth.correlated_accuracies(
        [0.6 + k / 100 for k in range(14)], 300, families=list("aabbccddeeffgg"), seed=3
    )


@pytest.fixture(scope="module")
def documents() -> ss.Outputs:
    model = ScoreModel(
        [Beta(0.4, 3), Beta(0.4, 3)], GaussianCopula(0.5), ItemClusters(0.4, 6), metric="ap", names=["new", "old"]
    )
    return model.with_gain(0.05).outputs(600, seed=1)


def test_the_first_example_of_the_textbook() -> None:
    """80 against 81 %, which disagree on a tenth: about (1.96 + 0.84)^2 (0.1 - 0.01^2) / 0.01^2."""
    n = int(ss.plan(metric="accuracy", gain=1, guess=ss.Guess(score=80, agreement=0.9)).answers["n_items"].iloc[0])
    assert normal_size(np.sqrt(0.1 - 0.0001), 0.01) < n < 1.05 * normal_size(np.sqrt(0.1 - 0.0001), 0.01)


@pytest.mark.parametrize(
    "ways",
    [
        {"metric": "accuracy", "score": 70, "agreement": 0.8}, {"metric": "accuracy", "score": 70, "r12": (0.4, 0.6)},
        {"metric": "accuracy", "score": 70}, {"metric": "bleu"}, {"metric": "mean", "sd": 20, "r12": 0.5},
        {"metric": "f1", "sd_difference": (30, 50)}, {"metric": "win_rate", "agreement": 0.1},
    ],
)  # fmt: skip
def test_all_guesses_give_tables_of_one_form(ways: dict[str, Any]) -> None:
    plan = plan_with(**ways, gain=3)
    first = ss.plan(metric="accuracy", gain=3, guess=ss.Guess(score=70, agreement=0.8))
    assert list(plan.answers) == list(first.answers)
    assert list(plan.sizes) == list(first.sizes)
    answers = plan.answers
    for name in ("n_items", "detectable_gain", "power", "wrong_winner", "exaggeration"):
        assert (answers[f"{name}_low"] <= answers[name]).all()
        assert (answers[name] <= answers[f"{name}_high"]).all()
    # What is found at the planned size is the gain itself, with the planned power.
    np.testing.assert_allclose(answers["detectable_gain"], 3, rtol=0.02)
    assert ((answers["power"] >= 0.8) & (answers["power"] < 0.83)).all()
    told = json.loads(plan.to_json({"gain": 3}))
    assert told["answers"][0]["n_items"] == answers["n_items"].iloc[0]
    assert told["sentences"] == list(plan.sentences)


def test_size_and_gain_are_each_others_inverse() -> None:
    gain = float(
        ss.plan(metric="accuracy", n_items=2000, guess=ss.Guess(score=80, agreement=0.85))
        .answers["detectable_gain"]
        .iloc[0]
    )
    n = int(ss.plan(metric="accuracy", gain=gain, guess=ss.Guess(score=80, agreement=0.85)).answers["n_items"].iloc[0])
    # Power goes up in steps: the size from which on it is there lies a little above.
    assert 1960 <= n <= 2080


def test_more_is_asked_for_by_more_comparisons_and_less_by_one_side() -> None:
    def n(**more: Any) -> int:
        return int(plan_with(metric="mean", sd_difference=1.0, gain=0.1, **more).answers["n_items"].iloc[0])

    assert n(comparisons=10) == pytest.approx(normal_size(1, 0.1, alpha=0.005), rel=0.01)
    assert n(alternative="greater") == pytest.approx(normal_size(1, 0.1, alpha=0.1), rel=0.01)
    assert n(power=0.95, alpha=0.01) == pytest.approx(normal_size(1, 0.1, 0.95, 0.01), rel=0.01)


def test_usual_answers_are_those_of_their_correlation_where_scores_are_equal() -> None:
    for score, r12 in ((80, 0.5), (30, 0.9), (60, 0.0)):
        alike, correlated = AlikeAnswers(score, r12).at(0), CorrelatedAnswers(score, r12).at(0)
        assert alike.disagreement == pytest.approx(correlated.disagreement)
    # Where all that the worse one has right the better one has right too, the gain alone differs.
    assert AlikeAnswers(80, 1.0).at(5).disagreement == pytest.approx(0.05)


def test_the_largest_gain_of_a_correlation_is_where_the_worse_ones_right_answers_are_the_others_too() -> None:
    correlated = CorrelatedAnswers(80, 0.84)
    at = correlated.at(correlated.largest - 1e-9)
    assert at.disagreement == pytest.approx(correlated.largest / 100, abs=1e-6)


class TestPilots:
    def test_answers_are_counted(self, many: ss.Outputs) -> None:
        two = many.select(many.names[:2])
        answers = two.statistics[..., 0]
        count = int((answers[0] != answers[1]).sum())
        case = of_two(two)
        assert isinstance(case.middle, RightOrWrongDifference)
        assert case.middle.disagreement == count / 300
        interval = stats.binomtest(count, 300).proportion_ci()
        assert share_interval(count, 300)[1:] == pytest.approx((interval.low, interval.high))

    def test_the_spread_is_what_compare_has(self, documents: ss.Outputs) -> None:
        """The standard error of the gain, times the root of the number of documents."""
        pairs = compared(documents)
        case = of_two(documents)
        assert case.middle.sd_of(0.0) == pytest.approx(float(pairs["gain_se"].iloc[0]) * 10)
        assert (case.unit, case.size) == ("cluster", 6)

    @pytest.mark.parametrize("tails", [0.3, 2.0])
    def test_the_interval_of_a_spread_is_the_jackknifes(self, tails: float) -> None:
        """By leaving out each value; the upper end has the degrees of freedom of a sum of so unequal squares."""
        values = np.random.default_rng(5).lognormal(0, tails, 40)
        logs = np.array([np.log(np.delete(values, i).var(ddof=1)) for i in range(40)])
        squares = (logs - logs.mean()) ** 2
        # The variance of a variance has the jackknife's part, (kurtosis - 1) / n, and 2 / (n (n - 1)).
        se = np.sqrt(39 / 40 * squares.sum() + 2 / (40 * 39))
        # Satterthwaite's: twice the squared mean over the variance, of the sum of 40 squares.
        df = 2 * squares.sum() ** 2 / (40 * squares.var())
        down, up = (np.exp(stats.t.isf(0.025, degrees) * se / 2) for degrees in (39, min(df, 39)))
        sd = values.std(ddof=1)
        assert spread_interval(values) == pytest.approx((sd, sd / down, sd * up))

    def test_a_pilots_gain_is_not_what_is_planned_for(self, many: ss.Outputs) -> None:
        plan = ss.plan(many.select([many.names[0], many.names[-1]]))
        assert plan.target.gain is None
        assert plan.answers["at_items"].iloc[0] == 300
        assert np.isnan(plan.answers["n_items"].iloc[0])

    def test_simulation_stands_beside_the_closed_form(self, documents: ss.Outputs) -> None:
        plan = ss.plan(ss.Pilot(documents, n_sets=1500), gain=0.05)
        held = plan.simulated
        assert held is not None
        assert (held.n_sets, held.n_units) == (1500, plan.answers["n_units"].iloc[0])
        assert held.low <= held.power <= held.high
        # Five standard errors of 1,500 test sets.
        assert abs(held.power - held.expected) < 5 * 0.0105
        assert "closed form" in held.text()

    def test_many_systems_by_relation(self, many: ss.Outputs) -> None:
        cases = of_many(many, "family")
        assert [case.relation for case in cases][-1] == "all pairs"
        everything = cases[-1]
        assert isinstance(everything.middle, MixedDifference)
        pairs = compared(many)
        shares = (pairs["n_better"] + pairs["n_worse"]) / 300
        spread = everything.middle.sd_of(0.0)
        assert 100 * np.sqrt(shares.min()) < spread < 100 * np.sqrt(shares.max())
        assert everything.low.sd_of(0.0) < spread < everything.high.sd_of(0.0)


def test_many_pairs_are_found_as_often_as_each_of_them_on_average() -> None:
    parts = tuple(RightOrWrongDifference(share) for share in (0.05, 0.1, 0.3))
    each = [part.detection(3.0, 400, Level()) for part in parts]
    found = MixedDifference(parts).detection(3.0, 400, Level())
    assert found.power == pytest.approx(np.mean([one.power for one in each]))
    assert found.wrong_winner == pytest.approx(np.mean([one.wrong_winner for one in each]))
    significant = sum(one.power + one.wrong for one in each)
    sizes = sum((one.power + one.wrong) * one.exaggeration for one in each)
    assert found.exaggeration == pytest.approx(sizes / significant)


class TestDesigns:
    def test_the_variance_of_a_units_mean(self) -> None:
        """Of four numbers that correlate by 0.3: (4 + 12 x 0.3) / 16."""
        assert Design(4, 0.3).unit_sd == pytest.approx(np.sqrt((4 + 12 * 0.3) / 16))

    @pytest.mark.parametrize(
        ("icc", "unit", "item"), [(0.05, 20.0, 1.0), (0.5, 1.0, 1.0), (0.01, 3.0, 7.0), (0.2, 0.0, 1.0)]
    )
    def test_the_best_size_is_the_best_of_all(self, icc: float, unit: float, item: float) -> None:
        sizes = np.arange(1, 500)
        cost_of_precision = (unit + sizes * item) * (1 + (sizes - 1) * icc) / sizes
        assert best_size(icc, unit, item) == sizes[cost_of_precision.argmin()]

    def test_the_correlation_within_units_is_that_of_all_pairs_of_items(self) -> None:
        rng = np.random.default_rng(0)
        codes = np.repeat(np.arange(30), rng.integers(1, 6, 30))
        parts = rng.normal(size=30)[codes] + rng.normal(size=len(codes))
        centred = parts - parts.mean()
        products = [
            centred[i] * centred[j]
            for i in range(len(codes))
            for j in range(len(codes))
            if i != j and codes[i] == codes[j]
        ]
        assert intraclass_correlation(parts, codes) == pytest.approx(np.mean(products) / centred.var())

    def test_a_budget_buys_whole_units(self) -> None:
        clusters, costs = ss.Clusters(size=10, icc=0.1, cv=0), ss.Costs(item=1, cluster=5, budget=1000)
        plan = ss.plan(metric="mean", guess=ss.Guess(sd_difference=1.0), clusters=clusters, costs=costs)
        assert plan.answers["at_units"].iloc[0] == 66
        assert plan.answers["detectable_gain"].iloc[0] == pytest.approx(
            ss.plan(metric="mean", n_items=66, guess=ss.Guess(sd_difference=np.sqrt(1.9 / 10)))
            .answers["detectable_gain"]
            .iloc[0]
        )
        best = plan.designs.loc[plan.designs["detectable_gain"].idxmin()]
        # The square root of 5 / 1 x 0.9 / 0.1 is 6.7; whole units of a budget make other sizes nearly as good.
        assert 5 <= best["items_per_unit"] <= 10


class TestMargins:
    @pytest.mark.parametrize("goal", [NOT_WORSE, EQUIVALENT])
    @pytest.mark.parametrize(("gain", "n"), [(0.0, 40), (0.1, 40), (-0.2, 25), (0.0, 400)])
    def test_what_is_shown_is_what_t_tests_show(self, goal: str, gain: float, n: int) -> None:
        drawn = np.random.default_rng(1).normal(gain, 1.0, (40_000, n))
        mean, reach = drawn.mean(axis=1), stats.t.isf(0.025, n - 1) * drawn.std(axis=1, ddof=1) / np.sqrt(n)
        margin = 0.5
        shown = mean - reach > -margin
        if goal == EQUIVALENT:
            shown &= mean + reach < margin
        assert NormalDifference(1.0).within(
            gain, margin, n, Level().margin_tail, both=goal == EQUIVALENT
        ) == pytest.approx(shown.mean(), abs=0.012)

    def test_the_size_is_the_textbooks(self) -> None:
        plan = ss.plan(metric="mean", margin=0.1, guess=ss.Guess(sd_difference=1.0))
        not_worse, equivalent = plan.answers["n_items"]
        assert not_worse == pytest.approx(normal_size(1.0, 0.1), rel=0.01)
        # Each of two tests has to have power 0.9.
        assert equivalent == pytest.approx(normal_size(1.0, 0.1, 0.9), rel=0.01)
        assert plan.answers["goal"].tolist() == [NOT_WORSE, EQUIVALENT]

    @pytest.mark.slow
    def test_what_compare_says_of_equal_systems(self) -> None:
        """The share of test sets of the planned size on which `equivalence` says so, of right and wrong answers."""
        model = ScoreModel([Bernoulli(0.8)] * 2, GaussianCopula(0.8), metric="accuracy")
        plan = ss.plan(ss.Pilot(model.outputs(50_000, seed=1), n_sets=0), margin=5)
        n = int(plan.answers.set_index("goal")["n_items"][EQUIVALENT])
        said = 0
        for seed in range(300):
            pairs = compared(model.outputs(n, seed=100 + seed), test="mcnemar")
            said += ss.equivalence(pairs, 5)["conclusion"].isin(["equivalent", "better by less than the margin"]).item()
        # Four standard errors of 300 test sets.
        assert abs(said / 300 - 0.8) < 4 * 0.023


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "accuracy", "score": 80, "gain": 1, "power": 1.0}, "power must lie between 0 and 1"),
        ({"metric": "accuracy", "score": 80, "gain": 1, "alpha": 0}, "alpha must lie between 0 and 1"),
        ({"metric": "accuracy", "score": 80, "gain": 101}, "gain must be above 0 and at most 100, the scale of acc"),
        ({"metric": "accuracy", "score": 80, "gain": 21}, "gain must be at most 20 where the score is 80 %, not 21"),
        ({"metric": "accuracy", "score": 80, "gain": 1, "agreement": 0.5}, "Guess.agreement must be from 0.61 to 0"),
        ({"metric": "accuracy", "score": 80, "gain": 5, "r12": 0.9}, r"Guess.r12 must be from -0.21 to 0.8402 between"),
        ({"metric": "accuracy", "score": 80, "gain": 0.001}, "no test set of up to 10,000,000 items"),
        ({"metric": "accuracy", "gain": 1}, "Guess.score must be given for accuracy"),
        ({"metric": "accuracy", "score": 80}, "gain must be given, or n_items"),
        ({"metric": "mean", "gain": 1}, "metric must be one whose sd is known"),
        ({"metric": "mean", "gain": 1, "r12": 0.5}, "Guess.sd must be given with Guess.r12"),
        ({"metric": "mean", "gain": 1, "sd": 1, "r12": 1.0}, "Guess.r12 must be at least -1 and below 1"),
        ({"metric": "bleu", "gain": 1, "agreement": 0.5}, "Guess.agreement must not be given for BLEU"),
        ({"gain": 1}, "metric must be given where there are no outputs"),
        ({"metric": "win_rate", "gain": 1, "judge_error": 0.5}, "Judge.error must be at least 0 and below 0.5"),
        ({"metric": "win_rate", "gain": 1, "judge_error": 0.1, "judgements": 2}, "Judge.judgements must be an odd"),
        ({"metric": "accuracy", "score": 80, "gain": 1, "icc": 0.1}, "Clusters.size must be given with Clusters.icc"),
        ({"metric": "accuracy", "score": 80, "margin": 0}, "margin must be above 0"),
        ({"metric": "accuracy", "score": 80, "margin": 1, "gain": -2}, "gain must be above minus the margin"),
        ({"metric": "accuracy", "score": 80, "budget": 5}, "Costs.item must be given with Costs.budget"),
        ({"metric": "accuracy", "score": 80, "gain": 1, "relation": "cousins"}, "Guess.relation must be one of var"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_with(**arguments)


def test_pilots_that_say_nothing_are_refused() -> None:
    right = pd.DataFrame({"a": [1] * 9, "b": [0] * 9})
    with pytest.raises(ValueError, match="at least 10 items for a plan, not 9"):
        ss.plan(ss.Outputs.from_scores(right, "accuracy"))
    with pytest.raises(ValueError, match="are alike, as they may be where up to 11.6 % differ"):
        ss.plan(ss.Outputs.from_scores(pd.DataFrame({"a": [1] * 30, "b": [1] * 30}), "accuracy"))
    with pytest.raises(ValueError, match="score must be None with outputs"):
        ss.plan(ss.truth.correlated_accuracies([0.6, 0.7], 50), gain=1, guess=ss.Guess(score=80))
