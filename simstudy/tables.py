"""The systems and items tables of Outputs: complete, and with names that occur once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pandas as pd


def keyed_table(
    given: Sequence[Hashable] | pd.DataFrame | None, n: int, argument: str, key: str, default: list[str]
) -> pd.DataFrame:
    """The systems or items table, with its key column first, as text, complete and without repeats."""
    if isinstance(given, pd.DataFrame):
        if key not in given:
            raise ValueError(f"{argument} must have a column '{key}'; it has {', '.join(map(str, given.columns))}")
        table = given.reset_index(drop=True)
        table = table[[key, *(c for c in table.columns if c != key)]]
    else:
        table = pd.DataFrame({key: default if given is None else list(given)})
    if len(table) != n:
        raise ValueError(f"{argument} must have {n} rows, as the statistics have, not {len(table)}")
    if table[key].isna().any():
        raise ValueError(f"{argument} must have a {key} in every row")
    table[key] = table[key].astype(str)
    check_unique(table[key], argument)
    return table


def check_unique(keys: pd.Series[Any], argument: str) -> None:
    """Raise a ValueError that names the first key which occurs twice."""
    if keys.duplicated().any():
        raise ValueError(f"{argument} must be named once each; '{keys[keys.duplicated()].iloc[0]}' occurs twice")


def complete_systems(table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that every systems table has, where they are missing."""
    defaults: dict[str, Any] = {
        "family": table["name"],
        "group": pd.Series(pd.NA, index=table.index, dtype="string"),
        "train_size": pd.Series(pd.NA, index=table.index, dtype="Int64"),
        "replicate": pd.Series(pd.NA, index=table.index, dtype="Int64"),
        "source": "natural",
    }
    completed = table.assign(**{name: value for name, value in defaults.items() if name not in table})
    completed["family"] = completed["family"].where(completed["family"].notna(), completed["name"])
    return completed[["name", *defaults, *(c for c in table.columns if c not in defaults and c != "name")]]
