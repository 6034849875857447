"""Small files in a folder, and the systems that they are read as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from simstudy.outputs.test_set import ItemTexts
from simstudy.readers.load import load
from simstudy.readers.long_table import Loaded
from simstudy.validation import InputError


def written(path: Path, content: Any) -> Path:
    """A file of these bytes, of this text, or of anything else in JSON; with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str | bytes) else json.dumps(content, indent=2)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def loaded(folder: Path, files: Mapping[str, str], metric: str | None = None, **options: Any) -> Loaded:
    """Systems in all files but those that are called gold, against these."""
    for name, text in files.items():
        written(folder / name, text)
    gold = [folder / name for name in files if name.startswith("gold")]
    return load([folder / name for name in files if not name.startswith("gold")], metric, references=gold, **options)


def input_error(
    *arguments: Any, match: str | None = None, by: Any = load, kind: Any = InputError, **options: Any
) -> InputError:
    """The error of loading these, or of another function; it is of one line."""
    with pytest.raises(kind, match=match) as caught:
        by(*arguments, **options)
    error: InputError = caught.value
    assert "\n" not in str(error)
    return error


def refused(folder: Path, files: Mapping[str, str], metric: str | None = None, **options: Any) -> InputError:
    """The error of such files."""
    return input_error(folder, files, metric, by=loaded, **options)


def scores(read: Loaded) -> dict[str, float]:
    """System -> score, to two decimals."""
    return dict(zip(read.outputs.names, read.outputs.scores().round(2).tolist(), strict=True))


def note_kinds(read: Loaded) -> list[str]:
    """The kinds of the notes behind the first."""
    return [note.kind for note in read.notes[1:]]


def texts_of(read: Loaded) -> ItemTexts:
    """The texts beside the scores, which must be there."""
    assert read.texts is not None
    return read.texts
