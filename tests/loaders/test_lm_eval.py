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
        ValueError, match=r"jsonl: samples have metrics acc, acc_norm; columns=\{'score': \.\.\.\} chooses one$"
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
        match=r"jsonl: samples have filters strict-match, flexible-extract; columns=\{'filter': \.\.\.\} chooses one$",
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
        ValueError, match=r"line 1: a score must be between 0 and 1 for metric 'accuracy', not 1\.5; metric='mean'"
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
        f"{two}, line 1: item '0' of task 't' has another input here than in {one}, line 1; "
        "allow_different='input' compares such logs all the same"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read(one, two)


def test_files_must_have_the_names_that_the_harness_gives(tmp_path: Path) -> None:
    message = "log.jsonl: a sample log must be called samples_<task>_<time>.jsonl, as the harness calls it"
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "log.jsonl")
