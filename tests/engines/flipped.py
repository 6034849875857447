"""Numbers whose signs are flipped, of all kinds, and their tails: a process that computes these imports little else."""

from __future__ import annotations

import numpy as np
import pandas as pd

import simstudy
from simstudy.engines.flip_kernels import FlippedSum, flip_tail
from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs

#: What contributions are like: kind -> m of them.
KINDS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "heavy tails": lambda rng, m: rng.lognormal(0, 1, size=m),
    "nearly few sizes": lambda rng, m: rng.choice([1, 2, 3, 5.5, 7.25], size=m) + rng.normal(size=m) * 0.01,
    "a ratio's": lambda rng, m: ratio_contributions(rng, m),
    "one huge": lambda rng, m: np.append(rng.normal(size=m - 1), 100.0),
    "each as large as all smaller ones": lambda rng, m: 2.0 ** np.arange(m),
}

#: Whole numbers whose sums lie close together, in heaps or evenly: kind -> m of them.
WHOLE = {
    "even": lambda rng, m: rng.integers(1, 1000, m),
    "nearly 1, 2 and 3": lambda rng, m: 300 * rng.integers(1, 4, m) + rng.integers(-1, 2, m),
    "roughly 1, 2 and 3": lambda rng, m: 300 * rng.integers(1, 4, m) + rng.integers(-9, 10, m),
    "two sizes": lambda rng, m: rng.choice([300, 485], m),
    "two huge": lambda rng, m: np.r_[rng.integers(1, 60, m - 2), 9000, 3000],
}


def ratio_contributions(rng: np.random.Generator, m: int) -> FloatArray:
    """The right answers among few accepted ones, weighted as sign flips weight them."""
    right = rng.integers(1, 6, m)
    accepted = right + rng.integers(0, 6, m)
    return np.asarray((right - 0.8731 * accepted) / np.sqrt(1 - accepted / accepted.sum()))


def asked(least: float, step: float = 0.0, observed: int = 0) -> FlippedSum:
    return FlippedSum(least, 0.0, step, observed)


def tails_of_all_kinds() -> list[list[float]]:
    """Tails with their bounds: numbers of each kind, and pairs of systems one by one."""
    rng, found = np.random.default_rng(7), []
    for kind, draw in (KINDS | WHOLE).items():
        for m in (33, 500) if "as large" not in kind else (33,):
            numbers = np.asarray(draw(rng, m), dtype=float)
            for z, step in ((-0.7 if m == 33 else 4.0, 0.0), (1.96, 1.0 if kind in WHOLE else 0.0)):
                least = float(np.floor(z * np.sqrt((numbers**2).sum())))
                found.append([float(x) for x in flip_tail(numbers, asked(least, step))])
    ratings = rng.integers(1, 6, (300, 2))
    for scores in (ratings, ratings + rng.normal(size=ratings.shape).round(3), ratings.clip(1, 2)):
        pair = simstudy.compare(Outputs.from_scores(pd.DataFrame(scores, columns=["a", "b"]))).frame
        found.append(pair[["p_value", "wins", "losses"]].iloc[0].astype(float).tolist())
    return found


def other_line(numbers: FloatArray, least: float, n_nodes: int = 20_000) -> float:
    """Gil-Pelaez 1951: P(S >= x) = 1/2 - the sum of sin(t x) phi(t) / t, over pi, by the midpoint rule."""
    step = 0.02 / np.sqrt((numbers**2).sum())
    total = 0.5
    for t in np.array_split((np.arange(n_nodes) + 0.5) * step, max(n_nodes * len(numbers) // 2**22, 1)):
        phi = np.cos(np.outer(t, numbers)).prod(axis=1)
        total -= (np.sin(t * least) * phi / t).sum() * step / np.pi
    return float(total)
