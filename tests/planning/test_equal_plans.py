"""Plans that ask for the same in two ways have the same numbers, in all that they print."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.metrics.mean import Mean
from simstudy.planning import predict
from simstudy.planning.arguments import RELATIONS, Design
from simstudy.planning.cases import scale_of
from simstudy.planning.settings import Level
from tests.planning.forms import (
    ANSWERS,
    BONFERRONI,
    COSTS,
    EVERYTHING,
    GUESSES,
    LEVEL,
    LEVELS,
    PILOTS,
    SCORES,
    UNITS,
    Options,
    Printed,
    assert_same,
    pilot,
    planned,
    printed,
    printed_once,
    with_costs,
)
from tests.planning.options import plan_with

NUMBERS = [
    f"{name}{end}"
    for name in ("minimum_detectable_gain", "power", "wrong_winner", "wrong_sign", "exaggeration")
    for end in ("", "_low", "_high")
]


@pytest.mark.parametrize(
    ("form", "which"),
    [(form, "everything") for form in ("answers", "a range of units", *PILOTS[:3], PILOTS[-1])]
    + [("of many answers", "which gain")],
)
def test_comparisons_share_alpha_and_one_side_has_twice_as_much(form: str, which: str) -> None:
    """Bonferroni's level in all numbers, but for neighbours of leaderboards; no named system wins wrongly."""
    plain, comparisons = printed_once(form, which, alpha=0.02), printed_once(form, which, **BONFERRONI, margin=None)
    assert_same(comparisons, plain, "predicted|margins|shown")
    found, twice = printed_once(form, which, **LEVEL), printed_once(form, which, alpha=0.04, margin=None)
    # One-sided tests against a margin are the same ones. Sign flips to one side are others.
    flips = "" if "answers" in form else "|simulated"
    assert_same(found, twice, f"margins|shown|said|wrong_sign|exaggeration|systems|predicted{flips}")
    assert_same(found, plain, only="margins|shown")
    assert found["answers"].get("wrong_sign", pd.Series(0)).eq(0).all()
    if "many" in form:
        neighbours = printed_once(form, which, alpha=0.1)
        for one, pairs in ((comparisons, plain), (found, twice)):
            assert_same(one, pairs, only=r"predicted\.(share|wrong)")
            assert_same(one, neighbours, only=r"predicted\.(sep|ranks)")


@pytest.mark.parametrize("form", ["judged pairs", "units of judged answers", *PILOTS])
def test_each_part_of_a_plan_is_what_a_plan_of_its_own_says(form: str) -> None:
    """Answers and other sizes by a plan for so many items, designs by guesses, the curve's end, and predictions."""
    parts, asked = printed_once(form, **LEVEL), EVERYTHING | LEVEL | {"sizes": [], "n_sets": 0, "n_draws": 0}
    asked |= {"margin": None} if form == "of many answers" else {}
    case = planned(form, **asked | {"margin": None}).cases[0]
    answer, size = parts["answers"].iloc[0].to_dict(), parts["sizes"].iloc[0].to_dict()
    margins, shown = parts["margins"], parts["shown"].iloc[0].tolist()
    told = {
        size["n_units"]: size | dict(zip(("not worse", "equivalent"), shown, strict=False)),
        answer["at_units"]: answer
        | ({} if margins.empty else dict(zip(margins["goal"], margins["power"], strict=True))),
    }
    for n_units, row in told.items():
        n_items = int(np.ceil(n_units * case.size - 1e-9))
        own = planned(form, **asked | {"budget": None, "n_items": n_items}).answers
        assert own["at_units"].eq(n_units).all()
        for goal, power in zip(own["goal"], own["power"], strict=True):
            assert row.get(goal, power) == pytest.approx(power)
        for name in NUMBERS:
            assert row[name] == pytest.approx(own[name].iloc[0], rel=2e-6, nan_ok=True), name
    for name in ("n_units", "n_items", "power", "power_low", "power_high"):
        assert parts["curve"][name].iloc[-1] == size[name]
    same = ["n_units", "at_units", "minimum_detectable_gain"]
    for row in parts["designs"].to_dict("records"):
        if "as planned" in row["which"]:
            assert [row[name] for name in same] == pytest.approx([answer[name] for name in same], nan_ok=True)
        elif case.design is not None:
            guess = GUESSES.get(form, {"metric": "mean", "sd_difference": case.item_sd})
            cv = case.design.cv if row["items_per_unit"] > 1 else 0.0
            of_units = {"cluster_size": row["items_per_unit"], "icc": case.design.icc, "cluster_cv": cv}
            own = plan_with(**(guess | COSTS | EVERYTHING | LEVEL | of_units | {"sizes": [], "margin": None}))
            cost = own.designs.loc[own.designs["which"].str.startswith("as planned"), "cost"]
            expected = own.answers.iloc[0][[*same, "n_items"]].tolist() + cost.tolist()
            assert own.cases[0].design == case.design.of_size(row["items_per_unit"])
            assert [row[name] for name in [*same, "n_items", "cost"]] == pytest.approx(expected, nan_ok=True)
    if "many" in form:
        drawn = predict(pilot(form), [int(size["n_units"])], level=Level(*LEVELS), n_draws=100, seed=3)
        assert_same({"predicted": drawn}, {"predicted": parts["predicted"]})


