"""A study of resampled systems: every table made again from the API's public parts, and all of it in its folder."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.agreement import agreement
from simstudy.comparisons.calibration import calibration
from simstudy.engines.arguments import applicable
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.running.folders import verify
from simstudy.studies import Comparison, Results, RunContext, Study, make_study, run_study
from simstudy.studies.baselines import baseline, compare_redrawn, with_baseline
from simstudy.studies.catalogue import found_by
from simstudy.studies.figures import plotted_pairs, thinned
from simstudy.studies.resampling.confidence_models import confidence_models
from simstudy.studies.resampling.overlay import curve_distances
from simstudy.studies.resampling.study import ResamplingStudy, _thresholds
from simstudy.studies.resampling.training_variance import training_variance
from simstudy.studies.side_by_side import correlation_shares, correlation_summary, disagreements
from tests.oracles import compared
from tests.studies.conftest import COMPARED, STUDY, N, tags

Trained = dict[str, dict[str, Outputs]]
OPTIONS: dict[str, Any] = {**COMPARED, "seed": 1}
FIGURES = {
    "gain_confidence", "overlay", "sizes", "domains", "thresholds", "calibration_identical", "calibration_domains",
    "correlation", "tests",
}  # fmt: skip


def on(resampled: Results, test_set: str, n_items: int) -> pd.DataFrame:
    return resampled.comparisons.query("test_set == @test_set and n_items == @n_items").reset_index(drop=True)


def test_every_comparison_is_that_of_the_systems(resampled: Results, trained: Trained) -> None:
    """Home at its sizes and at that of the domains; the other test set of the curves at that size."""
    outputs = trained["span_f1"]
    asked = [("home", 60), ("home", 120), ("home", N), ("away", 60)]
    found = resampled.comparisons.groupby(["test_set", "n_items"], sort=False).size()
    assert found.to_dict() == dict.fromkeys(asked, 40 * 39 // 2)
    for name, n in (asked[1], asked[3]):
        wanted = compared(outputs[name].head(n), **OPTIONS)
        pd.testing.assert_frame_equal(on(resampled, name, n), wanted)
    assert set(resampled.comparisons["metric"]) == {"span_f1"}, "the first metric is that of all else"
    assert set(resampled.comparisons["unit"]) == {"cluster"}
    pd.testing.assert_frame_equal(resampled.tables["curves"], ss.comparisons.curve(resampled.comparisons))
    pd.testing.assert_frame_equal(resampled.tables["points"], thinned(resampled.comparisons, "home", N))


def test_every_metric_has_scores_and_thresholds(resampled: Results, trained: Trained) -> None:
    for metric, label in (("span_f1", "span F1"), ("accuracy", "accuracy")):
        for name, outputs in trained[metric].items():
            np.testing.assert_allclose(resampled.tables["systems"][f"{label} on {name}"], outputs.scores())
        wanted = ss.comparisons.thresholds(compared(trained[metric]["home"], **OPTIONS), seed=1)
        table = resampled.tables["thresholds"]
        own = table.query("metric == @metric and n_items == @N and unit == 'cluster' and alternative == 'greater'")
        assert own["n_window"].tolist() == wanted["n_window"].tolist()
        assert wanted["threshold"].notna().any()
        np.testing.assert_allclose(own["threshold"], wanted["threshold"])
    fitted = table.dropna(subset=["residual"])
    assert len(fitted)
    np.testing.assert_allclose(fitted["fit"] * (1 + fitted["residual"]), fitted["threshold"])


def test_natural_pairs_are_laid_over_the_resampled_ones_by_items(
    resampled: Results, trained: Trained, others: Path
) -> None:
    options = {**OPTIONS, "unit": "item"}
    columns = {"correct": "c", "guessed": "g", "gold": "n"}
    loaded = ss.load(others / "made" / "span_f1.csv", "span_f1", columns=columns).outputs
    pairs = compared(loaded, **options).assign(relation="all pairs")
    home = compared(trained["span_f1"]["home"], **options)
    wanted = curve_distances(pairs, home, seed=1)
    found = resampled.tables["overlay"]
    assert found["others_relation"].tolist() == ["same family", "different families", "all pairs"]
    for column in ("n_pairs", "difference", "gain_ratio", "ratio_low"):
        np.testing.assert_allclose(found[column], wanted[column])
    own = ss.comparisons.thresholds(pairs, seed=1).iloc[0]
    for column in ("n_window", "threshold", "low", "high"):
        name = f"threshold_{column}" if column in ("low", "high") else column
        np.testing.assert_allclose(found[name], own[column], err_msg=name)
    # Made by the same systems of another seed, they lie on the same curve.
    assert found["gain_ratio"].between(0.8, 1.25).all()
    points = resampled.tables["overlay_points"]
    assert points["relation"].unique().tolist() == [*home["relation"].unique(), "others"]
    for relation, rows in points.groupby("relation"):
        members = pairs if relation == "others" else home[home["relation"] == relation]
        assert rows["gain"].tolist() == plotted_pairs(members, 400)["gain"].tolist()


def test_winners_are_followed_to_domains_and_to_the_population(resampled: Results, trained: Trained) -> None:
    """Beside them the same on halves of the home test set, whose size those elsewhere have."""
    outputs, context = trained["span_f1"], RunContext(resampled.folder / "cells", 1)
    elsewhere = {"away": outputs["away"], "mixed / y": outputs["mixed"].domain("y")}
    setting = Comparison(**COMPARED)
    sizes = {"away": 100, "mixed / y": 60}
    halved = baseline(setting.on(outputs["home"], 1), sizes, n_splits=2, context=context)
    wanted = with_baseline(calibration(on(resampled, "home", N), elsewhere, seed=1), halved)
    pd.testing.assert_frame_equal(resampled.tables["calibration_domains"], wanted)
    population = outputs["home"].join_items(outputs["mixed"])
    by_item = Comparison(**{**COMPARED, "n_resamples": 500, "unit": "item"})
    redrawn = compare_redrawn(by_item.on(population, 1), 80, 3, context)
    wanted = calibration(redrawn, {"population": population}, population=True, seed=1)
    pd.testing.assert_frame_equal(resampled.tables["calibration_identical"], wanted)
    assert set(wanted["n_items"]) == {80}, "sentences, though documents are the unit"


def test_what_p_follows_from_and_what_training_does_are_of_the_home_test_set(
    resampled: Results, trained: Trained
) -> None:
    home = trained["span_f1"]["home"]
    at_home = resampled.comparisons.query("test_set == 'home'")
    models = confidence_models(at_home, ss.comparisons.correlation(home), seed=1)
    pd.testing.assert_frame_equal(resampled.tables["confidence_models"], models)
    variance = training_variance(on(resampled, "home", N), home)
    pd.testing.assert_frame_equal(resampled.tables["training_variance"], variance)


def test_tests_side_by_side_are_of_all_items_at_home(resampled: Results, trained: Trained) -> None:
    home = trained["span_f1"]["home"]
    drawn: dict[str, dict[str, Any]] = {
        test: {"n_resamples": 200} if TESTS[test].n_resamples else {} for test in applicable(home)
    }
    # As the paper counts.
    drawn["bootstrap"]["monte_carlo"] = True
    pairs = pd.concat(
        [compared(home, test=test, alternative="two-sided", seed=1, **more) for test, more in drawn.items()],
        ignore_index=True,
    )
    pd.testing.assert_frame_equal(resampled.tables["tests"], agreement(pairs, alpha=0.2, seed=1))
    pd.testing.assert_frame_equal(resampled.tables["tests_disagree"], disagreements(pairs, alpha=0.2, n=5))
    together = ss.comparisons.correlation(home)
    pd.testing.assert_frame_equal(resampled.tables["correlation"], correlation_summary(together))
    pd.testing.assert_frame_equal(resampled.tables["correlation_shares"], correlation_shares(together))


def test_everything_is_in_the_folder(resampled: Results, others: Path) -> None:
    folder, page = resampled.folder, (resampled.folder / "README.md").read_text()
    assert sorted(path.stem for path in folder.glob("*.csv")) == sorted(resampled.tables)
    assert page.startswith("# A small study\n\nDoes it run?")
    assert {path.name for path in (folder / "figures").iterdir()} == {
        f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")
    }
    for name in FIGURES:
        assert f"(figures/{name}.png)" in page
    for name in resampled.tables:
        assert f"[{name}.csv]({name}.csv)" in page
    assert "**Natural comparisons**: 12 systems on others, 240 items" in page
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["study"]["seed"] == 1
    assert [*manifest["code"]] == ["task.py"]
    assert manifest["data"]["task"] == tags(None).fingerprint
    digest = sha256((others / "made" / "span_f1.csv").read_bytes()).hexdigest()
    assert manifest["data"]["files"] == {"words": "a hash", "made/span_f1.csv": digest}
    assert verify(folder) == []
    assert str(Path.home()) not in json.dumps(manifest)


@pytest.mark.usefixtures("empty_figures")
def test_winners_of_a_domain_are_followed_from_where_the_study_says_and_another_seed_is_another_study(
    resampled: Results, model: type[Study], tmp_path: Path
) -> None:
    """Without what others made, and without a page."""
    domains = {"home": "mixed / x", "test_sets": ["away"], "size": 40, "n_splits": 2}
    content = {key: value for key, value in STUDY.items() if key not in ("calibration", "tests")}
    content |= {"domains": domains, "home": {"test_set": "home", "sizes": [50]}, "seed": 3, "metrics": ["accuracy"]}
    content["natural"] = {**STUDY["natural"], "metric": "accuracy"}
    study = make_study(content, "here", model)
    found = found_by(study, context := RunContext(tmp_path, 1, data_dir=tmp_path))
    options = {**COMPARED, "seed": 3}
    outputs = ss.training.resample_training(
        tags(None), fractions=[0.5, 0.2], replicates=[10, 10], seed=3, metric="accuracy"
    )
    pairs = compared(outputs["mixed"].domain("x"), **options)
    wanted = ss.calibration(pairs, {"away": outputs["away"]}, seed=3)
    table = found.tables["calibration_domains"]
    np.testing.assert_allclose(table["share"], wanted["share"])
    assert (set(table["test_set"]), set(table["n_items"])) == ({"mixed / x"}, {60})
    sizes = found.comparisons.groupby("test_set", sort=False)["n_items"].unique().map(list).to_dict()
    assert sizes == {"home": [50], "mixed / x": [40, 60], "away": [40]}
    assert set(found.tables["systems"].columns[-3:]) == {f"score on {name}" for name in ("home", "away", "mixed")}
    assert "overlay" not in found.tables
    assert found.facts["Natural comparisons"].startswith("others is left out: made/accuracy.csv")
    before = resampled.tables["systems"]["accuracy on home"]
    assert found.tables["systems"]["score on home"].tolist() != before.tolist()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    again = found_by(study, context)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")} == kept, "all is found"
    for name, table in found.tables.items():
        pd.testing.assert_frame_equal(again.tables[name], table)


ALIKE = """
from sklearn.dummy import DummyClassifier
import numpy as np
from simstudy.training import Task

