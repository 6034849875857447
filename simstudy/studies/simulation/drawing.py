"""How the replicates of a condition are drawn, and what a function of study.py is given of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray
from simstudy.outputs import Outputs
from simstudy.running.fingerprints import derived_seed
from simstudy.studies.drawn_boards import DrawnBoards
from simstudy.studies.simulation.definition import Condition
from simstudy.truth import MODELS, KnownTruth
from simstudy.validation import InputError, check_choice

F = TypeVar("F", bound=Callable[..., Any])

# Pairs of scores that are in memory together: 150 to 200 MB with all that tests make of them.
_PAIRS = 500_000


def by_block(function: F) -> F:
    """Mark a function of a simulation's study.py that draws or analyses many replicates at once.

    ``generate(condition, n, rng)`` then returns n replicates. A test is called with a `Block`, and returns an array
    with a number for each of its replicates instead of a number.

    Examples
    --------
    >>> @by_block
    ... def generate(condition, n, rng):
    ...     return rng.normal(size=(n, condition["n_units"]))
    >>> takes_blocks(generate)
    True
    """
    function.takes_blocks = True  # type: ignore[attr-defined]
    return function


def takes_blocks(function: Callable[..., Any]) -> bool:
    """Whether a function is marked by `by_block`."""
    return getattr(function, "takes_blocks", False)


@dataclass(frozen=True)
class Replicate:
    """One simulated test set, which a test of the user's own is called with.

    Attributes
    ----------
    condition
        A mapping: the values of `fixed` and of the levels.
    data
        What `generate` returned, or the statistics (K systems, n units, S) that a model drew.
    truth
        The true gain of the first system over the second, or what `truth(condition)` returned; NaN if neither is
        there.
    metric
        The name of the metric of a model, else "".
    rng
        Random numbers of this replicate, for tests that need them.
    """

    condition: Condition
    data: Any
    truth: float
    metric: str
    rng: np.random.Generator

    @property
    def scores(self) -> FloatArray:
        """The score of each system on each unit (K, n)."""
        if self.metric:
            return np.asarray(METRICS[self.metric].score(self.data.astype(np.float64)))
        return np.asarray(self.data, dtype=np.float64)

    @property
    def outputs(self) -> Outputs:
        """The outputs of the K systems, for all functions of simstudy."""
        names = [f"system {k + 1}" for k in range(len(self.data))]
        if self.metric:
            return Outputs.from_statistics(self.data, self.metric, names)
        return Outputs.from_statistics(statistics_of_scores(self.data), "mean", names)


@dataclass(frozen=True)
class Block:
    """M replicates of one condition, all of a block or a part of them.

    Attributes
    ----------
    draws
        How they were drawn.
    condition, truth, metric
        As those of a `Replicate`.
    number
        Of the block.
    first
        The number of the first replicate in its condition.
    data
        M times what a `Replicate` has: statistics (M, K, n, S), or what `generate` returned.
    """

    draws: Draws
    condition: Condition
    truth: float
    number: int
    first: int
    data: Any
    metric: str = ""

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Replicate]:
        for k, data in enumerate(self.data, self.first):
            rng = np.random.default_rng(self.draws.seed_of(self.condition, "analysis", k))
            yield Replicate(self.condition, data, self.truth, self.metric, rng)

    @cached_property
    def boards(self) -> DrawnBoards:
        """The same for K systems: scores, p-values of many pairs, and confidence sets for ranks."""
        return DrawnBoards(self.statistics, self.metric or "mean")

    @cached_property
    def statistics(self) -> Array:
        """Statistics (M, K, n, S); arrays of `generate` are taken as scores (M, K, n), whose mean is compared."""
        return np.asarray(self.data) if self.metric else statistics_of_scores(self.data)

    def seed(self, purpose: str) -> int:
        """A seed of 64 bits that is a function of the study's seed, the condition's levels, a text and the block."""
        return self.draws.seed_of(self.condition, purpose, self.number) % 2**64


def statistics_of_scores(scores: Any) -> Array:
    """The statistics (…, n, 2) of the metric mean of scores (…, n)."""
    values = np.asarray(scores, dtype=np.float64)
    return np.stack([values, np.ones_like(values)], axis=-1)


@dataclass(frozen=True)
class Draws:
    """What the replicates of all conditions follow from, beside the condition.

    Attributes
    ----------
    seed, stream, common
        Of the study.
    size
        Replicates of a block.
    model, generate
        The functions of study.py with these names; None: the condition names a model.
    code
        A hash of the files of these functions; empty without a function.
    """

    seed: int
    stream: str
    common: tuple[str, ...]
    size: int
    model: Callable[..., Any] | None = None
    generate: Callable[..., Any] | None = None
    code: str = ""

    def seed_of(self, condition: Condition, purpose: str, number: int) -> int:
        """The seed of block or replicate `number`, whatever the order of factors and however many blocks there are."""
        levels = [level for factor, level in sorted(condition.levels.items()) if factor not in self.common]
        return derived_seed(self.seed, purpose, *levels, number)

    def model_of(self, condition: Condition) -> KnownTruth:
        """What draws the test sets of a condition."""
        return named_model(condition) if self.model is None else self.model(condition)

    def blocks(self, condition: Condition, truth: float, number: int) -> Iterator[Block]:
        """Block `number`, in parts where all of it would need too much memory."""
        first = number * self.size
        for data, metric in self._parts(condition, number):
            yield Block(self, condition, truth, number, first, data, metric)
            first += len(data)

    def _parts(self, condition: Condition, number: int) -> Iterator[tuple[Any, str]]:
        """The data of a block, and their metric."""
        rng = np.random.default_rng(self.seed_of(condition, self.stream, number))
        if self.generate is not None:
            yield self._generated(condition, number, rng), ""
            return
        model, n_units = self.model_of(condition), condition["n_units"]
        if model.n_systems > 2:
            for board in DrawnBoards.of(model, self.size, n_units, rng):
                yield board.statistics, board.metric
            return
        at_once = max(1, _PAIRS // n_units)
        for first in range(0, self.size, at_once):
            drawn = model.draw(min(at_once, self.size - first), n_units, rng)
            yield drawn.by(condition.get("unit", model.units[0])), model.metric.name

    def _generated(self, condition: Condition, number: int, rng: np.random.Generator) -> Any:
        """What `generate` of study.py returns: each replicate by a seed of its own, unless it draws blocks."""
        assert self.generate is not None
        if not takes_blocks(self.generate):
            numbers = range(number * self.size, (number + 1) * self.size)
            seeds = [self.seed_of(condition, self.stream, k) for k in numbers]
            return [self.generate(condition, np.random.default_rng(seed)) for seed in seeds]
        data = self.generate(condition, self.size, rng)
        if len(data) != self.size:
            raise InputError("generate", f"must return {self.size:,} replicates, not {len(data):,}")
        return data


def parameters_of(model: Any) -> list[str]:
    """The names of the parameters of a model."""
    check_choice("model", model, MODELS)
    return list(signature(MODELS[model]).parameters)


def named_model(condition: Mapping[str, Any]) -> KnownTruth:
    """The model that a condition names, with those of its values that are parameters.

    Examples
    --------
    >>> named_model({"model": "RightOrWrong", "accuracies": [0.9, 0.8], "between": 0.5, "n_units": 50}).true_gain
    10.0
    """
    values = {name: condition[name] for name in parameters_of(condition.get("model")) if name in condition}
    try:
        return MODELS[condition["model"]](**values)
    except TypeError as error:
        raise InputError("model", f"must have the parameters of {condition['model']}: {error}") from None
