"""Copulas of pairs: densities against integrals and Kendall's tau; fits find parameters back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from simstudy.truth import Clayton, Dependence, GaussianCopula, Gumbel, Khoudraji, Survival, TCopula
from tests.experiments.programs import program

COPULAS = program("urbano_2019", "copulas")
FAMILIES, SYMMETRIC, Frank = COPULAS.FAMILIES, COPULAS.SYMMETRIC, COPULAS.Frank
best_fit, fit_families, pseudo_observations = COPULAS.best_fit, COPULAS.fit_families, COPULAS.pseudo_observations
clayton_density, frank_density, gaussian_density = (
    COPULAS.clayton_density, COPULAS.frank_density, COPULAS.gaussian_density
)  # fmt: skip
student_density, tawn_density = COPULAS.student_density, COPULAS.tawn_density

ONE = np.array(1.0)


def student(u: Any, v: Any) -> Any:
    x, y = (special.stdtrit(4.0, number) for number in (u, v))
    return student_density(x, y, np.array(0.5), np.array(4.0))


# A density, what draws from it, and Kendall's tau by a formula (None: there is none that is easy).
CASES: dict[str, tuple[Callable[[Any, Any], Any], Dependence, float | None]] = {
    "gaussian": (
        lambda u, v: gaussian_density(u, v, np.array(0.6)),
        GaussianCopula(0.6),
        np.arcsin(0.6) * 2 / np.pi,
    ),
    "t": (student, TCopula(0.5, df=4.0), np.arcsin(0.5) * 2 / np.pi),
    "frank": (lambda u, v: frank_density(u, v, np.array(5.0)), Frank(5.0), 0.4567),
    "negative frank": (lambda u, v: frank_density(u, v, np.array(-5.0)), Frank(-5.0), -0.4567),
    "clayton": (lambda u, v: clayton_density(u, v, np.array(2.0)), Clayton(2.0), 0.5),
    "gumbel": (lambda u, v: tawn_density(u, v, np.array(2.0), ONE), Gumbel(2.0), 0.5),
    "tawn": (
        lambda u, v: tawn_density(u, v, np.array(3.0), np.array(0.4)),
        Khoudraji(Gumbel(3.0), (0.4, 1.0)),
        None,
    ),
}
each = pytest.mark.parametrize(("density", "dependence", "tau"), CASES.values(), ids=CASES)


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


@each
def test_densities_have_uniform_margins(density: Any, dependence: Dependence, tau: float | None) -> None:
    mass = cells(density, 5)
    assert_allclose(mass.sum(axis=0), 0.2, atol=2e-3)
    assert_allclose(mass.sum(axis=1), 0.2, atol=2e-3)
    assert mass.sum() == pytest.approx(1, abs=2e-3)


@each
def test_what_is_drawn_has_the_density_and_kendalls_tau(density: Any, dependence: Any, tau: float | None) -> None:
    n = 20_000
    drawn = dependence.uniforms(n, 2, np.random.default_rng(1))
    counts, _, _ = np.histogram2d(*drawn.T, bins=5, range=[[0, 1], [0, 1]])
    expected = cells(density, 5)
    chi_square = ((counts - n * expected) ** 2 / (n * expected)).sum()
    assert stats.chi2.sf(chi_square, 24) > 1e-4
    if tau is not None:
        # Its standard error is at most about sqrt(2 / n).
        assert stats.kendalltau(*drawn[:5000].T).statistic == pytest.approx(tau, abs=0.05)


def test_tawns_density_is_the_derivative_of_its_distribution_function() -> None:
    theta, share = 2.5, 0.3

    def function(u: float, v: float) -> float:
        return gumbel(u**share, v) * u ** (1 - share)

    def gumbel(u: float, v: float) -> float:
        return float(np.exp(-(((-np.log(u)) ** theta + (-np.log(v)) ** theta) ** (1 / theta))))

    h = 1e-4
    for u, v in ((0.2, 0.3), (0.7, 0.4), (0.9, 0.95), (0.05, 0.8)):
        around = [function(u + i * h, v + j * h) * i * j for i in (-1, 1) for j in (-1, 1)]
        found = tawn_density(*(np.array(x) for x in (u, v, theta, share)))
        assert float(np.exp(found)) == pytest.approx(sum(around) / (4 * h**2), rel=1e-4)


def test_a_gaussian_density_is_scipys() -> None:
    u, v = np.random.default_rng(0).random((2, 20))
    x = special.ndtri(np.stack([u, v], axis=1))
    joint = stats.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]]).logpdf(x) - stats.norm.logpdf(x).sum(axis=1)
    assert_allclose(gaussian_density(u, v, np.array(0.4)), joint, atol=1e-10)
    x = special.stdtrit(3.0, np.stack([u, v], axis=1))
    joint = stats.multivariate_t([0, 0], [[1, 0.4], [0.4, 1]], df=3).logpdf(x) - stats.t(3).logpdf(x).sum(axis=1)
    assert_allclose(student_density(x[:, 0], x[:, 1], np.array(0.4), np.array(3.0)), joint, atol=1e-10)


@pytest.mark.parametrize(
    ("family", "dependence", "read", "parameter", "within"),
    [
        ("gaussian", GaussianCopula(0.7), lambda d: d.correlation, 0.7, 0.03),
        ("frank", Frank(-6.0), lambda d: d.theta, -6.0, 0.7),
        ("survival clayton", Survival(Clayton(2.0)), lambda d: d.of.theta, 2.0, 0.3),
        ("gumbel", Gumbel(2.5), lambda d: d.theta, 2.5, 0.2),
        ("tawn 1", Khoudraji(Gumbel(4.0), (0.5, 1.0)), lambda d: d.shares[0], 0.5, 0.06),
        ("tawn 2", Khoudraji(Gumbel(4.0), (1.0, 0.5)), lambda d: d.of.theta, 4.0, 0.7),
        ("survival tawn 1", Survival(Khoudraji(Gumbel(4.0), (0.5, 1.0))), lambda d: d.of.shares[0], 0.5, 0.06),
        ("independent", GaussianCopula(0.0), lambda d: 0.0, 0.0, 0.1),
    ],
)
def test_a_fit_finds_family_and_parameters_back(
    family: str, dependence: Dependence, read: Any, parameter: float, within: float
) -> None:
    scores = dependence.uniforms(2000, 2, np.random.default_rng(5)).T
    found = best_fit(fit_families(pseudo_observations(scores, np.random.default_rng(0))))
    assert found.family == family
    assert float(read(found.dependence)) == pytest.approx(parameter, abs=within)


def test_degrees_of_freedom_of_t_are_found_on_the_grid() -> None:
    found = best_fit(fit_families(TCopula(0.5, df=3.0).uniforms(3000, 2, np.random.default_rng(2)).T))
    assert found.family == "t"
    assert isinstance(found.dependence, TCopula)
    assert 2 <= found.dependence.df <= 5


def test_swapping_systems_swaps_tawns_types_and_nothing_else() -> None:
    uniforms = Khoudraji(Gumbel(3.0), (0.5, 1.0)).uniforms(60, 2, np.random.default_rng(3)).T
    one, other = ({fit.family: fit.log_likelihood for fit in fit_families(u)} for u in (uniforms, uniforms[::-1]))
    other["tawn 1"], other["tawn 2"] = other["tawn 2"], other["tawn 1"]
    other["survival tawn 1"], other["survival tawn 2"] = other["survival tawn 2"], other["survival tawn 1"]
    assert one == pytest.approx(other, abs=1e-3)
    turned = {fit.family: fit.log_likelihood for fit in fit_families(1 - uniforms)}
    assert turned["survival tawn 1"] == pytest.approx(one["tawn 1"], abs=1e-3)


def test_likelihoods_are_no_less_than_those_of_other_parameters() -> None:
    """A fine grid of each family, by brute force."""
    u, v = Survival(Clayton(1.0)).uniforms(80, 2, np.random.default_rng(4)).T
    fits = {fit.family: fit.log_likelihood for fit in fit_families(np.stack([u, v]))}
    assert fits["clayton"] >= max(clayton_density(u, v, t).sum() for t in np.linspace(0.1, 8, 80)) - 1e-3
    assert fits["gumbel"] >= max(tawn_density(u, v, t, ONE).sum() for t in np.linspace(1.02, 6, 80)) - 1e-3
    finest = max(tawn_density(u, v, t, s).sum() for t in np.linspace(1.1, 10, 40) for s in np.linspace(0.05, 0.95, 19))
    assert fits["tawn 1"] >= finest - 1e-2


def test_symmetric_families_are_those_of_exchangeable_systems() -> None:
    assert not [name for name in SYMMETRIC if "tawn" in name]
    assert len(SYMMETRIC) == len(FAMILIES) - 4
    fits = fit_families(Khoudraji(Gumbel(9.0), (0.4, 1.0)).uniforms(500, 2, np.random.default_rng(0)).T)
    assert best_fit(fits).family == "tawn 1"
    assert best_fit(fits, SYMMETRIC).family in SYMMETRIC
    for fit in fits:
        assert fit.dependence.exchangeable == (fit.family in SYMMETRIC)


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
    tied = pseudo_observations(np.zeros((2, 4000)), np.random.default_rng(2))
    assert abs(np.corrcoef(tied)[0, 1]) < 4 / np.sqrt(4000), "each system's ties are broken by themselves"


FREE = {"independent": 0, "gaussian": 1, "t": 2, "frank": 1, "clayton": 1, "gumbel": 1, "tawn 1": 2, "tawn 2": 2}


def test_aic_is_that_of_scipys_density_and_of_the_numbers_that_were_chosen() -> None:
    x = stats.multivariate_t([0, 0], [[1, 0.5], [0.5, 1]], df=4, seed=1).rvs(300).T
    uniforms = pseudo_observations(x, np.random.default_rng(0))
    fits = {found.family: found for found in fit_families(uniforms)}
    student = fits["t"].dependence
    scores = stats.t(student.df).ppf(uniforms)
    joint = stats.multivariate_t([0, 0], student.matrix(2), df=student.df).logpdf(scores.T)
    likelihood = float((joint - stats.t(student.df).logpdf(scores).sum(axis=0)).sum())
    assert fits["t"].aic == pytest.approx(4 - 2 * likelihood, rel=1e-6)
    for family, found in fits.items():
        assert found.aic + 2 * found.log_likelihood == pytest.approx(2 * FREE[family.removeprefix("survival ")]), family


@pytest.mark.parametrize("theta", [-30.0, -0.01, 1e-6, 3.0, 35.0])
def test_franks_tau_is_the_closed_form(theta: float) -> None:
    """1 - 4 (1 - D(theta)) / theta, with Debye's function D by its integral (Nelsen 2006, example 5.9)."""
    t = (np.arange(200_000) + 0.5) / 200_000 * abs(theta)
    debye = float((t / np.expm1(t)).mean())
    tau = np.sign(theta) * (1 - 4 / abs(theta) * (1 - debye))
    drawn = Frank(theta).uniforms(2000, 2, np.random.default_rng(5))
    # The standard error of tau is 0.021 near independence.
    assert stats.kendalltau(*drawn.T).statistic == pytest.approx(tau, abs=5 * 0.021 * (1 - abs(tau)) + 1e-3)


@pytest.mark.parametrize("theta", [0.001, 5.0, 35.0, -35.0])
def test_franks_density_is_one_in_every_row(theta: float) -> None:
    """The integral over one number, at each of the other; the midpoint rule's error is below 10^-4."""
    points = (np.arange(4000) + 0.5) / 4000
    for u in (0.003, 0.5, 0.9, 0.999):
        assert np.exp(frank_density(np.full(4000, u), points, np.array(theta))).mean() == pytest.approx(1, abs=1e-4)
