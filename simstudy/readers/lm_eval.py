"""Sample logs of EleutherAI's lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, as --log_samples writes them.

The harness writes ``<output_path>/<model>/results_<time>.json`` beside them. If its output path ends in .json, all
models share a folder, and the results are called ``<stem>_<time>.json``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

from simstudy.files.packed import as_given, plain_name
from simstudy.notes import note
from simstudy.readers.columns import USUAL, first_named, number
from simstudy.readers.formats import Format
from simstudy.readers.logs import Answer, Log, read_logs
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request
from simstudy.readers.text_files import field_of, first_keys, parse_json, read_json, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")

# Fields of a sample that are not metrics, in all versions of the harness from 0.4.0.
_FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "schema"}


def read(request: Request) -> LongTable:
    """Rows from sample logs of lm-evaluation-harness, one file for each model and task.

    The system is the folder of the file, which the harness names after the model. Items are the documents of the task,
    by ``doc_id``; several responses to a document are samples of an item. If a folder has a task several times, the
    newest file is read. The task's version and number of shots come from the results of the same run.
    """
    logs = _named(_newest([_log(path, request) for path in request.paths]))
    return read_logs(request, logs, "line", answers_compare=True)


def _holds(path: Path) -> bool:
    """Whether a file is a sample log: by its name, or by its keys."""
    keys = first_keys(path)
    return bool(_NAME.fullmatch(plain_name(path))) or (
        "doc_id" in keys and not keys.isdisjoint(("resps", "filtered_resps", "metrics", "arguments"))
    )


# Runs --------------------------------------------------------------------------------------------------------------
def _log(path: Path, request: Request) -> Log:
    """The log in a file, with what the results of its run say about the task."""
    name = _NAME.fullmatch(plain_name(path))
    if name is None:
        rule = f"{path}: sample logs of lm-evaluation-harness are called samples_<task>_<time>.jsonl"
        raise InputError(rule, remedy="rename the file, or read it as a table of scores")
    folder, task = path.absolute().parent, name["task"]
    system, answers = as_given(folder).name, _answers(path, request.columns.get("sample"))
    # results_<time>.json comes first.
    of_run = sorted(folder.glob(f"*_{name['time']}.json"), key=lambda file: not file.name.startswith("results_"))
    if not of_run:
        return Log(path, system, task, answers)
    results = read_json(of_run[0])
    version, shots = (field_of(results, what, dict, of_run[0], {}).get(task) for what in ("versions", "n-shot"))
    template = (results["chat_template_sha"] or False) if "chat_template_sha" in results else None
    if not of_run[0].name.startswith("results_"):
        key = "model_name_sanitized" if "model_name_sanitized" in results else "model_name"
        system = field_of(results, key, str, of_run[0], system)
    # Versions of groups of tasks are called N/A.
    return Log(path, system, task, answers, None if version in ("N/A", "Yaml") else version, shots, template)


def _newest(logs: list[Log]) -> list[Log]:
    """The newest log of each task of a system in a folder. A note tells of older ones."""
    newest: dict[tuple[Path, str, str], Log] = {}
    for log in sorted(logs, key=lambda log: _NAME.fullmatch(plain_name(log.path))["time"]):  # type: ignore[index]
        newest[log.path.absolute().parent, log.system, log.task] = log
    read = {log.path for log in newest.values()}
    older = sorted(log.path for log in logs if log.path not in read)
    if older:
        note("older logs", n=counted(len(older), "older log"), first=older[0])
    return [log for log in logs if log.path in read]


def _named(logs: list[Log]) -> list[Log]:
    """The logs, with the folder above in the system's name if two folders of one name have the same task."""
    counts = Counter((log.system, log.task) for log in logs)
    again = {system for (system, _), n in counts.items() if n > 1}
    above = {log.path: log.path.absolute().parent.parent.name for log in logs}
    return [replace(log, system=f"{above[log.path]}/{log.system}") if log.system in again else log for log in logs]


# Samples -----------------------------------------------------------------------------------------------------------
def _answers(path: Path, numbered_by: str | None) -> Iterator[Answer]:
    """The answers of a log: one for each line, or one for each of several responses that have scores of their own."""
    for line, text in enumerate(read_lines(path), start=1):
        at = f"{path}, line {line}"
        sample = parse_json(text, path, line)
        if not isinstance(sample, dict) or "doc_id" not in sample:
            raise InputError("not a sample of lm-evaluation-harness: it has no doc_id", at=at)
        filter, responses = field_of(sample, "filter", str, at, "none"), _responses(sample)
        answer = Answer(
            str(sample["doc_id"]),
            {},
            line,
            _sample_number(sample, numbered_by),
            # Tasks with one way to read the answers have the filter none.
            "" if filter == "none" else filter,
            # In logs of early versions hashes are empty or not there.
            field_of(sample, "doc_hash", str, at, "") or None,
            as_text(sample.get("target")) or None,
            field_of(sample, "prompt_hash", str, at, "") or None,
            _question(sample),
            # A score of several responses is of all of them together.
            "\n\n".join(text for text in responses if text is not None) if responses != [None] else None,
        )
        numbers = [name for name, value in sample.items() if name not in _FIELDS and isinstance(value, int | float)]
        metrics = [str(name) for name in field_of(sample, "metrics", list, at, numbers)]
        repeated = {name: values for name in metrics if (values := _repeated(sample, name))}
        for k in range(len(next(iter(repeated.values()), ()))):
            response = responses[k] if k < len(responses) else None
            scores = {name: values[k] for name, values in repeated.items()}
            yield answer._replace(scores=scores, sample=k + 1, response=response)
        scores = {name: sample.get(name) for name in metrics if name not in repeated}
        if scores or not repeated:
            yield answer._replace(scores=scores)


