"""Eval logs of Inspect (UK AI Security Institute): logs in JSON form, and archives (.eval).

An archive has one JSON file for the log and one for each sample.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simstudy.files.packed import zip_entries
from simstudy.notes import note
from simstudy.readers.columns import number
from simstudy.readers.formats import Format
from simstudy.readers.logs import Answer, Log, digest, read_logs
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request
from simstudy.readers.text_files import decoded, field_of, first_keys, is_read, parse_json, read_json
from simstudy.validation import InputError

# Inspect's value_to_float.
_VALUES = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}

# How a sample refers to a long text that is kept beside it.
_ATTACHMENT = "attachment://"

# The fields of an archive's samples that are read. Others (events) may be a thousand times as long.
_OF_SAMPLE = ("id", "epoch", "input", "target", "output", "scores", "attachments")

# The fields of a part of a message that are no text.
_MEDIA = ("image", "audio", "video", "document", "data")


def read(request: Request) -> LongTable:
    """Rows from Inspect eval logs: archives (.eval), or logs in JSON form.

    The system is the model, or the file if logs of one task have the same model. Items are samples, by their ids;
    epochs are samples of an item. Values are numbers as Inspect takes them: C 1, P (partial) 0.5, I and N (no answer)
    0. An answer has no score if it failed, or if the scorer left it unscored.
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
    return Log(path, model, task, _answers(path, log), about.get("task_version"), scorers=options)


def _read_archive(path: Path) -> dict[str, Any]:
    """The log in an archive, in JSON form; samples in the order of their epochs and ids."""
    is_read(path)
    log: dict[str, Any] | None = None
    samples = []
    for name, content in zip_entries(path, lambda name: name == "header.json" or name.startswith("samples/")):
        at = f"{path}, {name}"
        value = parse_json(decoded(content, at), at)
        if not isinstance(value, dict):
            raise InputError("", "must be an object of JSON", value, at=at)
        if name == "header.json":
            log = value
        else:
            samples.append({field: value[field] for field in _OF_SAMPLE if field in value})
    if log is None:
        rule = f"{path}: no header.json in the archive: the evaluation is not complete, or it is no eval log"
        raise InputError(rule)
    return {**log, "samples": sorted(samples, key=_order)}


def _order(sample: Mapping[str, Any]) -> tuple[int, str]:
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    return epoch if isinstance(epoch, int) else 0, name if isinstance(name, str) else str(name).zfill(20)


def _answers(path: Path, log: Mapping[str, Any]) -> Iterator[Answer]:
    """The answers of a log: one for each sample and epoch."""
    status = field_of(log, "status", str, path)
    if status != "success":
        raise InputError("status", "must be 'success', as the evaluation is not complete else", status, at=path)
    if log.get("invalidated"):
        note("invalidated", path=path)
    for n, sample in enumerate(field_of(log, "samples", list, path, []), start=1):
        at = f"{path}, sample {n}"
        item, epoch = str(field_of(sample, "id", int | str, at)), field_of(sample, "epoch", int, at, 1)
        scores = {name: _value(score, at) for name, score in field_of(sample, "scores", dict, at, {}).items()}
        attachments = field_of(sample, "attachments", dict, at, {})
        try:
            question, target, response = (
                None if content is None else _text(content, attachments)
                for content in (sample.get("input"), sample.get("target"), _output(sample, at))
            )
        except RecursionError:
            raise InputError("messages are nested too deeply", at=at) from None
        place = item if epoch == 1 else f"{item} of epoch {epoch}"
        yield Answer(
            *(item, scores, place, epoch),
            input=question and digest(question),
            target=target or None,
            question=question,
            response=response,
        )


def _value(score: Any, at: str) -> Any:
    """The value of a score as Inspect's value_to_float has it; a text that is no number as it is."""
    if not isinstance(score, Mapping | None):
        raise InputError("", "a score must be an object with a field 'value'", score, at=at)
    value = score.get("value") if score else None
    if not isinstance(value, str):
        return value
    known = _VALUES.get(value, _VALUES.get(value.lower(), number(value)))
    return value if math.isnan(known) else known


def _output(sample: Mapping[str, Any], at: str) -> Any:
    """The content of the model's whole message; None if the sample has none."""
    output = field_of(sample, "output", dict, at, {})
    choices = field_of(output, "choices", list, at, [])
    content = field_of(choices[0], "message", dict, at, {}).get("content") if choices else None
    return output.get("completion") if content is None else content


def _text(content: Any, attachments: Mapping[str, Any]) -> str:
    """A text, the parts of a message, or messages as people read them, without what differs between runs (ids).

    A part that is no text, such as an image, is shown by its kind and a digest.
    """
    if isinstance(content, str):
        return str(attachments.get(content.removeprefix(_ATTACHMENT), content))
    if isinstance(content, list):
        texts = [_text(part, attachments) for part in content]
        if len(content) < 2 or not all(isinstance(part, dict) and "role" in part for part in content):
            return "\n".join(texts)
        return "\n\n".join(f"{message['role']}: {text}" for message, text in zip(content, texts, strict=True))
    if not isinstance(content, dict):
        return as_text(content) or ""
    for name in ("content", "text", "reasoning"):
        if content.get(name) is not None:
            return _text(content[name], attachments)
    data = [_text(content[name], attachments) for name in _MEDIA if content.get(name)]
    return f"[{content.get('type', 'part')}{''.join(' ' + digest(one)[:8] for one in data)}]"


FORMAT = Format("inspect", "Inspect eval logs", read, ("*.eval", "*.json"), _holds, scored=True, is_log=True)
