"""The numbers that Outputs are made from: arrays of statistics, frames of scores and sets of responses, checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from simstudy.metrics import Metric
from simstudy.metrics.labels import PerClass, label_counts
from simstudy.validation import InputError, check_unmasked


def statistics_array(statistics: object) -> NDArray[Any]:
    """Statistics as one array of numbers of this machine's kind; ValueError where they are something else."""
    parts = statistics if isinstance(statistics, list | tuple) else [statistics]
    if any(isinstance(part, pd.DataFrame | pd.Series | Mapping) for part in parts):
        raise InputError(
            "statistics",
            "must be an array, not tables with names of systems or items: put all tables into the same order and "
            "pass .to_numpy()",
        )
    check_unmasked("statistics", statistics)
    # What its maker cannot write to any more needs no copy.
    kept = isinstance(statistics, np.ndarray) and statistics.base is None and not statistics.flags.writeable
    try:
        array = np.array(statistics, order="C", copy=None if kept else True)
    except ValueError:
        raise InputError("statistics", "must be one rectangular array: systems x items x statistics") from None
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def check_statistics(array: NDArray[Any], metric: Metric) -> None:
    """Raise a ValueError where an array is not (systems, items, the metric's statistics) of finite numbers."""
    width = len(metric.statistics)
    if width == 0:
        raise InputError(f"metric '{metric.name}' needs the classes of its labels: Outputs.from_labels finds them")
    if array.ndim != 3 or array.shape[2] != width:
        raise InputError(
            "statistics",
            f"must have shape (systems, items, {width}: {', '.join(metric.statistics)}) for metric '{metric.name}'",
            array.shape,
        )
    if 0 in array.shape:
        raise InputError("statistics", f"must have at least one system and one item, not shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise InputError("statistics", f"must be numbers, not {array.dtype}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        system, item, s = np.argwhere(~np.isfinite(array))[0]
        raise InputError(
            "statistics",
            f"must be finite; system number {system}, item number {item} has {metric.statistics[s]} = "
            f"{array[system, item, s]}",
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum(axis=1, dtype=np.float64)).all():
            raise InputError("statistics", "must have finite sums; some are too large to add")
    if array.dtype.kind == "f" or np.iinfo(array.dtype).max * array.shape[1] < 2**53:
        return
    sizes = np.abs(array.astype(np.float64)).sum(axis=1)
    if sizes.max() >= 2**53:
        system, s = np.argwhere(sizes >= 2**53)[0]
        raise InputError(
            "statistics",
            f"of whole numbers must sum to less than 2^53; {metric.statistics[s]} of system number {system} reaches "
            f"{sizes[system, s]:.3g}",
        )


def score_values(scores: pd.DataFrame) -> NDArray[Any]:
    """The numbers of a frame of scores: integers where all columns are whole or true/false, else floats."""
    is_number = [is_bool_dtype(kind) or is_integer_dtype(kind) or is_float_dtype(kind) for kind in scores.dtypes]
    if not all(is_number):
        wrong = is_number.index(False)
        raise InputError("scores", f"must be numbers; column '{scores.columns[wrong]}' is {scores.dtypes.iloc[wrong]}")
    if scores.isna().any(axis=None):
        item, system = np.argwhere(scores.isna().to_numpy())[0]
        raise InputError(
            "scores", f"must be complete; item '{scores.index[item]}' of system '{scores.columns[system]}' is missing"
        )
    floats = any(is_float_dtype(kind) for kind in scores.dtypes)
    values = scores.to_numpy(dtype=np.float64 if floats else np.int64)
    if not np.isfinite(values).all():
        item, system = np.argwhere(~np.isfinite(values))[0]
        which = f"item '{scores.index[item]}' of system '{scores.columns[system]}' has {values[item, system]}"
        raise InputError("scores", f"must be finite; {which}")
    return values


def labels_of(values: object, argument: str) -> list[str]:
    """Labels as text without blanks around it, whole numbers without a decimal point; ValueError where one lacks."""
    column = pd.Series(values)
    if (missing := column.isna()).any():
        raise InputError(argument, f"must have a label for every item; number {int(missing.argmax()) + 1} has none")
    if is_float_dtype(column.dtype) and (column == column.round()).all():
        column = column.astype(np.int64)
    return [str(label).strip() for label in column]


def label_statistics(
    gold: object, predicted: pd.DataFrame, metric: Metric
) -> tuple[NDArray[Any], Metric, NDArray[np.int64]]:
    """The counts of predicted labels (n items, K systems), the metric of their classes, and the labels as answers."""
    wanted = labels_of(gold, "gold")
    if len(wanted) != len(predicted):
        raise InputError("gold", f"must have {len(predicted)} labels, as the predicted ones", len(wanted))
    said = [
        labels_of(predicted.iloc[:, k].to_numpy(), f"predicted of system '{name}'")
        for k, name in enumerate(predicted.columns)
    ]
    if isinstance(metric, PerClass):
        metric = metric.with_classes(chain(wanted, *said))
    codes, _ = pd.factorize(np.array([label for own in said for label in own], dtype=object))
    counts = np.stack([label_counts(metric, wanted, own) for own in said])
    return counts, metric, codes.reshape(len(said), -1)


def response_statistics(
    gold: Iterable[Hashable], responses: Mapping[str, Iterable[Hashable]]
) -> tuple[NDArray[np.int8], list[str]]:
    """(correct, guessed, gold) of each distinct response, shape (K systems, n responses, 3), and the responses' texts.

    Gold responses come first, then the spurious ones as they appear.
    """
    if not isinstance(responses, Mapping) or not responses:
        raise InputError("responses", "must map the name of each system to what it found", responses)
    wanted = _distinct(gold, "gold")
    found = [_distinct(given, f"responses of system '{name}'") for name, given in responses.items()]
    positions = {response: i for i, response in enumerate(dict.fromkeys(chain(wanted, *found)))}
    if not positions:
        raise InputError("gold and responses", "must hold at least one response")
    texts = pd.Series([str(response) for response in positions])
    if texts.duplicated().any():
        raise InputError("responses", f"must be different texts; two read '{texts[texts.duplicated()].iloc[0]}'")
    statistics = np.zeros((len(found), len(positions), 3), dtype=np.int8)
    statistics[:, : len(wanted), 2] = 1
    for k, own in enumerate(found):
        statistics[k, [positions[response] for response in own], 1] = 1
    statistics[..., 0] = statistics[..., 1] & statistics[..., 2]
    return statistics, texts.tolist()


def _distinct(given: Iterable[Hashable], argument: str) -> list[Hashable]:
    """The responses in their order, a set's in that of their texts; ValueError where one is there twice."""
    if isinstance(given, str | Mapping | pd.DataFrame) or not isinstance(given, Iterable):
        raise InputError(argument, "must be a list or set of responses", given)
    # A set of texts has another order in every process.
    listed = sorted(given, key=str) if isinstance(given, set | frozenset) else list(given)
    seen: set[Hashable] = set()
    for response in listed:
        try:
            known = response in seen
        except TypeError:
            raise InputError(argument, f"must be hashable (text, numbers, tuples), unlike {response!r}") from None
        if known:
            raise InputError(argument, f"must be distinct; '{response}' occurs twice")
        seen.add(response)
    return listed
