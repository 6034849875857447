from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.statistics.decisions import Decision, prefers_better, two_sided
from simstudy.statistics.multiplicity import corrected
from simstudy.statistics.pvalues import CONVENTIONS, certainty
from tests.engines.pairs import scored
from tests.oracles import compared


def rows(**columns: object) -> pd.DataFrame:
    """Rows of Comparisons whose p-values are computed."""
    return pd.DataFrame({"n_extreme": 0, "n_resamples": 0, **columns})


def drawn(p_value: list[float], n: int = 999) -> pd.DataFrame:
    """Rows whose p-values, (count + 1) / (n + 1), are from resamples."""
    count = np.rint(np.array(p_value) * (n + 1)).astype(int) - 1
    return rows(p_value=(count + 1) / (n + 1)).assign(n_extreme=count, n_resamples=n)


def test_a_p_value_is_significant_up_to_the_level() -> None:
    """Computed or drawn. Computed p-values are certain."""
    p = [0.0, 0.049, 0.05, 0.051, 1.0]
    for decision, pairs in ((Decision(certainty=0.999999), rows(p_value=p)), (Decision(), drawn(p[1:4]))):
        assert decision.significant(pairs).tolist() == [value <= 0.05 for value in pairs["p_value"]]


def test_certainty_is_asked_of_drawn_p_values() -> None:
    """P itself may be at the cutoff."""
    counts = np.arange(30, 60)
    pairs = rows(p_value=(counts + 1) / 1001).assign(n_extreme=counts, n_resamples=1000)
    for required in (0.5, 0.9, 0.99):
        expected = certainty(counts, 1000, 0.05) >= required
        assert 0 < expected.sum() < len(counts)
        assert Decision(certainty=required).significant(pairs).tolist() == expected.tolist()


def test_reasons_are_of_the_p_value_that_is_decided_on() -> None:
    pairs = rows(p_value=[0.01, 0.03], p_holm=[0.02, 0.09], gain=2.0, p_floor=0.001)
    assert Decision().why_not(pairs).tolist() == ["", ""]
    assert Decision(p="p_holm").why_not(pairs).tolist() == ["", "p above alpha"]


def test_four_things_are_asked_of_a_significant_gain() -> None:
    """A gain, a small p-value, for the system with the better score, of units that allow one: all sixteen cases."""
    for gains, small, better, enough in product((True, False), repeat=4):
        one = rows(p_value=[0.01 if small else 0.2], system_a="a", system_b="b", gain=2.0 if gains else 0.0)
        one = one.assign(better="a" if better else "b", p_floor=0.001 if enough else 0.125)
        decision = Decision()
        assert decision.significant(one).tolist() == [gains and small and better and enough]
        assert decision.prefers_worse(one).tolist() == [small and enough and not better]
        assert decision.within_reach(one).tolist() == [enough]
        assert Decision(0.2).significant(one).tolist() == [gains and better]
        # What a table does not say is not asked of it.
        assert decision.significant(one.drop(columns="gain")).tolist() == [small and better and enough]
        assert decision.significant(one.drop(columns="better")).tolist() == [gains and small and enough]
        assert decision.significant(one.drop(columns="p_floor")).tolist() == [gains and small and better]
        assert prefers_better(one.drop(columns=["better", "gain"])).tolist() == [True]
    prefers_nobody = rows(p_value=[0.01], system_a="a", system_b="b", better="", p_floor=0.001)
    assert not Decision().significant(prefers_nobody).any()
    assert not Decision().prefers_worse(prefers_nobody).any()
    assert Decision().significant(rows(p_value=[0.05], system_a="a", better="a", p_floor=0.05)).all()


@pytest.mark.parametrize("p", ["p_holm", "p_bh"])
def test_a_corrected_p_value_leaves_each_pair_its_part_of_the_level(p: str) -> None:
    """The smallest of five is held against 0.01: so are the certainty of 999 resamples, and the units' reach."""
    pairs = corrected(drawn([0.006, 0.5, 0.6, 0.7, 0.8]))
    sure = stats.beta(6, 995).cdf(0.01)
    assert 0.9 < sure < 0.99 < stats.beta(6, 995).cdf(0.05)
    for required, expected in ((None, True), (sure - 0.001, True), (sure + 0.001, False)):
        assert Decision(0.05, required, p).significant(pairs)[0] == expected
    for p_floor, expected in ((0.0099, True), (0.0101, False)):
        assert Decision(0.05, p=p).significant(pairs.assign(p_floor=p_floor))[0] == expected
    alone = corrected(drawn([0.04])).assign(p_floor=0.03)
    assert Decision(0.05, 0.8, p).significant(alone).all(), "one pair has nothing to be corrected for"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must lie between 0 and 1"), ({"alpha": float("nan")}, "alpha must lie between 0 and 1"),
        ({"certainty": 1}, "certainty must lie between 0 and 1"), ({"p": "p_low"}, "p must be one of p_value, p_holm"),
    ],
)  # fmt: skip
def test_odd_decisions_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Decision(**options)


# By two sides

RIGHT = np.random.default_rng(8).random((4, 90)) < [[0.6], [0.68], [0.72], [0.55]]
SCORES = scored(RIGHT.astype(int), "accuracy")
SKEWED = scored(np.random.default_rng(4).lognormal(0, 2, (4, 30)))
OF_P = ["alternative", "p_value", "p_low", "p_high", "p_floor", "better", "computation", "n_extreme", "n_resamples"]


@pytest.mark.parametrize(
    ("test", "convention", "monte_carlo"),
    [
        ("sign_flips", "default", True), ("randomization", "default", False), ("randomization", "default", True),
        ("bootstrap", "default", True), ("bootstrap", "bk2012", False), ("sign", "default", False),
        ("wilcoxon", "default", False), ("t_paired", "default", False),
    ],
)  # fmt: skip
def test_one_sided_comparisons_by_two_sides_are_the_two_sided_ones(
    test: str, convention: str, monte_carlo: bool
) -> None:
    """All that belongs to a p-value is as the two-sided test has it."""
    options: dict[str, Any] = {
        "test": test, "convention": convention, "monte_carlo": monte_carlo, "n_resamples": 499, "seed": 3,
    }  # fmt: skip
    for outputs in (SCORES, SKEWED, SKEWED.head(4)):
        one, two = (compared(outputs, alternative=alternative, **options) for alternative in ("greater", "two-sided"))
        before = one.copy()
        pd.testing.assert_frame_equal(two_sided(one)[OF_P], two[OF_P], check_dtype=False)
        pd.testing.assert_frame_equal(one, before)
        assert two_sided(two) is two
        both = pd.concat([one, two], ignore_index=True)
        pd.testing.assert_frame_equal(two_sided(both)[len(one) :], both[len(one) :])


def test_where_the_convention_has_one_side_two_are_unknown() -> None:
    pairs = two_sided(compared(SCORES, test="bootstrap", convention="koehn2004"))
    assert pairs["p_value"].isna().all()
    assert not Decision(0.9).significant(pairs).any()
    assert (pairs["n_resamples"] == 0).all()


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_count_comes_back_from_its_p_value(name: str) -> None:
    counts, convention = np.arange(0, 10_001), CONVENTIONS[name]
    for n in (10_000, 2**20, 10**6):
        assert (convention.n_extreme(convention.p_value(counts, n), n) == counts).all()
