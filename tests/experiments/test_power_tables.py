"""The study of benchmarks, small, on made-up leaderboards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Results, StudyError
from simstudy.truth.scores import Bernoulli, GaussianCopula, ScoreModel, of_families
from tests.experiments.programs import program, small

BENCHMARKS, TABLES = (program("power_tables", part) for part in ("benchmarks", "tables"))
BOARDS = ["a", "b", "c"]
STUDY = """
kind = "natural"
title = "Made-up boards"
question = "?"

[[test_sets]]
name = "board {}"
each = ["a", "b", "c"]
metric = "accuracy"
paths = ["made/{}.csv"]
systems = { file = "made/systems.csv" }
by = ["group", "base_model"]
"""
SYSTEMS = [f"s{k:02d}" for k in range(12)]
GROUPS = [k % 3 for k in range(12)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three boards of twelve systems in three groups, of different sizes; another column relates two more."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "made").mkdir()
    (folder / "boards").mkdir()
    (folder / "boards" / "study.toml").write_text(STUDY)
    latent = GaussianCopula(of_families(GROUPS, between=0.4, within=0.85))
    model = ScoreModel([Bernoulli(0.6 + 0.005 * k) for k in range(12)], latent, metric="accuracy")
    for seed, (name, n) in enumerate(zip(BOARDS, (150, 300, 600), strict=True)):
        scores = model.outputs(n, seed=seed).statistics[..., 0]
        frame = pd.DataFrame(scores.T, columns=SYSTEMS).assign(item=[f"i{k}" for k in range(n)])
        frame.to_csv(folder / "made" / f"{name}.csv", index=False)
    bases = ["m" if k in (0, 1) else f"m{k}" for k in range(12)]
    described = pd.DataFrame({"system": SYSTEMS, "group": [f"g{g}" for g in GROUPS], "base_model": bases})
    described.to_csv(folder / "made" / "systems.csv", index=False)
    return folder


def settings(data: Path, **changes: Any) -> Any:
    part = {
        "study": str(data / "boards"), "kind": "made up", "metrics": ["accuracy"], "title": "Made-up {}",
        "test_sets": [f"board {name}" for name in BOARDS],
    }  # fmt: skip
    return small("power_tables", benchmarks=[part | changes])


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(settings(data), out=tmp_path_factory.mktemp("power"), n_jobs=1, data_dir=data)


def test_a_benchmark_is_described_by_its_pairs_in_doubt(data: Path, done: Results) -> None:
    """The row of the largest board, from its scores by hand."""
    scores = pd.read_csv(data / "made" / "c.csv")[SYSTEMS]
    n, r12, sd = len(scores), [], []
    for i in range(12):
        for j in range(i):
            related = GROUPS[i] == GROUPS[j] or {i, j} == {0, 1}
            difference = scores.iloc[:, i] - scores.iloc[:, j]
            error = difference.std() / np.sqrt(n)
            if not related and abs(difference.mean()) < 2 * stats.t.isf(0.025, n - 1) * error:
                r12.append(np.corrcoef(scores.iloc[:, i], scores.iloc[:, j])[0, 1])
                sd.append(100 * difference.std())
    row = done.tables["benchmarks"].query("test_set == 'board c' and relation == 'different families'").iloc[0]
    assert row["n_pairs"] == len(r12)
    assert row[["r12_10", "r12", "r12_90"]].tolist() == pytest.approx(np.percentile(r12, [10, 50, 90]))
    assert row[["sd_10", "sd", "sd_90"]].tolist() == pytest.approx(np.percentile(sd, [10, 50, 90]))
    assert row["minimum_detectable_gain"] == pytest.approx((1.96 + 0.84) * np.median(sd) / np.sqrt(n), rel=0.05)
    assert (row["unit"], row["n_units"], row["right_or_wrong"]) == ("item", n, True)


def two_metrics(relation: str) -> pd.DataFrame:
    """Units are documents of ten items; one metric is a fraction. Of each, gains are c / sqrt(n_items)."""
    rows = []
    for metric, unit, of_one in (("f1", "percent", 1), ("ap", "", 100)):
        for c, n in ((60, 1000), (80, 4000), (100, 2000)):
            gain = c / np.sqrt(n) / of_one
            ends = {"minimum_detectable_gain_low": 0.5 * gain, "minimum_detectable_gain_high": 2 * gain}
            at = {"test_set": f"{metric} {n}", "metric": metric, "metric_unit": unit, "n_items": n, "n_units": n // 10}
            rows.append({**at, "minimum_detectable_gain": gain, **ends})
    return pd.DataFrame(rows).assign(relation=relation, right_or_wrong=False, sd_10=1.0, sd=1.0, sd_90=1.0)


def test_the_law_of_the_square_root_is_of_items_and_points() -> None:
    table = TABLES.by_root(two_metrics("all pairs"))
    assert table["n_test_sets"].tolist() == [3, 3]
    np.testing.assert_allclose(table[["c_10", "c", "c_90"]], [[64, 80, 96]] * 2)
    x, y = np.log([1000, 4000, 2000]), np.log([60, 80, 100]) - 0.5 * np.log([1000, 4000, 2000])
    np.testing.assert_allclose(table["slope"], stats.linregress(x, y).slope)


def test_variants_are_related_by_any_column(data: Path, done: Results) -> None:
    """18 pairs of one group, and one more of one base model."""
    table = done.tables["benchmarks"]
    assert table.query("relation == 'same family'")["n_pairs"].max() <= 19
    outputs = ss.Outputs.from_scores(pd.read_csv(data / "made" / "c.csv").set_index("item"), "accuracy")
    unrelated = BENCHMARKS.describe(outputs, (), 0.05, 10)
    assert [row["relation"] for row in unrelated["rows"]] == ["different families"]


def test_a_detectable_gain_is_the_one_that_a_plan_gives(data: Path) -> None:
    """A plan for as many items, from the same outputs, for systems of different groups."""
    board = pd.read_csv(data / "made" / "c.csv").set_index("item")[SYSTEMS]
    systems = pd.DataFrame({"system": SYSTEMS, "group": GROUPS})
    outputs = ss.describe_systems(ss.Outputs.from_scores(board, "accuracy"), systems)
    row = next(r for r in BENCHMARKS.describe(outputs, ("group",), 0.05, 10)["rows"] if r["relation"] != "same family")
    plan = ss.plan(ss.Pilot(outputs, by="group", n_sets=0, n_draws=0), n_items=len(board), sizes=[])
    planned = plan.answers.set_index("relation")["minimum_detectable_gain"]["different groups"]
    assert row["minimum_detectable_gain"] == pytest.approx(planned, rel=1e-6)


def test_ranges_and_laws_are_there_where_there_are_three_test_sets(done: Results) -> None:
    law = done.tables["law"].set_index("relation")
    table = done.tables["benchmarks"]
    own = table[table["relation"] == "different families"]
    assert law.loc["different families", "c"] == pytest.approx(
        (own["minimum_detectable_gain"] * np.sqrt(own["n_items"])).median()
    )
    assert law.loc["different families", "slope"] == pytest.approx(-0.5, abs=0.1)
    ranges = done.tables["ranges"]
    assert ranges["inside"].between(0.5, 1).all(), "boards of one model"
    assert (ranges["low"] < ranges["high"]).all()


def test_the_range_of_others_is_without_the_test_set_itself() -> None:
    """Three test sets far apart: no pair of one lies between those of the two others, but for the middle one's."""
    key = {"metric": "mean", "relation": "different families"}
    sets = pd.DataFrame({"test_set": list("abc"), **key, "n_items": 100, "n_units": 100, "right_or_wrong": False})
    for name in ("sd", "r12"):
        middle = np.array([0.1, 0.5, 0.9])
        sets = sets.assign(**{f"{name}_10": middle - 0.01, name: middle, f"{name}_90": middle + 0.01})
    pairs = pd.DataFrame({"test_set": np.repeat(list("abc"), 20), **key})
    pairs = pairs.assign(**{name: np.repeat([0.1, 0.5, 0.9], 20) for name in ("sd", "r12")})
    found = TABLES.ranges(sets, pairs).set_index("quantity")
    assert found["inside"].tolist() == pytest.approx([1 / 3] * 2)
    assert found["inside_least"].tolist() == [0, 0]


def test_the_page_has_a_gallery_and_no_missing_number(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    assert "(figures/gallery.png)" in page
    assert "(figures/by_size.png)" in page
    assert "Made-up board c" in page
    assert "nan" not in page.lower()


def test_a_test_set_that_the_study_does_not_have_is_named(data: Path) -> None:
    with pytest.raises(StudyError, match="has no test set 'board d' with a metric among accuracy"):
        ss.run_study(settings(data, test_sets=["board d"]), out=data / "none", n_jobs=1, data_dir=data)


def test_what_both_relations_find_is_set_beside_each_other() -> None:
    rows = [
        {"test_set": name, "metric": "las", "relation": relation, "minimum_detectable_gain": gain, "r12": 0.5, "sd": 1}
        for name, relation, gain in [
            ("a", BENCHMARKS.VARIANTS, 1.0), ("a", BENCHMARKS.UNLIKE, 2.0), ("b", BENCHMARKS.UNLIKE, 3.0)
        ]
    ]  # fmt: skip
    both = TABLES.both(pd.DataFrame(rows))
    assert both[["test_set", "ratio"]].to_numpy().tolist() == [["a", 0.5]]
