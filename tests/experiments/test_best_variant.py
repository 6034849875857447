"""Variants of a baseline and repeated looks, small: against loops with scipy's tests, enumeration and algebra."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.experiments.programs import block_of, program, shipped
from tests.experiments.test_multiple_systems import scipy_p_value
from tests.truth.bivariate import outcome_correlation

BEST, LOOKS = program("best_variant"), program("repeated_looks")
FEW: dict[str, Any] = {"n_units": 50, "most_variants": 3, "alpha": 0.2, "n_draws": 29}
SIDES = {"two-sided": "two-sided", "one-sided": "greater"}


def variants_block(name: str, n_variants: int, n_sets: int, **settings: Any) -> Any:
    at = {"variants": name, "n_variants": 1}
    return block_of("best_variant", n_sets, at, n_variants=n_variants, **{**FEW, **settings})


@pytest.mark.parametrize("name", ["r_07_gain", "independent", "skewed"])
@pytest.mark.parametrize("n_variants", [1, 3])
def test_the_best_variant_is_the_one_that_is_reported(name: str, n_variants: int) -> None:
    """Systems alternate if each variant has a baseline of its own; else the baseline is the first."""
    block = variants_block(name, n_variants, 60, gain=0.0 if name == "skewed" else 0.05)
    found, expected = BEST.best(block), {}
    for statistics in block.statistics:
        units = statistics[..., 0].astype(float)
        pairs = [(2 * k + 1, 2 * k) if name == "independent" else (k + 1, 0) for k in range(n_variants)]
        gains = [units[i].mean() - units[j].mean() for i, j in pairs]
        k, test = int(np.argmax(gains)), "t_paired" if name == "skewed" else "sign_flips"
        for (side, alternative), correction in product(SIDES.items(), ("none", "Holm")):
            p = [scipy_p_value(units[i], units[j], test, alternative) for i, j in pairs]
            steps = [value * (n_variants - step) for step, value in enumerate(sorted(p)[: sorted(p).index(p[k]) + 1])]
            significant = gains[k] > 0 and (p[k] if correction == "none" else max(steps)) <= 0.2
            expected.setdefault(f"{side}, {correction}", []).append(significant)
        expected.setdefault("gain", []).append(gains[k] * (1 if name == "skewed" else 100))
    gains = np.array(expected.pop("gain"))
    assert found["best variant"]["estimate"] == pytest.approx(gains)
    assert all(0 < sum(of_method) < 60 for of_method in expected.values())
    for method, significant in expected.items():
        assert found[method]["significant"].tolist() == significant, method
        assert found[method]["reported gain"] == pytest.approx(np.where(significant, gains, np.nan), nan_ok=True)


def test_the_stepdown_asks_if_any_of_the_tried_variants_is_better() -> None:
    block = variants_block("r_07_gain", 2, 40, gain=0.1)
    found = BEST.stepdown(block)["two-sided, Romano-Wolf"]
    tried = block.boards.of_systems([0, 1, 2])
    behind = [board.low_own[0] > 1 for board in tried.places(level=0.8, n_draws=29, seed=block.seed("signs"))]
    assert found["significant"].tolist() == behind
    gains = [max(variants) - baseline for baseline, *variants in tried.scores()]
    assert found["reported gain"] == pytest.approx(np.where(behind, gains, np.nan), nan_ok=True)
    assert 0 < found["significant"].sum() < 40
    assert BEST.stepdown(variants_block("independent", 2, 2)) == {}


def test_variants_are_correlated_and_better_as_their_level_says() -> None:
    alike, gain, independent = (
        BEST.model(variants_block(name, 1, 1).condition) for name in ("r_05_alike", "r_07_gain", "independent")
    )
    assert alike.dependence.matrix(4).tolist() == [[1, 0.5, 0.5, 0.5]] + [
        [0.5, *(1 if i == j else 0.9 for j in range(3))] for i in range(3)
    ]
    assert gain.scores().tolist() == pytest.approx([65, 66, 66, 66])
    assert BEST.truth(variants_block("r_07_gain", 1, 1).condition) == pytest.approx(1)
    assert independent.dependence.matrix(6)[1].tolist() == [0.5, 1, 0, 0, 0, 0]
    assert set(independent.scores()) == {65}


def test_independent_test_sets_are_the_algebra() -> None:
    """The exact chance q of one variant, by enumeration, and 1 - (1 - q)^m of so many test sets."""
    n, n_sets, q = 60, 1500, 0.0
    differ = 2 * 0.65 * 0.35 * (1 - outcome_correlation(0.65, 0.65, 0.5))
    for m in range(n + 1):
        wins = np.arange(m + 1)
        better = (2 * stats.binom.sf(wins - 1, m, 0.5) <= 0.05) & (2 * wins > m)
        q += stats.binom.pmf(m, n, differ) * stats.binom.pmf(wins, m, 0.5) @ better
    shipped_rates = shipped("best_variant")["rates"].set_index(["method", "n_variants"])["share"]
    assert shipped_rates["two-sided, algebra"].tolist() == pytest.approx(
        [0.025, 0.0494, 0.1189, 0.2237, 0.3973], abs=1e-4
    )
    assert shipped_rates["one-sided, algebra"][2] == pytest.approx(0.0975)
    for m in (1, 10):
        block = variants_block("independent", m, n_sets, n_units=n, most_variants=10, alpha=0.05)
        count = int(BEST.best(block)["two-sided, none"]["significant"].sum())
        # A better variant may have more wins of more decided items, and yet a larger p: nearly never here.
        assert stats.binomtest(count, n_sets, 1 - (1 - q) ** m).pvalue > 1e-4, m


def test_all_numbers_of_variants_see_the_same_test_sets() -> None:
    few, many = (block_of("best_variant", 9, {"variants": "r_05", "n_variants": m}, **FEW).data for m in (1, 20))
    assert (few == many).all()


@pytest.mark.parametrize("name", ["accuracy_1000", "skewed_1000"])
def test_looking_again_is_a_loop_over_looks(name: str) -> None:
    block = block_of("repeated_looks", 40, {"condition": name, "n_looks": 3}, step=20, n_units=80, alpha=0.2)
    expected = []
    for statistics in block.statistics:
        first, second = statistics[..., 0].astype(float)
        p_values = [scipy_p_value(first[:n], second[:n], block.condition["test"]) for n in (20, 40, 60)]
        expected.append(min(p_values) <= 0.2)
    assert LOOKS.looks(block)["test at every look"]["significant"].tolist() == expected
    assert 0 < sum(expected) < 40


@pytest.mark.parametrize("n_looks", [1, 2, 3, 4, 5])
def test_published_shares_are_the_normal_integral(n_looks: int) -> None:
    """Means at looks j < k correlate by sqrt(j / k)."""
    looks = np.arange(1, n_looks + 1)
    correlations = np.sqrt(np.minimum.outer(looks, looks) / np.maximum.outer(looks, looks))
    z = stats.norm.ppf(0.975)
    normal = stats.multivariate_normal(np.zeros(n_looks), correlations, seed=0)
    share = 1 - normal.cdf(np.full(n_looks, z), lower_limit=np.full(n_looks, -z))
    rates = shipped("repeated_looks")["rates"].query("n_looks == @n_looks")
    published = rates[rates["method"] == "published, normal data"]
    assert published["share"].tolist() == pytest.approx([share] * 2, abs=6e-4)
    # The t test of skewed scores is near; exact tests of right or wrong answers are below.
    own = rates[rates["method"] == "test at every look"].set_index("condition")
    assert own.loc["skewed_1000", "low"] < share < own.loc["skewed_1000", "high"]
    assert own.loc["accuracy_1000", "share"] < share
