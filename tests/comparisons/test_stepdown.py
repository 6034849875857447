"""Places by their definition in loops, by published figures and by coverage; contributions to gains by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from simstudy.comparisons.stepdown import GainParts, Places, _flipped, gain_parts, places
from simstudy.metrics import METRICS, Metric

B = 399


def parts_of(metric: Metric, statistics: NDArray[np.int64], unknown: NDArray[np.bool_] | None = None) -> GainParts:
    unknown = np.zeros(len(statistics), dtype=bool) if unknown is None else unknown
    return gain_parts(statistics, metric, unknown)


def gain_of_pair(gains: GainParts, i: int, j: int) -> NDArray[np.float64]:
    """What each unit contributes to the gain of system i over j, (n,)."""
    return np.einsum("s,sn->n", gains.weights[i, j], gains.columns[:, i] - gains.columns[:, j])


def of_scores(scores: NDArray[np.float64]) -> GainParts:
    """Gains of means of (K, n) item scores."""
    parts = scores / scores.shape[1]
    return GainParts.from_scores(parts.sum(axis=1), parts, np.zeros(len(parts), dtype=bool))


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
            contribution = gain_of_pair(gains, i, j)
            size = np.sqrt(sum(value**2 for value in contribution))
            if size > 0 and not gains.unknown[[i, j]].any():
                t[i, j] = gains.gains[i, j] / size
                resampled[:, i, j] = [sum(row * contribution) / size for row in drawn]

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
    rejected_of_system = [rejected({pair for pair in ordered if s in pair}) for s in range(k)]
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
        np.array([1 + sum(j == s for _, j in rejected_of_system[s]) for s in range(k)]),
        np.array([k - sum(i == s for i, _ in rejected_of_system[s]) for s in range(k)]),
        np.array([s in candidates for s in range(k)]),
        np.array([[(i, j) in every for j in range(k)] for i in range(k)]),
    )


def as_lists(ranks: Places) -> list[list[int]]:
    return [np.asarray(side).tolist() for side in vars(ranks).values()]


@pytest.mark.parametrize(
    ("seed", "level"), [(0, 0.95), (1, 0.95), (3, 0.95), (4, 0.7), (5, 0.7), (2, 0.8), (206, 0.95)]
)
def test_as_by_definition(seed: int, level: float) -> None:
    """Scores of few values, so that many draws tie with what was observed; two systems are the same.

    In the last two a smaller statistic would be rejected by itself, but a larger one is not.
    """
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, size=(5, 14)) + np.array([0.0, 0, 1, 2, 3])[:, None]
    scores[1] = scores[0]
    gains = of_scores(scores)
    expected = by_definition(gains, level, seed)
    assert as_lists(places(gains, level=level, n_bootstrap=B, seed=seed)) == as_lists(expected)
    assert (expected.low > 1).any(), "some systems differ"


@pytest.mark.parametrize("seed", [0, 1, 2, 169, 175])
def test_as_by_definition_where_systems_have_denominators_of_their_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    guessed = rng.integers(1, 6, size=(5, 16))
    correct = rng.binomial(guessed, np.array([0.2, 0.3, 0.6, 0.8, 0.8])[:, None])
    statistics = np.stack([correct, guessed, guessed], axis=-1)
    gains = parts_of(METRICS["precision"], statistics, np.arange(5) == seed % 5)
    assert len(gains.columns) == 2
    expected = by_definition(gains, 0.8, seed)
    assert as_lists(places(gains, level=0.8, n_bootstrap=B, seed=seed)) == as_lists(expected)
    assert (expected.low > 1).any()
    assert (expected.low[seed % 5], expected.high[seed % 5], expected.may_be_best[seed % 5]) == (1, 5, True)


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
    gains = GainParts.from_scores(countries[:, 0], parts, np.zeros(len(countries), dtype=bool))
    ranks = places(gains, level=0.95, n_bootstrap=4000, seed=0)
    sets = np.stack([ranks.low, ranks.high, ranks.low_own, ranks.high_own], axis=1)
    off = np.abs(sets - countries[:, 2:])
    assert (off[:, :2] == 0).all()
    assert off[:, 2:].max() <= 2
    assert (off[:, 2:] == 0).mean() > 0.9
    assert (ranks.low <= 5).sum() == 12
    assert ranks.may_be_best.tolist() == [True] * 6 + [False] * 31


def test_more_draws_begin_with_the_fewer() -> None:
    many = signs(7, 1500, 3)
    assert (signs(7, 600, 3) == many[:600]).all()
    assert (many[:500] != many[512:1012]).any(), "blocks have draws of their own"
    assert set(np.unique(many)) == {-1.0, 1.0}
    assert stats.binomtest(int((many > 0).sum()), many.size).pvalue > 1e-6
    assert np.abs(np.corrcoef(many.T) - np.eye(7)).max() < 5 / np.sqrt(1500)
    assert (signs(7, 600, 4) != many[:600]).any()


def test_many_units_are_taken_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """More units than are held at once: the same sums as of all at once, and other signs in each run."""
    monkeypatch.setattr("simstudy.comparisons.stepdown._UNITS", 64)
    parts = np.random.default_rng(0).standard_normal((3, 100))
    drawn = signs(100, 8, 1)
    (sums,) = _flipped(np.stack([parts, -parts]), 8, 1)
    np.testing.assert_allclose(sums, [parts @ drawn.T, -parts @ drawn.T], atol=1e-12)
    assert (drawn[:, :36] != drawn[:, 64:]).any()


def test_a_difference_of_rounding_is_none() -> None:
    """0.1 + 0.2 is not 0.3 in binary, on each of 50 units."""
    ranks = places(of_scores(np.array([[0.1 + 0.2] * 50, [0.3] * 50])), level=0.95, n_bootstrap=199, seed=0)
    assert as_lists(ranks) == [[1, 1], [2, 2], [1, 1], [2, 2], [True, True], [[False] * 2] * 2]


def test_shared_denominators_swap_units() -> None:
    """Clusters of 1 to 9 items: what a unit contributes is its difference in right ones."""
    rng = np.random.default_rng(0)
    size = rng.integers(1, 10, 30)
    correct = rng.binomial(size, [[0.6], [0.7]])
    gains = parts_of(METRICS["accuracy"], np.stack([correct, np.broadcast_to(size, (2, 30))], axis=-1))
    assert gain_of_pair(gains, 1, 0).tolist() == (correct[1] - correct[0]).tolist()
    assert gains.gains[1, 0] == -gains.gains[0, 1] == (correct[1] - correct[0]).sum()


def test_own_denominators_by_hand() -> None:
    """Precision of 3 / 6 and 4 / 4, pooled 7 / 10: (c - 0.7 g) / D, over the root of 1 - g / D."""
    correct, guessed = np.array([[2, 1, 0], [1, 1, 2]]), np.array([[3, 2, 1], [1, 1, 2]])
    gains = parts_of(METRICS["precision"], np.stack([correct, guessed, guessed], axis=-1))
    sides = [(c - 0.7 * g) / g.sum() / np.sqrt(1 - g / g.sum()) for c, g in zip(correct, guessed, strict=True)]
    np.testing.assert_allclose(gain_of_pair(gains, 0, 1), sides[0] - sides[1])
    np.testing.assert_allclose(gains.roots()[0, 1], np.sqrt(((sides[0] - sides[1]) ** 2).sum()))
    assert gains.gains.tolist() == [[0, -0.5], [0.5, 0]]


def test_other_functions_of_sums_have_the_averaged_gradient() -> None:
    """BLEU's contributions add up to the gain; with equal statistics a unit has none, whatever the jackknife says."""
    rng = np.random.default_rng(1)
    guessed = rng.integers(5, 20, size=(3, 25))
    orders = [np.maximum(guessed - n, 0) for n in range(4)]
    matched = [rng.binomial(total, 0.7 - 0.1 * n) for n, total in enumerate(orders)]
    statistics = np.stack([*matched, *orders, guessed, guessed], axis=-1)[..., : len(METRICS["bleu"].statistics)]
    statistics[1, :20] = statistics[0, :20]
    gains = parts_of(METRICS["bleu"], statistics)
    scores = METRICS["bleu"].score(statistics.sum(axis=1))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        assert gain_of_pair(gains, i, j).sum() == pytest.approx(scores[i] - scores[j], rel=1e-4)
        assert gains.gains[i, j] == pytest.approx(gain_of_pair(gains, i, j).sum(), rel=1e-9)
    assert not gain_of_pair(gains, 0, 1)[:20].any()


