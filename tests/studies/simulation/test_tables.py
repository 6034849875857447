"""Tables of simulation studies: shipped counts, nominal rates, verdicts, means, and intervals of nested replicates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import simstudy as ss
from simstudy.studies import derived_seed, load_study
from simstudy.studies.simulation.definition import COLUMNS
from simstudy.studies.simulation.page import rates_figure
from simstudy.studies.simulation.summaries import (
    coverage,
    largest_error,
    mean,
    quantiles,
    rate,
    rejections,
    summarised,
)
from tests.studies.simulation.folders import PROGRAM, folder_of, tables_of

SHIPPED = Path(__file__).parents[3] / "results" / "error_rates"


def test_counts_are_those_of_the_shipped_study_of_error_rates(tmp_path: Path) -> None:
    """The seeds of its cells are functions of condition, number of units and batch: factors sorted by name."""
    folder = folder_of(tmp_path, """
        tests = ["sign_flips", "bootstrap", "sign", "wilcoxon", "t_paired", "mcnemar", "z_independent"]
        alternatives = ["two-sided", "greater"]
        named = false
        alphas = [0.05, 0.01]
        replicates = { most = 10_000, block = 1000 }
        factors.n_units = [10, 30]
        [factors.condition.average_precision]
        model = "Scores"
        margins = [
            { kind = "Beta", average = 0.25, concentration = 2.5 },
            { kind = "Beta", average = 0.25, concentration = 2.5 },
        ]
        dependence = { kind = "GaussianCopula", correlation = 0.6 }
        metric = "ap"
        [factors.condition.accuracy_variants_gain]
        model = "Scores"
        margins = [{ kind = "Bernoulli", probability = 0.81 }, { kind = "Bernoulli", probability = 0.8 }]
        dependence = { kind = "GaussianCopula", correlation = 0.95 }
        metric = "accuracy"
        """)  # fmt: skip
    tables = tables_of(folder)
    rates = tables["rates"].rename(columns={"method": "test"})
    rates["alternative"] = rates["quantity"].map({"p_value": "two-sided", "p_value, greater": "greater"})
    key = ["condition", "n_units", "test", "alternative", "alpha"]
    n_rates = 0
    for name in ("rates", "power"):
        both = rates.merge(pd.read_csv(SHIPPED / f"{name}.csv"), on=key, suffixes=("", "_shipped"))
        n_rates += len(both)
        assert both["count"].tolist() == both["n_rejected"].tolist()
        if name == "rates":
            assert_allclose(both[["low", "high"]], both[["low_shipped", "high_shipped"]], rtol=0, atol=1e-5)
        else:
            for column in ("type_s", "type_m"):
                assert_allclose(both[column], both[f"{column}_shipped"], rtol=1e-4, atol=1e-4)
    assert n_rates > 40
    shipped = pd.read_csv(SHIPPED / "coverage.csv")
    covered = tables["coverage"].merge(shipped, on=["condition", "n_units"], suffixes=("", "_shipped"))
    assert len(covered) == 4
    assert_allclose(covered["share"], covered["share_shipped"], atol=1e-5)


GRID = """
tests = ["t_paired", "t_test"]
alphas = [0.05, 0.2]
alternatives = ["two-sided", "greater"]
replicates = { most = 2000, block = 1000 }
x = "n_units"
panels = "pair"
factors.n_units = [8, 20]
factors.pair = { equal = { gain = 0.0, title = "equal systems" }, better = { gain = 0.5 } }
"""


def test_rates_coverage_and_bias_of_students_t_are_nominal(tmp_path: Path) -> None:
    """Normal differences: level, power (noncentral t) and coverage are exact."""
    results = ss.run_study(folder_of(tmp_path, GRID, PROGRAM), out=tmp_path / "out", n_jobs=1)
    rates = results.tables["rates"].dropna(subset="alpha")
    rates = rates.set_index(["pair", "n_units", "method", "quantity", "alpha"])["count"]
    for (pair, n, method, quantity, alpha), count in rates.items():
        df, shift = n - 1, np.sqrt(n / 2) * (0.5 if pair == "better" else 0)
        two_sided = quantity == "p_value"
        at = stats.t.isf(alpha / (1 + two_sided), df)
        power = stats.nct.sf(at, df, shift) + two_sided * stats.nct.cdf(-at, df, shift)
        assert stats.binomtest(count, 2000, power).pvalue > 1e-4, (pair, n, method, quantity)
    wide = rates.unstack("method")
    assert (wide["t_paired"] == wide["t_test"]).loc[:, :, "p_value"].all()
    covered = results.tables["coverage"]
    assert set(covered["method"]) == {"jackknife interval", "t_test"}
    assert all(stats.binomtest(count, 2000, 0.95).pvalue > 1e-4 for count in covered["count"])
    means = results.tables["means"]
    assert_allclose(means["bias"], means["mean"] - means["pair"].map({"equal": 0, "better": 0.5}))
    assert (means["bias"].abs() < 4 * np.sqrt(2 / means["n_units"] / 2000)).all()
    assert {name for table in results.tables.values() for name in table} <= COLUMNS | {"n_units", "pair"}
    page = (results.folder / "README.md").read_text("utf-8")
    assert "![Rates](figures/rates.png)" in page
    study: Any = load_study(tmp_path / "mine")
    left, right = rates_figure(results.tables["rates"], study, "n_units").axes
    assert [ax.get_title(loc="left") for ax in (left, right)] == ["equal systems", "better"]
    assert (len(left.patches), len(right.patches)) == (1, 0)
    assert (left.get_ylabel(), left.get_xlabel()) == ("share: p ≤ 0.05", "n_units")
    assert [text.get_text() for text in left.figure.legends[0].get_texts()] == [
        "t_paired", "t_paired, greater", "t_test",
    ]  # fmt: skip
    # Points of one method have one colour, those of one side one marker.
    looks = {line.get_label(): (line.lines[0].get_color(), line.lines[0].get_marker()) for line in left.containers}
    assert looks["t_paired"][0] == looks["t_paired, greater"][0] != looks["t_test"][0]
    assert looks["t_paired"][1] == looks["t_test"][1] != looks["t_paired, greater"][1]
    (summary,) = results.summary.values()
    assert summary["inside"].astype(int).sum() + summary.get("unclear", pd.Series(0)).astype(int).sum() == 6


@pytest.mark.parametrize(
    ("count", "n_missing", "verdict"),
    [(2, 0, "below"), (16, 0, "unclear"), (50, 10, "inside"), (50, 11, "no verdict"), (70, 0, "unclear"),
     (120, 0, "above")],
)  # fmt: skip
def test_verdicts_are_of_the_interval_if_at_most_a_hundredth_is_missing(
    count: int, n_missing: int, verdict: str
) -> None:
    n = 1000 - min(n_missing, 10)
    interval = stats.binomtest(count, n).proportion_ci(0.95)
    row = rejections(np.repeat([0.05, 0.051, np.nan], [count, n - count, n_missing]), 0.05, 0.0, None)
    assert (row["count"], row["n_sets"], row["n_missing"], row["verdict"]) == (count, n, n_missing, verdict)
    assert_allclose((row["low"], row["high"]), interval, rtol=1e-6)
    expected = {"below": interval.high < 0.025, "above": interval.low > 0.075}
    expected["inside"] = interval.low >= 0.025 and interval.high <= 0.075
    assert expected.get(verdict, not any(expected.values()) or verdict == "no verdict")


def test_intervals_of_type_s_and_type_m_are_by_the_spread_between_groups() -> None:
    rng = np.random.default_rng(5)
    estimate = (rng.normal(1, 0.5, size=(30, 1)) + rng.normal(0, 0.3, size=(30, 20))).ravel()
    row, alone = (rejections(np.full(600, 0.01), 0.05, 0.5, estimate, within) for within in (20, 1))
    for name, numbers in (("type_s", estimate < 0), ("type_m", np.abs(estimate) / 0.5)):
        assert_allclose((row[f"{name}_low"], row[f"{name}_high"]), group_interval(numbers))
        assert row[f"{name}_high"] - row[f"{name}_low"] > 1.3 * (alone[f"{name}_high"] - alone[f"{name}_low"])


def test_type_s_and_type_m_are_of_significant_estimates_beside_a_negative_gain() -> None:
    estimate, p_values = np.repeat([-3.0, 1.0, -50.0], [18, 2, 80]), np.repeat([0.04, 0.5], [20, 80])
    row = rejections(p_values, 0.05, -2.0, estimate)
    assert (row["count"], row["n_wrong"], row["type_s"]) == (20, 2, 0.1)
    assert_allclose(row["type_m"], (18 * 1.5 + 2 * 0.5) / 20)
    assert row.keys().isdisjoint({"verdict", "n_first"})
    without = rejections(p_values, 0.05, 0.0, np.where(estimate == 1, 0, estimate))
    assert (without["n_first"], "n_wrong" in without) == (2, False), "equal scores are not those of the second"
    assert "type_m" not in rejections(p_values[1:], 0.05, -2.0, estimate[1:])
    assert rejections(p_values, 0.05, np.nan, estimate).keys().isdisjoint({"verdict", "type_s"})
    outcome: Any = {"n": 100, "values": {"own": {"p_value": p_values, "estimate": estimate}}, "failures": []}
    assert summarised({"own": outcome}, -2.0, [0.05])["rates"][0]["n_wrong"] == 2


def test_intervals_that_end_at_the_truth_hold_it() -> None:
    """Of four intervals one has 2 inside, one begins at 2, one ends at 2, and one is below 2. A fifth is missing."""
    low, high = np.array([1, 2, 1, 0, np.nan]), np.array([3, 4, 2, 1, np.nan])
    row = coverage(low, high, 2.0)
    assert (row["count"], row["n_sets"], row["n_missing"]) == (3, 4, 1)
    assert row["mean_width"] == 1.5


def test_intervals_of_quantiles_end_at_order_statistics() -> None:
    """The numbers below a quantile are binomial: 3 to 9 of 12 are with probability 0.961, and 4 to 8 with 0.854. Below
    the 0.9 quantile are at least 8 with probability 0.996, at least 9 with 0.974, and all of them with 0.28.
    """
    numbers = np.array([5.0, 12, 1, 9, np.nan, 8, 3, 11, 2, 7, 10, 4, 6])
    row = quantiles(numbers, [0.5, 0.9])
    assert [row[f"quantile_50{end}"] for end in ("", "_low", "_high")] == [6.5, 3, 10]
    assert (row["quantile_90"], row["quantile_90_low"]) == (pytest.approx(10.9), 8)
    assert np.isnan(row["quantile_90_high"])


def test_a_wanted_error_looks_first_at_what_a_rate_that_is_too_high_needs(tmp_path: Path) -> None:
    """0.075 is known to 0.02 from 174 replicates: 4 blocks. A rate of 0.3 needs 525: 4, 8, then 16 blocks."""
    program = """
