"""What people should know of what was read or made: said where it is seen, kept by whoever listens."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


def note(text: str) -> None:
    """Say something that is no error. Where nobody listens it becomes a warning."""
    heard = _heard.get()
    if heard is None:
        warnings.warn(text, stacklevel=3)
    else:
        heard.append(text)


@contextmanager
def notes_kept() -> Iterator[list[str]]:
    """Within the block, notes are kept in this list, in the order in which they are said."""
    heard: list[str] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)