@given(st.integers(2, 6), st.integers(2, 40), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60, deadline=None)
def test_roots_as_by_definition(k: int, n: int, seed: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    guessed = rng.integers(1, 9, size=(1 if shared else k, n)) * np.ones((k, 1), dtype=int)
    correct = rng.binomial(guessed, 0.6)
    correct[-1], guessed[-1] = correct[0], guessed[0]
    gains = parts_of(METRICS["precision"], np.stack([correct, guessed, guessed], axis=-1))
    roots = gains.roots()
    for i in range(k):
        for j in range(k):
            size = float(np.sqrt((gain_of_pair(gains, i, j) ** 2).sum()))
            # One count more is a difference of at least 1 / (40 * 8); less than a billionth is rounding.
            assert roots[i, j] == (pytest.approx(size, rel=1e-9) if size > 1e-9 else np.inf)
    assert roots[0, -1] == np.inf, "the same system twice"


def test_a_small_difference_on_one_unit_is_no_rounding_error() -> None:
    """Beside a third system, where the difference of large products has lost all digits."""
    scores = np.random.default_rng(2).normal(size=(3, 1000))
    scores[1] = scores[0]
    scores[1, 7] += 1e-5
    assert of_scores(scores).roots()[0, 1] == pytest.approx(1e-5 / 1000, rel=1e-9)


def right_or_wrong(true: np.ndarray, n: int, rng: np.random.Generator) -> GainParts:
    """Items of a difficulty that all systems share, as of `correlated_accuracies`, without tables."""
    latent = np.sqrt(0.5) * (rng.standard_normal(n) + rng.standard_normal((len(true), n)))
    parts = (latent < stats.norm.ppf(true)[:, None]) / n
    return GainParts.from_scores(parts.sum(axis=1), parts, np.zeros(len(true), dtype=bool))


def holds(ranks: Places, true: np.ndarray) -> bool:
    """Whether all true ranks are in the simultaneous sets; where systems tie, the whole range of theirs."""
    best = 1 + (true > true[:, None]).sum(axis=1)
    worst = len(true) - (true < true[:, None]).sum(axis=1)
    return bool(((ranks.low <= best) & (worst <= ranks.high)).all())


@pytest.mark.statistical
def test_true_differences_are_covered_and_found() -> None:
    """Ten systems of 70 %, five of 55 % and five of 40 %, 200 items, 200 test sets."""
    rng = np.random.default_rng(20240102)
    true = np.repeat([0.7, 0.55, 0.4], [10, 5, 5])
    covered, best, first_and_last, apart = 0, 0, 0.0, 0.0
    for seed in range(200):
        ranks = places(right_or_wrong(true, 200, rng), level=0.95, n_bootstrap=499, seed=seed)
        covered += holds(ranks, true)
        best += ranks.may_be_best[:10].all()
        # 30 points apart: below all ten; and 15 points.
        first_and_last += (ranks.low[15:] > 10).mean() / 200
        apart += (~ranks.may_be_best[10:15]).mean() / 200
    assert covered / 200 >= 0.93
    assert best / 200 >= 0.93
    assert first_and_last > 0.95
    assert apart > 0.6


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_a_hundred_items_are_enough(share: float) -> None:
    """Of twenty equal systems on 100 items, and of five on 30: 3,000 test sets each."""
    rng = np.random.default_rng(20240103)
    for k, n in ((20, 100), (5, 30)):
        true = np.full(k, share)
        ranks = [places(right_or_wrong(true, n, rng), level=0.95, n_bootstrap=499, seed=s) for s in range(3000)]
        assert np.mean([holds(sets, true) for sets in ranks]) >= 0.935
        assert np.mean([sets.may_be_best.all() for sets in ranks]) >= 0.935