def test_each_of_two_relations_is_planned_as_if_it_were_alone() -> None:
    usual, asked = {"metric": "accuracy", "score": 60.0}, {"gain": 8.0, "margin": 14.0, "sizes": [90, 300]}
    both, *alone = (printed(planned(usual | one, **asked)) for one in ({}, *({"relation": r} for r in RELATIONS)))
    for name in ("answers", "margins", "sizes", "shown", "designs", "curve"):
        assert_same(both, {name: pd.concat([one[name] for one in alone], ignore_index=True)})


def test_other_sizes_show_as_much_of_a_system_that_is_worse() -> None:
    plan = planned(SCORES, gain=-3.0, margin=9.0, n_items=200, sizes=[200])
    assert plan.answers["power"].tolist() == plan.sizes.filter(like="shown").iloc[0].tolist()


def spread(size: float, icc: float, cv: float) -> Options:
    """Scores of a unit in the place of its items'."""
    return SCORES | {"sd_difference": 40.0 * Design(size, icc, cv).unit_sd, "cost_item": 8.0, "cost_cluster": 0}


def in_units(icc: float, cv: float) -> Options:
    return SCORES | {"cluster_size": 6.0, "icc": icc, "cluster_cv": cv, "sizes": [540]}


GAINS = r"\.(gain|margin|minimum_detectable_gain)"

#: True gains beside those that a judge's verdicts show, of which the margin on verdicts is one.
JUDGED = {GAINS: 1 / 0.8, "exaggeration": 0.8, "margin_seen": 0.8}

