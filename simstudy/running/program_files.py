"""Programs of the user's that are files outside of any package: how they are loaded, and whom an error is told of."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

#: Modules that were loaded from files, which worker processes load where they need them: name -> path.
LOADED: dict[str, str] = {}

#: The sources of these modules when they were loaded: name -> name of each file of their folder -> its source.
SOURCES: dict[str, dict[str, bytes]] = {}


# How the modules are called: no module of anybody's is called so.
_PREFIX = "simstudy_program_"


def shipped_folder() -> Path:
    """The folder of the shipped studies: a wheel has it inside the package, a checkout beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "experiments"
    return inside if inside.is_dir() else package.with_name("experiments")


def shipped_studies() -> dict[str, Path]:
    """The studies that travel with the package: name -> study.toml.

    Examples
    --------
    >>> "quickstart" in shipped_studies()
    True
    """
    return {path.parent.name: path for path in sorted(shipped_folder().glob("*/study.toml"))}


def load_learners() -> None:
    """Make `simstudy_learners` importable: the package beside the shipped studies, which their tasks train."""
    for package in shipped_folder().glob("learners/*/__init__.py"):
        load_file(package.parent.name, str(package))


class ProgramError(ValueError):
    """A program of the user's failed: its file, where possible the line, and what was raised."""


def load_program(path: Path) -> ModuleType:
    """The module of a file that cannot be imported by name; its functions and classes work in worker processes too.

    It is loaded as a package, so that it can import the modules beside it (``from .page import sections``), and again
    where one of these has changed. Whatever it raises is raised.
    """
    sources = {each.name: each.read_bytes() for each in sorted(path.parent.glob("*.py"))}
    name = f"{_PREFIX}{sha256(repr((str(path.resolve()), sources)).encode()).hexdigest()[:16]}"
    # Whole, since the working folder may be another when workers load it.
    whole = str(path.resolve())
    module = load_file(name, whole)
    LOADED[name], SOURCES[name] = whole, sources
    return module


def load_file(name: str, path: str) -> ModuleType:
    """The module that `load_program` calls so."""
    if name not in sys.modules:
        spec = _spec(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[name])
        except BaseException:
            for each in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
                del sys.modules[each]
            raise
    return sys.modules[name]


class ProgramFinder:
    """Finds modules of `load_program` by their names, so that a worker process loads those that its calls need."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        """Name -> path."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """How a module is loaded; None where it is no program that is known and there."""
        file = self.files.get(name, "")
        return _spec(name, file) if os.path.isfile(file) else None


def _spec(name: str, path: str) -> ModuleSpec | None:
    return importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(Path(path).parent)])


@contextmanager
def blaming(path: Path, *, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Tell what is raised inside as an error of this program; `but` for exceptions that say what is wrong themselves.

    The line is the last one of a file in the program's folder that was being executed.
    """
    try:
        yield
    except but:
        raise
    except (Exception, SystemExit) as error:
        raise ProgramError(told(error, path)) from error


def told(error: BaseException, path: Path) -> str:
    """What a program raised, in one line: where in the program's folder, and what."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{path.parent / Path(error.filename).name}, line {error.lineno}: {error.msg}"
    folder = path.resolve().parent
    lines = [(Path(frame.filename).resolve(), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    inside = [f"{path.parent / file.name}, line {line}" for file, line in lines if file.parent == folder]
    said = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(_PREFIX):
        said = f"there is no {str(error.name).partition('.')[2]}.py beside it"
    return f"{inside[-1] if inside else path}: {said}"
