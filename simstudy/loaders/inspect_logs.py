"""Eval logs of Inspect (UK AI Security Institute) in JSON form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.base import Loaded, Source, SystemOutputs, system_files
from simstudy.loaders.items import sample_id
from simstudy.loaders.json_files import parse_json
from simstudy.loaders.reading import once, read_content
from simstudy.loaders.tables import check_takes_one_score, number, score_statistics
from simstudy.loaders.task_logs import assemble_tasks, chosen
from simstudy.metrics.base import Array

#: Inspect's value_to_float.
_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


@dataclass(frozen=True)
class Log:
    """One log: a model's answers to the samples of a task.

    Samples go by id and epoch; the scored ones have a value under the scorer, and an answer (as JSON).
    """

    path: Path
    model: str
    task: str
    samples: Sequence[tuple[str, int]]
    scored: Mapping[tuple[str, int], tuple[Any, str]]
    scorer: str


def read_inspect(source: Source) -> Loaded:
    """Systems from Inspect eval logs in JSON form (log format json, or `inspect log convert --to json`).

    The system is the model, or the file where logs of one task have the same model. Items are samples, by their id, and
    tasks domains, as `assemble_tasks` has it; epochs are samples of an item (`simstudy.loaders.items`). Values are
    numbers as Inspect takes them: C 1, P (partial) 0.5, I and N (no answer) 0. What has no score (it failed, or the
    scorer left it unscored) is missing. `Source.columns` chooses of several scorers: {"score": "match"}.
    """
    check_takes_one_score(source.metric)
    read = [read_log(path, source.columns.get("score")) for path in source.paths]
    several = any(epoch > 1 for log in read for _, epoch in log.samples)

    def id_of(sample: str, epoch: int) -> str:
        return sample_id(sample, epoch) if several else sample

    logs = []
    for name, log in zip(_names(read, source.names), read, strict=True):
        ids, answers = [id_of(*key) for key in log.scored], [answer for _, answer in log.scored.values()]
        logs.append((log.task, SystemOutputs(name, str(log.path), ids, _statistics(log, source), answers)))
    asked = {(log.task, id_of(*key)): key[0] for log in read for key in log.samples}
    scorers = dict.fromkeys(log.scorer for log in read)
    return Loaded(assemble_tasks(logs, source, asked), scored_by=tuple(scorers))


def read_log(path: Path, scorer: str | None = None) -> Log:
    """One log, under the scorer of this name; None for the only one."""
    log = _parsed(path)
    if log["status"] != "success":
        raise ValueError(
            f"{path}: the log's status is '{log['status']}', not 'success': the evaluation is not complete"
        )
    samples = [_sample(path, i, sample) for i, sample in enumerate(log.get("samples") or (), start=1)]
    if not samples:
        raise ValueError(f"{path}: the log has no samples")
    known = list(dict.fromkeys(name for _, _, own in samples for name in own))
    scorer = chosen(path, known, scorer, "scorer", "score")
    scored: dict[tuple[str, int], tuple[Any, str]] = {}
    seen: dict[tuple[str, int], None] = {}
    for name, epoch, own in samples:
        if (name, epoch) in seen:
            raise ValueError(f"{path}: sample '{name}' is there twice, both times as epoch {epoch}")
        seen[name, epoch] = None
        value, answer = own.get(scorer, (None, ""))
        # NaN is Inspect's mark of what a scorer leaves unscored.
        if value is not None and value == value:
            scored[name, epoch] = value, answer
    return Log(path, str(log["eval"]["model"]), str(log["eval"]["task"]), list(seen), scored, scorer)


def _sample(path: Path, n: int, sample: Any) -> tuple[str, int, dict[str, tuple[Any, str]]]:
    """Id and epoch of the n-th sample, and by scorer the value and the answer."""
    try:
        scores = {}
        for scorer, score in (sample.get("scores") or {}).items():
            if score is None:
                scores[str(scorer)] = None, ""
            else:
                scores[str(scorer)] = score["value"], json.dumps(_answer(sample, score), ensure_ascii=False)
        return str(sample["id"]), int(sample.get("epoch", 1)), scores
    except (KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}, sample {n}: not as Inspect writes it ({problem})") from None


@once
def _parsed(path: Path) -> dict[str, Any]:
    if path.suffix == ".eval" and path.is_file():
        raise ValueError(
            f"{path}: a binary log; make JSON of it first: inspect log convert {path} --to json --output-dir json-logs"
        )
    text = read_content(path)
    try:
        log: dict[str, Any] = parse_json(text, path)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: not JSON (is the file cut?): {error.msg}") from None
    about = log.get("eval") if isinstance(log, dict) else None
    if not isinstance(about, dict) or "status" not in log or not {"task", "model"} <= about.keys():
        raise ValueError(f"{path}: not an Inspect eval log: it has no status, or no task and model")
    if not isinstance(log.get("samples") or [], list):
        raise ValueError(f"{path}: not as Inspect writes it (samples are no list)")
    return log


def _names(logs: Sequence[Log], given: Mapping[Path, str]) -> list[str]:
    """The names given, or the models; files where one task has several logs of a model (other solvers, prompts)."""
    names = {log.path: given.get(log.path, log.model) for log in logs}
    if len({log.task for log in logs}) == 1:
        counts = Counter(names.values())
        repeated = [path for path, name in names.items() if counts[name] > 1 and path not in given]
        names |= {path: name for name, path in system_files(repeated).items()}
    return list(names.values())


def _statistics(log: Log, source: Source) -> Array:
    """The values of the samples that were scored, as statistics."""
    places = [f"{log.path}, sample '{sample}'" for sample, _ in log.scored]
    found = [_number(value) for value, _ in log.scored.values()]
    for place, (value, _), score in zip(places, log.scored.values(), found, strict=True):
        if np.isnan(score):
            raise ValueError(f"{place}: the value must be one number or C, I, P, N, not {value!r:.60}")
    return score_statistics(pd.Series(found, dtype=np.float64), source.metric, places.__getitem__)


def _number(value: Any) -> float:
    """A score's value as Inspect's value_to_float has it; NaN where it is not one number."""
    if isinstance(value, str):
        return _VALUES.get(value, _VALUES.get(value.lower(), number(value)))
    try:
        return float(value)
    except (TypeError, OverflowError):
        return np.nan


def _answer(sample: Mapping[str, Any], score: Mapping[str, Any]) -> Any:
    """What the scorer took for the answer, else what the model said."""
    if score.get("answer") is not None:
        return score["answer"]
    choices = (sample.get("output") or {}).get("choices") or [{}]
    return choices[0].get("message", {}).get("content")
