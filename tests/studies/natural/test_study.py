"""A study of natural comparisons from files to its folder, each number made again from the API's public parts."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.curves import curve
from simstudy.comparisons.ranks import ranks
from simstudy.comparisons.relation_classes import related
from simstudy.comparisons.significant_gains import significant_gains
from simstudy.files.datasets import DataError
from simstudy.outputs import Outputs
from simstudy.studies import Results, StudyError
from tests.oracles import compared
from tests.studies.natural.small import ANSWERS, EXAMS, MEASURES, Make

KEPT = [f"s{k:02}" for k in range(12)]
"""Of an exam: without the broken system and the later one by name of two that are the same."""


def by_hand(data_dir: Path, value: str) -> Outputs:
    """An exam's systems in the order of the file, its items in that of the hashes of their ids."""
    table = pd.read_csv(data_dir / "made" / f"exam_{value}.csv")
    scores = table.pivot(index="item", columns="system", values="score")
    scores = scores.loc[sorted(scores.index, key=lambda item: sha256(item.encode()).hexdigest())]
    kept = ["copy", *KEPT[1:]]
    return Outputs.from_scores(scores[kept], "accuracy", test_set=f"exam {value}")


def systems_by_hand(data_dir: Path, value: str) -> pd.DataFrame:
    table = pd.read_csv(data_dir / "made" / "systems.csv", dtype=str).query("exam == @value")
    known = table.rename(columns={"system": "name", "team": "group"}).set_index("name")
    return known.reindex(["copy", *KEPT[1:]]).reset_index()


