"""Compiled gains in single precision against `Metric.score`, with their bound of errors."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy.metrics import METRICS, Metric
from simstudy.metrics.per_class import PER_CLASS
from simstudy.metrics.quick_kernels import WIDTH

LABELS = [str(c) for c in range(4)]
QUICK = {
    **{name: METRICS[name] for name in ("bleu", "chrf", "chrf++")},
    **{name: family.of_classes(LABELS) for name, family in PER_CLASS.items()},
}


def statistics_of(metric: Metric, shape: tuple[int, ...], most: int, rng: np.random.Generator) -> np.ndarray:
    """Counts (..., S) that keep the metric's rules: some orders without a match, some systems that say nothing."""
    if metric.name == "bleu":
        total = np.maximum(rng.integers(0, most, size=(*shape, 1)) - np.arange(4), 0)
        correct = rng.binomial(total, rng.choice([0, 0.01, 0.2, 0.9, 1], size=(*shape, 1)))
        reference = rng.integers(0, 2 * most, size=(*shape, 1))
        return np.concatenate([correct, total, total[..., :1], reference], axis=-1)
    n = len(metric.statistics) // 3
    said, gold = np.maximum(rng.integers(0, most, size=(2, *shape, n)) - rng.integers(0, most, size=n) // 2, 0)
    if metric.name in PER_CLASS:
        # As many labels are predicted as there are, some of them never.
        items = gold.sum(axis=-1)
        said = rng.multinomial(items, rng.permutation([0, 0.1, 0.2, 0.7]))
    right = rng.binomial(np.minimum(said, gold), rng.choice([0, 0.01, 0.5, 1], size=(*shape, 1)))
    return np.concatenate([right, said, gold], axis=-1)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("most", [9, 60, 5_000, 2**20])
def test_errors_keep_their_bound(name: str, most: int) -> None:
    metric, rng = QUICK[name], np.random.default_rng([most, len(name)])
    assert metric.quick
    k, n, s = 12, 7, len(metric.statistics)
    units = statistics_of(metric, (k, n), most, rng)
    units[3], units[5, ::2] = units[2], units[6, ::2]
    picked = rng.integers(0, 2, size=(WIDTH, n)) @ units
    i, j = pairs = np.triu_indices(k, 1)
    moved, totals = picked[j] - picked[i], units.sum(axis=1)
    expected = metric.score(totals[i, None] + moved) - metric.score(totals[j, None] - moved)
    assert np.abs(expected).max() > 0.2 * metric.score(totals).max()
    rows = np.ascontiguousarray(np.moveaxis(picked, 2, 1).reshape(k, s * WIDTH), dtype=np.float32)
    # The roundings of the difference.
    error = 2 * metric.quick.error + 2 * 2.0**-24 * np.abs(expected)
    for width in (WIDTH, 7):
        gains = np.full((len(i), width), np.nan, np.float32)
        metric.quick.gains(rows, totals.astype(np.float32), pairs, gains)
        assert (np.abs(gains - expected[:, :width]) <= error[:, :width]).all()
        assert (gains[(i == 2) & (j == 3)] == 0).all()


@pytest.mark.parametrize("unusual", ["none", "no match", "short", "shorter than told by its series"])
def test_one_unusual_text_among_usual_ones(unusual: str) -> None:
    """BLEU's usual scores have a shorter formula: no other text may come by it."""
    metric, rng = METRICS["bleu"], np.random.default_rng(7)
    assert metric.quick
    total = rng.integers(200, 260, size=(2, WIDTH, 1)) - np.arange(4)
    correct = rng.binomial(total, [0.6, 0.4, 0.3, 0.2])
    wanted = total[..., :1] + rng.integers(-40, 40, size=(2, WIDTH, 1))
    picked = np.concatenate([correct, total, total[..., :1], wanted], axis=-1)
    totals = 2 * picked.max(axis=1) + 50
    if unusual == "no match":
        # The swapped units of shuffle 5 are all that the first system matches.
        picked[1, 5, 3], picked[0, 5, 3] = 0, totals[0, 3]
    elif unusual != "none":
        part = {"short": 1.4, "shorter than told by its series": 8}[unusual]
        picked[:, 5, 9] = 0
        picked[1, 5, 9] = int(part * (totals[0, 8] + picked[1, 5, 8] - picked[0, 5, 8])) - totals[0, 9]
    moved = picked[1] - picked[0]
    expected = metric.score(totals[0] + moved) - metric.score(totals[1] - moved)
    rows = np.ascontiguousarray(np.moveaxis(picked, 2, 1).reshape(2, -1), dtype=np.float32)
    gains = np.empty((1, WIDTH), np.float32)
    metric.quick.gains(rows, totals.astype(np.float32), (np.array([0]), np.array([1])), gains)
    assert (np.abs(gains[0] - expected) <= 2 * metric.quick.error + 2 * 2.0**-24 * np.abs(expected)).all()
