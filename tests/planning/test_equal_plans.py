"""Plans that ask for the same in two ways have the same numbers, in all that they print."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.planning import leaderboards, predict, right_or_wrong
from simstudy.planning.designs import Design
from simstudy.planning.forms import Difference, Level, NormalDifference
from simstudy.planning.guesses import AlikeAnswers, CorrelatedAnswers
from simstudy.planning.judges import JudgedDifference
from simstudy.planning.mixed import ClusteredDifference, MixedDifference
from simstudy.planning.right_or_wrong import RightOrWrongDifference

Asked = dict[str, Any]
Printed = dict[str, pd.DataFrame]

ANSWERS: Asked = {"metric": "accuracy", "score": 60.0, "agreement": 0.8}
SCORES: Asked = {"metric": "mean", "sd_difference": 40.0}
UNITS: Asked = {"cluster_size": 6.0, "icc": 0.2, "cluster_cv": 0.8}

GUESSES: dict[str, Asked] = {
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
    "a range of units": {"metric": "mean", "sd": 40.0, "r12": 0.5} | UNITS | {"cluster_cv": (0.3, 1.2)},
    "units of judged answers": ANSWERS | UNITS | {"judge_error": 0.1},
}
PILOTS = ("of answers", "of documents", "of precision", "of many answers", "of many documents")
FORMS = (*GUESSES, *PILOTS)

#: A plan with every table, one that asks which gain is found, and a level with all options.
EVERYTHING: Asked = {"gain": 8.0, "margin": 14.0, "sizes": [90], "budget": 500.0}
WHICH_GAIN: Asked = {"n_items": 600, "sizes": [300]}
COSTS: Asked = {"cost_item": 1.0, "cost_cluster": 2.0}
BONFERRONI: Asked = {"alpha": 0.1, "comparisons": 5}
LEVEL: Asked = BONFERRONI | {"alternative": "greater"}
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
        return ss.correlated_accuracies([0.62, 0.6, 0.7, 0.72][:k], 150, families=list("aabb")[:k])
    codes = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    scores = 30 * rng.normal(size=(len(codes), k)) + 15 * rng.normal(size=(40, k))[codes] + np.arange(0, 3 * k, 3)
    items = pd.DataFrame({"id": range(len(codes)), "cluster": codes})
    return ss.Outputs.from_scores(pd.DataFrame(scores, columns=list("abcd")[:k]), items=items)


def planned(form: str | ss.Outputs | Asked, **asked: Any) -> ss.Plan:
    if isinstance(form, dict) or form in GUESSES:
        return ss.plan(**(COSTS | (form if isinstance(form, dict) else GUESSES[form]) | asked))
    outputs = pilot(form) if isinstance(form, str) else form
    return ss.plan(outputs, **(COSTS | {"n_sets": 200, "n_draws": 100, "seed": 3} | asked))


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
    if plan.asked.gain is not None:
        tables["curve"] = plan.power_curve(4)
    if plan.simulated is not None:
        tables["simulated"] = pd.DataFrame([asdict(plan.simulated)])
    said = [re.sub(r"\((one|two)-sided, p <= [^)]*\)|one-sided tests? at [^)]*", "", text) for text in plan.sentences]
    tables["said"] = pd.DataFrame({"text": said})
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
    plain, comparisons = (printed_once(form, which, **level) for level in ({"alpha": 0.02}, BONFERRONI))
    assert_same(comparisons, plain, "predicted")
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
def test_each_part_of_a_sheet_is_what_a_plan_of_its_own_says(form: str) -> None:
    """Answers and other sizes by a plan for so many items, designs by guesses, the curve's end, and predictions."""
    parts, asked = printed_once(form, **LEVEL), EVERYTHING | LEVEL | {"sizes": [], "n_sets": 0, "n_draws": 0}
    case = planned(form, **asked).cases[0]
    answer, size = parts["answers"].iloc[0].to_dict(), parts["sizes"].iloc[0].to_dict()
    margins, shown = parts["margins"], parts["shown"].iloc[0].tolist()
    told = {
        size["n_units"]: size | dict(zip(("not worse", "equivalent"), shown, strict=False)),
        answer["at_units"]: answer | ({} if margins.empty else dict(zip(margins["goal"], margins["power"], strict=True))),
    }
    for n_units, row in told.items():
        n_items = int(np.ceil(n_units * case.size - 1e-9))
        own = planned(form, **asked | {"budget": None, "n_items": n_items, "margin": asked["margin"]}).answers
        assert own["at_units"].eq(n_units).all()
        for goal, power in zip(own["goal"], own["power"], strict=True):
            assert row.get(goal, power) == pytest.approx(power)
        for name in NUMBERS:
            assert row[name] == pytest.approx(own[name].iloc[0], rel=2e-6, nan_ok=True), name
    for name in ("power", "power_low", "power_high"):
        assert parts["curve"][name].iloc[-1] == size[name]
    same = ["n_units", "at_units", "detectable_gain"]
    for row in parts["designs"].to_dict("records"):
        if "as asked" in row["which"]:
            assert [row[name] for name in same] == pytest.approx([answer[name] for name in same], nan_ok=True)
        elif case.design is not None:
            guess = GUESSES.get(form, {"metric": "mean", "sd_difference": case.item_sd})
            cv = case.design.cv if row["items_per_unit"] > 1 else 0.0
            of_units = {"cluster_size": row["items_per_unit"], "icc": case.design.icc, "cluster_cv": cv}
            own = ss.plan(**(guess | COSTS | EVERYTHING | LEVEL | of_units | {"sizes": [], "margin": None}))
            expected = own.answers.iloc[0][[*same, "n_items"]].tolist() + own.designs.query(AS_ASKED)["cost"].tolist()
            assert own.cases[0].design == case.design.of_size(row["items_per_unit"])
            assert [row[name] for name in [*same, "n_items", "cost"]] == pytest.approx(expected, nan_ok=True)
    if "many" in form:
        drawn = predict(pilot(form), [int(size["n_units"])], level=Level(*LEVELS), n_draws=100, seed=3)
        assert_same({"predicted": drawn}, {"predicted": parts["predicted"]})