def cells(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


@pytest.mark.parametrize("value", ["a", "b"])
def test_comparisons_are_those_of_the_files(done: Results, data_dir: Path, value: str) -> None:
    outputs = by_hand(data_dir, value)
    for n in (40, 120):
        pairs = compared(outputs.head(n), n_resamples=500, monte_carlo=True, seed=3)
        mine = done.comparisons.query("test_set == @outputs.test_set and n_items == @n").reset_index(drop=True)
        columns = ["system_a", "system_b", "gain", "p_value", "score_a", "n_extreme", "alternative"]
        pd.testing.assert_frame_equal(mine[columns], pairs[columns])


def test_there_are_as_many_pairs_as_there_should_be(done: Results) -> None:
    counted = done.comparisons.groupby(["test_set", "metric", "n_items"], sort=False).size()
    assert counted.to_dict() == {
        ("exam a", "accuracy", 40): 66, ("exam a", "accuracy", 120): 66, ("exam b", "accuracy", 40): 66,
        ("exam b", "accuracy", 120): 66, ("runs", "ap", 60): 28, ("runs", "rr", 60): 28, ("answers", "accuracy", 50): 6,
    }  # fmt: skip


def test_rows_of_a_table_are_those_that_are_wanted(done: Results, data_dir: Path) -> None:
    table = pd.read_csv(data_dir / "made" / "measures.csv")
    means = table.groupby(["measure", "run"])["score"].mean()
    systems = done.tables["leaderboard"].query("test_set == 'runs'")
    assert len(systems) == 16
    for row in systems.itertuples():
        assert row.score == pytest.approx(means[row.metric, row.system])


def test_texts_are_scored_against_their_references(done: Results, data_dir: Path) -> None:
    gold = (data_dir / "made" / "gold.txt").read_text().split()
    systems = done.tables["leaderboard"].query("test_set == 'answers'").set_index("system")
    for path in (data_dir / "made" / "answers").rglob("*.txt"):
        right = [one == other for one, other in zip(path.read_text().split(), gold, strict=True)]
        assert systems.loc[path.stem, "score"] == pytest.approx(100 * np.mean(right))
    assert systems["group"].to_dict() == {"one": "numbers", "two": "numbers", "three": "three", "four": "four"}


def test_gains_and_thresholds_have_rows_by_every_column_and_all_pairs_once(done: Results, data_dir: Path) -> None:
    gains = done.tables["significant_gains"].query("test_set == 'exam a' and n_items == 120")
    pairs = compared(by_hand(data_dir, "a"), n_resamples=500, monte_carlo=True, seed=3)
    for by in ("group", "base_model"):
        relation = related(pairs, systems_by_hand(data_dir, "a"), by)
        wanted = significant_gains(relation).set_index(["relation", "pairs"])
        mine = gains[gains["by"] == by].set_index(["relation", "pairs"])
        again = {("all pairs", of) for of in ("all pairs", "close pairs")} if by == "base_model" else set()
        assert set(mine.index) == set(wanted.index) - again
        for name in ("n_pairs", "n_left_out", "observed_50", "observed_95", "true_80", "true_80_low", "true_80_high"):
            np.testing.assert_allclose(mine[name], wanted.loc[mine.index, name])
    assert "combination and single system" in set(gains["relation"])
    keys = ["test_set", "metric", "n_items", "relation", "by"]
    assert not gains.duplicated([*keys, "pairs"]).any()
    thresholds = done.tables["thresholds"]
    one, other = (set(map(tuple, table[keys].to_numpy())) for table in (thresholds, done.tables["significant_gains"]))
    assert one == other
    none = thresholds.query("test_set == 'runs'")
    assert (set(none["by"]), set(none["relation"])) == ({""}, {"all pairs"}), "no column, one class"


def test_a_group_that_is_not_known_is_a_class(done: Results) -> None:
    """Of "copy" nothing is known, nor in exam b of s11: 11 pairs each, one of them both; s10 combines others."""
    rows = done.tables["significant_gains"].query("n_items == 120 and by == 'group' and pairs == 'all pairs'")
    counts = rows.set_index(["test_set", "relation"])["n_pairs"]
    assert counts["exam a", "combination and single system"] == counts["exam b", "combination and single system"] == 11
    assert counts["exam a", "group unknown"] == 10
    assert counts["exam b", "group unknown"] == 19


def test_ranks_are_of_two_sided_tests(done: Results, data_dir: Path) -> None:
    row = done.tables["ranks"].query("test_set == 'exam b'").iloc[0]
    pairs = compared(by_hand(data_dir, "b"), n_resamples=500, monte_carlo=True, seed=3, alternative="two-sided")
    board = ss.leaderboard(by_hand(data_dir, "b"), seed=3)
    wanted = ranks(pairs).iloc[0]
    assert row["alternative"] == "two-sided"
    for name in ("n_systems", "n_significant", "n_significant_holm", "best", "gain_adjacent"):
        assert row[name] == wanted[name]
    assert row["n_may_be_best"] == board["may_be_best"].sum()
    assert row["rank_width"] == np.median(board["rank_high"] - board["rank_low"])
    assert len(done.tables["ranks"]) == 5, "one a test set and metric, whole test sets only"


@pytest.mark.usefixtures("empty_figures")
def test_near_duplicates_are_dropped_or_kept(done: Results, make: Make, data_dir: Path, tmp_path: Path) -> None:
    table = done.tables["duplicates"]
    assert table[["test_set", "metric", "system_a", "system_b", "share", "dropped"]].to_numpy().tolist() == [
        [name, "accuracy", "copy", "s00", 1.0, "s00"] for name in ("exam a", "exam b")
    ]
    assert "s00" not in set(done.comparisons["system_a"]) | set(done.comparisons["system_b"])
    study = make({**EXAMS, "each": ["a"], "sizes": [], "by": []}, duplicates="keep")
    kept = ss.run_study(study, out=tmp_path, data_dir=data_dir, n_jobs=1)
    assert len(kept.comparisons) == 13 * 12 / 2
    assert kept.tables["duplicates"]["dropped"].tolist() == [""]


def test_one_test_set_by_two_metrics_has_a_part_of_the_page_for_each(done: Results) -> None:
    table = done.tables["calibration"].query("homes == 'runs'")
    assert table.groupby("metric")["test_set"].nunique().to_dict() == {"ap": 2, "rr": 2}
    page = (done.folder / "README.md").read_text()
    headings = [line for line in page.splitlines() if line.startswith("## ") and line.endswith((", ap", ", rr"))]
    assert len(headings) == 2


def test_everything_is_in_the_folder(done: Results, data_dir: Path) -> None:
    assert set(cells(done.folder)) == {
        f"{name}.csv" for name in (
            "leaderboard", "thresholds", "significant_gains", "ranks", "curves", "points", "duplicates", "calibration")
    }  # fmt: skip
    manifest = json.loads((done.folder / "manifest.json").read_text())
    files = [path for path in (data_dir / "made").rglob("*") if path.is_file()]
    assert manifest["data"]["files"] == {
        path.relative_to(data_dir).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files
    }
    page = (done.folder / "README.md").read_text()
    assert page.startswith("# A small study\n\nDoes it run?")
    drawn = {path.stem for path in (done.folder / "figures").iterdir()}
    assert drawn == {Path(name).stem for name in manifest["files"] if name.startswith("figures/")}
    assert all(f"figures/{name}.png" in page for name in drawn)
    assert {"gain_confidence", "segments", "calibration_1", "calibration_2", "calibration_3", "calibration_4"} <= drawn
    assert str(data_dir) not in page + json.dumps(manifest)


def test_shown_are_the_test_sets_that_are_asked_for(done: Results, data_dir: Path) -> None:
    """The curve and the points of each whole one, in its classes by the first column that tells them apart."""
    for value in "ab":
        whole = done.comparisons.query(f"test_set == 'exam {value}' and n_items == 120")
        pairs = related(whole, systems_by_hand(data_dir, value), "group")
        columns = ["relation", "gain", "p_value"]
        for name, wanted in (("curves", curve(pairs)), ("points", pairs[columns].sort_values(columns))):
            mine = done.tables[name].query(f"test_set == 'exam {value}'")
            mine = mine if name == "curves" else mine[columns].sort_values(columns)
            pd.testing.assert_frame_equal(mine.reset_index(drop=True), wanted.reset_index(drop=True))
    assert set(done.tables["points"]["test_set"]) == set(done.tables["curves"]["test_set"]) == {"exam a", "exam b"}
    (table,) = done.summary.values()
    assert set(table["test set"]) == {"exam a", "exam b"}


@pytest.mark.slow
def test_jobs_and_second_runs_change_no_byte(make: Make, data_dir: Path, tmp_path: Path) -> None:
    study = make(
        {**EXAMS, "each": ["a"], "by": ["group"], "sizes": []}, calibration=[{"domains_of": "exam a", "n_draws": 2}]
    )
    one = ss.run_study(study, out=tmp_path / "one", data_dir=data_dir, n_jobs=1)
    first = cells(one.folder)
    finished = {path: path.stat().st_mtime_ns for path in (one.folder / "cells").glob("*.npz")}
    again = ss.run_study(study, out=tmp_path / "one", data_dir=data_dir, n_jobs=1)
    assert {path: path.stat().st_mtime_ns for path in (again.folder / "cells").glob("*.npz")} == finished
    assert cells(again.folder) == first
    assert cells(ss.run_study(study, out=tmp_path / "two", data_dir=data_dir, n_jobs=2).folder) == first


@pytest.mark.usefixtures("empty_figures")
def test_two_systems_are_enough(make: Make, data_dir: Path, tmp_path: Path) -> None:
    left_out = ["broken", "copy", *KEPT[2:]]
    study = make(
        {**EXAMS, "each": ["a"], "leave_out": left_out},
        calibration=[{"domains_of": "exam a", "n_draws": 2, "n_splits": 1}],
    )
    results = ss.run_study(study, out=tmp_path, data_dir=data_dir, n_jobs=1)
    assert len(results.comparisons) == 2
    assert results.tables["significant_gains"]["true_80"].isna().all()
    assert "too few pairs" in (tmp_path / "README.md").read_text()


@pytest.mark.usefixtures("empty_figures")
def test_settings_of_a_test_set_go_before_those_of_the_study(make: Make, data_dir: Path, tmp_path: Path) -> None:
    study = make({**ANSWERS, "n_resamples": 300}, {**MEASURES, "metric": "ap"})
    results = ss.run_study(study, out=tmp_path, data_dir=data_dir, n_jobs=1)
    drawn = results.comparisons.groupby("test_set")["n_resamples"].unique().map(list)
    assert drawn.to_dict() == {"answers": [300], "runs": [500]}


def test_a_missing_data_file_is_named_in_one_line(make: Make, tmp_path: Path) -> None:
    for test_set, name in ((EXAMS, "made/exam_a.csv"), (ANSWERS, "made/answers")):
        with pytest.raises(DataError) as error:
            ss.run_study(make(test_set), out=tmp_path / "out", data_dir=tmp_path)
        assert f"{name}" in str(error.value).partition(f": no such file in {tmp_path}")[0]
        assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists(), "nothing is left behind"


def test_systems_that_are_all_the_same_are_none_to_compare(make: Make, data_dir: Path, tmp_path: Path) -> None:
    study = make({**EXAMS, "each": ["a"], "leave_out": ["broken", *KEPT[1:]]})
    with pytest.raises(StudyError, match="test set 'exam a': fewer than 2 systems are left, without near-dup"):
        ss.run_study(study, out=tmp_path, data_dir=data_dir)
