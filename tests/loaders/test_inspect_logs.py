from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.formats import read_source
from simstudy.metrics import get_metric

read_inspect = partial(read_source, format="inspect")


def sample(id: int | str, value: Any, epoch: int = 1, said: str = "x", **scores: Any) -> dict[str, Any]:
    """A sample with the fields that Inspect writes; no score where the value is None."""
    given = {} if value is None else {"match": {"value": value, "answer": said, "history": []}}
    choices = [{"message": {"role": "assistant", "content": said}, "stop_reason": "stop"}]
    output = {"model": "m", "choices": choices, "completion": said}
    given |= {name: {"value": v} for name, v in scores.items()}
    return {"id": id, "epoch": epoch, "input": "?", "target": "x", "output": output, "scores": given}


def write(
    path: Path, samples: list[dict[str, Any]], model: str = "org/a", task: str = "quiz", status: str = "success"
) -> Path:
    log = {
        "version": 2,
        "status": status,
        "eval": {"task": task, "model": model, "created": "2025-01-31T10:00:00+00:00", "config": {}},
        "results": {"total_samples": len(samples), "scores": []},
        "samples": samples,
    }
    path.write_text(json.dumps(log, indent=2), encoding="utf-8")
    return path


def read(*paths: Path, metric: str = "accuracy", missing: str = "error", **columns: str) -> Loaded:
    return read_inspect(Source(paths, get_metric(metric), columns=columns, missing=missing))


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1), ("P", 0.5), ("I", 0), ("N", 0), (True, 1), (0.25, 0.25), (3, 3), ("Yes", 1), ("FALSE", 0), ("0.7", 0.7)],
)
def test_values_are_numbers_as_inspect_takes_them(tmp_path: Path, value: Any, number: float) -> None:
    path = write(tmp_path / "log.json", [sample(1, value)])
    loaded = read(path, metric="mean")
    assert (loaded.outputs.scores().tolist(), loaded.notes) == ([number], ())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"invalidated": True}))
    assert read(path, metric="mean").notes == (f"{path}: the log is marked as invalidated",)


def test_epochs_are_samples_of_an_item(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(i, "CI"[i * epoch % 2], epoch) for epoch in (1, 2) for i in (0, 1)])
    loaded = read(path)
    asked = {"cluster": ["0", "1"] * 2, "sample_of": ["0", "1"] * 2}
    assert loaded.outputs.items.to_dict("list") == {"id": ["0#1", "1#1", "0#2", "1#2"], **asked}
    assert loaded.outputs.statistics[0, :, 0].tolist() == [1, 0, 1, 1]
    assert loaded.outputs.scores().tolist() == [75]


def test_logs_of_other_numbers_of_epochs_and_an_epoch_without_a_score(tmp_path: Path) -> None:
    """Items are means of the epochs that each log has; an epoch that none has is missing; tasks are domains too."""
    one = write(tmp_path / "1.json", [sample("x", "C"), sample("y", "I")])
    two = write(tmp_path / "2.json", [sample(i, "C", k) for i in "xy" for k in (1, 2)], "org/b")
    both = read(one, two).outputs
    assert both.samples is not None
    assert both.samples[..., 0].tolist() == [[1, 1], [2, 2]]
    assert both.scores().tolist() == [50, 100]
    assert read(one, two, missing="drop").outputs.items["id"].tolist() == ["x#1", "y#1"]
    failed = write(tmp_path / "3.json", [sample("x", "C"), sample("x", None, 2)])
    exam = write(tmp_path / "4.json", [sample("x", "I")], task="exam")
    with pytest.raises(ValueError, match=r"lacks 1 of 3 items, first 'quiz/x#2'"):
        read(failed, exam)
    items = read(failed, exam, missing="zero").outputs.items
    assert items.to_dict("list") == {
        "id": ["quiz/x#1", "quiz/x#2", "exam/x#1"],
        "domain": ["quiz", "quiz", "exam"],
        "cluster": ["quiz/x", "quiz/x", "exam/x"],
        "sample_of": ["quiz/x", "quiz/x", "exam/x"],
    }


def test_tasks_are_domains(tmp_path: Path) -> None:
    logs = [
        write(tmp_path / f"{model}-{task}.json", [sample(1, value)], model, task)
        for model, value in {"a": "C", "b": "I"}.items()
        for task in ("quiz", "exam")
    ]
    outputs = read(*logs).outputs
    assert outputs.items.to_dict("list") == {"id": ["quiz/1", "exam/1"], "domain": ["quiz", "exam"]}
    assert outputs.scores().tolist() == [100, 0]
    again = write(tmp_path / "again.json", [sample(1, "C")], "a", "exam")
    with pytest.raises(ValueError, match=r"a-exam.json and .*again.json are both of model 'a' and task 'exam'"):
        read(*logs, again)


def test_logs_of_one_model_are_told_by_file(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / f"{name}.json", [sample(1, "C")], model) for name, model in zip("xyz", "aab", strict=True)
    ]
    assert read(*paths).outputs.names == ["x", "y", "b"]


def test_one_scorer_of_several_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(1, "C", judge=0)])
    assert read(path, score="judge").outputs.scores().tolist() == [0]
    with pytest.raises(
        ValueError, match=r"log.json: samples have scorers match, judge; columns=\{'score': 'match'\} chooses"
    ):
        read(path)
    with pytest.raises(ValueError, match=r"no scorer 'jugde' among match, judge \(did you mean 'judge'\?\)$"):
        read(path, score="jugde")


def test_samples_without_a_score_are_missing_and_all_of_them_are_no_log(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(1, "C"), sample(2, None), sample(3, float("nan"))])
    with pytest.raises(ValueError, match=r"lacks 2 of 3 items, first '2' \(system 'org/a'\); missing='drop'"):
        read(path)
    assert read(path, missing="drop").outputs.scores().tolist() == [100]
    assert read(path, missing="zero").outputs.statistics[0].tolist() == [[1, 1], [0, 1], [0, 1]]
    with pytest.raises(ValueError, match=r"log.json: samples have no scorer$"):
        read(write(path, [sample(1, None)]))
    with pytest.raises(ValueError, match=r"log.json: sample '1' is there twice, both times as epoch 1$"):
        read(write(path, [sample(1, "C"), sample(1, "I")]))


@pytest.mark.parametrize("value", ["maybe", {"a": 1, "b": 0}, ["C"], 10**400])
def test_values_that_are_no_numbers(tmp_path: Path, value: Any) -> None:
    path = write(tmp_path / "log.json", [sample("a", value)])
    message = f"{path}, sample 'a': the value must be one number or C, I, P, N, not {value!r:.60}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read(path)


def test_an_answer_is_all_that_the_model_said(tmp_path: Path) -> None:
    """Not the label that a scorer took from it, which good systems share. Also of a later epoch."""
    one, two, three = (sample("x", "C", 2, said) for said in ("so it is B", "B, clearly", "B, clearly"))
    for own in (one, two, three):
        own["scores"]["match"]["answer"] = "B"
    three["output"] = {"completion": "B, clearly"}
    logs = [write(tmp_path / f"{k}.json", [own], f"org/{k}") for k, own in enumerate((one, two, three))]
    outputs = read(*logs).outputs
    assert outputs.items.to_dict("list") == {"id": ["x#2"], "cluster": ["x"], "sample_of": ["x"]}
    assert outputs.answers is not None
    assert outputs.answers[0, 0] != outputs.answers[1, 0] == outputs.answers[2, 0]
    del three["output"]
    write(logs[2], [three], "org/2")
    assert read(*logs).outputs.answers is None
