"""What is asked of Outputs that a function is handed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics.base import Array
from simstudy.metrics.direction import sounds_like_error
from simstudy.metrics.scaling import check_range
from simstudy.notes import Argument, note
from simstudy.outputs.base import OutputsBase
from simstudy.validation import InputError

# Fewer items are hardly a test set; so many times more systems than items are hardly a leaderboard.
_FEW, _TIMES = 20, 10

# Some score of a system in percent is greater than this.
_PERCENT = 10


def note_exchanged(n_systems: int, n_items: int) -> None:
    """Say where a table with a column for each system looks as if its rows were the systems."""
    if n_systems >= _FEW and (n_items < _FEW or n_systems >= _TIMES * n_items):
        items = f"{n_items:,} item{'s' * (n_items != 1)}"
        note("axes exchanged", n_systems=n_systems, items=items)


def note_percent(statistics: Array, names: Sequence[str], but: Collection[str] = ()) -> None:
    """Say where some systems' scores, statistics[..., 0], look like fractions and all others' like percentages.

    Systems that another note tells of are not looked at (`but`).
    """
    kept = [k for k, name in enumerate(names) if name not in but]
    if len(kept) < 2:
        return
    if but:
        statistics, names = statistics[kept], [names[k] for k in kept]
    low, high = statistics[..., 0].min(axis=1), statistics[..., 0].max(axis=1)
    fractions, percent = (high > 0) & (high <= 1), (high > _PERCENT) & (high <= 100)
    known = fractions | percent | (high == 0)
    if fractions.any() and percent.any() and known.all() and (low >= 0).all():
        first, other = (names[int(np.argmax(which))] for which in (fractions, percent))
        note("fractions and percent", first=first, other=other)


def check_axes(scores: pd.DataFrame) -> None:
    """Raise a ValueError where the name of a system is that of an index which was read as a column."""
    unnamed = [name for name in map(str, scores.columns) if name.startswith("Unnamed: ")]
    if unnamed:
        raise InputError(
            "scores", f"must have a system in each column, unlike '{unnamed[0]}': read_csv(…, index_col=0)"
        )
    others = [f"'{name}'" for name in map(str, scores.columns) if name.lower() in ("index", "id", "length")]
    if others:
        note("columns used as systems", columns=", ".join(others))


def warn_of_errors(columns: pd.Index[Any]) -> None:
    """Warn where the columns of scores, of which higher is taken to be better, are called like errors."""
    names = [str(name) for name in columns]
    # All columns: one system of many may be called after its loss.
    called = [str(columns.name), *(names if all(map(sounds_like_error, names)) else ())]
    errors = [name for name in called if sounds_like_error(name)]
    if errors:
        note("called like errors", name=errors[0], lower=Argument("lower_is_better", True))


def check_outputs(argument: str, value: object) -> None:
    """Raise a ValueError where these are no Outputs."""
    if not isinstance(value, OutputsBase):
        has = "; its .outputs is" if isinstance(getattr(value, "outputs", None), OutputsBase) else ""
        raise InputError(argument, f"must be Outputs (see Outputs.from_scores), not {type(value).__name__}{has}")


def require_outputs(outputs: object, n_systems: int = 1, argument: str = "outputs") -> None:
    """Raise a ValueError where these are no Outputs, of too few systems, or of sizes that can not be compared."""
    check_outputs(argument, outputs)
    assert isinstance(outputs, OutputsBase)
    if outputs.n_systems < n_systems:
        raise InputError(argument, f"must have at least {n_systems} systems to compare", outputs.n_systems)
    check_range(outputs.statistics, outputs.names)
    outputs.metric.check_scores(outputs.statistics, outputs.names)
