"""What program a result was made by: a hash of its source, and the versions of the libraries that it stands on."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from types import CodeType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

from simstudy.dependencies import is_library, modules_behind, source_file
from simstudy.program_files import SOURCES

_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

_DATA = (ModuleType, str, bytes, int, float, complex, NoneType)


def program_of(*parts: Any) -> dict[str, str]:
    """What these functions, classes and objects are made of.

    Every module in which one of them is defined is read, and every module that it depends on, as far as they are source
    of simstudy or the user's own; what is installed is known by its version. Only what a result depends on is in its
    program (`simstudy.dependencies`): a change to a figure does not make systems train again. Objects are searched for
    what they hold, so that a pipeline's own transformer counts too.

    Parameters
    ----------
    parts
        Functions, classes, or objects that hold them (estimators, partial functions, lists).

    Returns
    -------
    program
        Name -> hash of the source for modules, name -> version for libraries and Python.

    Examples
    --------
    >>> program = program_of(program_of)
    >>> sorted(program)
    ['python', 'simstudy.dependencies', 'simstudy.program_files', 'simstudy.provenance']
    """
    found = {"python": _PYTHON}
    known: set[tuple[str, str]] = set()
    for definition in _definitions(parts):
        file = source_file(definition.__module__)
        if file is None:
            # Typed at a prompt, or in a notebook: what was compiled is all that there is.
            name = f"{definition.__module__}.{definition.__qualname__}"
            found[name] = hashlib.sha256(repr(sorted(_compiled(definition))).encode()).hexdigest()
            known |= {(module, "") for code in _codes(definition) for module in _loaded(code, definition)}
        else:
            known.add((definition.__module__, definition.__qualname__.partition(".")[0]))
    for name in sorted(modules_behind(known)):
        found |= _known_by(name)
    return dict(sorted(found.items()))


def differences(program: Mapping[str, str]) -> str:
    """Where this process has other versions, or another simstudy, than a program that `program_of` knew elsewhere.

    Examples
    --------
    >>> differences(program_of(program_of)), differences({"python": "2.7"}).startswith("python is 3")
    ('', True)
    """
    found = []
    for name, known in program.items():
        hashed = len(known) == 64
        if name == "python":
            here = _PYTHON
        elif name.partition(".")[0] == "simstudy":
            here = _known_by(name).get(name, "missing")
        elif hashed:
            # The user's own source came with the call.
            continue
        else:
            here = dict(_versions(name)).get(name, "missing")
        if here != known:
            found.append(f"{name} is another" if hashed and here != "missing" else f"{name} is {here}, not {known}")
    return ", ".join(found)


def definition_of(part: Any) -> Any:
    """What tells a function from the others of its module: its code, and the values that it holds.

    Two functions of one file have one program (`program_of`), and lambdas have not even names of their own.

    Examples
    --------
    >>> double, half = lambda x: 2 * x, lambda x: x / 2
    >>> definition_of(double) == definition_of(half), definition_of(half) == definition_of(lambda x: x / 2)
    (False, True)
    """
    if isinstance(part, FunctionType):
        held = [cell.cell_contents for cell in part.__closure__ or () if _filled(cell)]
        values = definition_of([part.__defaults__, part.__kwdefaults__, held])
        return [part.__name__, _content(part.__code__), values]
    if isinstance(part, MethodType):
        return definition_of([part.__func__, part.__self__])
    if isinstance(part, functools.partial):
        return definition_of([part.func, part.args, part.keywords])
    if isinstance(part, Mapping):
        return {key: definition_of(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [definition_of(value) for value in part]
    return part


def _definitions(parts: Iterable[Any]) -> Iterator[Any]:
    """The functions and classes that the parts are or hold, each once."""
    seen: set[int] = set()
    # Whatever is taken from an object is kept here, so that no other object gets its address.
    waiting = list(parts)
    for part in waiting:
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, FunctionType | type):
            yield part
            closure = getattr(part, "__closure__", None) or ()
            waiting += [cell.cell_contents for cell in closure if _filled(cell)]
            waiting += [base for base in getattr(part, "__mro__", ()) if base not in (part, object)]
        elif isinstance(part, MethodType):
            waiting += [part.__func__, part.__self__]
        elif isinstance(part, functools.partial):
            waiting += [part.func, part.args, part.keywords]
        elif isinstance(part, Mapping):
            waiting += list(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += list(part)
        elif not isinstance(part, _DATA) and type(part).__module__.split(".")[0] not in ("numpy", "pandas", "scipy"):
            waiting += [type(part), *getattr(part, "__dict__", {}).values(), getattr(part, "__wrapped__", None)]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _known_by(module: str) -> dict[str, str]:
    """Hash of the source of one module, or version of the library that it belongs to."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names and top != "__main__":
        return {}
    file = source_file(module)
    if file is not None and not is_library(module, file):
        if file.name in SOURCES.get(top, ()):
            # A program is what it was when it was loaded, wherever it lies.
            return {file.name: SOURCES[top][file.name]}
        return {module: hashlib.sha256(file.read_bytes()).hexdigest()}
    return {name: number for each in _distributions().get(top, ()) for name, number in _versions(each)}


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


@functools.cache
def _versions(library: str) -> tuple[tuple[str, str], ...]:
    """A library's version and those of the libraries that it needs itself."""
    found: dict[str, str] = {}
    waiting = [library]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name not in found:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                continue
            # Without what only an extra asks for.
            needed = [line for line in requires(name) or () if "extra ==" not in line]
            waiting += [match[0] for line in needed if (match := re.match(r"[\w.-]+", line))]
    return tuple(found.items())


def _codes(definition: Any) -> list[CodeType]:
    """The compiled code of a function, or of all of a class's methods."""
    if isinstance(definition, FunctionType):
        return [definition.__code__]
    members = [getattr(member, "__func__", getattr(member, "fget", member)) for member in vars(definition).values()]
    return [member.__code__ for member in members if isinstance(member, FunctionType)]


def _compiled(definition: Any) -> list[str]:
    return [repr(_content(code)) for code in _codes(definition)]


def _content(code: CodeType) -> tuple[Any, ...]:
    """What code does, without the line numbers and the file that it was compiled from."""
    constants = [_content(part) if isinstance(part, CodeType) else _constant(part) for part in code.co_consts]
    return (code.co_name, code.co_code.hex(), constants, code.co_names, code.co_varnames)


def _constant(value: Any) -> str:
    # A set of text has another order in each process.
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


def _loaded(code: CodeType, definition: Any) -> Iterator[str]:
    """The modules that code typed at a prompt refers to by its global names."""
    names = getattr(definition, "__globals__", None) or vars(sys.modules[definition.__module__])
    for name in code.co_names:
        value = names.get(name)
        module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(module, str) and module != definition.__module__:
            yield module
