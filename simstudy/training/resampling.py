"""Training-set resampling (Berg-Kirkpatrick et al. 2012, section 3.2.1): many variants of a few base models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.metrics import Metric
from simstudy.outputs import Outputs
from simstudy.running.fingerprints import derived_seed
from simstudy.running.keys import Cell
from simstudy.running.parallel import run_cells
from simstudy.training.base import Task, checked_counts
from simstudy.training.examples import BaseSystem, Count, Examples
from simstudy.validation import (
    InputError,
    check_choice,
    check_list,
    check_path,
    check_seed,
    check_whole,
    number_list,
)

#: As in section 3.2.2 of the paper: 5 full-size, 10 half-size and 10 quarter-size training sets.
FRACTIONS = (1.0, 0.5, 0.25)
REPLICATES = (5, 10, 10)


@dataclass(frozen=True)
class Variant:
    """One system to train: a base model on one resampled training set.

    Every base model is trained on the same resampled training sets, as in the paper; what is random inside a
    base model differs from variant to variant.
    """

    family: str
    train_size: int
    replicate: int

    @property
    def name(self) -> str:
        """Unique within a task."""
        return f"{self.family}-{self.train_size}-{self.replicate}"

    def training_items(self, n_items: int, seed: int) -> NDArray[np.int64]:
        """How often each of n training items is in the resampled training set, shape (n,)."""
        rng = _generator(seed, "training set", self.train_size, self.replicate)
        return np.bincount(rng.integers(n_items, size=self.train_size), minlength=n_items)

    def random_state(self, seed: int) -> int:
        """The seed of the base model's own randomness."""
        return int(_generator(seed, "model", self.family, self.train_size, self.replicate).integers(2**31))


def variants(
    task: Task, fractions: Sequence[float] = FRACTIONS, replicates: Sequence[int] = REPLICATES
) -> list[Variant]:
    """The variants of every base model of a task.

    Fractions are the sizes of the resampled training sets, as shares of the original's items; replicates are how many
    training sets there are of each size.
    """
    if not isinstance(task, Task):
        raise InputError("task", "must be a Task (see Task.from_arrays)", task)
    fractions = number_list("fractions", fractions).tolist()
    check_list("replicates", replicates, "whole numbers")
    if len(fractions) != len(replicates) or not fractions:
        raise InputError(
            "fractions and replicates", f"must have the same length, not {len(fractions)} and {len(replicates)}"
        )
    sizes = []
    for fraction in fractions:
        if not 0 < fraction <= 1:
            raise InputError("fractions", "must be above 0 and at most 1", fraction)
        sizes.append(round(fraction * task.train.n_items))
        if sizes[-1] < 1:
            raise InputError("fractions", f"must leave at least one of {task.train.n_items} training items", fraction)
    if len(set(sizes)) < len(sizes):
        raise InputError("fractions", "must give different sizes", sizes)
    for count in replicates:
        check_whole("replicates", count, 1)
    return [
        Variant(family, size, replicate)
        for family in task.systems
        for size, count in zip(sizes, replicates, strict=True)
        for replicate in range(1, count + 1)
    ]


def resample_training(
    task: Task,
    *,
    metric: str | None = None,
    fractions: Sequence[float] = FRACTIONS,
    replicates: Sequence[int] = REPLICATES,
    seed: int = 0,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    cache: str | Path | None = None,
    finished: Callable[[Cell], None] = lambda _: None,
) -> dict[str, Outputs]:
    """Train every variant of a task's base models and return their outputs on each test set.

    A variant's numbers depend on the data, its base model, its size and replicate, and the seed; on nothing else.
    With a cache, a variant is trained once in its life: more replicates train only the new ones.

    Parameters
    ----------
    task
        Data, base systems, metrics and test sets.
    metric
        The name of one of the task's metrics; its first by default. Variants are scored by all of them when they are
        trained, so that with a cache another metric trains nothing again.
    fractions, replicates
        Sizes of the resampled training sets, as shares of the task's training items, and how many there are of each.
    seed
        0 … 2^64 - 1.
    n_jobs
        Processes; -1 for all cores. None for what `joblib.parallel_config` says, else 1.
    executor
        Trains the variants instead, and is not shut down. Its workers must see the cache.
    cache
        A folder for finished variants.
    finished
        Called after each variant.

    Returns
    -------
    outputs
        Test set's name -> Outputs of all variants.

    Raises
    ------
    ValueError
        For arguments outside their rules.
    simstudy.running.parallel.CellsFailed
        Where base models raised; all others have finished.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> task = Task.from_arrays(
    ...     "iris", X[::2], y[::2], test_sets={"test": (X[1::2], y[1::2])}, systems={"bayes": GaussianNB()}
    ... )
    >>> outputs = resample_training(task, fractions=[1.0], replicates=[3])["test"]
    >>> outputs.names
    ['bayes-75-1', 'bayes-75-2', 'bayes-75-3']
    """
    check_seed(seed)
    check_path("cache", cache, or_none=True)
    if not callable(finished):
        raise InputError("finished", "must be a function of a cell", finished)
    todo = variants(task, fractions, replicates)
    if metric is not None:
        check_choice("metric", metric, task.metrics)
    results = run_cells(
        train_variant,
        training_cells(task, todo, seed),
        n_jobs=n_jobs,
        executor=executor,
        cache=Path(cache) if cache is not None else None,
        finished=finished,
    )
    return outputs_of_variants(task, todo, results, metric)


def training_cells(task: Task, todo: Sequence[Variant], seed: int) -> list[Cell]:
    """The cells of `train_variant`: one for each variant."""
    task.check_counts()
    return [
        Cell(
            f"training {variant.name}",
            (task.systems[variant.family], task.train, task.test_sets, task.statistics, variant, seed),
        )
        for variant in todo
    ]


def outputs_of_variants(
    task: Task,
    todo: Sequence[Variant],
    results: Sequence[Mapping[str, Mapping[str, NDArray[Any]]]],
    metric: str | None = None,
) -> dict[str, Outputs]:
    """Test set's name -> Outputs of all variants by a metric (the task's first), from what `train_variant` returned."""
    chosen = task.metric if metric is None else task.metrics[metric]
    rows = [(variant.name, variant.family, variant.train_size, variant.replicate, "resampled") for variant in todo]
    systems = pd.DataFrame(rows, columns=["name", "family", "train_size", "replicate", "source"])
    systems = systems.astype({"train_size": "Int64", "replicate": "Int64"})
    return {
        name: Outputs.from_statistics(
            np.stack([result[name][chosen.name] for result in results]),
            chosen,
            systems,
            examples.items,
            task=task.name,
            test_set=name,
        )
        for name, examples in task.test_sets.items()
    }


def train_variant(
    base: BaseSystem,
    train: Examples,
    test_sets: Mapping[str, Examples],
    statistics: Mapping[Metric, Count],
    variant: Variant,
    seed: int,
) -> dict[str, dict[str, NDArray[Any]]]:
    """Train one variant of a base system; its statistics (n items, S) on each test set by each metric."""
    weights = variant.training_items(train.n_items, seed)
    answer = base.train(train, weights, variant.random_state(seed))
    counted: dict[str, dict[str, NDArray[Any]]] = {}
    for name, examples in test_sets.items():
        answers = answer(examples)
        counted[name] = {
            metric.name: checked_counts(metric, name, examples, count(examples, answers))
            for metric, count in statistics.items()
        }
    return counted


def _generator(seed: int, *what: Any) -> np.random.Generator:
    return np.random.default_rng(derived_seed(int(seed), *what))
