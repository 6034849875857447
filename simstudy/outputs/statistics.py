"""Arrays of Outputs, checked: statistics, answers and samples, and the counts of labels and texts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from simstudy.metrics import Metric
from simstudy.metrics.labels import PerClass
from simstudy.validation import InputError, check_unmasked

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
    try:
        array = np.array(statistics, order="C")
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
    if not (finite := np.isfinite(array)).all():
        system, item, s = np.argwhere(~finite)[0]
        value = f"item '{ids[item]}' of system '{names[system]}' has {metric.statistics[s]} = {array[system, item, s]}"
        raise InputError("statistics", f"must be finite; {value}")
    if array.dtype.kind == "f" or np.iinfo(array.dtype).max * array.shape[1] < _LARGEST_SUM:
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
    array = np.asarray(samples)
    if array.shape != (*shape, 2) or array.dtype.kind not in "iuf":
        raise InputError("samples", f"must be numbers of shape {(*shape, 2)}", array.shape)
    number, variance = array[..., 0], array[..., 1]
    if not ((number >= 1) & (number == np.rint(number)) & np.isfinite(number)).all():
        raise InputError("samples", "must have whole numbers of samples from 1 on")
    if (variance < 0).any() or np.isinf(variance).any():
        raise InputError("samples", "must have variances of at least 0, or NaN where they are not known")
    return array.astype(np.float64)


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


def label_texts(argument: str, values: object) -> list[str]:
    """Labels as text without blanks around it, whole numbers without a decimal point; InputError if one is missing."""
    column = pd.Series(values)
    if (missing := column.isna()).any():
        raise InputError(argument, f"must have a label for every item; number {int(missing.argmax()) + 1} has none")
    if is_float_dtype(column.dtype) and (column == column.round()).all():
        column = column.astype(np.int64)
    return [str(label).strip() for label in column]


def answer_statistics(
    argument: str,
    references: Sequence[str | Sequence[str]],
    answers: Mapping[Hashable, list[str]],
    metric: Metric,
    **options: Any,
) -> tuple[NDArray[Any], Metric, Answers]:
    """Counts (K, n, S) of answers by system, the metric with its classes or signature, and the answers' numbers (K, n).

    The answers are texts or labels. An item has one reference or several; `options` are those of `Metric.text_counter`.
    """
    n_items = len(next(iter(answers.values())))
    if len(references) != n_items:
        raise InputError(argument, f"must be {n_items:,}, one for each row of the answers", len(references))
    lists = [[texts] if isinstance(texts, str) else list(texts) for texts in references]
    if isinstance(metric, PerClass):
        metric = metric.with_classes(chain(*lists, *answers.values()))
    counter = metric.text_counter(lists, **options)
    assert counter is not None
    codes, _ = pd.factorize(np.array(list(chain(*answers.values())), dtype=object))
    counts = np.stack([counter.statistics(texts) for texts in answers.values()])
    return counts, metric.signed(counter.signature), codes.reshape(len(answers), n_items)
