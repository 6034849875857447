"""Metrics that users make: a Python function of summed statistics, or of the items' arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from types import CodeType, FunctionType, MethodType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics import get_metric
from simstudy.metrics.arrays import ArrayMetric, real_numbers
from simstudy.metrics.base import Array, FloatArray, Metric, Unit
from simstudy.running.fingerprints import fingerprint
from simstudy.text.plain_text import printable
from simstudy.validation import InputError, check_choice, check_flag, check_text, check_texts


@dataclass(frozen=True, repr=False)
class MadeMetric(Metric):
    """A metric by a user's function; `metric` makes it."""

    #: A hash of the function's code and of what it holds: it tells functions apart.
    program: str = field(default="", kw_only=True)
    #: Takes an array of sums for each statistic, and returns an array of scores of their shape.
    function: Callable[..., Any] = field(default=np.add, kw_only=True, repr=False, compare=False)

    def score(self, sums: Array) -> FloatArray:
        values = self._values(sums)
        return np.where(np.isfinite(values), values, 0.0)

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.isfinite(self._values(sums))

    def check_scores(self, statistics: Array, systems: Sequence[str]) -> None:
        sums = statistics.sum(axis=1, dtype=np.float64)
        for system, score in zip(systems, self._values(sums), strict=True):
            if not np.isfinite(score):
                raise InputError(
                    "score",
                    f"of metric '{self.name}' must be a finite number for the whole test set, not {score} as for "
                    f"system '{system}'",
                )

    def _values(self, sums: Array) -> FloatArray:
        # The sums are the engine's: a function that changed them would change every later score. A copy has nothing of
        # them for its base.
        copy = np.array(sums, dtype=np.float64)
        copy.flags.writeable = False
        columns = np.moveaxis(copy, -1, 0)
        return real_numbers(self.function, [*columns], self._called())

    def _called(self) -> str:
        return f"score({', '.join(self.statistics)}) of metric '{self.name}'"


