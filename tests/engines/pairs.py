"""Random pairs of systems of every kind of metric, and what tests and their tallies make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.engines.question import Question
from simstudy.engines.registry import TESTS
from simstudy.engines.resampling import Tally
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.oracles import ERROR_RATE, GEOMETRIC, ascending, compared

NAMES = list("abcdefgh")

RESAMPLED = [name for name, test in TESTS.items() if test.n_resamples]

#: Tests, those that may be computed or resampled in both ways.
ASKED = [(name, False) for name in TESTS] + [(name, True) for name in (*RESAMPLED, "wilcoxon")]

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


def by_item(scores: Any) -> np.ndarray:
    """Statistics (K, n, 2) of scores (K, n), one an item."""
    scores = np.asarray(scores)
    return np.stack([scores, np.ones_like(scores)], axis=-1)


def scored(scores: Any, metric: Metric | str = "mean", **columns: Any) -> Outputs:
    """Systems a, b, … with scores (K, n), one an item; the items may have more columns."""
    statistics = by_item(scores)
    k, n, _ = statistics.shape
    return Outputs.from_statistics(statistics, metric, NAMES[:k], pd.DataFrame({"id": range(n), **columns}))


def ask(
    statistics: np.ndarray,
    metric: Metric | str,
    *,
    test: str = "randomization",
    alternative: str = "greater",
    **options: Any,
) -> Any:
    """A pair's row of Comparisons."""
    outputs = Outputs.from_statistics(statistics, metric, NAMES[: len(statistics)])
    return compared(outputs, test=test, alternative=alternative, **options).iloc[0]


def best_first(statistics: np.ndarray, row: Any) -> np.ndarray:
    return statistics if row.system_a == "a" else statistics[::-1]


def question_of(
    statistics: np.ndarray, metric: Metric, alternative: str = "greater", *, strict: bool = False, counts: str = "twice"
) -> Question:
    """The question about all pairs of systems, put best first, by a rule that counts ties or does not."""
    scores = metric.score(statistics.sum(axis=1))
    order = np.argsort(-scores if metric.higher_is_better else scores, kind="stable")
    rule = replace(CONVENTIONS["default"], strict=strict, counts=counts)
    k, n, _ = statistics.shape
    return Question(statistics[order], metric, NAMES[:k], "item", np.array([0, n]), alternative, rule)


def n_extreme(tally: Tally, question: Question, resamples: np.ndarray) -> np.ndarray:
    """How many of the resamples (B, n) the tally counts, for each pair."""
    counts = np.zeros(question.n_pairs, np.int64)
    tally.add(tally.columns @ resamples.T.astype(tally.columns.dtype), counts)
    return counts


def assert_same_pairs(table: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Comparisons of the same pairs have the same bits, but for approximated p-values: these agree to 1e-9."""
    approximated = (expected["computation"] == "approximated").to_numpy()
    table, expected = table.copy(), expected.copy()
    for column in ("p_value", "p_low", "p_high", "p_two_sided"):
        np.testing.assert_allclose(table.loc[approximated, column], expected.loc[approximated, column], rtol=1e-9)
        table.loc[approximated, column] = expected.loc[approximated, column]
    pd.testing.assert_frame_equal(table, expected, check_exact=True)
