"""Samples in columns, means with a number of samples, and metrics of samples by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.door import load

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
    text = load(written(tmp_path / "text.csv", means.assign(n_samples="many")), "accuracy")
    assert text.notes[0].endswith("has 'many'")


@pytest.mark.parametrize(("n", "digits"), [(3, 2), (3, 3), (30, 3), (999, 4)])
def test_shares_of_right_answers_may_be_rounded_and_others_are_not_used(tmp_path: Path, n: int, digits: int) -> None:
    shares = np.arange(n + 1) / n
    frame = pd.DataFrame({"system": "a", "item": range(n + 1), "score": shares.round(digits), "n_samples": n})
    loaded = load(written(tmp_path / "rounded.csv", frame), "accuracy")
    assert loaded.notes == (f"scores are means of {n} samples (column 'n_samples')",)
    assert loaded.outputs.samples is not None
    # If k of n answers are right, the squared deviations from the mean sum up to k (1 - k / n).
    variances = np.arange(n + 1) * (1 - shares) / (n - 1)
    assert loaded.outputs.samples[0] == pytest.approx(np.stack([np.full(n + 1, n), variances], axis=1), abs=0.01)
    frame.loc[1, "score"] = 1.2 / n
    off = load(written(tmp_path / "off.csv", frame), "accuracy")
    assert off.outputs.samples is None
    told = "column 'n_samples' is not used as the number of samples: the score in "
    assert off.notes[0] == f"{told}{tmp_path}/off.csv, line 3 is no share of {n} right answers"


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


@pytest.mark.parametrize("name", ["score_", "sample_", "Run ", "attempt_"])
def test_a_file_with_a_column_for_each_sample_is_one_system(tmp_path: Path, name: str) -> None:
    rows = load(written(tmp_path / "rows.csv", ROWS), "accuracy").outputs
    files = []
    for system, own in ROWS.groupby("system"):
        wide = own.assign(sample=name + own["sample"].astype(str)).pivot(index="item", columns="sample", values="score")
        files.append(written(tmp_path / f"{system}.csv", wide.reset_index().assign(topic="law")))
    found = load(files, "accuracy")
    assert found.notes[0].startswith(f"columns '{name}0' to '{name}3' are samples of each file's system; give them")
    own = found.outputs.aligned(rows.names)
    place = pd.Series(range(20), index=own.items["id"])
    assert np.array_equal(own.statistics[:, place.loc[rows.items["id"]]], rows.statistics)
    alone = load({"mine": files[0]}, "accuracy").outputs
    assert (alone.names, alone.n_items, alone.items["sample_of"].nunique()) == (["mine"], 20, 5)


def test_a_usual_name_of_systems_beside_columns_of_samples_is_the_system(tmp_path: Path) -> None:
    wide = ROWS.assign(sample="score_" + ROWS["sample"].astype(str))
    wide = wide.pivot(index=["system", "item"], columns="sample", values="score").reset_index()
    path = written(tmp_path / "m.csv", wide.rename(columns={"system": "model", "item": "question_id"}))
    loaded = load(path, "accuracy")
    assert sorted(loaded.outputs.names) == ["newer", "old"]
    assert loaded.notes[0].startswith("simstudy uses model as system and question_id as item.")
    runs = pd.DataFrame({"item": ["a", "b"], "run_1": [0, 1], "run_2": [1, 1], "baseline": [0, 0]})
    assert load(written(tmp_path / "runs.csv", runs), "accuracy").outputs.names == ["run_1", "run_2", "baseline"]
    blank = runs.assign(baseline=[0, ""])
    outputs = load(written(tmp_path / "blank.csv", blank), "accuracy", missing="drop").outputs
    assert (outputs.names, outputs.n_items) == (["run_1", "run_2", "baseline"], 1)


def test_systems_with_different_samples_of_a_question_are_compared_by_its_mean(tmp_path: Path) -> None:
    """As a table of the means: unlike many within a system, and between systems; a question is still needed by all."""
    kept = ROWS[((ROWS["item"] + ROWS["sample"]) % 4 > 0) | (ROWS["system"] == "old")]
    loaded = load(written(tmp_path / "some.csv", kept), "accuracy")
    assert loaded.notes == (
        "systems have different samples of an item, 3 to 4 each: the score of an item is the mean of its samples; "
        "missing='zero' scores a sample that a system lacks as no answer",
    )
    outputs = loaded.outputs
    groups = kept.groupby(["system", "item"])["score"]
    assert outputs.samples is not None
    for s, name in enumerate(outputs.names):
        ids = outputs.items["id"].astype(int)
        assert outputs.statistics[s, :, 0] == pytest.approx(groups.mean()[name].loc[ids].to_numpy())
        assert outputs.samples[s, :, 0].tolist() == groups.size()[name].loc[ids].tolist()
        assert outputs.samples[s, :, 1] == pytest.approx(groups.var()[name].loc[ids].to_numpy())
    assert (outputs.natural_unit, outputs.n_items) == ("item", 5)
    right = load(tmp_path / "some.csv", "pass^2").outputs.scores()
    assert (right < outputs.scores()).all()
    lacking = kept[(kept["item"] > 0) | (kept["system"] == "old")]
    with pytest.raises(ValueError, match=r"lacks 1 of 5 items, first '0' \(system 'newer'\)"):
        load(written(tmp_path / "lacking.csv", lacking), "accuracy")


def test_lists_of_right_answers_are_samples(tmp_path: Path) -> None:
    """The same as a row for each sample; questions may have unlike numbers of them, and a null is none."""
    said = {"a": [[True, False, True], [False, True, None]], "b": [[1, 0, 0], [1, 1]]}
    lists, rows = [], []
    for name, own in said.items():
        lists.append(tmp_path / f"{name}.jsonl")
        lists[-1].write_text("".join(json.dumps({"id": f"q{i}", "correct": one}) + "\n" for i, one in enumerate(own)))
        rows += [
            f"{name},q{i},{k},{int(one)}"
            for i, cells in enumerate(own)
            for k, one in enumerate(cells, 1)
            if one is not None
        ]
    (tmp_path / "s.csv").write_text("\n".join(["system,id,sample,correct", *rows]))
    for metric in ("accuracy", "pass@2"):
        found, wanted = load(lists, metric).outputs, load(tmp_path / "s.csv", metric).outputs
        assert found.names == wanted.names
        assert found.items.equals(wanted.items)
        assert found.statistics.tolist() == wanted.statistics.tolist()
    # Questions count alike: 2/3 and 1/2, 1/3 and 1.
    assert load(lists, "accuracy").outputs.scores().tolist() == pytest.approx([175 / 3, 200 / 3])
    nothing = '{"id": "none", "correct": [null, null]}\n'
    lists[0].write_text(lists[0].read_text() + nothing)
    lists[1].write_text(lists[1].read_text() + nothing)
    without = load(lists, "accuracy")
    assert without.outputs.items["id"].tolist() == ["q0", "q1"]
    assert [told for told in without.notes if "none of the samples was taken" in told]
    lists[0].write_text('{"id": "q0", "correct": [[1], [0]]}\n{"id": "q1", "correct": [[1]]}\n')
    with pytest.raises(ValueError, match="must hold text or numbers, not a list"):
        load(lists[0], "accuracy", columns={"score": "correct"})
