from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from simstudy.comparisons.stepdown import GainParts, Places, _flipped, gain_parts, places
from simstudy.metrics import METRICS

B = 399


def of_scores(scores: NDArray[np.float64]) -> GainParts:
    """Gains of means of (K, n) item scores."""
    parts = scores / scores.shape[1]
    return GainParts.of_scores(parts.sum(axis=1), parts, np.zeros(len(parts), dtype=bool))


def signs(n: int, draws: int, seed: int) -> NDArray[np.float64]:
    """The signs that are drawn, (draws, n): what they make of units of which each is a system's only one."""
    return np.concatenate([sums[0] for sums in _flipped(np.eye(n)[None], draws, seed)], axis=1).T


def by_definition(gains: GainParts, level: float, seed: int) -> Places:
    """All pairs and all draws in loops; sets of hypotheses are cut until nothing more is rejected (csranks' way)."""
    k, n = gains.columns.shape[1:]
    drawn = signs(n, B, seed)
    t, resampled = np.zeros((k, k)), np.zeros((B, k, k))
    for i in range(k):
        for j in range(k):
            of_pair = np.tensordot(gains.weights[i, j], gains.columns[:, i] - gains.columns[:, j], 1)
            size = np.sqrt(sum(value**2 for value in of_pair))
            if size > 0 and not gains.unknown[[i, j]].any():
                t[i, j] = gains.gains[i, j] / size
                resampled[:, i, j] = [sum(row * of_pair) / size for row in drawn]

    def rejected(left: set[tuple[int, int]]) -> set[tuple[int, int]]:
        everything = set(left)
        while left:
            largest = np.array([max(resampled[b, i, j] for i, j in left) for b in range(B)])
            gone = {(i, j) for i, j in left if (1 + (largest >= t[i, j] - 1e-9).sum()) / (B + 1) <= 1 - level + 1e-12}
            if not gone:
                break
            left = left - gone
        return everything - left

    ordered = {(i, j) for i in range(k) for j in range(k) if i != j}
    every = rejected(ordered)
    own = [rejected({pair for pair in ordered if s in pair}) for s in range(k)]
    candidates = set(range(k))
    while True:
        over = {j: max((t[i, j] for i in range(k) if i != j), default=0.0) for j in candidates}
        largest = np.array(
            [max((resampled[b, i, j] for j in candidates for i in range(k) if i != j), default=0.0) for b in range(B)]
        )
        gone = {j for j in candidates if (1 + (largest >= over[j] - 1e-9).sum()) / (B + 1) <= 1 - level + 1e-12}
        if not gone:
            break
        candidates -= gone
    return Places(
        np.array([1 + sum(j == s for _, j in every) for s in range(k)]),
        np.array([k - sum(i == s for i, _ in every) for s in range(k)]),
        np.array([1 + sum(j == s for _, j in own[s]) for s in range(k)]),
        np.array([k - sum(i == s for i, _ in own[s]) for s in range(k)]),
        np.array([s in candidates for s in range(k)]),
        np.array([[(i, j) in every for j in range(k)] for i in range(k)]),
    )


def as_lists(found: Places) -> list[list[int]]:
    return [np.asarray(side).tolist() for side in vars(found).values()]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", [0.95, 0.7])
