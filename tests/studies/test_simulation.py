"""Simulation studies: shipped counts, nominal rates, what failed, what is computed again, and what is refused."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.studies import StudyError, derived_seed, load_study, make_study
from simstudy.studies.run import run_shard, study_cells
from simstudy.studies.simulation.definition import COLUMNS, Replicates, Simulation
from simstudy.studies.simulation.page import at_first_alpha, rates_figure, sections
from simstudy.studies.simulation.summaries import (
    coverage,
    largest_error,
    mean,
    quantiles,
    rate,
    rejections,
    summarised,
)
from simstudy.studies.templates import new_study
from simstudy.truth import Gamma, ScoreModel, StudentT, right_or_wrong

SHIPPED = Path(__file__).parents[2] / "results" / "error_rates"

HEAD = 'kind = "simulation"\ntitle = "T"\nquestion = "Q?"\n'

# Two systems of normal scores, and tests: with an interval, with failures, and with a line in a file for each call.
PROGRAM = """
import numpy as np
from scipy import stats
from simstudy.studies import by_block

def generate(condition, rng):
    return rng.normal(size=(2, condition["n_units"])) + [[condition["gain"]], [0]]

truth = lambda condition: condition["gain"]

def t_test(replicate):
    result = stats.ttest_rel(*replicate.scores)
    low, high = result.confidence_interval(0.95)
    return {"p_value": result.pvalue, "estimate": (low + high) / 2, "low": low, "high": high}

def picky(replicate):
    if replicate.data[0, 0] < replicate.condition["limit"]:
        raise ValueError("the first score is\\ntoo low")
    return {"is_high": replicate.data[0, 0] > 2, "first": replicate.data[0, 0]}

@by_block
def logged(block):
    with open(block.condition["log"], "a") as file:
        file.write("call\\n")
    p_values = [stats.ttest_rel(*scores).pvalue for scores in block.data]
    return {"p_value": np.array(p_values)}
