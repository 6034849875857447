from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import simstudy as ss
from simstudy.analyses.equivalence import BETTER, BOTH, EQUIVALENT, NOT_WORSE, UNDECIDED, equivalence
from simstudy.outputs import Outputs
from simstudy.statistics.proportions import tango
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


def test_p_values_of_documents_are_those_of_their_means(rng: np.random.Generator) -> None:
    """Twelve documents of five items each: the difference of each document's means, 11 degrees of freedom."""
    shift = np.repeat(rng.normal(size=12), 5)
    a, b = rng.normal(size=(2, 60)) + shift * [[0.3], [0]]
    outputs = means(a, b, cluster=[f"d{i // 5}" for i in range(60)])
    row = equivalence(compared(outputs, n_resamples=100), 0.7).iloc[0]
    assert (row["unit"], row["df"]) == ("cluster", 11)
    documents = (a - b).reshape(12, 5).mean(axis=1)
    assert row["p_equivalence"] == pytest.approx(two_one_sided(documents, 0.7), rel=1e-9)


def test_of_other_metrics_the_standard_error_is_the_jackknifes(rng: np.random.Generator) -> None:
    """F1 of 30 items, each left out in turn."""
    gold = rng.integers(1, 6, 30)
    guessed = rng.integers(1, 6, (2, 30))
    correct = rng.integers(0, np.minimum(gold, guessed) + 1)
    statistics = np.stack([correct, guessed, np.broadcast_to(gold, (2, 30))], axis=-1)

    def gain(kept: NDArray[Any]) -> float:
        totals = statistics[:, kept].sum(axis=1)
        scores = 200 * totals[:, 0] / (totals[:, 1] + totals[:, 2])
        return float(scores[0] - scores[1])

    without = np.array([gain(np.arange(30) != i) for i in range(30)])
    se = np.sqrt(29 / 30 * ((without - without.mean()) ** 2).sum())
    everything = abs(gain(np.full(30, True)))
    expected = max(stats.t.cdf((everything - 20) / se, 29), stats.t.sf((everything + 20) / se, 29))
    outputs = Outputs.from_statistics(statistics, "f1", ["a", "b"])
    row = equivalence(compared(outputs, n_resamples=100), 20).iloc[0]
    assert row["p_equivalence"] == pytest.approx(expected, rel=1e-9)
    assert 0.001 < expected < 0.5


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


@pytest.mark.slow
def test_right_and_wrong_answers_are_equivalent_where_tangos_interval_says_so(rng: np.random.Generator) -> None:
    """Also where McNemar's test finds a difference, and whatever the margin is; the higher score is always first."""
    said = []
    for _ in range(150):
        n = int(rng.integers(5, 300))
        b = int(rng.integers(0, max(2, n // int(rng.integers(1, 12)))))
        c = int(rng.integers(0, min(b, n - b) + 1))
        pairs = compared(right(b, c, n), test="mcnemar")
        low, high = (float(100 * bound[0]) for bound in tango([b], [c], n))
        assert (pairs["gain_low"].item(), pairs["gain_high"].item()) == pytest.approx((low, high), abs=1e-9)
        for margin in (high * 1.001, high * 0.999, float(rng.uniform(0.01, 99))):
            row = equivalence(pairs, margin).iloc[0]
            within = -margin < low and high < margin
            assert (row["p_equivalence"] <= 0.025) == within, (b, c, n, margin)
            assert (row["conclusion"] in (EQUIVALENT, BOTH)) == within
            said.append(within)
    assert 0.2 < np.mean(said) < 0.8


def test_intervals_of_means_say_the_same_at_every_level(rng: np.random.Generator) -> None:
    for alpha in (0.01, 0.05, 0.2):
        a, b = rng.normal(size=(2, 25))
        pairs = compared(means(a, b), test="t_paired")
        gain = abs((a - b).mean())
        bound = gain + stats.t.ppf(1 - alpha / 2, 24) * stats.sem(a - b)
        assert equivalence(pairs, bound * 1.0001, alpha=alpha)["conclusion"].item() in (EQUIVALENT, BOTH)
        assert equivalence(pairs, bound * 0.9999, alpha=alpha)["conclusion"].item() in (NOT_WORSE, UNDECIDED, BETTER)


def test_the_better_system_is_not_worse_where_its_interval_is_above_minus_the_margin(rng: np.random.Generator) -> None:
    for alpha in (0.01, 0.05, 0.2):
        a, b = rng.normal(size=(2, 25))
        pairs = compared(means(a, b), test="t_paired")
        low = abs((a - b).mean()) - stats.t.ppf(1 - alpha / 2, 24) * stats.sem(a - b)
        assert low < 0
        for margin, not_worse in ((-low * 1.0001, True), (-low * 0.9999, False)):
            row = equivalence(pairs, margin, alpha=alpha).iloc[0]
            assert (row["p_noninferiority"] <= alpha / 2) == not_worse
            assert row["conclusion"] == (NOT_WORSE if not_worse else UNDECIDED)
            one_sided = stats.ttest_1samp((a - b) * np.sign((a - b).mean()), -margin, alternative="greater")
            assert row["p_noninferiority"] == pytest.approx(one_sided.pvalue, rel=1e-9)


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
    better = ss.analyses.corrected(pairs)["p_holm"] <= 0.05
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
    """Signs: 9 of 9 for the first, but one item takes all of it back; and bootstrap p-values of 0 from three items."""
    equal = means(np.array([1.0] * 9 + [0.0]), np.array([0.0] * 9 + [9.0]))
    pairs = compared(equal, test="sign")
    assert pairs["p_value"].item() == pytest.approx(2 * 11 / 2**10)
    assert pairs["gain"].item() == 0
    assert equivalence(pairs, 0.1)["conclusion"].item() == UNDECIDED
    three = compared(right(3, 0, 3), test="bootstrap")
    assert three["p_value"].item() == 0
    assert equivalence(three, 5)["conclusion"].item() == UNDECIDED


@pytest.mark.parametrize("margin", [0, -1, float("nan"), float("inf"), "x", True, None, [1]])
def test_a_margin_is_a_number_above_0(margin: Any) -> None:
    message = f"margin must be a number above 0, on the metric's scale, not {re.escape(repr(margin))}"
    with pytest.raises(ValueError, match=message):
        equivalence(compared(right(3, 1, 9)), margin)


def test_other_bad_arguments() -> None:
    pairs = compared(right(3, 1, 9))
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        equivalence(pairs, 1, alpha=1)
    with pytest.raises(ValueError, match="no column gain_se"):
        equivalence(pairs.drop(columns="gain_se"), 1)
    assert equivalence(pairs, np.float32(2.5))["margin"].item() == 2.5


@pytest.mark.statistical
def test_systems_that_differ_by_the_margin_are_called_equivalent_one_time_in_forty(rng: np.random.Generator) -> None:
    """The worst case of the rule: 2.5 % of test sets. A binomial bound that chance breaks once in a million runs."""
    n_runs, margin = 1500, 0.5
    differences = rng.normal(margin, 1, size=(n_runs, 60))
    se = differences.std(axis=1, ddof=1) / np.sqrt(60)
    pairs = pd.DataFrame(
        {
            "gain": differences.mean(axis=1), "gain_se": se, "gain_high": np.nan, "df": 59, "interval": "jackknife",
            "n_better": 0, "n_worse": 0, "n_units": 60, "p_value": 0.5, "n_extreme": 0, "n_resamples": 0,
        }
    )  # fmt: skip
    called = int((equivalence(pairs, margin)["p_equivalence"] <= 0.025).sum())
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], n_runs, 0.025)
    assert low <= called <= high
