"""What program a result was made by: what its functions do, and the versions of the libraries that they stand on."""

from __future__ import annotations

import copyreg
import dis
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from simstudy.running.dependencies import modules_behind
from simstudy.running.fingerprints import describe
from simstudy.running.program_files import SOURCES
from simstudy.running.sources import comes_with_python, content_of, is_library, source_file

# Members of a class that say how it is written, that come with its use, or that hold addresses.
_UNTOLD = re.compile("__doc__|__firstlineno__|__static_attributes__|__slotnames__|__pydantic_(?!fields__).*")

# Instructions that look up a name of a module, and those that ask what was found for an attribute.
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")


def program_of(*parts: Any) -> dict[str, str]:
    """A hash of what these functions, classes and objects are (`definition_of`), and of the rest, by name.

    A module of simstudy or of the user's that they depend on has a hash of what it does; a library has its version.
    Only what a result depends on counts (`simstudy.running.dependencies`): a change to a figure does not make systems
    train again. Objects are searched for what they hold, so that a pipeline's own transformer counts too.
    """
    told = [_Definition(part) for part in parts]
    found = {"definitions": describe(sorted(describe(each.content) for each in told)), "python": _python()}
    for name in sorted(modules_behind({need for each in told for need in each.needs})):
        found |= _known_by(name)
    return dict(sorted(found.items()))


def _python() -> str:
    return ".".join(map(str, sys.version_info[:2]))


@functools.cache
def differences(program: tuple[tuple[str, str], ...]) -> str:
    """Where this process has other versions, or another simstudy, than the items of a `program_of` elsewhere.

    It is found out once: a worker is asked before each of its calls.
    """
    found = []
    for name, known in program:
        hashed = len(known) == 64
        if name == "definitions":
            # The functions themselves come with the call.
            continue
        if name == "python":
            here = _python()
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
    """What a function, class or object is, as JSON values.

    What a file or a library defines is known by its name there (`program_of` reads the file). Any other function or
    class, such as a lambda or one that was typed at a prompt, is known by its code and by all that it holds or uses:
    defaults, closure, globals. An object is known by what pickle would keep of it, or else by its class.
    """
    return _Definition(part).content


class _Definition:
    """What a part is, as JSON values, and the (module, name) of what it needs."""

    def __init__(self, part: Any) -> None:
        self.needs: set[tuple[str, str]] = set()
        # Address -> number and object. The objects are kept, so that no other gets the address of one.
        self._met: dict[int, tuple[int, Any]] = {}
        self.content = self._of(part)

    def _of(self, part: Any, name: str = "") -> Any:
        """What a part is, which has this name among the globals of a prompt."""
        kind = type(part)
        if kind in (type(None), bool, int, float, complex, str, bytes):
            return f"{kind.__name__} {part!r}"
        if kind is tuple:
            return ["tuple", *map(self._of, part)]
        if kind is ModuleType or _is_found_by_name(part):
            module, called = (part.__name__, "") if kind is ModuleType else (part.__module__, _name(part))
            self.needs.add((module, called.partition(".")[0]))
            return ["name", _known_as(module), called]
        if name and (libraries := _libraries_with(name, part)):
            # Such as a distribution of scipy, which holds the state of a global generator.
            self.needs |= {(each, "") for each in libraries}
            return ["name", kind.__name__, name]
        if id(part) in self._met:
            return ["again", self._met[id(part)][0]]
        self._met[id(part)] = len(self._met), part
        if kind is FunctionType or isinstance(part, type):
            if source_file(module := _module(part)) is not None:
                self.needs.add((module, part.__qualname__.partition(".")[0]))
            return self._function(part) if kind is FunctionType else self._class(part)
        return [kind.__name__, *map(self._of, self._held(part))]

    def _function(self, part: FunctionType) -> Any:
        instructions = list(_instructions(part.__code__))
        closure = [cell.cell_contents for cell in part.__closure__ or () if _filled(cell)]
        held = self._of((part.__defaults__, part.__kwdefaults__, *closure))
        # The names that others use are in their file.
        used = self._used(instructions, part.__globals__) if _is_typed(part) else {}
        return [part.__name__, [[name, self._of(value)] for name, value in instructions], held, used]

    def _used(self, instructions: list[tuple[str, Any]], names: Mapping[str, Any]) -> dict[str, Any]:
        """What code uses by global names; of a module, what is asked for."""
        found = {}
        for k, (instruction, name) in enumerate(instructions):
            if instruction == "IMPORT_NAME":
                self.needs.add((name, ""))
            elif instruction in _GLOBAL and name in names:
                value = names[name]
                for following, attribute in instructions[k + 1 :]:
                    if following not in _ATTRIBUTE or not (isinstance(value, ModuleType) or attribute == "__doc__"):
                        break
                    value, name = getattr(value, attribute, None), f"{name}.{attribute}"
                found[name] = value
        return {name: self._of(found[name], name.rpartition(".")[2]) for name in sorted(found)}

    def _class(self, part: type) -> Any:
        members = {name: value for name, value in sorted(vars(part).items()) if not _UNTOLD.fullmatch(name)}
        return [part.__qualname__, *map(self._of, (type(part), part.__bases__, members))]

    def _held(self, part: Any) -> Iterator[Any]:
        """What an object is made of."""
        kind = type(part)
        if hasattr(part, "__wrapped__") and is_library(_module(kind)) and kind is not functools.partial:
            # What compiles or caches a function changes when it is called; it does what the function does.
            yield part.__wrapped__
        elif kind in (dict, MappingProxyType):
            yield from part.items()
        elif kind is list:
            yield from part
        elif kind in (set, frozenset):
            # A set of text has another order in each process.
            yield from sorted(describe(self._of(each)) for each in part)
        elif kind is property:
            yield from (part.fget, part.fset, part.fdel)
        else:
            yield kind
            try:
                reduce: Callable[[Any], Any] = copyreg.dispatch_table.get(kind, lambda each: each.__reduce_ex__(4))
                reduced = reduce(part)
            except Exception:
                # Locks, open files.
                return
            if isinstance(reduced, str):
                self.needs |= {(each, "") for each in _libraries_with(reduced, part)}
                yield reduced
            else:
                yield from reduced[:3]
                yield from (list(each) for each in reduced[3:5] if each is not None)


