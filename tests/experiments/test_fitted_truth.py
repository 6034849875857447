"""The study of fitted models beside real sets, small, on made-up sets: its cells, ratios, and test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.studies import Results
from tests.experiments.programs import program, small

TABLES = program("fitted_truth", "tables")
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


def test_replicates_differ_and_are_not_the_real_set(done: Results) -> None:
    r12 = done.tables["replicates"].query("measure == 'r12' and set == 'many'")["real"]
    own = done.tables["ratios"].query("measure == 'r12' and set == 'many'")["real"]
    assert len({*r12, *own}) == 4


def test_the_page_has_ratios_and_figures(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    assert "(figures/ratios.png)" in page
    assert "(figures/curves.png)" in page
    assert "Biases (fitted - real) outside the range of correct models: Median r12 " in page
    assert "By chance alone, 50 % are expected." in page
    assert "nan" not in page.lower()


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
    with pytest.raises(DataError, match=r"many\.csv is missing"):
        ss.run_study(small("fitted_truth", **SMALL), out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
