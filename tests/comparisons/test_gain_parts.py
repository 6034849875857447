from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.comparisons.stepdown import gain_parts
from simstudy.metrics import METRICS, Metric
from simstudy.metrics.base import Ratio
from simstudy.metrics.influence import contributions


def of(metric: Metric, statistics: np.ndarray):
    return gain_parts(statistics, metric, contributions(statistics, metric), np.zeros(len(statistics), dtype=bool))


def test_shared_denominators_swap_units() -> None:
    """Clusters of 1 to 9 items: what a unit contributes is its difference in right ones, over all items."""
    rng = np.random.default_rng(0)
    size = rng.integers(1, 10, 30)
    correct = rng.binomial(size, [[0.6], [0.7]])
    found = of(METRICS["accuracy"], np.stack([correct, np.broadcast_to(size, (2, 30))], axis=-1))
    np.testing.assert_allclose(found.parts[1] - found.parts[0], 100 * (correct[1] - correct[0]) / size.sum())
    np.testing.assert_allclose(found.scores, 100 * correct.sum(axis=1) / size.sum())
    assert found.shares is None


def test_own_denominators_by_hand() -> None:
    """Precision of 3 / 6 and 4 / 4, pooled 7 / 10: (c - 0.7 g) / D, over the root of 1 - g / D."""
    correct, guessed = np.array([[2, 1, 0], [1, 1, 2]]), np.array([[3, 2, 1], [1, 1, 2]])
    found = of(METRICS["precision"], np.stack([correct, guessed, guessed], axis=-1))
    assert found.shares is not None
    assert found.pooled is not None
    assert found.pooled[0, 1] == pytest.approx(70)
    sides = [100 * (c - 0.7 * g) / g.sum() / np.sqrt(1 - g / g.sum()) for c, g in zip(correct, guessed, strict=True)]
    own = found.parts[0] - found.parts[1] - found.pooled[0, 1] * (found.shares[0] - found.shares[1])
    np.testing.assert_allclose(own, sides[0] - sides[1])
    np.testing.assert_allclose(found.roots()[0, 1], np.sqrt(((sides[0] - sides[1]) ** 2).sum()))
    np.testing.assert_allclose(found.scores, [50, 100])


def test_other_metrics_have_the_jackknifes() -> None:
    rng = np.random.default_rng(1)
    guessed = rng.integers(5, 20, size=(3, 25))
    orders = [np.maximum(guessed - n, 0) for n in range(4)]
    matched = [rng.binomial(total, 0.7 - 0.1 * n) for n, total in enumerate(orders)]
    statistics = np.stack([*matched, *orders, guessed, guessed], axis=-1)
    metric = METRICS["bleu"]
    statistics = statistics[..., : len(metric.statistics)]
    found = of(metric, statistics)
    np.testing.assert_allclose(found.parts, contributions(statistics, metric))
    np.testing.assert_allclose(found.scores, metric.score(statistics.sum(axis=1)))


@given(st.integers(2, 6), st.integers(2, 40), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60, deadline=None)
def test_roots_as_by_definition(k: int, n: int, seed: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    guessed = rng.integers(1, 9, size=(1 if shared else k, n)) * np.ones((k, 1), dtype=int)
    correct = rng.binomial(guessed, 0.6)
    correct[-1], guessed[-1] = correct[0], guessed[0]
    found = of(METRICS["precision"], np.stack([correct, guessed, guessed], axis=-1))
    roots = found.roots()
    for i in range(k):
        for j in range(k):
            difference = found.parts[i] - found.parts[j]
            if found.shares is not None and found.pooled is not None:
                difference = difference - found.pooled[i, j] * (found.shares[i] - found.shares[j])
            size = float(np.sqrt((difference**2).sum()))
            # One count more is a difference of at least 100 / (40 * 8) points; less than a billionth is rounding.
            assert roots[i, j] == (pytest.approx(size, rel=1e-9) if size > 1e-9 else np.inf)
    assert roots[0, -1] == np.inf, "the same system twice"


def test_one_unit_in_a_hundred_thousand() -> None:
    """Two systems that differ on one unit are not told from rounding by a difference of large products."""
    right = (np.random.default_rng(2).random((2, 100_000)) < 0.7).astype(int)
    right[1] = right[0]
    right[1, 7] = 1 - right[0, 7]
    found = of(METRICS["accuracy"], np.stack([right, np.ones_like(right)], axis=-1))
    assert found.roots()[0, 1] == pytest.approx(100 / 100_000, rel=1e-9)


def test_lower_is_better_is_turned() -> None:
    error = Ratio("error", ("wrong", "total"), higher_is_better=False, numerator=(1, 0), denominator=(0, 1))
    wrong = np.array([[[1, 1], [0, 1]], [[1, 1], [1, 1]]])
    found = of(error, wrong)
    assert found.scores.tolist() == [-50, -100]
    assert (found.parts[0] - found.parts[1]).tolist() == [0, 50]
