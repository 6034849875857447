"""One BLAS thread in this process, for as long as any part of it needs that."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


class OneBlasThread:
    """Limit BLAS to one thread while at least one block runs, in whatever threads of Python the blocks are.

    A sum that several threads share is rounded differently, so a result would depend on the number of cores. The limit
    belongs to the process: the first block sets it, and the last one restores the number of before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_blocks = 0
        self._limits: list[Any] = []
        self._limited: ThreadpoolController | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._n_blocks += 1
            # A library that was loaded meanwhile has its own number of threads.
            controller = _controller(len(sys.modules))
            if controller is not self._limited:
                with _any_thread():
                    self._limits.append(controller.limit(limits=1, user_api="blas"))
                self._limited = controller
        try:
            yield
        finally:
            with self._lock:
                self._n_blocks -= 1
                if self._n_blocks == 0:
                    with _any_thread():
                        while self._limits:
                            self._limits.pop().restore_original_limits()
                    self._limited = None


@contextmanager
def _any_thread() -> Iterator[None]:
    """Let this thread set limits: threadpoolctl silently ignores all threads but the first that set one."""
    OpenBLASController.clear_controlling_thread(force=True)
    yield
    OpenBLASController.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """The loaded libraries that have threads; looking for them takes milliseconds."""
    return ThreadpoolController()


one_blas_thread = OneBlasThread()
