"""What is asked of Outputs that a function is handed."""

from __future__ import annotations

from simstudy.metrics.scaling import check_range
from simstudy.notes import note
from simstudy.outputs.base import OutputsBase

# Fewer items are hardly a test set; so many times more systems than items are hardly a leaderboard.
_FEW, _TIMES = 20, 10


def note_exchanged(n_systems: int, n_items: int) -> None:
    """Say where a table with a column for each system looks as if its rows were the systems."""
    if n_systems >= _FEW and (n_items < _FEW or n_systems >= _TIMES * n_items):
        items = f"{n_items:,} item{'s' * (n_items != 1)}"
        note(f"{n_systems:,} systems on {items}: are rows and columns exchanged? Columns are systems, rows are items")


def check_outputs(argument: str, value: object) -> None:
    """Raise a ValueError where these are no Outputs."""
    if not isinstance(value, OutputsBase):
        has = "; its .outputs is" if isinstance(getattr(value, "outputs", None), OutputsBase) else ""
        raise ValueError(f"{argument} must be Outputs (see Outputs.from_scores), not {type(value).__name__}{has}")


def require_outputs(outputs: object, n_systems: int = 1, argument: str = "outputs") -> None:
    """Raise a ValueError where these are no Outputs, of too few systems, or of sizes that can not be compared."""
    check_outputs(argument, outputs)
    assert isinstance(outputs, OutputsBase)
    if outputs.n_systems < n_systems:
        raise ValueError(f"{argument} must have at least {n_systems} systems to compare, not {outputs.n_systems}")
    check_range(outputs.statistics, outputs.names)
    outputs.metric.check_scores(outputs.statistics, outputs.names)
