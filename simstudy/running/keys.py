"""The rule by which the result of a finished cell is found again, as hashes."""

from __future__ import annotations

import functools
import hashlib
import pickle
import re
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from joblib.hashing import NumpyHasher

from simstudy.running.fingerprints import describe
from simstudy.running.program_files import PREFIX

#: Raised when a number moves that a table of a study can hold: then every study is computed anew.
RESULTS_VERSION = 1

#: The libraries whose versions count.
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "numba")

#: The rule, as the command and the documentation print it.
RULE = (
    "A cell is found again if its function and that function's declared version, its arguments, the .py files of the "
    "study's folder except page.py and drawing.py, every module outside simstudy that study.toml names, for shipped "
    "studies experiments/learners, simstudy's RESULTS_VERSION "
    f"({RESULTS_VERSION}) and the versions of {', '.join(LIBRARIES[:-1])} and {LIBRARIES[-1]} are the same."
)

#: Files of a study's folder that only show its tables.
SHOWING = ("page.py", "drawing.py")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Cell:
    """One piece of work, known by what its function is called with: other cells beside it change nothing about it."""

    #: What it is called in messages.
    label: str
    #: What its function is called with; an object with a method `fingerprint` is known by what that returns.
    arguments: tuple[Any, ...]


def declared_version(number: int) -> Callable[[F], F]:
    """Declare the version of a cell's function. Raise it when the function, or a helper that it calls, is changed.

    Examples
    --------
    >>> @declared_version(2)
    ... def train(data, seed):
    ...     return len(data) + seed
    >>> train.version
    2
    """

    def declare(function: F) -> F:
        function.version = number  # type: ignore[attr-defined]
        return function

    return declare


class CellKeys:
    """The keys of cells, 32 hexadecimal digits each. An argument of several cells is hashed once.

    `code` is the hash of the study's own files (`code_of`), by name. A function, or a class of an argument, that was
    typed at a prompt has no name that lasts: such a cell has another key each time, which `is_lasting` tells.
    """

    def __init__(self, code: dict[str, str] | None = None) -> None:
        counted = {name: value for name, value in (code or {}).items() if name not in SHOWING}
        self._made_by = [RESULTS_VERSION, versions(), counted]
        # The hashed objects are kept, so that no other gets the address of one.
        self._hashed: dict[int, tuple[Any, str]] = {}

    def of(self, function: Callable[..., Any], arguments: Sequence[Any]) -> str:
        """The key of a call of a function."""
        if isinstance(function, functools.partial):
            # On how many threads a function runs changes no result.
            named = {name: value for name, value in function.keywords.items() if name != "n_threads"}
            return self.of(function.func, [*function.args, *arguments, *([named] if named else [])])
        try:
            what = [getattr(function, "version", 1), *map(self._hash, (function, *arguments))]
        except (pickle.PicklingError, AttributeError, TypeError):
            return f"{_UNLASTING}{uuid.uuid4().hex}"[:32]
        return describe([what, self._made_by])[:32]

    def _hash(self, value: Any) -> str:
        if id(value) not in self._hashed:
            self._hashed[id(value)] = value, str(_Hasher("sha1").hash(value))
        return self._hashed[id(value)][1]


_UNLASTING = "once"


def is_lasting(key: str) -> bool:
    """Whether a key is of a call that can be found again."""
    return not key.startswith(_UNLASTING)


@functools.cache
def versions() -> dict[str, str]:
    """The versions of the libraries that count, by name."""
    return {library: version(library) for library in LIBRARIES}


def code_of(*folders: Path, loaded: Mapping[str, bytes] | None = None) -> dict[str, str]:
    """A hash of each Python file of a study's folder, by name, and one of all files in each folder of learners.

    `loaded` has the study's files as they were when its program was loaded: they may have been edited since.
    """
    study, *learners = folders
    sources = {path.name: path.read_bytes() for path in sorted(study.glob("*.py"))} if loaded is None else loaded
    code = {name: _digest(source) for name, source in sources.items()}
    for folder in learners:
        files = {str(path.relative_to(folder)): _digest(path.read_bytes()) for path in sorted(folder.rglob("*.py"))}
        code[f"{folder.name}/"] = describe(files)[:16]
    return code


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hash by content, with functions and classes known by their names, wherever a program of a study lies."""

    def save(self, obj: Any) -> None:
        if callable(getattr(type(obj), "fingerprint", None)):
            obj = (type(obj).__name__, obj.fingerprint())
        super().save(obj)

    def save_global(self, obj: Any, name: str | None = None, **_: Any) -> None:
        qualified = name or getattr(obj, "__qualname__", obj.__name__)
        module = pickle.whichmodule(obj, qualified)  # type: ignore[attr-defined]
        is_nested, is_builtin = "<" in qualified, module in sys.builtin_module_names
        from_file = is_builtin or hasattr(sys.modules.get(module), "__file__")
        if module in ("__main__", "__mp_main__") or not from_file or (is_nested and not isinstance(obj, FunctionType)):
            raise pickle.PicklingError(f"{qualified} of {module} has no name that lasts")
        self.save((re.sub(rf"^{PREFIX}\w+", "study", module), qualified))
        if is_nested:
            # Such as a lambda: it is known by where it stands in its file, to the column, and by what it holds.
            held = [cell.cell_contents for cell in obj.__closure__ or ()]
            self.save(([*obj.__code__.co_positions()], obj.__defaults__, obj.__kwdefaults__, held))

    def save_set(self, values: Any) -> None:
        self.save(("set", sorted(type(self)("sha1").hash(value) for value in values)))

    def _batch_setitems(self, items: Any, *_: Any) -> None:
        # joblib orders keys that cannot be compared by Python's own hash, which differs from process to process.
        for _, item in sorted((type(self)("sha1").hash(item[0]), item) for item in items):
            self.save(item)

    dispatch = NumpyHasher.dispatch.copy()
    dispatch |= {FunctionType: save_global, type: save_global, type(len): save_global, set: save_set}
