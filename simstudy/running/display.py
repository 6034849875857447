"""Where progress is shown: a bar in a terminal, a line of text in a notebook, and a line a minute in a log."""

from __future__ import annotations

import sys
from threading import Event
from time import monotonic
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from simstudy.running.progress import Phase, Work

# Seconds between two looks at a bar, and between two lines of a log.
_OFTEN, _SELDOM = 0.2, 60.0

# Characters of a bar that is text.
_BAR = 30

# The bar that is there, if any: lines are printed above it.
_bars: list[Progress] = []


class _Display(Protocol):
    """What shows a phase."""

    every: float

    def update(self, phase: Phase) -> None:
        """Show how far it is."""

    def close(self) -> None:
        """Leave nothing behind that people would have to look at."""


def show(work: Work, ended: Event) -> None:
    """Show the phases of some work until it has ended."""
    display: _Display
    if (kernel := _kernel()) is not None:
        display = _Notebook(kernel)
    else:
        console = Console(stderr=True, highlight=False)
        alive = console.is_terminal and not console.is_dumb_terminal
        display = _Bar(console) if alive else _Log(console)
    try:
        while not ended.is_set():
            if (phase := work.phase) is not None:
                display.update(phase)
            ended.wait(display.every)
    except OSError:
        # The terminal is gone.
        return
    finally:
        display.close()


def say(text: str) -> None:
    """Print a line where the bar is: on standard error."""
    console = _bars[-1].console if _bars else Console(stderr=True, markup=False, emoji=False, highlight=False)
    console.print(text, soft_wrap=True, markup=False, emoji=False, highlight=False)


def words(phase: Phase) -> str:
    """How far a phase is: the share that is done, and the time that it has taken, or that is left."""
    took = monotonic() - phase.begun
    if phase.share is None:
        return _time(took)
    # Of the first moments the rate is not known.
    left = f", {_time(phase.left)} left" if phase.left is not None and took >= 1 else ""
    return f"{100 * phase.share:.0f} %{left}"


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


class _Bar:
    """A bar in a terminal, which is gone at the end."""

    every = _OFTEN

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[said]}"))
        # Standard output and error stay as they are: other code redirects them too.
        self._bar = Progress(
            *columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._phase: Phase | None = None
        self._bar.start()
        _bars.append(self._bar)

    def update(self, phase: Phase) -> None:
        if phase is not self._phase:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._phase = phase
            self._bar.add_task(phase.title, total=phase.total or None, said="")
        self._bar.update(self._bar.task_ids[0], completed=phase.done, said=words(phase))
        self._bar.refresh()

    def close(self) -> None:
        _bars.remove(self._bar)
        self._bar.stop()


class _Log:
    """A line a minute where nobody looks, or where nothing can be drawn twice."""

    every = 1.0

    def __init__(self, console: Console) -> None:
        self._console, self._next = console, monotonic() + _SELDOM

    def update(self, phase: Phase) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _SELDOM
            self._console.print(f"simstudy: {phase.title}: {words(phase)}", soft_wrap=True, markup=False, emoji=False)

    def close(self) -> None:
        pass


class _Notebook:
    """A line of text below the cell, which is empty at the end."""

    every = 0.5

    def __init__(self, display: Any) -> None:
        self._display, self._handle = display, None

    def update(self, phase: Phase) -> None:
        bar = "" if phase.share is None else f" {'━' * round(_BAR * phase.share):╌<{_BAR}}"
        self._write(f"{phase.title}{bar} {words(phase)}")

    def close(self) -> None:
        if self._handle is not None:
            self._write("")

    def _write(self, text: str) -> None:
        data = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _kernel() -> Any:
    """What displays in the notebook that this is; None elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        return None
    return ipython.display.display
