"""Dependence against closed forms: margins, Kendall's tau, tails, distribution functions, clusters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from simstudy.truth import (
    Clayton,
    Dependence,
    GaussianCopula,
    Gumbel,
    Independent,
    ItemClusters,
    Survival,
    TCopula,
    of_families,
)
from simstudy.truth.dependence import nearest_correlation

UNEQUAL = np.array([[1, 0.2, 0.7], [0.2, 1, 0.5], [0.7, 0.5, 1]])
KINDS: dict[str, Dependence] = {
    "independent": Independent(),
    "gaussian": GaussianCopula(0.6),
    "gaussians": GaussianCopula(UNEQUAL),
    "t": TCopula(0.6, df=3),
    "ts": TCopula(UNEQUAL, df=1.5),
    "clayton": Clayton(2.0),
    "gumbel": Gumbel(2.0),
    "survival": Survival(Clayton(2.0)),
    "asymmetric": Gumbel(4.0, (0.9, 0.4, 0.6)),
    "asymmetric, upside down": Survival(Gumbel(4.0, (0.9, 0.4, 0.6))),
}
N = 40_000
each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)

# Copulas of two systems by one parameter, from the least rank correlation to the largest.
RISING: dict[str, tuple[Callable[[float], Dependence], list[float]]] = {
    "gaussian": (GaussianCopula, [-1, -1 + 1e-9, -0.5, 0, 1e-300, 0.5, 1 - 1e-9, 1]),
    "t": (lambda r: TCopula(r, df=0.1), [-1, -0.5, 0, 0.5, 1]),
    "nearly normal t": (lambda r: TCopula(r, df=1e100), [-1, -0.5, 0, 0.5, 1]),
    "clayton": (Clayton, [1e-100, 1e-17, 1e-9, 0.1, 1, 28, 100, 500, 1e4, 1e9, 1e100]),
    "survival": (lambda theta: Survival(Clayton(theta)), [1e-100, 1, 100, 1e100]),
    "gumbel": (Gumbel, [1, 1 + 2**-52, 1.1, 2, 30, 1e4, 1e9, 1e100]),
    "shares": (lambda a: Gumbel(1e100, (a, a)), [0, 5e-324, 1e-9, 0.5, 1 - 2**-53, 1]),
    "one share": (lambda a: Gumbel(3.0, (a, 1.0)), [0, 0.2, 0.5, 0.9, 1]),
}


@each
def test_margins_are_uniform(kind: Dependence) -> None:
    uniforms = kind.uniforms(N, 3, np.random.default_rng(3))
    assert uniforms.shape == (N, 3)
    assert uniforms.min() > 0
    assert uniforms.max() < 1
    for k in range(3):
        assert stats.kstest(uniforms[:, k], "uniform").pvalue > 1e-5
    assert stats.kstest(kind.normals(N, 3, np.random.default_rng(3))[:, 1], "norm").pvalue > 1e-5


@each
def test_the_stated_rank_correlation_is_the_drawn_one(kind: Dependence) -> None:
    """The standard error of tau is below 2/3 sqrt(2 / n) = 0.005."""
    drawn = kind.uniforms(N, 3, np.random.default_rng(1))
    tau = [[stats.kendalltau(one, other).statistic for other in drawn.T] for one in drawn.T]
    np.testing.assert_allclose(kind.rank_correlation(3), tau, atol=0.02)


@pytest.mark.parametrize("name", RISING)
def test_rank_correlation_rises_with_the_parameter_to_its_ends(name: str) -> None:
    """Uniform to the ends (Kolmogorov and Smirnov: 10^-6), tau within 5 standard errors, which are below 0.021."""
    of, values = RISING[name]
    stated = [of(value).rank_correlation(2)[0, 1] for value in values]
    assert all(later >= earlier for earlier, later in pairwise(stated)), stated
    for value, tau in zip(values, stated, strict=True):
        drawn = of(value).uniforms(2000, 2, np.random.default_rng(3))
        assert drawn.min() > 0
        assert drawn.max() < 1
        for one in drawn.T:
            assert stats.kstest(one, "uniform").pvalue > 1e-6
        assert stats.kendalltau(*drawn.T).statistic == pytest.approx(tau, abs=0.1)
    assert stated[-1] == pytest.approx(2 / 3 if name == "one share" else 1)


def test_closed_forms_of_rank_correlation() -> None:
    """Of Gumbel with shares in the limit of theta it is Marshall and Olkin's a b / (a + b - a b)."""
    for kind, tau in [
        (GaussianCopula(0.6), 2 / np.pi * np.arcsin(0.6)),
        (Clayton(2.0), 0.5),
        (Gumbel(4.0), 0.75),
        (Gumbel(1.0, (0.2, 0.9)), 0.0),
        (Gumbel(1e9, (0.5, 0.7)), 0.35 / 0.85),
        (Survival(Gumbel(4.0)), 0.75),
    ]:
        assert kind.rank_correlation(2)[0, 1] == pytest.approx(tau, abs=1e-8)


