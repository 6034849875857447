"""Functions that numba compiles when the first of them is called: many answers need none and do not wait for numba."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

_lock = threading.RLock()

_plain = ContextVar("plain", default=False)

# Numbers that are looked at without compiled loops: some 40 milliseconds.
_FEW = 2**16


class _Compiled:
    """A function that looks like the one it was made from. Functions that it calls are compiled with it."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function: Any = function
        self._options = options
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if _plain.get():
            return self._function(*arguments)
        return (self._dispatcher or self.dispatcher())(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        """Other processes find it by its name, and compile it themselves."""
        return _by_name, (self._function.__module__, self._function.__qualname__)

    def dispatcher(self) -> Any:
        """Numba's function. It is the same for all threads."""
        with _lock:
            if self._dispatcher is None:
                known = self._function.__globals__
                for name in self._function.__code__.co_names:
                    if isinstance(other := known.get(name), _Compiled):
                        known[name] = other.dispatcher()
                self._dispatcher = _made(self._function, self._options)
        return self._dispatcher


def _by_name(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


@contextmanager
def few(n_numbers: int) -> Iterator[None]:
    """Within the block, functions run as they are written for so few numbers that numba's start would take longer."""
    token = _plain.set(n_numbers <= _FEW and "numba" not in sys.modules)
    try:
        yield
    finally:
        _plain.reset(token)


def compiled(function: Callable[..., Any] | None = None, *, inline: bool = False, error_model: str = "python") -> Any:
    """The function, compiled without the interpreter's lock when it is first called, and kept on disk for later runs.

    Numba keeps it in ``NUMBA_CACHE_DIR`` if that is set, else beside its module, else (if the package cannot be
    written) in the user's cache folder. If it can write nowhere, each process compiles anew. By error model "python"
    divisions by 0 are errors; by "numpy" they are none.
    """
    options = {"nogil": True, "inline": "always" if inline else "never", "error_model": error_model}
    return functools.partial(_Compiled, options=options) if function is None else _Compiled(function, options)


def _made(function: Any, options: dict[str, Any]) -> Any:
    from numba import njit

    try:
        return njit(cache=True, **options)(function)
    except RuntimeError as error:
        # Numba says so of a function that it can keep in no folder.
        if "cannot cache" not in str(error):
            raise
        return njit(**options)(function)