#: Two plans each, which differ in some columns, or by a factor.
WAYS: dict[str, tuple[Options, Options, str, dict[str, float]]] = {
    "judges err together": (
        ANSWERS | {"judge_error": 0.2, "judgements": 3, "judge_agreement": 1.0}, ANSWERS | {"judge_error": 0.2},
        "said", {},
    ),
    "no judge errs": (ANSWERS | {"judge_error": 0.0}, ANSWERS, "said", {}),
    "a majority is one better judge": (
        ANSWERS | {"judge_error": 0.2, "judgements": 3}, ANSWERS | {"judge_error": 0.104}, "said", {},
    ),
    "two systems that correlate": ({"metric": "mean", "sd": 50.0, "r12": 0.68}, SCORES, "said", {}),
    "another currency": (
        GUESSES["units"] | {"budget": 1000.0, "cost_item": 2.0, "cost_cluster": 4.0}, GUESSES["units"],
        # A sentence names the cost, of which the tables tell that it is twice as much.
        "said", {"cost": 2.0},
    ),
    "verdicts are answers of other systems": (
        ANSWERS | {"agreement": 0.6, "judge_error": 0.1},
        ANSWERS | {"agreement": 1 - 0.4 * 0.82 - 0.6 * 0.18, "gain": 6.4, "margin": 11.2},
        "said", JUDGED,
    ),
    "units of verdicts are units of answers": (
        GUESSES["units of judged answers"] | {"agreement": 0.6, "sizes": [400]},
        ANSWERS | UNITS | {"agreement": 1 - 0.4 * 0.82 - 0.6 * 0.18, "gain": 6.4, "margin": 11.2, "sizes": [400]},
        "said|designs", JUDGED,
    ),
    "judged pairs": (
        GUESSES["judged pairs"], {"metric": "win_rate", "agreement": 0.1, "gain": 6.4, "margin": 11.2},
        "said", JUDGED,
    ),
    "win rates differ as right answers do": (
        {"metric": "win_rate", "agreement": 0.2}, ANSWERS | {"score": 42.0, "agreement": 0.2}, "said|metric", {},
    ),
    "a mean of judges": (
        GUESSES["judged scores"], SCORES | {"sd_difference": np.sqrt(1600 + 2 * 400 * 1.3 / 2)}, "said", {},
    ),
    "units": (in_units(0.2, 0.8), spread(6, 0.2, 0.8), "said|items|designs|unit$", {}),
    "units of items alike": (in_units(1.0, 0.0), spread(1, 0.3, 0.0), "said|items|designs|unit$", {}),
    "units of independent items": (in_units(0.0, 0.0), spread(6, 0.0, 0.0), "said|items|designs|unit$", {}),
    "another scale": (
        GUESSES["judged scores"] | {"sd_difference": (0.3, 0.5), "judge_sd": 0.2, "gain": 0.08, "margin": 0.14},
        GUESSES["judged scores"] | {"sd_difference": (30.0, 50.0)}, "said", {GAINS: 0.01},
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_two_ways_of_asking(way: str) -> None:
    one, other, left_out, times = WAYS[way]
    found, expected = (printed(plan_with(**with_costs(EVERYTHING | BONFERRONI | asked))) for asked in (one, other))
    assert_same(found, expected, left_out, times=times)


def of_ends(form: str) -> list[Options]:
    """Guesses of the middle and the ends of a range."""
    if form == "of answers":
        right = pilot(form).statistics[..., 0]
        differ = int((right[0] != right[1]).sum())
        interval = stats.binomtest(differ, 150).proportion_ci()
        return [ANSWERS | {"agreement": 1 - share} for share in (differ / 150, interval.low, interval.high)]
    ends: dict[str, list[Options]] = {
        "a range of answers": [{"agreement": share} for share in (0.8, 0.75, 0.85)],
        "correlated answers": [{"r12": r12} for r12 in (0.4, 0.3, 0.5)],
        "a range of scores": [{"sd_difference": sd} for sd in (40.0, 30.0, 50.0)],
        "a range of units": [{"r12": r12, "cluster_cv": cv} for r12, cv in ((0.5, 0.75), (0.6, 0.3), (0.4, 1.2))],
    }
    return [GUESSES[form] | end for end in ends[form]]


@pytest.mark.parametrize(
    "form", ["of answers", "a range of answers", "correlated answers", "a range of scores", "a range of units"]
)
def test_ends_of_ranges_are_plans_of_their_own(form: str) -> None:
    asked = EVERYTHING | BONFERRONI | {"n_sets": 0}
    found = printed(planned(form, **asked))
    middle, *ends = (printed(planned(guess, **asked)) for guess in of_ends(form))
    for table, name in product(("answers", "margins", "sizes", "curve"), ("n_units", "n_items", *NUMBERS[::3])):
        if f"{name}_low" in found[table] and not found[table].get(name, pd.Series(np.nan)).isna().any():
            three = np.array([one[table][name] for one in (middle, *ends)], dtype=float)
            # Sizes of ends are not looked at for dips of the power above them.
            rel = 0.03 if "n_" in name else 1e-6
            assert found[table][name].to_numpy() == pytest.approx(three[0])
            assert found[table][f"{name}_low"].to_numpy() == pytest.approx(np.nanmin(three, axis=0), rel=rel)
            highest = np.where(np.isnan(three).any(axis=0), np.nan, three.max(axis=0))
            assert found[table][f"{name}_high"].to_numpy() == pytest.approx(highest, rel=rel, nan_ok=True)


@pytest.mark.parametrize("form", PILOTS[1:])
def test_neither_the_order_of_two_systems_nor_clusters_of_one_item_matter(form: str) -> None:
    outputs, asked = pilot(form), EVERYTHING | LEVEL | {"n_draws": 0, "n_sets": 0, "margin": None}
    plain = printed(planned(outputs, **asked))
    assert_same(printed(planned(outputs.select(outputs.names[::-1]), **asked)), plain)
    clusters, items = "documents" in form, outputs.items
    items = items.drop(columns="cluster") if clusters else items.assign(cluster=range(outputs.n_items))
    other = ss.Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.names, items=items)
    single = printed(planned(other, **asked))
    if clusters:
        assert_same(printed(planned(outputs, **asked, unit="item")), single)
    else:
        assert_same(single, plain, "unit$|said|designs")


#: A range that begins at 0, and the same range elsewhere, upside down and in other units; what one point is there.
RANGES: dict[str, tuple[Mean, float]] = {
    "higher": (Mean("own", low=31.0, high=51.0), 1.0),
    "around 0": (Mean("own", low=-10.0, high=10.0), 1.0),
    "below 0": (Mean("own", low=-20.0, high=0.0), 1.0),
    "of errors": (Mean("own", low=1.0, high=21.0, higher_is_better=False), 1.0),
    "of percentages": (Mean("own", low=0.2, high=0.4, scale=100.0), 1.0),
    "of hundredths": (Mean("own", low=-0.05, high=0.15), 0.01),
}
PLAIN = Mean("own", low=0.0, high=20.0)

ASKED: dict[str, dict[str, Any]] = {
    "a gain and a margin": {"sd_difference": 8.0, "gain": 9.0, "margin": 12.0, "sizes": [5, 14]},
    "which gain": {"sd_difference": 8.0, "n_items": 7, "sizes": [4, 30]},
}


def asked_of(metric: Mean, point: float, **options: Any) -> dict[str, Any]:
    """The question in this metric's unit."""
    in_points = {"gain", "margin", "sd_difference"}
    return {"metric": metric} | {k: v * point if k in in_points else v for k, v in options.items()}


@cache
def of_guess(metric: Mean, point: float, question: str) -> Printed:
    return printed(plan_with(**asked_of(metric, point, **ASKED[question])))


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("name", RANGES)
def test_where_a_range_of_scores_begins_its_direction_and_its_unit_do_not_matter(name: str, question: str) -> None:
    metric, point = RANGES[name]
    assert scale_of(metric) == pytest.approx(20 * point)
    assert_same(of_guess(metric, point, question), of_guess(PLAIN, 1, question), "said", times={GAINS: point})


@pytest.mark.parametrize("name", RANGES)
def test_the_largest_gain_that_can_be_asked_for_is_the_range(name: str) -> None:
    metric, point = RANGES[name]
    plan_with(**asked_of(metric, point, sd_difference=2.0, gain=19.9))
    with pytest.raises(ValueError, match=rf"gain must be above 0 and at most {20 * point:g}"):
        plan_with(**asked_of(metric, point, sd_difference=2.0, gain=20.1))


@cache
def of_range(metric: Mean, point: float, clusters: bool) -> Printed:
    rng = np.random.default_rng(8)
    scores = np.round(rng.uniform(0, 20, (30, 2)), 1) * [0.9, 1]
    items: dict[str, Any] = {"id": range(30)} | ({"cluster": np.arange(30) // 3} if clusters else {})
    low, high = metric.item_range or (0, 0)
    given = low + scores * point / metric.scale if metric.higher_is_better else high - scores * point
    outputs = ss.Outputs.from_scores(pd.DataFrame(given, columns=["a", "b"]), metric, items=pd.DataFrame(items))
    return printed(plan_with(outputs, n_items=18, n_sets=0, n_draws=0))


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("name", RANGES)
def test_a_pilot_of_an_own_metric_is_one_of_its_range(name: str, clusters: bool) -> None:
    """Six units at least, whose gains come near the end of the range."""
    metric, point = RANGES[name]
    assert_same(of_range(metric, point, clusters), of_range(PLAIN, 1, clusters), "said", times={GAINS: point})