"""


GOOD = """
tests = ["t_paired"]
replicates = { most = 20, block = 10 }
fixed.model = "Scores"
fixed.margins = [
    { kind = "Gamma", average = 1, shape = 1 },
    { kind = "StudentT", average = 1, scale = 0.5 },
]
factors.n_units = [5, 9]
"""


def folder_of(tmp_path: Path, keys: str, program: str = "") -> Path:
    folder = tmp_path / "mine"
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(HEAD + keys, encoding="utf-8")
    if program:
        (folder / "study.py").write_text(program, encoding="utf-8")
    return folder


def tables_of(folder: Path, n_jobs: int = 1) -> dict[str, pd.DataFrame]:
    return ss.run_study(folder, out=folder.parent / "out", n_jobs=n_jobs).tables


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


def test_lines_are_called_after_what_differs_and_panels_may_be_another_column() -> None:
    factors = {"n_units": [20, 50], "pair": {"x": {"title": "alike"}, "y": {"title": "unlike"}}}
    base = {"name": "small", "kind": "simulation", "title": "T", "question": "Q", "tests": ["sign_flips"]}
    study: Any = make_study(base | {"factors": factors, "replicates": {"most": 500}}, "here", Simulation)
    rows = pd.DataFrame(
        [(n, pair, method) for n in (20, 50) for pair in factors["pair"] for method in ("none", "Holm")],
        columns=["n_units", "pair", "method"],
    ).assign(quantity="any claim", share=np.linspace(0.1, 0.8, 8), low=0.0, high=1.0)
    left, right = rates_figure(rows, study, "n_units", "method").axes
    assert [ax.get_title(loc="left") for ax in (left, right)] == ["none", "Holm"]
    assert left.get_ylabel() == "share: any claim"
    shares = {str(bars.get_label()): bars[0].get_ydata().tolist() for bars in right.containers}
    assert shares == {"alike": pytest.approx([0.2, 0.6]), "unlike": pytest.approx([0.4, 0.8])}
    (ax,) = rates_figure(rows.query("pair == 'x' and method == 'Holm'"), study, "n_units").axes
    assert [bars.get_label() for bars in ax.containers] == ["Holm"]
    assert 0.05 in {y for line in ax.get_lines() for y in line.get_ydata()}, "the level"


def test_the_figure_of_the_page_has_the_rates_at_the_first_level(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 'alphas = [0.5, 0.05]\nx = "n_units"\n' + GOOD)
    tables = tables_of(folder)
    study: Any = load_study(folder)
    (figure,) = [part.figure for part in sections(tables, study) if part.figure]
    (ax,) = figure.draw().axes
    (bars,) = ax.containers
    rates = tables["rates"].query("quantity == 'p_value'").pivot(index="n_units", columns="alpha", values="share")
    assert (rates[0.5] > rates[0.05]).all()
    assert bars[0].get_ydata().tolist() == rates[0.5].tolist()


def test_rates_without_a_level_are_shown_beside_those_at_the_first_level(tmp_path: Path) -> None:
    """A function returns a p-value and a statement: the page has the p-value once, and the statement."""
    program = "def mine(replicate): return {'p_value': replicate.rng.random(), 'is_high': True}\n"
    keys = GOOD.replace("t_paired", "mine").replace("[5, 9]", "[5]")
    folder = folder_of(tmp_path, "alphas = [0.1, 0.2]\n" + keys, program)
    rates, study = tables_of(folder)["rates"], cast(Simulation, load_study(folder))
    assert rates["quantity"].tolist() == ["p_value", "p_value", "is_high"]
    assert at_first_alpha(rates, study).index.tolist() == [0, 2]


def test_a_line_without_the_first_level_begins_at_the_second_place() -> None:
    """Three levels are at 0, 1 and 2; the lines a and b are beside each other, half of 0.12 apart."""
    base = {"name": "small", "kind": "simulation", "title": "T", "question": "Q", "tests": ["sign_flips"]}
    factors = {"n_units": [20, 50, 90]}
    study: Any = make_study(base | {"factors": factors, "replicates": {"most": 500}}, "here", Simulation)
    rows = pd.DataFrame([(20, "a"), (50, "a"), (90, "a"), (50, "b"), (90, "b")], columns=["n_units", "method"]).assign(
        quantity="any claim", share=0.5, low=0.0, high=1.0
    )
    (ax,) = rates_figure(rows, study, "n_units").axes
    places = {str(bars.get_label()): bars[0].get_xdata().tolist() for bars in ax.containers}
    assert places == {"a": pytest.approx([-0.03, 0.97, 1.97]), "b": pytest.approx([1.03, 2.03])}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["20", "50", "90"]


FAILING = """
tests = ["picky"]
replicates = { most = 40, block = 2 }
fixed = { gain = 0.0, n_units = 3 }
factors.limit = [0.5, -99, 99]
"""


def test_failed_replicates_are_missing_counted_and_named(tmp_path: Path) -> None:
    """In many blocks of two both fail: they are not lost."""
    results = ss.run_study(folder_of(tmp_path, FAILING, PROGRAM), out=tmp_path / "out", n_jobs=1)
    tables = results.tables
    rngs = [np.random.default_rng(derived_seed(0, "test sets", 0.5, k)) for k in range(40)]
    firsts = [rng.normal(size=(2, 3))[0, 0] for rng in rngs]
    kept = [first for first in firsts if first >= 0.5]
    failed = [k for k, first in enumerate(firsts) if first < 0.5]
    assert any(k % 2 == 0 and k + 1 in failed for k in failed)
    rate, mean = (tables[name].set_index("limit").loc[0.5] for name in ("rates", "means"))
    for row in (rate, mean):
        assert (row["n_sets"], row["n_missing"]) == (len(kept), len(failed))
    assert rate["count"] == sum(first > 2 for first in kept)
    assert_allclose(mean["mean"], np.mean(kept))
    assert tables["conditions"]["n_failed"].tolist() == [len(failed), 0, 40]
    assert tables["rates"]["limit"].tolist() == [0.5, -99]
    assert tables["failures"][["replicate", "n_failed"]].to_numpy().tolist() == [[failed[0], len(failed)], [0, 40]]
    assert set(tables["failures"]["failure"]) == {"ValueError: the first score is too low"}
    named = results.summary["Errors of functions of study.py"]
    assert named.to_numpy().tolist() == [["picky", "ValueError: the first score is too low", str(len(failed) + 40)]]


BROKEN = """
import numpy as np
from simstudy.studies import by_block

def draw(rng):
    first = rng.random()
    if first < 0.3:
        raise ValueError("the first number is too low")
    return first + np.array([rng.normal(size=5), rng.normal(size=5)])

def generate(condition, rng): return draw(rng)

def size(replicate): return {"n": 1.0}

@by_block
def blocks(block):
    if block.number == 1:
        raise KeyError("second block")
    return {"p_value": np.linspace(0, 1, len(block)), "number": np.arange(block.first, block.first + len(block))}
"""

BROKEN_KEYS = """
tests = ["t_paired", "size", "blocks"]
replicates = { most = 60, block = 20 }
factors.nothing = [1]
"""


def test_replicates_that_generate_does_not_draw_are_missing_for_all_tests(tmp_path: Path) -> None:
    tables = tables_of(folder_of(tmp_path, BROKEN_KEYS, BROKEN))
    firsts = [np.random.default_rng(derived_seed(0, "test sets", 1, k)).random() for k in range(60)]
    failed = [k for k, first in enumerate(firsts) if first < 0.3]
    lost = sorted({*failed, *range(20, 40)})
    n_sets = tables["means"].set_index(["method", "quantity"])[["n_sets", "n_missing"]].apply(tuple, axis=1)
    assert n_sets["size", "n"] == (60 - len(failed), len(failed))
    assert n_sets["observed gain", "estimate"] == n_sets["size", "n"]
    assert n_sets["blocks", "number"] == (60 - len(lost), len(lost))
    means = tables["means"].set_index("method")["mean"]
    assert_allclose(means["blocks"], np.mean([k for k in range(60) if k not in lost]))
    assert set(tables["rates"].dropna(subset="alpha")["n_missing"]) == {len(failed), len(lost)}
    assert tables["conditions"]["n_failed"].tolist() == [2 * len(failed) + len(lost)]
    named = tables["failures"][tables["failures"]["analysis"] == "size"]
    assert named[["replicate", "n_failed"]].to_numpy().tolist() == [[failed[0], len(failed)]]
    of_block = tables["failures"][tables["failures"]["failure"] == "KeyError: 'second block'"]
    first, n_failed = of_block[["replicate", "n_failed"]].to_numpy().tolist()[0]
    assert (len(of_block), first) == (1, min(k for k in range(20, 40) if k not in failed))
    assert n_failed == len(lost) - len(failed)


@pytest.mark.parametrize("within", ["", ", within = 5"])
def test_a_block_or_group_that_generate_does_not_draw_is_missing_and_named_once(tmp_path: Path, within: str) -> None:
    program = BROKEN.replace("def generate(condition, rng): return draw(rng)", """
