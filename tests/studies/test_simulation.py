"""Simulation studies: shipped counts, nominal rates, what failed, what is computed again, and what is refused."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.studies import StudyError, derived_seed, load_study, pair_model
from simstudy.studies.run import study_cells
from simstudy.studies.simulation.definition import COLUMNS
from simstudy.studies.simulation.page import rates_figure
from simstudy.studies.simulation.summaries import rejections, summarised

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
fixed = { model = "SkewedMeans", spread = 0.5 }
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
        [factors.condition]
        accuracy = { model = "RightOrWrong", accuracies = [0.8, 0.8], between = 0.5 }
        accuracy_gain = { model = "RightOrWrong", accuracies = [0.83, 0.8], between = 0.5 }
        f1 = { model = "Responses", recall = [0.7, 0.7], precision = [0.75, 0.75] }
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
    assert n_rates > 50
    shipped = pd.read_csv(SHIPPED / "coverage.csv")
    covered = tables["coverage"].merge(shipped, on=["condition", "n_units"], suffixes=("", "_shipped"))
    assert len(covered) == 6
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
    rates = results.tables["rates"].set_index(["pair", "n_units", "method", "quantity", "alpha"])["count"]
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
    (summary,) = results.summary.values()
    assert summary["inside"].astype(int).sum() + summary.get("unclear", pd.Series(0)).astype(int).sum() == 6


FAILING = """
tests = ["picky"]
replicates = { most = 40, block = 2 }
fixed = { gain = 0.0, n_units = 3 }
factors.limit = [0.5, -99, 99]
"""


def test_failed_replicates_are_missing_counted_and_named(tmp_path: Path) -> None:
    """In many blocks of two both fail: they are not lost."""
    tables = tables_of(folder_of(tmp_path, FAILING, PROGRAM))
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
    assert tables["failures"]["replicate"].tolist() == [*failed[:5], *range(5)]
    assert set(tables["failures"]["failure"]) == {"ValueError: the first score is too low"}


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


def test_type_s_and_type_m_are_of_significant_estimates_beside_a_negative_gain() -> None:
    estimate, p_values = np.repeat([-3.0, 1.0, -50.0], [18, 2, 80]), np.repeat([0.04, 0.5], [20, 80])
    row = rejections(p_values, 0.05, -2.0, estimate)
    assert (row["count"], row["n_wrong"], row["type_s"]) == (20, 2, 0.1)
    assert_allclose(row["type_m"], (18 * 1.5 + 2 * 0.5) / 20)
    assert "verdict" not in row
    assert "type_m" not in rejections(p_values[1:], 0.05, -2.0, estimate[1:])
    assert rejections(p_values, 0.05, np.nan, estimate).keys().isdisjoint({"verdict", "type_s"})
    outcome: Any = {"n": 100, "values": {"own": {"p_value": p_values, "estimate": estimate}}, "failures": []}
    assert summarised({"own": outcome}, -2.0, [0.05])["rates"][0]["n_wrong"] == 2


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


def test_a_change_of_study_py_leaves_the_cells_of_registered_tests(tmp_path: Path) -> None:
    program = "def mine(replicate):\n    return {'mean': replicate.outputs.scores[0] + replicate.rng.random()}\n"
    folder = folder_of(tmp_path, GOOD.replace("]", ', "mine"]', 1), program)
    tables_of(folder)
    folder_of(tmp_path, GOOD.replace("]", ', "mine"]', 1), program + "# edited\n")
    states = study_cells(folder, out=tmp_path / "out").set_index("cell")["state"].to_dict()
    expected = {"tests of simstudy": "done", "mine": "missing"}
    assert {name.split(", ")[1]: state for name, state in states.items()} == expected


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
    assert tables["more"]["x"].tolist() == [2, 0]
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


def test_a_wanted_error_looks_first_at_what_a_rate_that_is_too_high_needs(tmp_path: Path) -> None:
    """0.075 is known to 0.02 from 174 replicates: 4 blocks. A rate of 0.3 needs 525: 4, 8, then 16 blocks."""
    program = """
