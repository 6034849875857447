"""Every form of plan: guesses and pilots, what they are asked, and all that a plan of one prints."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
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
    "usual answers": {"metric": "accuracy", "score": 60.0, "relation": "same family"},
    "judged answers": ANSWERS | {"judge_error": 0.1, "judgements": 3, "judge_agreement": 0.2},
    "judged pairs": {"metric": "win_rate", "agreement": 0.1, "judge_error": 0.1},
    "a range of scores": SCORES | {"sd_difference": (30.0, 50.0)},
    "usual scores": {"metric": "f1", "relation": "different families"},
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
#: Without what is drawn; a level of which all parts are told, and the least that is.
FAST = {"n_sets": 0, "n_draws": 0, "sizes": [90]}
ONE_SIDED = BONFERRONI | {"alternative": "greater"}


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
    # A plan that shares its level says nothing of comparisons that would.
    said = said[~said.str.contains("--comparisons", regex=False)]
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


def numbers(text: str) -> list[float]:
    """The numbers of a text, in their order."""
    return [float(number.replace(",", "")) for number in re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?", text)]


@cache
def told(form: str) -> ss.Plan:
    return planned(form, gain=8.0, n_items=300, **FAST, **ONE_SIDED)


def many(form: str) -> bool:
    return "many" in form
