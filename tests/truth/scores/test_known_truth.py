"""Known truth is true over the whole range of every parameter, or the parameter is refused with its limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import isabstract
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from simstudy.truth.pair_base import EXTREME
from simstudy.truth.scores import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Clayton,
    Empirical,
    GaussianCopula,
    Gumbel,
    Independent,
    ItemResponse,
    Khoudraji,
    LogNormal,
    Ordinal,
    ScoreModel,
    Smoothed,
    StudentT,
    Survival,
    TCopula,
)
from simstudy.truth.scores.dependence import Dependence
from simstudy.truth.scores.margins import Margin

REAL = np.array([0.0, 0.1, 0.1, 0.25, 1 / 3, 0.7, 1.0])

# Margins from end to end of their parameters, with the standard deviation by its formula (infinite: by none).
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
    *((LogNormal(m, s), m * np.expm1(s**2) ** 0.5) for m in (1e-100, 2, 1e100) for s in (0, 1e-9, 1, 4)),
    *(
        (StudentT(m, s, df), s * (df / (df - 2)) ** 0.5 if df > 2 else np.inf)
        for m in (-1e100, 3, 1e100)
        for s in (0, 2, 1e100)
        for df in (1 + 2**-52, 1.5, 3, 1e10, 1e100)
    ),
    (Ordinal((-1e100, 0, 1e100), (0.2, 0.3, 0.5)), 1e100 * (0.7 - 0.09) ** 0.5),
    (Ordinal((1e12, 1e12 + 1), (0.3, 0.7)), 0.21**0.5),
    (Empirical.of(REAL), float(REAL.std())),
    (Smoothed.of(REAL, np.unique(REAL), 0.0), float(REAL.std())),
]

# Copulas of two systems by one parameter, from the least rank correlation to the largest, with Kendall's tau there.
COPULAS: dict[str, tuple[Callable[[float], Dependence], list[float], tuple[float, float]]] = {
    "gaussian": (GaussianCopula, [-1, -1 + 1e-9, -0.5, 0, 1e-300, 0.5, 1 - 1e-9, 1], (-1, 1)),
    "t": (lambda r: TCopula(r, df=0.1), [-1, -0.5, 0, 0.5, 1], (-1, 1)),
    "nearly normal t": (lambda r: TCopula(r, df=1e100), [-1, -0.5, 0, 0.5, 1], (-1, 1)),
    "clayton": (Clayton, [1e-100, 1e-17, 1e-9, 0.1, 1, 28, 100, 500, 1e4, 1e9, 1e100], (0, 1)),
    "survival": (lambda theta: Survival(Clayton(theta)), [1e-100, 1, 100, 1e100], (0, 1)),
    "gumbel": (Gumbel, [1, 1 + 2**-52, 1.1, 2, 30, 1e4, 1e9, 1e100], (0, 1)),
    "khoudraji": (lambda a: Khoudraji(Clayton(1e100), (a, a)), [0, 5e-324, 1e-9, 0.5, 1 - 2**-53, 1], (0, 1)),
    "item response": (ItemResponse, [0, 1e-9, 0.5, 2, 20, 100], (0, 1)),
    "sharp item response": (lambda d: ItemResponse(d, 100, 2), [0, 100], (0, 1)),
    "flat item response": (lambda d: ItemResponse(d, 0.01, 2), [0, 100], (0, 0.16)),
    "independent": (lambda _: Independent(), [0], (0, 0)),
}
N = 2000


def _kinds(kind: type) -> Iterator[type]:
    for sub in kind.__subclasses__():
        if not isabstract(sub) and sub.__module__.startswith("simstudy."):
            yield sub
        yield from _kinds(sub)


def test_all_margins_and_copulas_are_here() -> None:
    assert {type(margin) for margin, _ in MARGINS} == {*_kinds(Margin)}
    drawn = {type(of(values[-1])) for of, values, _ in COPULAS.values()}
    assert drawn == {*_kinds(Dependence)}


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


@pytest.mark.parametrize("spread", [0.5, 2.0, 4.0])
def test_no_part_of_a_long_tail_is_lost(spread: float) -> None:
    """The mean as an integral over the normal number, with uniform numbers kept where those of copulas are."""
    step = 0.001
    z = np.arange(-15, 15, step)
    u = np.clip(stats.norm.cdf(z), 2**-53, 1 - 2**-53)
    mean = float(LogNormal(2.0, spread).quantile(u) @ stats.norm.pdf(z)) * step
    assert mean == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize("df", [1 + 2**-52, 1.01, 2.5, 1e6, 1e100])
def test_students_mean_is_the_middle_however_heavy_the_tails(df: float) -> None:
    """Quantiles are mirrored, to the ends of the uniform numbers; those of many degrees of freedom are normal."""
    u = np.concatenate([2.0 ** -np.arange(2, 53), [0.1, 0.3]])
    below, above = (StudentT(0, 2, df).quantile(each) for each in (u, 1 - u))
    np.testing.assert_allclose(below, -above, rtol=1e-9)
    if df >= 1e6:
        np.testing.assert_allclose(below[:20], 2 * stats.norm.ppf(u[:20]), rtol=1e-4)


@pytest.mark.parametrize("name", COPULAS)
def test_copulas_are_uniform_and_rank_correlation_rises_with_the_parameter(name: str) -> None:
    """Means and distribution within 5 standard errors (Kolmogorov and Smirnov: 10^-6), tau within 5 of its own.

    The standard error of tau is below 2/3 sqrt(2 / n) near independence, 0.021 here, and smaller elsewhere.
    """
    of, values, (least, most) = COPULAS[name]
    found = []
    for value in values:
        drawn = of(value).uniforms(N, 2, np.random.default_rng(3))
        assert drawn.min() > 0
        assert drawn.max() < 1
        assert drawn.mean(axis=0) == pytest.approx([0.5, 0.5], abs=5 / np.sqrt(12 * N))
        for own in drawn.T:
            assert stats.kstest(own, "uniform").pvalue > 1e-6
        found.append(stats.kendalltau(*drawn.T).statistic)
    assert (found[0], found[-1]) == pytest.approx((least, most), abs=0.1)
    assert all(later > earlier - 0.02 for earlier, later in pairwise(found)), found


MODERATE: list[Margin] = [
    Bernoulli(0.4),
    Beta(0.3, 2),
    BetaBinomial(9, 0.4, 3),
    LogNormal(0.5, 0.8),
    StudentT(0.4, 0.2, 5),
    Ordinal((0, 0.2, 0.9), (0.5, 0.2, 0.3)),
    Empirical.of(REAL),
    Smoothed.of(REAL, np.unique(REAL), 0.3),
]
PAIRED: list[Dependence] = [of(value) for of, values, _ in COPULAS.values() for value in (values[0], values[-1])]


@pytest.mark.parametrize("margin", MODERATE, ids=str)
def test_a_true_gain_is_drawn_whatever_the_copula(margin: Margin) -> None:
    """Of every margin with every copula at both ends: scores within 5 standard errors of the stated ones."""
    wanted = 0.03
    for dependence in PAIRED:
        pair = ScoreModel([margin, margin], dependence).with_gain(wanted).pair()
        drawn = pair.draw(1, N, np.random.default_rng(2)).statistics[0, :, :, 0].astype(np.float64)
        stated = np.array(pair.scores())
        assert stated[0] - stated[1] == pytest.approx(wanted, abs=1e-12)
        assert (np.abs(drawn.mean(axis=1) - stated) <= 5 * drawn.std(axis=1) / np.sqrt(N)).all(), dependence


@pytest.mark.parametrize(
    ("make", "limits"),
    [
        (lambda x: Beta(0.5, x), (1e-6, 1e6)),
        (lambda x: Beta(x, 1), (1e-12, None)),
        (lambda x: BetaBinomial(3, 0.5, x), (1e-6, 1e6)),
        (lambda x: BetaBinomial(3, x, 1), (1e-12, None)),
        (lambda x: LogNormal(x, 1), (1e-100, 1e100)),
        (lambda x: LogNormal(1, x), (0, 4)),
        (lambda x: StudentT(x, 1, 3), (-1e100, 1e100)),
        (lambda x: StudentT(0, x, 3), (0, 1e100)),
        (lambda x: StudentT(0, 1, x), (None, 1e100)),
        (lambda x: Ordinal((x, 2), (0.5, 0.5)), (-1e100, None)),
        (lambda x: TCopula(0.5, df=x), (0.1, 1e100)),
        (Clayton, (1e-100, 1e100)),
        (Gumbel, (1, 1e100)),
        (lambda x: ItemResponse(x), (0, 100)),
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


def test_trials_have_a_limit() -> None:
    with pytest.raises(ValueError, match="trials must be at least 1 and below 2\\^20, not 1048576"):
        BetaBinomial(2**20, 0.5, 1.0)
    assert EXTREME == 1e100
