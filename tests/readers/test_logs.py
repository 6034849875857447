"""What the logs of all harnesses share: choices by task, tasks as domains, and logs that are not comparable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simstudy.notes import Argument
from simstudy.readers.load import load
from simstudy.readers.logs import DIFFERENCES
from simstudy.readers.long_table import Loaded
from simstudy.validation import InputError
from tests.readers import test_inspect_logs as inspect
from tests.readers.line_files import input_error
from tests.readers.test_lm_eval import TIME, sample, write


def refused(paths: list[Path], what: str) -> Loaded:
    """Raise unless the difference is refused, and noted where it is allowed, which is returned."""
    error = input_error(paths, "accuracy")
    assert error.remedy.fields["allow"] == Argument("allow_different", what)  # type: ignore[attr-defined]
    assert error.at.startswith(str(paths[1]))
    assert str(paths[0]) in error.rule
    loaded = load(paths, "accuracy", allow_different=what)
    assert [note.fields["what"] for note in loaded.notes if note.kind == "logs differ"] == [what]
    return loaded


def chosen(error: InputError) -> dict[str, str]:
    """The choices of columns that an error offers."""
    return dict(error.remedy.fields["columns"].value)  # type: ignore[attr-defined]


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Two tasks, one with two metrics, and one with two filters."""
    arc = [sample(k, {"acc": k, "acc_norm": 1}) for k in (0, 1)]
    gsm = [sample(0, {"exact_match": int(f == "strict-match")}, f) for f in ("strict-match", "flexible-extract")]
    write(tmp_path, "m", "arc", arc)
    write(tmp_path, "m", "gsm8k", gsm)
    return tmp_path


def test_tasks_are_domains_of_systems_that_a_user_may_name_by_their_folders(tmp_path: Path) -> None:
    for model, score in {"a": 1, "b": 0}.items():
        for task in ("mmlu_law", "gsm8k"):
            write(tmp_path, model, task, [sample(0, {"em": score})])
    outputs = load({"new": tmp_path / "a", "old": tmp_path / "b"}, "accuracy").outputs
    assert outputs.items.to_dict("list") == {"id": ["gsm8k/0", "mmlu_law/0"], "domain": ["gsm8k", "mmlu_law"]}
    assert (outputs.names, outputs.scores().tolist()) == (["new", "old"], [100, 0])


def test_one_line_chooses_for_all_tasks_and_is_what_columns_take(several: Path) -> None:
    error = input_error(several, "accuracy")
    columns = {"score": "acc", "score@gsm8k": "exact_match", "filter": "strict-match"}
    assert chosen(error) == columns
    outputs = load(several, "accuracy", columns=columns).outputs
    assert outputs.items["scored_by"].tolist() == ["acc", "acc", "exact_match"]
    for other, scores in (
        ({}, [0, 1, 1]),
        ({"score@ar*": "acc_norm", "filter@gsm8k": "flexible-extract"}, [1, 1, 0]),
        ({"score@ar*": "acc_norm", "score@arc": "acc"}, [0, 1, 1]),
    ):
        outputs = load(several, "accuracy", columns=columns | other).outputs
        assert outputs.statistics[0, :, 0].tolist() == scores


@pytest.mark.parametrize(
    "columns",
    [
        {"score": "acc", "filter": "strict-match"},
        {"score@arc": "acc_nrm", "filter": "strict-match"},
        {"score@arc": "acc", "filter": "strict"},
        {"score@arc": "acc", "filter": "strict-match", "filter@arc": "flexible-extract"},
        {"score@arc": "acc", "filter": "strict-match", "score@arc_easy": "acc"},
    ],
)
def test_choices_that_no_log_has(several: Path, columns: dict[str, str]) -> None:
    input_error(several, "accuracy", columns=columns)


def test_answers_without_a_filter_beside_others_are_a_choice(tmp_path: Path) -> None:
    path = write(tmp_path, "m", "t", [sample(0, {"em": 1}), sample(0, {"em": 0}, "strict")])
    assert chosen(input_error(path, match="the filter may be none, strict")) == {"filter": "none"}
    for filter, score in {"none": 100, "strict": 0}.items():
        assert load(path, columns={"filter": filter}).outputs.scores().tolist() == [score]
    input_error(path, columns={"item": "doc.question"}, match="must not name the item: logs have it")


def test_the_name_of_a_metric_of_the_logs_chooses_it(tmp_path: Path) -> None:
    path = write(tmp_path, "m", "arc", [sample(k, {"acc": k, "acc_norm": 1, "nats": 3 * k}) for k in (0, 1)])
    for metric, name, score in (("acc", "accuracy", 50), ("acc_norm", "accuracy", 100), ("nats", "mean", 1.5)):
        loaded = load(path, metric)
        assert (loaded.outputs.metric.name, loaded.outputs.scores().tolist()) == (name, [score])
        assert loaded.scored_by == (metric,)
    assert load(path, "acc", columns={"score": "acc_norm"}).outputs.scores().tolist() == [100]
    # What is asked by another name of ours is the only metric that there is; a name of the logs is not.
    other = write(tmp_path, "m", "quiz", [sample(0, {"em": 1})])
    assert load(other, "acc").scored_by == ("em",)
    assert chosen(input_error([path, other], "acc_norm")) == {"score": "acc_norm", "score@quiz": "em"}
    for columns in ({}, {"score": "em"}):
        error = input_error(other, "acuracy", columns=columns)
        assert (error.argument, error.value) == ("metric", "acuracy")


