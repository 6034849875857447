"""Columns that describe items are never systems, and columns that make up the items' names are never clusters."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.loaders.clusters import for_unit, units_first

RNG = np.random.default_rng(7)
SUBJECTS = ["law", "medicine", "biology"]

# Question 5 of each subject is another question.
EXAM = pd.DataFrame(
    [
        (model, subject, number, int(RNG.random() < right))
        for model, right in (("old", 0.5), ("new", 0.7))
        for subject in SUBJECTS
        for number in range(20)
    ],
    columns=["model", "subject", "question_id", "correct"],
)

SECONDS = pd.DataFrame({"fast": RNG.random(30), "slow": RNG.random(30) + 0.1}).round(3)


def command(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout + result.stderr


def written(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path, index=False)
    return path


def test_what_is_joined_into_the_items_names_is_no_cluster(tmp_path: Path) -> None:
    path = written(tmp_path / "exam.csv", EXAM)
    loaded = ss.load(path, "accuracy", columns={"item": "subject+question_id"})
    assert (loaded.outputs.n_items, loaded.outputs.natural_unit) == (60, "item")
    assert any("'question_id' is not used as the cluster: it is part of" in said for said in loaded.notes)
    items = written(tmp_path / "items.csv", EXAM[["subject", "question_id"]].drop_duplicates())
    scores = EXAM.assign(item=EXAM["subject"] + "/" + EXAM["question_id"].astype(str), score=EXAM["correct"])
    plain = written(tmp_path / "plain.csv", scores.rename(columns={"model": "system"})[["system", "item", "score"]])
    apart = ss.load(plain, "accuracy", items=items, columns={"id": "subject+question_id"})
    assert apart.outputs.natural_unit == "item"
    wanted = ss.load(path, "accuracy", columns={"item": "subject+question_id", "cluster": "subject"})
    assert wanted.outputs.items["cluster"].nunique() == 3


def test_a_column_that_an_option_names_describes_the_items(tmp_path: Path) -> None:
    """The option alone gives what it gives beside columns that declare the column."""
    task = np.tile(np.arange(3), 20)
    frame = pd.DataFrame(
        {"item": range(60), "old": RNG.integers(0, 2, 60), "new": RNG.integers(0, 2, 60), "task": task}
    )
    texts = frame.assign(task=np.array(["law", "art", "code"])[task])
    path = tmp_path / "scores.json"
    options = (("--each", "task"), ("--unit", "task"), ("--strata", "task", "--test", "bootstrap"))
    for table, of_table in ((frame, options), (texts, options[:1])):
        path.write_text(table.to_json(orient="records"))
        asked = ("compare", str(path), "--metric", "accuracy", "--json")
        for option in of_table:
            code, said = command(*asked, *option)
            assert code == 0, said
            found, declared = (json.loads(one) for one in (said, command(*asked, *option, "--columns", "task=task")[1]))
            assert found["systems"] == declared["systems"]
            assert found["pairs"] == declared["pairs"]
            assert found.get("tasks") == declared.get("tasks")
        found = ss.examine(path, "accuracy", comparison={"unit": "task"})
        assert found.outputs.names == ["old", "new"]
    loaded = ss.load(path, "accuracy", item_columns=["task", "none"])
    assert loaded.outputs.items["task"].tolist() == texts["task"].tolist()
    with pytest.raises(ValueError, match="^item_columns must be a list"):
        ss.load(path, "accuracy", item_columns="task")
    assert (
        "--each must be a column of the items, not 'tusk'"
        in command(*asked[:-1], "--each", "tusk", "--columns", "task=task")[1]
    )


def test_the_advice_on_ids_that_come_again_works_as_it_stands(tmp_path: Path) -> None:
    """Under our name of the column the file has none."""
    path = written(tmp_path / "exam.csv", EXAM)
    for columns in ((), ("--columns", "domain=subject")):
        code, said = command("compare", str(path), "--metric", "accuracy", *columns)
        assert code == 2
        advice = re.search(r"--columns (item=\S+) joins", said)
        assert advice is not None, said
        assert advice[1] == "item=subject+question_id"
        given = ",".join([*columns[1:], advice[1]])
        assert command("compare", str(path), "--metric", "accuracy", "--columns", given)[0] == 0


def test_the_note_on_clusters_knows_the_unit_and_comes_first_in_a_plan(tmp_path: Path) -> None:
    frame = EXAM.assign(item=np.tile(np.arange(60), 2), document=np.tile(np.arange(60) // 3, 2))
    path = str(written(tmp_path / "exam.csv", frame.drop(columns="question_id")))
    said = {unit: command("compare", path, "--metric", "accuracy", *unit)[1] for unit in ((), ("--unit", "item"))}
    assert "items of one 'document' form a cluster (20 clusters). " in said[()]
    text = said["--unit", "item"]
    unused = "items of one 'document' form a cluster (20 clusters). Tests do not use these clusters: "
    assert f"{unused}unit='item' treats each item as independent." in " ".join(text.split())
    assert "whole cluster" not in text
    out = command("compare", path, "--metric", "accuracy", "--unit", "item", "--out", f"{tmp_path}/pairs.parquet")[1]
    too_small = ["p-values too small" in " ".join(one.split()) for one in (said[()], text, out)]
    assert too_small == [False, True, True]
    found = ss.examine(ss.load(path, "accuracy"), comparison={"unit": "subject"})
    assert f"{unused}the resampling unit is 'subject'." in found.notes
    same = ss.examine(ss.load(path, "accuracy"), comparison={"unit": "document"})
    told = "items of one 'document' form a cluster. Tests resample these clusters: the resampling unit is 'document'."
    assert told in same.notes
    plan = command("plan", path, "--metric", "accuracy", "--gain", "5", "--simulate", "0", "--draws", "0")[1]
    first = next(line for line in plan.splitlines() if line.startswith("Note: "))
    assert first.startswith("Note: items of one 'document' form a cluster (20 clusters)")
    assert for_unit(["scores"], "item") == ("scores",)
    assert units_first(["a", "2 clusters, not 1", "b"]) == ("2 clusters, not 1", "a", "b")


@pytest.mark.parametrize("column", ["document", "domain", "epoch"])
@pytest.mark.parametrize("metric", ["mean", "median"])
def test_numbers_that_describe_items_are_no_system(column: str, metric: str, tmp_path: Path) -> None:
    frame = SECONDS.assign(**{column: np.arange(30) // 3})
    of_file = ss.load(written(tmp_path / "s.csv", frame.assign(item=[f"i{i}" for i in range(30)])), metric).outputs
    in_memory = ss.load(frame, metric).outputs
    if column in ("domain", "epoch"):
        direct = ss.Outputs.from_scores(frame.drop(columns="epoch", errors="ignore"), metric)
    else:
        with pytest.warns(UserWarning, match="not taken for systems: document; simstudy.load"):
            direct = ss.Outputs.from_scores(frame, metric)
        assert in_memory.items["cluster"].nunique() == of_file.items["cluster"].nunique() == 10
        assert direct.items["document"].tolist() == frame["document"].tolist()
    for outputs in (of_file, in_memory, direct):
        assert outputs.names == ["fast", "slow"]


@pytest.mark.parametrize("metric", ["mean", "median"])
@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_the_rows_are_no_system(metric: str, first: int, tmp_path: Path) -> None:
    frame = SECONDS.assign(request=np.arange(30) + first)
    item = {"columns": {"item": "request"}}
    for table in (frame, written(tmp_path / "s.csv", frame)):
        if isinstance(table, pd.DataFrame) or metric == "median":
            with pytest.raises(
                ValueError, match=f"column 'request' has the numbers of the rows, {first} to {29 + first}"
            ):
                ss.load(table, metric)
        assert ss.load(table, metric, **item).outputs.names == ["fast", "slow"]  # type: ignore[arg-type]
    assert ss.load(frame.assign(request=frame["request"][::-1].to_numpy()), metric).outputs.n_systems == 3


@pytest.mark.parametrize("name", ["id", "qid", "question_id"])
@pytest.mark.parametrize("metric", ["mean", "auc"])
def test_a_frame_without_index_is_read_as_its_file_is(name: str, metric: str, tmp_path: Path) -> None:
    frame = SECONDS.assign(gold=np.arange(30) % 2) if metric == "auc" else SECONDS
    frame = frame.assign(**{name: [f"q{i}" for i in range(30)]})
    of_file, in_memory = (ss.load(table, metric) for table in (written(tmp_path / "s.csv", frame), frame))
    assert of_file.outputs.names == in_memory.outputs.names == ["fast", "slow"]
    assert of_file.outputs.items["id"].tolist() == in_memory.outputs.items["id"].tolist() == frame[name].tolist()
    assert of_file.notes == in_memory.notes
    if metric == "mean":
        with pytest.raises(ValueError, match=rf"simstudy.load\(table, metric, columns=\{{'item': '{name}'\}}\)"):
            ss.Outputs.from_scores(frame)


def test_a_document_and_the_number_of_a_segment_need_no_header(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{score}\n" for score in RNG.random(12).round(3)))
    files, items = [tmp_path / "old.txt", tmp_path / "new.txt"], tmp_path / "d.tsv"
    items.write_text("".join(f"d{i // 4}\t{i % 4}\n" for i in range(12)))
    loaded = ss.load(files, "mean", items=items)
    assert loaded.outputs.items["cluster"].tolist() == [f"d{i // 4}" for i in range(12)]
    assert loaded.notes == (
        f"{items} has no header. simstudy uses its lines as cluster and segment of the items, in order: no value of "
        "the second column comes again within one of the first.",
    )
    items.write_text("".join(f"web\td{i // 4}\n" for i in range(12)))
    assert ss.load(files, "mean", items=items).outputs.items["domain"].unique().tolist() == ["web"]
    single = "each cluster has one item: the column 'cluster' joins no items, and tests resample items one by one"
    for text in ("".join(f"s{i}\n" for i in range(12)), "".join(f"a{i}\tb{i}\n" for i in range(12))):
        items.write_text(text)
        assert ss.load(files, "mean", items=items).notes[-1] == single
    with pytest.warns(UserWarning, match=single):
        ss.Outputs.from_scores(SECONDS.assign(cluster=[f"c{i}" for i in range(30)]))
