"""Variants of a baseline: how often the best of them is significantly better, and the gain that is reported."""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.studies import Block, by_block, holm
from simstudy.truth import Bernoulli, GaussianCopula, LogNormal, ScoreModel, of_families

from .page import show
from .tables import summarise

__all__ = ["best", "model", "show", "stepdown", "summarise", "truth"]


def model(condition: Any) -> ScoreModel:
    """A baseline and all variants; on test sets of their own, each variant follows a baseline of its own."""
    variants, baselines = pairs(condition, condition["most_variants"])
    n_systems, correlation = variants.max() + 1, condition["correlation"]
    if condition["one_test_set"]:
        families, between, within = np.arange(n_systems) > 0, correlation, condition.get("among", correlation)
    else:
        families, between, within = np.arange(n_systems) // 2, 0.0, correlation
    copula = GaussianCopula(of_families(families.tolist(), between=between, within=within))
    if "log_spread" in condition:
        return ScoreModel(
            [LogNormal(condition["baseline"], condition["log_spread"])] * n_systems, copula, metric="mean"
        )
    scores = condition["baseline"] + condition["gain"] * np.isin(np.arange(n_systems), variants)
    return ScoreModel([Bernoulli(float(score)) for score in scores], copula, metric="accuracy")


def pairs(condition: Any, n_variants: int) -> tuple[Any, Any]:
    """Positions of the first variants among the systems, and of the baseline of each."""
    k = np.arange(n_variants)
    return (k + 1, 0 * k) if condition["one_test_set"] else (2 * k + 1, 2 * k)


def truth(condition: Any) -> float:
    """The true gain of each variant, on the metric's scale."""
    return 100.0 * float(condition["gain"])


@by_block
def best(block: Block) -> dict[str, dict[str, Any]]:
    """Whether the best variant is significantly better than its baseline, by side and correction, and its gain."""
    condition = block.condition
    variants, baselines = pairs(condition, condition["n_variants"])
    boards = block.boards.of_systems(range(variants.max() + 1))
    test = "sign_flips" if block.metric == "accuracy" else "t_paired"
    p_values = boards.p_values(test, pairs=(variants, baselines))
    scores = boards.scores()
    gains = scores[:, variants] - scores[:, baselines]
    at_best = np.arange(len(gains)), gains.argmax(axis=1)
    values = {"best variant": {"estimate": gains[at_best]}}
    # Both tests are symmetric: for a variant that is ahead, a one-sided p-value is half of the two-sided one.
    sides = {"two-sided": p_values, "one-sided": np.where(gains > 0, p_values / 2, 1.0)}
    for side, uncorrected in sides.items():
        for correction, corrected in {"none": uncorrected, "Holm": holm(uncorrected)}.items():
            significant = (corrected[at_best] <= condition["alpha"]) & (gains[at_best] > 0)
            values[f"{side}, {correction}"] = reported(significant, gains[at_best])
    return values


@by_block
def stepdown(block: Block) -> dict[str, dict[str, Any]]:
    """The same by the confidence set for the baseline's rank: whether it excludes the first rank."""
    condition = block.condition
    if not condition["one_test_set"]:
        return {}
    boards = block.boards.of_systems(range(condition["n_variants"] + 1))
    places = boards.places(level=1 - condition["alpha"], n_draws=condition["n_draws"], seed=block.seed("signs"))
    scores = boards.scores()
    gains = scores[:, 1:].max(axis=1) - scores[:, 0]
    return {"two-sided, Romano-Wolf": reported(np.array([board.low_own[0] > 1 for board in places]), gains)}


def reported(significant: Any, gains: Any) -> dict[str, Any]:
    """Whether the best variants are significant; a gain is reported only if it is."""
    return {"significant": significant, "reported gain": np.where(significant, gains, np.nan)}
