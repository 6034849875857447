"""Replicates of simulation studies: what draws them, what they have in common, and what is computed again."""

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

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.studies import derived_seed, load_study
from simstudy.studies.run import run_shard, study_cells
from simstudy.truth import Gamma, ScoreModel, StudentT, right_or_wrong
from tests.studies.simulation.folders import GOOD, PROGRAM, folder_of, tables_of


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
