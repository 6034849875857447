"""One BLAS thread in this process, for as long as any part of it needs that."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

_lock = threading.Lock()

# The blocks that run, and what restores the number of threads that was there before the first.
_blocks: list[object] = []
_limits: list[Any] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while at least one such block runs, in whatever threads of Python the blocks are.

    A sum that several threads share is rounded differently, so a result would depend on the number of cores.
    """
    block = object()
    with _lock:
        _blocks.append(block)
        if len(_blocks) == 1:
            _set(lambda: _limits.append(_libraries(len(sys.modules)).limit(limits=1, user_api="blas")))
    try:
        yield
    finally:
        with _lock:
            _blocks.remove(block)
            if not _blocks:
                _set(lambda: _limits.pop().restore_original_limits())


def _set(change: Any) -> None:
    """Change the limit from this thread: threadpoolctl silently ignores all threads but the first that set one."""
    OpenBLASController.clear_controlling_thread(force=True)
    change()
    OpenBLASController.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """The libraries that have threads. Looking for them takes milliseconds; new modules may have loaded more."""
    return ThreadpoolController()
