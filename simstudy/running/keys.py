"""The rule by which the result of a finished cell is found again, as hashes."""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, TypeVar

import pandas as pd
from joblib.hashing import NumpyHasher

from simstudy.running.fingerprints import describe
from simstudy.running.program_files import LOADED, PREFIX, SHOWING, python_files

#: Raised when a number moves that a table of a study can hold: then every study is computed anew.
RESULTS_VERSION = 6

#: The libraries whose versions count.
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "numba")

#: The rule, as the command and the documentation print it.
RULE = (
    "A cell is found again if its function and that function's declared version, its arguments, the .py files of the "
    "study's folder except page.py and drawing.py, for shipped studies experiments/learners, simstudy's own "
    f"RESULTS_VERSION ({RESULTS_VERSION}) and the versions of {', '.join(LIBRARIES[:-1])} and {LIBRARIES[-1]} are the "
    "same."
)

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Cell:
    """One piece of work, known by what its function is called with: other cells beside it change nothing about it."""

    #: What it is called in messages.
    label: str
    #: The arguments of its function. An object with a method `fingerprint` is known by the result of that method.
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
    """The keys of cells, 32 hexadecimal digits each.

    `code` is the hash of the study's own files (`code_of`), by name. A function, or a class of an argument, that was
    typed at a prompt has no name that lasts: such a cell has another key each time, which `is_lasting` tells.
    """

    def __init__(self, code: Mapping[str, str] | None = None) -> None:
        counted = {name: value for name, value in (code or {}).items() if name not in SHOWING}
        self._made_by = [RESULTS_VERSION, versions(), counted]

    def of(self, function: Callable[..., Any], arguments: Sequence[Any]) -> str:
        """The key of a call of a function."""
        return self.of_cells(function, [Cell("", tuple(arguments))])[0]

    def of_cells(self, function: Callable[..., Any], cells: Sequence[Cell]) -> list[str]:
        """The keys of calls of a function. An argument of several cells is hashed once."""
        given: list[Any] = []
        if isinstance(function, functools.partial):
            # On how many threads a function runs changes no result.
            named = {name: value for name, value in function.keywords.items() if name != "n_threads"}
            given = [*function.args, *([named] if named else [])]
            function = function.func
        hashes: dict[int, str] = {}

        def hash_of(value: Any) -> str:
            if id(value) not in hashes:
                hashes[id(value)] = str(_Hasher().hash(value))
            return hashes[id(value)]

        keys = []
        for cell in cells:
            try:
                hashed = [hash_of(value) for value in (function, *given, *cell.arguments)]
                keys.append(describe([getattr(function, "version", 1), hashed, self._made_by])[:32])
            except (pickle.PicklingError, TypeError, RecursionError):
                keys.append(f"{UNLASTING}{uuid.uuid4().hex}"[:32])
        return keys


#: How a key begins that is not found again.
UNLASTING = "once"


def is_lasting(key: str) -> bool:
    """Whether a key is of a call that can be found again."""
    return not key.startswith(UNLASTING)


@functools.cache
def versions() -> dict[str, str]:
    """The versions of the libraries that count, by name."""
    return {library: version(library) for library in LIBRARIES}


def code_of(study: Path | None, *others: Path, loaded: Mapping[str, bytes] | None = None) -> dict[str, str]:
    """A hash of each Python file of a study's folder, by name, and one of all files in each other folder.

    `loaded` has the study's files as they were when its program was loaded: they may have been edited since.
    """

    def digests(sources: Mapping[str, bytes]) -> dict[str, str]:
        return {name: hashlib.sha256(source).hexdigest()[:16] for name, source in sources.items()}

    code = digests(loaded if loaded is not None else python_files(study) if study is not None else {})
    return code | {f"{folder.name}/": describe(digests(python_files(folder)))[:16] for folder in others}


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hash by content, with functions and classes known by their names, wherever a program of a study lies."""

    def __init__(self) -> None:
        super().__init__("sha1")
        self._within: set[int] = set()

    def save(self, obj: Any) -> None:
        if callable(getattr(type(obj), "fingerprint", None)):
            obj = (type(obj).__name__, obj.fingerprint())
        elif isinstance(obj, pd.DataFrame):
            # How pandas holds a column in memory depends on how it came about, and on pyarrow.
            obj = ("table", obj.index.tolist(), [(name, str(of.dtype), of.tolist()) for name, of in obj.items()])
        super().save(obj)

    def save_global(self, obj: Any, name: str | None = None, **_: Any) -> None:
        qualified = name or getattr(obj, "__qualname__", obj.__name__)
        module = pickle.whichmodule(obj, qualified)  # type: ignore[attr-defined]
        is_builtin = module in sys.builtin_module_names
        if module in ("__main__", "__mp_main__") or not (is_builtin or hasattr(sys.modules.get(module), "__file__")):
            raise pickle.PicklingError(f"{qualified} of {module} has no name that lasts")
        top, _, below = module.partition(".")
        if top.startswith(PREFIX):
            module = f"{Path(LOADED[top]).stem}.{below}"
        self.save((module, qualified, getattr(obj, "version", 1) if isinstance(obj, FunctionType | type) else 1))
        if _named(sys.modules.get(pickle.whichmodule(obj, qualified)), qualified) is obj:  # type: ignore[attr-defined]
            return
        if not isinstance(obj, FunctionType):
            raise pickle.PicklingError(f"{qualified} of {module} has no name that lasts")
        if id(obj) in self._within:
            # It calls itself.
            return
        self._within.add(id(obj))
        # Such as a lambda: it is known by where it stands in its file, to the column, and by what it holds.
        held = [cell.cell_contents for cell in obj.__closure__ or () if cell != CellType()]
        self.save(([*obj.__code__.co_positions()], obj.__defaults__, obj.__kwdefaults__, held))

    def save_set(self, values: Any) -> None:
        self.save((type(values).__name__, sorted(type(self)().hash(value) for value in values)))

    def _batch_setitems(self, items: Any, *_: Any) -> None:
        # In their order, on which a result may depend; joblib's own order is not the same in every process.
        for item in items:
            self.save(item)

    dispatch = NumpyHasher.dispatch.copy()
    dispatch |= {FunctionType: save_global, type: save_global, type(len): save_global}
    dispatch |= {set: save_set, frozenset: save_set}


def _named(module: Any, qualified: str) -> Any:
    """The object that a module has under a qualified name, or None."""
    for name in qualified.split("."):
        module = getattr(module, name, None)
    return module