def test_a_domain_is_the_only_task_that_is_read(several: Path) -> None:
    write(several, "m", "broken", [{"doc_id": 0, "metrics": 1}])
    outputs = load(several, "acc", domain="arc").outputs
    assert outputs.items[["id", "domain"]].to_numpy().tolist() == [["arc/0", "arc"], ["arc/1", "arc"]]
    input_error(several, "acc")
    assert input_error(several, "acc", domain="arg").argument == "domain"


# Logs that are not comparable --------------------------------------------------------------------------------------
def test_metrics_and_filters_of_one_task(tmp_path: Path) -> None:
    """50 ranked against 100: accuracy against length-normalised accuracy."""
    one = write(tmp_path, "one", "arc", [sample(0, {"acc": 1}), sample(1, {"acc": 0})])
    two = write(tmp_path, "two", "arc", [sample(0, {"acc_norm": 1}), sample(1, {"acc_norm": 1})])
    outputs = refused([one, two], "metric").outputs
    assert outputs.scores().tolist() == [50, 100]
    assert outputs.items["scored_by"].tolist() == ["acc+acc_norm"] * 2
    write(tmp_path, "two", "arc", [sample(k, {"acc": 1}, "flexible") for k in (0, 1)])
    refused([one, two], "filter")


def test_inputs_and_targets_of_one_item(tmp_path: Path) -> None:
    one = write(tmp_path, "one", "t", [sample(k, {"acc": 1}) for k in (0, 1, 2)])
    two = write(tmp_path, "two", "t", [sample(k, {"acc": 1}, doc_hash="x" if k else "h0") for k in (0, 1, 2)])
    (told,) = (note for note in refused([one, two], "input").notes if note.kind == "logs differ")
    assert (told.fields["n"], told.fields["all"]) == ("2 items", "3")
    # In early logs hashes are empty.
    write(tmp_path, "two", "t", [sample(k, {"acc": 1}, doc_hash="", target="B") for k in (0, 1, 2)])
    refused([one, two], "target")
    write(tmp_path, "two", "t", [sample(0, {"acc": 1}, doc_hash="x", target="B")])
    error = input_error([one, two], "accuracy", missing="drop")
    allowed = error.remedy.fields["allow"].value  # type: ignore[attr-defined]
    assert allowed == ["input", "target"]
    assert load([one, two], "accuracy", missing="drop", allow_different=allowed).outputs.n_items == 1


def results(log: Path, **about: Any) -> None:
    (log.parent / f"results_{TIME}.json").write_text(json.dumps(about))


def test_versions_and_shots_are_those_of_the_results_beside(tmp_path: Path) -> None:
    one, two = (write(tmp_path, model, "t", [sample(0, {"acc": 1})]) for model in ("one", "two"))
    results(one, versions={"t": 3.0}, **{"n-shot": {"t": 5}})
    for version, shots, what in ((2.0, 5, "version"), (3.0, 0, "shots")):
        results(two, versions={"t": version}, **{"n-shot": {"t": shots}})
        refused([one, two], what)
    for known in ({"versions": {"t": 3.0}, "n-shot": {"t": 5}}, {}):
        results(two, **known)
        assert len(load([one, two], "accuracy").notes) == 1
    (two.parent / f"results_{TIME}.json").write_text('{"versions": {"t":')
    assert input_error([one, two], "accuracy").at == f"{two.parent / f'results_{TIME}.json'}, line 1"


def test_prompts_may_differ_as_chat_templates_do(tmp_path: Path) -> None:
    one = write(tmp_path, "one", "t", [sample(k, {"acc": 1}) for k in (0, 1)])
    two = write(tmp_path, "two", "t", [sample(k, {"acc": 1}, prompt_hash="q") for k in (0, 1)])
    refused([one, two], "prompt")
    results(one, chat_template_sha="a")
    results(two, chat_template_sha="a")
    refused([one, two], "prompt")
    # A template that only one log tells explains nothing, whichever log is read first.
    results(two)
    refused([one, two], "prompt")
    refused([two, one], "prompt")
    results(two, chat_template_sha=None)
    (_, told) = load([one, two], "accuracy").notes
    assert (told.fields["what"], told.fields["n"]) == ("prompt", "2 items")
    # Two of three logs have no template, and different prompts.
    three = write(tmp_path, "three", "t", [sample(k, {"acc": 1}, prompt_hash="r") for k in (0, 1)])
    results(three, chat_template_sha=None)
    assert input_error([one, two, three], "accuracy").at == f"{three}, line 1"


@pytest.mark.parametrize(
    ("what", "changed", "about"),
    [
        ("metric", {"scores": {"judge": {"value": 0.5}}}, {}),
        ("version", {}, {"task_version": 2}),
        ("input", {"input": "Why?"}, {}),
        ("target", {"target": ["x", "y"]}, {}),
        ("scorer", {}, {"scorers": [{"name": "match", "options": {"location": "any"}}]}),
    ],
)
def test_inspect_logs(what: str, changed: dict[str, Any], about: dict[str, Any], tmp_path: Path) -> None:
    of_one = {"task_version": 1, "scorers": [{"name": "match", "options": {"location": "end"}}]}
    paths = []
    for name, answer, facts in (("one", {}, of_one), ("two", changed, of_one | about)):
        path = tmp_path / f"{name}.json"
        header = {"task": "quiz", "model": name} | facts
        paths.append(inspect.write(path, [inspect.sample("q1", "C") | answer], eval=header))
    refused(paths, what)


def test_every_difference_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
    assert all(f"| `{name}` | " in page for name in DIFFERENCES)
