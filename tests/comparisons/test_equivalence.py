"""Equivalence: p-values by scipy's t tests and by limits of proportions, conclusions, and Holm's correction."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import simstudy as ss
from simstudy.comparisons.equivalence import BETTER, BOTH, EQUIVALENT, NOT_WORSE, UNDECIDED, equivalence
from simstudy.outputs import Outputs
from tests.comparisons.made_up import made_up
from tests.oracles import compared


def means(a: NDArray[Any], b: NDArray[Any]) -> Outputs:
    return Outputs.from_scores(pd.DataFrame({"a": a, "b": b}), "mean")


def right(b: int, c: int, n: int) -> Outputs:
    """Two systems on n items, of which only the first has b right and only the second c."""
    first, second = np.zeros((2, n), dtype=np.int64)
    first[:b] = second[b : b + c] = 1
    return Outputs.from_scores(pd.DataFrame({"first": first, "second": second}), "accuracy")


def test_p_values_of_means_are_those_of_two_t_tests(rng: np.random.Generator) -> None:
    for n in (2, 5, 40):
        a, b = rng.normal(size=(2, n))
        pairs = compared(means(a, b), test="t_paired")
        for margin in (0.05, 0.4, 2.0):
            row = equivalence(pairs, margin).iloc[0]
            below = stats.ttest_1samp(a - b, margin, alternative="less").pvalue
            above = stats.ttest_1samp(a - b, -margin, alternative="greater").pvalue
            assert row["p_equivalence"] == pytest.approx(max(below, above), rel=1e-9), (n, margin)
            better_is_not_worse = above if a.mean() > b.mean() else below
            assert row["p_noninferiority"] == pytest.approx(better_is_not_worse, rel=1e-9), (n, margin)


def test_a_table_of_many_pairs_is_one_family() -> None:
    """Step by step, from the smallest one-sided p-value on: one null hypothesis of a pair at most can be true."""
    pairs = compared(ss.truth.correlated_accuracies([0.6, 0.6, 0.63, 0.66, 0.72, 0.85], 3000, seed=5))
    before = pairs.copy()
    table = equivalence(pairs, 6)
    pd.testing.assert_frame_equal(pairs, before)
    pd.testing.assert_frame_equal(table[pairs.columns], pairs)
    names = ("p_noninferiority", "p_equivalence")
    by_itself = [equivalence(pairs.iloc[[k]], 6).iloc[0] for k in range(15)]
    assert table[[*names]].to_numpy().tolist() == [row[[*names]].tolist() for row in by_itself]
    hypotheses = sorted((row[name], k, name) for k, row in enumerate(by_itself) for name in names)
    largest = 0.0
    for step, (p, k, name) in enumerate(hypotheses):
        largest = max(largest, min(p * min(15, 30 - step), 1.0))
        assert table[f"{name}_holm"].iloc[k] == pytest.approx(largest, rel=1e-12)
    better = ss.comparisons.corrected(pairs)["p_holm"] <= 0.05
    conclusions = []
    for k in range(15):
        not_worse, small = (table[f"{name}_holm"].iloc[k] <= 0.025 for name in names)
        other = NOT_WORSE if not_worse else UNDECIDED
        meaning = {(True, True): BOTH, (True, False): BETTER, (False, True): EQUIVALENT, (False, False): other}
        conclusions.append(meaning[bool(better[k]), bool(small)])
    assert table["conclusion"].tolist() == conclusions
    assert [row["conclusion"] for row in by_itself] != conclusions
    assert len(set(conclusions)) > 2


def test_pairs_without_an_interval_are_not_in_the_family() -> None:
    values = np.random.default_rng(1).normal(size=(40, 2))
    table = pd.DataFrame({"a": values[:, 0], "b": values[:, 1], "c": values[:, 0]})
    pairs = compared(Outputs.from_scores(table, "mean"))
    same = {"a", "c"} == pairs[["system_a", "system_b"]].apply(set, axis=1)
    table = equivalence(pairs, 0.4)
    assert table.loc[same, ["p_noninferiority_holm", "p_equivalence_holm"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(
        table.loc[~same, "p_noninferiority":"p_equivalence_holm"],  # type: ignore[misc]
        equivalence(pairs[~same], 0.4).loc[:, "p_noninferiority":"p_equivalence_holm"],  # type: ignore[misc]
    )


@pytest.mark.slow
def test_false_equivalences_of_a_table_are_rare_however_many_pairs_it_has() -> None:
    """Five systems of 75 % and five of 70 %: 25 pairs exactly at the margin, and 20 equally good ones.

    Uncorrected, each pair is falsely called equivalent in 2.5 % of the tables, and some pair in three of ten.
    """
    n_tables, shares = 400, [75] * 5 + [70] * 5
    any_single = any_equivalent = any_not_worse = n_shown = 0
    for seed in range(n_tables):
        outputs = ss.truth.correlated_accuracies([share / 100 for share in shares], 2500, seed=seed)
        true = dict(zip(outputs.names, shares, strict=True))
        table = equivalence(compared(outputs), 5)
        gain = table["system_a"].map(true) - table["system_b"].map(true)
        apart = gain != 0
        any_single += (table.loc[apart, "p_equivalence"] <= 0.025).any()
        any_equivalent += table.loc[apart, "conclusion"].isin([EQUIVALENT, BOTH]).any()
        any_not_worse += ((gain < 0) & (table["p_noninferiority_holm"] <= 0.025)).any()
        n_shown += int(table.loc[~apart, "conclusion"].isin([EQUIVALENT, BOTH]).sum())
    assert any_single / n_tables > 0.15
    assert any_equivalent + any_not_worse <= stats.binom.ppf(1 - 1e-5, n_tables, 0.025)
    assert n_shown / n_tables > 5, "of 20 pairs of equal systems"


def test_the_scale_is_the_metrics() -> None:
    """Accuracy in percent, and a mean as it is: one and the same p-value."""
    outputs = right(12, 7, 80)
    scores = pd.DataFrame(outputs.statistics[:, :, 0].T.astype(float), columns=["x", "y"])
    accuracy, mean = equivalence(compared(outputs), 15), equivalence(compared(Outputs.from_scores(scores)), 0.15)
    assert mean["interval"].item() == accuracy["interval"].item() == "score"
    assert mean["p_equivalence"].item() == pytest.approx(accuracy["p_equivalence"].item(), rel=1e-9)
    assert 0.0001 < mean["p_equivalence"].item() < 0.1


def test_the_same_answers_everywhere() -> None:
    """Of right and wrong ones the interval is z^2 / (n + z^2) either way; of other scores nothing is known."""
    same = compared(right(0, 0, 100))
    reach = 100 * stats.norm.ppf(0.975) ** 2 / (100 + stats.norm.ppf(0.975) ** 2)
    assert equivalence(same, reach * 1.001)["conclusion"].item() == EQUIVALENT
    assert equivalence(same, reach * 0.999)["conclusion"].item() == UNDECIDED
    values = np.linspace(0, 1, 9)
    row = equivalence(compared(means(values, values)), 0.5).iloc[0]
    assert np.isnan(row["p_equivalence"])
    assert row["conclusion"] == UNDECIDED


def test_a_margin_that_every_gain_is_within_shows_nothing() -> None:
    shares = pd.DataFrame({"a": [0.9, 0.2, 0.7, 0.4], "b": [0.1, 0.8, 0.3, 0.6]})
    for outputs, largest, scale in (
        (right(3, 1, 9), 100, "in percent"),
        (Outputs.from_scores(shares, "ap"), 1, "from 0 to 1"),
    ):
        pairs = compared(outputs)
        equivalence(pairs, 0.999 * largest)
        with pytest.raises(ValueError, match=f"^margin must be below {largest} for scores {scale}, not {largest}$"):
            equivalence(pairs, largest)


@pytest.mark.parametrize("margin", [0, -1, float("nan"), float("inf"), "x", True, None, [1]])
def test_a_margin_is_a_number_above_0(margin: Any) -> None:
    message = f"margin must be a number above 0, on the metric's scale, not {re.escape(repr(margin))}"
    with pytest.raises(ValueError, match=message):
        equivalence(compared(right(3, 1, 9)), margin)


def test_each_pair_has_its_own_degrees_of_freedom() -> None:
    pairs = made_up(6, k=8).assign(interval="t", gain_high=np.nan, wins=0, losses=0, n_units=300)
    table = equivalence(pairs, 4.0)
    worse, other = (stats.t.sf((sign * pairs["gain"] + 4.0) / pairs["gain_se"], pairs["df"]) for sign in (1, -1))
    np.testing.assert_allclose(table["p_noninferiority"], worse)
    np.testing.assert_allclose(table["p_equivalence"], np.maximum(worse, other))


@pytest.mark.parametrize(("column", "conclusion"), [
    ("p_noninferiority_holm", "not worse"), ("p_equivalence_holm", "equivalent"),
])  # fmt: skip
def test_a_p_value_of_half_the_level_is_enough(column: str, conclusion: str) -> None:
    pair = made_up(6, k=2).assign(interval="t", gain_high=np.nan, wins=0, losses=0, n_units=300)
    pair = pair.assign(gain=1.0, gain_se=1.0, p_value=0.99, p_floor=0.001, better=pair["system_a"])
    p = float(equivalence(pair, 3.0)[column].iloc[0])
    assert p < 0.2
    assert equivalence(pair, 3.0, alpha=2 * p)["conclusion"].tolist() == [conclusion]
    assert equivalence(pair, 3.0, alpha=2 * p * (1 - 1e-9))["conclusion"].iloc[0] != conclusion
