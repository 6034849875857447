"""Metrics that users make: a Python function of summed statistics, or of the items' arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from numbers import Real
from types import CodeType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics import get_metric
from simstudy.metrics.arrays import ArrayMetric, real_numbers
from simstudy.metrics.base import Array, FloatArray, Metric, Unit, summed
from simstudy.running.fingerprints import fingerprint
from simstudy.text.plain_text import printable
from simstudy.validation import InputError, check_choice, check_flag, check_text, check_texts


@dataclass(frozen=True, repr=False)
class UserMetric(Metric):
    """A metric by a user's function of summed statistics; `metric` makes it."""

    #: A hash of the function's code and of the values that it uses: functions differ in it.
    program: str = field(default="", kw_only=True)
    #: Takes an array of sums for each statistic, and returns an array of scores of their shape.
    function: Callable[..., Any] = field(default=np.add, kw_only=True, repr=False, compare=False)

    def score(self, sums: Array) -> FloatArray:
        values = self._values(sums)
        return np.where(np.isfinite(values), values, 0.0)

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.isfinite(self._values(sums))

    def check_scores(self, statistics: Array, systems: Sequence[str]) -> None:
        self.check_finite(statistics, self._values(summed(statistics)), systems)

    def _values(self, sums: Array) -> FloatArray:
        # A copy: the function may change it.
        columns = np.moveaxis(np.array(sums, dtype=np.float64), -1, 0)
        return real_numbers(self.function, [*columns], f"score({', '.join(self.statistics)}) of metric '{self.name}'")


def metric(
    name: str,
    score: Callable[..., Any],
    *,
    columns: Sequence[str] | None = None,
    lower_is_better: bool = False,
    unit: Unit = "",
    of_item: Sequence[str] = (),
    resample: bool = False,
) -> UserMetric | ArrayMetric:
    """A metric of a function of summed statistics, or, with ``resample=True``, of the items' own values.

    Parameters
    ----------
    name
        Its name in tables and figures: printable, without a bar, and none of the registry's names.
    score
        Takes an array for each column, the sums of that statistic in any number of test sets, and returns an array of
        their scores; each score depends on one test set alone. If it is no finite number (0 / 0), a resample scores 0,
        and a whole test set is refused.
    columns
        Names of an item's statistics, in the order of the function's arguments; by default the arguments' names.
    lower_is_better
        Whether the score counts errors or costs.
    unit
        "percent" (a gain is then in points), "points", "probability", or "" for a scale of its own.
    of_item
        The columns that belong to the item, such as the number of gold answers: an item without an answer
        (``missing="zero"``) has them too.
    resample
        For scores that are no function of sums (a median, a quantile, an agreement). The function then takes one array
        for each column, with a value for each item, and returns one number. It is called again for each system and
        resample, on the items of the resample in their order. Tests and intervals are the bootstrap's by default;
        tests of items' contributions do not apply. "auc", "median", "pearson" and "spearman" are faster.

    Raises
    ------
    ValueError
        If the function does not take the columns, or does not return one number for each test set.

    Notes
    -----
    The function should be smooth: sign flips and intervals replace it by its slope. If it has steps (rounding,
    thresholds) they are wrong; use ``test="randomization"``, which is valid for any function if the systems' results
    could be exchanged. The metric's signature is a hash of the function's code, defaults and enclosed values.

    Examples
    --------
    The geometric mean of precision and recall:

    >>> import simstudy as ss
    >>> fm = ss.metric("fowlkes-mallows", lambda correct, guessed, gold: 100 * correct / np.sqrt(guessed * gold))
    >>> fm.statistics
    ('correct', 'guessed', 'gold')
    >>> outputs = ss.Outputs.from_statistics([[[3, 4, 9], [3, 5, 7]]], fm)
    >>> outputs.scores().tolist()   # 600 / sqrt(9 * 16)
    [50.0]

    The third quartile of item scores, on resampled items:

    >>> third = ss.metric("upper quartile", lambda score: np.quantile(score, 0.75), resample=True)
    >>> ss.Outputs.from_statistics(np.arange(10).reshape(1, 5, 2)[..., :1], third).scores().tolist()
    [6.0]
    """
    check_text("name", name)
    if not name.strip() or "|" in name or printable(name) != name:
        raise InputError("name", "must be printable text that is not blank and has no bar (|)", name)
    check_flag("lower_is_better", lower_is_better)
    check_flag("resample", resample)
    check_choice("unit", unit, get_args(Unit))
    if not callable(score):
        raise InputError("score", "must be a function of summed statistics", score)
    names = _arguments(score) if columns is None else columns
    for argument, listed in (("columns", names), ("of_item", of_item)):
        check_texts(argument, listed, "names")
    if len(names) == 0 or len(set(names)) < len(names):
        raise InputError("columns", "must be at least one name, and each once", list(names))
    program = fingerprint(_content(score))
    made = (ArrayMetric if resample else UserMetric)(
        name, tuple(names), not lower_is_better, of_item=tuple(of_item), unit=unit, signature=f"source:{program[:12]}",
        program=program, function=score,
    )  # fmt: skip
    # It refuses names of simstudy.
    get_metric(made)
    if isinstance(made, UserMetric):
        _check_elementwise(made)
    return made


# The memory address of a function or an object.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _content(part: Any) -> Any:
    """The properties in which functions differ: code, constants, defaults, enclosed values, numbers of the module."""
    if isinstance(part, CodeType):
        return [part.co_code.hex(), part.co_names, *map(_content, part.co_consts)]
    code = getattr(part, "__code__", None)
    if isinstance(code, CodeType):
        numbers = [value for name in code.co_names if isinstance(value := part.__globals__.get(name), Real)]
        enclosed = [cell.cell_contents for cell in part.__closure__ or ()]
        values = (part.__defaults__, part.__kwdefaults__, numbers, enclosed)
        return [*_content(code), *(_ADDRESS.sub("", repr(value)) for value in values)]
    return sorted(map(repr, part)) if isinstance(part, frozenset) else _ADDRESS.sub("", repr(part))


def _arguments(score: Callable[..., Any]) -> list[str]:
    try:
        return list(signature(score).parameters)
    except (ValueError, TypeError):
        raise InputError("columns", "must be given: the function does not say what its arguments are called") from None


def _check_elementwise(user_metric: UserMetric) -> None:
    """Raise an InputError if the score of a test set depends on other test sets."""
    sums = np.arange(1.0, 1 + 6 * len(user_metric.statistics)).reshape(2, 3, -1) % 7 + 1
    together = user_metric.score(sums)
    alone = [[user_metric.score(row) for row in rows] for rows in sums]
    if together.shape != (2, 3):
        rule = f"must return one number for each test set: scores of shape (2, 3) as the sums, not {together.shape}"
        remedy = "if it is no function of sums: simstudy.metric(name, function, resample=True)"
        raise InputError("score", rule, remedy=remedy)
    if np.shape(alone) != together.shape or not np.allclose(together, alone, rtol=1e-12):
        raise InputError("score", "must depend on a test set's sums alone, but it depends on other test sets")
