"""Which modules a function or class depends on, and what these do, as their source says; nothing is imported for it.

In the module of a definition only what the definition needs is followed: a function beside the code of a page does not
depend on figures. From there on modules are taken as wholes, down to libraries. Two kinds of imports lead elsewhere
than they say:

- what only type checkers read (``if TYPE_CHECKING``) is never executed;
- a package that only imports is looked through: a name of it is where it is defined.

Modules that draw, or put results into words, are left out: no number that is kept is a drawing or a sentence.
"""

from __future__ import annotations

import ast
import functools
import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from simstudy.running.program_files import SOURCES
from simstudy.running.sources import (
    Source,
    imports_of,
    is_library,
    is_ours,
    names_defined,
    names_in,
    source_file,
    source_of,
)

# The rooms that draw and write, and what the modules are called that do so in other rooms.
_SHOWING = ("simstudy.plot.", "simstudy.pages.", "simstudy.papers.")
_WORDS = ("page", "paper", "printed", "sentences", "verdict")


_source = functools.cache(source_of)
_file = functools.cache(source_file)


def modules_behind(definitions: Iterable[tuple[str, str]]) -> set[str]:
    """The modules of these (module, name of the function or class) and all that they depend on, down to libraries."""
    # Files may change between two calls, not within one.
    _source.cache_clear()
    _file.cache_clear()
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(module, name if is_ours(module) else "") for module, name in definitions]
    with _garbage_kept():
        while waiting:
            module, name = each = waiting.pop()
            if each not in seen and not _only_shows(module):
                seen.add(each)
                found.add(module)
                waiting += _needs(module, name)
    return found


def _only_shows(module: str) -> bool:
    room, _, last = module.rpartition(".")
    return f"{module}.".startswith(_SHOWING) or (last in _WORDS and f"{room}.".startswith("simstudy."))


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Trees of source are many objects: to look for garbage again and again would take a quarter of the time."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()


def _needs(module: str, name: str) -> list[tuple[str, str]]:
    """What a module needs, or (where a name is given) what the definition of this name in it needs."""
    source = _source(module)
    if source is None:
        return []
    if source.only_imports:
        # Which of its names are asked for is not known: they may be imported when they are.
        return [_origin(each.module, each.name) for each in (*source.imports, *source.typed)]
    imports, (bare, attributes) = list(source.imports), source.names
    if name:
        statements = _slice(source, name)
        bare, attributes = names_in(statements)
        imports = [each for each in imports if each.bound in bare | set(attributes) or each.name == "*"]
        imports += [each for node in statements for each in imports_of(node, source.package)]
    found = []
    for each in imports:
        if not each.name and each.bound not in bare and _looked_through(each.module):
            found += [_end(each.module, chain) for chain in attributes.get(each.bound, ())]
        else:
            found.append(_origin(each.module, each.name))
    return found


def _origin(module: str, name: str) -> tuple[str, str]:
    """Where a name of a module is defined, and whether that is followed by this name or as a whole (an empty one)."""
    below = f"{module}.{name}"
    if name and _is_package(module) and _is_module(below):
        return below, ""
    if name and _looked_through(module) and (source := _source(module)) is not None:
        for each in (*source.imports, *source.typed):
            if each.bound == name:
                return _origin(each.module, each.name) if each.name else (each.module, "")
    # A study's own modules stand beside its page: of them only what is needed is followed.
    return module, name if module.partition(".")[0] in SOURCES and name != "*" else ""


def _end(module: str, chain: str) -> tuple[str, str]:
    """The origin of an attribute of an attribute … of a module, as far as these are packages that only import."""
    first, _, rest = chain.partition(".")
    found, name = _origin(module, first)
    return _end(found, rest) if rest and not name and _looked_through(found) else (found, name)


def _slice(source: Source, name: str) -> list[ast.stmt]:
    """The statements at the top of a module that the definition of a name in it needs; all where it is not there."""
    defining: dict[str, list[ast.stmt]] = {}
    chosen: list[ast.stmt] = []
    for node in source.statements:
        names = names_defined(node)
        if not names and not isinstance(node, ast.Import | ast.ImportFrom):
            # What is done when the module is imported, and defines nothing by itself.
            chosen.append(node)
        for each in names:
            defining.setdefault(each, []).append(node)
    if name not in defining:
        return list(source.statements)
    waiting, known = [*_used(chosen), name], set[str]()
    while waiting:
        each = waiting.pop()
        if each in defining and each not in known:
            known.add(each)
            chosen += defining[each]
            waiting += _used(defining[each])
    return chosen


def _used(statements: Iterable[ast.stmt]) -> list[str]:
    return [node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)]


@functools.cache
def _is_module(name: str) -> bool:
    top = name.partition(".")[0]
    return source_file(top) is not None and not is_library(top) and source_file(name) is not None


def _is_package(name: str) -> bool:
    """Whether a module of simstudy's or the user's own may have modules below it."""
    file = _file(name)
    return file is not None and (file.name == "__init__.py" or name in SOURCES) and not is_library(name)


def _looked_through(module: str) -> bool:
    source = _source(module)
    return source is not None and source.only_imports