def generate(condition, rng): return rng.random()
def flip(replicate): return {"is_high": replicate.data < replicate.condition["chance"]}
def slow(replicate): return {"is_low": False}
"""
    keys = """
        tests = ["flip", "slow"]
        alphas = [0.01, 0.05]
        replicates = { most = 1000, block = 50, error = 0.02, of = { slow = 100 } }
        rules = [{ where = { chance = [0.4] }, replicates = 300 }, { where = { chance = [0.9] }, skip = true }]
        factors.chance = [0.0, 0.4, 0.3, 0.9]
        """
    rates = tables_of(folder_of(tmp_path, keys, program))["rates"]
    n_sets = rates.set_index(["method", "chance"])["n_sets"].to_dict()
    flips = {("flip", 0.0): 200, ("flip", 0.4): 300, ("flip", 0.3): 800}
    assert n_sets == flips | {("slow", chance): 100 for chance in (0.0, 0.4, 0.3)}


def test_a_gain_of_the_second_system_is_negative_and_one_of_rounding_is_none(tmp_path: Path) -> None:
    keys = 'tests = ["t_paired"]\nreplicates = { most = 20, block = 20 }\nfixed.n_units = 5\n'
    tables = tables_of(folder_of(tmp_path, keys + "factors.gain = [-0.5, -1e-12, 1e-12, 0.5]\n", PROGRAM))
    assert tables["conditions"]["truth"].tolist() == [-0.5, 0, 0, 0.5]
    rates = tables["rates"].query("quantity == 'p_value'")
    assert rates["verdict"].notna().tolist() == [False, True, True, False]


def test_cautions_are_those_of_compare_and_need_no_replicates(tmp_path: Path) -> None:
    program = """
