from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simstudy.readers.load import load
from tests.readers.archives import DEFLATED, STORED, ZSTD, eval_log, zipped
from tests.readers.line_files import input_error, texts_of


def sample(id: int | str, value: Any, epoch: int = 1, said: str = "x", **scores: Any) -> dict[str, Any]:
    """A sample with the fields that Inspect writes; no score where the value is None."""
    given = {} if value is None else {"match": {"value": value, "answer": said, "history": []}}
    choices = [{"message": {"role": "assistant", "content": said}, "stop_reason": "stop"}]
    output = {"model": "m", "choices": choices, "completion": said}
    given |= {name: {"value": v} for name, v in scores.items()}
    return {"id": id, "epoch": epoch, "input": "?", "target": "x", "output": output, "scores": given}


def write(path: Path, samples: list[Any], model: str = "org/a", task: str = "quiz", **more: Any) -> Path:
    log = {"version": 2, "status": "success", "eval": {"task": task, "model": model}, "samples": samples}
    path.write_text(json.dumps(log | more, indent=2), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1), ("P", 0.5), ("I", 0), ("N", 0), (True, 1), (0.25, 0.25), (3, 3), ("Yes", 1), ("FALSE", 0), ("0.7", 0.7)],
)
def test_values_are_numbers_as_inspect_takes_them(tmp_path: Path, value: Any, number: float) -> None:
    assert load(write(tmp_path / "log.json", [sample(1, value)]), "mean").outputs.scores().tolist() == [number]


def test_epochs_are_samples_of_an_item(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(i, "CI"[i * epoch % 2], epoch) for epoch in (1, 2) for i in (0, 1)])
    outputs = load(path, "accuracy").outputs
    asked = {"cluster": ["0", "1"] * 2, "sample_of": ["0", "1"] * 2}
    assert outputs.items.to_dict("list") == {"id": ["0#1", "1#1", "0#2", "1#2"], **asked}
    assert outputs.statistics[0, :, 0].tolist() == [1, 0, 1, 1]
    # Another log has one epoch: items are means of the epochs that each log has.
    other = write(tmp_path / "other.json", [sample(0, "C"), sample(1, "I")], "org/b")
    both = load([path, other], "accuracy").outputs
    assert both.samples is not None
    assert both.samples[..., 0].tolist() == [[2, 2], [1, 1]]
    assert both.scores().tolist() == [75, 50]


def test_logs_of_one_model_are_told_by_file(tmp_path: Path) -> None:
    models = zip("xyz", "aab", strict=True)
    paths = [write(tmp_path / f"{name}.json", [sample(1, "C")], model) for name, model in models]
    assert load(paths, "accuracy").outputs.names == ["x", "y", "b"]
    write(paths[2], [sample(1, "C")], "a", "exam")
    input_error(paths, "accuracy", match=r"x.json and .*y.json are both of model 'a' and task 'quiz'")


def test_samples_without_a_score_are_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [sample(1, "C"), sample(2, None), sample(3, float("nan"))], invalidated=True)
    input_error(path, "accuracy", match="item '2' has no score 'match'")
    assert load(path, "accuracy", missing="drop").outputs.scores().tolist() == [100]
    loaded = load(path, "accuracy", missing="zero")
    assert loaded.outputs.statistics[0].tolist() == [[1, 1], [0, 1], [0, 1]]
    assert "invalidated" in [note.kind for note in loaded.notes]
    write(path, [sample(k, "C") for k in (1, 2)] + [sample(1, None, 2, other="C"), sample(2, "I", 2)])
    input_error(
        path, "accuracy", columns={"score": "match"}, match="sample 1 of epoch 2: item '1' has no score 'match'"
    )


def test_entries_of_dictionaries_and_lists_are_scores(tmp_path: Path) -> None:
    """Each has the options of its scorer, and an epoch that was left unscored has none of them."""
    values = [{"acc": 1, "fmt": None, "by": {"judge": "P"}}, {"acc": "I", "fmt": 1}]
    path = write(tmp_path / "log.json", [sample(k, value, parts=[1, k]) for k, value in enumerate(values)])
    input_error(path, match=r"may be match.acc, match.fmt, match.by.judge, parts.1, parts.2;")
    for name, scores in {"match.acc": [1, 0], "match.fmt": [1], "match.by.judge": [0.5], "parts.2": [0, 1]}.items():
        loaded = load(path, "mean", columns={"score": name}, missing="drop")
        assert (loaded.outputs.statistics[0, :, 0].tolist(), loaded.scored_by) == (scores, (name,))
    about = {"task": "quiz", "model": "b", "scorers": [{"name": "match", "options": {"case": True}}]}
    logs = [path, write(tmp_path / "b.json", [sample(0, {"acc": 1})], eval=about)]
    write(path, [sample(0, {"acc": 1})], eval=about | {"model": "a", "scorers": [{"name": "match", "options": {}}]})
    input_error(logs, match="allow_different='scorer'")
    write(path, [sample(0, {"acc": 1}), sample(0, float("nan"), 2), sample(1, {"acc": 1})])
    input_error(path, columns={"score": "match.acc"}, match=r"sample 0 of epoch 2: item '0' has no score 'match.acc'")


