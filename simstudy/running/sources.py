"""The imports, definitions and statements of a module, read from its source. No module is imported for it."""

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

# Where installed libraries lie: they are known by their versions, all other source by its content.
_INSTALLED = ("site-packages", "dist-packages")


def content_of(module: str) -> str | None:
    """A hash of what a module does; None of a library's, and where there is no file.

    Docstrings, comments, formatting, messages of errors, imports that only type checkers read, and the order of imports
    that follow one another do not change it. A module that mentions ``__doc__`` may do something with its docstrings:
    they stay.
    """
    file = source_file(module)
    if file is None or is_library(module):
        return None
    source = source_of(module)
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
    if file is None and top != module and is_library(top) and (above := source_file(top)) is not None:
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


def is_library(module: str) -> bool:
    """Whether a module comes with Python or was installed; simstudy and its shipped studies are read in any case."""
    if is_ours(module):
        return False
    if comes_with_python(module):
        return True
    file = source_file(module)
    return file is not None and any(part in _INSTALLED for part in file.parts)


def comes_with_python(module: str) -> bool:
    """Whether a module is of Python's own library."""
    return module.partition(".")[0] in sys.stdlib_module_names


def is_ours(module: str) -> bool:
    """Whether a module is simstudy's, or of a study's program or task."""
    top = module.partition(".")[0]
    return top == "simstudy" or top in LOADED


@dataclass(frozen=True)
class Import:
    """An import binds one name to a name of a module, or (name empty) to the module itself."""

    bound: str
    module: str
    name: str


@dataclass(frozen=True)
class Source:
    """The source of a module."""

    imports: tuple[Import, ...]
    #: Those that only type checkers read.
    typed: tuple[Import, ...]
    statements: tuple[ast.stmt, ...]
    package: str
    #: Whether it is a package that defines nothing that others could ask it for.
    only_imports: bool
    #: A hash of what it does.
    content: str

    @cached_property
    def names(self) -> tuple[set[str], dict[str, set[str]]]:
        """Those of `names_in`, of the whole module."""
        return names_in(self.statements)


def source_of(module: str) -> Source | None:
    """The source of a module; None of a library's, and where there is none."""
    file = source_file(module)
    if file is None or file.suffix != ".py" or is_library(module):
        return None
    # A program is what it was when it was loaded.
    loaded = SOURCES.get(module.partition(".")[0], {}).get(file.name)
    state = file.stat()
    return _read(module, file, loaded or (state.st_mtime_ns, state.st_size))


@functools.cache
def _read(module: str, file: Path, version: bytes | tuple[int, int]) -> Source | None:
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
        tuple(each for node in nodes for each in imports_of(node, package)) for nodes in (statements, for_types)
    )
    defined = [name for node in statements for name in names_defined(node)]
    plain = all(isinstance(node, ast.Import | ast.ImportFrom) or names_defined(node) for node in statements)
    only_imports = is_package and plain and all(name.startswith("_") or name == "TYPE_CHECKING" for name in defined)
    only_imports = only_imports and bool(imports or typed)
    return Source(imports, typed, tuple(statements), package, only_imports, _content(tree, statements, text))


def _content(tree: ast.Module, statements: Iterable[ast.stmt], text: bytes) -> str:
    """A hash of what the statements of a module do; docstrings and messages of errors are taken out of them."""
    found: list[object] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _names_error(node.func):
            # A run that has ended told nobody of them.
            node.args, node.keywords = [], []
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


def _names_error(function: ast.expr) -> bool:
    """Whether what is called is named like a class of errors."""
    return str(getattr(function, "id", getattr(function, "attr", ""))).endswith("Error")


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


def imports_of(node: ast.stmt, package: str) -> Iterator[Import]:
    """What a statement imports, wherever in it."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            for alias in each.names:
                top = alias.name.partition(".")[0]
                yield Import(alias.asname or top, alias.name, "")
                if not alias.asname and top != alias.name:
                    # This binds the package above.
                    yield Import(top, top, "")
        elif isinstance(each, ast.ImportFrom):
            base = resolve_name("." * each.level + (each.module or ""), package) if each.level else each.module or ""
            for alias in each.names:
                yield Import(alias.asname or alias.name, base, alias.name)


def names_defined(node: ast.stmt) -> list[str]:
    """The names that a definition or a plain assignment binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    plain = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
    return [part.id for part in parts if isinstance(part, ast.Name)] if plain else []


def names_in(statements: Iterable[ast.stmt]) -> tuple[set[str], dict[str, set[str]]]:
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