def _repeated(sample: Mapping[str, Any], metric: str) -> list[Any]:
    """The scores of several responses to a document; none if there is one score."""
    repeats, resps = sample.get("scores_per_repeat"), sample.get("resps")
    scores = repeats.get(metric) if isinstance(repeats, dict) else sample.get(metric)
    responses = resps[0] if isinstance(resps, list) and len(resps) == 1 else None
    # What corpus metrics log is a list too, such as a pair for F1.
    if isinstance(scores, list) and isinstance(responses, list) and len(scores) == len(responses) > 1:
        return scores
    return []


def _sample_number(sample: Mapping[str, Any], name: str | None) -> int | str | None:
    """The number of one of several samples of a document, from a field with a usual name or the one that is named."""
    usual = name or first_named(sample, USUAL["sample"])
    value = sample.get(usual) if usual else None
    return value if isinstance(value, int | str) else None


# Texts for people --------------------------------------------------------------------------------------------------
def _question(sample: Mapping[str, Any]) -> str | None:
    """What a document asks: its field with a usual name and its choices, else the prompt."""
    doc = sample.get("doc")
    name = first_named(doc, USUAL["input"]) if isinstance(doc, dict) else None
    if not isinstance(doc, dict) or name is None:
        prompts = _arguments(sample)
        return prompts[0][0] if prompts and prompts[0] else as_text(doc)
    choices = doc.get("choices") or doc.get("options")
    if isinstance(choices, dict):
        choices = choices.get("text")
    listed = [as_text(choice) or "" for choice in choices] if isinstance(choices, list) else []
    return "\n".join([as_text(doc[name]) or "", *(f"{i}. {choice}" for i, choice in enumerate(listed))])


def _arguments(sample: Mapping[str, Any]) -> list[list[str]]:
    """The texts of each request: the prompt, and the choice that would continue it."""
    given = sample.get("arguments")
    # From version 0.4.2 on: {"gen_args_0": {"arg_0": prompt, "arg_1": continuation or settings}}.
    requests = [*given.values()] if isinstance(given, dict) else given if isinstance(given, list) else []
    parts = [[*part.values()] if isinstance(part, dict) else part for part in requests]
    return [[text for text in part if isinstance(text, str)] if isinstance(part, list) else [] for part in parts]


def _responses(sample: Mapping[str, Any]) -> list[str | None]:
    """What the model said to a document, a text for each response; of choices, all with their log-likelihoods.

    What a filter took from a response stands above it.
    """
    resps = sample.get("resps")
    if not isinstance(resps, list) or not resps:
        return [None]
    likely = [_log_likelihood(response) for response in resps]
    if not any(map(isnan, likely)):
        choices = [part[1].strip() if len(part) > 1 else "" for part in _arguments(sample)] + [""] * len(likely)
        order = sorted(range(len(likely)), key=lambda i: -likely[i])
        return ["\n".join(f"{choices[i] or f'choice {i}'} ({likely[i]:.2f})" for i in order)]
    several = resps[0] if len(resps) == 1 and isinstance(resps[0], list) else resps
    texts = [as_text(part[0] if isinstance(part, list) and len(part) == 1 else part) for part in several]
    filtered = sample.get("filtered_resps")
    if isinstance(filtered, list) and len(filtered) == len(texts) == 1 and isinstance(filtered[0], str):
        return texts if filtered == texts else [f"[read as {filtered[0]}]\n{texts[0]}"]
    return texts or [None]


def _log_likelihood(response: Any) -> float:
    """The log-likelihood of a choice: the first of a pair, whose second says whether the choice is the most likely."""
    while isinstance(response, list) and len(response) == 1:
        response = response[0]
    is_pair = isinstance(response, list) and len(response) == 2 and str(response[1]) in ("True", "False")
    return number(str(response[0])) if is_pair else nan


FORMAT = Format(
    "lm-eval",
    "sample logs of lm-evaluation-harness",
    read,
    ("samples_*.jsonl", "*.jsonl"),
    _holds,
    scored=True,
    is_log=True,
    beside=("*_????-??-??t*.json",),
)
