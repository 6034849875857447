"""Contingency tables of candidates: how often two words occur together and apart (Evert 2004, section 2)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.rankings.inputs import BoolArray
from simstudy.validation import InputError

#: The four cells: first index 1 where the first word is there, second index 1 where the second word is.
CELLS = ("O11", "O12", "O21", "O22")

#: A frequency signature: of the pair, of the first word (R1), of the second (C1), and of all.
SIGNATURE = ("f", "f1", "f2", "N")

#: Counts stay below this, so that they and their sums are exact as decimals too.
_LIMIT = 2**53


def has_tables(columns: Iterable[str]) -> bool:
    """Whether columns hold contingency tables: all of `CELLS`, or all of `SIGNATURE`."""
    names = set(columns)
    return names.issuperset(CELLS) or names.issuperset(SIGNATURE)


def contingency_tables(frequencies: pd.DataFrame) -> pd.DataFrame:
    """The four cells of each candidate, from cells or frequency signatures, checked.

    With the second word the first word occurs O11 = f times, without it O12 = f1 - f times; without the first, the
    second occurs O21 = f2 - f times; O22 = N - f1 - f2 + f is neither. Row sums are R1 = f1 and R2, column sums are
    C1 = f2 and C2 (Evert 2004, An on-line repository of association measures).

    The columns are `CELLS` or `SIGNATURE`, whole numbers below 2^53. Where columns R1, R2, C1, C2, N, or a signature
    beside the cells, are there too, they must agree; other columns are ignored. An error names the candidate.
    """
    if not isinstance(frequencies, pd.DataFrame):
        raise InputError("frequencies", f"must be a pandas DataFrame, not {type(frequencies).__name__}")
    columns = set(frequencies.columns)
    if not has_tables(columns):
        lacking = [", ".join(name for name in names if name not in columns) for names in (CELLS, SIGNATURE)]
        raise InputError(
            "frequencies",
            f"must have the columns {', '.join(CELLS)} (missing: {lacking[0]}) or {', '.join(SIGNATURE)} (missing: "
            f"{lacking[1]})",
        )
    if columns.issuperset(CELLS):
        o11, o12, o21, o22 = (_counts(frequencies, name) for name in CELLS)
    else:
        o11, o12, o21, o22 = _cells(frequencies)
    n = o11 + o12 + o21 + o22
    _require(frequencies, (n > 0) & (n < _LIMIT), "a sum of the cells of at least 1 and below 2^53", N=n)
    marginals = {"R1": o11 + o12, "R2": o21 + o22, "C1": o11 + o21, "C2": o12 + o22, "N": n}
    if columns.issuperset(SIGNATURE):
        marginals |= {"f": o11, "f1": marginals["R1"], "f2": marginals["C1"]}
    for name, expected in marginals.items():
        if name in columns:
            found = _counts(frequencies, name)
            if (wrong := found != expected).any():
                row = int(wrong.argmax())
                raise InputError(
                    "frequencies",
                    f"must have marginals that agree with the cells, unlike candidate '{frequencies.index[row]}', "
                    f"with {name} = {found[row]} where the cells give {expected[row]}",
                )
    return pd.DataFrame(dict(zip(CELLS, (o11, o12, o21, o22), strict=True)), index=frequencies.index)


def deviations(o11: IntArray, r1: IntArray, c1: IntArray, n: IntArray) -> FloatArray:
    """O11 - E11 = (O11 N - R1 C1) / N to the last digit, by integers of any size; 0 where N is 0."""
    difference = o11.astype(object) * n.astype(object) - r1.astype(object) * c1.astype(object)
    return np.asarray(difference, dtype=np.float64) / np.maximum(n, 1)


def _cells(frequencies: pd.DataFrame) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    f, f1, f2, n = (_counts(frequencies, name) for name in SIGNATURE)
    for name, word in (("f1", f1), ("f2", f2)):
        _require(frequencies, f <= word, f"f <= {name}", **{"f": f, name: word})
        _require(frequencies, word <= n, f"{name} <= N", **{name: word, "N": n})
    # f1 + f2 stays below 2^54.
    o22 = n - (f1 + f2 - f)
    _require(frequencies, o22 >= 0, "f1 + f2 - f <= N", f=f, f1=f1, f2=f2, N=n)
    return f, f1 - f, f2 - f, o22


def _counts(frequencies: pd.DataFrame, column: str) -> IntArray:
    values = frequencies[column]
    if isinstance(values, pd.DataFrame):
        raise InputError("frequencies", f"must have each column once, unlike '{column}'")
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    # Comparisons with NaN are false.
    known = (numbers >= 0) & (numbers < _LIMIT) & (numbers == np.floor(numbers))
    if not known.all():
        row = int(np.argmin(known))
        raise InputError(
            "frequencies",
            f"must be whole numbers from 0 to 2^53 - 1, unlike {column} = {values.iloc[row]} of candidate "
            f"'{frequencies.index[row]}'",
        )
    return numbers.astype(np.int64)


def _require(frequencies: pd.DataFrame, holds: BoolArray, rule: str, **counts: IntArray) -> None:
    """Raise a ValueError that names the first candidate at which a rule is broken, and its counts."""
    if not holds.all():
        row = int(np.argmin(holds))
        found = ", ".join(f"{name} = {values[row]}" for name, values in counts.items())
        raise InputError("frequencies", f"must have {rule}, unlike candidate '{frequencies.index[row]}' with {found}")