def task(data_dir):
    rng = np.random.default_rng(0)
    features, gold = rng.random((60, 2)), np.arange(60) % 2
    systems = {"no": DummyClassifier(strategy="constant", constant=0)}
    return Task.from_arrays("alike", features, gold, systems=systems, test_sets={"test": (features, gold)})
"""


@pytest.mark.usefixtures("empty_figures")
def test_systems_that_all_answer_alike_have_a_page_too(tmp_path: Path) -> None:
    """No pair has a standard error, so that nothing is said of what training sets do; two items are a test set."""
    (tmp_path / "task.py").write_text(ALIKE)
    (tmp_path / "study.toml").write_text(
        'title = "T"\nquestion = "Q?"\ntask = "task.py:task"\nseed = 1\n[training]\nfractions = [0.5]\n'
        'replicates = [4]\n[home]\ntest_set = "test"\nsizes = [2, 60]\n[domains]\ntest_sets = ["other"]\nsize = 2\n'
    )
    with pytest.raises(ValueError, match="task 'alike' has no test set 'other'"):
        run_study(tmp_path, out=tmp_path / "out")
    text = (tmp_path / "study.toml").read_text().split("[domains]")[0]
    (tmp_path / "study.toml").write_text(f'{text}[calibration]\npopulation = ["test"]\nsize = 20\nn_draws = 2\n')
    results = run_study(tmp_path, out=tmp_path / "out", n_jobs=1)
    assert (results.comparisons["gain"] == 0).all()
    assert "training_variance" not in results.tables
    assert results.tables["thresholds"]["note"].str.startswith("too few pairs").all()
    assert (results.folder / "README.md").read_text().startswith("# T\n")
    assert not (results.folder / "figures" / "calibration_identical.png").exists(), "no class has a share"


def test_thresholds_say_the_unit_of_their_own_test_set(resampled: Results, model: type[Study]) -> None:
    """Two test sets name clusters, the last has none."""
    units = {"home": "cluster", "also": "cluster", "away": "item"}
    away = resampled.comparisons.query("test_set == 'away'")
    pairs = pd.concat([resampled.comparisons.query("test_set == 'home'"), away.assign(test_set="also"), away])
    study = make_study(STUDY, "here", model)
    assert isinstance(study, ResamplingStudy)
    table = _thresholds(study, pairs.assign(unit=pairs["test_set"].map(units)), None, [])
    assert table.groupby("test_set")["unit"].agg(set).to_dict() == {name: {unit} for name, unit in units.items()}
    assert set(table["alternative"]) == {"greater", "two-sided"}
