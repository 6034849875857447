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
from simstudy.statistics.proportions import tango
from tests.comparisons.made_up import made_up
from tests.oracles import compared


def means(a: NDArray[Any], b: NDArray[Any], **columns: Any) -> Outputs:
    outputs = Outputs.from_scores(pd.DataFrame({"a": a, "b": b}), "mean")
    items = outputs.items.assign(**columns)
    return Outputs.from_statistics(outputs.statistics, "mean", ["a", "b"], items)


def right(b: int, c: int, n: int) -> Outputs:
    """Two systems on n items, of which only the first has b right and only the second c."""
    first, second = np.zeros((2, n), dtype=np.int64)
    first[:b] = second[b : b + c] = 1
    return Outputs.from_scores(pd.DataFrame({"first": first, "second": second}), "accuracy")


def two_one_sided(differences: NDArray[Any], margin: float) -> float:
    """The larger p-value of scipy's one-sample t tests: that the mean is not below margin, not above minus margin."""
    below = stats.ttest_1samp(differences, margin, alternative="less").pvalue
    above = stats.ttest_1samp(differences, -margin, alternative="greater").pvalue
    return float(max(below, above))


def test_p_values_of_means_are_those_of_two_t_tests(rng: np.random.Generator) -> None:
    for n in (2, 5, 40):
        a, b = rng.normal(size=(2, n))
        pairs = compared(means(a, b), test="t_paired", unit="item")
        for margin in (0.05, 0.4, 2.0):
            (row,) = equivalence(pairs, margin).to_dict("records")
            assert row["margin"] == margin
            assert row["p_equivalence"] == pytest.approx(two_one_sided(a - b, margin), rel=1e-9), (n, margin)


#: Of 100 items: only the first right, only the second right, margin in points, and what follows. McNemar's p-values
#: are 2 P(Binomial(b + c, 1/2) <= c): 0.00002, 0.69, 0.002, 0.42.
CASES = [(20, 1, 5, BETTER), (4, 2, 10, EQUIVALENT), (10, 0, 20, BOTH), (15, 10, 10, NOT_WORSE), (15, 10, 4, UNDECIDED)]


@pytest.mark.parametrize(("b", "c", "margin", "conclusion"), CASES)
def test_five_conclusions(b: int, c: int, margin: float, conclusion: str) -> None:
    row = equivalence(compared(right(b, c, 100), test="mcnemar"), margin).iloc[0]
    better = 2 * stats.binom.cdf(c, b + c, 0.5) <= 0.05
    low, high = tango([b], [c], 100)
    not_worse = -margin < 100 * low[0]
    small = not_worse and 100 * high[0] < margin
    other = NOT_WORSE if not_worse else UNDECIDED
    expected = {(True, False): BETTER, (False, True): EQUIVALENT, (True, True): BOTH, (False, False): other}
    assert row["conclusion"] == expected[bool(better), bool(small)] == conclusion
    assert (row["p_noninferiority"] <= 0.025) == not_worse
    assert (row["p_noninferiority_holm"], row["p_equivalence_holm"]) == (row["p_noninferiority"], row["p_equivalence"])


