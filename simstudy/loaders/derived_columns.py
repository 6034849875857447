"""Columns of a wide table that are made of others, such as ``delta``, ``max`` and ``mean``.

A column is no system if its name says what it is of others, and its numbers agree. By its numbers alone it may be an
ensemble (a majority, a maximum) or a pipeline (a sum of two times): it is used, and a note tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from simstudy.loaders.tables import EXACT, decimals, is_right_or_wrong, numbers
from simstudy.loaders.usual_names import plain
from simstudy.metrics.base import Array, FloatArray
from simstudy.notes import note

# What a column may be of two others, or of all; the arguments are (..., K). The first ones are of two only.
_KINDS: Mapping[str, Callable[[FloatArray], Array]] = {
    "difference": lambda of: of[..., 0] - of[..., 1],
    "difference in percent": lambda of: 100 * (of[..., 0] - of[..., 1]),
    "absolute difference": lambda of: np.abs(of[..., 0] - of[..., 1]),
    "equality": lambda of: (of[..., 0] == of[..., 1]).astype(np.float64),
    "maximum": lambda of: of.max(axis=-1),
    "minimum": lambda of: of.min(axis=-1),
    "mean": lambda of: of.mean(axis=-1),
    "sum": lambda of: of.sum(axis=-1),
    "median": lambda of: np.median(of, axis=-1),
}
_OF_TWO = ("difference", "difference in percent", "absolute difference", "equality")

# Words in names of columns -> what they say of it. Words such as best, any and majority may name systems.
_NAMES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("delta", "diff", "difference", "gain", "improvement", "change", "gap", "minus"), _OF_TWO[:3]),
    **dict.fromkeys(("agree", "agreement", "same", "equal"), ("equality",)),
    **dict.fromkeys(("max", "maximum"), ("maximum",)),
    **dict.fromkeys(("min", "minimum"), ("minimum",)),
    **dict.fromkeys(("mean", "average", "avg"), ("mean",)),
    **dict.fromkeys(("sum", "total"), ("sum",)),
    "median": ("median",),
}
# Other words that such names may have.
_BESIDE = {"abs", "absolute", "of", "and", "pct", "percent", "points", "score", "scores"}

# Names of columns that have one value in all rows and are no systems.
_CONSTANTS = {"weight", "weights", "p", "p_value", "pvalue", "n", "version"}

# Tables of more systems have no such columns as a rule, and all pairs of their columns would take long.
_MOST_SYSTEMS = 30
# So many rows rule out nearly all pairs, if they are taken from the whole table: rows may be sorted by difficulty.
_ROWS = 300
# A column is rounded if its digits are this much finer than its standard deviation; coarser ones are exact.
_ROUNDED = 20
# Items on which a column differs from each one that it is made of. Columns of few values (`_COARSE`), such as right and
# wrong answers, are made of others by chance if they differ on less.
_COARSE, _DIFFERS, _DIFFERS_COARSE = 10, 5, 10


def without_derived(frame: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """The systems without the columns that are made of others by name and numbers, and those of one value.

    A note names each of them, and each other column that is made of others or has one value.
    """
    # A mean in the first or last row is no maximum of means.
    inner = frame.iloc[1:-1]
    if not 3 <= len(systems) <= _MOST_SYSTEMS or inner.empty:
        return [*systems]
    rows = np.unique(np.linspace(0, len(inner) - 1, _ROWS).astype(int))
    some = {name: numbers(inner[name].iloc[rows]) for name in systems}
    parts = [name for name in systems if not _said(name)]
    kept = []
    for name in systems:
        what, left_out = _made_of(inner, some, name, [part for part in parts if part != name])
        if left_out:
            note("text", text=f"not used as a system: '{name}', which is {what}; to use it, rename it")
            continue
        if what:
            note(
                "text",
                text=(
                    f"'{name}' is used as a system, but is {what}. If it is no system, leave the column out, or make "
                    f"it one of the items: columns={{'{name}': '{name}'}}"
                ),
            )
        kept.append(name)
    return [name for name in kept if not _is_constant(frame, some, name, kept)]


def _is_constant(frame: pd.DataFrame, some: Mapping[str, FloatArray], name: str, systems: Sequence[str]) -> bool:
    """Whether a column has one value and a name that no system has; a note tells of any that has one value.

    Systems may be right, or wrong, on all items. Values outside the range of all others are told of elsewhere, and so
    are those beside right and wrong answers.
    """
    value = some[name][0]
    if len(systems) < 3 or len(frame) < _DIFFERS_COARSE or not (some[name] == value).all():
        return False
    if not (numbers(frame[name]) == value).all():
        return False
    if plain(name) in _CONSTANTS:
        note("text", text=f"not used as a system: '{name}', which is {value:g} for all items; to use it, rename it")
        return True
    others = [some[other] for other in systems if other != name]
    if any((own < value).any() and (own > value).any() and not is_right_or_wrong(own) for own in others):
        note(
            "text",
            text=f"'{name}' is used as a system, but is {value:g} for all items: leave the column out if it is none",
        )
    return False


def _made_of(frame: pd.DataFrame, some: Mapping[str, FloatArray], name: str, others: Sequence[str]) -> tuple[str, bool]:
    """Find out whether a column is made of others: how (empty if it is not), and whether its name says so too.

    `some` has a part of the rows.
    """
    if len(others) < 2:
        return "", False
    own, columns = some[name], np.stack([some[other] for other in others], axis=-1)
    half, halves = _half_unit(own), np.array([_half_unit(some[other]) for other in others])
    # Some values are negative, and none of the others': a difference, whatever its name.
    negative = (columns < 0).any()
    signed = (own < 0).any() and not negative
    for kind in _KINDS:
        ways = permutations if kind.startswith("difference") else combinations
        pairs = np.array([*ways(range(len(others)), 2)])
        near = _agrees(own[:, None], columns[:, pairs], kind, half + halves[pairs].sum(axis=-1)).all(axis=0)
        sets = pairs[near].tolist() if kind != "median" else []
        if kind not in _OF_TWO and len(others) > 2 and _agrees(own, columns, kind, half + halves.sum()).all():
            sets.append([*range(len(others))])
        for chosen in sets:
            parts = [others[i] for i in chosen]
            said = kind in _said(name, *parts)
            # If b = c - a is such a difference, then c = a + b.
            shown = signed if kind == "difference" else kind not in _OF_TWO and not (kind == "sum" and negative)
            if not said and not shown:
                continue
            table = np.stack([numbers(frame[one]) for one in (name, *parts)], axis=-1)
            table = table[np.isfinite(table).all(axis=-1)]
            found, of = table[:, 0], table[:, 1:]
            if found.size < 3 or (found == found[0]).all():
                continue
            if not _agrees(found, of, kind, half + halves[chosen].sum()).all():
                continue
            coarse = len(np.unique(of[:_ROWS])) < _COARSE
            differs = (of != found[:, None]).sum(axis=0).min() >= (_DIFFERS_COARSE if coarse else _DIFFERS)
            enough = found.size >= max(2 * _DIFFERS_COARSE, 2 * len(others)) if coarse else found.size >= 2 * _DIFFERS
            if said or (differs and enough):
                return _told(kind, parts), said and bool(differs)
    return "", False


def _agrees(found: FloatArray, of: FloatArray, kind: str, rounding: FloatArray | float) -> Array:
    """Whether numbers are what the kind says of others (..., K), those that are missing aside."""
    unlike: Array = np.abs(_KINDS[kind](of) - found) > EXACT * np.abs(of).max(axis=-1) + 1.001 * rounding
    return ~unlike


def _half_unit(column: FloatArray) -> float:
    """Half a unit in the last place of a column that is written with fine digits, else 0."""
    there = column[np.isfinite(column)]
    if (there == np.rint(there)).all():
        return 0.0
    unit = 10.0 ** -decimals(there)
    return unit / 2 if unit <= there.std() / _ROUNDED else 0.0


def _said(name: str, *parts: str) -> Sequence[str]:
    """The kinds that the name of a column says; it may name the two others beside that."""
    name = name.casefold()
    whole = set(re.findall(r"[^\W_]+", name)) - _BESIDE
    if len(whole) == 1:
        return _NAMES.get(whole.pop(), ())
    if len(parts) != 2 or not all(part.casefold() in name for part in parts):
        return ()
    for part in sorted(parts, key=len, reverse=True):
        name = name.replace(part.casefold(), " ", 1)
    return _OF_TWO[:1] if name.strip() == "-" else _said(name)


def _told(kind: str, parts: Sequence[str]) -> str:
    two = [f"'{part}'" for part in parts]
    if kind.startswith("difference"):
        return " minus ".join(two) + kind.removeprefix("difference")
    return f"the {kind} of {' and '.join(two)}" if len(two) == 2 else f"the {kind} of {len(two)} other columns"
