"""The study of benchmarks, small, on made-up leaderboards."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Results, StudyError
from simstudy.truth import Bernoulli, GaussianCopula, ScoreModel, of_families
from tests.experiments.programs import first_cells, known, program, small

BENCHMARKS, TABLES = (program("power_tables", part) for part in ("benchmarks", "tables"))
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
    for seed, (name, n) in enumerate(zip("abc", (150, 300, 600), strict=True)):
        scores = model.outputs(n, seed=seed).statistics[..., 0]
        frame = pd.DataFrame(scores.T, columns=SYSTEMS).assign(item=[f"i{k}" for k in range(n)])
        frame.to_csv(folder / "made" / f"{name}.csv", index=False)
    bases = ["m" if k in (0, 1) else f"m{k}" for k in range(12)]
    described = pd.DataFrame({"system": SYSTEMS, "group": [f"g{g}" for g in GROUPS], "base_model": bases})
    described.to_csv(folder / "made" / "systems.csv", index=False)
    return folder


def settings(data: Path, *parts: dict[str, Any], **changes: Any) -> Any:
    part = {"study": str(data / "boards"), "kind": "made up", "metrics": ["accuracy"], "title": "Made-up {}"}
    return small("power_tables", benchmarks=[part | own for own in parts], **changes)


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    parts = {"test_sets": ["board c", "board a"]}, {"test_sets": ["board b"], "kind": "alone", "related": False}
    return ss.run_study(settings(data, *parts), out=tmp_path_factory.mktemp("power"), n_jobs=1, data_dir=data)


def test_a_benchmark_is_described_by_its_pairs_in_doubt(data: Path, done: Results) -> None:
    """The row of the largest board, from its scores by hand."""
    scores = pd.read_csv(data / "made" / "c.csv")[SYSTEMS]
    n, r12, sd, seen = len(scores), [], [], set()
    for i in range(12):
        for j in range(i):
            related = GROUPS[i] == GROUPS[j] or {i, j} == {0, 1}
            difference = scores.iloc[:, i] - scores.iloc[:, j]
            error = difference.std() / np.sqrt(n)
            if not related and abs(difference.mean()) < 2 * stats.t.isf(0.025, n - 1) * error:
                r12.append(np.corrcoef(scores.iloc[:, i], scores.iloc[:, j])[0, 1])
                sd.append(100 * difference.std())
                seen |= {SYSTEMS[i], SYSTEMS[j]}
    row = done.tables["benchmarks"].query("test_set == 'board c' and relation == 'different families'").iloc[0]
    assert row["n_pairs"] == len(r12)
    assert row[["r12_10", "r12", "r12_90"]].tolist() == pytest.approx(np.percentile(r12, [10, 50, 90]))
    assert row[["sd_10", "sd", "sd_90"]].tolist() == pytest.approx(np.percentile(sd, [10, 50, 90]))
    assert row["minimum_detectable_gain"] == pytest.approx((1.96 + 0.84) * np.median(sd) / np.sqrt(n), rel=0.05)
    assert (row["unit"], row["n_units"], row["n_items"], row["right_or_wrong"]) == ("item", n, n, True)
    assert (row["n_systems"], row["score"]) == (len(seen), pytest.approx(100 * scores[sorted(seen)].mean().median()))
    own = done.tables["pair_quantiles"].query("test_set == 'board c' and relation == 'different families'")
    np.testing.assert_allclose(own["share"], shares := (np.arange(20) + 0.5) / 20)
    np.testing.assert_allclose(own[["r12", "sd"]], np.quantile([r12, sd], shares, axis=1))
    # A family of the second part's systems is none; parts and their test sets have the order of study.toml.
    relations = [("made up", "board c"), ("made up", "board a")]
    found = done.tables["benchmarks"][["kind", "test_set", "relation"]].to_numpy().tolist()
    families = [[*at, relation] for at in relations for relation in ("same family", "different families")]
    assert found == [*families, ["alone", "board b", "different families"]]


def test_units_are_clusters_where_they_are_known() -> None:
    """From the means of clusters, by hand."""
    outputs = ss.truth.clustered_accuracies([0.6 + k / 50 for k in range(6)], 80, 5, within=0.3, between=0.5)
    (row,), means = BENCHMARKS.describe(outputs, (), 0.05, 2)["rows"], outputs.sum_by("cluster").statistics[..., 0] / 5
    r12, sd = [], []
    for one, other in combinations(means, 2):
        test = stats.ttest_1samp(one - other, 0)
        if abs(float(test.statistic)) < 2 * stats.t.isf(0.025, 79):
            r12.append(np.corrcoef(one, other)[0, 1])
            sd.append(100 * (one - other).std(ddof=1))
    assert [row[name] for name in ("unit", "n_items", "n_units", "n_pairs")] == ["cluster", 400, 80, len(sd)]
    assert (row["r12"], row["sd"]) == pytest.approx((np.median(r12), np.median(sd)))


def test_a_detectable_gain_has_the_level_and_the_interval_that_it_is_given() -> None:
    """2.80 and 3.42 standard errors of 0.5; by answers, the same of 0.2 as the share that differs."""
    pairs = pd.DataFrame({"n_units": [400] * 3, "interval": "t", "sd": 10.0, "wins": 30, "losses": 50})
    by_errors = {"true_80": 2.0, "true_80_low": 1.0, "true_80_high": 5.0}
    for alpha, errors in ((0.05, 2.8016), (0.01, 3.4175)):
        for interval, error in (("t", 0.5), ("score", 100 * np.sqrt(0.2 / 400))):
            found = BENCHMARKS.detectable(pairs.assign(interval=interval), by_errors, 100.0, alpha)
            assert found == pytest.approx([k * errors * error for k in (1, 0.5, 2.5)], rel=0.06)


def test_cells_are_known_by_what_changes_their_results(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    outputs = [ss.truth.correlated_accuracies([0.6, 0.7, 0.8], n) for n in (50, 51)]

    def arguments(one: ss.Outputs = outputs[0], related: bool = True, **changes: Any) -> str:
        found = {("x", "accuracy"): ss.TestSet(one, by=("group",))}
        monkeypatch.setattr(BENCHMARKS, "outputs_of", lambda *_, **__: (found, {}))
        study = settings(data, {"test_sets": ["x"], "related": related}, **changes)
        (cell,) = first_cells(partial(BENCHMARKS.benchmarks, study))[1].values()
        return str(known(cell))

    changes: list[dict[str, Any]] = [{}, {"one": outputs[1]}, {"related": False}, {"alpha": 0.1}, {"min_pairs": 9}]
    assert len({arguments(**change) for change in changes}) == 5


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
    n_pairs = unrelated["rows"][0]["n_pairs"]
    assert BENCHMARKS.describe(outputs, (), 0.3, 2)["rows"][0]["n_pairs"] < n_pairs
    assert [len(BENCHMARKS.describe(outputs, (), 0.05, n)["rows"]) for n in (n_pairs, n_pairs + 1)] == [1, 0]


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
        ss.run_study(settings(data, {"test_sets": ["board d"]}), out=data / "none", n_jobs=1, data_dir=data)
