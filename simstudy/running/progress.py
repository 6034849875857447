"""Progress: what a long call says of itself while it runs, and who hears it.

`doing` names a phase of the work, in whatever room it is; nobody need listen. `shown` shows the phases of a block where
people look: a bar in a terminal and in a notebook, a line a minute in a log (`simstudy.running.display`).
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from time import monotonic
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

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


# Looks at a phase by which its rate is known: of a bar those of half a minute.
_LOOKS = 150


@dataclass
class Phase:
    """A part of the work: what is done, how much of how much (0: not known), and since when."""

    title: str
    total: int = 0
    done: int = 0
    begun: float = field(default_factory=monotonic)
    _looks: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_LOOKS))

    def advance(self, amount: int) -> None:
        """Say that so much more is done; one thread at a time."""
        self.done += amount

    @property
    def share(self) -> float | None:
        """How much is done; None where that is not known."""
        return min(self.done / self.total, 1.0) if self.total else None

    def left(self) -> float | None:
        """Seconds that are left, at the rate of the last looks; None where that is not known yet."""
        self._looks.append((monotonic(), self.done))
        (began, did), (now, does) = self._looks[0], self._looks[-1]
        # What was kept from an earlier run is there at once.
        return (self.total - does) * (now - began) / (does - did) if does > did and now - began >= 1 else None


class Display(Protocol):
    """What shows how far a phase is."""

    every: float
    """Seconds between two looks at it."""

    def update(self, phase: Phase) -> None:
        """Show a phase as it is now."""

    def clear(self) -> None:
        """Show nothing: what follows may be printed in its place."""


class Work:
    """The phases that a call is in, the outermost first, and what shows them."""

    def __init__(self) -> None:
        self._phases: list[Phase] = []
        self._lock = threading.Lock()
        self._display: Display | None = None

    def begin(self, phase: Phase) -> None:
        """Say that a phase begins."""
        with self._lock:
            self._phases.append(phase)

    def end(self, phase: Phase) -> None:
        """Say that a phase ended; between two phases nothing is shown."""
        with self._lock:
            self._phases = [one for one in self._phases if one is not phase]
            if self._display and not self._phases:
                self._display.clear()

    def show(self, ended: threading.Event) -> None:
        """Show the phases from the second second on, until they have ended."""
        if ended.wait(_PATIENCE):
            return
        # Most calls end before that, and do not wait for the import of what draws.
        from simstudy.running.display import display

        self._display = display()
        while not ended.is_set():
            with self._lock:
                # The outermost phase that knows how much there is to do, or else the innermost.
                phase = next((one for one in self._phases if one.total), self._phases[-1] if self._phases else None)
                if phase is not None:
                    self._display.update(phase)
            ended.wait(self._display.every)


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)

# One bar at a time: comparisons may run side by side.
_SCREEN = threading.Lock()

# Seconds of silence: who waits for less needs no bar.
_PATIENCE = 2.0


@contextmanager
def doing(title: str, total: int = 0) -> Iterator[Callable[[int], None]]:
    """Say what is done in this block; yields a function to call with the amount just done, if there is a `total`."""
    phase, work = Phase(title, total), _WORK.get()
    if work is None:
        yield phase.advance
        return
    work.begin(phase)
    try:
        yield phase.advance
    finally:
        work.end(phase)


@contextmanager
def shown() -> Iterator[None]:
    """Show what the calls in this block are doing, on standard error, from their second second on."""
    if _WORK.get() is not None or not _SCREEN.acquire(blocking=False):
        yield
        return
    work, ended = Work(), threading.Event()
    thread = threading.Thread(target=work.show, args=(ended,), daemon=True, name="simstudy progress")
    token = _WORK.set(work)
    try:
        thread.start()
        yield
    finally:
        _WORK.reset(token)
        ended.set()
        thread.join()
        _SCREEN.release()


def shown_to_people(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose progress is shown where somebody sits before it: in a notebook, and at IPython's prompt."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _interactive():
            return function(*args, **kwargs)
        with shown():
            return function(*args, **kwargs)

    return called


def _interactive() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None
