"""What cannot be is refused by the name of its field: by each noun when it is made, by plans and by `predict`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.planning import predict
from simstudy.planning.benchmarks import typical
from simstudy.planning.correlated_answers import disagreement_of, of_spread
from simstudy.planning.differences import NormalDifference
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.solving import size_for
from tests.planning.options import NOUNS, plan_with

TWO = ss.truth.correlated_accuracies([0.6, 0.7], 50)
FOUR = ss.truth.correlated_accuracies([0.5, 0.55, 0.65, 0.7], 50)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"guess": 80}, r"guess must be a Guess, such as ss.Guess\(score=80\), not 80"),
        ({"clusters": 10}, r"clusters must be a Clusters, such as ss.Clusters\(size=10, icc=0.1\), not 10"),
        ({"judge": ss.Guess(score=80)}, r"judge must be a Judge, such as ss.Judge\(error=0.1\), not Guess\(score=80\)"),
        ({"costs": None}, r"costs must be a Costs, such as ss.Costs\(item=2, budget=1000\), not None"),
        ({"alpha": "0.05"}, "alpha must lie between 0 and 1, both excluded, not '0.05'"),
        ({"alpha": 1}, "alpha must lie between 0 and 1, both excluded, not 1"),
        ({"pilot": [[0, 1]]}, "pilot must be Outputs"),
        ({"sizes": [1]}, "sizes must be at least 2, not 1"),
        ({"n_items": 1}, "n_items must be at least 2, not 1"),
        ({"costs": ss.Costs(item=1, cluster=10, budget=1000)}, "Costs.cluster must be 0 where items come in no cl"),
        ({"costs": ss.Costs(item=1, budget=1.5)}, "Costs.budget must be at least 2, the cost of two items, not 1.5"),
        ({"costs": ss.Costs(item=1, budget=99), "n_items": 50}, "n_items must not be given with Costs.budget"),
        ({"clusters": ss.Clusters(5, 0.1), "n_items": 7}, "n_items must be at least 10, the items of two"),
        ({"clusters": ss.Clusters(5, 0.1), "sizes": [20, 9]}, "sizes must be at least 10, the items of two"),
        ({"metric": "bleu", "pilot": TWO, "guess": ss.Guess()}, "metric must be that of the outputs, 'accuracy'"),
    ],
)  # fmt: skip
def test_arguments_of_a_plan(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        ss.plan(**({"metric": "accuracy", "gain": 1, "guess": ss.Guess(score=80)} | given))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ss.Guess(score="80"), "Guess.score must be a number, not '80'"),
        (lambda: ss.Guess(sd=[1]), r"Guess.sd must be a number, not \[1\]"),
        (lambda: ss.Guess(agreement="0.9"), "Guess.agreement must be a number, or the two ends of a range, not '0.9'"),
        (lambda: ss.Guess(r12=(0.1, 0.2, 0.3)), "Guess.r12 must be a number, or the two ends of a range, not"),
        (lambda: ss.Guess(r12=(0.6, 0.5)), "Guess.r12 must have the lower end of its range first"),
        (lambda: ss.Guess(relation="cousins"), "Guess.relation must be one of same family, different families, not"),
        (lambda: ss.Guess(relation="same family", r12=0.5), "Guess.relation must not be given with Guess.r12"),
        (lambda: ss.Clusters(size=5), "Clusters.icc must be given with Clusters.size"),
        (lambda: ss.Clusters(icc=0.1), "Clusters.size must be given with Clusters.icc"),
        (lambda: ss.Clusters(cv=1), "Clusters.size must be given with Clusters.cv"),
        (lambda: ss.Clusters(size="5", icc=0.1), "Clusters.size must be a number, not '5'"),
        (lambda: ss.Clusters(size=5, icc=1.5), "Clusters.icc must be from -0.25 to 1 for 5 items a cluster, not 1.5"),
        (lambda: ss.Clusters(size=1, icc=0.1, cv=1), "Clusters.cv must be 0 for clusters of one item, not 1"),
        (lambda: ss.Clusters(10, -0.1, 1.0), r"Clusters.icc must be from -0.0526 to 1 for 10 items a cluster .Clu"),
        (lambda: ss.Clusters(5, -0.2, (0, 1)), "Clusters.icc must be from -0.19 to 1 for 5 items a cluster"),
        (lambda: ss.Judge(error=0.1, judgements=2), "Judge.judgements must be an odd number where the majority"),
        (lambda: ss.Judge(judgements=3), "Judge.judgements must be 1 where neither Judge.error nor Judge.sd is given"),
        (lambda: ss.Judge(error=0.1, agreement=0.5), "Judge.agreement must not be given where each answer has one"),
        (lambda: ss.Costs(item="1"), "Costs.item must be a number, not '1'"),
        (lambda: ss.Costs(budget=10), "Costs.item must be given with Costs.budget"),
        (lambda: ss.Costs(cluster=10), "Costs.item must be given with Costs.cluster"),
        (lambda: ss.Costs(item=0), "Costs.item must be above 0 where a cluster costs nothing else"),
        (lambda: ss.Level(alternative="less"), "Level.alternative must be one of two-sided, greater, not 'less'"),
        (lambda: ss.Level(comparisons=1.5), "Level.comparisons must be a whole number"),
        (lambda: ss.Level(comparisons=0), "Level.comparisons must be at least 1, not 0"),
        (lambda: ss.Pilot("old.txt"), "pilot must be Outputs"),
        (lambda: ss.Pilot(TWO, n_sets=199), "Pilot.n_sets must be at least 200, not 199"),
        (lambda: ss.Pilot(TWO, n_draws=-1), "Pilot.n_draws must be at least 0, not -1"),
        (lambda: ss.Pilot(TWO, n_draws=99), "Pilot.n_draws must be at least 100, not 99"),
        (lambda: ss.Pilot(TWO, duplicates="maybe"), "Pilot.duplicates must be one of keep, note, drop, not 'maybe'"),
        (lambda: ss.Pilot(TWO, by="family"), "Pilot.by must not be given with outputs of two systems"),
        (lambda: ss.Pilot(TWO, seed=-1), "Pilot.seed must be at least 0"),
        (lambda: predict(TWO, [100]), "outputs must be of at least three systems"),
        (lambda: predict(FOUR.head(9), [100]), "outputs must have at least 10 items for a plan, not 9"),
        (lambda: predict(FOUR, [1]), "n_units must be at least 2"),
        (lambda: predict(FOUR, [20.5]), "n_units must be a whole number"),
        (lambda: predict(FOUR, [100], n_draws=99), "n_draws must be at least 100"),
        (lambda: predict(FOUR, [100], by="vendor"), ".*vendor"),
        (lambda: typical("unheard", "same family", "sd"), "metric must be one whose sd is known .accuracy, .*"),
        (lambda: disagreement_of(80, 5, 0.99), "Guess.agreement must be from 0.65 to 0.95 between"),
        (lambda: of_spread(1.0, 1.0), "Guess.r12 must be at least -1 and below 1, not 1"),
        (lambda: size_for(RightOrWrongDifference(0.1), 11), "gain must be above 0 and at most 10, not 11"),
        (lambda: size_for(NormalDifference(1.0), 1e-6), "gain must be larger for a test set of up to 10,000,000"),
        (lambda: size_for(NormalDifference(1.0), 0.1, power=0.01), "power must be above 0.025, the power without"),
    ],
)  # fmt: skip
def test_what_nouns_predictions_and_differences_refuse(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


INF, NEAR = float("inf"), 1e-6

#: What each field may be, from and to; whether the ends are in it, and whether it may be a range; what comes with it.
BOUNDS: dict[str, tuple[float, float, str, dict[str, Any]]] = {
    "Guess.score": (0, 100, "[]", {}),
    "Guess.agreement": (0, 1, "[] range", {}),
    "Guess.r12": (-1, 1, "[] range", {}),
    "Guess.sd": (0, INF, "()", {}),
    "Guess.sd_difference": (0, INF, "() range", {}),
    "Clusters.size": (1, INF, "[)", {"icc": 0.1}),
    "Clusters.icc": (-0.25, 1, "[]", {"size": 5}),
    "Clusters.cv": (0, INF, "[) range", {"size": 5, "icc": 0.1}),
    "Judge.error": (0, 0.5, "[)", {}),
    "Judge.sd": (0, INF, "[)", {}),
    "Judge.agreement": (0, 1, "[]", {"error": 0.1, "judgements": 3}),
    "Costs.item": (0, INF, "[)", {"cluster": 1}),
    "Costs.cluster": (0, INF, "[)", {"item": 1}),
    "Costs.budget": (0, INF, "()", {"item": 1}),
    "Level.alpha": (0, 1, "()", {}),
}


@pytest.mark.parametrize("field", BOUNDS)
def test_fields_are_bounded_at_both_ends(field: str) -> None:
    """Also where a number is the lower or the upper end of a range, of which the other end may be."""
    low, high, kind, others = BOUNDS[field]
    kind_of, name = field.split(".")
    noun = next(noun for noun in NOUNS.values() if noun.__name__ == kind_of)
    inside = [low + NEAR, *([low] if "[" in kind else []), *([high - NEAR] if high < INF else [1e3])]
    inside += [high] if "]" in kind else []
    outside = [low - NEAR, *([] if "[" in kind else [low]), *([high + NEAR] if high < INF else [INF, float("nan")])]
    outside += [] if "]" in kind or high == INF else [high]
    for value in inside:
        assert getattr(noun(**{name: value}, **others), name) == value
    ranges = [ends for end in outside for ends in ((end, inside[-1]), (inside[0], end)) if "range" in kind]
    for value in (*outside, *ranges):
        with pytest.raises(ValueError, match=rf"{kind_of}\.{name} "):
            noun(**{name: value}, **others)
    for ends in [(inside[0], inside[-1])] if "range" in kind else []:
        assert getattr(noun(**{name: ends}, **others), name) == ends


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"gain": 1, "power": 1.0}, "power must lie between 0 and 1"),
        ({"gain": 101}, "gain must be above 0 and at most 100, the scale of accuracy, not 101"),
        ({"gain": 21}, "gain must be at most 20 where the score is 80 %, not 21"),
        ({"gain": 0.001, "score": 99.5}, "gain must be larger: no test set of up to 10,000,000 items shows a gain of "),
        ({"margin": 1e-3, "score": 99.5}, "margin must be larger: no test set of up to 10,000,000 items shows a marg"),
        ({"gain": 2, "score": 0.7}, r"Guess.score must be in percent, not 0\.7: did you mean 70\?$"),
        ({"gain": 0.02, "score": 0.7}, "Guess.score must be in percent, not 0.7: did you mean Guess.score=70, gain=2"),
        ({"gain": 0.02}, r"gain must be in points of accuracy, not 0\.02: did you mean 2\?$"),
        ({"margin": 0.05, "metric": "bleu", "score": None}, "margin must be in points of BLEU, not 0.05: did"),
        ({"gain": 1, "score": None}, "Guess.score must be given for accuracy"),
        ({"gain": 1, "sd": 1}, "Guess.sd must not be given for accuracy"),
        ({"gain": 1, "judge_sd": 1}, "Judge.sd must not be given for accuracy"),
        ({}, "gain must be given, or n_items"),
        ({"margin": 0}, "margin must be above 0"),
        ({"margin": 1, "gain": -2}, "gain must be above minus the margin, -1, to be no worse, not -2"),
        ({"agreement": 0.9, "r12": 0.5, "gain": 1}, "Guess.agreement must not be given with Guess.r12"),
        ({"agreement": (0.96, 0.99)}, "Guess.agreement must overlap 0.65 to 0.95, which two such systems can have"),
        ({"agreement": (0.5, 0.6)}, "Guess.agreement must overlap 0.65 to 0.95"),
        ({"agreement": 0.97}, "Guess.agreement must be from 0.65 to 0.95 between systems of 80 and 85 %, not 0.97"),
        ({"agreement": 1.0, "gain": None, "n_items": 100}, "Guess.agreement must be below 1, not 1.0: systems that"),
        ({"r12": 0.9}, r"Guess.r12 must be from -0\.21 to 0\.8402 between"),
        ({"r12": (0.85, 0.99)}, r"Guess.r12 must overlap -0\.21 to 0\.84"),
        ({"metric": None, "gain": 1}, "metric must be given where there are no outputs"),
        ({"metric": "mean", "score": None, "gain": 1}, "metric must be one whose sd is known"),
        ({"metric": "bleu", "gain": 1}, "Guess.score must not be given for BLEU"),
        ({"metric": "bleu", "score": None, "gain": 1, "judge_error": 0.1}, "Judge.error must not be given for BLEU"),
        ({"metric": "win_rate", "gain": 1}, "Guess.score must be 50 for a win rate"),
        ({"metric": "win_rate", "score": None, "gain": 1, "agreement": 1.0}, "Guess.agreement must be at least 0"),
    ],
)  # fmt: skip
def test_guesses_that_no_two_systems_can_have(asked: dict[str, Any], message: str) -> None:
    base = {"metric": "accuracy", "score": 80} | ({"gain": 5} if asked.keys() & {"agreement", "r12"} else {})
    with pytest.raises(ValueError, match=f"^{message}"):
        plan_with(**{name: value for name, value in (base | asked).items() if value is not None or name == "gain"})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"r12": 0.5}, "Guess.sd must be given with Guess.r12"),
        ({"sd": 1, "r12": 1.0}, "Guess.r12 must be at least -1 and below 1"),
        ({"sd": 1, "sd_difference": 1}, "Guess.sd_difference must be given alone"),
        ({"sd_difference": 1e-308}, r"Guess.sd_difference must be 0 or from 1e-60 to 1e\+60 in size, not 1e-308"),
        ({"sd": 1e308, "r12": 0.5}, r"Guess.sd must be 0 or from 1e-60 to 1e\+60 in size, not 1e\+308"),
        ({"sd_difference": 1, "gain": 1e200}, r"gain must be 0 or from 1e-60 to 1e\+60 in size, not 1e\+200"),
        ({"sd_difference": 1, "judge_sd": 1e-200}, "Judge.sd must be 0 or from"),
        ({"sd_difference": 1, "margin": 1e-200}, "margin must be 0 or from"),
        ({"sd_difference": 1, "cost_item": 1e-308, "budget": 1e308}, "Costs.item must be 0 or from"),
        ({"metric": "ap", "sd": 0.6, "r12": 0.5}, "Guess.sd must be above 0 and at most 0.5, not 0.6"),
        ({"metric": "ap", "sd_difference": 1.5}, "Guess.sd_difference must be above 0 and at most 1, not 1.5"),
        ({"metric": "bleu", "gain": 101}, "gain must be above 0 and at most 100, the scale of BLEU, not 101"),
    ],
)
def test_scores_without_a_meaning(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        plan_with(**({"metric": "mean", "gain": 0.1} | asked))


@pytest.mark.parametrize(
    ("noun", "name"),
    [
        ({"judge": ss.Judge(error=0.1, judgements=3)}, "Judge.error"), ({"judge": ss.Judge(sd=0.0)}, "Judge.sd"),
        ({"guess": ss.Guess(score=80)}, "Guess.score"), ({"guess": ss.Guess(relation="same family")}, "Guess.relation"),
        ({"clusters": ss.Clusters(size=5, icc=0.1)}, "Clusters.size"),
    ],
)  # fmt: skip
def test_guesses_are_refused_with_outputs(noun: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must not be given with outputs, which tell it"):
        ss.plan(TWO, gain=5, **noun)


@pytest.mark.parametrize(
    ("scores", "metric", "message"),
    [
        ({"a": [1] * 9, "b": [0] * 9}, "accuracy", "at least 10 items for a plan, not 9"),
        ({"a": [1] * 30, "b": [1] * 30}, "accuracy", "'a' and 'b' are alike, as they may be where up to 11.6 % differ"),
        ({"a": [1.5] * 60, "b": [1.0] * 60}, "mean", "'a' and 'b' differ by the same amount on each of these 60 items"),
        ({"a": np.arange(20) * 1e-200, "b": np.zeros(20)}, "mean", "outputs must have differences from 1e-60"),
        ({"a": np.arange(20) * 1e-200, "b": [0] * 20, "c": np.eye(20)[0] * 1e-200}, "mean", "outputs must have diff"),
        ({"a": [1] * 30}, "accuracy", "outputs must be of at least two systems for a plan, not 1"),
        ({"a": [1] * 30, "b": [1] * 30, "c": [1] * 29 + [0]}, "accuracy", "at least 3 pairs of systems that differ"),
    ],
)  # fmt: skip
def test_pilots_that_say_nothing(scores: dict[str, Any], metric: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ss.plan(ss.Pilot(ss.Outputs.from_scores(pd.DataFrame(scores), metric), duplicates="keep"), n_items=100)
