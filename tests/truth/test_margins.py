"""Margins against scipy's distributions, over the whole range of every parameter, and means that are set exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from simstudy.truth import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Clayton,
    Gamma,
    Gumbel,
    LogNormal,
    Margin,
    Ordinal,
    StudentT,
    TCopula,
    named,
)
from simstudy.truth.margins import tilted

JUDGE = Ordinal(range(1, 11), (0.02, 0.03, 0.05, 0.05, 0.1, 0.1, 0.2, 0.3, 0.1, 0.05))
REAL = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.25, 1 / 3, 0.7, 1.0, 1.0])
MOVED: dict[str, tuple[Margin, float]] = {
    "right or wrong": (Bernoulli(0.3), 0.8),
    "beta": (Beta(0.3, 1.5), 0.8),
    "beta-binomial": (BetaBinomial(10, 0.3, 1.5), 8.0),
    "gamma": (Gamma(2.0, 0.7), 9.0),
    "judge": (JUDGE, 2.5),
    "real": (Ordinal.of(REAL), 0.8),
    "log-normal": (LogNormal(2.0, 1.2), 9.0),
    "t": (StudentT(3.0, 2.0, 2.5), -40.0),
    "normal": (StudentT(3.0, 2.0), -40.0),
}
# From end to end of their parameters, with the standard deviation by its formula (infinite: by none).
MARGINS: list[tuple[Margin, float]] = [
    *((Bernoulli(p), (p * (1 - p)) ** 0.5) for p in (0, 1e-300, 1e-3, 0.4, 1 - 2**-53, 1)),
    *(
        (Beta(m, c), (m * (1 - m) / (c + 1)) ** 0.5)
        for m in (1e-12, 1e-6, 0.3, 1 - 1e-6, 1 - 1e-12)
        for c in (1e-6, 1.5, 1e6)
    ),
    *(
        (BetaBinomial(n, m, c), (n * m * (1 - m) * (c + n) / (c + 1)) ** 0.5)
        for n in (1, 7, 3000)
        for m in (1e-12, 0.3, 1 - 1e-12)
        for c in (1e-6, 1.5, 1e6)
    ),
    *((Gamma(m, k), m / k**0.5) for m in (1e-100, 2, 1e100) for k in (1e-3, 0.5, 1, 1e6)),
    *((LogNormal(m, s), m * np.expm1(s**2) ** 0.5) for m in (1e-100, 2, 1e100) for s in (0, 1e-9, 1, 4)),
    *(
        (StudentT(m, s, df), s * (1.0 if np.isinf(df) else (df / (df - 2)) ** 0.5) if df > 2 else np.inf)
        for m in (-1e100, 3, 1e100)
        for s in (0, 2, 1e100)
        for df in (1 + 2**-52, 1.5, 3, 1e10, 1e100, np.inf)
    ),
    (Ordinal((-1e100, 0, 1e100), (0.2, 0.3, 0.5)), 1e100 * (0.7 - 0.09) ** 0.5),
    (Ordinal((1e12, 1e12 + 1), (0.3, 0.7)), 0.21**0.5),
    (Ordinal.of(REAL), float(REAL.std())),
]
U = (np.arange(200_000) + 0.5) / 200_000
N = 2000


def test_all_margins_are_here() -> None:
    here = {type(margin) for margin, _ in MARGINS}
    assert here == {type(margin) for margin, _ in MOVED.values()} == {*named.MARGINS.values()}


@pytest.mark.parametrize("kind", sorted({type(margin) for margin, _ in MARGINS}, key=str))
def test_drawn_means_are_the_stated_ones(kind: type[Margin]) -> None:
    """Uniform numbers one in each of N equal parts: such a mean has less noise than one of N independent draws."""
    u = np.sort((np.arange(N) + np.random.default_rng(1).random(N)) / N)
    for margin, sd in MARGINS:
        if type(margin) is kind:
            drawn = margin.quantile(u)
            low, high = margin.support
            assert low <= drawn[0] <= drawn[-1] <= high, margin
            assert (np.diff(drawn) >= -1e-100).all(), f"quantiles ascend: {margin}"
            # Values are rounded in binary.
            noise = 5 * sd / np.sqrt(N) + 1e-13 * abs(margin.mean)
            assert np.isfinite(drawn).all(), margin
            assert abs((drawn / N).sum() - margin.mean) <= noise, margin


@pytest.mark.parametrize(("margin", "mean"), MOVED.values(), ids=MOVED)
def test_the_mean_is_the_integral_of_the_quantiles(margin: Margin, mean: float) -> None:
    """By the midpoint rule on quantiles: its error is small but where tails are long."""
    long = isinstance(margin, Gamma | LogNormal | StudentT)
    for one in (margin, margin.with_mean(mean)):
        assert one.quantile(U).mean() == pytest.approx(one.mean, rel=1e-2 if long else 2e-5)
    assert margin.with_mean(mean).mean == pytest.approx(mean, abs=1e-12, rel=1e-13)
    assert type(margin.with_mean(mean)) is type(margin)


def test_quantiles_are_those_of_scipy() -> None:
    u = np.array([0.001, 0.2, 0.5, 0.8, 0.999])
    for margin, theirs in [
        (Bernoulli(0.3), stats.bernoulli(0.3)),
        (Beta(0.3, 1.5), stats.beta(0.45, 1.05)),
        (BetaBinomial(10, 0.3, 1.5), stats.betabinom(10, 0.45, 1.05)),
        (Gamma(2.0, 0.7), stats.gamma(0.7, scale=2 / 0.7)),
        (Gamma(2.0, 1.0), stats.expon(scale=2)),
        (LogNormal(2.0, 1.2), stats.lognorm(1.2, scale=2 * np.exp(-0.72))),
        (StudentT(3.0, 2.0, 2.5), stats.t(2.5, 3.0, 2.0)),
        (StudentT(3.0, 2.0), stats.norm(3.0, 2.0)),
    ]:
        np.testing.assert_allclose(margin.quantile(u), theirs.ppf(u), rtol=1e-9)
        assert margin.mean == pytest.approx(float(theirs.mean()))
    # Another mean keeps the parameter of the shape.
    assert (Gamma(2.0, 0.7).with_mean(5), Beta(0.3, 1.5).with_mean(0.6)) == (Gamma(5.0, 0.7), Beta(0.6, 1.5))
    assert (LogNormal(2, 0.5).with_mean(3), StudentT(1, 2, 3).with_mean(0)) == (LogNormal(3, 0.5), StudentT(0, 2, 3))
    assert BetaBinomial(10, 0.3, 1.5).with_mean(6) == BetaBinomial(10, 0.6, 1.5)


@pytest.mark.parametrize("spread", [0.5, 2.0, 4.0])
def test_no_part_of_a_long_tail_is_lost(spread: float) -> None:
    """The mean as an integral over the normal number, with uniform numbers kept where those of copulas are."""
    step = 0.001
    z = np.arange(-15, 15, step)
    u = np.clip(stats.norm.cdf(z), 2**-53, 1 - 2**-53)
    mean = float(LogNormal(2.0, spread).quantile(u) @ stats.norm.pdf(z)) * step
    assert mean == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize("df", [1 + 2**-52, 1.01, 2.5, 1e6, 1e100, np.inf])
def test_students_mean_is_the_middle_however_heavy_the_tails(df: float) -> None:
    """Quantiles are mirrored, to the ends of the uniform numbers; those of many degrees of freedom are normal."""
    u = np.concatenate([2.0 ** -np.arange(2, 53), [0.1, 0.3]])
    below, above = (StudentT(0, 2, df).quantile(each) for each in (u, 1 - u))
    np.testing.assert_allclose(below, -above, rtol=1e-9)
    if df >= 1e6:
        np.testing.assert_allclose(below[:20], 2 * stats.norm.ppf(u[:20]), rtol=1e-4)


def test_tilted_probabilities_are_nearest_in_divergence() -> None:
    """Any step that keeps sum and mean makes the Kullback-Leibler divergence larger."""
    values, shares = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.4, 0.3, 0.2, 0.1])
    tilt = tilted(values, shares, 2.2)

    def divergence(p: np.ndarray) -> float:
        return float(p @ np.log(p / shares))

    for step in ([1, -1.5, 0.5, 0], [0, 0.5, -1.5, 1], [1, -4 / 3, 0, 1 / 3]):
        direction = 1e-3 * np.array(step)
        assert abs(direction.sum()) < 1e-12
        assert abs(direction @ values) < 1e-12
        assert divergence(tilt + direction) > divergence(tilt) < divergence(tilt - direction)
    assert tilt @ values == pytest.approx(2.2, abs=1e-14)


@pytest.mark.parametrize("mean", [1e-9, 0.001, 0.5, 0.999, 1 - 1e-9])
def test_means_near_the_ends_are_reached(mean: float) -> None:
    assert Ordinal.of(REAL).with_mean(mean).mean == pytest.approx(mean, abs=1e-13)
    assert Ordinal.of(REAL).with_mean(1.0).support == (1.0, 1.0)


def test_ties_are_kept() -> None:
    np.testing.assert_allclose(Ordinal.of(REAL).quantile((np.arange(10) + 0.5) / 10), np.sort(REAL))


@pytest.mark.parametrize(
    ("make", "limits"),
    [
        (lambda x: Beta(0.5, x), (1e-6, 1e6)),
        (lambda x: Beta(x, 1), (1e-12, None)),
        (lambda x: BetaBinomial(3, 0.5, x), (1e-6, 1e6)),
        (lambda x: BetaBinomial(3, x, 1), (1e-12, None)),
        (lambda x: Gamma(x, 1), (1e-100, 1e100)),
        (lambda x: Gamma(1, x), (1e-3, 1e6)),
        (lambda x: LogNormal(x, 1), (1e-100, 1e100)),
        (lambda x: LogNormal(1, x), (0, 4)),
        (lambda x: StudentT(x, 1, 3), (-1e100, 1e100)),
        (lambda x: StudentT(0, x, 3), (0, 1e100)),
        (lambda x: Ordinal((x, 2), (0.5, 0.5)), (-1e100, None)),
        (lambda x: TCopula(0.5, df=x), (0.1, 1e100)),
        (Clayton, (1e-100, 1e100)),
        (Gumbel, (1, 1e100)),
    ],
)
def test_limits_are_taken_and_what_is_beyond_them_is_refused_by_name(
    make: Callable[[float], object], limits: tuple[float | None, float | None]
) -> None:
    for limit, away in zip(limits, (-np.inf, np.inf), strict=True):
        if limit is not None:
            make(limit)
            with pytest.raises(ValueError, match=f"{limit:g}".replace("+", r"\+")):
                make(float(np.nextafter(limit, away)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(1.2), "probability must be a finite number from 0 to 1, not 1.2"),
        (lambda: BetaBinomial(0, 0.5, 1.0), "trials must be at least 1 and below 2.20, not 0"),
        (lambda: BetaBinomial(2**20, 0.5, 1.0), "trials must be at least 1 and below 2.20, not 1048576"),
        (lambda: StudentT(0.0, 1.0, 1.0), "df must be above 1"),
        (lambda: Ordinal((1, 1), (0.5, 0.5)), "values must be distinct numbers from -1e\\+100 to 1e\\+100, ascending"),
        (lambda: Ordinal((1, 2), (0.5, 0.6)), "probabilities must be at least 0 and 1 in sum"),
        (lambda: Ordinal((1, 2), (1.0,)), "probabilities must be 2, as values are, not 1"),
        (lambda: JUDGE.with_mean(0.5), "mean must be from 1 to 10, as scores of Ordinal.* are, not 0.5"),
        (lambda: Beta(0.5, 1.0).with_mean(1.0), "mean must be above 0 and below 1"),
        (lambda: LogNormal(1.0, 1.0).with_mean(np.inf), "mean must be above 0 and below inf"),
        (lambda: Ordinal.of(np.array([])), "scores must be a list of finite numbers"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