def test_as_by_definition(seed: int, level: float) -> None:
    """Scores of few values, so that many draws tie with what was observed; two systems are the same."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, size=(5, 14)) + np.array([0.0, 0, 1, 2, 3])[:, None]
    scores[1] = scores[0]
    gains = of_scores(scores)
    wanted = by_definition(gains, level, seed)
    assert as_lists(places(gains, level=level, n_bootstrap=B, seed=seed)) == as_lists(wanted)
    assert (wanted.low > 1).any(), "something is told apart"


@pytest.mark.parametrize("seed", range(4))
def test_as_by_definition_where_systems_have_denominators_of_their_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    guessed = rng.integers(1, 6, size=(5, 16))
    correct = rng.binomial(guessed, np.array([0.2, 0.3, 0.6, 0.8, 0.8])[:, None])
    statistics = np.stack([correct, guessed, guessed], axis=-1)
    unknown = np.arange(5) == seed
    gains = gain_parts(statistics, METRICS["precision"], unknown)
    assert len(gains.columns) == 2
    wanted = by_definition(gains, 0.8, seed)
    assert as_lists(places(gains, level=0.8, n_bootstrap=B, seed=seed)) == as_lists(wanted)
    assert (wanted.low > 1).any()
    assert (wanted.low[seed], wanted.high[seed], wanted.may_be_best[seed]) == (1, 5, True)


def test_the_pisa_countries_of_csranks() -> None:
    """The figures that R's csranks prints on its front page: 37 OECD countries by mathematics, PISA 2018 (OECD 2019).

    Scores are independent with these standard errors: 4,000 units of orthogonal contributions have just that. The
    sets are read off the figures; each marginal one has draws of its own there, and a bound may be two places off.
    Twelve countries may be among the first five, as its vignette says.
    """
    countries = np.array(
        [  # score, standard error, simultaneous set, marginal set
            (526.973, 2.471, 1, 6, 1, 4), (525.933, 3.121, 1, 7, 1, 6), (523.415, 1.744, 1, 6, 1, 6),
            (519.231, 2.632, 1, 11, 1, 7), (515.648, 2.602, 1, 12, 2, 11), (515.315, 2.908, 1, 13, 2, 11),
            (512.017, 2.357, 3, 17, 4, 12), (509.398, 1.735, 4, 18, 5, 13), (508.898, 1.364, 4, 18, 5, 14),
            (508.070, 2.263, 4, 18, 5, 18), (507.301, 1.968, 4, 18, 5, 18), (502.388, 2.654, 5, 24, 7, 23),
            (501.770, 2.564, 6, 24, 8, 23), (500.964, 2.219, 7, 24, 10, 23), (500.044, 2.647, 7, 25, 9, 24),
            (499.633, 2.199, 8, 25, 10, 24), (499.468, 2.461, 7, 25, 10, 24), (498.942, 2.971, 7, 26, 10, 24),
            (496.126, 1.963, 12, 26, 12, 25), (495.408, 2.320, 12, 26, 12, 26), (495.187, 1.953, 12, 26, 12, 26),
            (494.490, 1.706, 12, 26, 12, 26), (492.487, 2.685, 12, 31, 12, 26), (491.360, 1.940, 12, 30, 15, 26),
            (486.590, 2.780, 15, 31, 19, 31), (486.165, 2.556, 18, 31, 20, 31), (483.421, 1.098, 23, 31, 25, 31),
            (481.393, 1.462, 24, 31, 25, 31), (481.191, 1.953, 23, 31, 25, 31), (481.083, 2.320, 23, 31, 25, 31),
            (478.245, 3.235, 23, 32, 25, 31), (463.035, 3.499, 31, 34, 32, 34), (453.508, 2.260, 32, 34, 32, 34),
            (451.370, 3.091, 32, 34, 32, 34), (417.407, 2.416, 35, 36, 35, 36), (408.801, 2.493, 35, 36, 35, 36),
            (390.932, 2.990, 37, 37, 37, 37),
        ]
    )  # fmt: skip
    n = 4000
    noise = np.random.default_rng(0).standard_normal((n, len(countries)))
    orthogonal = np.linalg.qr(noise - noise.mean(axis=0))[0].T
    parts = countries[:, :1] / n + countries[:, 1:2] * orthogonal
    gains = GainParts.of_scores(countries[:, 0], parts, np.zeros(len(countries), dtype=bool))
    found = places(gains, level=0.95, n_bootstrap=4000, seed=0)
    sets = np.stack([found.low, found.high, found.low_own, found.high_own], axis=1)
    off = np.abs(sets - countries[:, 2:])
    assert (off[:, :2] == 0).all()
    assert off[:, 2:].max() <= 2
    assert (off[:, 2:] == 0).mean() > 0.9
    assert (found.low <= 5).sum() == 12
    assert found.may_be_best.tolist() == [True] * 6 + [False] * 31


def test_more_draws_begin_with_the_fewer() -> None:
    many = signs(7, 1500, 3)
    assert (signs(7, 600, 3) == many[:600]).all()
    assert set(np.unique(many)) == {-1.0, 1.0}
    assert stats.binomtest(int((many > 0).sum()), many.size).pvalue > 1e-6
    assert np.abs(np.corrcoef(many.T) - np.eye(7)).max() < 5 / np.sqrt(1500)
    assert (signs(7, 600, 4) != many[:600]).any()


def test_many_units_are_taken_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """More units than are held at once: the same sums as of all at once, and other signs in each run."""
    monkeypatch.setattr("simstudy.comparisons.stepdown._UNITS", 64)
    parts = np.random.default_rng(0).standard_normal((3, 100))
    drawn = signs(100, 8, 1)
    ((found,),) = _flipped(parts[None], 8, 1)
    np.testing.assert_allclose(found, parts @ drawn.T, atol=1e-12)
    assert (drawn[:, :36] != drawn[:, 64:]).any()


def test_a_difference_of_rounding_is_none() -> None:
    """0.1 + 0.2 is not 0.3 in binary, on each of 50 units."""
    found = places(of_scores(np.array([[0.1 + 0.2] * 50, [0.3] * 50])), level=0.95, n_bootstrap=199, seed=0)
    assert as_lists(found) == [[1, 1], [2, 2], [1, 1], [2, 2], [True, True], [[False] * 2] * 2]
