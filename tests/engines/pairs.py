"""Random pairs of systems of every kind of metric, and what `compare` says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from tests.oracles import ERROR_RATE, GEOMETRIC, ascending, compared

#: Wins less losses: a system's sizes may cancel.
NET = Ratio("net wins", ("won", "lost", "count"), True, (1, -1, 0), (0, 0, 1), scale=1.0)


def counts_of_responses(n: int, rng: np.random.Generator) -> np.ndarray:
    return ascending(rng.integers(0, 4, size=(2, n, 3)))


def _decisions(n: int, rng: np.random.Generator, most: int = 1) -> np.ndarray:
    total = rng.integers(0, most + 1, size=n) if most > 1 else np.ones(n, int)
    right = rng.binomial(total, [[0.7], [0.5]], size=(2, n))
    return np.stack([right, np.broadcast_to(total, right.shape)], axis=-1)


def _fills(n: int, rng: np.random.Generator) -> np.ndarray:
    correct, partial, missing, spurious = rng.integers(0, 3, size=(4, 2, n))
    found = correct + partial
    return np.stack([found + missing, found + spurious, correct, partial], axis=-1)


def _silent(n: int, rng: np.random.Generator) -> np.ndarray:
    counts = counts_of_responses(n, rng)
    counts[1, :, :2] = 0
    return counts


def _ratings(n: int, rng: np.random.Generator, count: int = 1) -> np.ndarray:
    ratings = rng.integers(-2, 4, size=(2, n))
    return np.stack([ratings, rng.integers(1, count + 1, size=ratings.shape)], axis=-1)


#: Kind -> (metric, statistics (2, n, S) of two random systems).
KINDS: dict[str, Any] = {
    "one decision": ("accuracy", _decisions),
    "words": ("accuracy", lambda n, rng: _decisions(n, rng, 5)),
    "error rate": (ERROR_RATE, lambda n, rng: _decisions(n, rng, 5)),
    "ratings": ("mean", _ratings),
    "ratings by count": ("mean", lambda n, rng: _ratings(n, rng, 3)),
    "net wins": (NET, lambda n, rng: np.concatenate([rng.integers(0, 4, (2, n, 2)), np.ones((2, n, 1), int)], -1)),
    **{name: (name, counts_of_responses) for name in ("precision", "recall", "f1", "f0.5")},
    **{name: (name, _fills) for name in ("muc_recall", "muc_precision", "muc_f", "muc_f_2p")},
    "silent precision": ("precision", _silent),
    "silent f1": ("f1", _silent),
    "geometric": (GEOMETRIC, lambda n, rng: np.sort(rng.integers(0, 4, size=(2, n, 4)), axis=-1)),
}


def made(kind: str, n: int, rng: np.random.Generator) -> tuple[Metric, np.ndarray]:
    metric, make = KINDS[kind]
    return METRICS.get(metric, metric), make(n, rng)


def ask(
    statistics: np.ndarray,
    metric: Metric | str,
    *,
    test: str = "randomization",
    alternative: str = "greater",
    **options: Any,
) -> Any:
    """A pair's row of Comparisons."""
    outputs = Outputs.from_statistics(statistics, metric, ["a", "b"][: len(statistics)])
    return compared(outputs, test=test, alternative=alternative, **options).iloc[0]


def best_first(statistics: np.ndarray, row: Any) -> np.ndarray:
    return statistics if row.system_a == "a" else statistics[::-1]


def assert_same_pairs(table: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Comparisons of the same pairs have the same bits, but for approximated p-values: these agree to 1e-9."""
    approximated = (expected["computation"] == "approximated").to_numpy()
    table, expected = table.copy(), expected.copy()
    for column in ("p_value", "p_low", "p_high", "p_two_sided"):
        np.testing.assert_allclose(table.loc[approximated, column], expected.loc[approximated, column], rtol=1e-9)
        table.loc[approximated, column] = expected.loc[approximated, column]
    pd.testing.assert_frame_equal(table, expected, check_exact=True)
