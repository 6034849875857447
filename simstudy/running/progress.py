"""Progress: a long call names what it is doing (`doing`), and `shown` shows that where somebody looks, by rich.

A terminal has a bar, a notebook a line of text below the cell, and a log a line a minute.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

P = ParamSpec("P")
T = TypeVar("T")

# Seconds of silence (who waits for less needs no bar), between two looks, and between two lines of a log.
_PATIENCE, _LOOK, _MINUTE = 2.0, 0.2, 60.0


class Phase:
    """A part of the work: how much is done of how much (0: not known)."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.done = title, total, 0

    def advance(self, amount: int) -> None:
        """Say that so much more is done."""
        self.done += amount


class _Screen:
    """The phases that a call is in, the outermost first, and what shows them."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.lock = threading.Lock()
        self.bar: Progress | None = None
        self._tasks: dict[Phase, Any] = {}
        self._next_line = time.monotonic() + _MINUTE
        self._notebook: Any = None

    def show(self, ended: threading.Event) -> None:
        """Show the phases until they have ended."""
        if ended.wait(_PATIENCE):
            return
        # Most calls end before that, and do not wait for the import of what draws.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
        self.bar = Progress(
            *columns, TimeRemainingColumn(), console=Console(stderr=True, highlight=False), transient=True,
            auto_refresh=False, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        while not ended.is_set():
            with self.lock, suppress(OSError):
                self._update(self.bar)
            ended.wait(_LOOK)

    def _update(self, bar: Progress) -> None:
        """Show all phases in a terminal; elsewhere the outermost one whose total is known."""
        for phase in [phase for phase in self._tasks if phase not in self.phases]:
            bar.remove_task(self._tasks.pop(phase))
        for phase in self.phases:
            if phase not in self._tasks:
                self._tasks[phase] = bar.add_task(phase.title, total=phase.total or None)
            bar.update(self._tasks[phase], completed=phase.done)
        if not self.phases:
            return
        if _ipython() is not None or not bar.console.is_terminal or bar.console.is_dumb_terminal:
            phase = next((phase for phase in self.phases if phase.total), self.phases[-1])
            task = next(task for task in bar.tasks if task.id == self._tasks[phase])
            left = "" if task.time_remaining is None else f", {task.time_remaining:,.0f} s left"
            share = f"{task.percentage:.0f} %{left}" if phase.total else f"{task.elapsed:,.0f} s"
            self._write(f"{phase.title}: {share}")
        else:
            bar.start()
            bar.refresh()

    def _write(self, text: str) -> None:
        if (ipython := _ipython()) is not None:
            data = {"text/plain": text}
            if self._notebook is None:
                self._notebook = ipython.display.display(data, raw=True, display_id=True)
            else:
                self._notebook.update(data, raw=True)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _MINUTE
            say(f"simstudy: {text}")

    def clear(self) -> None:
        """Show nothing: what follows may be printed in its place."""
        # A bar that was not started would print an empty line.
        if self.bar is not None and self.bar.live.is_started:
            self.bar.stop()
        if self._notebook is not None:
            self._write("")


_SCREEN: ContextVar[_Screen | None] = ContextVar("screen", default=None)

# One bar at a time: comparisons may run side by side.
_ONE = threading.Lock()


@contextmanager
def doing(title: str, total: int = 0) -> Iterator[Callable[[int], None]]:
    """Say what is done in this block; yields a function to call with the amount just done, if there is a `total`."""
    phase, screen = Phase(title, total), _SCREEN.get()
    if screen is None:
        yield phase.advance
        return
    with screen.lock:
        screen.phases.append(phase)
    try:
        yield phase.advance
    finally:
        with screen.lock:
            screen.phases.remove(phase)
            if not screen.phases:
                screen.clear()


@contextmanager
def shown() -> Iterator[None]:
    """Show what the calls in this block are doing, on standard error, from their second second on."""
    if _SCREEN.get() is not None or not _ONE.acquire(blocking=False):
        yield
        return
    screen, ended = _Screen(), threading.Event()
    thread = threading.Thread(target=screen.show, args=(ended,), daemon=True, name="simstudy progress")
    token = _SCREEN.set(screen)
    try:
        thread.start()
        yield
    finally:
        _SCREEN.reset(token)
        ended.set()
        thread.join()
        screen.clear()
        _ONE.release()


def say(text: str) -> None:
    """Print a line on standard error, above the bar if there is one."""
    from rich.console import Console

    screen = _SCREEN.get()
    console = screen.bar.console if screen and screen.bar else Console(stderr=True, highlight=False)
    console.print(text, soft_wrap=True, markup=False, emoji=False, highlight=False)


def shown_to_people(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose progress is shown where somebody sits before it: in a notebook, and at IPython's prompt."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        ipython = sys.modules.get("IPython")
        if ipython is None or ipython.get_ipython() is None:
            return function(*args, **kwargs)
        with shown():
            return function(*args, **kwargs)

    return called


def _ipython() -> Any:
    """IPython where this is a notebook; else None."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None else ipython
