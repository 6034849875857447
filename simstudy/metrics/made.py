"""Metrics that users make: a Python function of summed statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from simstudy.fingerprints import fingerprint
from simstudy.metrics.base import Array, FloatArray, Metric, Unit
from simstudy.provenance import program_of
from simstudy.validation import brief, check_choice, check_flag, check_list, check_text


@dataclass(frozen=True)
class MadeMetric(Metric):
    """A metric by a user's function; `metric` makes it.

    Attributes
    ----------
    program
        A hash of the function's source, by which results of another version of it are told apart.
    function
        Takes an array of sums for each statistic, and returns an array of scores of their shape.
    """

    program: str = field(default="", kw_only=True)
    function: Callable[..., Any] = field(default=np.add, kw_only=True, repr=False, compare=False)

    def score(self, sums: Array) -> FloatArray:
        values = self._values(sums)
        return np.where(np.isfinite(values), values, 0.0)

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.isfinite(self._values(sums))

    def _values(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums, dtype=np.float64)
        try:
            with np.errstate(all="ignore"):
                return np.asarray(self.function(*np.moveaxis(sums, -1, 0)), dtype=np.float64)
        except (Exception, SystemExit) as error:
            # Neither a bug of ours nor an end of the program: whoever made the function is told.
            said = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"score of metric '{self.name}' fails: {said}") from None


def metric(
    name: str,
    score: Callable[..., Any],
    *,
    columns: Sequence[str] | None = None,
    lower_is_better: bool = False,
    unit: Unit = "",
    of_item: Sequence[str] = (),
) -> MadeMetric:
    """Make a metric of a function of summed statistics.

    Parameters
    ----------
    name
        What tables and figures call it; none of the registry's names.
    score
        Takes one array for each column: that statistic summed over the items, for any number of test sets at a time.
        Returns the scores, an array of the same shape; no score may depend on its neighbours. Where it is not a finite
        number (0 / 0) the score is 0.
    columns
        Names of an item's statistics, in the order of the function's arguments; by default the arguments' names.
    lower_is_better
        Whether the score counts errors or costs.
    unit
        "percent" (a gain is then in points), "points", "probability", or "" for a scale of its own.
    of_item
        Those of the columns that belong to the item, such as the number of gold answers: they stay where a system
        gives no answer (``missing="zero"``).

    Raises
    ------
    ValueError
        For a name or columns that are no names, and a function that does not take the columns or does not return one
        number for each.

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
    """
    check_text("name", name)
    if not name.strip():
        raise ValueError("name must be a text that is not blank")
    check_flag("lower_is_better", lower_is_better)
    check_choice("unit", unit, get_args(Unit))
    if not callable(score):
        raise ValueError(f"score must be a function of summed statistics, not {brief(score)}")
    names = _arguments(score) if columns is None else columns
    for argument, listed in (("columns", names), ("of_item", of_item)):
        check_list(argument, listed, "names")
        for column in listed:
            check_text(argument, column, "a list of names")
    if len(names) == 0 or len(set(names)) < len(names):
        raise ValueError(f"columns must be at least one name, and each once, not {brief(list(names))}")
    made = MadeMetric(
        name,
        tuple(names),
        not lower_is_better,
        of_item=tuple(of_item),
        unit=unit,
        program=fingerprint([program_of(score)]),
        function=score,
    )
    _check_elementwise(made)
    return made


def _arguments(score: Callable[..., Any]) -> list[str]:
    try:
        parameters = signature(score).parameters.values()
    except (ValueError, TypeError):
        raise ValueError("columns must be given: the function does not say what its arguments are called") from None
    if any(one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) for one in parameters):
        raise ValueError("columns must be given: the function takes any number of arguments")
    return [one.name for one in parameters if one.default is Parameter.empty]


def _check_elementwise(made: MadeMetric) -> None:
    """Raise a ValueError where the function does not give each row of sums a score of its own."""
    sums = np.arange(1.0, 1 + 6 * len(made.statistics)).reshape(2, 3, -1) % 7 + 1
    try:
        together = made.score(sums)
        alone = np.array([[made.score(row) for row in rows] for rows in sums])
    except ValueError as error:
        raise ValueError(
            f"score must be a function of {len(made.statistics)} arrays ({', '.join(made.statistics)}): {error}"
        ) from None
    if together.shape != (2, 3) or alone.shape != (2, 3) or not np.allclose(together, alone, rtol=1e-12):
        raise ValueError(
            "score must return one number for each test set, which does not depend on the others: arrays of sums in, "
            f"an array of scores of the same shape out, not of shape {together.shape} for (2, 3)"
        )