@pytest.mark.parametrize(("u", "v"), [(0.1, 0.1), (0.3, 0.6), (0.6, 0.3), (0.9, 0.95)])
def test_distribution_functions(u: float, v: float) -> None:
    """P(U <= u, V <= v); the standard error of a share of 40,000 is below 0.0025."""

    def clayton(u: float, v: float) -> float:
        return float((u**-2.0 + v**-2.0 - 1) ** -0.5)

    def gumbel(u: float, v: float, theta: float) -> float:
        return float(np.exp(-(((-np.log(u)) ** theta + (-np.log(v)) ** theta) ** (1 / theta))))

    for kind, share in [
        (Clayton(2.0), clayton(u, v)),
        (Gumbel(2.0), gumbel(u, v, 2.0)),
        (Survival(Clayton(2.0)), u + v - 1 + clayton(1 - u, 1 - v)),
        (Gumbel(4.0, (0.9, 0.4)), gumbel(u**0.9, v**0.4, 4.0) * u**0.1 * v**0.6),
    ]:
        drawn = kind.uniforms(N, 2, np.random.default_rng(7))
        assert ((drawn[:, 0] <= u) & (drawn[:, 1] <= v)).mean() == pytest.approx(share, abs=0.011)


def test_t_has_dependent_tails() -> None:
    """The tail coefficient of t is 2 t_{df+1}(-sqrt((df + 1)(1 - rho) / (1 + rho))); at 0.001 it is nearly reached.

    Squares of uncorrelated t numbers correlate by 1 / (df - 1): their means are those of 1 / spread^2, squared.
    """
    drawn = TCopula(0.5, df=2).uniforms(400_000, 2, np.random.default_rng(0))
    coefficient = 2 * stats.t(3).cdf(-np.sqrt(3 * 0.5 / 1.5))
    assert (drawn < 0.001).all(axis=1).mean() / 0.001 == pytest.approx(coefficient, abs=0.15)
    t = stats.t(12).ppf(TCopula(0.0, df=12).uniforms(200_000, 2, np.random.default_rng(0)))
    assert np.corrcoef(t.T**2)[0, 1] == pytest.approx(1 / 11, abs=0.02)


