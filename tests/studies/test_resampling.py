"""Studies of resampled systems: several metrics, natural comparisons beside them, units of redrawn test sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import Study, StudyError, make_study
from simstudy.studies.resampling.definition import with_own_task
from simstudy.studies.run import Results
from simstudy.training import Examples, Task
from tests.oracles import compared
from tests.training.test_structured import Lookup, count_spans, count_tags

N = 240


def tags(_: Path | None) -> Task:
    """Words with a tag that is noisy, in documents of four sentences."""
    rng = np.random.default_rng(5)
    vocabulary = np.array([f"w{k}" for k in range(150)])
    usual = np.where(rng.random(150) < 0.4, "B-x", "O")

    def examples(n: int) -> Examples:
        words = [rng.integers(150, size=length) for length in rng.integers(2, 6, n)]
        noisy = [np.where(rng.random(len(w)) < 0.3, rng.choice(["B-x", "O"], len(w)), usual[w]).tolist() for w in words]
        items = pd.DataFrame({"id": [f"s{k}" for k in range(n)], "cluster": [f"d{k // 4}" for k in range(n)]})
        return Examples([vocabulary[w].tolist() for w in words], noisy, items)

    return Task(
        "tags", examples(300), {"home": examples(N)}, {"one": Lookup(), "other": Lookup("B-x")},
        {"span_f1": count_spans, "accuracy": count_tags},
    )  # fmt: skip


STUDY: dict[str, Any] = {
    "name": "tags", "title": "T", "question": "Q?", "task": "task.py:tags", "seed": 1,
    "training": {"fractions": [0.5, 0.2], "replicates": [10, 10]},
    "comparison": {"test": "bootstrap", "alternative": "greater", "n_resamples": 2000},
    "home": {"test_set": "home", "sizes": [60, 120, N]},
    "calibration": {"population": ["home"], "size": 80, "unit": "item", "n_draws": 3, "n_resamples": 500},
    "natural": {"name": "others", "metric": "span_f1", "paths": ["made/{metric}.csv"], "by": [],
                "columns": {"correct": "c", "guessed": "g", "gold": "n"}, "duplicates": "keep"},
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> type[Study]:
    """Of a study whose folder has the task of this module."""
    folder = tmp_path_factory.mktemp("tags")
    (folder / "task.py").write_text(f"from {__name__} import tags\n", encoding="utf-8")
    return with_own_task(folder)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve systems of others: the resampled ones of another seed, as a table of counts."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "made").mkdir()
    outputs = ss.training.resample_training(tags(None), fractions=[0.5, 0.2], replicates=[3, 3], seed=9)["home"]
    rows = [
        {"system": name, "item": item, "c": c, "g": g, "n": n}
        for name, counts in zip(outputs.names, outputs.statistics, strict=True)
        for item, (c, g, n) in zip(outputs.items["id"], counts, strict=True)
    ]
    pd.DataFrame(rows).to_csv(folder / "made" / "span_f1.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, data: Path, model: type[Study]) -> Results:
    return ss.run_study(make_study(STUDY, "here", model), out=tmp_path_factory.mktemp("done"), n_jobs=1, data_dir=data)


def test_every_metric_has_scores_and_thresholds(done: Results) -> None:
    task = tags(None)
    for metric, label in (("span_f1", "span F1"), ("accuracy", "accuracy")):
        outputs = ss.training.resample_training(task, metric=metric, fractions=[0.5, 0.2], replicates=[10, 10], seed=1)[
            "home"
        ]
        np.testing.assert_allclose(done.tables["systems"][f"{label} on home"], outputs.scores())
        options: Any = {"test": "bootstrap", "alternative": "greater", "n_resamples": 2000, "seed": 1}
        wanted = ss.thresholds(compared(outputs, **options), seed=1)
        table = done.tables["thresholds"]
        own = table.query("metric == @metric and n_items == @N and unit == 'cluster' and alternative == 'greater'")
        assert own["n_window"].tolist() == wanted["n_window"].tolist()
        np.testing.assert_allclose(own["threshold"], wanted["threshold"])
    assert set(done.comparisons["metric"]) == {"span_f1"}, "the first metric is that of all else"


def test_residuals_are_what_the_fit_leaves(done: Results) -> None:
    table = done.tables["thresholds"].dropna(subset=["residual"])
    assert len(table)
    np.testing.assert_allclose(table["fit"] * (1 + table["residual"]), table["threshold"])


def test_natural_pairs_are_laid_over_the_resampled_ones_by_items(done: Results, data: Path) -> None:
    options: Any = {"test": "bootstrap", "alternative": "greater", "n_resamples": 2000, "seed": 1, "unit": "item"}
    task = tags(None)
    resampled = compared(
        ss.training.resample_training(task, fractions=[0.5, 0.2], replicates=[10, 10], seed=1)["home"], **options
    )
    loaded = ss.load(
        data / "made" / "span_f1.csv", "span_f1", columns={"correct": "c", "guessed": "g", "gold": "n"}
    ).outputs
    pairs = compared(loaded, **options).assign(relation="all pairs")
    wanted, found = ss.analyses.overlay(pairs, resampled, seed=1), done.tables["overlay"]
    assert found["others_relation"].tolist() == ["same family", "different families", "all pairs"]
    for column in ("n_pairs", "difference", "gain_ratio", "ratio_low"):
        np.testing.assert_allclose(found[column], wanted[column])
    # Made by the same systems of another seed, they lie on the same curve.
    assert found["gain_ratio"].between(0.8, 1.25).all()
    page = (done.folder / "README.md").read_text()
    assert "## Natural comparisons on the same curve" in page
    assert (done.folder / "figures" / "overlay.png").is_file()
    assert set(done.tables["overlay_points"]["relation"]) == {"same family", "different families", "others"}


def test_redrawn_test_sets_have_units_of_their_own(done: Results) -> None:
    assert (done.tables["calibration_identical"]["n_items"] == 80).all(), "sentences, though documents are the unit"
    assert set(done.comparisons["unit"]) == {"cluster"}


def test_a_study_goes_on_without_what_others_made(tmp_path: Path, model: type[Study]) -> None:
    short = {key: value for key, value in STUDY.items() if key != "calibration"}
    results = ss.run_study(make_study(short, "here", model), out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    assert "overlay" not in results.tables
    assert "**Natural comparisons**: others is left out: " in (results.folder / "README.md").read_text()


def test_the_winners_of_one_domain_are_followed_to_others(tmp_path: Path) -> None:
    content: dict[str, Any] = {
        "name": "d", "title": "T", "question": "Q?", "task": "digits", "seed": 3,
        "training": {"fractions": [0.1, 0.05], "replicates": [4, 4]}, "comparison": {"n_resamples": 500},
        "home": {"test_set": "test", "sizes": [100]},
        "domains": {"home": "rotated 10°", "test_sets": ["noise 2/16", "test"], "size": 120, "n_splits": 3},
    }  # fmt: skip
    results = ss.run_study(make_study(content, "here"), out=tmp_path / "out", n_jobs=1)
    outputs = ss.training.resample_training(
        ss.training.load_task("digits"), fractions=[0.1, 0.05], replicates=[4, 4], seed=3
    )
    pairs = compared(outputs["rotated 10°"], n_resamples=500, seed=3)
    wanted = ss.calibration(pairs, {name: outputs[name] for name in ("noise 2/16", "test")}, seed=3)
    found = results.tables["calibration_domains"]
    assert set(found["test_set"]) == {"rotated 10°"}
    assert set(found["n_items"]) == {797}
    np.testing.assert_allclose(found["share"], wanted["share"])
    sizes = results.comparisons.groupby("test_set", sort=False)["n_items"].unique().map(list).to_dict()
    assert sizes == {"test": [100, 120], "rotated 10°": [120, 797], "noise 2/16": [120]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"metrics": ["span_f1", "uas"]},
            "metrics: a metric of task 'tags' must be one of span_f1, accuracy, not 'uas'",
        ),
        (
            {"metrics": ["accuracy"]},
            "natural.metric: it must be the study's first metric, accuracy, alone, not span_f1",
        ),
        ({"metrics": ["span_f1", "span_f1"]}, "it must have each value once"),
        (
            {"calibration": {**STUDY["calibration"], "unit": "writer"}},
            "calibration.unit: the items of test set 'home' have no column 'writer'",
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_trained(
    changes: dict[str, Any], message: str, tmp_path: Path, model: type[Study]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("simstudy.studies.resampling.study.train", lambda *_: pytest.fail("something was trained"))
        with pytest.raises(StudyError) as error:
            ss.run_study(make_study({**STUDY, **changes}, "here", model), out=tmp_path / "out", n_jobs=1)
    assert message in str(error.value)