@by_block
def generate(condition, n, rng):
    return [draw(rng), *rng.normal(size=(n - 1, 2, 5))]
""")  # fmt: skip
    keys = BROKEN_KEYS.replace("most = 60, block = 20", f"most = 120, block = 20{within}").replace(', "blocks"', "")
    tables = tables_of(folder_of(tmp_path, keys, program))
    size = 5 if within else 20
    firsts = [np.random.default_rng(derived_seed(0, "test sets", 1, k)).random() for k in range(120 // size)]
    failed = [k for k, first in enumerate(firsts) if first < 0.3]
    assert 0 < len(failed) < len(firsts)
    assert set(tables["means"]["n_missing"]) == {size * len(failed)}
    failures = tables["failures"][tables["failures"]["analysis"] == "size"]
    assert failures[["replicate", "n_failed"]].to_numpy().tolist() == [[size * failed[0], size * len(failed)]]


def test_wrong_numbers_of_replicates_stop_the_study(tmp_path: Path) -> None:
    program = "from simstudy.studies import by_block\n\n@by_block\ndef generate(condition, n, rng): return [1] * 7\n"
    keys = GOOD.replace("t_paired", "mine")
    folder = folder_of(tmp_path, keys, program + "def mine(replicate): return {'x': 1.0}\n")
    with pytest.raises(RuntimeError, match="generate must return 10 replicates, not 7"):
        tables_of(folder)
    program = "from simstudy.studies import by_block\n\n@by_block\ndef mine(block): return {'x': [1.0] * 3}\n"
    with pytest.raises(RuntimeError, match="mine must return a number for each of the 10 replicates"):
        tables_of(folder_of(tmp_path, keys, program))


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


def test_more_replicates_other_levels_and_titles_draw_nothing_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    keys = f"""
        tests = ["logged"]
        replicates = {{ most = 40, block = 20 }}
        fixed = {{ gain = 0.0, log = '{log}' }}
        factors.n_units = [5, 9]
        factors.kind_of = {{ a = {{ title = "A" }}, b = {{}} }}"""
    first = tables_of(folder_of(tmp_path, keys, PROGRAM))
    assert log.read_text().count("call") == 8
    more = keys.replace("most = 40", "most = 80").replace('"A"', '"B"').replace("[5, 9]", "[9, 5]")
    # Factors and levels in another order too.
    *lines, n_units, kind_of = more.splitlines()
    more = "\n".join(["alphas = [0.5]", *lines, kind_of, n_units])
    second = tables_of(folder_of(tmp_path, more, PROGRAM), n_jobs=2)
    assert log.read_text().count("call") == 16
    assert set(second["rates"]["n_sets"]) == {80}
    fresh = ss.run_study(tmp_path / "mine", out=tmp_path / "fresh", n_jobs=1).tables
    for name, table in second.items():
        pd.testing.assert_frame_equal(table, fresh[name])
    log.write_text("")
    third = tables_of(folder_of(tmp_path, keys, PROGRAM))
    assert log.read_text() == ""
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, third[name])


def test_what_is_left_and_the_time_of_a_block_are_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, GOOD)
    line = r"replicates: 2 conditions of {} blocks, {} cells left, \d+\.\d s for the smallest block\n"
    tables_of(folder)
    assert re.fullmatch(line.format(2, "4 of 4"), capsys.readouterr().err)
    tables_of(folder)
    assert capsys.readouterr().err == ""
    folder_of(tmp_path, GOOD.replace("most = 20", "most = 50"))
    run_shard(folder, (1, 2), out=tmp_path / "out", n_jobs=1)
    n_left = (study_cells(folder, out=tmp_path / "out")["state"] == "missing").sum()
    capsys.readouterr()
    tables_of(folder)
    assert re.fullmatch(line.format(5, f"{n_left} of 10"), capsys.readouterr().err)


def test_a_change_of_study_py_leaves_the_cells_of_registered_tests(tmp_path: Path) -> None:
    program = "def mine(replicate):\n    return {'mean': replicate.outputs.scores[0] + replicate.rng.random()}\n"
    folder = folder_of(tmp_path, GOOD.replace("]", ', "mine"]', 1), program)
    tables_of(folder)
    folder_of(tmp_path, GOOD.replace("]", ', "mine"]', 1), program + "# edited\n")
    states = study_cells(folder, out=tmp_path / "out").set_index("cell")["state"].to_dict()
    expected = {"tests of simstudy": "done", "mine": "missing"}
    assert {name.split(", ")[1]: state for name, state in states.items()} == expected


def test_registered_tests_are_computed_again_when_generate_changes(tmp_path: Path) -> None:
    program = "def generate(condition, rng): return rng.normal(size=(2, 5)) + [[1], [0]]\n"
    keys = "tests = ['t_paired']\nreplicates = { most = 10, block = 5 }\nfactors.copy = [1]\n"
    first = tables_of(folder_of(tmp_path, keys, program))["means"].set_index("quantity").loc["estimate"]
    second = tables_of(folder_of(tmp_path, keys, program.replace("[1]", "[4]")))["means"].set_index("quantity")
    assert_allclose(second.loc["estimate", "mean"] - first["mean"], 3)


HOOKS = """
from simstudy.studies import Cell, Findings

