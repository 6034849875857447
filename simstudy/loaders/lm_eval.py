"""Sample logs of EleutherAI's lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, as --log_samples writes them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.loaders.base import Loaded, Source, SystemOutputs
from simstudy.loaders.json_files import parse_json
from simstudy.loaders.reading import once, read_lines
from simstudy.loaders.tables import check_takes_one_score, score_statistics
from simstudy.loaders.task_logs import assemble_tasks, chosen

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(\.gz)?")
#: Fields of a sample that are not metrics, in all versions of the harness from 0.4.0.
_FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "schema"}

#: A line of a log: what was asked (``doc_id``), what came out, and a number under each metric.
Sample = dict[str, Any]


def read_lm_eval(source: Source) -> Loaded:
    """Systems from sample logs of lm-evaluation-harness, one file for each model and task.

    The system is the folder of the file, which the harness names after the model. Items are the documents of the task,
    by ``doc_id``, and tasks are domains, as `assemble_tasks` has it. `Source.columns` chooses where there is a choice:
    {"score": "acc_norm"} of several metrics, {"filter": "strict-match"} of several filters.
    """
    check_takes_one_score(source.metric)
    logs: list[tuple[str, SystemOutputs]] = []
    # Hashes tell documents apart; in logs of early versions they are empty.
    hashes: dict[tuple[str, str], tuple[str, str]] = {}
    metrics: dict[str, None] = {}
    for path in source.paths:
        model, task = source.names.get(path, path.absolute().parent.name), _task(path)
        metric, samples = read_samples(path, source.columns)
        metrics[metric] = None
        places = [f"{path}, line {line}" for line, _ in samples.values()]
        for place, (doc_id, (_, sample)) in zip(places, samples.items(), strict=True):
            doc_hash = str(sample.get("doc_hash", ""))
            known, first = hashes.setdefault((task, doc_id), (doc_hash, place))
            if known and doc_hash and known != doc_hash:
                raise ValueError(f"{place}: doc_id {doc_id} is another document (doc_hash) than in {first}")
        scores = pd.Series([sample[metric] for _, sample in samples.values()], dtype=object)
        statistics = score_statistics(scores, source.metric, places.__getitem__)
        answers = [json.dumps(sample.get("filtered_resps"), ensure_ascii=False) for _, sample in samples.values()]
        logs.append((task, SystemOutputs(model, str(path), list(samples), statistics, answers)))
    return Loaded(assemble_tasks(logs, source), scored_by=tuple(metrics))


def read_samples(path: Path, columns: Mapping[str, str]) -> tuple[str, dict[str, tuple[int, Sample]]]:
    """The chosen metric of one file, and its samples under the chosen filter, each with its line, by ``doc_id``."""
    logged = _parsed(path)
    found = list(dict.fromkeys(str(sample.get("filter", "none")) for _, sample in logged))
    # A task with one way to read the answers calls it none: there is nothing to choose.
    if found != ["none"]:
        one = chosen(path, found, columns.get("filter"), "filter", "filter")
        logged = [(line, sample) for line, sample in logged if sample.get("filter", "none") == one]
    named = (sample.get("metrics", _numeric_fields(sample)) for _, sample in logged)
    known = list(dict.fromkeys(str(name) for names in named for name in names))
    metric = chosen(path, known, columns.get("score"), "metric", "score")
    samples: dict[str, tuple[int, Sample]] = {}
    for line, sample in logged:
        doc_id = str(sample["doc_id"])
        if doc_id in samples:
            first = f"doc_id {doc_id} again, first in line {samples[doc_id][0]}"
            raise ValueError(
                f"{path}, line {line}: {first}; samples of a document go into a table of scores, with a column 'sample'"
            )
        if metric not in sample:
            raise ValueError(f"{path}, line {line}: no metric '{metric}' in this sample")
        score = sample[metric]
        if score != score:
            raise ValueError(f"{path}, line {line}: no score, '{metric}' is NaN")
        if not isinstance(score, int | float) or abs(score) > sys.float_info.max:
            # Of corpus measures (BLEU, F1 of a class) the harness logs what it needs, and scores all samples at once.
            shown = json.dumps(score, ensure_ascii=False)[:60]
            raise ValueError(f"{path}, line {line}: '{metric}' is no score of this one sample, but {shown}")
        samples[doc_id] = line, sample
    return metric, samples


def _task(path: Path) -> str:
    found = _NAME.fullmatch(path.name)
    if not found:
        raise ValueError(f"{path}: a sample log must be called samples_<task>_<time>.jsonl, as the harness calls it")
    return found["task"]


@once
def _parsed(path: Path) -> list[tuple[int, Sample]]:
    logged = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            sample = parse_json(line, path, number)
        except json.JSONDecodeError:
            raise ValueError(f"{path}, line {number}: not a whole JSON line (is the file cut?)") from None
        if not isinstance(sample, dict) or "doc_id" not in sample:
            raise ValueError(f"{path}, line {number}: not a sample of lm-evaluation-harness: it has no doc_id")
        if not isinstance(sample.get("metrics", []), list):
            shown = json.dumps(sample["metrics"], ensure_ascii=False)[:60]
            raise ValueError(f"{path}, line {number}: 'metrics' must be a list of names, not {shown}")
        logged.append((number, sample))
    return logged


def _numeric_fields(sample: Sample) -> list[str]:
    """The metrics of a sample that does not list them, as in early versions."""
    return [name for name, value in sample.items() if name not in _FIELDS and isinstance(value, int | float)]
