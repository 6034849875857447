"""How loaders read files: strictly as UTF-8, whatever the line ends; what several need is read and parsed once."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from hashlib import file_digest
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from simstudy.files.unpacking import archive_of, unpacked
from simstudy.notes import Note, note, notes_kept, tell
from simstudy.text.numerals import counted
from simstudy.validation import InputError, NoSuchFile

P = ParamSpec("P")
T = TypeVar("T")

#: Characters that a line may have: a book has fewer.
LONGEST = 2**23


@dataclass
class Reading:
    """What was read within a block."""

    #: File -> its SHA-256.
    hashes: dict[Path, str] = field(default_factory=dict)
    #: File that is needed again -> what was made of it, and the notes on that. Others are not kept.
    kept: dict[Path, dict[object, tuple[Any, list[Note]]]] = field(default_factory=dict)
    #: Whether all files are needed again.
    keeps_all: bool = False
    #: File -> size and time of its last change when its hash was taken, and the hash.
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
    known = path.stat()
    return known.st_size, known.st_mtime_ns


_current: ContextVar[Reading | None] = ContextVar("reading", default=None)


@contextmanager
def reading(*, keep_all: bool = False) -> Iterator[Reading]:
    """Within the block, files that are read have their hashes taken, and what is made of those in `kept` is kept.

    With `keep_all` what is made of every file is.
    """
    current = Reading(keeps_all=keep_all)
    token = _current.set(current)
    try:
        yield current
    finally:
        _current.reset(token)


def once(parse: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """A parser of files that is called once for each file that is kept, and says its notes each time.

    What it returns is shared: nobody may change it.
    """

    @wraps(parse)
    def parsed(path: Path, /, *args: P.args, **kwargs: P.kwargs) -> T:
        current = _current.get()
        if current is not None and current.keeps_all:
            current.kept.setdefault(Path(path), {})
        kept = None if current is None else current.kept.get(Path(path))
        if kept is None:
            return parse(path, *args, **kwargs)
        key = (parse, args, tuple(kwargs.items()))
        if key not in kept:
            with notes_kept() as notes:
                kept[key] = parse(path, *args, **kwargs), notes
        found: T
        found, notes = kept[key]
        for told in notes:
            tell(told)
        return found

    return parsed


def require_file(path: Path) -> None:
    """Raise a FileNotFoundError or a ValueError where a path is no file to read; a pipe or a device may have no end."""
    path = archive_of(path) or path
    if not path.exists():
        raise NoSuchFile(path)
    if path.is_dir():
        raise InputError(f"{path} must be a file, but is a folder")
    if not path.is_file():
        raise InputError(f"{path} must be a file, but is a pipe or a device: write its content to a file first")


def is_read(path: Path) -> None:
    """Say that a file is read, if it is one: its hash is taken, or that of its zip file, where somebody wants it."""
    require_file(path)
    path = archive_of(path) or path
    current = _current.get()
    if current is not None and path not in current.hashes:
        current.hashes[path] = current.digest(path)


@once
def read_lines(path: Path) -> list[str]:
    r"""The lines of a UTF-8 text file without their ends, which are \n only: others that Unicode counts are text."""
    lines = read_content(path).split("\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST:
            size = f"{len(line):,} characters, more than {LONGEST:,}"
            raise InputError(f"{path}, line {number}: {size}; is this a file with a line for each item?")
    return lines


def read_content(path: Path) -> str:
    """The whole text of a file, unpacked where it is packed (`simstudy.files.unpacking`)."""
    is_read(path)
    return decoded(unpacked(path), str(path))


def decoded(content: bytes, origin: str) -> str:
    """The text of a file that has some, without a byte order mark and with Unix line ends, each of which a note tells.

    A ValueError names the line where the file is not UTF-8 or has NUL bytes.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{origin}, line 1: not UTF-8 but UTF-16; convert the file to UTF-8")
    if content.startswith(b"PK\3\4"):
        # So do files .xlsx begin, whatever they are called.
        raise InputError(f"{origin}: not text but a workbook (.xlsx) or a zip file; save it as CSV")
    if content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
        note("text", text=f"{origin}: byte order mark removed")
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InputError(f"{origin}, line {line}: a NUL byte; is this a binary file?")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{origin}, line {line}: not UTF-8 (byte 0x{content[error.start]:02x}); convert the file to UTF-8"
        ) from None
    if not text.strip():
        raise InputError(f"{origin} is empty")
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
        note("text", text=f"{origin}: Windows line ends converted")
    return text


def check_as_many(path: Path, n: int, noun: str, origin: Path, wanted: int) -> None:
    """Raise a ValueError where a file has not as many of something as the file that it goes with."""
    if n != wanted:
        raise InputError(f"{path} has {counted(n, noun)}, {origin} {wanted:,}")
