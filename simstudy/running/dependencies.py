"""Which modules a function or class depends on, and what these do, as their source says; nothing is imported for it.

In the module of a definition only what the definition needs is followed: a function beside the code of a page does not
depend on figures. From there on modules are taken as wholes, down to libraries. Two kinds of imports lead elsewhere
than they say:

- what only type checkers read (``if TYPE_CHECKING``) is never executed;
- a package that only imports is looked through: a name of it is where it is defined.

What draws or writes pages is left out: no result that can be kept is a drawing or a page.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.util import resolve_name
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from simstudy.running.program_files import LOADED, SOURCES

# The rooms that draw and write pages.
_SHOWING = ("simstudy.plot.", "simstudy.pages.")

# Where installed libraries lie: they are known by their versions, all other source by its content.
_INSTALLED = ("site-packages", "dist-packages")


def modules_behind(definitions: Iterable[tuple[str, str]]) -> set[str]:
    """The modules of these (module, name of the function or class) and all that they depend on, down to libraries.

    Examples
    --------
    >>> sorted(modules_behind([("simstudy.running.fingerprints", "describe")]))
    ['hashlib', 'json', 'simstudy.running.fingerprints', 'typing']
    >>> "joblib" in modules_behind([("simstudy.running.fingerprints", "fingerprint")])
    True
    """
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(module, name if _is_ours(module) else "") for module, name in definitions]
    while waiting:
        module, name = each = waiting.pop()
        if each not in seen and not f"{module}.".startswith(_SHOWING):
            seen.add(each)
            found.add(module)
            waiting += _needs(module, name)
    return found


def content_of(module: str) -> str | None:
    """A hash of what a module does; None of a library's, and where there is no file.

    Docstrings, comments, formatting, imports that only type checkers read, and the order of imports that follow one
    another do not change it. A module that mentions ``__doc__`` may do something with its docstrings: they stay.
    """
    file = source_file(module)
    if file is None or is_library(module, file):
        return None
    source = _source(module)
    return source.content if source else sha256(file.read_bytes()).hexdigest()


def source_file(module: str | None) -> Path | None:
    """The file of a module's source; None where it has none (a prompt, a notebook) or is compiled.

    Of a library that is not loaded it is the file of its top: a module within it is found by importing all above it.
    """
    if module is None:
        # What `exec` made of text need not be of any module.
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    top = module.partition(".")[0]
    if file is None and top != module and (above := source_file(top)) is not None and is_library(top, above):
        return above
    if file is None and module != "__main__":
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError, AttributeError):
            spec = None
        file = spec.origin if spec is not None else None
    if file is None or not Path(file).is_file():
        return None
    return Path(file)


def is_library(module: str, file: Path) -> bool:
    """Whether a module comes with Python or was installed; simstudy and its shipped studies are read in any case."""
    if _is_ours(module):
        return False
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or any(part in _INSTALLED for part in file.parts)


def _is_ours(module: str) -> bool:
    """Whether a module is simstudy's, or of a study's program or task."""
    top = module.partition(".")[0]
    return top == "simstudy" or top in LOADED


@dataclass(frozen=True)
class _Import:
    """An import binds one name to a name of a module, or (name empty) to the module itself."""

    bound: str
    module: str
    name: str


@dataclass(frozen=True)
class _Source:
    """The source of a module: its imports, those that only type checkers read, and its statements."""

    imports: tuple[_Import, ...]
    typed: tuple[_Import, ...]
    statements: tuple[ast.stmt, ...]
    package: str
    only_imports: bool
    """A package that defines nothing that others could ask it for."""
    content: str
    """A hash of what it does."""

    @cached_property
    def names(self) -> tuple[set[str], dict[str, set[str]]]:
        """Those of `_names`, of the whole module."""
        return _names(self.statements)


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
        bare, attributes = _names(statements)
        imports = [each for each in imports if each.bound in bare | set(attributes) or each.name == "*"]
        imports += [each for node in statements for each in _imports_of(node, source.package)]
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


def _slice(source: _Source, name: str) -> list[ast.stmt]:
    """The statements at the top of a module that the definition of a name in it needs; all where it is not there."""
    defining: dict[str, list[ast.stmt]] = {}
    chosen: list[ast.stmt] = []
    for node in source.statements:
        names = _defined(node)
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


def _defined(node: ast.stmt) -> list[str]:
    """The names that a definition or a plain assignment binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    plain = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
    return [part.id for part in parts if isinstance(part, ast.Name)] if plain else []


def _used(statements: Iterable[ast.stmt]) -> list[str]:
    return [node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)]


