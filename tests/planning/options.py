"""Every option of a plan: what it is set to beside a base, and a number that it leads to, found another way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss
from simstudy.planning import Plan

SHIPPED = Path(ss.__file__).parent / "planning" / "benchmarks.csv"

SCORES: dict[str, Any] = {"metric": "mean", "sd_difference": 1.0, "gain": 0.2}
ANSWERS: dict[str, Any] = {"metric": "accuracy", "score": 70.0, "agreement": 0.8, "gain": 3.0}
CLUSTERS: dict[str, Any] = SCORES | {"cluster_size": 5, "icc": 0.1, "cluster_cv": 0.0}
COSTS: dict[str, Any] = CLUSTERS | {"cost_item": 2.0, "cost_cluster": 3.0}

#: The nouns of a plan, by argument; each field is called as its option is.
NOUNS: dict[str, type] = {
    "guess": ss.Guess, "clusters": ss.Clusters, "judge": ss.Judge, "costs": ss.Costs, "alpha": ss.Level,
    "pilot": ss.Pilot,
}  # fmt: skip


def nouns_of(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a plan from the names of the command's options, so that tests can join dictionaries of them."""
    rest, arguments = dict(options), {}
    for argument, kind in NOUNS.items():
        names = {one.name: one.metadata.get("option", one.name) for one in fields(kind)}
        if own := {field: rest.pop(name) for field, name in names.items() if name in rest}:
            arguments[argument] = kind(**own)
    return rest | arguments


def plan_with(outputs: ss.Outputs | None = None, **options: Any) -> Plan:
    return ss.plan(**nouns_of(options | ({} if outputs is None else {"outputs": outputs})))


def size(sd: float, gain: float, *, power: float = 0.8, tail: float = 0.025) -> float:
    """The number of items of a paired t test: the textbook's for a known variance, and z^2 / 2 more (Guenther 1981)."""
    z = stats.norm.isf(tail)
    return float((z + stats.norm.ppf(power)) ** 2 * sd**2 / gain**2 + z**2 / 2)


def differing(score: float, gain: float, r12: float) -> float:
    """The standard deviation, in points, of the difference of two right or wrong answers that correlate."""
    p, q = score / 100, (score + gain) / 100
    covariance = r12 * np.sqrt(p * (1 - p) * q * (1 - q))
    return float(100 * np.sqrt(p * (1 - p) + q * (1 - q) - 2 * covariance))


def majority(error: float, together: float) -> float:
    """The share of wrong majorities of three, by the two moments of a beta distribution of error rates."""
    two = error**2 + together * error * (1 - error)
    three = two * (error * (1 - together) + 2 * together) / (1 + together)
    return 3 * (two - three) + three


def judged(disagreement: float, gain: float, error: float) -> float:
    """The standard deviation of a difference of verdicts, over the part of a gain that is left."""
    one = 2 * error * (1 - error)
    seen = disagreement * (1 - one) + (1 - disagreement) * one
    left = 1 - 2 * error
    return float(100 * np.sqrt(seen - (left * gain / 100) ** 2) / left)


def median_sd(metric: str) -> float:
    """The median over known benchmarks of the standard deviation of unlike systems' difference on one item."""
    table = pd.read_csv(SHIPPED)
    rows = table[(table["metric"] == metric) & (table["relation"] == "different families")]
    return float((rows["sd"] * np.sqrt(rows["n_items"] / rows["n_units"])).median())


def usual_disagreement(score: float, gain: float, relation: str) -> float:
    """Between the gain, which must differ, and what differs of independent systems, by the median correlation."""
    table = pd.read_csv(SHIPPED)
    rows = table[(table["metric"] == "accuracy") & (table["relation"] == relation) & table["right_or_wrong"]]
    p, q, r12 = score / 100, (score + gain) / 100, float(rows["r12"].median())
    return r12 * (q - p) + (1 - r12) * (p * (1 - q) + q * (1 - p))


@dataclass(frozen=True)
class Option:
    """One option: a base, what is set, and a number of the plan beside the one that is expected."""

    base: dict[str, Any]
    set_to: dict[str, Any]
    number: Callable[[Plan], float]
    expected: float
    rel: float = 0.012
    """Larger for answers, which textbooks take to be continuous."""


def n_items(plan: Plan) -> float:
    return float(plan.answers["n_items"].iloc[0])


def first(name: str) -> Callable[[Plan], float]:
    return lambda plan: float(plan.answers[name].iloc[0])


