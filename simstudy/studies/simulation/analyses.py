"""Tests of the replicates of a block, and the numbers that a cell keeps of them: all tables follow from these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.metrics.base import Array
from simstudy.studies.simulation.definition import Condition
from simstudy.studies.simulation.drawing import Block, Draws, attempt, takes_blocks
from simstudy.validation import InputError, brief

#: The method of the observed gain, which all registered tests share.
OBSERVED = "observed gain"

#: The quantity of cautions beside the interval of registered tests.
CAUTION = "caution"

#: Method -> quantity -> a number of each replicate (M,). NaN is missing; of yes and no (int8), -1.
Values = dict[str, dict[str, Array]]


class Outcome(TypedDict):
    """What an analysis says about M replicates."""

    n: int
    values: Values
    #: Where functions of study.py failed: number of the first replicate, number of replicates, error.
    failures: list[tuple[int, int, str]]


@dataclass(frozen=True)
class RegisteredTests:
    """Tests of simstudy, which share their resamples."""

    tests: tuple[str, ...]
    alternatives: tuple[str, ...]
    named: bool
    n_resamples: int
    name = "tests of simstudy"

    def outcome(self, block: Block) -> Outcome:
        """p-values of the tests that apply, the first system's observed gain, and its interval."""
        seed = block.seed("resamples")
        drawn = DrawnPairs(block.statistics, block.metric or "mean", n_resamples=self.n_resamples, seed=seed)
        gains = np.where(drawn.first_is_better, drawn.gains, -drawn.gains)
        low, high = drawn.first_interval()
        values: Values = {
            OBSERVED: {"estimate": np.where(drawn.defined, gains, np.nan)},
            f"{drawn.intervals['interval']} interval": {
                "low": low,
                "high": high,
                CAUTION: drawn.cautioned.astype(np.int8),
            },
        }
        p_values = drawn.p_values(self.tests, self.alternatives, named=self.named)
        for (test, alternative), p_value in p_values.items():
            quantity = "p_value" if alternative == "two-sided" else f"p_value, {alternative}"
            values.setdefault(test, {})[quantity] = np.where(drawn.defined, p_value, np.nan)
        return {"n": len(block), "values": values, "failures": []}


@dataclass(frozen=True)
class OwnTest:
    """A function of study.py. `code` is a hash of its files."""

    function: Callable[..., Any]
    code: str

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    def outcome(self, block: Block) -> Outcome:
        """The numbers that the function returns; replicates on which it raises an error have none."""
        numbers: dict[str, dict[str, list[Any]]] = {}
        failures: list[tuple[int, int, str]] = []
        if takes_blocks(self.function):
            result, error = attempt(self.function, block)
            if error:
                return _all_failed(block, error)
            numbers = self._by_method(result)
        else:
            for k, replicate in enumerate(block):
                result, error = attempt(self.function, replicate)
                if error:
                    failures.append((block.first + k, 1, error))
                    continue
                for method, quantities in self._by_method(result).items():
                    for quantity, number in quantities.items():
                        of_block = numbers.setdefault(method, {}).setdefault(quantity, [None] * len(block))
                        of_block[k] = number
        values: Values = {
            method: {quantity: _array(method, quantity, of_block) for quantity, of_block in quantities.items()}
            for method, quantities in numbers.items()
        }
        if any(len(array) != len(block) for quantities in values.values() for array in quantities.values()):
            raise InputError(self.name, f"must return a number for each of the {len(block):,} replicates")
        return {"n": len(block), "values": values, "failures": failures}

    def _by_method(self, result: Any) -> dict[str, dict[str, Any]]:
        """Method -> quantity -> number; without methods the function's name is the method."""
        nested = [isinstance(value, Mapping) for value in result.values()] if isinstance(result, Mapping) else [False]
        if not isinstance(result, Mapping) or (any(nested) and not all(nested)):
            shape = "{quantity: number} or {method: {quantity: number}}"
            raise InputError(self.name, f"must return {shape}, not {brief(result)}")
        return dict(result) if all(nested) else {self.name: dict(result)}


def _array(method: str, quantity: str, values: Iterable[Any]) -> Array:
    """The numbers of replicates as an array; None is missing."""
    numbers = list(values)
    if all(number is None or isinstance(number, bool | np.bool_) for number in numbers):
        return np.array([-1 if number is None else number for number in numbers], dtype=np.int8)
    try:
        return np.array([np.nan if number is None else float(number) for number in numbers])
    except (TypeError, ValueError) as error:
        raise InputError(f"{method}, {quantity}", f"must be a number, or True or False: {error}") from None


def analyse(draws: Draws, condition: Condition, analysis: RegisteredTests | OwnTest, number: int) -> Outcome:
    """One cell: draw a block of a condition, and analyse it."""
    blocks = draws.blocks(condition, number)
    return joined([_all_failed(block, block.error) if block.error else analysis.outcome(block) for block in blocks])


def _all_failed(block: Block, error: str) -> Outcome:
    return {"n": len(block), "values": {}, "failures": [(block.first, len(block), error)]}


def joined(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of all replicates; a quantity that a part lacks, as where all failed, is missing there."""
    arrays: dict[tuple[str, str], list[Array | None]] = {}
    for k, outcome in enumerate(outcomes):
        for method, quantities in outcome["values"].items():
            for quantity, numbers in quantities.items():
                arrays.setdefault((method, quantity), [None] * len(outcomes))[k] = numbers
    values: Values = {}
    for (method, quantity), parts in arrays.items():
        present = [numbers for numbers in parts if numbers is not None]
        kinds = {numbers.dtype for numbers in present if not missing(numbers).all()} or {present[0].dtype}
        if len(kinds) > 1:
            raise InputError(f"{method}, {quantity}", "must always be a number, or always True or False")
        (kind,) = kinds
        filler = -1 if kind == np.int8 else np.nan
        values.setdefault(method, {})[quantity] = np.concatenate(
            [
                np.full(outcome["n"], filler, kind) if numbers is None or missing(numbers).all() else numbers
                for outcome, numbers in zip(outcomes, parts, strict=True)
            ]
        )
    return {
        "n": sum(outcome["n"] for outcome in outcomes),
        "values": values,
        "failures": [failure for outcome in outcomes for failure in outcome["failures"]],
    }


def missing(numbers: Array) -> NDArray[np.bool_]:
    """On which replicates there is no number, or neither yes nor no."""
    return numbers < 0 if numbers.dtype == np.int8 else np.isnan(numbers)
