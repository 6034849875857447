"""The study of the whole paper: its numbers, ours beside them, and the studies that it is made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.pages.sections import Table
from tests.experiments.programs import program, small

NAME = "berg_kirkpatrick_2012"
RESULTS = Path(__file__).parents[2] / "results"


def thresholds(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    columns = ["test_set", "n_items", "metric", "unit", "alternative", "relation", "threshold", "low", "high"]
    return pd.DataFrame(rows, columns=columns).assign(n_window=50)


TABLES = {
    "thresholds": thresholds(
        [
            ("home", 100, "aer", "cluster", "greater", "same family", 2.0, 1.5, 2.5),
            ("home", 100, "aer", "cluster", "greater", "different families", 4.0, 3.5, 4.5),
            ("home", 400, "aer", "cluster", "greater", "same family", 1.0, np.nan, np.nan),
            ("home", 400, "aer", "cluster", "greater", "different families", 2.0, 1.8, 2.2),
            ("home", 400, "aer", "item", "greater", "same family", 0.9, 0.8, 1.0),
            ("home", 400, "aer", "item", "greater", "different families", 1.8, 1.7, 1.9),
            ("home", 400, "aer", "item", "two-sided", "same family", 9.0, 8.0, 9.5),
            ("away", 400, "aer", "cluster", "greater", "same family", 9.0, 8.0, 9.5),
            ("home", 400, "other", "item", "greater", "same family", 9.0, 8.0, 9.5),
        ]
    ),
    "correlation": pd.DataFrame({"relation": ["same family", "different families"], "r12_median": [0.84, 0.36]}),
}


def test_thresholds_by_item_on_the_whole_test_set_are_scaled_by_the_square_root() -> None:
    table = program(NAME, "comparing").beside_published({"mine": TABLES}, {"mine": "word alignment"})
    ours = table[table["study"] == "mine"].set_index("relation")
    assert ours["published"].to_dict() == {"same family": 0.50, "different families": 1.12}
    assert ours["threshold"].to_dict() == {"same family": 0.9, "different families": 1.8}
    # 400 items are four times the paper's 100.
    np.testing.assert_allclose(ours["scaled_threshold"], [1.8, 3.6])
    np.testing.assert_allclose(ours["scaled_low"], [1.6, 3.4])
    others = table[table["study"] == ""]
    assert set(others["task"]) == {"dependency parsing", "machine translation", "constituency parsing"}
    assert others["threshold"].isna().all()


def test_classes_are_compared_at_one_size_by_one_unit() -> None:
    (row,) = program(NAME, "comparing").families({"mine": TABLES}).to_dict("records")
    assert (row["n_items"], row["threshold_same"], row["threshold_different"], row["ratio"]) == (100, 2.0, 4.0, 0.5)
    # sqrt(0.16 / 0.64)
    assert row["expected"] == pytest.approx(0.5)


def calibrated(shares: list[float]) -> pd.DataFrame:
    ends = [0.0, 0.01, 0.02, 0.04, 0.08]
    rows = pd.DataFrame({"p_from": [*ends[:-1], 0.04], "p_to": [*ends[1:], 0.06], "share": [*shares, 1.0]})
    shared = {"test_set": "home", "elsewhere": "away", "relation": "all pairs", "n_pairs": 30, "baseline": 0.9}
    return rows.assign(**shared, low=rows["share"] - 0.1, high=1.0)


@pytest.mark.parametrize(
    ("shares", "p"),
    [
        ([0.99, 0.95, 0.9, 0.6], 0.04),
        ([0.99, 0.8, 0.95, 0.99], 0.01),
        ([0.89, 0.95, 0.95, 0.99], np.nan),
        ([0.99, np.nan, 0.95, 0.7], 0.04),
    ],
)
def test_p_is_small_enough_where_no_smaller_one_fails(shares: list[float], p: float) -> None:
    table = program(NAME, "comparing").small_enough({"mine": {"calibration_domains": calibrated(shares)}, "other": {}})
    (row,) = table.to_dict("records")
    np.testing.assert_equal((row["p"], row["lowest"], row["lowest_to"]), (p, shares[0], 0.01))


def test_other_tests_are_held_against_randomization() -> None:
    rows = [("bootstrap", 0.6, 3, 1), ("randomization", 0.5, 0, 0)]
    tests = pd.DataFrame(rows, columns=["test", "share", "only_test", "only_reference"])
    tests = tests.assign(metric="uas", n_items=100, n_pairs=20, alpha=0.05, relation="all pairs")
    other = tests.assign(relation="same family", share=0.1)
    (row,) = (
        program(NAME, "comparing")
        .by_test({"mine": {"tests": pd.concat([other, tests])}, "none": {}})
        .to_dict("records")
    )
    assert row["bootstrap"] == 0.6
    assert row["bootstrap_other"] == 4
    assert row["randomization"] == 0.5


def test_models_and_training_sets_are_taken_from_studies_that_have_them() -> None:
    comparing = program(NAME, "comparing")
    models = pd.DataFrame(
        {"predictors": ["gain", "gain, n"], "n_pairs": 9.0, "r2": [0.5, 0.9], "factor_90": [20.0, 3.0]}
    )
    few = models.assign(r2=np.nan)
    table = comparing.confidence_models(
        {"mine": {"confidence_models": models}, "few": {"confidence_models": few}, "none": {}}
    )
    assert table.to_dict("records") == [
        {"study": "mine", "n_pairs": 9.0, "gain": 0.5, "factor gain": 20.0, "gain, n": 0.9, "factor gain, n": 3.0}
    ]
    trained = pd.DataFrame({"family": ["one", "all families", "all families"], "train_size": [200, 200, 100]})
    found = comparing.training({"mine": {"training_variance": trained}, "none": {}})
    assert found["train_size"].tolist() == [200, 100]


def test_published_numbers_are_the_papers(shared_data: Path) -> None:
    text = (shared_data.parent / "papers" / "berg_kirkpatrick_2012.txt").read_text(encoding="utf-8")
    published = program(NAME, "published")
    for row in published.THRESHOLDS.to_dict("records"):
        unit = row["theirs"].split(",")[0].replace("UAS", "unlabeled dependency accuracy")
        assert f"{row['published']:.2f} {unit}" in " ".join(text.split()), row
    for row in published.TABLE_1.to_dict("records"):
        shares = " ".join(f"{row[name]}%" for name in ("WSJ section 22", "WSJ section 24", "Brown corpus"))
        assert f"{row['p_from']:g} - {row['p_to']:g} {shares}" in " ".join(text.split()), row
    assert "942 had p-value between 0.04 and 0.06, 869 of which" in text
    assert f"{published.SAME_DISTRIBUTION:.0%}" == "92%"


def test_the_page_shows_every_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def committed(study: str, context: ss.studies.RunContext) -> ss.studies.ShippedTables:
        asked.append(study)
        # The page looks for them beside its own results.
        (tmp_path / study).symlink_to(RESULTS / study)
        return ss.studies.ShippedTables.of(tmp_path / study)

    study = small(NAME)
    few = {"natural": study.natural[-1:], "synthetic": [study.synthetic[0], study.synthetic[1]]}
    few = {key: [part.model_dump() for part in parts] for key, parts in few.items()}
    monkeypatch.setattr(program(NAME), "tables_of", committed)
    monkeypatch.setattr(program(NAME), "hashes_of", lambda study, context: {"points.csv": study})
    done = ss.run_study(small(NAME, **few), out=tmp_path / "out")
    assert asked == ["natural_mt", "dependency_parsing", "word_alignment"]
    assert {path.stem for path in (tmp_path / "out" / "figures").glob("*.png")} == {
        "natural", "synthetic", "sizes", "domains", "overlay",
    }  # fmt: skip
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["data"]["studies"]["natural_mt"] == {"points.csv": "natural_mt"}
    own = pd.read_csv(RESULTS / "word_alignment" / "thresholds.csv")
    own = own[(own["n_items"] == 100) & (own["alternative"] == "greater") & (own["relation"] == "same family")]
    shown = done.tables["thresholds"].query("study == 'word_alignment' and relation == 'same family'")
    assert shown["threshold"].tolist() == own["threshold"].tolist()


def test_a_baseline_without_a_mark_is_shown_and_a_useless_factor_is_no_number() -> None:
    """A CSV file has nothing where there is no mark, so that it is read as missing."""
    page = program(NAME, "page")
    baselines = Table(page._marked(pd.DataFrame({"b": [0.75, 0.84], "mark": [np.nan, "*"]})), {"b": "{b:.0%}{mark}"})
    assert baselines.text()["b"].tolist() == ["75%", "84%*"]
    models = pd.DataFrame({"gain": 0.5, "factor gain": [2.13, 4.1e9, np.nan]})
    shown = Table(page._readable(models), {"factor": "{factor gain}"})
    assert shown.text()["factor"].tolist() == ["2.13", "over 1,000", ""]
