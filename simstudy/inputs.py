"""What Outputs are made from, checked: scores, statistics, and the tables of systems and items."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from simstudy.metrics import Metric
from simstudy.validation import brief, check_list


def keyed_table(
    given: Sequence[Hashable] | pd.DataFrame | None, n: int, argument: str, key: str, default: list[str]
) -> pd.DataFrame:
    """The systems or items table, with its key column first, as text, complete and without repeats."""
    if isinstance(given, pd.DataFrame):
        if key not in given:
            raise ValueError(f"{argument} must have a column '{key}'; it has {', '.join(map(str, given.columns))}")
        table = given.reset_index(drop=True)
        table = table[[key, *(c for c in table.columns if c != key)]]
        labels = pd.Series([str(label) for label in table.columns])
        if labels.duplicated().any():
            raise ValueError(
                f"{argument} must have columns of different names, unlike '{labels[labels.duplicated()].iloc[0]}'"
            )
    elif given is not None and (isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Iterable)):
        raise ValueError(
            f"{argument} must be a list of names or a table, in the order of the statistics, not {brief(given)}"
        )
    else:
        names = default if given is None else list(given)
        check_utf8((name for name in names if isinstance(name, str)), argument)
        table = pd.DataFrame({key: names})
    if len(table) != n:
        raise ValueError(f"{argument} must have {n} rows, as the statistics have, not {len(table)}")
    if table[key].isna().any():
        raise ValueError(f"{argument} must have a {key} in every row")
    table[key] = table[key].astype(str)
    check_unique(table[key], argument)
    return table


def number_list(argument: str, values: object) -> NDArray[np.float64]:
    """A list of numbers as an array (n,) of floats; ValueError where it is something else, or has NaN.

    Examples
    --------
    >>> number_list("recalls", [0.5, "high"])
    Traceback (most recent call last):
    ValueError: recalls must be a list of numbers, not [0.5, 'high']
    """
    check_list(argument, values, "numbers")
    check_unmasked(argument, values)
    listed = list(values)  # type: ignore[call-overload]
    # Text is a number to numpy, and so is what is true.
    if any(isinstance(value, bool | np.bool_) or not isinstance(value, Real) or value != value for value in listed):
        raise ValueError(f"{argument} must be a list of numbers, not {brief(values)}")
    return np.array(listed, dtype=np.float64)


def check_utf8(names: Iterable[str], what: str) -> None:
    r"""Raise a ValueError that names the first text with half a character, as damaged files have.

    Examples
    --------
    >>> check_utf8(["naïve", "\ud83d"], "systems")
    Traceback (most recent call last):
    ValueError: systems must be named in whole characters (UTF-8), unlike '\ud83d'
    """
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{what} must be named in whole characters (UTF-8), unlike {name!r}") from None


def matched_table(given: object, names: Sequence[str], argument: str, key: str, axis: pd.Index[Any]) -> pd.DataFrame:
    """A table whose rows describe what a frame of scores names, brought into the frame's order by its key column.

    Parameters
    ----------
    given
        A table with the column `key`.
    names
        What the frame calls them, in its order.
    argument, key
        For messages: "systems" and "name", or "items" and "id".
    axis
        The frame's labels. Where they are no more than the numbers of rows, and the table has other keys, its rows are
        taken in their order: there is nothing else to go by.

    Raises
    ------
    ValueError
        Where it is no such table, or one of the names is on one side only, or twice.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["b", "a"], "group": ["x", "y"]})
    >>> matched_table(table, ["a", "b"], "systems", "name", pd.Index(["a", "b"]))["group"].tolist()
    ['y', 'x']
    """
    if not isinstance(given, pd.DataFrame):
        raise ValueError(f"{argument} must be a table with a column '{key}', not {type(given).__name__}")
    table = keyed_table(given, len(given), argument, key, [])
    check_unique(pd.Series(list(names), dtype=object), argument)
    numbered = isinstance(axis, pd.RangeIndex) and axis.equals(pd.RangeIndex(len(axis))) and axis.name is None
    if set(table[key]) != set(names):
        if numbered and len(table) == len(names):
            return table
        both = set(table[key]) & set(names)
        lacking = [name for name in names if name not in both]
        side = "the table lacks" if lacking else "the scores lack"
        first = lacking[0] if lacking else next(name for name in table[key] if name not in both)
        raise ValueError(f"{argument} must have a row for each {key} of the scores, and no other; {side} '{first}'")
    return table.set_index(key).loc[list(names)].reset_index()


def merged_columns(one: pd.DataFrame, other: pd.DataFrame, what: str, key: str) -> pd.DataFrame:
    """What two tables of the same rows, in the same order, know together; ValueError where they say unlike things.

    Examples
    --------
    >>> one = pd.DataFrame({"id": ["x", "y"], "domain": ["news", None]})
    >>> other = pd.DataFrame({"id": ["x", "y"], "domain": ["news", "web"], "cluster": [1, 2]})
    >>> merged_columns(one, other, "item", "id").to_dict("list")
    {'id': ['x', 'y'], 'domain': ['news', 'web'], 'cluster': [1, 2]}
    """
    merged = one.copy()
    for name in other.columns.drop(key):
        theirs = other[name].set_axis(one.index)
        if name not in one:
            merged[name] = theirs
            continue
        ours = one[name]
        unlike = ours.notna() & theirs.notna() & (ours.astype(object) != theirs.astype(object))
        if unlike.any():
            at = int(np.argmax(unlike))
            raise ValueError(
                f"{what} '{one[key].iloc[at]}' has the {name} '{ours.iloc[at]}' here and '{theirs.iloc[at]}' there"
            )
        if ours.isna().any() and theirs.notna().any():
            merged[name] = ours.astype(object).where(ours.notna(), theirs).infer_objects()
    return merged


def check_unmasked(argument: str, values: object) -> None:
    """Raise a ValueError where values are masked, or a list holds such arrays: without the mask they count as given.

    Examples
    --------
    >>> check_unmasked("scores", [np.ma.array([1, 2], mask=[0, 1])])
    Traceback (most recent call last):
    ValueError: scores must not be masked, as 1 value is: take such items out, or fill them (.filled())
    """
    if isinstance(values, np.ma.MaskedArray):
        masked = int(np.ma.count_masked(values))  # type: ignore[no-untyped-call]
        if masked:
            what = "1 value is" if masked == 1 else f"{masked:,} values are"
            raise ValueError(f"{argument} must not be masked, as {what}: take such items out, or fill them (.filled())")
    elif isinstance(values, list | tuple):
        for part in values:
            check_unmasked(argument, part)


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


def score_values(scores: pd.DataFrame) -> NDArray[Any]:
    """The numbers of a frame of scores: integers where all columns are whole or true/false, else floats."""
    if not isinstance(scores, pd.DataFrame):
        raise ValueError(f"scores must be a pandas DataFrame (items x systems), not {type(scores).__name__}")
    is_number = [is_bool_dtype(kind) or is_integer_dtype(kind) or is_float_dtype(kind) for kind in scores.dtypes]
    if not all(is_number):
        wrong = is_number.index(False)
        raise ValueError(f"scores must be numbers; column '{scores.columns[wrong]}' is {scores.dtypes.iloc[wrong]}")
    if scores.isna().any(axis=None):
        item, system = np.argwhere(scores.isna().to_numpy())[0]
        raise ValueError(
            f"scores must be complete; item '{scores.index[item]}' of system '{scores.columns[system]}' is missing"
        )
    floats = any(is_float_dtype(kind) for kind in scores.dtypes)
    return scores.to_numpy(dtype=np.float64 if floats else np.int64)


def response_statistics(
    gold: Iterable[Hashable], responses: Mapping[str, Iterable[Hashable]]
) -> tuple[NDArray[np.int8], list[str]]:
    """(correct, guessed, gold) of each distinct response, shape (K systems, n responses, 3), and the responses' texts.

    Gold responses come first, then the spurious ones as they appear.
    """
    if not isinstance(responses, Mapping) or not responses:
        raise ValueError(f"responses must map the name of each system to what it found, not {brief(responses)}")
    wanted = _distinct(gold, "gold")
    found = [_distinct(given, f"responses of system '{name}'") for name, given in responses.items()]
    positions = {response: i for i, response in enumerate(dict.fromkeys(chain(wanted, *found)))}
    if not positions:
        raise ValueError("gold and responses must hold at least one response")
    texts = pd.Series([str(response) for response in positions])
    if texts.duplicated().any():
        raise ValueError(f"responses must differ as text; two read '{texts[texts.duplicated()].iloc[0]}'")
    statistics = np.zeros((len(found), len(positions), 3), dtype=np.int8)
    statistics[:, : len(wanted), 2] = 1
    for k, own in enumerate(found):
        statistics[k, [positions[response] for response in own], 1] = 1
    statistics[..., 0] = statistics[..., 1] & statistics[..., 2]
    return statistics, texts.tolist()


def _distinct(given: Iterable[Hashable], argument: str) -> list[Hashable]:
    """The responses in their order, a set's in that of their texts; ValueError where one is there twice."""
    if isinstance(given, str | Mapping | pd.DataFrame) or not isinstance(given, Iterable):
        raise ValueError(f"{argument} must be a list or set of responses, not {brief(given)}")
    # A set of texts has another order in every process.
    listed = sorted(given, key=str) if isinstance(given, set | frozenset) else list(given)
    seen: set[Hashable] = set()
    for response in listed:
        try:
            known = response in seen
        except TypeError:
            raise ValueError(f"{argument} must be hashable (text, numbers, tuples), unlike {response!r}") from None
        if known:
            raise ValueError(f"{argument} must be distinct; '{response}' occurs twice")
        seen.add(response)
    return listed


