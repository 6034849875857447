"""Tables that users hand in, checked at the door: their columns, and that all rows of a test set ask one question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from numbers import Real
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_extension_array_dtype, is_numeric_dtype

from simstudy.schema import names_of
from simstudy.validation import InputError

P = ParamSpec("P")
T = TypeVar("T")

#: What tells one test set in a table of Comparisons from another.
TEST_SET = ["task", "test_set", "n_items", "metric"]

#: What all p-values and standard errors of one test set must have in common before they are put together.
QUESTION = ("test", "alternative", "convention", "unit", "strata")

#: What a table of Comparisons is, for messages.
COMPARISONS = "Comparisons, as `compare` returns them"

# What columns of other tables than Comparisons are. Those that tell rows apart (`_KEYS`) are text, or numbers where a
# file was read again, and so are some of Comparisons.
_KEYS = {"task", "test_set", "metric", "unit", "title", "elsewhere", "pairs"}

_TEXT = {"system_a", "system_b", "relation", "test", "alternative", "system", "ranking", "ranking_1", "ranking_2"}

_NUMBERS = names_of("number", "whole") | {
    *("n_accepted", "n_true", "n", "score", "score_low", "score_high", "alpha", "level", "share", "low", "high"),
    *("confidence", "confidence_05", "confidence_95", "threshold", "fit", "c", "exponent", "p_from", "p_to"),
    *("expected", "baseline", "r12", "ratio", "r12_from", "r12_to", "median", "within", "precision", "precision_1"),
    *("precision_2", "observed_50", "observed_95", "true_80", "true_80_low", "true_80_high", "average_precision"),
    *("group", "rank", "rank_low", "rank_high", "rank_low_own", "rank_high_own"),
}


class HasFrame(Protocol):
    """What has a table of pairs: `simstudy.Comparisons`."""

    @property
    def frame(self) -> pd.DataFrame:
        """The table."""


def frame_of(pairs: Any) -> pd.DataFrame:
    """The table of `simstudy.Comparisons`; anything else is as it was, and checked where it is used."""
    return pairs if isinstance(pairs, pd.DataFrame) else getattr(pairs, "frame", pairs)


def takes_pairs(
    function: Callable[Concatenate[pd.DataFrame, P], T],
) -> Callable[Concatenate[pd.DataFrame | HasFrame, P], T]:
    """A function of a table of pairs that takes `simstudy.Comparisons` too: its first argument."""
    return _taking(function, frame_of)


def takes_family(
    function: Callable[Concatenate[pd.DataFrame, P], T],
) -> Callable[Concatenate[pd.DataFrame | HasFrame, P], T]:
    """As `takes_pairs`, for functions that correct for the number of pairs: all must be there that were compared."""
    return _taking(function, _family)


def _family(pairs: Any) -> pd.DataFrame:
    table = frame_of(pairs)
    if table is not pairs and getattr(pairs, "selected", False):
        raise InputError(
            "pairs",
            f"must be all compared pairs, not the {len(table):,} that you selected: correct first, then select (if "
            "you chose these pairs before you saw results, pass Comparisons(pairs.frame))",
        )
    return table


def _taking(
    function: Callable[Concatenate[pd.DataFrame, P], T], table: Callable[[Any], pd.DataFrame]
) -> Callable[Concatenate[pd.DataFrame | HasFrame, P], T]:
    arguments = signature(function)
    first = next(iter(arguments.parameters))

    @wraps(function)
    def of_either(*args: Any, **options: Any) -> T:
        try:
            bound = arguments.bind(*args, **options)
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        bound.arguments[first] = table(bound.arguments[first])
        return function(*bound.args, **bound.kwargs)

    return of_either


def check_table(
    argument: str, table: object, columns: Sequence[str], what: str | None = None, *, empty: bool = False
) -> None:
    """Raise a ValueError where `table` is no table, lacks a column or all rows, or has unlike things in a column.

    What must be in a column its name tells: numbers in ``gain``, text in ``system_a``. Messages say `what` it must be;
    by default a table with these columns. Only where `empty` is true it may have no rows.
    """
    what = what or f"a table with the columns {', '.join(columns)}"
    if not isinstance(table, pd.DataFrame):
        raise InputError(argument, f"must be {what}", table)
    check_columns(argument, table, columns, what)
    if table.empty and not empty:
        raise InputError(argument, "must have at least one row")
    for name in table.columns[table.columns.duplicated()]:
        raise InputError(argument, f"must have each column once, unlike '{name}'")
    for name in columns:
        _check_column(argument, name, table[name])


def check_columns(argument: str, table: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Raise a ValueError that names the first few columns that a table lacks."""
    if missing := [column for column in columns if column not in table]:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise InputError(argument, f"must be {what}; no column {', '.join(missing[:5])}{more}")