def summarise(study, tables, context):
    assert set(tables) == {"conditions", "rates", "coverage", "means", "failures"}
    cells = [Cell(str(n), (n, context.data_dir)) for n in study.page["aims"]]
    aims = pd.DataFrame({"aim": study.page["aims"], "square": context.run("squares", square, cells)})
    return Findings(tables={"rates": tables["rates"], "aims": aims}, facts={"Aims": "two"}, answers=["Nine."])

def square(n, data_dir):
    with open(data_dir / "log", "a") as file:
        file.write("square\\n")
    return n**2
"""


def with_hooks(tmp_path: Path, aims: str = "[2, 3]") -> Path:
    keys = GOOD.replace("t_paired", "mine") + f"page = {{ aims = {aims}, title = 'Aims' }}\n"
    program = "from .page import show\nfrom .tables import summarise\n"
    program += "def mine(replicate): return {'p_value': replicate.rng.random()}\n"
    folder = folder_of(tmp_path, keys, program)
    (folder / "tables.py").write_text("import pandas as pd\n" + HOOKS)
    (folder / "page.py").write_text(
        "from simstudy.pages.sections import Section, Table\nfrom simstudy.studies import Shown\n"
        "def show(study, tables):\n    table = Table(tables['aims'], {'square': '{square}'})\n"
        "    return Shown(sections=[Section(study.page['title'], 'All aims.', table=table)])\n"
    )
    return folder


def test_summarise_of_study_py_adds_tables_facts_and_answers_and_has_cells(tmp_path: Path) -> None:
    folder = with_hooks(tmp_path)
    results = ss.run_study(folder, out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    assert results.tables["aims"]["square"].tolist() == [4, 9]
    assert set(results.tables) == {"rates", "aims"}
    assert results.answers == ("Nine.",)
    page = (results.folder / "README.md").read_text("utf-8")
    assert "- **Aims**: two" in page
    assert "- **Seed**: 0" in page
    assert (tmp_path / "log").read_text().count("square") == 2
    (folder / "tables.py").write_text((folder / "tables.py").read_text().replace("return n**2", "return n**3"))
    results = ss.run_study(folder, out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    assert results.tables["aims"]["square"].tolist() == [8, 27]


def test_tables_that_summarise_adds_are_beside_those_of_the_kind_and_the_page_is_the_kinds(tmp_path: Path) -> None:
    program = "import pandas as pd\n\ndef summarise(study, tables, context):\n"
    program += "    return tables | {'more': pd.DataFrame({'x': [len(tables['rates']), len(tables['failures'])]})}\n"
    tables = tables_of(folder_of(tmp_path, GOOD, program))
    assert set(tables) == {"conditions", "rates", "coverage", "means", "more"}
    assert tables["more"]["x"].tolist() == [4, 0]
    assert "## Coverage" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_show_of_study_py_replaces_the_page(tmp_path: Path) -> None:
    ss.run_study(with_hooks(tmp_path), out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## Aims", "## Tables"]


def test_values_of_page_and_files_that_work_on_tables_compute_no_replicates_again(tmp_path: Path) -> None:
    folder = with_hooks(tmp_path)
    ss.run_study(folder, out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    with_hooks(tmp_path, "[2, 5]")
    for name in ("page.py", "drawing.py", "tables.py"):
        with (folder / name).open("a") as file:
            file.write("# edited\n")
    cells = study_cells(folder, out=tmp_path / "out", data_dir=tmp_path).groupby("part")["state"].agg(list)
    assert cells["replicates"] == ["done"] * 4
    # An edit of tables.py may change these.
    assert cells["squares"] == ["missing"] * 2
    with (folder / "study.py").open("a") as file:
        file.write("# edited\n")
    assert set(study_cells(folder, out=tmp_path / "out", data_dir=tmp_path)["state"]) == {"missing"}


def test_files_of_a_condition_are_read_from_the_data_folder_and_known_by_content(tmp_path: Path) -> None:
    keys = 'tests = ["center"]\nreplicates = { most = 2, block = 2 }\n'
    keys += "[factors.data]\n" + "".join(f'{name} = {{ files = ["{name}.txt", "both.txt"] }}\n' for name in "ab")
    program = "def generate(condition, rng): return [float(file.path.read_text()) for file in condition['files']]\n"
    folder = folder_of(tmp_path, keys, program + "def center(replicate): return {'mean': sum(replicate.data) / 2}\n")
    here = tmp_path / "here"
    here.mkdir()
    for name, number in (("a", 1), ("b", 2), ("both", 5)):
        (here / f"{name}.txt").write_text(str(number))
    results = ss.run_study(folder, out=tmp_path / "out", data_dir=here, n_jobs=1)
    assert results.tables["means"]["mean"].tolist() == [3.0, 3.5]
    hashes = json.loads((results.folder / "manifest.json").read_text())["data"]["files"]
    assert hashes == {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in here.iterdir()}
    there = here.rename(tmp_path / "there")
    assert study_cells(folder, out=tmp_path / "out", data_dir=there)["state"].tolist() == ["done"] * 2
    (there / "b.txt").write_text("3")
    assert study_cells(folder, out=tmp_path / "out", data_dir=there)["state"].tolist() == ["done", "missing"]
    (there / "a.txt").unlink()
    with pytest.raises(DataError, match="a.txt.*no such file"):
        ss.run_study(folder, out=tmp_path / "out", data_dir=there, n_jobs=1)
    folder_of(tmp_path, keys.replace('["a.txt", "both.txt"]', '"a.txt"'))
    with pytest.raises(ValueError, match="files must be a list of names of data files, not 'a.txt'"):
        ss.run_study(folder, out=tmp_path / "out", data_dir=there, n_jobs=1)


def test_replicates_may_be_objects_that_have_scores_and_more(tmp_path: Path) -> None:
    program = """
