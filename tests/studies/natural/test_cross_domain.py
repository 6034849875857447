"""Who wins elsewhere: the shares of the study, counted again in loops over pairs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.outputs import Outputs
from simstudy.studies import Comparison, RunContext, StudyError, baselines
from simstudy.studies.baselines import n_units
from simstudy.studies.natural import cross_domain
from simstudy.studies.natural.definition import CrossDomain
from tests.oracles import compared
from tests.studies.natural.small import EXAMS, MEASURES, Make

# What is drawn is looked at in test_study.py, test_resampling.py and tests/plot.
pytestmark = pytest.mark.usefixtures("empty_figures")

BINS = {(0.0, 0.05), (0.05, 1.0), (0.04, 0.06)}


def exam(data_dir: Path, value: str, topic: str | None = None, *, without: bool = False) -> pd.DataFrame:
    """Scores, items x systems, of an exam or of one of its topics (or of all others)."""
    table = pd.read_csv(data_dir / "made" / f"exam_{value}.csv")
    if topic:
        table = table[(table["topic"] == topic) != without]
    scores = table.pivot(index="item", columns="system", values="score")
    return scores.drop(columns=["broken", "s00"])


def share(home: pd.DataFrame, elsewhere: pd.DataFrame, low: float, high: float) -> tuple[int, float]:
    """How many pairs have a p-value in the bin, and how many of their winners win elsewhere."""
    pairs = compared(Outputs.from_scores(home, "accuracy"), n_resamples=2000)
    closed = high in (1.0, 0.06)
    inside = [
        bool(elsewhere[row.system_a].sum() > elsewhere[row.system_b].sum())
        for row in pairs.itertuples()
        if row.gain > 0 and (low <= row.p_value < high or (closed and row.p_value == high))
    ]
    return len(inside), float(np.mean(inside)) if inside else np.nan


@pytest.fixture(scope="module")
def exact(make: Make, data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The calibration of a study whose p-values are exact, so that no order of items or seed plays a part."""
    study = make(
        {**EXAMS, "sizes": []}, comparison={"n_resamples": 2000},
        calibration=[
            {"among": ["exam a", "exam b"], "n_splits": 2, "min_pairs": 1, "bins": [0.0, 0.05, 1.0]},
            {"domains_of": "exam a", "n_splits": 2, "min_pairs": 1, "least_items": 40, "bins": [0.0, 0.05, 1.0]},
        ],
    )  # fmt: skip
    out = tmp_path_factory.mktemp("exact")
    return ss.run_study(study, out=out, data_dir=data_dir, n_jobs=1).tables["calibration"]


def test_test_sets_are_home_in_turn(exact: pd.DataFrame, data_dir: Path) -> None:
    rows = exact[exact["homes"] == "exam a, exam b"].set_index(["test_set", "elsewhere", "p_from", "p_to"])
    assert set(rows.index) == {(*two, *b) for two in (("exam a", "exam b"), ("exam b", "exam a")) for b in BINS}
    for (home, elsewhere, low, high), row in rows.iterrows():  # type: ignore[misc]
        n, wins = share(exam(data_dir, home[-1]), exam(data_dir, elsewhere[-1]), low, high)
        assert row["n_pairs"] == n
        assert row["share"] == pytest.approx(wins, nan_ok=True)


def test_domains_are_home_in_turn_and_all_others_are_elsewhere(exact: pd.DataFrame, data_dir: Path) -> None:
    rows = exact[exact["homes"] == "exam a"].set_index(["test_set", "p_from", "p_to"])
    assert {key[0] for key in rows.index} == {"exam a / law", "exam a / art"}, "20 items are too few for a home"
    assert set(rows["elsewhere"]) == {"all other domains"}
    for (home, low, high), row in rows.iterrows():  # type: ignore[misc]
        topic = home.removeprefix("exam a / ")
        n, wins = share(exam(data_dir, "a", topic), exam(data_dir, "a", topic, without=True), low, high)
        assert (row["n_pairs"], row["n_items"]) == (n, {"law": 60, "art": 40}[topic])
        assert row["n_items_elsewhere"] == 120 - row["n_items"]
        assert row["share"] == pytest.approx(wins, nan_ok=True)


def test_a_test_set_without_domains_is_named(make: Make, data_dir: Path, tmp_path: Path) -> None:
    columns = {name: column for name, column in MEASURES["columns"].items() if name != "domain"}
    study = make({**MEASURES, "metric": "ap", "columns": columns}, calibration=[{"domains_of": "runs"}])
    with pytest.raises(ValueError, match="column must be a column of the items of test set 'runs', not 'domain'"):
        ss.run_study(study, out=tmp_path, data_dir=data_dir)


