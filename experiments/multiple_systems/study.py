"""K systems of known scores on one test set: which claims about pairs are false, and which confidence sets hold.

A claim is that one system of a pair is better. It is false if the two are equally good, or the other one is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.studies import Block, benjamini_hochberg, by_block, holm
from simstudy.truth import Bernoulli, GaussianCopula, ItemClusters, LogNormal, ScoreModel, of_families

from .page import show

__all__ = ["claims", "model", "show"]

CORRECTIONS = {"none": lambda p_values: p_values, "Holm": holm, "Benjamini-Hochberg": benjamini_hochberg}


def model(condition: Any) -> ScoreModel:
    """The systems, the best first, in families of about five."""
    n_systems = condition["n_systems"]
    scores = condition["least"] + condition["spread"] * steps(condition["equality"], n_systems)
    families = [k % max(2, n_systems // 5) for k in range(n_systems)]
    copula = GaussianCopula(of_families(families, between=condition["between"], within=condition["within"]))
    clusters = None
    if "cluster_size" in condition:
        clusters = ItemClusters(condition["cluster_correlation"], condition["cluster_size"])
    if "log_spreads" in condition:
        least, most = condition["log_spreads"]
        spreads = np.linspace(least, most, n_systems)
        margins = [LogNormal(float(score), float(spread)) for score, spread in zip(scores, spreads, strict=True)]
        return ScoreModel(margins, copula, clusters, metric="mean")
    return ScoreModel([Bernoulli(float(score)) for score in scores], copula, clusters, metric="accuracy")


def steps(equality: str, n_systems: int) -> Any:
    """How far each system is above the worst (K,), from 0 to 1, the best first.

    Examples
    --------
    >>> steps("half equal", 4).tolist(), steps("all different", 3).tolist()
    ([1.0, 0.5, 0.0, 0.0], [1.0, 0.5, 0.0])
    """
    n_equal = {"all equal": n_systems, "half equal": n_systems // 2, "all different": 1}[equality]
    above = np.linspace(1, 0, n_systems - n_equal + 1)[:-1]
    return np.concatenate([above, np.zeros(n_equal)])


@by_block
def claims(block: Block) -> dict[str, dict[str, Any]]:
    """False claims and power of each selection of pairs, side and correction, and the guarantees of a leaderboard."""
    condition, boards = block.condition, block.boards
    alpha = condition["alpha"]
    scores = model(condition).scores().round(9)
    first, second = boards.pairs
    true = np.sign(scores[first] - scores[second])
    p_values, ahead = boards.p_values(condition["test"]), boards.ahead()
    # Both tests are symmetric: for the better system, a one-sided p-value is half of the two-sided one. The named
    # system is the first, which is truly no worse. If it is behind, its p-value is at least one half.
    sides = {
        "two-sided": p_values,
        "one-sided for the better system": p_values / 2,
        "one-sided for the named system": np.where(ahead > 0, p_values / 2, 1.0),
    }
    selections = {
        "all pairs": np.arange(len(first)),
        "one baseline": np.flatnonzero(second == boards.n_systems - 1),
        "neighbours": neighbours(boards.scores()),
    }
    rows = np.arange(len(block))[:, None]
    values = {}
    for selection, pairs in selections.items():
        for side, uncorrected in sides.items():
            for correction, corrected in CORRECTIONS.items():
                significant = corrected(uncorrected[rows, pairs]) <= alpha
                claimed = np.where(significant, ahead[rows, pairs], 0)
                values[f"{selection}, {side}, {correction}"] = errors_and_power(claimed, true[pairs])
    places = boards.places(level=1 - alpha, n_draws=condition["n_draws"], seed=block.seed("signs"))
    better = np.array([board.better for board in places], dtype=np.int64)
    stepdown = better[:, first, second] - better[:, second, first]
    values["all pairs, two-sided, Romano-Wolf"] = errors_and_power(stepdown, true)
    return values | {"confidence sets for ranks": guarantees(places, scores)}


def neighbours(scores: Any) -> Any:
    """The pairs (M, K - 1) of systems that follow each other in the ranking by these scores (M, K), as positions."""
    n_systems = scores.shape[1]
    pairs = np.zeros((n_systems, n_systems), dtype=np.int64)
    first, second = np.triu_indices(n_systems, k=1)
    pairs[first, second] = pairs[second, first] = np.arange(len(first))
    ranking = np.argsort(-scores, axis=1, kind="stable")
    return pairs[ranking[:, :-1], ranking[:, 1:]]


def errors_and_power(claimed: Any, true: Any) -> dict[str, Any]:
    """Errors and power of claims (M, P): 1 for the first system of a pair, -1 for the second, 0 for no claim.

    The sign of each pair's true gain is `true`, (P,) or (M, P). If no gain is true, there are only false claims.
    """
    true = np.broadcast_to(true, claimed.shape)
    false = (claimed != 0) & (claimed != true)
    quantities = {"any false claim": false.any(axis=1)}
    if not true.any():
        return quantities
    differ, wrong = true != 0, false & (true != 0)
    n_true = ((claimed == true) & differ).sum(axis=1)
    return quantities | {
        "any wrong winner": wrong.any(axis=1),
        "wrong winners": wrong.sum(axis=1),
        "false discoveries": false.sum(axis=1) / np.maximum((claimed != 0).sum(axis=1), 1),
        "power": np.divide(n_true, differ.sum(axis=1), out=np.full(len(true), np.nan), where=differ.any(axis=1)),
    }


def guarantees(places: Any, scores: Any) -> dict[str, Any]:
    """Whether confidence sets for ranks hold for systems of these true scores (K,), and how large the sets are.

    Equally good systems share their ranks: a set must contain all of them.
    """
    low, high = 1 + (scores[:, None] < scores).sum(axis=1), (scores[:, None] <= scores).sum(axis=1)
    best = scores == scores.max()
    return {
        "all ranks": np.array([((board.low <= low) & (board.high >= high)).all() for board in places]),
        "own rank": np.array([((board.low_own <= low) & (board.high_own >= high)).mean() for board in places]),
        "the best": np.array([board.may_be_best[best].all() for board in places]),
        "ranks in a set": np.array([(board.high - board.low + 1).mean() for board in places]),
        "ranks in an own set": np.array([(board.high_own - board.low_own + 1).mean() for board in places]),
        "systems that may be the best": np.array([board.may_be_best.sum() for board in places]),
    }