import numpy as np
from types import SimpleNamespace
from simstudy.studies import by_block

def generate(condition, rng):
    scores = rng.normal(size=(2, condition["n_units"]))
    return SimpleNamespace(scores=scores, spread=scores.std()) if condition["kind"] == "object" else scores

def gain(replicate): return {"gain": replicate.outputs.scores()[0] - replicate.scores[1].mean()}

@by_block
def more(block): return {"gain": np.subtract(*block.scores.mean(axis=2).T), "same": np.array(
    [isinstance(data, np.ndarray) or data.spread == scores.std() for data, scores in zip(block.data, block.scores)])}
"""
    keys = 'tests = ["t_paired", "gain", "more"]\nreplicates = { most = 20, block = 10 }\ncommon = ["kind"]\n'
    keys += 'factors = { n_units = [5, 9], kind = ["array", "object"] }\n'
    tables = tables_of(folder_of(tmp_path, keys, program))
    for name in ("rates", "means"):
        of_arrays, of_objects = (table.drop(columns="kind") for _, table in tables[name].groupby("kind"))
        pd.testing.assert_frame_equal(of_arrays.reset_index(drop=True), of_objects.reset_index(drop=True))
    assert (tables["rates"].query("quantity == 'same'")["share"] == 1).all()
    means = tables["means"].set_index("method")["mean"]
    assert_allclose(means["gain"], means["more"])


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


def test_a_level_may_set_another_value_than_fixed(tmp_path: Path) -> None:
    keys = GOOD + "fixed.metric = 'mean'\nfactors.pair = { as_fixed = {}, other = { metric = 'ap' } }\n"
    study: Any = load_study(folder_of(tmp_path, keys))
    assert [condition["metric"] for condition in study.conditions()] == ["mean", "ap"] * 2


def test_of_several_rules_the_smallest_number_of_replicates_counts(tmp_path: Path) -> None:
    """In whatever order they are."""
    rules = "rules = [{ where.n_units = [5], replicates = 20 }, { where.n_units = [5, 9], replicates = 10 },"
    rules += " { where.n_units = [9], replicates = 30 }, { where.n_units = [7], replicates = 30 }]\n"
    keys = GOOD.replace("most = 20", "most = 40").replace("[5, 9]", "[5, 7, 9, 11]")
    study: Any = load_study(folder_of(tmp_path, rules + keys))
    assert [study.most_replicates(condition, "t_paired") for condition in study.conditions()] == [10, 30, 10, 40]


def test_each_replicate_has_random_numbers_of_its_own(tmp_path: Path) -> None:
    """They are of its number in the condition, whatever the size of blocks."""
    program = "def mine(replicate): return {'x': replicate.rng.random()}\n"
    keys = GOOD.replace("t_paired", "mine").replace("most = 20, block = 10", "most = 6, block = 2")
    means = tables_of(folder_of(tmp_path, keys, program))["means"].set_index("n_units")["mean"]
    x = [np.random.default_rng(derived_seed(0, "analysis", 9, k)).random() for k in range(6)]
    assert_allclose(means[9], np.mean(x))


def test_a_gain_of_the_second_system_is_negative_and_one_of_rounding_is_none(tmp_path: Path) -> None:
    keys = 'tests = ["t_paired"]\nreplicates = { most = 20, block = 20 }\nfixed.n_units = 5\n'
    tables = tables_of(folder_of(tmp_path, keys + "factors.gain = [-0.5, -1e-12, 1e-12, 0.5]\n", PROGRAM))
    assert tables["conditions"]["truth"].tolist() == [-0.5, 0, 0, 0.5]
    rates = tables["rates"].query("quantity == 'p_value'")
    assert rates["verdict"].notna().tolist() == [False, True, True, False]


def test_tests_are_asked_for_several_units_of_one_draw(tmp_path: Path) -> None:
    """Items and clusters: the observed gains are the same, the p-values are not. Models without clusters have items."""
    keys = """
        tests = ["t_paired", "width"]
        replicates = { most = 50, block = 25 }
        units = ["cluster", "item"]
        fixed = { n_units = 10 }
        [factors.pair]
        answers = { model = "RightOrWrong", accuracies = [0.8, 0.7], within = 0.5, between = 0.5, size = 4 }
        [factors.pair.means]
        model = "Scores"
        margins = [{ kind = "Gamma", average = 1, shape = 1 }, { kind = "StudentT", average = 1, scale = 0.5 }]
        """
    program = "def width(replicate): return {'n': replicate.scores.shape[1], 'x': replicate.rng.random()}\n"
    folder = folder_of(tmp_path, keys, program)
    tables = tables_of(folder)
    assert tables["conditions"][["pair", "unit", "truth"]].to_numpy().tolist() == [
        ["answers", "cluster", pytest.approx(10)], ["answers", "item", pytest.approx(10)], ["means", "item", 0],
    ]  # fmt: skip
    means = tables["means"].set_index(["pair", "quantity", "unit"])["mean"].sort_index()
    for quantity in ("estimate", "x"):
        assert means["answers", quantity, "cluster"] == means["answers", quantity, "item"]
    assert means["answers", "n"].to_dict() == {"cluster": 10, "item": 40}
    widths = tables["coverage"].set_index(["pair", "unit"])["mean_width"].sort_index()
    assert widths["answers", "cluster"] != widths["answers", "item"]
    # One unit alone is the same as it is among others.
    folder_of(tmp_path, keys.replace('["cluster", "item"]', '["item"]'), program)
    alone = tables_of(folder)
    for name, table in tables.items():
        expected = table[table["unit"] == "item"].dropna(axis=1, how="all").reset_index(drop=True)
        pd.testing.assert_frame_equal(alone[name].dropna(axis=1, how="all"), expected)


def test_levels_of_a_common_factor_share_their_replicates(tmp_path: Path) -> None:
    program = """
