"""Logs that differ in more than the system: one line says what differs and how to insist, and a note if one did."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.base import Loaded
from simstudy.loaders.door import load
from tests.cli.command import compare, compare_signed
from tests.loaders.test_inspect_logs import sample as inspect_sample
from tests.loaders.test_inspect_logs import write as write_inspect
from tests.loaders.test_lm_eval import TIME, sample, write


def refused(paths: list[Path], what: str, message: str, **options: Any) -> Loaded:
    """Raise unless the difference is refused in one line, and noted where it is allowed, which is returned."""
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        load(paths, "accuracy", **options)
    said = str(error.value)
    assert said.endswith(f"; allow_different='{what}' compares such logs all the same")
    assert "\n" not in said
    loaded = load(paths, "accuracy", allow_different=what, **options)
    assert [note for note in loaded.notes if note.startswith(f"logs have different values of {what}, as you allowed: ")]
    return loaded


def results(log: Path, **about: Any) -> None:
    (log.parent / f"results_{TIME}.json").write_text(json.dumps(about))


def test_metrics_and_filters_of_one_task(tmp_path: Path) -> None:
    """50 ranked against 100: accuracy against length-normalised accuracy."""
    one = write(tmp_path, "one", "arc", [sample(0, {"acc": 1}), sample(1, {"acc": 0})])
    two = write(tmp_path, "two", "arc", [sample(0, {"acc_norm": 1}), sample(1, {"acc_norm": 1})])
    said = f"{two}: task 'arc' has metric 'acc_norm' here, but 'acc' in {one}"
    loaded = refused([one, two], "metric", said)
    assert loaded.outputs.scores().tolist() == [50, 100]
    assert loaded.outputs.items["scored_by"].tolist() == ["acc+acc_norm"] * 2
    assert any(": acc (1 log), acc_norm (1 log); 1 task, first " in note for note in loaded.notes)
    two = write(tmp_path, "two", "arc", [sample(k, {"acc": 1}, "flexible") for k in (0, 1)])
    refused([one, two], "filter", f"{two}: task 'arc' has filter 'flexible' here, but 'none' in {one}")


def test_targets_and_documents_under_one_id(tmp_path: Path) -> None:
    one = write(tmp_path, "one", "t", [sample(k, {"acc": 1}, doc_hash="") for k in (0, 1, 2)])
    two = write(tmp_path, "two", "t", [sample(k, {"acc": 1}, doc_hash="x", target=f"B{k}") for k in (0, 1, 2)])
    said = f"{two}, line 1: item '0' of task 't' has target 'B0' here, but '0' in {one}, line 1"
    loaded = refused([one, two], "target", said)
    with pytest.raises(ValueError, match=r"line 1 \(3 of 3 items differ\); "):
        load([one, two], "accuracy")
    write(tmp_path, "two", "t", [sample(k, {"acc": 1}, target=str(k if k else "B")) for k in (0, 1, 2)])
    with pytest.raises(ValueError, match=r"line 1 \(1 of 3 items differ\); "):
        load([one, two], "accuracy")
    assert any("as you allowed: 3 items, first item '0' of task 't' in " in note for note in loaded.notes)


def test_versions_and_shots_are_those_of_the_results_beside(tmp_path: Path) -> None:
    one, two = (write(tmp_path, model, "t", [sample(0, {"acc": 1})]) for model in ("one", "two"))
    results(one, versions={"t": 3.0}, **{"n-shot": {"t": 5}})
    results(two, versions={"t": 3.0}, **{"n-shot": {"t": 5}})
    assert load([one, two], "accuracy").notes == ()
    results(two, versions={"t": 2.0}, **{"n-shot": {"t": 5}})
    refused([one, two], "version", f"{two}: task 't' has version '2.0' here, but '3.0' in {one}")
    results(two, versions={"t": 3.0}, **{"n-shot": {"t": 0}})
    refused([one, two], "shots", f"{two}: task 't' has shots '0' here, but '5' in {one}")
    # Nothing is beside it: nothing is known.
    (two.parent / f"results_{TIME}.json").unlink()
    assert load([one, two], "accuracy").notes == ()
    (two.parent / f"results_{TIME}.json").write_text('{"versions": {"t":')
    with pytest.raises(ValueError, match=r"results_.*json, line 1: not JSON \(is the file cut\?\)"):
        load([one, two], "accuracy")


def test_prompts_may_differ_as_chat_templates_do(tmp_path: Path) -> None:
    one = write(tmp_path, "one", "t", [sample(k, {"acc": 1}) for k in (0, 1)])
    two = write(tmp_path, "two", "t", [sample(k, {"acc": 1}, prompt_hash="q") for k in (0, 1)])
    said = f"{two}, line 1: item '0' of task 't' has another prompt here than in {one}, line 1"
    refused([one, two], "prompt", said)
    results(one, chat_template_sha="a")
    results(two, chat_template_sha="a")
    refused([one, two], "prompt", said)
    # A template that only one log tells explains nothing, whichever log is read first.
    results(two)
    for first, other in ((one, two), (two, one)):
        refused(
            [first, other], "prompt", f"{other}, line 1: item '0' of task 't' has another prompt here than in {first}"
        )
    results(two, chat_template_sha=None)
    (told,) = load([one, two], "accuracy").notes
    assert told.startswith("logs have different values of prompt, as chat templates differ: 2 items, first item '0'")


def test_inspect_logs_of_other_scorers_versions_inputs_and_targets(tmp_path: Path) -> None:
    def log(name: str, *samples: dict[str, Any], **about: Any) -> Path:
        path = write_inspect(tmp_path / f"{name}.json", list(samples), name)
        content = json.loads(path.read_text())
        content["eval"] |= about
        path.write_text(json.dumps(content))
        return path

    one = log("one", inspect_sample("q1", "C"), task_version=1)
    judged = inspect_sample("q1", None, judge=0.5)
    two = log("two", judged, task_version=1)
    loaded = refused([one, two], "scorer", f"{two}: task 'quiz' has scorer 'judge' here, but 'match' in {one}")
    assert loaded.outputs.scores().tolist() == [100, 50]
    refused([one, log("two", inspect_sample("q1", "C"), task_version=2)], "version", "has version '2' here, but '1' in")
    refused(
        [one, log("two", inspect_sample("q1", "C") | {"input": "Why?"})],
        "input",
        "'q1' of task 'quiz' has another input",
    )
    refused(
        [one, log("two", inspect_sample("q1", "C") | {"target": ["x", "y"]})],
        "target",
        "'q1' of task 'quiz' has target",
    )
    options = [{"name": "match", "options": {"location": where}} for where in ("end", "any")]
    one, two = (log(f"m{k}", inspect_sample("q1", "C"), scorers=[own]) for k, own in enumerate(options))
    refused([one, two], "scorer", """has scorer 'match {"location": "any"}' here, but 'match {"location": "end"}' in""")


def test_messages_are_one_input_whatever_their_ids_and_attachments(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "Why?", "id": "x"}]
    parts = [{"id": "y", "role": "user", "content": "attachment://a", "source": None}]
    one = write_inspect(tmp_path / "1.json", [inspect_sample(1, "C") | {"input": asked}], "a")
    two = write_inspect(
        tmp_path / "2.json", [inspect_sample(1, "C") | {"input": parts, "attachments": {"a": "Why?"}}], "b"
    )
    assert load([one, two], "accuracy").notes == ()
    write_inspect(two, [inspect_sample(1, "C") | {"input": parts, "attachments": {"a": "How?"}}], "b")
    refused([one, two], "input", "item '1' of task 'quiz' has another input")


def test_the_command_says_how_to_insist(tmp_path: Path) -> None:
    one = write(tmp_path, "one", "arc", [sample(k, {"acc": k % 2}, target="A") for k in range(6)])
    two = write(tmp_path, "two", "arc", [sample(k, {"acc_norm": 1}) for k in range(6)])
    code, out, err = compare(str(one), str(two), "--metric", "accuracy")
    assert (code, out) == (2, "")
    assert err.endswith("; --allow-different metric compares such logs all the same\n")
    asked = (str(one), str(two), "--metric", "accuracy", "--allow-different", "metric")
    assert compare(*asked)[2].endswith("; --allow-different target compares such logs all the same\n")
    for more in (("--allow-different", "target"), ("--allow-different", "target, input")):
        code, out, _ = compare_signed(*asked, *more)
        assert (code, "|score:acc+acc_norm|" in out, "acc (1 log), acc_norm (1 log)" in out) == (0, True, True)
    code, _, err = compare(*asked, "--allow-different", "targets")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("simstudy: --allow-different must be one of metric, filter, scorer, version, shots, input, ")
    (tmp_path / "a.csv").write_text("item,x,y\n1,0,1\n2,1,1\n")
    code, _, err = compare(str(tmp_path / "a.csv"), "--metric", "mean", "--allow-different", "metric")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(
        "simstudy: --allow-different must not be given for tables of item scores (CSV, TSV, JSON, Parquet): it is "
    )
