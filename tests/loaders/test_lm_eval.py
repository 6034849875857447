from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.door import load
from simstudy.loaders.formats import read_source
from simstudy.metrics import get_metric

read_lm_eval = partial(read_source, format="lm-eval")

TIME = "2025-01-31T10-00-00.123456"


def sample(doc_id: int, scores: dict[str, Any], filter: str = "none", **more: Any) -> dict[str, Any]:
    """A sample with the fields that the harness writes."""
    return {
        "doc_id": doc_id,
        "doc": {"question": f"q{doc_id}"},
        "target": str(doc_id),
        "arguments": {"gen_args_0": {"arg_0": "Q:"}},
        "resps": [["so it is 1"]],
        "filtered_resps": ["1"],
        "filter": filter,
        "metrics": list(scores),
        "doc_hash": f"h{doc_id}",
        "prompt_hash": "p",
        "target_hash": "t",
        **scores,
    } | more


def write(folder: Path, model: str, task: str, samples: list[dict[str, Any]], time: str = TIME) -> Path:
    (folder / model).mkdir(exist_ok=True)
    path = folder / model / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(json.dumps(s, ensure_ascii=False) + "\n" for s in samples), encoding="utf-8")
    return path


def read(*paths: Path, metric: str = "accuracy", missing: str = "error", **columns: str) -> Loaded:
    return read_lm_eval(Source(paths, get_metric(metric), columns=columns, missing=missing))


def test_tasks_are_domains(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, model, task, [sample(0, {"em": score})])
        for model, score in {"a": 1, "b": 0}.items()
        for task in ("mmlu_law", "gsm8k")
    ]
    outputs = read(*paths).outputs
    assert outputs.items.to_dict("list") == {"id": ["mmlu_law/0", "gsm8k/0"], "domain": ["mmlu_law", "gsm8k"]}
    assert outputs.scores().tolist() == [100, 0]


def test_one_metric_of_several_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "m", "arc", [sample(0, {"acc": 1, "acc_norm": 0}), sample(1, {"acc": 0, "acc_norm": 0})])
    assert read(path, score="acc").outputs.scores().tolist() == [50]
    assert read(path, score="acc_norm").outputs.scores().tolist() == [0]
    with pytest.raises(
        ValueError, match=r"jsonl: samples have metrics acc, acc_norm; columns=\{'score': 'acc'\} chooses the first$"
    ):
        read(path)
    with pytest.raises(ValueError, match=r"no metric 'acc_nrm' among acc, acc_norm \(did you mean 'acc_norm'\?\)$"):
        read(path, score="acc_nrm")


def test_early_logs_list_no_metrics_and_no_filter(tmp_path: Path) -> None:
    early = {
        "doc_id": 0,
        "doc": {},
        "target": 1,
        "arguments": [],
        "resps": [],
        "filtered_resps": [],
        "exact_match": 1.0,
    }
    assert read(write(tmp_path, "m", "t", [early])).outputs.scores().tolist() == [100]


def test_one_filter_of_several_is_chosen(tmp_path: Path) -> None:
    samples = [sample(i, {"em": i}, f) for f in ("strict-match", "flexible-extract") for i in (0, 1)]
    samples[3]["em"] = 0
    path = write(tmp_path, "m", "gsm8k", samples)
    other = write(tmp_path, "m", "arc", [sample(0, {"em": 1})])
    assert read(path, filter="strict-match").outputs.scores().tolist() == [50]
    assert read(path, other, filter="flexible-extract").outputs.statistics[0, :, 0].tolist() == [0, 0, 1]
    with pytest.raises(
        ValueError,
        match=r"jsonl: samples have filters strict-match, flexible-extract; columns=\{'filter': 'strict-match'\}",
    ):
        read(path)
    with pytest.raises(ValueError, match="no filter 'strict' among strict-match, flexible-extract"):
        read(path, filter="strict")


