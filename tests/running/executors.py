"""Executors that work in this process, and cells that say what was tried."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from simstudy.running.cells import Cell
from simstudy.running.workers import WorkerDied

# What was tried, in order; how often each cell kills its process before it is done.
TRIED: list[str] = []
DEATHS: Counter[str] = Counter()

# Whether bad cells are good.
MENDED = False


class Deadly(BaseException):
    """Ends the process that made the call."""


class Here(Executor):
    """Makes each call at once; one whose process was killed ends as it does in worker processes."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Deadly:
            future.set_exception(WorkerDied("was killed"))
        except Exception as error:
            future.set_exception(error)
        return future


def tried(name: str) -> str:
    TRIED.append(name)
    if DEATHS[name]:
        DEATHS[name] -= 1
        raise Deadly
    if not MENDED and name == "exit":
        sys.exit(3)
    if not MENDED and name.startswith("bad"):
        raise ValueError(f"{name} is bad")
    return name.upper()


def cells(names: str) -> list[Cell]:
    return [Cell(name, {"name": name}, (name,)) for name in names.split()]


class Counting(ThreadPoolExecutor):
    """Threads that count what they are asked to do."""

    asked = 0

    def submit(self, *args: Any, **options: Any) -> Any:
        self.asked += 1
        return super().submit(*args, **options)