import simstudy as ss

def compared(replicate): return {"caution": bool(ss.compare(replicate.outputs).frame["caution"].item())}
"""
    keys = """
        tests = ["t_paired", "compared"]
        replicates = { most = 60, block = 30 }
        fixed.model = "Scores"
        fixed.margins = [{ kind = "Gamma", average = 1, shape = 1 }, { kind = "StudentT", average = 1, scale = 0.1 }]
        factors.n_units = [20]
        """
    rates = tables_of(folder_of(tmp_path, keys, program))["rates"].set_index(["quantity", "method"])
    cautions = rates.loc["caution", ["count", "n_sets", "n_missing"]]
    assert cautions.loc["jackknife interval"].tolist() == cautions.loc["compared"].tolist()
    assert 0 < cautions["count"].iloc[0] < 60
    rows: Any = {"rates": [{"quantity": "caution", "low": 0.0, "high": 1.0}], "coverage": [{"low": 0.4, "high": 0.5}]}
    assert_allclose(largest_error(rows), 0.1 / 3.92, rtol=1e-3)


NESTED = """
import numpy as np
from simstudy.studies import by_block

@by_block
def generate(condition, n, rng):
    assert n == 20
    return 0.3 * rng.normal() + rng.normal(size=n)

truth = lambda condition: 0.0