def generate(condition, rng): return rng.random()
def below(replicate): return {"is_below": replicate.data < replicate.condition["limit"], "draw": replicate.data}
"""
    keys = "tests = ['below']\nreplicates = { most = 80, block = 10 }\ncommon = ['limit']\n"
    keys += "factors.limit = [0.2, 0.6]\nfactors.copy = [1, 2]\n"
    tables = tables_of(folder_of(tmp_path, keys, program))
    means = tables["means"].set_index(["copy", "limit"])["mean"]
    assert means[1].nunique() == means[2].nunique() == 1
    assert means.nunique() == 2


def test_large_blocks_are_drawn_in_parts_from_one_stream(tmp_path: Path) -> None:
    """Of 200,000 units two test sets at a time are in memory."""
    keys = GOOD.replace("t_paired", "first").replace("most = 20, block = 10", "most = 3, block = 3")
    program = "from simstudy.studies import by_block\n\n@by_block\ndef first(block):\n"
    program += "    size, first = [len(block)] * len(block), [block.first] * len(block)\n"
    program += "    return {'score': block.boards.scores()[:, 0], 'size': size, 'first': first}\n"
    folder = folder_of(tmp_path, keys.replace("[5, 9]", "[200_000]"), program)
    means = tables_of(folder)["means"].set_index("quantity")["mean"]
    rng = np.random.default_rng(derived_seed(0, "test sets", 200_000, 0))
    model = ScoreModel([Gamma(1, 1), StudentT(1, 0.5)])
    scores = [model.draw(size, 200_000, rng).statistics[:, 0, :, 0].mean(axis=1) for size in (2, 1)]
    assert_allclose(means["score"], np.concatenate(scores).mean())
    assert_allclose(means[["size", "first"]], [5 / 3, 2 / 3])


def test_parts_of_clusters_are_by_their_items_and_several_systems_have_units_too(tmp_path: Path) -> None:
    """Of 40,000 clusters of 5 items two test sets of two systems at a time are in memory."""
    program = "from simstudy.studies import by_block\n\n@by_block\ndef sizes(block):\n"
    program += "    return {'size': [len(block)] * len(block), 'units': [block.statistics.shape[2]] * len(block)}\n"
    keys = """
        tests = ["sizes"]
        units = ["cluster", "item"]
        replicates = { most = 3, block = 3 }
        rules = [{ where = { n_units = [40_000], systems = ["three"] }, skip = true }]
        fixed = { model = "RightOrWrong", between = 0.5, within = 0.2, size = 5 }
        factors.n_units = [10, 40_000]
        factors.systems = { two = { accuracies = [0.5, 0.5] }, three = { accuracies = [0.5, 0.5, 0.5] } }
        """
    means = tables_of(folder_of(tmp_path, keys, program))["means"]
    means = means.set_index(["n_units", "systems", "unit", "quantity"]).sort_index()
    assert_allclose(means.loc[(40_000, "two", "cluster"), "mean"], [5 / 3, 40_000])
    assert_allclose(means.loc[(40_000, "two", "item"), "mean"], [5 / 3, 200_000])
    for systems in ("two", "three"):
        assert_allclose(means.loc[(10, systems, "cluster"), "mean"], [3, 10])
        assert_allclose(means.loc[(10, systems, "item"), "mean"], [3, 50])


@pytest.mark.parametrize("k", ["[2, 6]", "[6, 2]"])
def test_k_systems_are_drawn_by_a_model_of_study_py(tmp_path: Path, k: str) -> None:
    program = """