def test_fractions_are_means_of_several_answers(tmp_path: Path) -> None:
    path = write(tmp_path, "m", "t", [sample(0, {"f": 0.5}), sample(1, {"f": 1})])
    assert read(path, metric="mean").outputs.scores().tolist() == [0.75]
    assert read(path).outputs.scores().tolist() == [75]
    path = write(tmp_path, "m", "u", [sample(0, {"f": 1.5})])
    with pytest.raises(
        ValueError, match=r"line 1: a score must be between 0 and 1 for metric 'accuracy', not 1\.5; divide"
    ):
        read(path)
    with pytest.raises(ValueError, match="metric 'f1' needs .* of each item, but there is one score"):
        read(path, metric="f1")


def test_the_newest_of_several_runs_of_one_task_is_read(tmp_path: Path) -> None:
    """Whatever the order in which they are named."""
    runs = enumerate((TIME, "2025-02-01T10-00-00", "2024-12-31T23-59-59.9"))
    paths = [write(tmp_path, "m", "a_b", [sample(0, {"em": k == 1})], time) for k, time in runs]
    for order in (paths, paths[::-1]):
        loaded = read(*order)
        assert loaded.outputs.scores().tolist() == [100]
        assert loaded.notes == (f"the newest log of each model and task is read; 2 older logs not, first {paths[2]}",)


def test_other_documents_under_the_same_id(tmp_path: Path) -> None:
    one = write(tmp_path, "one", "t", [sample(0, {"em": 1})])
    two = write(tmp_path, "two", "t", [sample(0, {"em": 1}, doc_hash="other")])
    message = (
        f"{two}, line 1: item '0' of task 't' has another input here than in {one}, line 1 (1 of 1 items differ); "
        "allow_different='input' compares such logs all the same"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read(one, two)


def test_files_must_have_the_names_that_the_harness_gives(tmp_path: Path) -> None:
    message = "log.jsonl: sample logs of lm-evaluation-harness are called samples_<task>_<time>.jsonl; format='scores'"
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "log.jsonl")


def test_a_metric_and_a_filter_for_each_task(tmp_path: Path) -> None:
    arc = [sample(k, {"acc": k, "acc_norm": 1}) for k in (0, 1)]
    gsm = [sample(0, {"exact_match": int(f == "strict-match")}, f) for f in ("strict-match", "flexible-extract")]
    paths = [write(tmp_path, "m", "arc_easy", arc), write(tmp_path, "m", "gsm8k", gsm)]
    columns = {"score": "acc", "score@gsm8k": "exact_match", "filter@gsm8k": "strict-match"}
    loaded = read_lm_eval(Source(tuple(paths), get_metric("accuracy"), columns=columns))
    assert loaded.outputs.statistics[0, :, 0].tolist() == [0, 1, 1]
    columns = {"score@arc_*": "acc_norm", "filter": "flexible-extract"}
    loaded = read_lm_eval(Source(tuple(paths), get_metric("accuracy"), columns=columns))
    assert loaded.outputs.statistics[0, :, 0].tolist() == [1, 1, 0]
    with pytest.raises(
        ValueError, match=r"no metric 'acc' among exact_match; columns=\{'score@gsm8k': \.\.\.\} chooses"
    ):
        read(*paths, score="acc", filter="strict-match")
    columns = {"score@arc": "acc", "filter": "flexible-extract"}
    message = r"columns choose 'score@arc', but no task is called so among arc_easy, gsm8k"
    with pytest.raises(ValueError, match=message):
        read_lm_eval(Source(tuple(paths), get_metric("accuracy"), columns=columns))
    write(tmp_path, "m", "arc_easy", [sample(0, {"acc": 1})])
    notes = read(*paths, filter="strict-match").notes
    assert notes[0].startswith("tasks have different metrics: acc (arc_easy), exact_match (gsm8k); columns=")