def _check_column(argument: str, name: str, column: pd.Series[Any]) -> None:
    if column.empty:
        return
    if name in _NUMBERS:
        wrong = _no_number(column)
        if wrong is not None:
            raise InputError(argument, f"must have numbers in column '{name}'", wrong)
    elif name in _TEXT | _KEYS:
        if column.isna().any():
            raise InputError(
                argument,
                f"must have a value in every row of column '{name}' (pandas reads empty text as missing: "
                "keep_default_na=False)",
            )
        kind = infer_dtype(column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column)
        if kind not in ("string", "empty") and (name in _TEXT or kind not in ("integer", "floating", "boolean")):
            raise InputError(argument, f"must have text in column '{name}'", column.iloc[0])


def _no_number(column: pd.Series[Any]) -> object:
    """The first cell that is no number, if there is one; NaN is a number, pd.NA is none."""
    if is_numeric_dtype(column) and not is_complex_dtype(column) and not is_bool_dtype(column):
        return pd.NA if is_extension_array_dtype(column) and column.isna().any() else None
    for value in column:
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
            return "a missing value" if value is None else value
    return None


def require_columns(pairs: object, columns: Sequence[str]) -> None:
    """Raise ValueError where these are no Comparisons with these columns and at least one row."""
    check_table("pairs", pairs, columns, COMPARISONS)


def require_one_question(pairs: pd.DataFrame, columns: Sequence[str] = QUESTION, argument: str = "pairs") -> None:
    """Raise ValueError where a test set's pairs are of several tests, sides, conventions, units, strata or seeds.

    Of several seeds, or of two test sets with one name, every two systems are there twice. Redrawn test sets are told
    apart by their column ``draw``. With fewer columns than `QUESTION` two systems may be there more than once.
    """
    apart = [column for column in TEST_SET if column in pairs]
    for column in columns:
        if column not in pairs or pairs[column].nunique(dropna=False) < 2:
            continue
        for _, rows in pairs.groupby(apart, sort=False, dropna=False, observed=True) if apart else [((), pairs)]:
            found = rows[column].drop_duplicates()
            if len(found) > 1:
                named = f" for '{rows['test_set'].iloc[0]}'" if "test_set" in rows else ""
                raise InputError(
                    argument,
                    f"must have one {column} for each test set, not {', '.join(map(str, found))}{named}; pass them "
                    "one at a time",
                )
    if columns == QUESTION and "system_a" in pairs and "system_b" in pairs:
        _require_once(pairs, argument)


def _require_once(pairs: pd.DataFrame, argument: str) -> None:
    apart = [column for column in (*TEST_SET, "draw") if column in pairs]
    first, second, names = system_codes(pairs)
    sets = pairs.groupby(apart, sort=False, dropna=False, observed=True).ngroup().to_numpy() if apart else 0
    keys = pd.DataFrame({"set": sets, "pair": np.minimum(first, second) * len(names) + np.maximum(first, second)})
    if (twice := keys.duplicated().to_numpy()).any():
        row = pairs[twice].iloc[0]
        of = f" of '{row['test_set']}'" if "test_set" in row else ""
        raise InputError(
            argument,
            f"must have every two systems of a test set once, unlike '{row['system_a']}' and '{row['system_b']}'{of} "
            "; pass one seed and one test set at a time",
        )


def require_one_table(pairs: pd.DataFrame) -> None:
    """Raise ValueError where pairs are of several test sets, tests, sides, conventions, units or strata."""
    for column in (*TEST_SET, *QUESTION):
        if column in pairs and len(values := pairs[column].unique()) > 1:
            raise InputError("pairs", f"must be of one {column}, not {', '.join(map(str, values))}")


def system_codes(pairs: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64], pd.Index[str]]:
    """Each pair's two systems as integers, and the names that these stand for."""
    # As pandas holds them: a million pairs have no object of Python's for each of their names.
    codes, names = pd.factorize(pd.concat([pairs["system_a"], pairs["system_b"]], ignore_index=True))
    return codes[: len(pairs)], codes[len(pairs) :], names


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table for JSON: None for what is missing or infinite."""
    # Not by pandas' own JSON, which rounds to 15 decimals: a p-value of 1e-20 is not 0.
    cells = table.astype(object).where(table.notna() & ~table.isin([np.inf, -np.inf]), None)
    return [{str(name): value for name, value in row.items()} for row in cells.to_dict("records")]
