"""Sample logs of EleutherAI's lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, as --log_samples writes them.

The harness writes ``<output_path>/<model>/results_<time>.json`` beside them. If its output path ends in .json, all
models share a folder, and the results are called ``<stem>_<time>.json``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simstudy.files.packed import as_given, plain_name
from simstudy.metrics.texts import PERPLEXITIES
from simstudy.notes import note
from simstudy.readers.columns import USUAL, first_named
from simstudy.readers.formats import Format
from simstudy.readers.logs import NO_FILTER, Answer, Log, read_logs
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request
from simstudy.readers.text_files import NUMBER, field_of, first_keys, parse_json, read_json, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")

# Fields of a sample that are not metrics, in all versions of the harness from 0.4.0.
_FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "schema"}

# Metrics whose values are pairs: the log-likelihood of a text and its length.
_RATIOS = {metric.name for metric in PERPLEXITIES}

# The harness makes its perplexity of log-likelihoods, which the log has under this name.
_NAMES = {"perplexity": "log_likelihood"}


def read(request: Request) -> LongTable:
    """Rows from sample logs of lm-evaluation-harness, one file for each model and task.

    The system is the folder of the file, which the harness names after the model; with the folder above, if two folders
    of one name have the same task. Items are the documents of the task, by ``doc_id``; several responses to a document
    are samples of an item. If a folder has a task several times, the newest file is read. The task's version and number
    of shots come from the results of the same run.
    """
    newest: dict[tuple[Path, str, str], Log] = {}
    # Names of one task end in their times.
    for path in sorted(request.paths, key=plain_name):
        log = _log(path, request)
        newest[path.absolute().parent, log.system, log.task] = log
    log_of = {log.path: log for log in newest.values()}
    if older := sorted({*request.paths} - {*log_of}):
        note("older logs", n=counted(len(older), "older log"), first=older[0])
    logs = [log_of[path] for path in request.paths if path in log_of]
    counts = Counter((log.system, log.task) for log in logs)
    again = {system for (system, _), n in counts.items() if n > 1}
    names = {log.path: f"{log.path.absolute().parent.parent.name}/{log.system}" for log in logs if log.system in again}
    logs = [replace(log, system=names.get(log.path, log.system)) for log in logs]
    return read_logs(request, logs, "line", answers_compare=True)


def _holds(path: Path) -> bool:
    """Whether a file is a sample log: by its name, or by its keys."""
    keys = first_keys(path)
    return bool(_NAME.fullmatch(plain_name(path))) or (
        "doc_id" in keys and not keys.isdisjoint(("resps", "filtered_resps", "metrics", "arguments"))
    )


def _log(path: Path, request: Request) -> Log:
    """The log in a file, with what the results of its run say about the task."""
    name = _NAME.fullmatch(plain_name(path))
    if name is None:
        rule = f"{path}: sample logs of lm-evaluation-harness are called samples_<task>_<time>.jsonl"
        raise InputError(rule, remedy="rename the file, or read it as a table of scores")
    folder = path.absolute().parent
    log = Log(path, as_given(folder).name, name["task"], _answers(path, request.columns.get("sample")))
    # results_<time>.json comes first.
    of_run = sorted(folder.glob(f"*_{name['time']}.json"), key=lambda file: not file.name.startswith("results_"))
    if not of_run:
        return log
    results = read_json(of_run[0])
    version, shots = (field_of(results, key, dict, of_run[0], {}).get(log.task) for key in ("versions", "n-shot"))
    template = (results["chat_template_sha"] or False) if "chat_template_sha" in results else None
    system = log.system
    if not of_run[0].name.startswith("results_"):
        key = "model_name_sanitized" if "model_name_sanitized" in results else "model_name"
        system = field_of(results, key, str, of_run[0], system)
    return replace(log, system=system, facts={"version": version, "shots": shots, "template": template})


def _answers(path: Path, sample_field: str | None) -> Iterator[Answer]:
    """The answers of a log: one for each line and metric, or for each of several responses with scores of their own."""
    for line, text in enumerate(read_lines(path), start=1):
        at = f"{path}, line {line}"
        sample = parse_json(text, path, line)
        if not isinstance(sample, dict) or "doc_id" not in sample:
            raise InputError("not a sample of lm-evaluation-harness: it has no doc_id", at=at)
        responses = _responses(sample)
        answer = Answer(
            item=str(sample["doc_id"]),
            place=line,
            sample=as_text(sample.get(sample_field or first_named(sample, USUAL["sample"]))),
            filter=field_of(sample, "filter", str, at, NO_FILTER),
            # In logs of early versions hashes are empty or not there.
            input=field_of(sample, "doc_hash", str, at, "") or None,
            target=as_text(sample.get("target")) or None,
            prompt=field_of(sample, "prompt_hash", str, at, "") or None,
            question=_question(sample.get("doc")),
            # A score of several responses is of all of them together.
            response="\n\n".join(responses) if responses else None,
        )
        numbers = [
            name
            for name, value in sample.items()
            if name in _RATIOS or (name not in _FIELDS and isinstance(value, int | float))
        ]
        metrics = [str(name) for name in field_of(sample, "metrics", list, at, numbers)]
        repeated = field_of(sample, "scores_per_repeat", dict, at, {})
        for metric in metrics or [""]:
            answer = answer._replace(metric=_NAMES.get(metric, metric))
            scores = field_of(repeated, metric, list, at, [])
            for k, score in enumerate(scores):
                response = responses[k] if len(responses) == len(scores) else None
                yield answer._replace(score=_score(metric, score, at), sample=k + 1, response=response)
            if not scores:
                yield answer._replace(score=_score(metric, sample.get(metric), at))


def _score(metric: str, value: Any, at: str) -> Any:
    """The value of a metric; for a ratio of sums its statistics, the negative log-likelihood and the length."""
    if metric not in _RATIOS or value is None:
        return value
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(part, NUMBER | None) for part in value):
        raise InputError(metric, "must be a log-likelihood and a length", value, at=at)
    log_likelihood, length = value
    return None if log_likelihood is None or log_likelihood != log_likelihood else (-log_likelihood, length)


# Texts for people --------------------------------------------------------------------------------------------------
def _question(doc: Any) -> str | None:
    """The question of a document: its field with a usual name and its choices, else the whole document."""
    name = first_named(doc, USUAL["input"]) if isinstance(doc, dict) else None
    if name is None:
        return as_text(doc)
    choices = as_text(doc.get("choices") or doc.get("options"))
    return "\n".join(text for text in (as_text(doc[name]), choices) if text)


def _responses(sample: Mapping[str, Any]) -> list[str]:
    """What the model said to a document: texts, or the log-likelihoods of the choices in their order."""
    resps = sample.get("resps")
    if not isinstance(resps, list):
        return []
    responses = resps[0] if len(resps) == 1 and isinstance(resps[0], list) else resps
    alone = [part[0] if isinstance(part, list) and len(part) == 1 else part for part in responses]
    return [as_text(response) or "" for response in alone]


_FILES, _BESIDE = ("samples_*.jsonl", "*.jsonl"), ("*_????-??-??t*.json",)
FORMAT = Format(
    "lm-eval", "sample logs of lm-evaluation-harness", read, _FILES, _holds, scored=True, is_log=True, beside=_BESIDE
)