def statistics_array(statistics: object) -> NDArray[Any]:
    """Statistics as one array of numbers of this machine's kind; ValueError where they are something else."""
    parts = statistics if isinstance(statistics, list | tuple) else [statistics]
    if any(isinstance(part, pd.DataFrame | pd.Series | Mapping) for part in parts):
        raise ValueError(
            "statistics must be an array, in which systems and items go by position, not tables with names of their "
            "own: bring these into one order and take .to_numpy()"
        )
    check_unmasked("statistics", statistics)
    try:
        array = np.array(statistics, order="C")
    except ValueError:
        raise ValueError("statistics must be one rectangular array: systems x items x statistics") from None
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def check_statistics(array: NDArray[Any], metric: Metric) -> None:
    """Raise a ValueError where an array is not (systems, items, the metric's statistics) of finite numbers."""
    width = len(metric.statistics)
    if array.ndim != 3 or array.shape[2] != width:
        raise ValueError(
            f"statistics must have shape (systems, items, {width}: {', '.join(metric.statistics)}) "
            f"for metric '{metric.name}', not {array.shape}"
        )
    if 0 in array.shape:
        raise ValueError(f"statistics must have at least one system and one item, not shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"statistics must be numbers, not {array.dtype}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        system, item, s = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"statistics must be finite; system number {system}, item number {item} has "
            f"{metric.statistics[s]} = {array[system, item, s]}"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum(axis=1, dtype=np.float64)).all():
            raise ValueError("statistics must have finite sums; some are too large to add")
    sizes = np.abs(array.astype(np.float64)).sum(axis=1) if array.dtype.kind in "iu" else np.zeros((1, width))
    if sizes.max() >= 2**53:
        system, s = np.argwhere(sizes >= 2**53)[0]
        raise ValueError(
            f"statistics of whole numbers must sum to less than 2^53; {metric.statistics[s]} of system number {system} "
            f"reaches {sizes[system, s]:.3g}"
        )
