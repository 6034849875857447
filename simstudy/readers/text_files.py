"""Text files: strictly UTF-8, with any line ends; a file that several readers need is read, parsed and hashed once.

Below them are files of JSON.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from hashlib import file_digest
from pathlib import Path
from types import UnionType
from typing import Any, Concatenate, ParamSpec, TypeVar

from simstudy.files.packed import beginning, unpacked, zip_of
from simstudy.notes import UNSAID, Note, notes_kept, tell
from simstudy.validation import InputError, NoSuchFile

P = ParamSpec("P")
T = TypeVar("T")

#: Characters that a cell of a table may have: a book has fewer.
LONGEST = 2**23


@dataclass
class Reading:
    """Files that were read within a block."""

    #: Whether parsed files are kept.
    keeps: bool = False
    #: File -> its SHA-256.
    hashes: dict[Path, str] = field(default_factory=dict)
    #: File -> call of a parser -> its result, with the notes that it told.
    parsed: dict[Path, dict[object, tuple[Any, list[Note]]]] = field(default_factory=dict)
    #: File -> its size and the time of its last change when its hash was taken, and the hash.
    digests: dict[Path, tuple[tuple[int, int], str]] = field(default_factory=dict)

    def digest(self, path: Path) -> str:
        """The SHA-256 of a file, taken once."""
        if path not in self.digests:
            state = _state(path)
            with path.open("rb") as file:
                self.digests[path] = state, file_digest(file, "sha256").hexdigest()
        return self.digests[path][1]

    def changed(self, paths: Iterable[Path]) -> bool:
        """Whether one of these files has changed since its hash was taken."""
        return any(path in self.digests and _state(path) != self.digests[path][0] for path in paths)

    def files(self) -> dict[str, str]:
        """Hashes by the names of the files, for a manifest."""
        return {str(path): digest for path, digest in sorted(self.hashes.items())}


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


_current: ContextVar[Reading | None] = ContextVar("reading", default=None)


@contextmanager
def reading(*, keep: bool = False) -> Iterator[Reading]:
    """Within the block, files that are read are hashed, and with `keep` each is parsed once."""
    current = Reading(keep)
    token = _current.set(current)
    try:
        yield current
    finally:
        _current.reset(token)


def once(parse: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """A parser of files that is called once for each file if these are kept, and tells its notes each time.

    Its result is shared: nobody may change it.
    """

    @wraps(parse)
    def parsed(path: Path, /, *args: P.args, **kwargs: P.kwargs) -> T:
        current = _current.get()
        if current is None or not current.keeps:
            return parse(path, *args, **kwargs)
        results = current.parsed.setdefault(Path(path), {})
        call = (parse, args, tuple(kwargs.items()))
        if call not in results:
            with notes_kept() as notes:
                results[call] = parse(path, *args, **kwargs), notes
        result: T
        result, notes = results[call]
        for note in notes:
            tell(note)
        return result

    return parsed


def require_file(path: Path) -> None:
    """Raise an InputError if a path is no file to read; a pipe or a device may have no end."""
    if not path.exists():
        raise NoSuchFile(path)
    if not path.is_file():
        what = "a folder" if path.is_dir() else "a pipe or a device"
        raise InputError(f"{path} must be a file, but is {what}")


def is_read(path: Path) -> None:
    """Say that a file is read, if it is one: its hash, or that of its zip file, is taken if somebody wants it."""
    require_file(path)
    path = zip_of(path) or path
    current = _current.get()
    if current is not None and path not in current.hashes:
        current.hashes[path] = current.digest(path)


@once
def read_lines(path: Path) -> list[str]:
    r"""Lines of a UTF-8 text file without their ends, which are \n or \r\n only: others that Unicode has are text."""
    lines = read_content(path).split("\n")
    return lines if lines[-1] else lines[:-1]


def read_content(path: Path) -> str:
    """The whole text of a file, unpacked if it is packed."""
    is_read(path)
    return decoded(unpacked(path), str(path))


def decoded(content: bytes, origin: str) -> str:
    """The text of a file that has some, without a byte order mark and with Unix line ends.

    An InputError names the line if the file is not UTF-8 or has NUL bytes.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError("not UTF-8 but UTF-16", remedy="convert the file to UTF-8", at=f"{origin}, line 1")
    if content.startswith(b"PK\3\4"):
        # So do files .xlsx begin, whatever they are called.
        raise InputError("a workbook (.xlsx) or a zip file, not text", remedy="unpack it, or save it as CSV", at=origin)
    content = content.removeprefix(codecs.BOM_UTF8)
    if b"\0" in content:
        raise InputError("a NUL byte", remedy="is this a binary file?", at=_line(content, content.index(b"\0"), origin))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        rule, at = f"not UTF-8 (byte 0x{content[error.start]:02x})", _line(content, error.start, origin)
        raise InputError(rule, remedy="convert the file to UTF-8", at=at) from None
    if not text.strip():
        raise InputError(f"{origin} is empty")
    return text.replace("\r\n", "\n")


def _line(content: bytes, offset: int, origin: str) -> str:
    return f"{origin}, line {content.count(bytes([10]), 0, offset) + 1}"


# JSON ----------------------------------------------------------------------------------------------------------------
# The key of an object with its colon: only keys before the first long value are needed to tell formats apart.
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:')

#: A number as a kind of a field.
NUMBER = int | float

_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    NUMBER: "a number",
    int | str: "text or a whole number",
}


class NotJSONError(InputError):
    """A text that is not JSON, such as a file that is cut."""


@once
def read_json(path: Path) -> Any:
    """The value in a file of JSON; errors are those of `parse_json`."""
    return parse_json(read_content(path), path)


def parse_json(text: str, path: Path | str, line: int = 1) -> Any:
    """The value of a JSON text that begins in this line of a file.

    An InputError says what is not JSON (`NotJSONError`), or what Python cannot hold: a key twice, too deep nesting, a
    number of too many digits.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeated_keys)
    except json.JSONDecodeError as error:
        at = f"{path}, line {line + error.lineno - 1}"
        raise NotJSONError(f"not JSON (is the file cut?): {error.msg}", at=at) from None
    except (ValueError, RecursionError) as error:
        at = f"{path}, line {line}" if "\n" not in text.strip() else str(path)
        raise InputError(str(error), at=at) from None


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        key = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise InputError(f"an object of JSON has the key '{key}' twice")
    return made


def field_of(record: Any, name: str, kind: type | UnionType, at: object, default: Any = UNSAID) -> Any:
    """The value of a field of an object, which must be of this kind; a default stands for null and for no field."""
    if not isinstance(record, Mapping):
        raise InputError(f"must be an object with a field '{name}'", value=record, at=at)
    value = record.get(name)
    if value is None and default is not UNSAID:
        return default
    if value is None:
        raise InputError(f"no field '{name}'", at=at)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"'{name}'", f"must be {_KINDS[kind]}", value, at=at)
    return value


def first_text(path: Path) -> str:
    """The text of the first megabyte of a file, which says what format it is of; empty if it cannot be read."""
    try:
        return beginning(path).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""


@once
def first_keys(path: Path) -> frozenset[str]:
    """The keys of all objects in the first megabyte of a file of JSON; none if it is not JSON or cannot be read.

    For a file of JSON lines these are the keys of its first line.
    """
    text = first_text(path).lstrip()
    if not text.startswith(("{", "[")):
        return frozenset()
    line = text.partition("\n")[0]
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        line = text
    return frozenset(_KEY.findall(line))