def test_a_table_of_many_pairs_is_one_family() -> None:
    """Step by step, from the smallest one-sided p-value on: of each pair one null hypothesis at most can be true."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.6, 0.63, 0.66, 0.72, 0.85], 3000, seed=5)
    pairs = compared(outputs)
    before = pairs.copy()
    found = equivalence(pairs, 6)
    pd.testing.assert_frame_equal(pairs, before)
    pd.testing.assert_frame_equal(found[pairs.columns], pairs)
    assert [name for name in found if name not in pairs] == [
        "margin", "p_noninferiority", "p_equivalence", "p_noninferiority_holm", "p_equivalence_holm", "conclusion",
    ]  # fmt: skip
    one_by_one = [equivalence(pairs.iloc[[k]], 6).iloc[0] for k in range(15)]
    for name in ("p_noninferiority", "p_equivalence"):
        assert found[name].tolist() == [row[name] for row in one_by_one]
    hypotheses = [
        (row[name], k, name) for k, row in enumerate(one_by_one) for name in ("p_noninferiority", "p_equivalence")
    ]
    largest, said = 0.0, []
    for step, (p, k, name) in enumerate(sorted(hypotheses)):
        largest = max(largest, min(p * min(15, 30 - step), 1.0))
        assert found[f"{name}_holm"].iloc[k] == pytest.approx(largest, rel=1e-12)
    assert (found["p_noninferiority_holm"] <= found["p_equivalence_holm"]).all()
    better = ss.comparisons.corrected(pairs)["p_holm"] <= 0.05
    for k in range(15):
        small, not_worse = (found[f"{name}_holm"].iloc[k] <= 0.025 for name in ("p_equivalence", "p_noninferiority"))
        other = NOT_WORSE if not_worse else UNDECIDED
        names = {(True, True): BOTH, (True, False): BETTER, (False, True): EQUIVALENT, (False, False): other}
        said.append(names[bool(better[k]), bool(small)])
    assert found["conclusion"].tolist() == said
    assert [row["conclusion"] for row in one_by_one] != said
    assert len(set(said)) > 2


def test_pairs_without_an_interval_are_not_in_the_family() -> None:
    values = np.random.default_rng(1).normal(size=(40, 2))
    table = pd.DataFrame({"a": values[:, 0], "b": values[:, 1], "c": values[:, 0]})
    pairs = compared(Outputs.from_scores(table, "mean"))
    same = {"a", "c"} == pairs[["system_a", "system_b"]].apply(set, axis=1)
    found = equivalence(pairs, 0.4)
    assert found.loc[same, ["p_noninferiority_holm", "p_equivalence_holm"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(
        found.loc[~same, "p_noninferiority":"p_equivalence_holm"],  # type: ignore[misc]
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
        found = equivalence(compared(outputs), 5)
        gain = found["system_a"].map(true) - found["system_b"].map(true)
        apart = gain != 0
        any_single += (found.loc[apart, "p_equivalence"] <= 0.025).any()
        any_equivalent += found.loc[apart, "conclusion"].isin([EQUIVALENT, BOTH]).any()
        any_not_worse += ((gain < 0) & (found["p_noninferiority_holm"] <= 0.025)).any()
        n_shown += int(found.loc[~apart, "conclusion"].isin([EQUIVALENT, BOTH]).sum())
    assert any_single / n_tables > 0.15
    assert any_equivalent + any_not_worse <= stats.binom.ppf(1 - 1e-5, n_tables, 0.025)
    assert n_shown / n_tables > 5, "of 20 pairs of equal systems"


def test_the_scale_is_the_metrics() -> None:
    """Accuracy in percent, a mean as it is, an error rate with the lower score first: one and the same p-value."""
    outputs = right(12, 7, 80)
    of_accuracy = equivalence(compared(outputs), 15)
    as_mean = Outputs.from_scores(pd.DataFrame(outputs.statistics[:, :, 0].T.astype(float), columns=["x", "y"]))
    of_mean = equivalence(compared(as_mean), 0.15)
    assert (of_mean["interval"].item(), of_accuracy["interval"].item()) == ("score", "score")
    assert of_mean["p_equivalence"].item() == pytest.approx(of_accuracy["p_equivalence"].item(), rel=1e-9)
    assert 0.0001 < of_mean["p_equivalence"].item() < 0.1


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


def test_no_test_makes_a_system_better_than_its_score() -> None:
    """Signs: 9 of 9 for the first, but one item takes all of it back; and the bootstrap of three items."""
    equal = means(np.array([1.0] * 9 + [0.0]), np.array([0.0] * 9 + [9.0]))
    pairs = compared(equal, test="sign")
    assert pairs["p_value"].item() == pytest.approx(2 * 11 / 2**10)
    assert pairs["gain"].item() == 0
    assert equivalence(pairs, 0.1)["conclusion"].item() == UNDECIDED
    three = compared(right(3, 0, 3), test="bootstrap")
    assert three["p_value"].item() == 1e-300
    assert equivalence(three, 5)["conclusion"].item() == UNDECIDED


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


def test_each_pair_has_its_own_degrees_of_freedom_and_one_family_corrects_all() -> None:
    """Two one-sided t tests of each pair; conclusions from p-values that Holm corrects, and not from each by itself."""
    pairs = made_up(6, k=8).assign(interval="t", gain_high=np.nan, wins=0, losses=0, n_units=300)
    pairs["better"], pairs["p_floor"] = pairs["system_a"], 0.001
    table = equivalence(pairs, 4.0, alpha=0.2)
    worse, other = (
        stats.t.sf((sign * pairs["gain"] + 4.0) / pairs["gain_se"], pairs["df"]).tolist() for sign in (1, -1)
    )
    assert table["p_noninferiority"].tolist() == pytest.approx(worse)
    assert table["p_equivalence"].tolist() == pytest.approx(np.maximum(worse, other).tolist())
    m = len(pairs)
    by_size = np.argsort(pairs["p_value"], kind="stable").to_numpy()
    steps = np.maximum.accumulate((m - np.arange(m)) * pairs["p_value"].to_numpy()[by_size])
    better = np.zeros(m, dtype=bool)
    better[by_size] = steps <= 0.2
    assert 0 < better.sum() < (pairs["p_value"] <= 0.2).sum()
    same = table["p_equivalence_holm"].to_numpy() <= 0.1
    least = table["p_noninferiority_holm"].to_numpy() <= 0.1
    expected = [
        ("better by less than the margin" if b else "equivalent") if e else "better" if b else "not worse" if n else
        "undecided" for b, e, n in zip(better, same, least, strict=True)
    ]  # fmt: skip
    assert table["conclusion"].tolist() == expected
    assert (table["p_equivalence_holm"] >= table["p_equivalence"]).all()
    assert (table["p_noninferiority_holm"] <= table["p_equivalence_holm"]).all()


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