def test_several_responses_to_a_document_are_samples(tmp_path: Path) -> None:
    """As the harness has their scores since 0.5, as a list under the metric, or in lines that a field numbers."""
    said = [["one", "two", "two"]]
    expected = {"id": ["0#1", "0#2", "0#3", "1#1", "1#2", "1#3"]} | dict.fromkeys(
        ("sample_of", "cluster"), ["0"] * 3 + ["1"] * 3
    )
    per_repeat = [sample(k, {"em": 2 / 3}, resps=said, scores_per_repeat={"em": [k, 1, 1]}) for k in (0, 1)]
    as_list = [sample(k, {"em": [k, 1, 1]}, resps=said) for k in (0, 1)]
    lines = [
        sample(k, {"em": int(r > 1 or k)}, resps=[[said[0][r - 1]]], repetition=r) for k in (0, 1) for r in (1, 2, 3)
    ]
    found = [read(write(tmp_path, f"m{i}", "t", own)) for i, own in enumerate((per_repeat, as_list, lines))]
    for loaded in found:
        assert loaded.outputs.items.to_dict("list") == expected
        assert loaded.outputs.statistics[0, :, 0].tolist() == [0, 1, 1, 1, 1, 1]
        assert loaded.outputs.answers is not None
        assert loaded.outputs.answers[0, 0] != loaded.outputs.answers[0, 1] == loaded.outputs.answers[0, 2]
    assert [loaded.outputs.answers.tolist() for loaded in found if loaded.outputs.answers is not None][0] == (
        found[1].outputs.answers.tolist() if found[1].outputs.answers is not None else None
    )
    # One score for three responses, as a filter has it; and a pair that a corpus metric needs.
    assert read(write(tmp_path, "m3", "t", [sample(0, {"em": 1}, resps=said)])).outputs.items["id"].tolist() == ["0"]
    with pytest.raises(ValueError, match=r"line 1: 'f1' is no score of this one sample, but \[0, 1\]"):
        read(write(tmp_path, "m4", "t", [sample(0, {"f1": [0, 1]}, resps=[["-1"], ["-2"]])]))
    with pytest.raises(ValueError, match=r"line 2: doc_id 0 again, first in line 1; samples of a document"):
        read(write(tmp_path, "m5", "t", [sample(0, {"em": 1})] * 2))


def test_answers_are_raw_responses_not_what_a_filter_took(tmp_path: Path) -> None:
    """Two good systems share the label, and one right answer, but not their words."""
    said = (["so it is 1"], ["1, since"], ["1, since"])
    paths = [write(tmp_path, f"m{k}", "t", [sample(0, {"em": 1}, resps=[own])]) for k, own in enumerate(said)]
    answers = read(*paths).outputs.answers
    assert answers is not None
    assert answers[0, 0] != answers[1, 0] == answers[2, 0]
    write(tmp_path, "m2", "t", [sample(0, {"em": 1}, resps=[])])
    assert read(*paths).outputs.answers is None


