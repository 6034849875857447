"""Programs of the user's that are files outside of any package: how they are loaded, and whom an error is told of."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

#: Modules that are found by their files, here and in worker processes: name -> path.
LOADED: dict[str, str] = {}

#: The sources of programs when they were loaded: name -> name of each file of their folder -> its source.
SOURCES: dict[str, dict[str, bytes]] = {}

#: Files of a study's folder that only show its tables.
SHOWING = ("page.py", "drawing.py")

#: How the modules are called: no module of anybody's is called so.
PREFIX = "simstudy_program_"


def shipped_folder() -> Path:
    """The folder of the shipped studies: a wheel has it inside the package, a checkout beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "experiments"
    return inside if inside.is_dir() else package.with_name("experiments")


def shipped_studies() -> dict[str, Path]:
    """The studies that travel with the package: name -> study.toml."""
    return {path.parent.name: path for path in sorted(shipped_folder().glob("*/study.toml"))}


def load_learners() -> None:
    """Make `simstudy_learners` importable: the package beside the shipped studies, which their tasks train."""
    for package in shipped_folder().glob("learners/*/__init__.py"):
        LOADED[package.parent.name] = str(package)


class ProgramError(ValueError):
    """A program of the user's failed: its file, where possible the line, and what was raised."""


def load_program(path: Path) -> ModuleType:
    """The module of a file that cannot be imported by name; its functions and classes work in worker processes too.

    It is loaded as a package, so that it can import the modules beside it (``from .page import sections``), and again
    where one of these has changed. Whatever it raises is raised.
    """
    # Whole, since the working folder may be another when workers load it.
    whole, sources = path.resolve(), python_files(path.parent)
    name = _name_of(whole, sources)
    LOADED[name], SOURCES[name] = str(whole), sources
    try:
        return importlib.import_module(name)
    except BaseException:
        del LOADED[name], SOURCES[name]
        for each in [each for each in sys.modules if each.startswith(f"{name}.")]:
            del sys.modules[each]
        raise


def python_files(folder: Path) -> dict[str, bytes]:
    """The Python files of a folder and of those below it that are not hidden: path from there -> source."""
    paths = {path.relative_to(folder): path for path in sorted(folder.rglob("*.py"))}
    return {name.as_posix(): path.read_bytes() for name, path in paths.items() if not f"/{name.as_posix()}".count("/.")}


def _name_of(path: Path, sources: Mapping[str, bytes]) -> str:
    """The name of a program's module: first by the files that count, then by those that show its tables too."""
    counted = {name: source for name, source in sources.items() if name not in SHOWING}
    return PREFIX + "_".join(sha256(repr((str(path), each)).encode()).hexdigest()[:12] for each in (counted, sources))


class _SourceLoader(SourceFileLoader):
    """Compiles a file each time: an edit within the same second leaves kept bytecode that looks like today's."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class _Finder:
    """Finds modules of `LOADED` by their names, so that a worker process loads those that its calls need."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """How a module is loaded; None where its file is not known, or not there."""
        top, _, below = name.partition(".")
        if top not in LOADED or (below and not top.startswith(PREFIX)):
            return None
        file = Path(LOADED[top])
        if below:
            file = file.parent.joinpath(*below.split("."))
            file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        elif top.startswith(PREFIX) and file.is_file():
            now = _name_of(file, python_files(file.parent))
            if now.rpartition("_")[0] != name.rpartition("_")[0]:
                raise ImportError(f"{file}, or a file beside it, was edited while the run works: run it again")
        if not file.is_file():
            return None
        is_package = not below or file.name == "__init__.py"
        loader = _SourceLoader(name, str(file)) if top.startswith(PREFIX) else None
        places = [str(file.parent)] if is_package else None
        return spec_from_file_location(name, file, loader=loader, submodule_search_locations=places)


# Before Python's own, which would take kept bytecode for the modules beside a program.
sys.meta_path.insert(0, _Finder())


@contextmanager
def blaming(path: Path, *, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Tell what is raised inside as an error of this program (`told`), `but` for what says itself what is wrong."""
    try:
        yield
    except but:
        raise
    except (Exception, SystemExit) as error:
        raise ProgramError(told(error, path)) from error


def told(error: BaseException, path: Path) -> str:
    """What a program raised, in one line: the last file and line in the program's folder, and what."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{path.parent / Path(error.filename).name}, line {error.lineno}: {error.msg}"
    folder = path.resolve().parent
    lines = [(Path(frame.filename).resolve(), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    inside = [f"{path.parent / file.name}, line {line}" for file, line in lines if file.parent == folder]
    said = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(PREFIX):
        said = f"there is no {str(error.name).partition('.')[2]}.py beside it"
    return f"{inside[-1] if inside else path}: {said}"
