"""The keys of study.toml, and the tasks that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from simstudy.studies import EACH_ONCE, Keys, Positive, Size, Study

# What is true, and of what: of these tasks, whose items are drawn again, or of a population that tasks are drawn from.
NO_GAIN, DIFFERENT, SKEWED, GAIN = TRUTHS = (
    "no gain on any task",
    "good at different tasks",
    "much better on few tasks",
    "a true gain",
)
FIXED, DRAWN = REDRAWN = ("items", "tasks and items")

Share = Annotated[float, Field(gt=0, lt=1)]


class Sizes(Keys):
    """Numbers of items of tasks, between these on a logarithmic scale."""

    title: str
    least: Size
    most: Size


class Agreement(Keys):
    """How alike two systems answer: the correlation of right and wrong within a task."""

    title: str
    correlation: Share


class RealSuite(Keys):
    """Test sets of a study of natural comparisons: one that has domains, or several that are the tasks."""

    name: str
    study: str
    test_sets: Annotated[list[str], EACH_ONCE] = Field(min_length=1)


class Settings(Study):
    """The keys of study.toml."""

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    n_tasks: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    n_sets: Positive
    block: Positive
    n_flips: Positive
    least: Share
    most: Share
    spread: Annotated[float, Field(gt=0, le=0.3)]
    gain: Annotated[float, Field(gt=0, le=0.25)]
    sizes: dict[str, Sizes] = Field(min_length=1)
    agreement: dict[str, Agreement] = Field(min_length=1)
    suites: list[RealSuite] = []


@dataclass(frozen=True)
class Tasks:
    """M suites of T tasks, (M, T) each: items, and the shares of them that only the first or the second has right."""

    n_items: np.ndarray
    first: np.ndarray
    second: np.ndarray
    #: The true macro gain of these tasks (M,), and that of the population they are from.
    gain: np.ndarray
    population_gain: float

    @classmethod
    def draw(
        cls, study: Settings, sizes: Sizes, agreement: Agreement, truth: str, redrawn: str, shape: tuple[int, int],
        rng: np.random.Generator,
    ) -> Tasks:  # fmt: skip
        """Suites whose tasks are drawn anew each time, or are the same ones in every suite."""
        n_sets, n_tasks = shape
        one_gain = study.gain if truth == GAIN else 0.0
        if redrawn == DRAWN:
            n_items = np.exp(rng.uniform(np.log(sizes.least), np.log(sizes.most), shape)).round().astype(np.int64)
            accuracy, relative = (
                rng.uniform(study.least, study.most, shape),
                one_gain + shifts(study, truth, shape, rng),
            )
        else:
            # The same tasks in every block: sizes and difficulties spread evenly, in an order of their own.
            fixed = np.random.default_rng([study.seed, n_tasks])
            n_items = np.geomspace(sizes.least, sizes.most, n_tasks).round().astype(np.int64)
            accuracy = fixed.permutation(np.linspace(study.least, study.most, n_tasks))
            relative = one_gain + shifts(study, truth, (1, n_tasks), fixed)[0]
            n_items, accuracy, relative = (np.broadcast_to(own, shape) for own in (n_items, accuracy, relative))
        differ = 2 * accuracy * (1 - accuracy) * (1 - agreement.correlation)
        if redrawn == FIXED:
            # These tasks have exactly this macro gain.
            relative = (
                relative + one_gain - (relative * differ).sum(axis=1, keepdims=True) / differ.sum(axis=1, keepdims=True)
            )
        gain = relative * differ
        # E(2 a (1 - a)) of an accuracy that is uniform between its ends.
        a, b = study.least, study.most
        mean_differ = 2 * ((a + b) / 2 - (a * a + a * b + b * b) / 3) * (1 - agreement.correlation)
        return cls(n_items, (differ + gain) / 2, (differ - gain) / 2, gain.mean(axis=1), one_gain * mean_differ)


def shifts(study: Settings, truth: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Each task's own gain as a share of the items that differ, with mean 0 over the population of tasks."""
    if truth == SKEWED:
        # On one task in ten far better, on the others a little worse: standard deviation 1.
        return np.asarray(study.spread * np.where(rng.random(shape) < 0.1, 3.0, -1 / 3))
    if truth == NO_GAIN:
        return np.zeros(shape)
    return np.asarray(study.spread * np.clip(rng.standard_normal(shape), -2, 2))
