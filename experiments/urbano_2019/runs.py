"""The runs: their scores of topics, pairs of them, and the margin of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from simstudy.studies import Condition
from simstudy.truth.scores import Margin

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


def any_two(condition: Condition, rng: np.random.Generator) -> TwoRuns:
    """Two runs of a collection."""
    collection, scores = _collection(condition, rng)
    return _two_runs(condition, collection, *rng.choice(len(scores), 2, replace=False))


def like_two(condition: Condition, rng: np.random.Generator) -> TwoRuns:
    """A baseline, and one of the other runs whose mean is nearest to the baseline's and the condition's gain.

    The baseline is none of the best quarter: few are better, and others would have to change much to be like it.
    """
    collection, scores = _collection(condition, rng)
    means = scores.mean(axis=1)
    baseline = rng.choice(np.argsort(-means)[round(means.size * _BEST) :])
    near = np.argsort(np.abs(means - means[baseline] - condition["gain"]), kind="stable")
    return _two_runs(condition, collection, baseline, rng.choice(near[near != baseline][: condition["neighbours"]]))


def _collection(condition: Condition, rng: np.random.Generator) -> tuple[tuple[str, str, float], Floats]:
    """The arguments of `read_runs` for a collection, drawn in proportion to its runs, and its scores."""
    collections = [
        (str(file.path), str(condition.levels["measure"]), condition["dropped"]) for file in condition["files"]
    ]
    sizes = np.array([len(read_runs(*collection)) for collection in collections])
    collection = collections[rng.choice(sizes.size, p=sizes / sizes.sum())]
    return collection, read_runs(*collection)


def _two_runs(condition: Condition, collection: tuple[str, str, float], *runs: int) -> TwoRuns:
    margins = [_margin(collection, int(run), condition.get("lattice")) for run in runs]
    return TwoRuns(read_runs(*collection)[list(runs)], margins)


@lru_cache(maxsize=4096)
def _margin(collection: tuple[str, str, float], run: int, lattice: str | None) -> Margin:
    return fitted_margin(read_runs(*collection)[run], lattice)


def fitted_margin(scores: Floats, lattice: str | None) -> Margin:
    """How these scores of topics (T,) are distributed."""
    return effectiveness(scores) if lattice is None else smoothed(scores, LATTICES[lattice])
