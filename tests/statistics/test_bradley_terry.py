from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from simstudy.statistics.bradley_terry import meeting_parts, separated, strengths


def drawn(n: int, k: int, seed: int, *, spread: float = 1.2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    beta = np.linspace(0, spread, k)
    first = rng.integers(0, k, n)
    second = (first + rng.integers(1, k, n)) % k
    points = (rng.random(n) < 1 / (1 + np.exp(beta[second] - beta[first]))).astype(float)
    points[rng.random(n) < 0.15] = 0.5
    return first, second, points


def test_strengths_are_those_of_logistic_regression() -> None:
    """A tie is half a win and half a loss: two rows of weight one half."""
    first, second, points = drawn(400, 6, 1)
    design = np.zeros((400, 6))
    design[np.arange(400), first], design[np.arange(400), second] = 1, -1
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=2000)
    model.fit(
        np.concatenate([design, design]), np.repeat([1, 0], 400), sample_weight=np.concatenate([points, 1 - points])
    )
    found = strengths(first, second, points, 6)
    np.testing.assert_allclose(found, model.coef_[0] - model.coef_[0].mean(), atol=1e-5)


def test_two_systems_have_the_log_odds_of_their_wins() -> None:
    first, second = np.zeros(10, dtype=int), np.ones(10, dtype=int)
    points = np.array([1.0] * 7 + [0.0] * 2 + [0.5])
    gain = strengths(first, second, points, 2) @ [1, -1]
    assert gain == pytest.approx(np.log(7.5 / 2.5))
    # The delta method: a residual over n p (1 - p), and HC2's leverage of 1 / n.
    parts = np.array([1, -1]) @ meeting_parts(first, second, points, strengths(first, second, points, 2))
    np.testing.assert_allclose(parts, (points - 0.75) / (10 * 0.75 * 0.25) / np.sqrt(1 - 1 / 10), atol=1e-12)


def test_strong_systems_that_start_far_from_zero_converge() -> None:
    first, second = np.repeat([0, 1], 500), np.repeat([1, 2], 500)
    points = np.ones(1000)
    points[[0, 500]] = 0
    found = strengths(first, second, points, 3)
    np.testing.assert_allclose(np.diff(found), -np.log(499), atol=1e-9)


def test_influence_is_the_derivative_of_the_strengths_by_a_meeting_s_weight() -> None:
    """Of a likelihood that is maximised by scipy, where one meeting counts a little more."""
    first, second, points = drawn(60, 4, 2)

    def fitted(weights: np.ndarray) -> np.ndarray:
        def loss(beta: np.ndarray) -> float:
            logit = beta[first] - beta[second]
            return float(weights @ (np.logaddexp(0, logit) - points * logit) + beta.mean() ** 2)

        return np.asarray(minimize(loss, np.zeros(4), tol=1e-14, method="BFGS", options={"gtol": 1e-10}).x)

    parts = meeting_parts(first, second, points, strengths(first, second, points, 4))
    step = 1e-3
    derived = []
    for i in range(60):
        more, less = np.ones(60), np.ones(60)
        more[i] += step
        less[i] -= step
        derived.append((fitted(more) - fitted(less)) / (2 * step))
    exact = np.array(derived).T
    # HC2 makes each residual larger by its leverage, here by 3 to 8 %.
    ratio = (parts * exact).sum(axis=1) / (exact**2).sum(axis=1)
    assert ((ratio > 1.01) & (ratio < 1.06)).all()
    assert min(np.corrcoef(own, other)[0, 1] for own, other in zip(parts, exact, strict=True)) > 0.999


def test_systems_that_never_lose_or_never_meet_others_are_separated() -> None:
    first, second = np.array([0, 1, 0, 2]), np.array([1, 0, 2, 1])
    assert separated(first, second, np.array([1.0, 1, 1, 0]), 3).tolist() == [2]
    assert separated(first, second, np.array([1.0, 1, 0.5, 0]), 3).tolist() == []
    assert separated(np.array([0, 2]), np.array([1, 3]), np.array([0.5, 0.5]), 4).tolist() == [0, 1]
