"""Eval logs of Inspect (UK AI Security Institute): logs in JSON form, and archives (.eval).

An archive has one JSON file for the log and one for each sample.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simstudy.files.packed import zip_entries
from simstudy.notes import note
from simstudy.readers.formats import Format
from simstudy.readers.logs import Answer, Log, read_logs
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request
from simstudy.readers.text_files import decoded, field_of, first_keys, is_read, parse_json, read_json
from simstudy.validation import InputError

# Inspect's value_to_float, which also takes true, false and numbers as text: so do tables of scores.
_VALUES = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "no": 0}

# The fields of an archive's samples that are read. Others (events) may be a thousand times as long.
_OF_SAMPLE = ("id", "epoch", "input", "target", "output", "scores")


def read(request: Request) -> LongTable:
    """Rows from Inspect eval logs: archives (.eval), or logs in JSON form.

    The system is the model, or the file if logs of one task have the same model. Items are samples, by their ids;
    epochs are samples of an item. Values are numbers as Inspect takes them: C 1, P (partial) 0.5, I and N (no answer)
    0; each entry of a dictionary or a list is a score. An answer has no score if it failed or was left unscored.
    """
    return read_logs(request, map(_log, request.paths), "sample", named_by_file=True, answers_compare=True)


def _holds(path: Path) -> bool:
    """Whether a file is an Inspect log: an archive by its name, JSON by its keys."""
    return path.suffix.lower() == ".eval" or {"status", "eval", "task", "model"} <= first_keys(path)


def _log(path: Path) -> Log:
    log = _read_archive(path) if path.suffix.lower() == ".eval" else read_json(path)
    about = field_of(log, "eval", dict, path)
    model, task = (field_of(about, name, str, path) for name in ("model", "task"))
    options = {
        str(scorer["name"]): json.dumps(scorer["options"], sort_keys=True, ensure_ascii=False)
        for scorer in field_of(about, "scorers", list, path, [])
        if isinstance(scorer, dict) and "name" in scorer and "options" in scorer
    }
    return Log(path, model, task, _answers(path, log), {"version": about.get("task_version")}, options)


def _read_archive(path: Path) -> dict[str, Any]:
    """The log in an archive, in JSON form."""
    is_read(path)
    log: dict[str, Any] | None = None
    samples = []
    for name, content in zip_entries(path, lambda name: name == "header.json" or name.startswith("samples/")):
        at = f"{path}, {name}"
        value = parse_json(decoded(content, at), at)
        if not isinstance(value, dict):
            raise InputError("must be an object of JSON", value=value, at=at)
        if name == "header.json":
            log = value
        else:
            samples.append({field: value[field] for field in _OF_SAMPLE if field in value})
    if log is None:
        rule = "no header.json in the archive: the evaluation is not complete, or it is no eval log"
        raise InputError(rule, at=path)
    # Archives have the samples in the order in which they were finished.
    samples.sort(key=lambda sample: [str(sample.get(name)).zfill(20) for name in ("epoch", "id")])
    return log | {"samples": samples}


def _answers(path: Path, log: Mapping[str, Any]) -> Iterator[Answer]:
    """The answers of a log: one for each sample, epoch and scorer."""
    status = field_of(log, "status", str, path)
    if status != "success":
        raise InputError("status", "must be 'success': the evaluation is not complete", status, at=path)
    if log.get("invalidated"):
        note("invalidated", path=path)
    for n, sample in enumerate(field_of(log, "samples", list, path, []), start=1):
        at = f"{path}, sample {n}"
        item, epoch = str(field_of(sample, "id", int | str, at)), field_of(sample, "epoch", int, at, 1)
        output = field_of(sample, "output", dict, at, {})
        choices = field_of(output, "choices", list, at, [])
        message = field_of(choices[0], "message", dict, at, {}) if choices else {}
        content = message.get("content")
        question = _text(sample.get("input"))
        answer = Answer(
            item=item,
            place=item if epoch == 1 else f"{item} of epoch {epoch}",
            sample=epoch,
            input=question,
            target=_text(sample.get("target")) or None,
            question=question,
            response=_text(output.get("completion") if content is None else content),
        )
        scores = field_of(sample, "scores", dict, at, {})
        values = [pair for name in scores for pair in _values(name, field_of(scores, name, dict, at, {}).get("value"))]
        for name, value in values or [("", None)]:
            yield answer._replace(metric=name, score=value)


def _values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The values of a scorer by their names: NAME, NAME.KEY in a dictionary, NAME.1 for the first one of a list."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value, start=1):
            yield from _values(f"{name}.{key}", part)
    elif isinstance(value, str):
        yield name, _VALUES.get(value, _VALUES.get(value.lower(), value))
    else:
        yield name, value


def _text(content: Any) -> str | None:
    """A text, or the messages or the parts of a message as people read them, without the ids of a run.

    A part that is no text, such as an image, is shown in JSON.
    """
    if not isinstance(content, list):
        return as_text(content)
    texts = []
    for part in content:
        if isinstance(part, dict) and "role" in part:
            texts.append(f"{part['role']}: {_text(part.get('content')) or ''}")
        else:
            text = part.get("text") or part.get("reasoning") if isinstance(part, dict) else None
            texts.append(as_text(text or part) or "")
    return "\n".join(texts)


FORMAT = Format("inspect", "Inspect eval logs", read, ("*.eval", "*.json"), _holds, scored=True, is_log=True)
