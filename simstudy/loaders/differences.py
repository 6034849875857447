"""Columns of a wide table that are differences of two others, such as ``delta``: they are no systems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pandas as pd

from simstudy.loaders.tables import numbers
from simstudy.metrics.base import FloatArray
from simstudy.notes import note

# Words in the names of such columns.
_WORDS = {"delta", "diff", "difference", "gain", "improvement", "change", "gap", "minus"}

# Tables of more systems have no such columns as a rule, and all pairs of their columns would take long.
_MOST_SYSTEMS = 30

# Rows that are looked at first, and the fewest that show a difference without a name.
_FIRST, _FEWEST = 100, 10

# Columns may be rounded to two decimals each.
_ROUNDED, _EXACT = 0.02, 1e-9


def without_differences(frame: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """The systems without the columns that are differences of two others; a note names each of them.

    A column is a difference by its name and its numbers, or by its numbers alone: some are negative, and none of the
    two other columns is.
    """
    if not 3 <= len(systems) <= _MOST_SYSTEMS:
        return [*systems]
    first = {name: numbers(frame[name].iloc[:_FIRST]) for name in systems}
    named = {name for name in systems if _WORDS & {*re.split(r"[^a-z]+", name.lower())}}
    found: dict[str, tuple[str, str]] = {}
    for name in systems:
        if name not in named and not (first[name] < 0).any():
            continue
        others = [other for other in systems if other not in (name, *named, *found)]
        for pair in permutations(others, 2):
            a, b = pair
            if _is_difference((first[name], first[a], first[b]), name in named) and _is_difference(
                (numbers(frame[name]), numbers(frame[a]), numbers(frame[b])), name in named
            ):
                found[name] = pair
                break
    for name, (a, b) in found.items():
        note(f"not used as a system: '{name}', which is '{a}' minus '{b}'")
    return [name for name in systems if name not in found]


def _is_difference(columns: tuple[FloatArray, FloatArray, FloatArray], named: bool) -> bool:
    """Whether the first column (n,) is the second minus the third, and neither of these two."""
    found, a, b = (column[np.isfinite(columns).all(axis=0)] for column in columns)
    if not found.size or not b.any() or not found.any():
        return False
    if not named and (found.size < _FEWEST or min(a.min(), b.min()) < 0 or found.min() >= 0):
        return False
    scale = max(np.abs(a).max(), np.abs(b).max())
    return bool(np.abs(found - (a - b)).max() <= (_ROUNDED if named else _EXACT) * scale)
