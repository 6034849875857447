"""Files that several metrics or test sets share: each is read, parsed and hashed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from hashlib import file_digest
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from simstudy.notes import note, notes_kept

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Reading:
    """What was read within a block.

    Attributes
    ----------
    hashes
        File -> its SHA-256.
    kept
        File that is needed again -> what was made of it, and the notes on that. Others are not kept.
    """

    hashes: dict[Path, str] = field(default_factory=dict)
    kept: dict[Path, dict[object, tuple[Any, list[str]]]] = field(default_factory=dict)

    def files(self) -> dict[str, str]:
        """Hashes by the names of the files, for a manifest."""
        return {str(path): digest for path, digest in sorted(self.hashes.items())}


_current: ContextVar[Reading | None] = ContextVar("reading", default=None)


@contextmanager
def reading() -> Iterator[Reading]:
    """Within the block, files that are read have their hashes taken, and what is made of those in `kept` is kept."""
    token = _current.set(Reading())
    try:
        yield _current.get() or Reading()
    finally:
        _current.reset(token)


def is_read(path: Path) -> None:
    """Say that a file is read: its hash is taken, where somebody wants it."""
    current = _current.get()
    if current is not None and path not in current.hashes:
        with path.open("rb") as file:
            current.hashes[path] = file_digest(file, "sha256").hexdigest()


def once(parse: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """A parser of files that is called once for each file that is kept, and says its notes each time.

    What it returns is shared: nobody may change it.
    """

    @wraps(parse)
    def parsed(path: Path, /, *args: P.args, **kwargs: P.kwargs) -> T:
        current = _current.get()
        kept = None if current is None else current.kept.get(Path(path))
        if kept is None:
            return parse(path, *args, **kwargs)
        key = (parse, args, tuple(kwargs.items()))
        if key not in kept:
            with notes_kept() as notes:
                kept[key] = parse(path, *args, **kwargs), notes
        found: T
        found, notes = kept[key]
        for text in notes:
            note(text)
        return found

    return parsed
