"""Samples in columns, means with a number of samples, and metrics of samples by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.formats import load

ROWS = pd.DataFrame(
    [(s, q, k, (len(s) + q * k) % 3 > 0) for s in ("old", "newer") for q in range(5) for k in range(4)],
    columns=["system", "item", "sample", "score"],
).astype({"score": int})


def written(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path, index=False)
    return path


def test_a_column_for_each_sample_is_as_a_row_for_each(tmp_path: Path) -> None:
    rows = load(written(tmp_path / "rows.csv", ROWS), "accuracy").outputs
    wide = ROWS.assign(sample="score_" + ROWS["sample"].astype(str))
    wide = wide.pivot(index=["system", "item"], columns="sample", values="score").reset_index()
    columns = load(written(tmp_path / "columns.csv", wide), "accuracy").outputs.aligned(rows.names)
    assert set(columns.items["id"]) == set(rows.items["id"])
    place = pd.Series(range(20), index=columns.items["id"])
    assert np.array_equal(columns.statistics[:, place.loc[rows.items["id"]]], rows.statistics)


def test_means_with_their_number_of_samples_are_read_as_means(tmp_path: Path) -> None:
    means = ROWS.groupby(["system", "item"])["score"].mean().round(4).reset_index()
    loaded = load(written(tmp_path / "means.csv", means.assign(n_samples=4)), "accuracy")
    assert loaded.notes == ("scores are means of 4 samples (column 'n_samples')",)
    rows = load(written(tmp_path / "rows.csv", ROWS), "accuracy").outputs
    expected = rows.aligned(loaded.outputs.names).statistics[..., 0].reshape(2, 5, 4)
    assert loaded.outputs.samples is not None
    assert loaded.outputs.samples[..., 1] == pytest.approx(expected.var(axis=2, ddof=1))
    named = written(tmp_path / "k.csv", means.assign(k=4))
    assert load(named, "accuracy", columns={"n_samples": "k"}).outputs.samples is not None
    assert load(named, "accuracy").outputs.samples is None
    off = load(written(tmp_path / "off.csv", means.assign(n_samples=7)), "accuracy")
    assert off.outputs.samples is None
    assert off.notes[0].startswith("column 'n_samples' is not used as the number of samples: the score in ")
    text = load(written(tmp_path / "text.csv", means.assign(n_samples="many")), "accuracy")
    assert text.notes[0].endswith("has 'many'")


def test_questions_with_unlike_many_samples_count_once_each(tmp_path: Path) -> None:
    some = ROWS[(ROWS["item"] > 0) | (ROWS["sample"] == 0)]
    loaded = load(written(tmp_path / "some.csv", some), "accuracy")
    assert "questions have 1 to 4 samples. The score of a question is the mean of its samples." in loaded.notes
    expected = 100 * some.groupby(["system", "item"])["score"].mean().groupby("system").mean()
    assert dict(zip(loaded.outputs.names, loaded.outputs.scores(), strict=True)) == pytest.approx(expected.to_dict())


def test_a_metric_of_samples_is_a_name(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", ROWS)
    outputs = load(path, "pass^2").outputs
    right = ROWS.groupby(["system", "item"])["score"].sum()
    expected = 100 * (right * (right - 1) / 12).groupby("system").mean()
    assert dict(zip(outputs.names, outputs.scores(), strict=True)) == pytest.approx(expected.to_dict())
    with pytest.raises(ValueError, match="^metric 'pass@2' needs several samples of each question; several samples"):
        load(written(tmp_path / "one.csv", ROWS[ROWS["sample"] == 0]), "pass@2")