@pytest.mark.parametrize("correlation", [0.0, 1.0])
@each
def test_clusters_draw_the_dependence_that_they_are_given(kind: Dependence, correlation: float) -> None:
    """Single items, or one answer for each cluster: shares in corners. Normal correlations of 0.48 and 0.6 differ."""
    rng, size, n = np.random.default_rng(9), 2 if correlation == 0 else 1, 2 * N
    other = Independent() if correlation == 0 else None
    clusters = ItemClusters(correlation, size, effects=other)
    drawn = clusters.uniforms(kind, np.full(n // size, size), np.empty((1, 0, 3)), 3, rng)
    plain = kind.uniforms(n, 3, rng)
    for k, m in ((0, 1), (0, 2), (1, 2)):
        for edge in (0.01, 0.1, 0.5):
            corners = [
                [(np.abs(uniforms[:, [k, m]] - far) < edge).all(axis=1) for far in (0, 1)]
                for uniforms in (drawn, plain)
            ]
            observed, expected = np.mean(corners, axis=-1)
            assert observed == pytest.approx(expected, abs=6 * np.sqrt(2 * expected.max() / n))


def test_effects_of_clusters_and_of_places_correlate_as_algebra_says() -> None:
    """Latent correlations of 2 systems on 2 items of 2 clusters, in 20,000 test sets: within 5 standard errors."""
    w, x, e, d, n = 0.4, 0.25, 0.75, 0.5, 20_000
    clusters = ItemClusters(w, 2, effects=GaussianCopula(e), crossed=x)
    rng = np.random.default_rng(0)
    places = clusters.places(GaussianCopula(d), n, 2, rng)
    uniform = clusters.uniforms(GaussianCopula(d), np.full(2 * n, 2), places, 2, rng)
    assert stats.kstest(uniform[::4, 0], "uniform").pvalue > 1e-6
    # (sets, clusters, places, systems)
    latent = stats.norm.ppf(uniform).reshape(n, 2, 2, 2)
    for cluster, place, system, expected in [
        (0, 0, 1, w * e + x * e + (1 - w - x) * d),
        (0, 1, 0, w),
        (0, 1, 1, w * e),
        (1, 0, 0, x),
        (1, 0, 1, x * e),
        (1, 1, 0, 0.0),
        (1, 1, 1, 0.0),
    ]:
        r = np.corrcoef(latent[:, 0, 0, 0], latent[:, cluster, place, system])[0, 1]
        assert r == pytest.approx(expected, abs=5 / np.sqrt(n)), (cluster, place, system)


def test_the_nearest_matrix_is_nearer_than_others() -> None:
    """Against the example of Higham (2002, section 4): distance 0.5278 from the matrix 1 1 0 / 1 1 1 / 0 1 1."""
    nearest, distance = nearest_correlation(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]))
    assert distance == pytest.approx(0.5278, abs=2e-4)
    np.testing.assert_allclose(nearest[0, 1:], [0.7607, 0.1573], atol=2e-4)
    assert np.linalg.eigvalsh(nearest)[0] > -1e-9
    good = of_families(list("xxyz"), between=0.2, within=0.9)
    np.testing.assert_array_equal(nearest_correlation(good)[0], good)
    np.testing.assert_array_equal(good[0], [1, 0.9, 0.2, 0.2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: GaussianCopula(-0.3).check_systems(5),
            "correlation must be from -0.25 to 1, not -0.3: the least common correlation of 5 systems",
        ),
        (lambda: GaussianCopula(np.eye(2)).check_systems(3), "correlation must be of 3 systems"),
        (lambda: GaussianCopula([[1, 0.5], [0.4, 1]]), "the same both ways, unlike 0.5 between systems 1 and 2"),
        (lambda: GaussianCopula([[1, 1.5], [1.5, 1]]), "from -1 to 1, unlike 1.5"),
        (lambda: GaussianCopula([[1, 0.5], [0.5, 2]]), "from -1 to 1, unlike 2"),
        (lambda: GaussianCopula([[0.5, 0], [0, 1]]), "1 of each system with itself, not 0.5 of system 1"),
        (lambda: GaussianCopula([[1, 0.9, 0.5], [0.9, 1, 0.9], [0.5, 0.9, 1]]), "smallest eigenvalue is -0.0"),
        (lambda: GaussianCopula([1, 2]), "correlation must be a matrix"),
        (lambda: TCopula(0.5, df=0), "df must be a finite number from 0.1 to 1e\\+100, not 0"),
        (lambda: Gumbel(2, (0.5, 1.5)), "shares must be a finite number from 0 to 1"),
        (lambda: Gumbel(2, (0.5,)).check_systems(2), "shares must be 2"),
        (lambda: Survival("clayton"), "of must be a dependence"),  # type: ignore[arg-type]
        (lambda: of_families(["x"], between=0.5, within=0.4), "0 <= between <= within <= 1"),
        (lambda: ItemClusters(1.2, 3), "correlation must be a finite number from 0 to 1"),
        (lambda: ItemClusters(0.2, (3, 0)), "size must be at least 1"),
        (lambda: ItemClusters(0.2, ()), "size must be one whole number"),
        (lambda: ItemClusters(0.2, 3, effects=0.3), "effects must be a Dependence"),  # type: ignore[arg-type]
        (lambda: ItemClusters(0.4, 3, crossed=0.7), "crossed must be at most 1 - correlation, 0.6, not 0.7"),
        (lambda: ItemClusters(0.4, (3, 2), crossed=0.1), "size must be one number where places"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
