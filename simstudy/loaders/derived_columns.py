"""Columns of a wide table that are made of others, such as ``delta``, ``best`` and ``mean``: they are no systems.

A difference may stand anywhere. Any other column that is made of others comes after these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from simstudy.loaders.tables import numbers
from simstudy.loaders.usual_names import plain
from simstudy.metrics.base import FloatArray
from simstudy.notes import note

# Words in the names of differences, and of other columns that are made of others.
_WORDS = {"delta", "diff", "difference", "gain", "improvement", "change", "gap", "minus"}

_MADE = {
    "max", "maximum", "best", "any", "oracle", "min", "minimum", "worst", "all", "both", "mean", "average", "avg",
    "median", "majority", "sum", "total", "abs", "diff", "difference", "gap", "disagree", "agree", "agreement", "same",
    "equal",
}  # fmt: skip

# Names of columns that have one value in all rows and are no systems.
_CONSTANTS = {"weight", "weights", "p", "p_value", "pvalue", "n", "version"}

# Tables of more systems have no such columns as a rule, and all pairs of their columns would take long.
_MOST_SYSTEMS = 30

# Rows that are looked at first, and the fewest that show a difference without a name.
_FIRST, _FEWEST = 100, 10

# Columns may be rounded to two decimals each.
_ROUNDED, _EXACT = 0.02, 1e-9

# Columns of fewer values than this, such as right and wrong answers, are made of others by chance in small tables.
_COARSE, _COARSE_ITEMS = 10, 20
# Items on which a column without a telling name differs from each one that it is made of: of many values, and of few.
_DIFFERS, _DIFFERS_COARSE = 5, 10
# A mean may be rounded to digits that are this much finer than its standard deviation.
_FINE = 20

# What a column may be of two others, or of all before it; the arguments are (..., K).
_KINDS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "maximum": lambda of: of.max(axis=-1),
    "minimum": lambda of: of.min(axis=-1),
    "mean": lambda of: of.mean(axis=-1),
    "sum": lambda of: of.sum(axis=-1),
    "median": lambda of: np.median(of, axis=-1),
    "absolute difference": lambda of: np.abs(of[..., 0] - of[..., 1]),
    "equality": lambda of: (of[..., 0] == of[..., 1]).astype(np.float64),
}
# These are of two columns; and each of three columns of 0 and 1 may be this of the other two: a name must tell.
_OF_TWO = ("absolute difference", "equality")


def without_derived(frame: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """The systems without the columns that are made of others; a note names each of them, and columns of one value."""
    left = without_differences(frame, systems)
    if not 3 <= len(left) <= _MOST_SYSTEMS:
        return left
    # A mean in the first or last row is no maximum of means.
    inner = frame.iloc[1:-1]
    kept: list[str] = []
    for name in left:
        # The first rows rule out nearly all columns, however long the table is.
        if len(kept) >= 2 and _made_of(inner.iloc[:_FIRST], name, kept, 0) and (what := _made_of(inner, name, kept, 1)):
            note(f"not used as a system: '{name}', which is the {what}; to use it, put its column first")
        else:
            kept.append(name)
    return [name for name in kept if not _is_constant(frame, name, kept)]


def _is_constant(frame: pd.DataFrame, name: str, systems: Sequence[str]) -> bool:
    """Whether a column has one value and a name that no system has; a note tells of any that has one value.

    Systems may be right, or wrong, on all items. Values outside the range of all others are told of elsewhere.
    """
    first = numbers(frame[name].iloc[:_FIRST])
    if len(systems) < 3 or first.size < _FEWEST or not (first == first[0]).all():
        return False
    if not (numbers(frame[name]) == (value := first[0])).all():
        return False
    if plain(name) in _CONSTANTS:
        note(f"not used as a system: '{name}', which is {value:g} for all items; to use it, rename it")
        return True
    others = [numbers(frame[other]) for other in systems if other != name]
    if any((own < value).any() and (own > value).any() for own in others):
        note(f"'{name}' is used as a system, but is {value:g} for all items: leave the column out if it is none")
    return False


def _made_of(frame: pd.DataFrame, name: str, names: Sequence[str], apart: int) -> str:
    """Say how a column is made of two others, or of all; empty if it is not, or (`apart`) if that may be chance."""
    column, columns = numbers(frame[name]), np.stack([numbers(frame[other]) for other in names], axis=-1)
    there = np.isfinite(column) & np.isfinite(columns).all(axis=-1)
    found, of = column[there], columns[there]
    named = bool(_MADE & {*re.split(r"[^a-z]+", name.lower())})
    coarse = len(np.unique(of[:_FIRST])) < _COARSE
    fewest = max(_COARSE_ITEMS, 2 * len(names)) if coarse else _FEWEST
    if found.size < fewest or (apart and (found == found[0]).all()):
        return ""
    apart *= 1 if named else _DIFFERS_COARSE if coarse else _DIFFERS
    pairs = [[a, b] for a, b in combinations(range(len(names)), 2)]
    exact = _EXACT * float(np.abs(of).max())
    for kind, made in _KINDS.items():
        if kind in _OF_TWO and coarse and not named:
            continue
        within = _tolerance(found) if kind in ("mean", "median") else exact
        near = np.abs(made(of[:_FEWEST, pairs]) - found[:_FEWEST, None]) <= within
        sets = [pairs[k] for k in np.flatnonzero(near.all(axis=0)).tolist()]
        if len(names) > 2 and kind not in _OF_TWO:
            sets.append([*range(len(names))])
        for own in sets:
            values = of[:, own]
            differs = (values != found[:, None]).sum(axis=0)
            if (np.abs(made(values) - found) <= within).all() and (differs >= apart).all():
                two = len(own) == 2
                return (
                    f"{kind} of '{names[own[0]]}' and '{names[own[1]]}'" if two else f"{kind} of the columns before it"
                )
    return ""


def _tolerance(column: FloatArray) -> float:
    """Half a unit in the last place of a column that is written with fine digits, else nearly nothing."""
    unit = 10.0 ** -max(len(np.format_float_positional(value, trim="-").partition(".")[2]) for value in column[:_FIRST])
    scale = _EXACT * float(np.abs(column).max())
    return max(scale, 0.501 * unit) if unit <= column.std() / _FINE else scale


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
