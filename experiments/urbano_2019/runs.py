"""The runs: their scores of topics, pairs of them, and the margin of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd

from simstudy.truth import Margin, Smoothed

from .margins import Floats, effectiveness
from .settings import Settings

# Runs are the same where no topic's scores differ by more (the paper's code).
_SAME = 1e-5

# Of baselines in pairs of like runs: the best quarter has nobody above it.
_BEST = 0.25

LATTICES: dict[str | None, Floats | None] = {
    None: None,
    "tenths": np.arange(11) / 10,
    "reciprocals": np.concatenate([[0.0], 1 / np.arange(1000, 0, -1)]),
}


@lru_cache(maxsize=64)
def read_runs(path: str, measure: str, dropped: float) -> Floats:
    """Scores (runs, topics) of a collection; all but the first of equal runs, and the worst of the rest, left out."""
    rows = pd.read_csv(path)
    table = rows[rows["measure"] == measure].pivot(index="system", columns="topic", values="score")
    scores = table.to_numpy(dtype=np.float64)
    if not scores.size or np.isnan(scores).any():
        raise ValueError(f"{path} must have a score of every run on every topic by '{measure}'")
    kept = [k for k in range(len(scores)) if not (np.abs(scores[:k] - scores[k]).max(axis=1) <= _SAME).any()]
    scores = scores[kept]
    means = scores.mean(axis=1)
    return np.asarray(scores[means >= np.quantile(means, dropped)])


@lru_cache(maxsize=4096)
def margin(path: str, measure: str, dropped: float, lattice: str | None, run: int) -> Margin:
    """How a run's scores are distributed, fitted as the measure asks for."""
    return fitted_margin(read_runs(path, measure, dropped)[run], lattice)


def fitted_margin(scores: Floats, lattice: str | None) -> Margin:
    """How these scores of topics (T,) are distributed."""
    values = LATTICES[lattice]
    if values is None:
        return effectiveness(scores)
    # Printed scores have few digits.
    return Smoothed.of(values[np.abs(values[:, None] - scores).argmin(axis=0)], values)


@dataclass(frozen=True, eq=False)
class Collections:
    """The collections of a measure, for drawing pairs of runs.

    Attributes
    ----------
    measure
        Its name in the files and in `study.measures`.
    paths
        Of each collection's file.
    """

    study: Settings
    measure: str
    paths: Sequence[str]

    @cached_property
    def shares(self) -> Floats:
        """Of all runs, those of each collection."""
        sizes = np.array([len(self.scores(c)) for c in range(len(self.paths))])
        return np.asarray(sizes / sizes.sum())

    def scores(self, collection: int) -> Floats:
        """(runs, topics)."""
        return read_runs(self.paths[collection], self.measure, self.study.dropped)

    def margin(self, collection: int, run: int) -> Margin:
        """That of a run."""
        lattice = self.study.measures[self.measure].lattice
        return margin(self.paths[collection], self.measure, self.study.dropped, lattice, run)

    def any_pair(self, rng: np.random.Generator) -> tuple[int, int, int]:
        """A collection, in proportion to its runs, and two of its runs."""
        collection = int(rng.choice(len(self.shares), p=self.shares))
        first, second = rng.choice(len(self.scores(collection)), 2, replace=False)
        return collection, int(first), int(second)

    def like_pair(self, gain: float, rng: np.random.Generator) -> tuple[int, int, int]:
        """A collection, a run, and one of the others whose mean is nearest to that run's and a gain.

        The run is none of the best quarter: few are better, and others would have to change much to be like it.
        """
        collection = int(rng.choice(len(self.shares), p=self.shares))
        means = self.scores(collection).mean(axis=1)
        first = int(rng.choice(np.argsort(-means)[round(means.size * _BEST) :]))
        near = np.argsort(np.abs(means - means[first] - gain), kind="stable")
        near = near[near != first][: self.study.neighbours]
        return collection, first, int(rng.choice(near))