def metric(
    name: str,
    score: Callable[..., Any],
    *,
    columns: Sequence[str] | None = None,
    lower_is_better: bool = False,
    unit: Unit = "",
    of_item: Sequence[str] = (),
    resample: bool = False,
) -> MadeMetric | ArrayMetric:
    """A metric of a function of summed statistics, or, with ``resample=True``, of the items' own values.

    Parameters
    ----------
    name
        What tables and figures call it: printable, without a bar, and none of the registry's names.
    score
        Takes one array for each column (with ``resample=True`` see there): that statistic summed over the items, for
        any number of test sets at a time.
        Returns the scores, an array of the same shape; each score is of one test set alone. On a resample where it is
        not a finite number (0 / 0) the score is 0; on a whole test set it must be a finite number.
    columns
        Names of an item's statistics, in the order of the function's arguments; by default the arguments' names, where
        none of them has a default.
    lower_is_better
        Whether the score counts errors or costs.
    unit
        "percent" (a gain is then in points), "points", "probability", or "" for a scale of its own.
    of_item
        Those of the columns that belong to the item, such as the number of gold answers: they stay where a system
        gives no answer (``missing="zero"``).
    resample
        For scores that are no function of sums (a median, a quantile, an agreement). The function then takes one array
        for each column, with a value for each item, and returns one number. It is called again for each system and
        resample, on the items of the resample in their order. Where it returns no finite number the score is 0.
        The bootstrap is the default test then, and intervals are the bootstrap's too; tests that need each item's
        part in a score do not apply. "auc", "median", "pearson" and "spearman" are there, and faster.

    Raises
    ------
    ValueError
        For a name or columns that are no names, and a function that does not take the columns or does not return one
        number for each.

    Notes
    -----
    The function should be smooth: sign flips and intervals replace it by its slope, and the bootstrap supposes that
    resamples differ from the test set as the test set does from the population. Of two equal systems on 150 items,
    sign flips at 0.05 called the Fowlkes-Mallows index, root mean squared errors and exponentials of means (perplexity)
    different in 3 to 6.5 % of 2,000 test sets. Where a function has steps (rounding, thresholds) they are wrong; use
    ``test="randomization"``, which is valid for any function where the systems' results could be exchanged.

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
    program = fingerprint(_code_of(score))
    known = (name, tuple(names), not lower_is_better)
    told: dict[str, Any] = {"of_item": tuple(of_item), "unit": unit, "signature": f"source:{program[:12]}"}
    if resample:
        of_arrays = ArrayMetric(*known, **told, program=program, function=score)
        get_metric(of_arrays)
        return of_arrays
    made = MadeMetric(*known, **told, program=program, function=score)
    get_metric(made)
    _check_elementwise(made)
    return made


# Values that a function may hold, or take from its module.
_VALUES = (np.ndarray, np.generic, bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (tuple, list, set, frozenset, Mapping)


def _code_of(part: Any, outer: tuple[Any, ...] = ()) -> Any:
    """The compiled code of a function, and the values and functions that it takes from elsewhere; else a name.

    `outer` are the functions and containers around this one: a function may call itself.
    """
    if isinstance(part, _VALUES):
        return part
    if any(part is each for each in outer):
        return "itself"

    def codes(*inner: Any) -> list[Any]:
        return [_code_of(each, (*outer, part)) for each in inner]

    if isinstance(part, tuple | list):
        return codes(*part)
    if isinstance(part, set | frozenset):
        return sorted(map(fingerprint, codes(*part)))
    if isinstance(part, Mapping):
        return sorted(map(fingerprint, codes(*part.items())))
    if isinstance(part, CodeType):
        return [part.co_code, part.co_names, part.co_varnames, *codes(part.co_consts)]
    if isinstance(part, FunctionType):
        held = [cell.cell_contents for cell in part.__closure__ or ()]
        used = [part.__globals__.get(name) for name in _names_in(part.__code__)]
        # Functions of other modules are known by their names.
        used = [
            one
            for one in used
            if isinstance(one, (*_VALUES, *_CONTAINERS))
            or (isinstance(one, FunctionType) and one.__module__ == part.__module__)
        ]
        return [part.__code__.co_name, *codes(part.__code__, part.__defaults__, part.__kwdefaults__, held, used)]
    if isinstance(part, functools.partial):
        return codes(part.func, part.args, part.keywords)
    if isinstance(part, MethodType):
        return codes(part.__func__, vars(part.__self__))
    if isinstance(compiled := getattr(part, "py_func", getattr(part, "__wrapped__", None)), FunctionType):
        # numba compiles it, or its results are cached.
        return codes(compiled)
    if isinstance(called := getattr(type(part), "__call__", None), FunctionType):  # noqa: B004 - its code is wanted
        return codes(called, vars(part))
    return getattr(part, "__qualname__", type(part).__qualname__)


def _names_in(code: CodeType) -> list[str]:
    """The names that a function's code, and that of the functions inside it, takes from elsewhere."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return sorted({*code.co_names}.union(*map(_names_in, inner)))


def _arguments(score: Callable[..., Any]) -> list[str]:
    try:
        parameters = signature(score).parameters.values()
    except (ValueError, TypeError):
        raise InputError("columns", "must be given: the function does not say what its arguments are called") from None
    if any(one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) for one in parameters):
        raise InputError("columns", "must be given: the function accepts any number of arguments")
    if not parameters:
        raise InputError("score", "must take an array for each statistic, but the function has no arguments")
    for one in parameters:
        if one.default is not Parameter.empty:
            raise InputError("columns", f"must be given: '{one.name}' has a default, and may be a statistic or not")
    return [one.name for one in parameters]


def _check_elementwise(made: MadeMetric) -> None:
    """Raise a ValueError where the function does not give each row of sums a score of its own."""
    sums = np.arange(1.0, 1 + 6 * len(made.statistics)).reshape(2, 3, -1) % 7 + 1
    together = made.score(sums)
    alone = [[made.score(row) for row in rows] for rows in sums]
    if together.shape != (2, 3):
        raise InputError(
            "score",
            "must return one number for each test set: of sums of shape (2, 3) scores of that shape, not of "
            f"{together.shape}",
            remedy="if it is no function of sums: simstudy.metric(name, function, resample=True)",
        )
    if any(np.shape(one) != () for row in alone for one in row) or not np.allclose(together, alone, rtol=1e-12):
        raise InputError(
            "score",
            "must depend on a test set's own sums alone: the same sums had other scores beside those of other test "
            "sets",
        )
