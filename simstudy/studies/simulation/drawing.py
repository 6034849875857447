"""How the replicates of a condition are drawn, and what a function of study.py is given of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray
from simstudy.outputs import Outputs
from simstudy.running.fingerprints import derived_seed
from simstudy.studies.drawn_boards import SCORES, DrawnBoards, some_at_a_time
from simstudy.studies.simulation.definition import Condition
from simstudy.truth import KnownTruth
from simstudy.truth.named import named_model, parameters_of
from simstudy.validation import InputError

F = TypeVar("F", bound=Callable[..., Any])

# Scores of one system on one item that are in memory together. Tests of two systems make 150 to 200 MB of so many.
_SCORES_OF_PAIRS = 1_000_000


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


def takes_blocks(function: Callable[..., Any] | None) -> bool:
    """Whether a function is marked by `by_block`."""
    return getattr(function, "takes_blocks", False)


@dataclass(frozen=True)
class Replicate:
    """One simulated test set, which a test of the user's own is called with.

    Attributes
    ----------
    condition
        A mapping: the values of `fixed` and of the levels. It has `levels`, `unit` and `truth` too.
    data
        What `generate` returned, or the statistics (K systems, n units, S) that a model drew.
    metric
        The name of the metric of a model, else "".
    rng
        Random numbers of this replicate, for tests that need them.
    """

    condition: Condition
    data: Any
    metric: str
    rng: np.random.Generator

    @property
    def truth(self) -> float:
        """The true value of the condition; NaN if nobody says it."""
        return self.condition.truth

    @property
    def scores(self) -> FloatArray:
        """The score of each system on each unit (K, n)."""
        return scores_of(self.data, self.metric)

    @property
    def outputs(self) -> Outputs:
        """The outputs of the K systems, for all functions of simstudy."""
        names = [f"system {k + 1}" for k in range(len(self.data if self.metric else self.scores))]
        if self.metric:
            return Outputs.from_statistics(self.data, self.metric, names)
        return Outputs.from_statistics(statistics_of_scores(self.scores), "mean", names)


@dataclass(frozen=True)
class Block:
    """M replicates of one condition, all of a block or a part of them.

    Attributes
    ----------
    draws
        How they were drawn.
    condition, metric
        As those of a `Replicate`.
    number
        Of the block.
    first
        The number of the first replicate in its condition.
    data
        M times what a `Replicate` has: statistics (M, K, n, S), or what `generate` returned.
    error
        What was raised instead of data; else empty.
    """

    draws: Draws
    condition: Condition
    number: int
    first: int
    data: Any
    metric: str = ""
    error: str = ""

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Replicate]:
        for k, data in enumerate(self.data, self.first):
            rng = np.random.default_rng(self.draws.seed_of(self.condition, "analysis", k))
            yield Replicate(self.condition, data, self.metric, rng)

    @property
    def truth(self) -> float:
        """The true value of the condition; NaN if nobody says it."""
        return self.condition.truth

    @cached_property
    def boards(self) -> DrawnBoards:
        """The same for K systems: scores, p-values of many pairs, and confidence sets for ranks."""
        return DrawnBoards(self.statistics, self.metric or "mean")

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of each replicate (M, K, n)."""
        if self.metric:
            return scores_of(self.data, self.metric)
        return np.array([scores_of(data) for data in self.data])

    @cached_property
    def statistics(self) -> Array:
        """Statistics (M, K, n, S); of scores those of their mean."""
        return np.asarray(self.data) if self.metric else statistics_of_scores(self.scores)

    def seed(self, purpose: str) -> int:
        """A seed of 64 bits that is a function of the study's seed, the condition's levels, a text and the block."""
        return self.draws.seed_of(self.condition, purpose, self.number) % 2**64


def scores_of(data: Any, metric: str = "") -> FloatArray:
    """The scores (…, K, n) of statistics; of a replicate (K, n) that `generate` returned itself, or its `scores`."""
    if metric:
        return np.asarray(METRICS[metric].score(np.asarray(data, dtype=np.float64)))
    return np.asarray(getattr(data, "scores", data), dtype=np.float64)


def statistics_of_scores(scores: Any) -> Array:
    """The statistics (…, n, 2) of the metric mean of scores (…, n)."""
    values = np.asarray(scores, dtype=np.float64)
    return np.stack([values, np.ones_like(values)], axis=-1)