def design(name: str) -> Callable[[Plan], float]:
    return lambda plan: float(plan.designs.set_index("which").loc["as planned", name])


#: By the name of the parameter; those that need outputs are in test_options.
OPTIONS: dict[str, Option] = {
    "metric": Option(
        {"metric": "chrf", "gain": 1}, {"metric": "bleu"}, n_items, size(median_sd("bleu"), 1)
    ),
    "gain": Option(SCORES, {"gain": 0.1}, n_items, size(1, 0.1)),
    "n_items": Option(SCORES, {"n_items": 60}, first("power"), stats.nct.sf(stats.t.isf(0.025, 59), 59, 0.2 * 60**0.5)),
    "power": Option(SCORES, {"power": 0.95}, n_items, size(1, 0.2, power=0.95)),
    "alpha": Option(SCORES, {"alpha": 0.001}, n_items, size(1, 0.2, tail=0.0005)),
    "alternative": Option(SCORES, {"alternative": "greater"}, n_items, size(1, 0.2, tail=0.05)),
    "comparisons": Option(SCORES, {"comparisons": 20}, n_items, size(1, 0.2, tail=0.00125)),
    "margin": Option(
        {"metric": "mean", "sd_difference": 1.0, "margin": 0.2}, {"margin": 0.1}, n_items, size(1, 0.1)
    ),
    "score": Option(
        {"metric": "accuracy", "score": 70.0, "r12": 0.5, "gain": 2}, {"score": 90.0}, n_items,
        size(differing(90, 2, 0.5), 2), 0.06,
    ),
    "agreement": Option(ANSWERS, {"agreement": 0.95}, n_items, size(100 * np.sqrt(0.05 - 0.03**2), 3), 0.08),
    "r12": Option({"metric": "mean", "sd": 3.0, "r12": 0.9, "gain": 0.2}, {"r12": 0.5}, n_items, size(3, 0.2)),
    "sd": Option({"metric": "mean", "sd": 3.0, "r12": 0.5, "gain": 0.2}, {"sd": 2.0}, n_items, size(2, 0.2)),
    "sd_difference": Option(SCORES, {"sd_difference": 2.0}, n_items, size(2, 0.2)),
    "relation": Option(
        {"metric": "accuracy", "score": 70.0, "gain": 2}, {"relation": "different families"}, n_items,
        size(100 * np.sqrt(usual_disagreement(70, 2, "different families") - 0.02**2), 2), 0.03,
    ),
    "cluster_size": Option(CLUSTERS, {"cluster_size": 10}, n_items, 10 * size(np.sqrt(1.9 / 10), 0.2), 0.03),
    "icc": Option(CLUSTERS, {"icc": 0.5}, n_items, 5 * size(np.sqrt(3.0 / 5), 0.2), 0.02),
    "cluster_cv": Option(CLUSTERS, {"cluster_cv": 1.5}, n_items, 5 * size(np.sqrt(2.525 / 5), 0.2), 0.02),
    "judge_error": Option(ANSWERS, {"judge_error": 0.1}, n_items, size(judged(0.2, 3, 0.1), 3), 0.03),
    "judge_sd": Option(SCORES, {"judge_sd": 0.5}, n_items, size(np.sqrt(1.5), 0.2)),
    "judgements": Option(
        ANSWERS | {"judge_error": 0.2}, {"judgements": 3}, n_items, size(judged(0.2, 3, 0.104), 3), 0.03
    ),
    "judge_agreement": Option(
        ANSWERS | {"judge_error": 0.2, "judgements": 3}, {"judge_agreement": 0.4}, n_items,
        size(judged(0.2, 3, majority(0.2, 0.4)), 3), 0.03,
    ),
    # 8 units of 5 items, at 2 an item and 3 a unit.
    "cost_item": Option(COSTS | {"n_items": 40, "gain": None}, {"cost_item": 4.0}, design("cost"), 8 * (5 * 4 + 3), 0),
    "cost_cluster": Option(COSTS | {"n_items": 40, "gain": None}, {"cost_cluster": 9}, design("cost"), 8 * (10 + 9), 0),
    "budget": Option(COSTS | {"budget": 200}, {"budget": 400}, first("at_units"), 400 // 13, 0),
    "sizes": Option(SCORES, {"sizes": [77]}, lambda plan: plan.sizes["n_items"].iloc[0], 77, 0),
}  # fmt: skip
