"""No function is too long or has too many parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import simstudy

PACKAGE = Path(simstudy.__file__).parent

# The largest functions: lines of code (without docstring, comments and blank lines), positional parameters, and all
# parameters of a public function.
MOST_LINES, MOST_POSITIONAL, MOST_PARAMETERS = 60, 5, 13

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(node: ast.AST, name: str) -> Iterator[tuple[str, Function]]:
    """All functions below a node, with their qualified names."""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, Function | ast.ClassDef)
        own = f"{name}.{child.name}" if named else name
        if isinstance(child, Function):
            yield own, child
        yield from functions(child, own)


def lines_of_code(function: Function, text: list[str]) -> int:
    """Lines of a function from its "def" on, without docstring, comments and blank lines."""
    first = function.body[0]
    docstring = range(first.lineno, (first.end_lineno or 0) + 1) if ast.get_docstring(function) is not None else ()
    numbers = (i for i in range(function.lineno, (function.end_lineno or 0) + 1) if i not in docstring)
    stripped = (text[i - 1].strip() for i in numbers)
    return sum(1 for line in stripped if line and not line.startswith("#"))


def above_bars(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """The bars that functions of a file are above, and the functions' names."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for qualified, function in functions(ast.parse(text), name):
        arguments = function.args
        positional = [a for a in [*arguments.posonlyargs, *arguments.args] if a.arg not in ("self", "cls")]
        if lines_of_code(function, lines) > MOST_LINES:
            yield "lines", qualified
        if len(positional) > MOST_POSITIONAL:
            yield "positional", qualified
        if not function.name.startswith("_") and len(positional) + len(arguments.kwonlyargs) > MOST_PARAMETERS:
            yield "parameters", qualified


def test_functions_are_within_the_bars() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        assert not list(above_bars(path, ".".join(path.relative_to(PACKAGE).with_suffix("").parts)))


def test_the_bars_count_code_and_parameters(tmp_path: Path) -> None:
    """A function of 60 lines, docstring and comments apart, with five positional parameters is within them."""

    def above(lines: int, head: str) -> list[tuple[str, str]]:
        body = '    """Two\n\n    lines."""\n    # Why.\n\n' + "    x = 1\n" * (lines - 1)
        (tmp_path / "one.py").write_text(head + "\n" + body, encoding="utf-8")
        return list(above_bars(tmp_path / "one.py", "one"))

    assert above(60, "def f(a, b, c, d, e, *, g, h, i, j, k, l, m, n):") == []
    assert above(61, "def f(a, b, c, d, e):") == [("lines", "one.f")]
    assert above(2, "def f(a, b, c, d, e, /, g):") == [("positional", "one.f")]
    assert above(2, "async def f(a, b, c, d, e, *, g, h, i, j, k, l, m, n, o):") == [("parameters", "one.f")]
    assert above(2, "def _f(*, a, b, c, d, e, g, h, i, j, k, l, m, n, o):") == []
    method = "class C:\n  def f(self, a, b, c, d, e, g):"
    assert above(2, method) == [("positional", "one.C.f")]