def test_systems_of_folders_with_one_name_and_of_one_folder(tmp_path: Path) -> None:
    """Another output path for each setting; or one that ends in .json, where all models share a folder."""
    for name in ("5shot", "0shot"):
        (tmp_path / name).mkdir()
    paths = [write(tmp_path / name, "m", "t", [sample(0, {"em": 1})]) for name in ("5shot", "0shot")]
    assert read(*paths).outputs.names == ["5shot/m", "0shot/m"]
    other = write(tmp_path / "0shot", "m", "u", [sample(0, {"em": 1})])
    assert read(paths[0], other).outputs.names == ["m"]
    times = {"a/one": TIME, "a/two": "2025-02-01T10-00-00"}
    paths = [write(tmp_path, "out", "t", [sample(0, {"em": 1})], time) for time in times.values()]
    for model, time in times.items():
        (tmp_path / "out" / f"run_{time}.json").write_text(json.dumps({"model_name": model}))
    loaded = read(*paths)
    assert (loaded.outputs.names, loaded.notes) == (["a/one", "a/two"], ())


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Two tasks, one with two metrics, and one with two filters."""
    arc = [sample(k, {"acc": k, "acc_norm": 1}) for k in (0, 1)]
    gsm = [sample(0, {"exact_match": int(f == "strict-match")}, f) for f in ("strict-match", "flexible-extract")]
    write(tmp_path, "m", "arc", arc)
    write(tmp_path, "m", "gsm8k", gsm)
    return tmp_path


def test_the_name_of_a_metric_of_the_logs_chooses_it(tmp_path: Path) -> None:
    """By our other names of accuracy (acc), and by names that are none of ours: as accuracy within 0 and 1."""
    path = write(tmp_path, "m", "arc", [sample(k, {"acc": k, "acc_norm": 1, "nats": 3 * k}) for k in (0, 1)])
    for metric, name, score in (("acc", "accuracy", 50), ("acc_norm", "accuracy", 100), ("nats", "mean", 1.5)):
        loaded = load(path, metric)
        assert (loaded.outputs.metric.name, loaded.outputs.scores().tolist()) == (name, [score])
        assert loaded.scored_by == (metric,)
        assert len(loaded.notes) == (metric != "acc")
    assert loaded.notes == ("metric 'nats' of the logs is read as mean: its values are from 0 to 3",)
    assert load(path, "acc", columns={"score": "acc_norm"}).outputs.scores().tolist() == [100]
    # What is asked by another name of ours is the only metric that there is; a name of the logs is not.
    other = write(tmp_path, "m", "quiz", [sample(0, {"em": 1})])
    assert load(other, "acc").scored_by == ("em",)
    chosen = r"columns=\{'score@arc': 'acc_norm', 'score@quiz': 'em'\} chooses for all tasks"
    with pytest.raises(ValueError, match=rf"quiz_.*: no metric 'acc_norm' among em; {chosen}"):
        load([path, other], "acc_norm")
    with pytest.raises(ValueError, match=r"quiz_.*: no metric 'acuracy' among em \(did you mean 'accuracy'\?\)$"):
        load(other, "acuracy")
    with pytest.raises(ValueError, match="metric must be a known name, not 'acuracy' "):
        load(other, "acuracy", columns={"score": "em"})
    with pytest.raises(ValueError, match="metric must be a known name, not 'acc_norm'"):
        load({"a": [0, 1]}, "acc_norm")


def test_one_line_chooses_for_all_tasks(several: Path) -> None:
    """And it is what the columns take."""
    chosen = "columns={'score@arc': 'acc', 'score@gsm8k': 'exact_match', 'filter': 'strict-match'}"
    with pytest.raises(ValueError, match=f"{re.escape(chosen)} chooses for all tasks, the first where"):
        load(several, "accuracy")
    columns = {"score@arc": "acc", "score@gsm8k": "exact_match", "filter": "strict-match"}
    outputs = load(several, "accuracy", columns=columns).outputs
    assert outputs.statistics[0, :, 0].tolist() == [0, 1, 1]
    assert outputs.items["scored_by"].tolist() == ["acc", "acc", "exact_match"]
    for k in range(12):
        write(several, "m", f"mmlu_{k}", [sample(0, {"acc": 1, "acc_norm": 0})])
    chosen = "columns={'score': 'acc', 'score@gsm8k': 'exact_match', 'filter': 'strict-match'}"
    with pytest.raises(ValueError, match=re.escape(chosen)):
        load(several, "accuracy")


def test_a_domain_is_the_only_task_that_is_read(several: Path) -> None:
    write(several, "m", "broken", [{"doc_id": 0, "metrics": 1}])
    outputs = load(several, "acc", domain="arc").outputs
    assert outputs.items[["id", "domain"]].to_numpy().tolist() == [["arc/0", "arc"], ["arc/1", "arc"]]
    with pytest.raises(ValueError, match="'metrics' must be a list"):
        load(several, "acc")