def test_test_sets_of_other_systems_can_not_be_one_anothers_home(make: Make, data_dir: Path, tmp_path: Path) -> None:
    runs = [{**MEASURES, "name": f"runs {k}", "metric": "ap", "leave_out": [f"r{j}" for j in range(8) if j % 2 == k]} for k in (0, 1)]  # fmt: skip  # noqa: E501
    study = make(*runs, calibration=[{"among": ["runs 0", "runs 1"]}])
    with pytest.raises(
        StudyError, match="study 'small': calibration.0: fewer than 2 systems are in all of runs 0, runs 1"
    ):
        ss.run_study(study, out=tmp_path, data_dir=data_dir)


def test_only_shared_systems_are_compared_between_test_sets(make: Make, data_dir: Path, tmp_path: Path) -> None:
    runs = [{**MEASURES, "name": f"runs {k}", "metric": "ap", "leave_out": [f"r{k}"]} for k in (0, 1)]
    study = make(
        *runs, calibration=[{"among": ["runs 0", "runs 1"], "n_splits": 2, "min_pairs": 1, "bins": [0.0, 1.0]}]
    )
    table = ss.run_study(study, out=tmp_path, data_dir=data_dir, n_jobs=1).tables["calibration"]
    assert table.query("p_to == 1")["n_pairs"].tolist() == [15, 15], "6 systems"
    assert table.query("p_to == 1")["share"].tolist() == [1.0, 1.0], "the same scores on both"


def test_no_folder_no_study(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SIMSTUDY_DATA_DIR", raising=False)
    with pytest.raises(DataError, match=r"made/exam_a.csv.*: no public address; data_dir"):
        ss.run_study(make(EXAMS), out=tmp_path / "out")


@pytest.mark.parametrize("unit", ["cluster", None])
def test_redrawn_test_sets_have_as_many_clusters_as_the_home(monkeypatch: pytest.MonkeyPatch, unit: str | None) -> None:
    """Of 40 clusters at home 40 are redrawn, whole, whatever their items are."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(80), rng.integers(1, 4, size=80)).astype(str)
    items = pd.DataFrame({"id": [f"i{k}" for k in range(len(clusters))], "cluster": clusters})
    right = rng.random((5, len(clusters))) < np.linspace(0.5, 0.8, 5)[:, None]
    statistics = np.stack([right, np.ones_like(right)], axis=-1)
    population = Outputs.from_statistics(statistics, "accuracy", items=items)
    home = population.take(np.flatnonzero(clusters.astype(int) < 40))
    drawn: list[Outputs] = []

    def found(_: str, asked: list[ss.TestSet], context: object) -> list[pd.DataFrame]:
        drawn.extend(one.outputs for one in asked)
        assert len({one.settings["seed"] for one in asked}) == 3, "each has resamples of its own"
        assert {one.unit for one in asked} == {unit}
        return [compared(one.outputs, unit=unit, n_resamples=100) for one in asked]

    monkeypatch.setattr(baselines, "run_comparisons", found)
    size = n_units(Comparison(unit=unit).on(home, 0))
    context = RunContext(Path(), 1)
    table = baselines.compare_redrawn(Comparison(unit=unit).on(population, 0), size, 3, context)
    assert size == 40
    assert len(drawn) == 3
    assert table["draw"].unique().tolist() == [1, 2, 3]
    assert set(table["n_items"]) == {int(np.median([test_set.n_items for test_set in drawn]))}
    sizes = population.items["cluster"].value_counts()
    for test_set in drawn:
        of_drawn = test_set.items["cluster"].value_counts()
        assert len(of_drawn) == 40
        assert all(count == sizes[str(name).split("#")[0]] for name, count in of_drawn.items())


def test_redrawn_test_sets_have_the_median_number_of_units_of_the_homes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Domains of 10, 6 and 4 documents of three items: six documents are redrawn, of 60 items."""
    domain = np.repeat(["x", "y", "z"], [30, 18, 12])
    items = pd.DataFrame({"id": [f"i{k}" for k in range(60)], "cluster": np.arange(60) // 3, "domain": domain})
    right = np.random.default_rng(0).random((3, 60)) < 0.5
    test_set = Outputs.from_statistics(
        np.stack([right, np.ones_like(right)], axis=-1), "accuracy", items=items, test_set="t"
    )
    drawn: list[int] = []

    def redrawn(population: ss.TestSet, size: int, *_: object) -> pd.DataFrame:
        drawn.append(size)
        return compared(population.outputs, test="t_paired").assign(draw=1)

    def compare(_: str, asked: list[ss.TestSet], __: object) -> list[pd.DataFrame]:
        return [compared(one.outputs, test="t_paired") for one in asked]

    monkeypatch.setattr(cross_domain, "compare_redrawn", redrawn)
    monkeypatch.setattr(cross_domain, "run_comparisons", compare)
    monkeypatch.setattr(cross_domain, "baseline", lambda *_, **__: baselines._NO_BASELINE)
    part = CrossDomain(domains_of="t", least_items=6, n_draws=1, n_splits=1, min_pairs=1)
    study = SimpleNamespace(comparison=Comparison(test="t_paired"), seed=0)
    cross_domain.cross_domain(study, part, [ss.TestSet(test_set)], RunContext(Path(), 1))
    assert drawn == [6]
