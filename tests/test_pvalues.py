from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.pvalues import CONVENTIONS, certainty, clopper_pearson, significant, supported


def test_both_rules() -> None:
    count = np.array([0, 1, 10])
    np.testing.assert_allclose(CONVENTIONS["default"].p_value(count, 10), [1 / 11, 2 / 11, 1])
    np.testing.assert_allclose(CONVENTIONS["bk2012"].p_value(count, 10), [0, 0.1, 1])
    assert not CONVENTIONS["default"].strict
    assert CONVENTIONS["bk2012"].strict


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 1000), (37, 1000), (1000, 1000), (500_000, 1_000_000)])
@pytest.mark.parametrize("level", [0.95, 0.999])
def test_interval_is_scipys(count: int, n: int, level: float) -> None:
    expected = stats.binomtest(count, n).proportion_ci(level, method="exact")
    low, high = clopper_pearson(count, n, level)
    assert float(low) == pytest.approx(expected.low, rel=1e-9, abs=1e-300)
    assert float(high) == pytest.approx(expected.high, rel=1e-9)


def test_certainty_is_bayes_rule_over_all_levels() -> None:
    """The posterior by summing the likelihood of the count over a fine grid of equally likely levels."""
    levels = (np.arange(200_000) + 0.5) / 200_000
    for count, n in ((0, 19), (3, 40), (24, 200)):
        likelihood = stats.binom.pmf(count, n, levels)
        expected = likelihood[levels <= 0.1].sum() / likelihood.sum()
        assert float(certainty(count, n, 0.1)) == pytest.approx(expected, rel=1e-6)


def test_chinchors_certainty_of_ge_against_umass() -> None:
    """She prints a significance level of 0.0994 and a confidence level of 0.635 for 9,999 shuffles and cutoff 0.1.

    The two do not belong together: 0.635 is what 989 extreme shuffles give, a level of 0.0990.
    """
    assert round(float(certainty(989, 9999, 0.1)), 3) == 0.635
    assert round(float(certainty(993, 9999, 0.1)), 3) == 0.584


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5, float("nan"), "0.1", True])
def test_levels_are_fractions(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, both excluded, not"):
        certainty(1, 10, alpha)


def test_every_convention_says_where_it_is_from_and_what_is_wrong_with_it() -> None:
    for name, convention in CONVENTIONS.items():
        assert name == convention.name
        assert len(convention.source) > 10
        assert len(convention.weakness) > 10
        assert set(convention.n_resamples) <= set(convention.tests)


def rows(**columns: object) -> pd.DataFrame:
    """Rows of Comparisons whose p-values are computed."""
    return pd.DataFrame({"n_extreme": 0, "n_resamples": 0, **columns})


def test_a_computed_p_value_is_significant_up_to_the_cutoff() -> None:
    pairs = rows(p_value=[0.0, 0.049, 0.05, 0.0501, 1.0])
    assert significant(pairs).tolist() == [True, True, True, False, False]
    assert significant(pairs, 0.001).tolist() == [True, False, False, False, False]
    assert significant(pairs, required=0.999999).tolist() == [True, True, True, False, False], "nothing is drawn"


def test_a_drawn_p_value_has_to_be_certain() -> None:
    """The posterior of the level, summed over a grid, is the certainty; p itself may be at the cutoff."""
    levels = (np.arange(100_000) + 0.5) / 100_000
    counts = np.arange(30, 60)
    pairs = rows(p_value=(counts + 1) / 1001).assign(n_extreme=counts, n_resamples=1000)
    for required in (0.5, 0.9, 0.99):
        likelihood = stats.binom.pmf(counts[:, None], 1000, levels)
        certain = likelihood[:, levels <= 0.05].sum(axis=1) / likelihood.sum(axis=1)
        assert significant(pairs, 0.05, required).tolist() == (certain >= required).tolist()
    assert 0 < significant(pairs, 0.05, 0.99).sum() < (pairs["p_value"] <= 0.05).sum()


def test_three_things_are_asked_of_a_significant_gain() -> None:
    """A small p-value, for the system with the better score, of units that allow one: all eight cases."""
    for small, better, enough in product((True, False), repeat=3):
        one = rows(p_value=[0.01 if small else 0.2], system_a="a", system_b="b")
        one = one.assign(favours="a" if better else "b", p_floor=0.001 if enough else 0.125)
        assert significant(one).tolist() == [small and better and enough]
        assert supported(one, 0.05).tolist() == [better and enough]
        assert supported(one, 0.2).tolist() == [better]
        # What a table does not say is not asked of it.
        assert significant(one.drop(columns="favours")).tolist() == [small and enough]
        assert significant(one.drop(columns="p_floor")).tolist() == [small and better]
        assert supported(one.drop(columns=["favours", "p_floor"]), 0.05).tolist() == [True]
    speaks_for_nobody = rows(p_value=[0.01], system_a="a", favours="", p_floor=0.001)
    assert significant(speaks_for_nobody).tolist() == [False]
    at_the_cutoff = rows(p_value=[0.05], system_a="a", favours="a", p_floor=0.05)
    assert significant(at_the_cutoff).tolist() == [True]


def test_a_corrected_p_value_is_taken_as_certain() -> None:
    pairs = rows(p_value=[0.001], p_holm=[0.049]).assign(n_extreme=49, n_resamples=1000)
    assert significant(pairs, 0.05, 0.99).tolist() == [False], "49 of 1,000 may be a level of 0.06"
    assert significant(pairs, 0.05, 0.99, "p_holm").tolist() == [True]
    assert significant(pairs.assign(system_a="a", favours="b"), 0.05, 0.99, "p_holm").tolist() == [False]


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 5, float("nan")])
def test_fractions_of_a_decision(wrong: float) -> None:
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        significant(rows(p_value=[0.1]), wrong)
    with pytest.raises(ValueError, match="certainty must lie between 0 and 1"):
        significant(rows(p_value=[0.1]), 0.05, wrong)


@pytest.mark.parametrize(("count", "of"), [(-1, 5), (7, 5), ([1, 2], [5, 1])])
def test_counts_that_cannot_be_have_no_interval(count: object, of: object) -> None:
    with pytest.raises(ValueError, match="count must lie between 0 and the number that it is out of"):
        clopper_pearson(count, of)  # type: ignore[arg-type]
