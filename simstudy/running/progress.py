"""Progress: a bar, and what a long call says of itself while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_LISTENER: ContextVar[Callable[[int], None]] = ContextVar("listener", default=lambda _: None)


def advanced(amount: int) -> None:
    """Say that so much more of this call is done; nobody listens in another process or thread."""
    _LISTENER.get()(amount)


@contextmanager
def listening(listener: Callable[[int], None]) -> Iterator[None]:
    """Hear what the calls in this block say of themselves (`advanced`)."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def say(text: str) -> None:
    """Print a line where the bar is: on standard error."""
    Console(stderr=True, markup=False, emoji=False, highlight=False).print(text, soft_wrap=True)


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error with the time left; yields a function to call with the amount just done."""
    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda amount: bar.update(task, advance=amount)
