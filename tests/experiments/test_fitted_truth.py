"""The study of fitted models beside real sets, small, on made-up sets: its cells, ratios, and test."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.running.keys import Cell
from simstudy.studies import DataFile, Results, RunContext, derived_seed, load_study
from tests.experiments.programs import Answered, assert_shipped, program, small

STUDY, TABLES, SETS_READ = (program("fitted_truth", part) for part in ("study", "tables", "sets"))
SETS: dict[str, Any] = {
    "many": {"title": "Many", "kind": "made up", "metric": "accuracy", "paths": ["made/many.csv"]},
    "few": {
        "title": "Few", "kind": "made up", "metric": "mean", "paths": ["made/few.csv"], "where": {"of": "this"},
        "leave_out": ["bad"],
    },
}  # fmt: skip
SMALL: dict[str, Any] = {
    "sets": SETS, "splits": 2, "replicates": 3, "at_once": 2, "n_resamples": 99, "level": 0.25,
}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "made").mkdir()
    many = ss.truth.correlated_accuracies(np.linspace(0.5, 0.8, 10).tolist(), 120)
    scores = many.statistics[..., 0]
    # The last system is the first one again.
    pd.DataFrame({"item": np.arange(120)} | {f"s{k}": own for k, own in enumerate([*scores, scores[0]])}).to_csv(
        folder / "made" / "many.csv", index=False
    )
    rows = [
        (of, f"s{k}", i, v + k)
        for of in ("this", "that")
        for k, own in enumerate(scores[:3])
        for i, v in enumerate(own)
    ]
    rows += [("this", "bad", i, i) for i in range(120)]
    table = pd.DataFrame(rows, columns=["of", "system", "item", "score"])
    table.to_csv(folder / "made" / "few.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(small("fitted_truth", **SMALL), out=tmp_path_factory.mktemp("fitted"), n_jobs=1, data_dir=data)


def test_sets_are_read_and_halved_as_asked(done: Results) -> None:
    sets = done.tables["sets"].set_index("set")
    assert sets["n_systems"].to_dict() == {"many": 10, "few": 3}, "equal systems once, and without what is left out"
    assert (sets["n_units"] == 120).all()
    assert len(done.tables["splits"]) == 2 * 2 * 4
    assert len(done.tables["replicates"]) == 2 * 3 * 4
    assert set(done.tables["curves"]["set"]) == {"many"}, "three pairs are no curve"


def test_the_page_has_ratios_and_figures(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    assert "(figures/ratios.png)" in page
    assert "(figures/curves.png)" in page
    assert "Biases (fitted - real) outside the range of correct models: Median r12 " in page
    assert "By chance alone, 50 % are expected." in page
    assert "nan" not in page.lower()


def test_a_real_set_gives_the_rows_of_the_shipped_results(shared_data: Path) -> None:
    """One of its splits, on a set of ratings in a column of another name."""
    study: Any = load_study("fitted_truth")
    of = study.sets["summeval"]
    files = SETS_READ.found(of, RunContext(Path("unused"), 1, shared_data))
    rows = STUDY.split(of, files, [], 1, study.n_resamples, study.seed)
    for title, keys in (("sets", ("set",)), ("splits", ("set", "draw")), ("curves", ("set", "draw"))):
        found = pd.DataFrame([{"set": "summeval", **row} for row in rows[title]])
        assert_shipped("fitted_truth", title, found.drop(columns="replicate", errors="ignore"), keys)


def test_tables_are_of_all_cells_of_a_set_and_its_replicates(data: Path) -> None:
    """Five replicates, two of a cell: rows are made up, and no two are the same."""
    sets = {**SETS, "many": {**SETS["many"], "paths": ["made/many.csv", "made/few.csv"]}}
    changes: dict[str, Any] = {**SMALL, "sets": sets, "replicates": 5, "splits": 3, "seed": 4, "level": 0.4}

    def made(cell: Cell) -> dict[str, Any]:
        _, files, batch, splits, *_ = cell.arguments
        rng = np.random.default_rng([len(files.paths), *batch])
        names = ["real", "training", "fitted", "fitted_error", "halves_error"]
        rows = [
            {"replicate": k, "draw": draw, "measure": measure, **dict(zip(names, rng.random(5), strict=True))}
            for k in batch or [-1]
            for draw in range(splits)
            for measure in ("r12", "curve")
        ]
        only_real = {"sets": [{"n_items": len(files.paths)}], "curves": [{"part": "real", "gain": rng.random()}]}
        return {"splits": rows} if batch else {"splits": rows, **only_real}

    run = Answered(made, data)
    study: Any = small("fitted_truth", **changes)
    tables = STUDY.run(study, run).tables
    function, cells = run.parts["test sets in halves"]
    assert function is STUDY.split
    many, few = (DataFile.of(data / "made" / f"{name}.csv") for name in ("many", "few"))
    files = {"many": SETS_READ.Files((many, few)), "few": SETS_READ.Files((few,))}
    batches = [[], [0, 1], [2, 3], [4]]
    unnamed = {name: of.model_copy(update={"title": "", "kind": ""}) for name, of in study.sets.items()}
    asked = [(unnamed[name], files[name], batch, 3, 99, 4) for name in sets for batch in batches]
    assert [cell.arguments for cell in cells] == asked
    wanted: dict[str, Any] = {
        kind: pd.DataFrame(
            [{"set": name, **row} for cell, name in zip(cells, ["many"] * 4 + ["few"] * 4, strict=True)
             for row in made(cell).get(kind, [])]
        )
        for kind in ("sets", "splits", "curves")
    }  # fmt: skip
    words = [{"set": name, "title": study.sets[name].title, "kind": study.sets[name].kind} for name in sets]
    wanted["sets"] = pd.DataFrame(words).assign(n_items=[2, 1])
    ratios = TABLES.ratios(wanted["splits"])
    wanted["splits"] = wanted["splits"].query("replicate < 0").reset_index(drop=True)
    wanted["ratios"] = TABLES.beside_null(ratios, wanted["splits"], study)
    wanted["splits"] = wanted["splits"].drop(columns="replicate")
    wanted["replicates"] = ratios[ratios["replicate"] >= 0].reset_index(drop=True)
    for title, table in tables.items():
        pd.testing.assert_frame_equal(table.reset_index(drop=True), wanted[title])
    prints = {name: of.fingerprint() for name, of in files.items()}
    hashes = [sha256((data / "made" / name).read_bytes()).hexdigest() for name in ("many.csv", "few.csv")]
    assert prints["many"].split() == [hashes[0], "many.csv", hashes[1], "few.csv"]
    assert prints["few"].split() == [hashes[1], "few.csv"]


def test_replicates_are_drawn_from_the_model_and_halved_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def halved(outputs: Any, draw: int, **options: Any) -> Any:
        asked.append((outputs, draw, options))
        return SimpleNamespace(table=pd.DataFrame({"draw": [draw]}), curves=pd.DataFrame({"gain": [draw + 0.5]}))

    model = SimpleNamespace(outputs=lambda n, seed: (n, seed))
    monkeypatch.setattr(STUDY, "held_out_split", halved)
    monkeypatch.setattr(STUDY, "fitted_to_all", lambda of, files: SimpleNamespace(model=model))
    monkeypatch.setattr(STUDY, "read", lambda of, files: SimpleNamespace(n_items=77))
    monkeypatch.setattr(STUDY, "_about", lambda of, files, real: {"sets": [real.n_items]})
    found = STUDY.split("of", "files", [3, 4], 2, 98, 6)
    seeds = [derived_seed(6, "replicate", k) % 2**64 for k in (3, 4)]
    options = {"n_resamples": 98, "seed": 6}
    assert asked == [((77, seed), draw, options) for seed in seeds for draw in (0, 1)]
    assert found == {"splits": [{"draw": draw, "replicate": k} for k in (3, 4) for draw in (0, 1)]}
    found = STUDY.split("of", "files", [], 2, 98, 6)
    assert found == {
        "sets": [77], "splits": [{"draw": draw, "replicate": -1} for draw in (0, 1)],
        "curves": [{"gain": draw + 0.5, "draw": draw} for draw in (0, 1)],
    }  # fmt: skip


def test_clusters_are_what_a_set_is_halved_by(tmp_path: Path) -> None:
    """Four documents, items in a file of their own; the last system is the second one again, and bad is left out."""
    scores = {"zeta": [1, 0, 1, 1, 0, 1] * 2, "beta": [1, 0, 1, 0] * 3, "bad": [1] * 12}
    scores["alpha"] = scores["beta"]
    table = pd.DataFrame({"item": [f"i{k}" for k in range(12)], "doc": [f"d{k // 3}" for k in range(12)], **scores})
    table.drop(columns="doc").to_csv(tmp_path / "scores.csv", index=False)
    table[["item", "doc"]].to_csv(tmp_path / "items.csv", index=False)
    given = {"title": "T", "kind": "k", "metric": "accuracy", "paths": ["scores.csv"], "items": "items.csv"}
    given |= {"columns": {"cluster": "doc"}, "leave_out": ["bad"]}  # type: ignore[dict-item]
    study: Any = small("fitted_truth", **{**SMALL, "sets": {"x": given}})
    files = SETS_READ.found(study.sets["x"], RunContext(Path("unused"), 1, tmp_path))
    scored, listed = (DataFile.of(tmp_path / f"{name}.csv") for name in ("scores", "items"))
    assert files == SETS_READ.Files((scored,), items=(listed,))
    other = SETS_READ.Files((scored,), references=(listed,))
    assert files.fingerprint() != other.fingerprint()
    real = SETS_READ.read(study.sets["x"], files)
    assert real.names == ["zeta", "beta"]
    (row,) = STUDY._about(study.sets["x"], files, real)["sets"]
    whole = SETS_READ.fitted_to_all(study.sets["x"], files)
    assert row == {
        "metric": "accuracy", "n_systems": 2, "n_items": 12, "unit": "cluster", "n_units": 4,
        "shrinkage": whole.shrinkage, "distance": whole.distance / 2, "notes": "; ".join(whole.notes),
    }  # fmt: skip


def test_biases_are_counted_by_measure() -> None:
    """One of two is above the range of correct models; what has no range is not counted, nor is the curve."""
    page, study = program("fitted_truth", "page"), small("fitted_truth", **SMALL)
    rows = [("r12", 0.2, -0.1), ("r12", 0.0, -0.1), ("significant", 0.3, np.nan), ("curve", 9.0, 0.0)]
    ratios = pd.DataFrame(rows, columns=["measure", "bias", "null_bias_low"]).assign(null_bias_high=0.1)
    assert page._biased(ratios, study) == (
        "Biases (fitted - real) outside the range of correct models: Median r12 1 of 2. By chance alone, 50 % are "
        "expected."
    )


def _rows(replicate: int, off: list[float], halves: list[float]) -> list[dict[str, Any]]:
    return [
        {"set": "x", "replicate": replicate, "draw": k, "measure": "r12", "real": 0.5, "training": 0.5 + b,
         "fitted": 0.5 + a, "fitted_error": a, "halves_error": b}
        for k, (a, b) in enumerate(zip(off, halves, strict=True))
    ]  # fmt: skip


def test_a_set_is_outside_where_its_ratio_is_above_all_models_of_the_right_kind() -> None:
    """Ratios by hand: 5 of sqrt(9 + 16) over sqrt(1), and replicates of 1 to 3."""
    study = small("fitted_truth", **SMALL)
    real, null = _rows(-1, [3.0, 4.0], [1.0, 0.0]), [_rows(k, [k + 1.0, 0.0], [1.0, 0.0]) for k in range(3)]
    splits = pd.DataFrame([*real, *(row for rows in null for row in rows)])
    table = TABLES.beside_null(TABLES.ratios(splits), splits[splits["replicate"] < 0], study).iloc[0]
    assert (table["ratio"], table["null_median"], table["null_high"]) == pytest.approx((5, 2, 3))
    assert (table["p_value"], table["within"]) == (0.25, False)
    assert (table["low"], table["high"]) == (3.0, 3.0), "without the first split there is no distance of halves"
    assert table["bias"] == pytest.approx(3.5)
    assert (table["null_bias_low"], table["null_bias_high"]) == pytest.approx((0.5, 1.5))
    inside = pd.DataFrame([*_rows(-1, [2.0, 0.0], [1.0, 0.0]), *(row for rows in null for row in rows)])
    table = TABLES.beside_null(TABLES.ratios(inside), inside[inside["replicate"] < 0], study).iloc[0]
    assert (table["p_value"], table["within"]) == (0.75, True)


def test_too_few_replicates_are_no_test() -> None:
    study = small("fitted_truth", **{**SMALL, "level": 0.05})
    splits = pd.DataFrame([*_rows(-1, [3.0, 4.0], [1.0, 0.0]), *_rows(0, [1.0, 0.0], [1.0, 0.0])])
    table = TABLES.beside_null(TABLES.ratios(splits), splits[splits["replicate"] < 0], study).iloc[0]
    assert np.isnan(table["p_value"])
    assert table["within"] is None


def test_without_the_data_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"many\.csv.*: no such file"):
        ss.run_study(small("fitted_truth", **SMALL), out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
