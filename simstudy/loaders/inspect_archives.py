"""Eval logs of Inspect as they are written: archives (.eval) of one JSON file for the log and one for each sample."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simstudy.files.unpacking import zip_entries
from simstudy.loaders.json_files import parse_json
from simstudy.loaders.reading import decoded, is_read
from simstudy.validation import InputError

_HEADER = "header.json"

# The fields that are read. Others (the events of a sample) may be a thousand times as long.
_OF_LOG = ("status", "eval", "invalidated")
_OF_SAMPLE = ("id", "epoch", "input", "target", "output", "scores", "attachments")


def read_archive(path: Path) -> dict[str, Any]:
    """The log in an archive, with the fields of a log in JSON form that are needed; samples by epoch and id.

    Inspect's own reader is used if it is installed, because it knows the logs of all versions. Both readers give the
    same numbers. The limit on what a packed file may unpack to holds for both.
    """
    is_read(path)
    log, samples = _entries(path)
    theirs = _read_by_inspect(path)
    if theirs is not None:
        log, samples = theirs
    samples.sort(key=_place)
    return {**log, "samples": samples}


def _entries(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The header and the samples, as they are in the archive."""
    header: dict[str, Any] | None = None
    samples: dict[str, Any] = {}
    for name, content in zip_entries(path, _is_needed):
        place = f"{path}, {name}"
        found = parse_json(decoded(content, place), place)
        if not isinstance(found, dict):
            raise InputError(f"{place}: not as Inspect writes it (no object of JSON)")
        if name == _HEADER:
            header = _only(found, _OF_LOG)
        else:
            samples[name] = _only(found, _OF_SAMPLE)
    if header is None:
        raise InputError(f"{path}: no {_HEADER} in the archive: the evaluation is not complete, or it is no eval log")
    return header, list(samples.values())


def _is_needed(name: str) -> bool:
    return name == _HEADER or (name.startswith("samples/") and name.endswith(".json"))


def _only(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: fields[name] for name in names if name in fields}


def _read_by_inspect(path: Path) -> tuple[dict[str, Any], list[Any]] | None:
    """The same by Inspect's reader; None if it is not installed, or refuses the log."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        return None
    try:
        log = read_eval_log(str(path))
    except Exception:
        # It checks fields that are not needed here, by the rules of its own version.
        return None
    about = log.model_dump(include={"status": True, "invalidated": True, "eval": True})
    return about, [sample.model_dump(include=set(_OF_SAMPLE)) for sample in log.samples or ()]


def _place(sample: Mapping[str, Any]) -> tuple[int, str]:
    """Where a sample is among others, as Inspect has it."""
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    return epoch if isinstance(epoch, int) else 0, name if isinstance(name, str) else str(name).zfill(20)
