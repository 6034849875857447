"""Copulas of pairs: densities against integrals and Kendall's tau; fits find parameters back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, special, stats

from simstudy.truth import Clayton, Dependence, GaussianCopula, Gumbel, Survival, TCopula
from tests.experiments.programs import program

COPULAS = program("urbano_2019", "copulas")
FAMILIES, SYMMETRIC, Frank = COPULAS.FAMILIES, COPULAS.SYMMETRIC, COPULAS.Frank
best_fit, fitted, pseudo_observations = COPULAS.best_fit, COPULAS.fitted, COPULAS.pseudo_observations
clayton, frank, gaussian, student, tawn = (
    getattr(COPULAS, f"{name}_density") for name in ("clayton", "frank", "gaussian", "student", "tawn")
)
TAWN = Gumbel(4.0, (0.5, 1.0))

# A density, what draws from it, and Kendall's tau by a formula (None: there is none that is easy).
CASES: dict[str, tuple[Callable[[Any, Any], Any], Dependence, float | None]] = {
    "gaussian": (lambda u, v: gaussian(u, v, 0.6), GaussianCopula(0.6), np.arcsin(0.6) * 2 / np.pi),
    "t": (lambda u, v: student(u, v, 0.5, 4.0), TCopula(0.5, df=4.0), np.arcsin(0.5) * 2 / np.pi),
    "frank": (lambda u, v: frank(u, v, 5.0), Frank(5.0), 0.4567),
    "negative frank": (lambda u, v: frank(u, v, -5.0), Frank(-5.0), -0.4567),
    "clayton": (lambda u, v: clayton(u, v, 2.0), Clayton(2.0), 0.5),
    "gumbel": (lambda u, v: tawn(u, v, 2.0), Gumbel(2.0), 0.5),
    "tawn": (lambda u, v: tawn(u, v, 3.0, 0.4), Gumbel(3.0, (0.4, 1.0)), None),
}


def cells(density: Callable[[Any, Any], Any], n: int, points: int = 24) -> Any:
    """The probability of each of n x n cells, by Gauss-Legendre quadrature in normal quantiles: poles are mild."""
    edges = special.ndtri(np.linspace(0, 1, n + 1)).clip(-6.5, 6.5)
    nodes, weights = np.polynomial.legendre.leggauss(points)
    half = np.diff(edges)[:, None] / 2
    x = ((edges[1:] + edges[:-1])[:, None] / 2 + half * nodes).ravel()
    w = (half * weights).ravel() * stats.norm.pdf(x)
    u = special.ndtr(x)
    mass = np.exp(density(u[:, None], u[None, :])) * w[:, None] * w
    return mass.reshape(n, points, n, points).sum(axis=(1, 3))


@pytest.mark.parametrize(("density", "dependence", "tau"), CASES.values(), ids=CASES)
def test_densities_have_uniform_margins_and_are_those_of_what_is_drawn(
    density: Any, dependence: Dependence, tau: float | None
) -> None:
    mass = cells(density, 5)
    assert_allclose(mass.sum(axis=0), 0.2, atol=2e-3)
    assert_allclose(mass.sum(axis=1), 0.2, atol=2e-3)
    n = 20_000
    drawn = dependence.uniforms(n, 2, np.random.default_rng(1))
    counts, _, _ = np.histogram2d(*drawn.T, bins=5, range=[[0, 1], [0, 1]])
    chi_square = ((counts - n * mass) ** 2 / (n * mass)).sum()
    assert stats.chi2.sf(chi_square, 24) > 1e-4
    if tau is not None:
        # Its standard error is at most about sqrt(2 / n).
        assert stats.kendalltau(*drawn[:5000].T).statistic == pytest.approx(tau, abs=0.05)


def test_tawns_density_is_the_derivative_of_its_distribution_function() -> None:
    theta, share = 2.5, 0.3

    def function(u: float, v: float) -> Any:
        return np.exp(-(((-share * np.log(u)) ** theta + (-np.log(v)) ** theta) ** (1 / theta))) * u ** (1 - share)

    h = 1e-4
    for u, v in ((0.2, 0.3), (0.7, 0.4), (0.9, 0.95), (0.05, 0.8)):
        around = [function(u + i * h, v + j * h) * i * j for i in (-1, 1) for j in (-1, 1)]
        density = tawn(*(np.array(x) for x in (u, v, theta, share)))
        assert float(np.exp(density)) == pytest.approx(sum(around) / (4 * h**2), rel=1e-4)


def test_densities_of_latent_scores_are_scipys() -> None:
    u, v = np.random.default_rng(0).random((2, 20))
    for density, margin, joint in (
        (gaussian(u, v, 0.4), stats.norm, stats.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]])),
        (student(u, v, 0.4, 3.0), stats.t(3), stats.multivariate_t([0, 0], [[1, 0.4], [0.4, 1]], df=3)),
    ):
        x = margin.ppf(np.stack([u, v], axis=1))
        assert_allclose(density, joint.logpdf(x) - margin.logpdf(x).sum(axis=1), atol=1e-10)


@pytest.mark.parametrize(
    ("family", "dependence", "read", "parameter", "within"),
    [
        ("gaussian", GaussianCopula(0.7), lambda d: d.correlation, 0.7, 0.03),
        ("t", TCopula(0.5, df=3.0), lambda d: d.df, 3.0, 1.0),
        ("frank", Frank(-6.0), lambda d: d.theta, -6.0, 0.7),
        ("survival clayton", Survival(Clayton(2.0)), lambda d: d.of.theta, 2.0, 0.3),
        ("gumbel", Gumbel(2.5), lambda d: d.theta, 2.5, 0.2),
        ("tawn 1", TAWN, lambda d: d.shares[0], 0.5, 0.06),
        ("tawn 2", Gumbel(4.0, (1.0, 0.5)), lambda d: d.theta, 4.0, 0.7),
        ("survival tawn 1", Survival(TAWN), lambda d: d.of.shares[0], 0.5, 0.06),
        ("independent", GaussianCopula(0.0), lambda d: 0.0, 0.0, 0.1),
    ],
)
def test_a_fit_finds_family_and_parameters_back(
    family: str, dependence: Dependence, read: Any, parameter: float, within: float
) -> None:
    scores = dependence.uniforms(2000, 2, np.random.default_rng(5)).T
    fit = best_fit(pseudo_observations(scores, np.random.default_rng(0)))
    assert fit.family == family
    assert float(read(fit.dependence)) == pytest.approx(parameter, abs=within)


def test_swapping_systems_swaps_tawns_types_and_turning_both_survival_copulas() -> None:
    uniforms = TAWN.uniforms(60, 2, np.random.default_rng(3)).T
    one, swapped, turned = (
        {name: fitted(name, u).log_likelihood for name in FAMILIES} for u in (uniforms, uniforms[::-1], 1 - uniforms)
    )
    for name in FAMILIES:
        other = name.translate(str.maketrans("12", "21"))
        assert swapped[other] == pytest.approx(one[name], abs=1e-3)
        if f"survival {name}" in FAMILIES:
            assert turned[f"survival {name}"] == pytest.approx(one[name], abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_likelihoods_are_no_less_than_those_of_other_parameters(seed: int) -> None:
    """A fine grid of each family, by brute force."""
    law = [Survival(Clayton(1.0)), Gumbel(9.0, (0.1, 1.0)), Frank(1.0), GaussianCopula(0.98)][seed]
    u, v = law.uniforms(50, 2, np.random.default_rng(4)).T
    thetas, shares = 1 + np.geomspace(0.05, 19, 60)[:, None, None], np.linspace(0.02, 0.98, 49)[:, None]
    finest = {
        "clayton": clayton(u, v, np.geomspace(0.02, 28, 300)[:, None]),
        "frank": frank(u, v, np.linspace(-35, 35, 700)[:, None]),
        "gumbel": tawn(u, v, thetas),
        "tawn 1": tawn(u, v, thetas, shares),
        "t": student(u, v, np.tanh(np.linspace(-3, 3, 200))[:, None, None], np.array([2.0, 3, 6, 12, 30])[:, None]),
    }
    for name, densities in finest.items():
        reached, most = fitted(name, np.stack([u, v])).log_likelihood, densities.sum(axis=-1).max()
        assert most - (0.1 if name == "tawn 1" else 0.01) < reached < most + 0.3, name


def test_symmetric_families_are_those_of_exchangeable_systems_and_aic_counts_the_parameters() -> None:
    uniforms = Gumbel(9.0, (0.4, 1.0)).uniforms(500, 2, np.random.default_rng(0)).T
    assert best_fit(uniforms).family == "tawn 1"
    assert best_fit(uniforms, SYMMETRIC).family in SYMMETRIC
    free = {"independent": 0, "t": 2, "tawn 1": 2, "tawn 2": 2}
    for name in FAMILIES:
        fit = fitted(name, uniforms)
        assert fit.dependence.exchangeable == (name in SYMMETRIC)
        assert fit.aic + 2 * fit.log_likelihood == pytest.approx(2 * free.get(name.removeprefix("survival "), 1))


def test_ties_are_broken_at_random() -> None:
    scores = np.array([[0.0, 0.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
    seen = set()
    for seed in range(40):
        broken = pseudo_observations(scores, np.random.default_rng(seed))
        assert sorted(broken[0]) == [0.2, 0.4, 0.6, 0.8]
        assert broken[1].tolist() == [0.8, 0.6, 0.4, 0.2]
        assert broken[0, 3] == 0.8
        seen.add(tuple(broken[0]))
    assert len(seen) == 6, "all orders of the three"
    # Each system's ties are broken by themselves.
    assert abs(np.corrcoef(pseudo_observations(np.zeros((2, 4000)), np.random.default_rng(2)))[0, 1]) < 0.06


@pytest.mark.parametrize("theta", [-30.0, -0.01, 0.0, 1e-6, 3.0, 35.0])
def test_franks_tau_is_the_closed_form_and_its_density_is_one_in_every_row(theta: float) -> None:
    """1 - 4 (1 - D(theta)) / theta, with Debye's function D by its integral (Nelsen 2006, example 5.9)."""
    size = max(abs(theta), 1e-9)
    debye = integrate.quad(lambda t: t / np.expm1(t), 0, size)[0] / size if size > 1e-4 else 1 - size / 4
    tau = np.sign(theta) * (1 - 4 / size * (1 - debye))
    np.testing.assert_allclose(Frank(theta).rank_correlation(2), [[1, tau], [tau, 1]], atol=1e-5)
    drawn = Frank(theta).uniforms(2000, 2, np.random.default_rng(5))
    # The standard error of tau is 0.021 near independence.
    assert stats.kendalltau(*drawn.T).statistic == pytest.approx(tau, abs=5 * 0.021 * (1 - abs(tau)) + 1e-3)
    # The midpoint rule's error is below 10^-4.
    points = (np.arange(4000) + 0.5) / 4000
    for u in (0.003, 0.5, 0.9, 0.999):
        assert np.exp(frank(np.full(4000, u), points, np.array(theta))).mean() == pytest.approx(1, abs=1e-4)
