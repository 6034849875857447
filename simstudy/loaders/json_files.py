"""JSON in files: read strictly, and looked into to tell one format from another."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from simstudy.files.unpacking import beginning
from simstudy.loaders.reading import once, read_content
from simstudy.validation import InputError

# A text, a bracket or a whole number.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[0-9]+')

# The key of an object with its colon: only keys before the first long value are needed to tell formats apart.
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:')


def read_json(path: Path) -> Any:
    """What a file of JSON says; errors are those of `parse_json`."""
    return parse_json(read_content(path), path)


class NotJSONError(InputError):
    """A text is not JSON, as where a file is cut."""


def parse_json(text: str, path: Path | str, line: int = 1) -> Any:
    """What a JSON text says, which begins in this line of a file.

    A ValueError names the line where it is not JSON (`NotJSONError`), or not for Python: a key twice, nested too
    deeply, too many digits.
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        problem = f"not JSON (is the file cut?): {error.msg}"
        raise NotJSONError(f"{path}, line {line + error.lineno - 1}: {problem}") from None
    except _TwiceError as error:
        place = f"{path}, line {line}" if "\n" not in text.strip() else path
        raise InputError(f"{place}: an object of JSON has the key '{error}' twice") from None
    except RecursionError:
        depth = deepest = offset = 0
        for piece in _PIECE.finditer(text):
            depth += (piece[0] in "[{") - (piece[0] in "]}")
            if depth > deepest:
                deepest, offset = depth, piece.start()
        problem = "nested too deeply"
    except ValueError:
        most = sys.get_int_max_str_digits()
        offset = next(p.start() for p in _PIECE.finditer(text) if len(p[0]) > most and p[0][0] != '"')
        problem = f"a number of more than {most} digits"
    raise InputError(f"{path}, line {line + text.count(chr(10), 0, offset)}: {problem}")


class _TwiceError(ValueError):
    """An object of JSON has a key twice: which of the values holds is not known."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for i, name in enumerate(names) if name in names[:i]))
    return made


@once
def first_keys(path: Path) -> frozenset[str]:
    """The keys of all objects in the first megabyte of a file of JSON; none where it is no JSON or cannot be read.

    For a file of JSON Lines these are the keys of its first line.
    """
    try:
        text = beginning(path).decode("utf-8-sig", errors="replace").lstrip()
    except (OSError, ValueError):
        return frozenset()
    if not text.startswith(("{", "[")):
        return frozenset()
    line = text.partition("\n")[0]
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        line = text
    return frozenset(_KEY.findall(line))
