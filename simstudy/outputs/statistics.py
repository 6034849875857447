"""Arrays of Outputs, checked: statistics, answers and samples, and the counts of labels and of responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from simstudy.metrics import Metric
from simstudy.metrics.labels import PerClass, label_counts
from simstudy.validation import InputError, check_mapping, check_unmasked

Answers = NDArray[np.int64]
"""(K systems, n items) numbers that stand for what the systems answered."""

Samples = NDArray[np.float64]
"""(K systems, n items, 2): the number of samples, and the unbiased variance of one of them, NaN for one sample."""

# Whole numbers are added without an error below this.
_LARGEST_SUM = 2**53


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array in one piece, which nobody can write to."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def statistics_array(statistics: object, metric: Metric) -> NDArray[Any]:
    """Statistics as an array (K systems, n items, the metric's statistics) of numbers, or an InputError."""
    parts = statistics if isinstance(statistics, list | tuple) else [statistics]
    if any(isinstance(part, pd.DataFrame | pd.Series) for part in parts):
        # Rows of tables would be matched by their positions, whatever their names are.
        raise InputError("statistics", "must be an array, not tables: put all into one order and pass .to_numpy()")
    check_unmasked("statistics", statistics)
    # An array that its owner cannot write to needs no copy.
    is_fixed = isinstance(statistics, np.ndarray) and statistics.base is None and not statistics.flags.writeable
    try:
        array = np.array(statistics, order="C", copy=None if is_fixed else True)
    except ValueError:
        raise InputError("statistics", "must be one rectangular array: systems x items x statistics") from None
    if array.dtype.kind == "b":
        array = array.astype(np.int8)
    n_statistics = len(metric.statistics)
    if n_statistics == 0:
        raise InputError(f"metric '{metric.name}' needs the classes of its labels: Outputs.from_labels finds them")
    if array.ndim != 3 or array.shape[2] != n_statistics:
        rule = f"(systems, items, {n_statistics}: {', '.join(metric.statistics)}) for metric '{metric.name}'"
        raise InputError("statistics", f"must have shape {rule}", array.shape)
    if 0 in array.shape:
        raise InputError("statistics", f"must have at least one system and one item, not shape {array.shape}")
    if not array.dtype.isnative or array.dtype.kind not in "iuf" or array.dtype in (np.float16, np.longdouble):
        raise InputError("statistics", f"must be numbers (whole, float32 or float64), not {array.dtype}")
    return array


def check_sums(array: NDArray[Any], metric: Metric, names: Sequence[str], ids: Sequence[str]) -> None:
    """Raise an InputError for statistics (K, n, S) that are not finite, or too large to be added without an error."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            sums = array.sum(axis=1, dtype=np.float64)
        if np.isfinite(sums).all():
            return
        if np.isfinite(array).all():
            raise InputError("statistics", "must have finite sums; some are too large to add")
        system, item, s = np.argwhere(~np.isfinite(array))[0]
        value = f"item '{ids[item]}' of system '{names[system]}' has {metric.statistics[s]} = {array[system, item, s]}"
        raise InputError("statistics", f"must be finite; {value}")
    if np.iinfo(array.dtype).max * array.shape[1] < _LARGEST_SUM:
        return
    sizes = np.abs(array.astype(np.float64)).sum(axis=1)
    if sizes.max() >= _LARGEST_SUM:
        system, s = np.argwhere(sizes >= _LARGEST_SUM)[0]
        size = f"{metric.statistics[s]} of system '{names[system]}' reaches {sizes[system, s]:.3g}"
        raise InputError("statistics", f"of whole numbers must sum to less than 2^53; {size}")


def answers_array(answers: ArrayLike, shape: tuple[int, ...]) -> Answers:
    """Answers as an array; InputError if they are no whole numbers of this shape."""
    array = np.asarray(answers)
    if array.shape != shape or array.dtype.kind not in "iu":
        raise InputError("answers", f"must be whole numbers of shape {shape}, as the statistics have", array.shape)
    return array.astype(np.int64)


def samples_array(samples: ArrayLike, shape: tuple[int, ...]) -> Samples:
    """Samples as an array; InputError for another shape, numbers below 1, and variances below 0."""
    try:
        array = np.array(samples, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (*shape, 2):
        raise InputError("samples", f"must be numbers of shape {(*shape, 2)}", array.shape)
    number, variance = array[..., 0], array[..., 1]
    if not ((number >= 1) & (number == np.rint(number)) & np.isfinite(number)).all():
        raise InputError("samples", "must have whole numbers of samples from 1 on")
    if (variance < 0).any() or np.isinf(variance).any():
        raise InputError("samples", "must have variances of at least 0, or NaN where they are not known")
    return array


def score_values(scores: pd.DataFrame) -> NDArray[Any]:
    """The numbers of a frame of scores: integers if all columns are whole or true/false, else floats."""
    for name, kind in scores.dtypes.items():
        is_number = is_bool_dtype(kind) or is_integer_dtype(kind) or is_float_dtype(kind)
        if not is_number or kind in (np.float16, np.longdouble):
            rule = "must be numbers (whole, float32, float64, true or false)"
            raise InputError("scores", f"{rule}; column '{name}' is {kind}")
    if (missing := scores.isna().to_numpy()).any():
        item, system = np.argwhere(missing)[0]
        cell = f"item '{scores.index[item]}' of system '{scores.columns[system]}' is missing"
        raise InputError("scores", f"must be complete; {cell}")
    return scores.to_numpy(dtype=np.float64 if any(map(is_float_dtype, scores.dtypes)) else np.int64)


def label_statistics(
    gold: object, predicted: pd.DataFrame, metric: Metric
) -> tuple[NDArray[Any], Metric, NDArray[np.int64]]:
    """The counts of predicted labels (n items, K systems), the metric of their classes, and the labels as answers."""
    gold_labels = _labels(gold, "gold")
    if len(gold_labels) != len(predicted):
        raise InputError("gold", f"must have {len(predicted)} labels, as the predicted ones", len(gold_labels))
    predictions = [
        _labels(predicted.iloc[:, k].to_numpy(), f"predicted of system '{name}'")
        for k, name in enumerate(predicted.columns)
    ]
    if isinstance(metric, PerClass):
        metric = metric.with_classes(chain(gold_labels, *predictions))
    codes, _ = pd.factorize(np.array(list(chain(*predictions)), dtype=object))
    counts = np.stack([label_counts(metric, gold_labels, labels) for labels in predictions])
    return counts, metric, codes.reshape(len(predictions), -1)


def _labels(values: object, argument: str) -> list[str]:
    """Labels as text without blanks around it, whole numbers without a decimal point; InputError if one is missing."""
    column = pd.Series(values)
    if (missing := column.isna()).any():
        raise InputError(argument, f"must have a label for every item; number {int(missing.argmax()) + 1} has none")
    if is_float_dtype(column.dtype) and (column == column.round()).all():
        column = column.astype(np.int64)
    return [str(label).strip() for label in column]


def response_statistics(
    gold: Iterable[Hashable], responses: Mapping[str, Iterable[Hashable]]
) -> tuple[NDArray[np.int8], list[str]]:
    """(correct, guessed, gold) of each distinct response, shape (K systems, n responses, 3), and the responses' texts.

    Gold responses come first, then the spurious ones as they appear.
    """
    check_mapping("responses", responses, "the name of each system to its responses")
    right = _distinct(gold, "gold")
    by_system = [_distinct(given, f"responses of system '{name}'") for name, given in responses.items()]
    positions = {response: i for i, response in enumerate(dict.fromkeys(chain(right, *by_system)))}
    if not positions:
        raise InputError("gold and responses", "must hold at least one response")
    statistics = np.zeros((len(by_system), len(positions), 3), dtype=np.int8)
    statistics[:, : len(right), 2] = 1
    for k, given in enumerate(by_system):
        statistics[k, [positions[response] for response in given], 1] = 1
    statistics[..., 0] = statistics[..., 1] & statistics[..., 2]
    return statistics, [str(response) for response in positions]


def _distinct(given: Iterable[Hashable], argument: str) -> list[Hashable]:
    """The responses in their order, a set's in the order of their texts; InputError if one occurs twice."""
    if isinstance(given, str | Mapping | pd.DataFrame) or not isinstance(given, Iterable):
        raise InputError(argument, "must be a list or set of responses", given)
    # A set of texts has another order in every process.
    responses = sorted(given, key=str) if isinstance(given, set | frozenset) else list(given)
    try:
        response, n = Counter(responses).most_common(1)[0] if responses else (None, 0)
    except TypeError:
        raise InputError(argument, "must be hashable (text, numbers, tuples)") from None
    if n > 1:
        raise InputError(argument, f"must be distinct; '{response}' occurs twice")
    return responses
