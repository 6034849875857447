"""What is asked of Outputs that a function is handed."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.scaling import check_range
from simstudy.outputs.collection import Collection


def check_outputs(argument: str, value: object) -> None:
    """Raise a ValueError where these are no Outputs.

    Examples
    --------
    >>> check_outputs("population", [[1, 0], [1, 1]])
    Traceback (most recent call last):
    ValueError: population must be Outputs (see Outputs.from_scores), not list
    """
    if not isinstance(value, Collection):
        raise ValueError(f"{argument} must be Outputs (see Outputs.from_scores), not {type(value).__name__}")


def require_outputs(outputs: object, n_systems: int = 1, argument: str = "outputs") -> None:
    """Raise a ValueError where these are no Outputs, of too few systems, or of sizes that can not be compared."""
    check_outputs(argument, outputs)
    assert isinstance(outputs, Collection)
    if outputs.n_systems < n_systems:
        raise ValueError(f"{argument} must have at least {n_systems} systems to compare, not {outputs.n_systems}")
    check_range(outputs.statistics, outputs.names)
    outputs.metric.check_scores(outputs.statistics.sum(axis=1, dtype=np.float64), outputs.names)
