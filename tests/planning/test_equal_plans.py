"""Plans that ask for the same in two ways have the same numbers, in all that they print."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.pages.sections import Table
from simstudy.planning import leaderboards, predict, right_or_wrong
from simstudy.planning.arguments import RELATIONS, Design
from simstudy.planning.benchmarks import next_edition
from simstudy.planning.correlated_answers import AlikeAnswers, CorrelatedAnswers
from simstudy.planning.differences import ClusteredDifference, Difference, MixedDifference, NormalDifference
from simstudy.planning.results import design_rows, predicted_rows, size_rows
from simstudy.planning.right_or_wrong import JudgedDifference, RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.solving import detectable_gain, size_for
from tests.planning.options import plan_with

Options = dict[str, Any]
Printed = dict[str, pd.DataFrame]

ANSWERS: Options = {"metric": "accuracy", "score": 60.0, "agreement": 0.8}
SCORES: Options = {"metric": "mean", "sd_difference": 40.0}
UNITS: Options = {"cluster_size": 6.0, "icc": 0.2, "cluster_cv": 0.8}

GUESSES: dict[str, Options] = {
    "answers": ANSWERS,
    "a range of answers": ANSWERS | {"agreement": (0.75, 0.85)},
    "correlated answers": {"metric": "accuracy", "score": 60.0, "r12": (0.3, 0.5)},
    "usual answers": {"metric": "accuracy", "score": 60.0, "relation": "variants"},
    "judged answers": ANSWERS | {"judge_error": 0.1, "judgements": 3, "judge_agreement": 0.2},
    "judged pairs": {"metric": "win_rate", "agreement": 0.1, "judge_error": 0.1},
    "a range of scores": SCORES | {"sd_difference": (30.0, 50.0)},
    "usual scores": {"metric": "f1", "relation": "unlike systems"},
    "judged scores": SCORES | {"judge_sd": 20.0, "judgements": 2, "judge_agreement": 0.3},
    "units": SCORES | UNITS,
    "a range of units": {"metric": "mean", "sd": 40.0, "r12": (0.4, 0.6)} | UNITS | {"cluster_cv": (0.3, 1.2)},
    "units of judged answers": ANSWERS | UNITS | {"judge_error": 0.1},
}
PILOTS = ("of answers", "of documents", "of precision", "of many answers", "of many documents")
FORMS = (*GUESSES, *PILOTS)

#: A plan with every table, one that asks which gain is found, and a level with all options.
EVERYTHING: Options = {"gain": 8.0, "margin": 14.0, "sizes": [90], "budget": 500.0}
WHICH_GAIN: Options = {"n_items": 600, "sizes": [300]}
#: An item that is a cluster of its own costs as much either way.
COSTS: Options = {"cost_item": 1.0, "cost_cluster": 2.0}
ITEM_COSTS: Options = {"cost_item": 3.0}
BONFERRONI: Options = {"alpha": 0.1, "comparisons": 5}
LEVEL: Options = BONFERRONI | {"alternative": "greater"}
LEVELS = 0.1, "greater", 5
NUMBERS = [
    f"{name}{end}"
    for name in ("detectable_gain", "power", "wrong_winner", "wrong_sign", "exaggeration")
    for end in ("", "_low", "_high")
]
AS_ASKED = "which.str.startswith('as asked')"


@cache
def pilot(name: str) -> ss.Outputs:
    rng, k = np.random.default_rng(4), 4 if "many" in name else 2
    if name.endswith("precision"):
        accepted = rng.random((2, 300)) < np.array([[0.3], [0.5]])
        right = accepted & (rng.random((2, 300)) < np.array([[0.9], [0.6]]))
        statistics = np.stack([right, accepted, np.ones_like(right)], axis=-1).astype(int)
        return ss.Outputs.from_statistics(statistics, "precision", ["new", "old"])
    if name.endswith("answers"):
        return ss.truth.correlated_accuracies([0.62, 0.6, 0.7, 0.72][:k], 150, families=list("aabb")[:k])
    codes = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    scores = 30 * rng.normal(size=(len(codes), k)) + 15 * rng.normal(size=(40, k))[codes] + np.arange(0, 3 * k, 3)
    items = pd.DataFrame({"id": range(len(codes)), "cluster": codes})
    return ss.Outputs.from_scores(pd.DataFrame(scores, columns=list("abcd")[:k]), items=items)


def with_costs(asked: Options) -> Options:
    return (COSTS if "cluster_size" in asked else ITEM_COSTS) | asked


def planned(form: str | ss.Outputs | Options, **asked: Any) -> ss.Plan:
    if isinstance(form, dict) or form in GUESSES:
        # Without a pilot nothing is drawn.
        asked = {name: value for name, value in asked.items() if name not in ("n_sets", "n_draws")}
        return plan_with(**with_costs((form if isinstance(form, dict) else GUESSES[form]) | asked))
    outputs = pilot(form) if isinstance(form, str) else form
    costs = ITEM_COSTS if "item" in (outputs.natural_unit, asked.get("unit")) else COSTS
    return plan_with(outputs, **(costs | {"n_sets": 200, "n_draws": 100, "seed": 3} | asked))


@cache
def printed_once(form: str, which: str = "everything", **level: Any) -> Printed:
    asked = WHICH_GAIN if which == "which gain" else EVERYTHING
    # Against a margin many pairs of answers take a second.
    return printed(planned(form, **(asked | ({"margin": None} if form == "of many answers" else {}) | level)))


def printed(plan: ss.Plan) -> Printed:
    """All tables, those against a margin apart, and the sentences but for the words of the level."""
    better = plan.answers["goal"] == "better"
    tables = {"answers": plan.answers[better], "margins": plan.answers[~better]}
    shown = [column for column in plan.sizes if column.startswith("shown")]
    tables |= {"sizes": plan.sizes.drop(columns=shown), "shown": plan.sizes[shown]}
    tables |= {"designs": plan.designs, "predicted": plan.predicted}
    if plan.target.gain is not None:
        tables["curve"] = plan.power_curve(4)
    if plan.simulated is not None:
        tables["simulated"] = pd.DataFrame([asdict(plan.simulated)])
    said = pd.Series([re.sub(r"\((one|two)-sided, p <= [^)]*\)", "", text) for text in plan.sentences])
    of_margins = said.str.contains("show")
    tables |= {"said": said[~of_margins].to_frame("text"), "margins said": said[of_margins].to_frame("text")}
    return {name: table.reset_index(drop=True) for name, table in tables.items()}


def assert_same(
    found: Printed, expected: Printed, left_out: str = "^$", only: str = "", times: dict[str, float] | None = None
) -> None:
    """But for columns, as table.column, that are left out; some are expected to be so many times as large."""
    for name, table in expected.items():
        for column in table:
            full, values = f"{name}.{column}", table[column]
            if re.search(only, full) and not re.search(left_out, full):
                for pattern, factor in (times or {}).items():
                    values = values * factor if re.search(pattern, full) else values
                pd.testing.assert_series_equal(
                    found[name][column], values, rtol=5e-6, check_dtype=False, check_names=False, obj=full
                )


@pytest.mark.parametrize(
    ("form", "which"), [(form, "everything") for form in FORMS] + [(form, "which gain") for form in PILOTS]
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


@pytest.mark.parametrize("form", FORMS)
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
    same = ["n_units", "at_units", "detectable_gain"]
    for row in parts["designs"].to_dict("records"):
        if "as asked" in row["which"]:
            assert [row[name] for name in same] == pytest.approx([answer[name] for name in same], nan_ok=True)
        elif case.design is not None:
            guess = GUESSES.get(form, {"metric": "mean", "sd_difference": case.item_sd})
            cv = case.design.cv if row["items_per_unit"] > 1 else 0.0
            of_units = {"cluster_size": row["items_per_unit"], "icc": case.design.icc, "cluster_cv": cv}
            own = plan_with(**(guess | COSTS | EVERYTHING | LEVEL | of_units | {"sizes": [], "margin": None}))
            expected = own.answers.iloc[0][[*same, "n_items"]].tolist() + own.designs.query(AS_ASKED)["cost"].tolist()
            assert own.cases[0].design == case.design.of_size(row["items_per_unit"])
            assert [row[name] for name in [*same, "n_items", "cost"]] == pytest.approx(expected, nan_ok=True)
    if "many" in form:
        drawn = predict(pilot(form), [int(size["n_units"])], level=Level(*LEVELS), n_draws=100, seed=3)
        assert_same({"predicted": drawn}, {"predicted": parts["predicted"]})


def test_each_of_two_relations_is_planned_as_if_it_were_alone() -> None:
    usual, asked = {"metric": "accuracy", "score": 60.0}, {"gain": 8.0, "margin": 14.0, "sizes": [90, 300]}
    both = printed(planned(usual, **asked))
    alone = [printed(planned(usual | {"relation": relation}, **asked)) for relation in RELATIONS]
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


GAINS = r"\.(gain|margin|detectable_gain)"

#: True gains beside those that a judge's verdicts show, of which the margin on verdicts is one.
JUDGED = {GAINS: 1 / 0.8, "exaggeration": 0.8, "margin_seen": 0.8}

#: Two plans each, which differ in some columns, or by a factor.
WAYS: dict[str, tuple[Options, Options, str, dict[str, float]]] = {
    "no judge errs": (ANSWERS | {"judge_error": 0.0}, ANSWERS, "said", {}),
    "judges err together": (
        ANSWERS | {"judge_error": 0.2, "judgements": 3, "judge_agreement": 1.0}, ANSWERS | {"judge_error": 0.2},
        "said", {},
    ),
    "a majority is one better judge": (
        ANSWERS | {"judge_error": 0.2, "judgements": 3}, ANSWERS | {"judge_error": 0.104}, "said", {},
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
    "half of a difference is won": (
        {"metric": "win_rate", "agreement": 0.2},
        ANSWERS | {"score": 42.0, "agreement": 0.2, "gain": 16.0, "margin": 28.0},
        "said|metric", {GAINS: 0.5},
    ),
    "a mean of judges": (
        GUESSES["judged scores"], SCORES | {"sd_difference": np.sqrt(1600 + 2 * 400 * 1.3 / 2)}, "said", {},
    ),
    "two systems that correlate": ({"metric": "mean", "sd": 50.0, "r12": 0.68}, SCORES, "said", {}),
    "units": (in_units(0.2, 0.8), spread(6, 0.2, 0.8), "said|items|designs|unit$", {}),
    "units of items alike": (in_units(1.0, 0.0), spread(1, 0.3, 0.0), "said|items|designs|unit$", {}),
    "units of independent items": (in_units(0.0, 0.0), spread(6, 0.0, 0.0), "said|items|designs|unit$", {}),
    "another scale": (
        GUESSES["judged scores"] | {"sd_difference": (0.3, 0.5), "judge_sd": 0.2, "gain": 0.08, "margin": 0.14},
        GUESSES["judged scores"] | {"sd_difference": (30.0, 50.0)}, "said", {GAINS: 0.01},
    ),
    "another currency": (
        GUESSES["units"] | {"budget": 1000.0, "cost_item": 2.0, "cost_cluster": 4.0}, GUESSES["units"],
        "^$", {"cost": 2.0},
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


@pytest.mark.parametrize("form", PILOTS)
def test_neither_the_order_of_two_systems_nor_clusters_of_one_item_matter(form: str) -> None:
    outputs, asked = pilot(form), EVERYTHING | LEVEL | {"n_draws": 0, "n_sets": 0, "margin": None}
    plain = printed(planned(outputs, **asked))
    assert_same(printed(planned(outputs.select(outputs.names[::-1]), **asked)), plain)
    if "documents" not in form:
        items = outputs.items.assign(cluster=range(outputs.n_items))
        single = ss.Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.names, items=items)
        assert_same(printed(planned(single, **asked)), plain, "unit$|said|designs")
    else:
        items = outputs.items.drop(columns="cluster")
        single = ss.Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.names, items=items)
        by_item = printed(planned(outputs, **asked, unit="item"))
        assert_same(by_item, printed(planned(single, **asked)))


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


def test_thresholds_of_one_side_are_of_twice_the_p_values(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = ss.truth.correlated_accuracies((0.6 + np.arange(50) / 400).tolist(), 200)
    found = predict(outputs, [300], level=Level(0.01, "greater", 3), n_draws=100)
    monkeypatch.setattr(leaderboards, "_WINDOW", (0.08, 0.12))
    expected = predict(outputs, [300], level=Level(0.3), n_draws=100)
    assert found["threshold"].item() == expected["threshold"].item() > 0


def assert_shown(table: Table, rows: pd.DataFrame, columns: dict[str, tuple[str, str]]) -> None:
    """Each printed column begins with a number of the table."""
    cells = table.text()
    for heading, (name, form) in columns.items():
        assert [cell.split(" (")[0] for cell in cells[heading]] == [format(value, form) for value in rows[name]], (
            heading
        )


@pytest.mark.parametrize("form", ["of many answers", "of many documents", "units"])
def test_sentences_and_pages_print_the_numbers_of_the_tables(form: str) -> None:
    plan = planned(form, gain=7.0, n_items=120, sizes=[100, 200], n_sets=0, **BONFERRONI)
    # Neighbours are a number of their own.
    plan = replace(plan, predicted=plan.predicted.assign(separated=9.0))
    row, text = plan.answers.iloc[0], "\n".join(plan.sentences)
    numbers = {
        "power": (r"with probability ([\d.]+)", ".2f"),
        "wrong_winner": (r"better score in (.*?) % of such", None),
        "exaggeration": (r"on average ([\d.]+) times", ".2f"),
        "n_items": (r"with power 0.8[^:]*: (?:[\d,]+ clusters.*?\()?([\d,]+) items", ",.0f"),
    }
    for name, (pattern, form_) in numbers.items():
        told = re.findall(pattern, text)[0]
        assert told == (format(row[name], form_) if form_ else f"{100 * row[name]:.2g}"), name
    if "many" in form:
        ends = [f"{factor**2 * row['n_items']:,.0f}" for factor in next_edition()[::2]]
        assert f"it takes {ends[0]} to {ends[1]} items" in text
        single = [end.allowing(7.0) for end in plan.cases[0].single or ()]
        sizes = sorted(size_for(end, 7.0, level=plan.target.level) * plan.cases[0].size for end in single)
        power = sorted(end.power(7.0, row["at_units"], plan.target.level) for end in single)
        assert f"80 % of them it takes {np.ceil(sizes[0]):,.0f} to {np.ceil(sizes[1]):,.0f} items" in text
        assert f"found with probability {power[0]:.2f} to {power[1]:.2f}" in text
    assert_shown(
        size_rows(plan), plan.sizes,
        {
            "power for 7": ("power", ".2f"), "wrong winner": ("wrong_winner", ".1%"),
            "wrong sign, if significant": ("wrong_sign", ".2%"), "exaggeration": ("exaggeration", ".2f"),
        },
    )  # fmt: skip
    if "many" in form:
        assert_shown(
            predicted_rows(plan), plan.predicted,
            {
                "significant pairs": ("share_significant", ".0%"), "wrong winners": ("wrong_winner", ".1%"),
                "of 3 neighbours told apart": ("separated", ".0f"), "after Holm": ("separated_corrected", ".0f"),
                "ranks": ("ranks", ".0f"),
            },
        )  # fmt: skip
    if len(plan.designs):
        assert_shown(
            design_rows(plan), plan.designs,
            {
                "design effect": ("design_effect", ".2f"), "clusters for the gain": ("n_units", ",.0f"),
                "items": ("n_items", ",.0f"), "cost": ("cost", ",.4g"), "or with clusters": ("at_units", ",d"),
            },
        )  # fmt: skip


HALF = RightOrWrongDifference(0.3)
#: Differences, and others that are the same.
DIFFERENCES: dict[str, tuple[Difference, Difference]] = {
    "scores": (NormalDifference(40.0), ClusteredDifference(NormalDifference(40.0), Design(1.0, 0.3))),
    "ratios": (NormalDifference(40.0, 100.0, 0.5, 3.0), NormalDifference(20.0, 100.0, 0.5, 1.5).times(2.0)),
    "answers": (HALF, MixedDifference((HALF, HALF))),
    "correlated": (CorrelatedAnswers(60.0, 0.4), MixedDifference((CorrelatedAnswers(60.0, 0.4),))),
    "alike": (AlikeAnswers(60.0, 0.4), JudgedDifference(AlikeAnswers(60.0, 0.4), 0.0, "answers")),
    "judged": (JudgedDifference(HALF, 0.2, "pairs"), JudgedDifference(HALF, 0.2, "pairs").allowing(1.0)),
}


@pytest.mark.parametrize("n", [5, 6, 12, 60, 30_000])
@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_that_are_the_same_find_the_same(name: str, n: int) -> None:
    one, other = DIFFERENCES[name]
    assert one.largest == other.largest
    for gain in (1e-4, 1.0, 9.0):
        found, twice = one.detection(gain, n, Level(*LEVELS)), one.detection(gain, n, Level(0.2, comparisons=5))
        assert asdict(other.detection(gain, n, Level(*LEVELS))) == pytest.approx(asdict(found), nan_ok=True)
        for level in (Level(*LEVELS), Level(0.2, comparisons=5)):
            assert one.power(gain, n, level) == pytest.approx(one.detection(gain, n, level).power)
            assert one.power(gain, n, level) == pytest.approx(other.power(gain, n, level))
        assert (found.power, found.wrong, found.wrong_winner) == pytest.approx((twice.power, 0, twice.wrong_winner))
        # The exaggeration is the same where both systems win as often, and where the worse one never does.
        if gain < 1 or twice.wrong_sign < 1e-6:
            assert found.exaggeration == pytest.approx(twice.exaggeration, rel=1e-3, nan_ok=True)
        assert one.sd_of(gain) == pytest.approx(other.sd_of(gain))
        for both in (False, True):
            within = [each.within(-gain, 9.5, n, 0.03, both=both) for each in (one, other)]
            assert within[0] == pytest.approx(within[1])


@pytest.mark.parametrize("name", [name for name in DIFFERENCES if name != "scores"])
def test_a_gain_is_found_where_the_largest_one_has_the_power(name: str) -> None:
    one = DIFFERENCES[name][0]
    for n, power in product((8, 11, 14, 17, 20, 23, 26, 30), (0.5, 0.8, 0.95)):
        gain = detectable_gain(one, n, power=power)
        if one.power(one.largest, n, Level()) < power:
            assert np.isnan(gain)
        else:
            assert one.power(gain, n, Level()) == pytest.approx(power, abs=1e-3)


@pytest.mark.parametrize("level", [Level(), Level(*LEVELS), Level(0.05, comparisons=20)])
@pytest.mark.parametrize(("disagreement", "scale"), [(0.3, 100.0), (0.9, 50.0), (0.02, 100.0)])
def test_many_answers_are_as_normal_as_exact_sums(
    disagreement: float, scale: float, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On both sides of the number from which on outcomes are not summed, for small and large gains."""
    difference, n = RightOrWrongDifference(disagreement, scale), int(4900 / disagreement)
    gains = scale * np.sqrt(disagreement / n) * np.array([0.1, 1.0, 2.8])
    exact = [(difference.detection(gain, n, level), difference.power(gain, n, level)) for gain in gains]
    monkeypatch.setattr(right_or_wrong, "_EXACT", 0)
    for gain, (found, power) in zip(gains, exact, strict=True):
        normal = difference.detection(gain, n, level)
        assert normal.power == pytest.approx(found.power, abs=0.012)
        assert (normal.wrong, normal.wrong_winner) == pytest.approx((found.wrong, found.wrong_winner), abs=0.007)
        assert normal.exaggeration == pytest.approx(found.exaggeration, rel=0.01)
        assert (difference.power(gain, n, level), power) == pytest.approx((normal.power, found.power))


def test_what_a_plan_by_item_predicts_is_of_items_although_there_are_documents() -> None:
    """The same answers without a word of documents: their natural unit is the item."""
    rng = np.random.default_rng(5)
    n_documents, size = 40, 6
    hard = np.repeat(rng.normal(size=(4, n_documents)), size, axis=1)
    right = (hard + rng.normal(size=hard.shape) < np.array([[0.2], [0.4], [0.6], [0.9]])).astype(int)
    statistics = np.stack([right, np.ones_like(right)], axis=-1)
    documents = pd.DataFrame({
        "id": [str(i) for i in range(n_documents * size)],
        "cluster": np.repeat([f"document-{j}" for j in range(n_documents)], size),
    })  # fmt: skip
    plans = [
        ss.plan(
            ss.Pilot(ss.Outputs.from_statistics(statistics, "accuracy", items=items), unit=unit, n_sets=0, n_draws=100),
            sizes=[240],
        )
        for items, unit in ((documents, "item"), (None, None))
    ]
    by_item, without = (found.predicted for found in plans)
    assert by_item["n_items"].tolist() == by_item["n_units"].tolist() == [240]
    pd.testing.assert_frame_equal(by_item, without)
