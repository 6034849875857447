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


def test_a_system_is_a_model_and_samples_meet_by_id(tmp_path: Path) -> None:
    one = write(tmp_path / "1.json", [sample(1, "C"), sample("b", "I")])
    two = write(tmp_path / "2.json", [sample("b", True), sample(1, 0, said="y")], "org/b")
    loaded = read(one, two)
    assert loaded.outputs.names == ["org/a", "org/b"]
    assert loaded.outputs.items.to_dict("list") == {"id": ["1", "b"]}
    assert loaded.outputs.statistics.tolist() == [[[1, 1], [0, 1]], [[0, 1], [1, 1]]]
    assert loaded.outputs.answers is not None
    assert (loaded.outputs.answers[0] == loaded.outputs.answers[1]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1), ("P", 0.5), ("I", 0), ("N", 0), (True, 1), (0.25, 0.25), (3, 3), ("Yes", 1), ("FALSE", 0), ("0.7", 0.7)],
)
def test_values_are_numbers_as_inspect_takes_them(tmp_path: Path, value: Any, number: float) -> None:
    path = write(tmp_path / "log.json", [sample(1, value)])
    assert read(path, metric="mean").outputs.scores().tolist() == [number]


def test_epochs_are_samples_of_an_item(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(i, "CI"[i * epoch % 2], epoch) for epoch in (1, 2) for i in (0, 1)])
    loaded = read(path)
    assert loaded.outputs.items.to_dict("list") == {"id": ["0#1", "1#1", "0#2", "1#2"], "cluster": ["0", "1"] * 2}
    assert loaded.outputs.statistics[0, :, 0].tolist() == [1, 0, 1, 1]
    assert loaded.outputs.scores().tolist() == [75]


def test_logs_of_other_numbers_of_epochs_and_an_epoch_without_a_score(tmp_path: Path) -> None:
    """Each lacks what the others have; tasks are domains of samples too."""
    one = write(tmp_path / "1.json", [sample("x", "C"), sample("y", "I")])
    two = write(tmp_path / "2.json", [sample(i, "C", k) for i in "xy" for k in (1, 2)], "org/b")
    with pytest.raises(ValueError, match=r"1.json lacks 2 of 4 items, first 'x#2' \(system 'org/a'\); missing='drop'"):
        read(one, two)
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


def test_samples_without_a_score_are_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(1, "C"), sample(2, None), sample(3, float("nan"))])
    with pytest.raises(ValueError, match=r"lacks 2 of 3 items, first '2' \(system 'org/a'\); missing='drop'"):
        read(path)
    assert read(path, missing="drop").outputs.scores().tolist() == [100]
    assert read(path, missing="zero").outputs.statistics[0].tolist() == [[1, 1], [0, 1], [0, 1]]


def test_one_scorer_of_several_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(1, "C", judge=0)])
    assert read(path, score="judge").outputs.scores().tolist() == [0]
    with pytest.raises(
        ValueError, match=r"log.json: samples have scorers match, judge; columns=\{'score': \.\.\.\} chooses"
    ):
        read(path)
    with pytest.raises(ValueError, match=r"no scorer 'jugde' among match, judge \(did you mean 'judge'\?\)$"):
        read(path, score="jugde")


@pytest.mark.parametrize(
    ("samples", "status", "message"),
    [
        (
            [sample(1, "C")],
            "cancelled",
            "the log's status is 'cancelled', not 'success': the evaluation is not complete",
        ),
        ([], "success", "the log has no samples"),
        ([sample(1, None)], "success", "samples have no scorer"),
        ([sample(1, "C"), sample(1, "I")], "success", "sample '1' is there twice, both times as epoch 1"),
    ],
)
def test_logs_that_are_not_complete(tmp_path: Path, samples: list[dict[str, Any]], status: str, message: str) -> None:
    path = write(tmp_path / "log.json", samples, status=status)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}$"):
        read(path)


