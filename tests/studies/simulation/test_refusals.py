"""Failures and mistakes in simulation studies: missing replicates are counted and named, wrong keys are refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import simstudy as ss
from simstudy.studies import StudyError, derived_seed, load_study
from tests.studies.simulation.folders import GOOD, PROGRAM, folder_of, tables_of

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