from simstudy.studies import by_block
from simstudy.truth import Bernoulli, GaussianCopula, ScoreModel

def model(condition):
    return ScoreModel([Bernoulli(0.7)] * condition["k"], GaussianCopula(0.5), metric="accuracy")

@by_block
def range_of(block):
    p_values = block.boards.p_values("sign_flips")
    return {"best": {"p_value": p_values.min(axis=1)}, "shape": {"pairs": [p_values.shape[1]] * len(block)}}
"""
    keys = f"tests = ['range_of']\nreplicates = {{ most = 300, block = 100 }}\nfixed.n_units = 40\nfactors.k = {k}\n"
    tables = tables_of(folder_of(tmp_path, keys, program))
    shares = tables["rates"].set_index("k")["share"]
    assert shares[6] > 2 * shares[2]
    assert tables["means"].set_index("k")["mean"].to_dict() == {2: 1, 6: 15}
    assert "verdict" not in tables["rates"]


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


def test_without_rates_of_tests_that_apply_there_is_no_figure(tmp_path: Path) -> None:
    """McNemar's test is of right and wrong answers; cautions are no line of the figure."""
    tables = tables_of(folder_of(tmp_path, 'x = "n_units"\n' + GOOD.replace("t_paired", "mcnemar")))
    assert set(tables["rates"]["quantity"]) == {"caution"}
    assert "figures" not in (tmp_path / "out" / "README.md").read_text("utf-8")


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


