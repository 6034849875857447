"""Several comparisons of two systems: each part has the numbers of its own test set, whichever system leads there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.comparisons.paper import counted_significant
from simstudy.examination import Examination
from simstudy.examination.rows import may_be_best
from simstudy.examination.several import Several
from simstudy.examination.several_printed import (
    SIGNIFICANT,
    TABLE,
    _facts,
    _notes,
    answer,
    claims,
    part_rows,
    scores_by_part,
    signed,
)
from tests.statistics.test_proportions import by_quartic

# Items that only "new" has right, and that only "old" has, of 40; both have 20 more.
ONLY = {"x": (10, 0), "y": (2, 10), "z": (3, 3)}


@pytest.mark.parametrize("alpha", [0.002, 0.05, 0.2])
def test_each_part_is_told_from_the_side_of_its_better_system(alpha: float) -> None:
    """New leads on x, old on y, and on z they are equal; p-values are McNemar's, and Holm's correction is by hand."""
    parts, p = [], []
    for name, (new, old) in ONLY.items():
        right = {"old": np.arange(40) < 20, "new": np.arange(40) < 20}
        right["new"][20 : 20 + new] = right["old"][40 - old :] = True
        outputs = ss.Outputs.from_scores(pd.DataFrame(right), "accuracy", test_set=name)
        parts.append(ss.examine(outputs, alpha=alpha))
        p.append(stats.binomtest(new, new + old).pvalue)
    found = Several(tuple(parts))
    table = found.table
    assert table["test_set"].tolist() == [*ONLY]
    assert {*table["system_1"]} | {*table["system_2"]} == {"old", "new"}
    of = {table[f"system_{k}"][0]: table[f"score_{k}"].tolist() for k in (1, 2)}
    assert of["new"] == pytest.approx([2.5 * (20 + new) for new, _ in ONLY.values()])
    assert of["old"] == pytest.approx([2.5 * (20 + old) for _, old in ONLY.values()])
    assert table["better"].fillna("").tolist() == ["new", "old", ""]
    assert table["gain"].tolist() == pytest.approx([25.0, 20.0, 0.0])
    ends = [100 * np.array(by_quartic(max(one), min(one), 40, 0.95)) for one in ONLY.values()]
    np.testing.assert_allclose(table[["gain_low", "gain_high"]], ends)
    assert table["p_value"].tolist() == pytest.approx(p)
    holm = [min(1.0, 3 * p[0]), min(1.0, max(3 * p[0], 2 * p[1])), 1.0]
    assert p == sorted(p)
    assert table["p_holm_parts"].tolist() == pytest.approx(holm)
    assert table["significant"].tolist() == [one <= alpha for one in p]
    sure = [one <= alpha for one in holm]
    assert sure != table["significant"].tolist() or alpha == 0.2
    levels = Several(tuple(replace(part, alpha=level) for part, level in zip(parts, (0.001, 0.2, 0.2), strict=True)))
    assert levels.table["significant"].tolist() == [False, True, False], "each at its own level"
    rows = part_rows(found)
    for level, name, texts in ((0.00586, "p (Holm)", ["0.005859", "0.0771", "1.000"]),
                               (0.0386, "p", ["0.00195", "0.03857", "1.000"])):  # fmt: skip
        close = Several(tuple(replace(part, alpha=level) for part in parts))
        assert part_rows(close)[name].tolist() == texts, "no p-value reads as the level that it is below"
    assert rows[SIGNIFICANT].tolist() == ["yes" if one else "no" for one in sure]
    assert rows["better"].tolist() == ["new", "old", "none"]
    assert rows["gain"].tolist() == ["25.00", "20.00", "0.00"]
    assert rows["95 %"].tolist() == [f"{low:.2f} to {high:.2f}" for low, high in ends]
    counted = f"differ significantly in {sum(sure)} of 3 comparisons (at {alpha:g}, Holm for the 3 tests)."
    assert counted in answer(found)
    assert counted in found.text
    assert f"each p must be at most {alpha:g}." in claims(found)
    text = found.to_markdown()
    marks = ["‡" if one <= alpha / 5 else "†" if one <= alpha else "" for one in p]
    lines = [line for line in text.split("\n") if line.startswith(("| x ", "| y ", "| z "))]
    gains = [re.sub(r"\|.*\| (new|old|none) \| ([0-9.]+[†‡]?) \|.*", r"\1 \2", line) for line in lines]
    assert gains == [f"new 25.0{marks[0]}", f"old 20.0{marks[1]}", f"none 0.0{marks[2]}"]
    # Of five comparisons and more the table alone has the numbers.
    numbers = "95 % confidence interval of the gain"
    assert [text.count(numbers), Several(found.parts * 2).to_markdown().count(numbers)] == [3, 0]
    assert [section.heading for section in found._page("c", [*ONLY]).sections] == [TABLE]
    said = re.findall(r"\b([xyz]): (new is better than old|old is better than new|[^:]* is not significant)", text)
    assert [(name, "not significant" not in what) for name, what in said] == [
        (name, one <= alpha) for name, one in zip("xy", p, strict=False)
    ]
    assert re.findall(r"(?<!\d)0\.05(?!\d)", text + found.text) == [] or alpha == 0.05


def test_systems_that_are_called_like_a_column_have_one_of_their_own() -> None:
    """Each row has the digits of its own metric."""
    right = pd.DataFrame({"gain": np.arange(40) < 30, "p": np.arange(40) < 20})
    outputs = ss.Outputs.from_scores(right, "accuracy")
    parts = [ss.examine(outputs.take(np.arange(n))) for n in (40, 36)]
    rows = part_rows(Several((*parts, ss.examine(ss.Outputs.from_scores(right.astype(float), "mean")))))
    assert rows["gain (2)"].tolist() == ["75.00", f"{100 * 30 / 36:.2f}", "0.7500"]
    assert rows["p (2)"].tolist() == ["50.00", f"{100 * 20 / 36:.2f}", "0.5000"]
    assert rows["gain"].tolist() == ["25.00", f"{100 * 10 / 36:.2f}", "0.2500"]


def test_one_signature_is_for_all_comparisons_of_a_metric() -> None:
    """It has the most resamples; of comparisons with unlike seeds it is that of the first."""
    outputs = replace(ss.truth.correlated_accuracies([0.6, 0.7], 60), test_set="")
    few, many, other = (
        ss.examine(outputs, n_resamples=n, monte_carlo=True, seed=seed) for n, seed in ((99, 1), (300, 1), (99, 2))
    )
    assert signed(Several((few, many))) == {"Signature": many.pairs.signature()}
    assert signed(Several((few, other))) == {"Signature": f"{few.pairs.signature()} (first row)"}


@pytest.fixture(scope="module")
def unlike() -> Several:
    """Four systems by accuracy on x, and four, of which one is another, by a mean on documents of y."""
    right = pd.DataFrame({name: np.arange(60) < n for name, n in zip("abcd", (54, 49, 45, 42), strict=True)})
    x = ss.Outputs.from_scores(right, "accuracy", test_set="x")
    values = np.random.default_rng(1).normal([0.1, 0.5, 0.3, 0.42], 0.05, (40, 4))
    items = pd.DataFrame({"id": range(40), "doc": np.arange(40) // 2})
    y = ss.Outputs.from_scores(pd.DataFrame(values, columns=list("bcde")), "mean", test_set="y", items=items)
    first = ss.examine(ss.TestSet(x, notes=("of both", "of x")), alpha=0.2)
    second = ss.TestSet(y, unit="doc", notes=("of both",))
    return Several((first, ss.examine(second, alpha=0.2, test="t_paired", seed=3)))


def test_comparisons_of_many_systems_have_each_their_own_numbers(unlike: Several) -> None:
    boards = [part.leaderboard for part in unlike.parts]
    best = [board.loc[board["may_be_best"], "system"].tolist() for board in boards]
    sure = [int((part.pairs["p_holm"] <= 0.2).sum()) for part in unlike.parts]
    assert (best, sure[0]) == ([["a", "b"], ["c"]], 4), "of x five are significant alone, and two at 0.05"
    expected = pd.DataFrame(
        {"metric": ["accuracy", "mean"], "test_set": ["x", "y"], "n_items": [60, 40], "n_systems": 4,
         "n_may_be_best": [2, 1], "may_be_best": ["a, b", "c"], "n_pairs": 6, "n_significant": sure}
    )  # fmt: skip
    pd.testing.assert_frame_equal(unlike.table, expected)
    every = pd.concat([board.assign(metric=metric, test_set=name) for board, metric, name in zip(
        boards, ("accuracy", "mean"), "xy", strict=True)], ignore_index=True)  # fmt: skip
    pd.testing.assert_frame_equal(unlike.scores, every[[*unlike.scores]])
    assert part_rows(unlike).to_numpy().tolist() == [
        ["x", "accuracy", "60", "60", "2 of 4: a, b", f"{sure[0]} of 6"],
        ["y", "mean", "40", "20", "1 of 4: c", f"{sure[1]} of 6"],
    ]  # fmt: skip
    y = dict(zip(boards[1]["system"], boards[1]["score"], strict=True))
    assert scores_by_part(unlike).to_numpy().tolist() == [
        ["a", "90.00 (1)", ""], ["b", "81.67 (2)", f"{y['b']:.4f} (4)"], ["c", "75.00 (3)", f"{y['c']:.4f} (1)"],
        ["d", "70.00 (4)", f"{y['d']:.4f} (3)"], ["e", "", f"{y['e']:.4f} (2)"],
    ]  # fmt: skip
    tied = replace(unlike.parts[1])
    vars(tied)["leaderboard"] = boards[1].assign(rank=[1, 2, 2, 4])
    ranks = scores_by_part(Several((unlike.parts[0], tied))).iloc[:, 2].str.partition(" ")[2]
    assert ranks.tolist() == ["", "(4)", "(1)", "(2)", "(2)"]
    assert answer(unlike) == "No system may be the best in each of the 2 comparisons (95 % confidence in each)."
    assert claims(unlike).endswith("systems of one row: nothing is corrected for the 2 rows.")
    assert _notes(unlike)[:2] == ["of both", "x accuracy: of x"]
    silent = replace(unlike.parts[1], test_set=replace(unlike.parts[1].test_set, notes=()))
    assert _notes(Several((*unlike.parts, silent)))[:2] == ["x accuracy, y mean: of both", "x accuracy: of x"]
    assert re.fullmatch(r"sign-flip test .*\(x accuracy\); paired t test .*\(y mean\)", _facts(unlike)["Test"])
    told = unlike.to_markdown()
    for name, part in zip(("x accuracy", "y mean"), unlike.parts, strict=True):
        assert f"{name}: {may_be_best(part.leaderboard)} {counted_significant(part.pairs.frame, 0.2)}" in told
        assert f" ({name}) with the" in told
    assert "The units are 60 items (x accuracy), 20 clusters (doc) with 40 items in all (y mean)." in told


def test_json_and_folders_of_several_have_the_settings_of_each(
    unlike: Several, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for found, part in zip(json.loads(unlike.to_json()), unlike.parts, strict=True):
        assert found == json.loads(part.to_json())
    assert [one["settings"] for one in json.loads(unlike.to_json({"asked": 1}))] == [
        {"asked": 1, "metric": "accuracy", "domain": "x"}, {"asked": 1, "metric": "mean", "domain": "y"},
    ]  # fmt: skip
    written: dict[str, dict[str, Any]] = {}

    def write(part: Examination, folder: Path, **given: Any) -> None:
        folder.mkdir()
        written[folder.name] = {"part": part, **given}

    monkeypatch.setattr(Examination, "write", write)
    parts = tuple(replace(part, files={f"{k}.csv": "0a" * 32}) for k, part in enumerate(unlike.parts))
    Several(parts).write(tmp_path / "out", command="c", settings={"seed": 8}, figures="svg", baseline="b")
    assert written == {
        f"{name}_{metric}": {
            "part": part, "command": "c", "figures": "svg", "baseline": "b",
            "settings": {**part.settings, "seed": 8, "metric": metric, "domain": name},
        }
        for name, metric, part in zip("xy", ("accuracy", "mean"), parts, strict=True)
    }  # fmt: skip
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert re.findall("(?m)^## (.*)", page)[:2] == [TABLE, "Scores"]
    assert "- [x accuracy](x_accuracy/README.md)\n- [y mean](y_mean/README.md)" in page
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["data"]["files"] == {f"{k}.csv": "0a" * 32 for k in (0, 1)}
    assert "with b" in (tmp_path / "out" / "paper" / "scores.tex").read_text("utf-8")
