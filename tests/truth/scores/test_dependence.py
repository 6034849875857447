"""Dependence against closed forms: margins, Kendall's tau, tails, distribution functions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from simstudy.truth.scores.archimedean import Clayton, Gumbel
from simstudy.truth.scores.clusters import ItemClusters
from simstudy.truth.scores.correlations import (
    checked_correlation,
    equicorrelated,
    nearest_correlation,
    of_families,
)
from simstudy.truth.scores.dependence import Dependence, GaussianCopula, Independent, Khoudraji, Survival, TCopula
from simstudy.truth.scores.item_response import ItemResponse

KINDS: dict[str, Dependence] = {
    "independent": Independent(),
    "gaussian": GaussianCopula(0.6),
    "t": TCopula(0.6, df=3),
    "clayton": Clayton(2.0),
    "gumbel": Gumbel(2.0),
    "survival": Survival(Clayton(2.0)),
    "asymmetric": Khoudraji(Clayton(4.0), (0.9, 0.4, 0.6)),
    "item response": ItemResponse(1.5, 1.2, 0.5),
}
N = 40_000


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_margins_are_uniform(kind: Dependence) -> None:
    uniforms = kind.uniforms(N, 3, np.random.default_rng(3))
    assert uniforms.shape == (N, 3)
    assert uniforms.min() > 0
    assert uniforms.max() < 1
    for k in range(3):
        assert stats.kstest(uniforms[:, k], "uniform").pvalue > 1e-5
    assert stats.kstest(kind.normals(N, 3, np.random.default_rng(3))[:, 1], "norm").pvalue > 1e-5


UNEQUAL = np.array([[1, 0.2, 0.7], [0.2, 1, 0.5], [0.7, 0.5, 1]])


@pytest.mark.parametrize(
    "kind",
    [*KINDS.values(), GaussianCopula(UNEQUAL), TCopula(UNEQUAL, df=1.5), Survival(KINDS["asymmetric"])],
    ids=[*KINDS, "gaussians", "ts", "asymmetric, upside down"],
)
def test_two_of_three_depend_on_each_other_as_in_the_three(kind: Dependence) -> None:
    """Shares of items in corners and bands of the square, within 6 standard errors of both."""
    three = kind.uniforms(N, 3, np.random.default_rng(7))[:, [2, 0]]
    two = kind.of_two(3, 2, 0).uniforms(N, 2, np.random.default_rng(8))
    for low, high in (((0, 0), (0.02, 0.02)), ((0.98, 0.98), (1, 1)), ((0.6, 0), (1, 0.4)), ((0.3, 0.2), (0.7, 0.8))):
        shares = [((low < numbers) & (numbers < high)).all(axis=1).mean() for numbers in (three, two)]
        assert shares[0] == pytest.approx(shares[1], abs=6 * np.sqrt(2 * max(shares) / N))


def test_of_a_dependence_that_has_an_order_two_systems_are_all_that_is_known() -> None:
    class Ordered(Independent):
        exchangeable = False

    assert Ordered().of_two(2, 0, 1) == Ordered()
    for systems in ((3, 2, 0), (2, 1, 0)):
        with pytest.raises(ValueError, match="in all where dependence is|first must come before second"):
            Ordered().of_two(*systems)


@pytest.mark.parametrize(
    ("kind", "tau"),
    [
        (GaussianCopula(0.6), 2 / np.pi * np.arcsin(0.6)),
        (TCopula(0.6, df=3), 2 / np.pi * np.arcsin(0.6)),
        (Clayton(2.0), 0.5),
        (Gumbel(2.0), 0.5),
        (Gumbel(1.0), 0.0),
        (Survival(Gumbel(4.0)), 0.75),
        # Of asymmetric Clayton by its formula a b tau / (a + b - a b) for Gumbel only: see the distribution function.
    ],
    ids=str,
)
def test_tau_is_the_closed_form(kind: Dependence, tau: float) -> None:
    """The standard error of tau is below 2/3 sqrt(2 / n) = 0.005."""
    first, _, third = kind.uniforms(N, 3, np.random.default_rng(1)).T
    assert stats.kendalltau(first, third).statistic == pytest.approx(tau, abs=0.025)


def _clayton(u: float, v: float, theta: float) -> float:
    return float((u**-theta + v**-theta - 1) ** (-1 / theta))


@pytest.mark.parametrize(("u", "v"), [(0.1, 0.1), (0.3, 0.6), (0.6, 0.3), (0.9, 0.95)])
def test_distribution_functions(u: float, v: float) -> None:
    """P(U <= u, V <= v); the standard error of a share of 40,000 is below 0.0025."""
    gumbel = np.exp(-(((-np.log(u)) ** 2 + (-np.log(v)) ** 2) ** 0.5))
    expected = {
        Clayton(2.0): _clayton(u, v, 2.0),
        Gumbel(2.0): gumbel,
        Survival(Clayton(2.0)): u + v - 1 + _clayton(1 - u, 1 - v, 2.0),
        Khoudraji(Clayton(4.0), (0.9, 0.4)): _clayton(u**0.9, v**0.4, 4.0) * u**0.1 * v**0.6,
    }
    for kind, share in expected.items():
        drawn = kind.uniforms(N, 2, np.random.default_rng(7))
        assert ((drawn[:, 0] <= u) & (drawn[:, 1] <= v)).mean() == pytest.approx(share, abs=0.011)


@pytest.mark.parametrize("correlation", [0.0, 1.0])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_clusters_draw_the_dependence_that_they_are_given(kind: Dependence, correlation: float) -> None:
    """Single items, or one answer for each cluster: shares in corners. Normal correlations of 0.48 and 0.6 differ."""
    rng, size, n = np.random.default_rng(9), 2 if correlation == 0 else 1, 2 * N
    drawn = ItemClusters(correlation, size).uniforms(kind, np.full(n // size, size), 3, rng)
    plain = kind.uniforms(n, 3, rng)
    for k, m in ((0, 1), (0, 2), (1, 2)):
        for edge in (0.01, 0.1, 0.5):
            corners = [
                [(np.abs(uniforms[:, [k, m]] - far) < edge).all(axis=1) for far in (0, 1)]
                for uniforms in (drawn, plain)
            ]
            found, expected = np.mean(corners, axis=-1)
            assert found == pytest.approx(expected, abs=6 * np.sqrt(2 * expected.max() / n))


def test_t_has_dependent_tails() -> None:
    """The tail coefficient of t is 2 t_{df+1}(-sqrt((df + 1)(1 - rho) / (1 + rho))); at 0.001 it is nearly reached."""
    drawn = TCopula(0.5, df=2).uniforms(400_000, 2, np.random.default_rng(0))
    coefficient = 2 * stats.t(3).cdf(-np.sqrt(3 * 0.5 / 1.5))
    assert (drawn < 0.001).all(axis=1).mean() / 0.001 == pytest.approx(coefficient, abs=0.15)


def test_item_response_is_birnbaums() -> None:
    """How often two systems are both right, against the integral over items of the product of their probabilities."""
    model = ItemResponse(1.5, 1.2, 0.5)
    abilities = 0.7, -0.4
    p = [float(model.accuracy(theta)) for theta in abilities]
    assert [model.ability(share) for share in p] == pytest.approx(abilities, abs=1e-8)

    # By a sum over a grid, which is as good as exact for so smooth a function.
    b, log_a = np.meshgrid(np.arange(-6, 6, 0.05), np.arange(-6, 6, 0.05))
    a = 1.2 * np.exp(0.5 * log_a)
    both = np.prod([1 / (1 + np.exp(-a * (theta - 1.5 * b))) for theta in abilities], axis=0)
    expected = float((both * stats.norm.pdf(b) * stats.norm.pdf(log_a)).sum() * 0.05**2)
    right = model.uniforms(N, 2, np.random.default_rng(0)) > 1 - np.array(p)
    assert right.mean(axis=0) == pytest.approx(p, abs=0.013)
    assert right.all(axis=1).mean() == pytest.approx(expected, abs=0.013)


def test_who_can_be_exchanged() -> None:
    assert GaussianCopula(0.3).exchangeable
    assert Survival(Khoudraji(Gumbel(2), (0.5, 0.5))).exchangeable
    assert not Survival(Khoudraji(Gumbel(2), (0.5, 0.6))).exchangeable


def test_the_nearest_matrix_is_nearer_than_others() -> None:
    """Against the example of Higham (2002, section 4): distance 0.5278 from the matrix 1 1 0 / 1 1 1 / 0 1 1."""
    given = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    found, distance = nearest_correlation(given)
    assert distance == pytest.approx(0.5278, abs=2e-4)
    np.testing.assert_allclose(found[0, 1:], [0.7607, 0.1573], atol=2e-4)
    assert np.linalg.eigvalsh(found)[0] > -1e-9
    good = of_families(list("xxyz"), between=0.2, within=0.9)
    np.testing.assert_array_equal(nearest_correlation(good)[0], good)


def test_the_bound_that_is_named_is_the_bound() -> None:
    """Where the named correlation is put just inside the bounds, all is well; just outside, nothing is."""
    matrix = np.array([[1, 0.9, 0.61], [0.9, 1, 0.9], [0.61, 0.9, 1]])
    with pytest.raises(ValueError, match="semi-definite") as raised:
        checked_correlation("correlation", matrix)
    i, j, low, high = re.search(r"systems (\d) and (\d) .* leave (\S+) to (\S+)", str(raised.value)).groups()
    for value, good in ((float(high) - 0.01, True), (float(low) + 0.01, True), (float(high) + 0.01, False)):
        changed = matrix.copy()
        changed[int(i) - 1, int(j) - 1] = changed[int(j) - 1, int(i) - 1] = value
        assert (np.linalg.eigvalsh(changed)[0] > 0) == good
    equicorrelated(5, -0.25)


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
        (lambda: GaussianCopula([1, 2]), "correlation must be a matrix"),
        (lambda: TCopula(0.5, df=0), "df must be a finite number from 0.1 to 1e\\+100, not 0"),
        (lambda: Clayton(0), "theta must be a finite number from 1e-100 to 1e\\+100, not 0"),
        (lambda: Gumbel(0.5), "theta must be a finite number from 1 to"),
        (lambda: Khoudraji(Clayton(1), (0.5, 1.5)), "shares must be a finite number from 0 to 1"),
        (lambda: Khoudraji(Clayton(1), (0.5,)).check_systems(2), "shares must be 2"),
        (lambda: Survival("clayton"), "of must be a dependence"),  # type: ignore[arg-type]
        (lambda: of_families(["x"], between=0.5, within=0.4), "0 <= between <= within <= 1"),
        (lambda: ItemResponse(-1), "difficulty must be a finite number from 0 to 100"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