def _names(statements: Iterable[ast.stmt]) -> tuple[set[str], dict[str, set[str]]]:
    """The names in statements that stand by themselves, and of others which attributes are asked for ("a.b")."""
    bare: set[str] = set()
    attributes: dict[str, set[str]] = {}
    for each in statements:
        held = set[ast.expr]()
        for node in ast.walk(each):
            if isinstance(node, ast.Attribute) and node not in held:
                chain, inner = [node.attr], node.value
                while isinstance(inner, ast.Attribute):
                    held.add(inner)
                    chain.append(inner.attr)
                    inner = inner.value
                if isinstance(inner, ast.Name):
                    attributes.setdefault(inner.id, set()).add(".".join(reversed(chain)))
                    held.add(inner)
            elif isinstance(node, ast.Name) and node not in held:
                bare.add(node.id)
    return bare, attributes


def _source(module: str) -> _Source | None:
    """The source of a module; None of a library's, and where there is none."""
    file = source_file(module)
    if file is None or file.suffix != ".py" or is_library(module, file):
        return None
    # A program is what it was when it was loaded.
    loaded = SOURCES.get(module.partition(".")[0], {}).get(file.name)
    state = file.stat()
    return _read(module, file, loaded or (state.st_mtime_ns, state.st_size))


@functools.cache
def _read(module: str, file: Path, version: bytes | tuple[int, int]) -> _Source | None:
    try:
        text = version if isinstance(version, bytes) else file.read_bytes()
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, OSError):
        return None
    is_package = file.name == "__init__.py"
    package = module if is_package or module in SOURCES else module.rpartition(".")[0]
    for_types, statements = list[ast.stmt](), list[ast.stmt]()
    if (stub := file.with_suffix(".pyi")).is_file():
        # What a package imports when it is first used (`lazy_loader.attach_stub`).
        for_types += ast.parse(stub.read_bytes()).body
    for node in tree.body:
        if isinstance(node, ast.If) and _is_for_types(node):
            for_types += node.body
            statements += node.orelse
        elif not _does_nothing(node):
            statements.append(node)
    imports, typed = (
        tuple(each for node in nodes for each in _imports_of(node, package)) for nodes in (statements, for_types)
    )
    defined = [name for node in statements for name in _defined(node)]
    plain = all(isinstance(node, ast.Import | ast.ImportFrom) or _defined(node) for node in statements)
    only_imports = is_package and plain and all(name.startswith("_") or name == "TYPE_CHECKING" for name in defined)
    only_imports = only_imports and bool(imports or typed)
    return _Source(imports, typed, tuple(statements), package, only_imports, _content(tree, statements, text))


def _content(tree: ast.Module, statements: Iterable[ast.stmt], text: bytes) -> str:
    """A hash of what the statements of a module do; docstrings are taken out of them."""
    found: list[object] = []
    if b"__doc__" in text:
        found.append(ast.get_docstring(tree))
    else:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                node.body = [each for each in node.body if not _does_nothing(each)]
    try:
        for movable, group in groupby(statements, _is_movable):
            nodes = list(group)
            found += _bound(nodes) if movable else map(ast.dump, nodes)
    except RecursionError:
        # An expression of a thousand parts.
        return sha256(text).hexdigest()
    return sha256(repr(found).encode()).hexdigest()


def _is_movable(node: ast.stmt) -> bool:
    """Whether it is an import that may change places with others: it binds names that it says."""
    return isinstance(node, ast.Import | ast.ImportFrom) and all(alias.name != "*" for alias in node.names)


def _bound(imports: Iterable[Any]) -> list[tuple[object, ...]]:
    """The imports, sorted by the names that they bind; later imports of one name stay later."""
    names = [
        (alias.asname or alias.name, alias.name, getattr(node, "level", None), getattr(node, "module", None))
        for node in imports
        for alias in node.names
        if alias.name != "TYPE_CHECKING"
    ]
    return sorted(names, key=itemgetter(0))


def _does_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_for_types(node: ast.If) -> bool:
    return getattr(node.test, "attr", getattr(node.test, "id", None)) == "TYPE_CHECKING"


def _imports_of(node: ast.stmt, package: str) -> Iterator[_Import]:
    """What a statement imports, wherever in it."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            for alias in each.names:
                top = alias.name.partition(".")[0]
                yield _Import(alias.asname or top, alias.name, "")
                if not alias.asname and top != alias.name:
                    # This binds the package above.
                    yield _Import(top, top, "")
        elif isinstance(each, ast.ImportFrom):
            base = resolve_name("." * each.level + (each.module or ""), package) if each.level else each.module or ""
            for alias in each.names:
                yield _Import(alias.asname or alias.name, base, alias.name)


@functools.cache
def _is_module(name: str) -> bool:
    top = name.partition(".")[0]
    file = source_file(top)
    if file is None or is_library(top, file):
        return False
    return source_file(name) is not None


def _is_package(name: str) -> bool:
    """Whether a module of simstudy's or the user's own may have modules below it."""
    file = source_file(name)
    return file is not None and (file.name == "__init__.py" or name in SOURCES) and not is_library(name, file)


def _looked_through(module: str) -> bool:
    source = _source(module)
    return source is not None and source.only_imports
