"""Where progress is shown: a bar in a terminal, a line of text in a notebook, and a line a minute in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from simstudy.running.progress import Display, Phase
from simstudy.text.numerals import duration

# Seconds between two lines of a log; characters of a bar that is text.
_MINUTE, _WIDTH = 60.0, 30

# The bar that is there, if any: lines are printed above it.
_bars: list[Progress] = []


def display() -> Display:
    """What shows progress here."""
    if (show := _in_notebook()) is not None:
        return _Notebook(show)
    console = Console(stderr=True, highlight=False)
    alive = console.is_terminal and not console.is_dumb_terminal
    return _Bar(console) if alive else _Log(console)


def say(text: str) -> None:
    """Print a line where the bar is: on standard error."""
    console = _bars[-1].console if _bars else Console(stderr=True, markup=False, emoji=False, highlight=False)
    console.print(text, soft_wrap=True, markup=False, emoji=False, highlight=False)


def words(phase: Phase) -> str:
    """How far a phase is: the share that is done, and the time that it has taken, or that is left."""
    if phase.share is None:
        return duration(monotonic() - phase.begun)
    left = phase.left()
    return f"{100 * phase.share:.0f} %" + ("" if left is None else f", {duration(left)} left")


class _Bar:
    """A bar in a terminal, which is gone at the end."""

    every = 0.2

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[said]}"))
        # Standard output and error stay as they are: other code redirects them too.
        self._bar = Progress(
            *columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._phase: Phase | None = None

    def update(self, phase: Phase) -> None:
        with suppress(OSError):
            if self._bar not in _bars:
                self._bar.start()
                _bars.append(self._bar)
            if phase is not self._phase:
                for task in self._bar.task_ids:
                    self._bar.remove_task(task)
                self._bar.add_task(phase.title, total=phase.total or None, said=words(phase))
                self._phase = phase
            self._bar.update(self._bar.task_ids[0], completed=phase.done, said=words(phase))
            self._bar.refresh()

    def clear(self) -> None:
        if self._bar in _bars:
            _bars.remove(self._bar)
            with suppress(OSError):
                self._bar.stop()


class _Log:
    """A line a minute where nobody looks, or where nothing can be drawn twice."""

    every = 1.0

    def __init__(self, console: Console) -> None:
        self._console, self._next = console, monotonic() + _MINUTE

    def update(self, phase: Phase) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _MINUTE
            with suppress(OSError):
                text = f"simstudy: {phase.title}: {words(phase)}"
                self._console.print(text, soft_wrap=True, markup=False, emoji=False)

    def clear(self) -> None:
        pass


class _Notebook:
    """A line of text below the cell, which is empty at the end."""

    every = 0.5

    def __init__(self, show: Callable[..., Any]) -> None:
        self._show, self._handle = show, None

    def update(self, phase: Phase) -> None:
        bar = "" if phase.share is None else f" {'━' * round(_WIDTH * phase.share):╌<{_WIDTH}}"
        self._write(f"{phase.title}{bar} {words(phase)}")

    def clear(self) -> None:
        if self._handle is not None:
            self._write("")

    def _write(self, text: str) -> None:
        data = {"text/plain": text}
        if self._handle is None:
            self._handle = self._show(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _in_notebook() -> Callable[..., Any] | None:
    """What displays in the notebook that this is; None elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        return None
    show: Callable[..., Any] = ipython.display.display
    return show