def test_a_model_is_made_once_for_each_group_and_groups_do_not_depend_on_blocks(tmp_path: Path) -> None:
    program = """
from simstudy.truth import right_or_wrong

def model(condition, rng):
    return right_or_wrong([rng.uniform(0.2, 0.8)] * 2, between=0.5)

def truth(condition): return 0.0

def first(replicate): return {"score": replicate.scores[0].mean()}
"""
    keys = """
        tests = ["t_paired", "first"]
        replicates = { most = 40, block = 20, within = 10 }
        fixed.n_units = 50
        factors.nothing = [1]
        """
    folder = folder_of(tmp_path, keys, program)
    tables = tables_of(folder)
    scores = []
    for k in range(4):
        rng = np.random.default_rng(derived_seed(0, "test sets", 1, k))
        model = right_or_wrong([rng.uniform(0.2, 0.8)] * 2, between=0.5)
        scores.append(100 * model.draw(10, 50, rng).statistics[:, 0, :, 0].mean(axis=1))
    means = tables["means"].set_index("method")["mean"]
    assert_allclose(means["first"], np.mean(scores))
    assert tables["rates"]["verdict"].notna().sum() == 1
    one_block = tables_of(folder_of(tmp_path, keys.replace("block = 20", "block = 40"), program))
    pd.testing.assert_frame_equal(one_block["means"], tables["means"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"t_paired"', '"t_pared"', "tests must be tests of simstudy, or functions of a study.py .*, not 't_pared'"),
        ("factors.n_units", "factors.share", "factors must not be called as a column of the tables is, not 'share'"),
        ("[5, 9]", "[5, 5]", r"factors.n_units: it must have each level once, not \[5, 5\]"),
        ("[5, 9]", "5", "factors.n_units: it must be a list of numbers and texts, or tables of values with a name"),
        ("most = 20", "most = 25", "replicates, most must be a multiple of block, which is 10, not 25"),
        ("[5, 9]", "[1, 9]", "n_units 1: n_units must be a whole number of at least 2, in factors or fixed, not 1"),
        ("fixed.model", "fixed.spred = 0.5\nfixed.model", "n_units 5, n_units 9: spred: Scores has no such parameter"),
        ("fixed.margins", "fixed.nulls", "nulls: Scores has no such parameter"),
        ('"Scores"', '"Normal"', "n_units 5, n_units 9: model must be one of Responses, .*, not 'Normal'"),
        ("fixed.margins = [", 'fixed.margins = [\n{ kind = "Gamma", average = 1, shape = 1 },',
         "n_units 5, n_units 9: tests of simstudy compare two systems, not 3; ask about several systems in a function"),
        ("tests", "x = 'unit'\ntests", "x must be one of n_units, not 'unit'"),
        ("tests", "rules = [{ where = { n_units = [7] }, skip = true }]\ntests", "rules.where.n_units must be levels"),
        ("tests", "rules = [{ where = { n_units = [5, 9] }, skip = true }]\ntests", "rules must leave a condition"),
        ("block = 10", "block = 10, of = { t_paired = 10 }", "replicates.of must be one of"),
        ("factors.", "factors.a = { b = { n_units = 3 } }\nfactors.", "factors must not set n_units twice, as a"),
        ("block = 10", "block = 10, within = 3", "replicates, block must be a multiple of within, which is 3"),
        ("block = 10", "block = 10, within = 5", "replicates, within needs a function model or generate in study.py"),
        ("tests", "units = ['clusters']\ntests", r"units.0: it must be one of item, cluster, not 'clusters'"),
    ],
)  # fmt: skip
def test_wrong_keys_are_refused_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    folder = folder_of(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(StudyError, match=message) as caught:
        tables_of(folder)
    assert "\n" not in str(caught.value)


def test_a_test_that_applies_in_no_condition_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = GOOD.replace('["t_paired"]', '["t_paired", "mcnemar"]')
    run = ss.run_study(load_study(folder_of(tmp_path, keys)), out=tmp_path / "out", n_jobs=1)
    assert set(run.tables["rates"]["method"]) == {"t_paired", "jackknife interval"}
    assert "tests that apply in no condition: mcnemar" in capsys.readouterr().err
    assert "**Tests that apply in no condition**: mcnemar" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_values_are_parameters_of_the_model_or_values_that_study_py_reads(tmp_path: Path) -> None:
    keys = GOOD.replace("t_paired", "mine").replace("fixed.model", "fixed.limit = 2.0\nfixed.model")
    mine = "def mine(replicate): return {'is_high': replicate.scores[0].max() > replicate.condition['limit']}\n"
    assert tables_of(folder_of(tmp_path, keys, mine))["rates"]["count"].notna().all()
    wrong = keys.replace("fixed.limit = 2.0", "fixed.limit = 2.0\nfixed.spred = 0.5")
    for program in (mine, f"{mine}spreds = 2\n"):
        with pytest.raises(StudyError, match="spred: Scores has no such parameter"):
            tables_of(folder_of(tmp_path, wrong, program))
    for reader in ("truth(condition): return 0.0", "generate(condition, rng): return rng.normal(size=(2, 9))"):
        tables_of(folder_of(tmp_path, wrong, f"{mine}def {reader}\n"))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("3", "mine must return {quantity: number} or {method: {quantity: number}}, not 3"),
        ("{'p_value': 'low'}", "mine, p_value must be a number, or True or False: could not convert"),
        ("{'a': {'x': 1}, 'b': 1}", "mine must return {quantity: number} or"),
        ("{'x': True if replicate.rng.random() < 0.5 else 1.0}", ""),
    ],
)
def test_what_a_test_returns_is_checked(tmp_path: Path, returned: str, message: str) -> None:
    folder = folder_of(tmp_path, GOOD.replace("t_paired", "mine"), f"def mine(replicate):\n    return {returned}\n")
    if not message:
        assert set(tables_of(folder)["means"]["mean"]) == {1.0}
        return
    with pytest.raises(RuntimeError, match=re.escape(message)):
        tables_of(folder)


def test_the_template_explains_every_key_and_runs_as_it_is(tmp_path: Path) -> None:
    text = new_study(tmp_path / "mine", "simulation")[0].read_text("utf-8")
    every = tomllib.loads(re.sub(r"^#(?=[a-z_]+ = |\[)", "", text, flags=re.MULTILINE))
    assert {*every, "name"} == {*Simulation.model_fields}
    assert {*every["replicates"]} == {*Replicates.model_fields}
    results = ss.run_study(tmp_path / "mine", out=tmp_path / "out", n_jobs=1)
    rates = results.tables["rates"].query("alpha == 0.05").set_index(["method", "pair"])["share"]
    assert set(rates.index.get_level_values(0)) == {"t_paired", "wilcoxon", "trimmed_t"}
    # Differences of the same distribution are symmetric.
    assert rates["trimmed_t", "alike"].between(0.02, 0.09).all()
    assert (rates["trimmed_t", "skewed"] > 0.075).all()
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert 'src="data:image/svg+xml;base64,' in page


def test_a_program_is_executed_for_a_folder_only(tmp_path: Path) -> None:
    program = "from pathlib import Path\n(Path(__file__).parent / 'executed').touch()\n"
    folder = folder_of(tmp_path, GOOD, program)
    with pytest.raises(StudyError, match=r"name its folder, .*, to run the study\.py in it$"):
        load_study(folder / "study.toml")
    assert not (folder / "executed").exists()
    load_study(folder)
    assert (folder / "executed").exists()
    (folder / "study.py").write_text("1 / 0\n")
    with pytest.raises(StudyError, match=r"study\.py, line 1: ZeroDivisionError: division by zero$"):
        load_study(folder)
    (folder / "study.py").unlink()
    assert set(tables_of(folder / "study.toml")) == {"conditions", "rates", "coverage", "means"}
