"""Files that are written: plain names, whole or not at all, and never over files of others."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from simstudy.validation import InputError

#: How a page says that simstudy wrote it, in its first 1024 bytes.
GENERATOR = '<meta name="generator" content="simstudy'

#: The page of a folder of results.
INDEX = "index.html"

# Every file system and every page can hold such a name, also with a suffix and inside a temporary name.
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")


def check_file_names(what: str, names: Iterable[object]) -> None:
    """Raise an InputError about `what` if a name without suffix cannot be a file's, or two names can be of one file.

    Some file systems do not tell upper and lower case apart.
    """
    taken: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not _FILE_NAME.fullmatch(name):
            raise InputError(what, "must have a name of letters (a-z), digits, _ and -, at most 100", name)
        if name.casefold() in taken:
            raise InputError(what, f"must have a name of its own, not '{name}' again")
        taken.add(name.casefold())


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its name when the block ends well, and goes when it does not."""
    target = Path(path)
    if not target.name:
        raise InputError("path", f"must name a file, not '{path}'")
    target.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays last: matplotlib and pandas choose the format by it.
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}{target.suffix}")
    try:
        with named_in_errors(target, instead_of=temporary):
            yield temporary
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def named_in_errors(path: Path, *, instead_of: Path | None = None) -> Iterator[None]:
    """Name the path in an OSError that names none, as that of a full disk, or that names a temporary path."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(instead_of), instead_of):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def is_html(path: Path) -> bool:
    """Whether a path names an HTML file and not a folder."""
    return path.suffix.lower() in (".html", ".htm")


def is_ours(path: Path) -> bool:
    """Whether a file is a page that simstudy wrote."""
    try:
        with path.open("rb") as file:
            return GENERATOR.encode() in file.read(1024)
    except OSError:
        return False


def require_page(path: str | Path) -> Path:
    """The path of an HTML file; an InputError if it has another suffix, or is a folder or a file of others."""
    file = Path(path)
    if not is_html(file):
        raise InputError("path", f"must end in .html or .htm, not '{file}'")
    if file.is_dir():
        raise InputError("out", f"must be a file, but {file} is a folder")
    if file.exists() and not is_ours(file):
        raise InputError("out", f"must be new or a page that simstudy wrote, but {file} is another file")
    return file