def test_an_answer_is_all_that_the_model_said(tmp_path: Path) -> None:
    """Not the label that a scorer took from it, which good systems share."""
    samples = [sample("x", "C", 1, said) for said in ("so it is B", "B, clearly", "B, clearly")]
    samples[2]["output"] = {"completion": "B, clearly"}
    logs = [write(tmp_path / f"{k}.json", [one], f"org/{k}") for k, one in enumerate(samples)]
    answers = load(logs, "accuracy").outputs.answers
    assert answers is not None
    assert answers[0, 0] != answers[1, 0] == answers[2, 0]
    del samples[2]["output"]
    write(logs[2], samples[2:], "org/2")
    assert load(logs, "accuracy").outputs.answers is None


def test_messages_are_one_input_whatever_their_ids(tmp_path: Path) -> None:
    image = {"type": "image", "image": "data:1"}

    def log(name: str, *parts: Any) -> Path:
        asked = [{"role": "system", "content": "Be brief.", "id": name}, {"role": "user", "content": [*parts]}]
        return write(tmp_path / f"{name}.json", [sample(1, "C") | {"input": asked}], name)

    why = {"type": "text", "text": "Why?"}
    paths = [log("a", why, image), log("b", why | {"source": None}, image)]
    texts = texts_of(load(paths, "accuracy"))
    assert texts.inputs_of(["1"]) == ['system: Be brief.\nuser: Why?\n{"type": "image", "image": "data:1"}']
    for parts in ([why | {"text": "How?"}, image], [why], [why, image | {"image": "data:2"}]):
        log("b", *parts)
        input_error(paths, "accuracy", match="allow_different='input'")


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_archives_are_the_same_as_logs_in_json(method: int, tmp_path: Path) -> None:
    own = [sample(i, "CI"[i == "b"], k, said=i * k) for k in (1, 2) for i in "ab"]
    paths = [write(tmp_path / "1.json", own, "org/a"), write(tmp_path / "2.json", own[::-1], "org/b")]
    archives = [path.with_suffix(".eval") for path in paths]
    for path, archive in zip(paths, archives, strict=True):
        archive.write_bytes(eval_log(json.loads(path.read_text()), method))
    expected, found = load(paths, "mean").outputs, load(archives, "mean").outputs
    assert found.scores().tolist() == [0.5, 0.5]
    assert found.names == ["org/a", "org/b"]
    for outputs in (expected, found):
        assert outputs.answers is not None
        assert outputs.select(["org/a"]).take([0]).items["id"].tolist() == ["a#1"]
    assert found.fingerprint() == expected.fingerprint()


LOG = {"status": "success", "eval": {"task": "quiz", "model": "m"}, "samples": [sample("a", "C")]}


@pytest.mark.parametrize(
    "content",
    [
        b"PK\3\4\xff",
        eval_log(LOG)[:-30],
        zipped({"samples/a.json": b"{}"}),
        zipped({"header.json": b"[]"}),
        zipped({"header.json": b'{"eval'}),
        eval_log(LOG | {"status": "cancelled"}),
        eval_log(LOG | {"samples": []}),
    ],
)
def test_what_is_no_archive(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    assert str(path) in str(input_error(path, "accuracy"))


@pytest.mark.parametrize(
    ("broken", "at"),
    [
        ("C", ", sample 1"),
        ({"epoch": 1}, ", sample 1"),
        ({"id": 1, "scores": {"match": 3}}, ", sample 1"),
        ({"id": 1, "output": {"choices": {"a": 1}}}, ", sample 1"),
        ({"id": 1, "epoch": [1]}, ", sample 1"),
        ({"id": 1, "scores": {}}, ""),
        (sample("a", "maybe"), ", sample a"),
    ],
)
def test_samples_that_are_none(broken: Any, at: str, tmp_path: Path) -> None:
    path = write(tmp_path / "log.json", [broken])
    assert input_error(path, "accuracy").at == f"{path}{at}"
