"""What plans are given: each noun refuses what cannot be, by the name of its field, when it is made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

import simstudy as ss
from simstudy.planning import arguments
from tests.planning.options import NOUNS

TWO = ss.truth.correlated_accuracies([0.6, 0.7], 50)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"guess": 80}, r"guess must be a Guess, such as ss.Guess\(score=80\), not 80"),
        ({"guess": {"score": 80}}, r"guess must be a Guess, such as ss.Guess\(score=80\), not {'score': 80}"),
        ({"guess": ss.Guess}, r"guess must be a Guess, such as ss.Guess\(score=80\), not <class"),
        ({"clusters": 10}, r"clusters must be a Clusters, such as ss.Clusters\(size=10, icc=0.1\), not 10"),
        ({"judge": 0.1}, r"judge must be a Judge, such as ss.Judge\(error=0.1\), not 0.1"),
        ({"judge": ss.Guess(score=80)}, r"judge must be a Judge, such as ss.Judge\(error=0.1\), not a Guess"),
        ({"costs": None}, r"costs must be a Costs, such as ss.Costs\(item=2, budget=1000\), not None"),
        ({"alpha": "0.05"}, "alpha must lie between 0 and 1, both excluded, not '0.05'"),
        ({"alpha": 1}, "alpha must lie between 0 and 1, both excluded, not 1"),
        ({"pilot": [[0, 1]]}, "pilot must be Outputs"),
        ({"sizes": [1]}, "sizes must be at least 2, not 1"),
        (
            {"costs": ss.Costs(item=1, cluster=10, budget=1000)},
            "Costs.cluster must be 0 where items come in no clusters",
        ),
        (
            {"clusters": ss.Clusters(5, 0.1), "n_items": 7},
            "n_items must be at least 10, the items of two clusters, not 7",
        ),
        (
            {"clusters": ss.Clusters(5, 0.1), "sizes": [20, 9]},
            "sizes must be at least 10, the items of two clusters, not 9",
        ),
    ],
)
def test_arguments_of_a_plan_are_nouns(given: dict[str, Any], message: str) -> None:
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
        (lambda: ss.Guess(relation="cousins"), "Guess.relation must be one of variants, unlike systems, not 'cousins'"),
        (lambda: ss.Guess(relation="variants", r12=0.5), "Guess.relation must be None with Guess.r12"),
        (lambda: ss.Guess(score=500), "Guess.score must be from 0 to 100 %, not 500"),
        (lambda: ss.Guess(r12=2), "Guess.r12 must be from -1 to 1, not 2"),
        (lambda: ss.Guess(r12=(-1.5, 0)), "Guess.r12 must be from -1 to 1, not -1.5"),
        (lambda: ss.Guess(agreement=90), "Guess.agreement must be from 0 to 1, not 90"),
        (lambda: ss.Guess(sd=0), "Guess.sd must be above 0, not 0"),
        (lambda: ss.Guess(sd_difference=(-1, 1)), "Guess.sd_difference must be above 0, not -1"),
        (lambda: ss.Clusters(size=5), "Clusters.icc must be given with Clusters.size"),
        (lambda: ss.Clusters(icc=0.1), "Clusters.size must be given with Clusters.icc"),
        (lambda: ss.Clusters(cv=1), "Clusters.size must be given with Clusters.cv"),
        (lambda: ss.Clusters(size="5", icc=0.1), "Clusters.size must be a number, not '5'"),
        (lambda: ss.Clusters(size=0.5, icc=0.1), "Clusters.size must be at least 1 item, not 0.5"),
        (lambda: ss.Clusters(size=5, icc=1.5), "Clusters.icc must be from -0.25 to 1 for 5 items a cluster, not 1.5"),
        (lambda: ss.Clusters(size=5, icc=0.1, cv=-1), "Clusters.cv must be at least 0, not -1"),
        (lambda: ss.Clusters(size=1, icc=0.1, cv=1), "Clusters.cv must be 0 for clusters of one item, not 1"),
        (
            lambda: ss.Clusters(size=5, icc=-0.2, cv=(0, 1)),
            "Clusters.icc must be from -0.19 to 1 for 5 items a cluster",
        ),
        (lambda: ss.Judge(error=0.5), "Judge.error must be at least 0 and below 0.5"),
        (lambda: ss.Judge(error=0.1, judgements=2), "Judge.judgements must be an odd number where the majority"),
        (lambda: ss.Judge(judgements=3), "Judge.judgements must be 1 where neither Judge.error nor Judge.sd is given"),
        (lambda: ss.Judge(sd=-1), "Judge.sd must be at least 0, not -1"),
        (lambda: ss.Judge(error=0.1, agreement=0.5), "Judge.agreement must be None where each answer has one"),
        (lambda: ss.Judge(error=0.1, judgements=3, agreement=2), "Judge.agreement must lie between 0 and 1, not 2"),
        (lambda: ss.Costs(item=-1), "Costs.item must be at least 0, not -1"),
        (lambda: ss.Costs(item="1"), "Costs.item must be a number, not '1'"),
        (lambda: ss.Costs(item=1, budget=0), "Costs.budget must be above 0, not 0"),
        (lambda: ss.Costs(budget=10), "Costs.item must be given with Costs.budget"),
        (lambda: ss.Costs(cluster=10), "Costs.item must be given with Costs.cluster"),
        (lambda: ss.Costs(item=0), "Costs.item must be above 0 where a cluster costs nothing else"),
        (lambda: ss.Level(0), "Level.alpha must lie between 0 and 1, both excluded, not 0"),
        (lambda: ss.Level(alternative="less"), "Level.alternative must be one of two-sided, greater, not 'less'"),
        (lambda: ss.Level(comparisons=1.5), "Level.comparisons must be a whole number"),
        (lambda: ss.Pilot("old.txt"), "pilot must be Outputs"),
        (lambda: ss.Pilot(TWO, n_sets=199), "Pilot.n_sets must be at least 200, not 199"),
        (lambda: ss.Pilot(TWO, n_draws=-1), "Pilot.n_draws must be at least 0, not -1"),
        (lambda: ss.Pilot(TWO, n_draws=5), "Pilot.n_draws must be at least 100, not 5"),
        (lambda: ss.Pilot(TWO, duplicates="maybe"), "Pilot.duplicates must be one of keep, drop, not 'maybe'"),
        (lambda: ss.Pilot(TWO, by="family"), "Pilot.by must be None with outputs of two systems"),
        (lambda: ss.Pilot(TWO, seed=-1), "Pilot.seed must be at least 0"),
    ],
)
def test_a_noun_refuses_what_cannot_be(make: Callable[[], object], message: str) -> None:
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


def test_nouns_are_frozen_and_their_fields_documented() -> None:
    for noun in NOUNS.values():
        assert inspect.getdoc(noun)
        for one in fields(noun):
            assert f"\n    {one.name}" in str(noun.__doc__) or f", {one.name}\n" in str(noun.__doc__)
    with pytest.raises(FrozenInstanceError):
        ss.Guess().score = 80  # type: ignore[misc]
    assert len(inspect.signature(ss.plan).parameters) <= 12


def test_only_what_was_set_is_changed() -> None:
    assert arguments.changed(ss.Guess()) == arguments.changed(ss.Clusters()) == arguments.changed(ss.Judge()) == []
    assert arguments.changed(ss.Judge(error=0.1, judgements=3)) == [("Judge.error", None), ("Judge.judgements", 1)]


@pytest.mark.parametrize("noun", NOUNS.values())
def test_nouns_have_nothing_of_the_commands_help(noun: type) -> None:
    assert "panel" not in dir(noun)


def test_a_level_with_nothing_else_is_its_alpha() -> None:
    plans = [
        ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=80, agreement=0.9), alpha=alpha, sizes=[])
        for alpha in (0.01, ss.Level(0.01))
    ]
    assert plans[0].text == plans[1].text
