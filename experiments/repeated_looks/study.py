"""Two equally good systems on a growing test set: how often a test has been significant by each look."""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.studies import Block, DrawnBoards, by_block
from simstudy.truth import Bernoulli, GaussianCopula, LogNormal, ScoreModel

from .tables import summarise

__all__ = ["looks", "model", "summarise"]


def model(condition: Any) -> ScoreModel:
    """Two equally good systems."""
    copula = GaussianCopula(condition["correlation"])
    if "log_spread" in condition:
        return ScoreModel([LogNormal(1.0, condition["log_spread"])] * 2, copula, metric="mean")
    return ScoreModel([Bernoulli(condition["accuracy"])] * 2, copula, metric="accuracy")


@by_block
def looks(block: Block) -> dict[str, dict[str, Any]]:
    """Whether the two-sided test is significant at any look so far, without a correction."""
    condition, boards = block.condition, block.boards
    sizes = condition["step"] * np.arange(1, condition["n_looks"] + 1)
    p_values = [
        DrawnBoards(boards.statistics[:, :, :size], boards.metric).p_values(condition["test"])[:, 0] for size in sizes
    ]
    return {"test at every look": {"significant": np.min(p_values, axis=0) <= condition["alpha"]}}