def _instructions(code: CodeType) -> Iterator[tuple[str, Any]]:
    """What code does, without the lines and the file that it was compiled from, and without its docstring."""
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_varnames)
    yield code.co_name, (arguments, code.co_exceptiontable)
    for each in dis.get_instructions(code):
        if isinstance(each.argval, CodeType):
            yield from _instructions(each.argval)
        else:
            yield each.opname, each.argval


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _module(part: Any) -> str:
    """The module of a function or class; nothing where it has none, as some compiled ones."""
    module = getattr(part, "__module__", None)
    return module if isinstance(module, str) else ""


def _name(part: Any) -> Any:
    return getattr(part, "__qualname__", getattr(part, "__name__", None))


def _is_found_by_name(part: Any) -> bool:
    """Whether a part is what a file, or a library, calls so."""
    module, name = _module(part), _name(part)
    try:
        if attrgetter(name)(sys.modules[module]) is not part:
            return False
    except (KeyError, AttributeError, TypeError):
        return False
    return comes_with_python(module) or (source_file(module) is not None and not _is_typed(part))


def _is_typed(part: Any) -> bool:
    """Whether a function or class was compiled from no file: at a prompt, in a notebook, by `exec`."""
    functions = vars(part).values() if isinstance(part, type) else [part]
    codes = [each.__code__ for one in functions if hasattr(each := inspect.unwrap(one), "__code__")]
    return source_file(_module(part)) is None or (
        bool(codes) and not any(Path(code.co_filename).is_file() for code in codes)
    )


def _libraries_with(name: str, part: Any) -> list[str]:
    """The first library that calls this object so, of those that are loaded."""
    # A module that is loaded when it is needed may be so here.
    modules = [*sys.modules.items()]
    loaded = sorted(each for each, module in modules if getattr(module, "__dict__", {}).get(name) is part)
    return [each for each in loaded if is_library(each)][:1]


def _known_as(module: str) -> str:
    """The name of a module; that of a program says where it lies, which does not matter."""
    top, point, rest = module.partition(".")
    return f"<study>{point}{rest}" if top in SOURCES else module


def _known_by(module: str) -> dict[str, str]:
    """Hash of what one module does, or version of the library that it belongs to."""
    if comes_with_python(module):
        return {}
    if content := content_of(module):
        return {_known_as(module): content}
    libraries = _distributions().get(module.partition(".")[0], ())
    return {name: number for each in libraries for name, number in _versions(each)}


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