@by_block
def z_test(block):
    estimate, p_value = np.asarray(block.data), np.where(np.asarray(block.data) > 1.2, 0.01, 0.5)
    return {"p_value": p_value, "estimate": estimate, "low": estimate - 1, "high": estimate + 1}
"""


NESTED_KEYS = """
tests = ["z_test"]
replicates = { most = 1000, block = 100, within = 20 }
factors.nothing = [1]
"""


def group_interval(numbers: Any) -> tuple[float, float]:
    """The interval of the mean of group means, which is the mean where groups have equal sizes."""
    means = np.asarray(numbers).reshape(-1, 20).mean(axis=1)
    low, high = stats.t.interval(0.95, len(means) - 1, means.mean(), stats.sem(means))
    return float(low), float(high)


def test_intervals_of_nested_replicates_are_of_group_means_and_never_shorter_than_others(tmp_path: Path) -> None:
    tables = tables_of(folder_of(tmp_path, NESTED_KEYS, NESTED))
    groups = []
    for k in range(50):
        rng = np.random.default_rng(derived_seed(0, "test sets", 1, k))
        groups.append(0.3 * rng.normal() + rng.normal(size=20))
    data = np.array(groups)
    (mean,) = tables["means"].to_dict("records")
    low, high = stats.t.interval(0.95, 999, data.mean(), stats.sem(data.ravel()))
    assert_allclose((mean["mean_low"], mean["mean_high"]), group_interval(data))
    assert mean["mean_high"] - mean["mean_low"] > 1.3 * (high - low)
    for table, yes in (("rates", data > 1.2), ("coverage", np.abs(data) <= 1)):
        (row,) = tables[table].to_dict("records")
        assert row["count"] == yes.sum()
        (least, most), exact = group_interval(yes), stats.binomtest(int(yes.sum()), 1000).proportion_ci(0.95)
        assert_allclose((row["low"], row["high"]), (min(least, exact.low), max(most, exact.high)), rtol=1e-6)
    # Independent replicates, whose spread between groups is small by chance.
    yes = np.tile(np.arange(20) < 5, 10)
    row = rate(yes, np.zeros(200, dtype=bool), 20)
    assert_allclose((row["low"], row["high"]), stats.binomtest(50, 200).proportion_ci(0.95), rtol=1e-6)


def test_missing_replicates_of_groups_weigh_nothing() -> None:
    """The delta method of a ratio: sum of numbers by number of numbers, both by group."""
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=(40, 5)) + rng.normal(size=(40, 1))
    numbers[rng.random((40, 5)) < 0.3] = np.nan
    numbers[7] = np.nan
    row = mean(numbers.ravel(), 5)
    sums, sizes = np.nansum(numbers, axis=1), (~np.isnan(numbers)).sum(axis=1)
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    ratio = sums.sum() / sizes.sum()
    variance = np.cov(np.stack([sums, sizes])) / len(sums) / sizes.mean() ** 2
    error = np.sqrt(variance[0, 0] - 2 * ratio * variance[0, 1] + ratio**2 * variance[1, 1])
    assert (row["n_sets"], row["n_missing"]) == (sizes.sum(), 200 - sizes.sum())
    assert_allclose(row["mean_high"] - row["mean"], stats.t.ppf(0.975, len(sums) - 1) * error)
    assert np.isnan(mean(numbers[:1].ravel(), 5)["mean_low"])
    one = rate(np.array([True, False]), np.zeros(2, dtype=bool), 2)
    assert (one["low"], one["high"]) == (0, 1)


@pytest.mark.statistical
def test_intervals_of_nested_rates_cover() -> None:
    """Rates of groups are from a beta distribution: intervals of independent replicates cover far too rarely."""
    rng = np.random.default_rng(3)
    covered, independent = [], []
    for _ in range(200):
        yes = rng.random((40, 25)) < rng.beta(2, 8, size=(40, 1))
        row = rate(yes.ravel(), np.zeros(1000, dtype=bool), 25)
        exact = stats.binomtest(int(yes.sum()), 1000).proportion_ci(0.95)
        covered.append(row["low"] <= 0.2 <= row["high"])
        independent.append(exact.low <= 0.2 <= exact.high)
    # 95 %, but for the fourth decimal of a binomial distribution.
    assert sum(covered) > 200 * 0.95 - 4.8 * np.sqrt(200 * 0.95 * 0.05)
    assert sum(independent) < 150
