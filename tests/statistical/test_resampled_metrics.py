"""Level of the bootstrap and coverage of its interval for metrics that are no function of sums, by simulation.

The table of docs/validation.md is what `measured` gives with 500 test sets: ``python -m
tests.statistical.test_resampled_metrics 500`` prints it.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from scipy import stats

from simstudy.comparisons.leaderboard import leaderboard
from simstudy.engines.bootstrap import bootstrap
from simstudy.engines.intervals import intervals
from simstudy.engines.question import Question
from simstudy.metrics import get_metric
from simstudy.outputs import Outputs

#: Metric -> what the two systems' true values are, by a parameter of each system's quality: equal ones, and unequal.
QUALITIES = {"auc": (1.0, 0.7), "median": (0.0, 0.2), "pearson": (0.6, 0.5), "spearman": (0.6, 0.5)}
SIZES, CORRELATIONS = (50, 200, 1000), (0.5, 0.9)

# Test sets that share their resamples.
_BLOCK = 50


def truth(metric: str, quality: float) -> float:
    """The score in the population."""
    if metric == "auc":
        return float(stats.norm.cdf(quality / np.sqrt(2)))
    if metric == "median":
        return float(np.exp(quality))
    return quality if metric == "pearson" else float(6 / np.pi * np.arcsin(quality / 2))


def drawn(
    metric: str, qualities: tuple[float, float], n: int, r: float, m: int, rng: np.random.Generator
) -> np.ndarray:
    """Statistics (m, 2, n, S) of test sets; what the two systems' scores have beside the gold correlates by r.

    AUC: 30 % positive items, whose normal scores are higher by the quality. Correlations: bivariate normal scores.
    Medians: lognormal scores.
    """
    shared, own = rng.normal(size=(m, 1, n)), rng.normal(size=(m, 2, n))
    noise = np.sqrt(r) * shared + np.sqrt(1 - r) * own
    of = np.array(qualities)[:, None]
    if metric == "median":
        return np.exp(of + noise)[..., None]
    if metric == "auc":
        gold = (rng.random((m, 1, n)) < 0.3).astype(float)
        scores = of * gold + noise
    else:
        gold = rng.normal(size=(m, 1, n))
        scores = of * gold + np.sqrt(1 - of**2) * noise
    return np.stack([np.broadcast_to(gold, scores.shape), scores], axis=-1)


def measured(metric: str, n: int, r: float, m: int) -> tuple[float, float]:
    """The share of test sets of two equal systems with p <= 0.05, and that of unequal ones whose interval covers."""
    rng = np.random.default_rng([n, int(10 * r), len(metric)])
    rejected = covered = 0
    better, worse = QUALITIES[metric]
    for seed in range(m // _BLOCK):
        for equal in (True, False):
            sets = drawn(metric, (better, better if equal else worse), n, r, _BLOCK, rng)
            flat = sets.reshape(2 * _BLOCK, n, -1)
            scores = get_metric(metric).test_set_scores(flat).reshape(_BLOCK, 2)
            first = 2 * np.arange(_BLOCK)
            pairs = first + (scores[:, 1] > scores[:, 0]), first + (scores[:, 1] <= scores[:, 0])
            question = Question(
                flat, get_metric(metric), [str(k) for k in range(2 * _BLOCK)], "item", np.array([0, n]),
                alternative="two-sided", n_resamples=499, seed=seed, asked=pairs,
            )  # fmt: skip
            if equal:
                rejected += int((bootstrap(question).p_value <= 0.05).sum())
                continue
            none = np.zeros(_BLOCK, dtype=np.int64)
            known = intervals(question, np.abs(scores[:, 0] - scores[:, 1]), none, none)
            true = (truth(metric, better) - truth(metric, worse)) * np.where(scores[:, 1] > scores[:, 0], -1, 1)
            covered += int(((known["gain_low"] <= true) & (true <= known["gain_high"])).sum())
    n_sets = m // _BLOCK * _BLOCK
    return rejected / n_sets, covered / n_sets


@pytest.mark.slow
@pytest.mark.parametrize("metric", QUALITIES)
def test_level_and_coverage(metric: str) -> None:
    """In bands that the true rates of the table leave once in 10,000 runs, at 50 and at 200 items."""
    for n, (level, coverage) in {50: (0.09, 0.90), 200: (0.085, 0.915)}.items():
        rejects, covers = measured(metric, n, 0.5, 500)
        assert 0.01 < rejects < level, (n, rejects)
        assert coverage < covers, (n, covers)


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "n", "least"), [("auc", 50, 0.85), ("auc", 200, 0.90), ("median", 50, 0.82)])
def test_ranks_are_held(metric: str, n: int, least: float) -> None:
    """All ranks of eight equally good systems, about as often as the docstring of `leaderboard` says."""
    rng, held = np.random.default_rng([n, len(metric)]), 0
    for seed in range(200):
        gold = (rng.random(n) < 0.4).astype(float)
        scores = 0.8 * gold + 0.6 * rng.normal(size=(8, n))
        columns = [score[:, None] if metric == "median" else np.stack([gold, score], axis=-1) for score in scores]
        board = leaderboard(Outputs.from_statistics(np.stack(columns), metric), seed=seed, n_bootstrap=499)
        held += int(((board["rank_low"] == 1) & (board["rank_high"] == 8)).all())
    assert held / 200 > least


if __name__ == "__main__":
    for _n, _r, _metric in product(SIZES, CORRELATIONS, QUALITIES):
        print(_metric, _n, _r, *measured(_metric, _n, _r, int(sys.argv[1])), flush=True)