def generate(condition, rng): return rng.random()
def flip(replicate): return {"is_high": replicate.data < replicate.condition["chance"]}
def slow(replicate): return {"is_low": False}
"""
    keys = """
        tests = ["flip", "slow"]
        replicates = { most = 1000, block = 50, error = 0.02, of = { slow = 100 } }
        rules = [{ where = { chance = [0.4] }, replicates = 300 }, { where = { chance = [0.9] }, skip = true }]
        factors.chance = [0.0, 0.4, 0.3, 0.9]
        """
    rates = tables_of(folder_of(tmp_path, keys, program))["rates"]
    n_sets = rates.set_index(["method", "chance"])["n_sets"].to_dict()
    flips = {("flip", 0.0): 200, ("flip", 0.4): 300, ("flip", 0.3): 800}
    assert n_sets == flips | {("slow", chance): 100 for chance in (0.0, 0.4, 0.3)}


def test_levels_of_a_common_factor_share_their_replicates(tmp_path: Path) -> None:
    """Items and clusters of one draw: the observed gains are the same, the p-values are not."""
    keys = """
        tests = ["t_paired"]
        replicates = { most = 50, block = 50 }
        common = ["unit"]
        fixed = { n_units = 10, model = "Clusters", accuracies = [0.8, 0.7], within = 0.5, between = 0.5, size = 4 }
        factors.unit = ["cluster", "item"]
        """
    tables = tables_of(folder_of(tmp_path, keys))
    assert tables["means"]["mean"].nunique() == 1
    assert tables["coverage"]["mean_width"].nunique() == 2
    assert_allclose(tables["conditions"]["truth"], 10)


def test_large_blocks_are_drawn_in_parts_from_one_stream(tmp_path: Path) -> None:
    """Of 200,000 units two test sets at a time are in memory."""
    keys = GOOD.replace("t_paired", "first").replace("most = 20, block = 10", "most = 3, block = 3")
    program = "from simstudy.studies import by_block\n\n@by_block\ndef first(block):\n"
    program += "    size, first = [len(block)] * len(block), [block.first] * len(block)\n"
    program += "    return {'score': block.boards.scores()[:, 0], 'size': size, 'first': first}\n"
    folder = folder_of(tmp_path, keys.replace("[5, 9]", "[200_000]"), program)
    means = tables_of(folder)["means"].set_index("quantity")["mean"]
    rng = np.random.default_rng(derived_seed(0, "test sets", 200_000, 0))
    model = pair_model("SkewedMeans", {"spread": 0.5})
    scores = [model.draw(size, 200_000, rng).statistics[:, 0, :, 0].mean(axis=1) for size in (2, 1)]
    assert_allclose(means["score"], np.concatenate(scores).mean())
    assert_allclose(means[["size", "first"]], [5 / 3, 2 / 3])


def test_k_systems_are_drawn_by_a_model_of_study_py(tmp_path: Path) -> None:
    program = """
from simstudy.studies import by_block
from simstudy.truth.scores import Bernoulli, GaussianCopula, ScoreModel

def model(condition):
    return ScoreModel([Bernoulli(0.7)] * condition["k"], GaussianCopula(0.5), metric="accuracy")

@by_block
def range_of(block):
    p_values = block.boards.p_values("sign_flips")
    return {"best": {"p_value": p_values.min(axis=1)}, "shape": {"pairs": [p_values.shape[1]] * len(block)}}
"""
    keys = "tests = ['range_of']\nreplicates = { most = 300, block = 100 }\nfixed.n_units = 40\nfactors.k = [2, 6]\n"
    tables = tables_of(folder_of(tmp_path, keys, program))
    shares = tables["rates"].set_index("k")["share"]
    assert shares[6] > 2 * shares[2]
    assert tables["means"].set_index("k")["mean"].to_dict() == {2: 1, 6: 15}
    assert "verdict" not in tables["rates"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"t_paired"', '"t_pared"', "tests must be one of .*, not 't_pared' .did you mean 't_paired'"),
        ("factors.n_units", "factors.share", "factors must have names .* that no column has, not 'share'"),
        ("[5, 9]", "[5, 5]", r"factors.n_units: it must have each level once, not \[5, 5\]"),
        ("[5, 9]", "5", "factors.n_units: it must be a list of numbers and texts, or tables of values with a name"),
        ("most = 20", "most = 25", "replicates, most must be a multiple of block, which is 10, not 25"),
        ("[5, 9]", "[1, 9]", "n_units 1: n_units must be a whole number of at least 2, in factors or fixed, not 1"),
        ("spread = 0.5", "spred = 0.5", "n_units 5, n_units 9: spred: SkewedMeans has no such parameter"),
        (", spread = 0.5", "", "must have the parameters of SkewedMeans: .* missing .* 'spread'"),
        ('"SkewedMeans"', '"Normal"', "n_units 5, n_units 9: model must be one of Acceptances, .*, not 'Normal'"),
        ("tests", "x = 'unit'\ntests", "x must be one of n_units, not 'unit'"),
        ("tests", "rules = [{ where = { n_units = [7] }, skip = true }]\ntests", "rules.where.n_units must be levels"),
        ("tests", "rules = [{ where = { n_units = [5, 9] }, skip = true }]\ntests", "rules must leave a condition"),
        ("block = 10", "block = 10, of = { t_paired = 10 }", "replicates.of must be one of"),
    ],
)  # fmt: skip
def test_wrong_keys_are_refused_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    folder = folder_of(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(StudyError, match=message) as caught:
        tables_of(folder)
    assert "\n" not in str(caught.value)


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