def attempt(function: Any, *arguments: Any) -> tuple[Any, str]:
    """What a function of study.py returns, and "", or None and the error that it raises, in one line."""
    try:
        return function(*arguments), ""
    except MemoryError:
        # It says nothing about the replicate.
        raise
    except Exception as error:
        return None, " ".join(f"{type(error).__name__}: {error}".split())


@dataclass(frozen=True)
class Draws:
    """What the replicates of all conditions follow from, beside the condition.

    Attributes
    ----------
    seed, stream, common
        Of the study.
    size, within
        Replicates of a block, and of a group.
    model, generate
        The functions of study.py with these names; None: the condition names a model.
    code
        A hash of the files of these functions; empty without a function.
    """

    seed: int
    stream: str
    common: tuple[str, ...]
    size: int
    within: int | None = None
    model: Callable[..., Any] | None = None
    generate: Callable[..., Any] | None = None
    code: str = ""

    def seed_of(self, condition: Condition, purpose: str, number: int) -> int:
        """The seed of block or replicate `number`, whatever the order of factors and however many blocks there are."""
        levels = [level for factor, level in sorted(condition.levels.items()) if factor not in self.common]
        return derived_seed(self.seed, purpose, *levels, number)

    def model_of(self, condition: Condition) -> KnownTruth:
        """What draws the test sets of a condition."""
        return model_of(condition) if self.model is None else self.model(condition)

    def blocks(self, condition: Condition, number: int) -> Iterator[Block]:
        """Block `number`, in parts: all of it may need too much memory, and `generate` or `model` may raise errors."""
        first = number * self.size
        if self.generate is None and not self.within:
            rng = self._rng(condition, number)
            for statistics, metric in _drawn(self.model_of(condition), self.size, condition, rng):
                yield Block(self, condition, number, first, statistics, metric)
                first += len(statistics)
            return
        size = self.within or (self.size if takes_blocks(self.generate) else 1)
        pieces = [self._piece(condition, k, size) for k in range(first // size, (first + self.size) // size)]
        for error, run in groupby(pieces, key=itemgetter(2)):
            parts, metrics, _ = zip(*run, strict=True)
            arrays = all(isinstance(part, np.ndarray) for part in parts)
            data: Any = np.concatenate(parts) if arrays else [replicate for part in parts for replicate in part]
            yield Block(self, condition, number, first, data, metrics[0], error)
            first += len(data)

    def _piece(self, condition: Condition, k: int, size: int) -> tuple[Any, str, str]:
        """The data of `size` replicates that are drawn with one seed, their metric, and the error instead of them."""
        rng, is_block = self._rng(condition, k), takes_blocks(self.generate)
        arguments = (condition, size, rng) if is_block else (condition, rng)
        drawn, error = attempt(self.generate or self.model, *arguments)
        if error:
            return [None] * size, "", error
        if self.generate is None:
            parts, metrics = zip(*_drawn(drawn, size, condition, rng), strict=True)
            return np.concatenate(parts), metrics[0], ""
        data = drawn if is_block or self.within else [drawn]
        if len(data) != size:
            raise InputError("generate", f"must return {size:,} replicates, not {len(data):,}")
        return data, "", ""

    def _rng(self, condition: Condition, k: int) -> np.random.Generator:
        return np.random.default_rng(self.seed_of(condition, self.stream, k))


def _drawn(
    model: KnownTruth, n_sets: int, condition: Condition, rng: np.random.Generator
) -> Iterator[tuple[Array, str]]:
    """Statistics (M, K, n, S) of test sets that a model draws, some at a time, and their metric."""
    most = SCORES if model.n_systems > 2 else _SCORES_OF_PAIRS
    for drawn in some_at_a_time(model, n_sets, condition["n_units"], rng, most):
        yield drawn.by(condition.unit or model.units[0]), model.metric.name


def model_of(condition: Mapping[str, Any]) -> KnownTruth:
    """The model that a condition names, with those of its values that are parameters.

    Examples
    --------
    >>> model_of({"model": "RightOrWrong", "accuracies": [0.9, 0.8], "between": 0.5, "n_units": 50}).true_gain
    10.0
    """
    model = condition.get("model", "")
    return named_model(model, {name: condition[name] for name in parameters_of(model) if name in condition})