@pytest.mark.parametrize("value", ["maybe", {"a": 1, "b": 0}, ["C"]])
def test_values_that_are_no_numbers(tmp_path: Path, value: Any) -> None:
    path = write(tmp_path / "log.json", [sample(1, value)])
    message = f"{path}, sample '1': the value must be one number or C, I, P, N, not {value!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read(path)


def test_other_files(tmp_path: Path) -> None:
    whole = write(tmp_path / "log.json", [sample(1, "C")]).read_text()
    (tmp_path / "cut.json").write_text("\n".join(whole.splitlines()[:5]))
    with pytest.raises(ValueError, match=r"^.*/cut.json, line 5: not JSON \(is the file cut\?\): "):
        read(tmp_path / "cut.json")
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(
        ValueError, match="other.json: not an Inspect eval log: it has no status, or no task and model$"
    ):
        read(tmp_path / "other.json")
    (tmp_path / "log.eval").write_bytes(b"PK\x03\x04\xff")
    with pytest.raises(ValueError, match=r"log.eval: a binary log; .* first: inspect log convert .*log.eval --to json"):
        read(tmp_path / "log.eval")
    with pytest.raises(FileNotFoundError, match="no such file"):
        read(tmp_path / "none.eval")


WRONG_SAMPLES = {
    "a text": ("C", "'str' object has no attribute 'get'"),
    "no id": ({"epoch": 1, "scores": {"match": {"value": "C"}}}, "no 'id'"),
    "no value": (sample(1, None) | {"scores": {"match": {"answer": "x"}}}, "no 'value'"),
    "scores a number": (sample(1, None) | {"scores": 5}, "'int' object has no attribute 'items'"),
    "scores a list": (sample(1, None) | {"scores": ["C"]}, "'list' object has no attribute 'items'"),
    "score a text": (sample(1, None) | {"scores": {"match": "C"}}, "string indices must be integers, not 'str'"),
    "output a text": (
        {"id": 1, "output": "x", "scores": {"match": {"value": "C"}}},
        "'str' object has no attribute 'get'",
    ),
    "message null": (
        {"id": 1, "output": {"choices": [{"message": None}]}, "scores": {"match": {"value": "C"}}},
        "'NoneType' object has no attribute 'get'",
    ),
    "choices an object": ({"id": 1, "output": {"choices": {"a": 1}}, "scores": {"match": {"value": "C"}}}, "no 0"),
    "epoch a list": (
        sample(1, "C") | {"epoch": [1]},
        "int() argument must be a string, a bytes-like object or a real number, not 'list'",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_SAMPLES)
def test_samples_of_another_shape(tmp_path: Path, wrong: str) -> None:
    bad, problem = WRONG_SAMPLES[wrong]
    path = write(tmp_path / "log.json", [sample(0, "C"), bad])  # type: ignore[list-item]
    message = f"{path}, sample 2: not as Inspect writes it ({problem})"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read(path)


NO_LOG = ": not an Inspect eval log: it has no status, or no task and model"
NO_LIST = ": not as Inspect writes it (samples are no list)"
EVAL = '{"status": "success", "eval": {"task": "t", "model": "m"}, "samples": '


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"status": "success", "eval": null}', NO_LOG),
        ('{"status": "success", "eval": "task model"}', NO_LOG),
        ("[]", NO_LOG),
        (EVAL + '"abc"}', NO_LIST),
        (EVAL + '{"a": 1}}', NO_LIST),
        (EVAL + "7}", NO_LIST),
        (EVAL + '"[[\\"[",\n"more": ' + "[" * 10**5, ", line 2: nested too deeply"),
        (EVAL + '[\n"' + "1" * 5000 + '",\n' + "1" * 5000 + "]}", ", line 3: a number of more than 4300 digits"),
    ],
)
def test_logs_of_another_shape(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}{problem}')}$"):
        read(path)


def test_a_number_that_is_too_large(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample("a", 10**400)])
    message = f"{path}, sample 'a': the value must be one number or C, I, P, N, not 1{'0' * 59}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read(path)
