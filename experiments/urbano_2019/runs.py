"""The runs: their scores of topics, pairs of them, and the margin of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
import pandas as pd

from simstudy.studies import Condition
from simstudy.truth import Margin

from .margins import Floats, effectiveness, smoothed

# Runs are the same where no topic's scores differ by more (the paper's code).
_SAME = 1e-5

# Of baselines in pairs of like runs: the best quarter has nobody above it.
_BEST = 0.25

#: The scores that a measure can have; without a lattice any from 0 to 1.
LATTICES = {"tenths": np.arange(11) / 10, "reciprocals": np.concatenate([[0.0], 1 / np.arange(1000, 0, -1)])}


@dataclass(frozen=True)
class TwoRuns:
    """Scores (2, topics) of two runs of one collection, and their margins."""

    scores: Floats
    margins: list[Margin]


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


@dataclass(frozen=True)
class Collections:
    """The collections of a measure, and how pairs of their runs are drawn."""

    #: Its name in the files.
    measure: str
    #: Of each collection's file.
    paths: tuple[str, ...]
    #: A name of `LATTICES`.
    lattice: str | None
    #: The share of the worst runs of a collection that is left out.
    dropped: float
    #: The second of two like runs is among so many whose mean is nearest.
    neighbours: int

    @classmethod
    def of(cls, condition: Condition) -> Self:
        """Those of a condition."""
        paths = tuple(str(file.path) for file in condition["files"])
        more = condition.get("lattice"), condition["dropped"], condition["neighbours"]
        return cls(str(condition.levels["measure"]), paths, *more)

    def any_two(self, rng: np.random.Generator) -> TwoRuns:
        """Two runs of a collection."""
        path = self.any_path(rng)
        return self.two_runs(path, [*rng.choice(len(self.scores(path)), 2, replace=False)])

    def like_two(self, gain: float, rng: np.random.Generator) -> TwoRuns:
        """A baseline, and one of the other runs whose mean is nearest to the baseline's and a gain.

        The baseline is none of the best quarter: few are better, and others would have to change much to be like it.
        """
        path = self.any_path(rng)
        means = self.scores(path).mean(axis=1)
        baseline = rng.choice(np.argsort(-means)[round(means.size * _BEST) :])
        near = np.argsort(np.abs(means - means[baseline] - gain), kind="stable")
        return self.two_runs(path, [baseline, rng.choice(near[near != baseline][: self.neighbours])])

    def scores(self, path: str) -> Floats:
        """Scores (runs, topics) of a collection."""
        return read_runs(path, self.measure, self.dropped)

    def any_path(self, rng: np.random.Generator) -> str:
        """The file of a collection, drawn in proportion to its runs."""
        sizes = np.array([len(self.scores(path)) for path in self.paths])
        return self.paths[rng.choice(sizes.size, p=sizes / sizes.sum())]

    def two_runs(self, path: str, runs: Sequence[int]) -> TwoRuns:
        """Two runs of a collection by their numbers."""
        margins = [_margin(path, self.measure, self.dropped, int(run), self.lattice) for run in runs]
        return TwoRuns(self.scores(path)[runs], margins)


@lru_cache(maxsize=4096)
def _margin(path: str, measure: str, dropped: float, run: int, lattice: str | None) -> Margin:
    return fitted_margin(read_runs(path, measure, dropped)[run], lattice)


def fitted_margin(scores: Floats, lattice: str | None) -> Margin:
    """How these scores of topics (T,) are distributed."""
    return effectiveness(scores) if lattice is None else smoothed(scores, LATTICES[lattice])
