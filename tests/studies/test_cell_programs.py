"""The keys of every shipped study's cells: they hold all that is executed, and nothing that only draws."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simstudy.running.provenance import program_of
from sklearn.naive_bayes import GaussianNB

import simstudy
from simstudy.running import provenance, sources
from simstudy.running.keys import Cell
from simstudy.running.parallel import _needed
from simstudy.running.program_files import LOADED, SOURCES
from simstudy.studies import load_study, shipped_studies
from simstudy.training.resampling import Variant
from simstudy.truth.synthetic import correlated_accuracies

PACKAGE = Path(simstudy.__file__).parent
STUDIES = PACKAGE.parent / "experiments"

# Modules that only write pages, draw, or talk to a terminal.
SHOWING = (
    "simstudy.plot",
    "simstudy.pages.report",
    "simstudy.pages.sections",
    "simstudy.papers",
    "simstudy.cli",
    "matplotlib",
    "seaborn",
    "<study>.page",
    "<study>.drawing",
)
PAGES = {
    *PACKAGE.glob("plot/*.py"),
    PACKAGE / "pages" / "report.py",
    *PACKAGE.glob("papers/*.py"),
    *PACKAGE.glob("**/page.py"),
    *PACKAGE.glob("**/paper.py"),
    *STUDIES.glob("*/page.py"),
    *STUDIES.glob("*/drawing.py"),
}


@cache
def program_module(file: Path) -> str:
    """The name under which a module of a shipped study is loaded."""
    load_study(file.parent.name)
    (name,) = [name for name, path in LOADED.items() if Path(path) == file.with_name("study.py").resolve()]
    return name if file.stem == "study" else f"{name}.{file.stem}"


def handed_to_run() -> list[Any]:
    """Every function that some study hands to `RunContext.run` or `run_cells`, as an expression of its module."""
    found = []
    for file in sorted([*STUDIES.glob("*/*.py"), *PACKAGE.rglob("*.py")]):
        text = file.read_text(encoding="utf-8")
        if "context.run(" not in text and "run_cells(" not in text:
            # This is done by every process that collects tests.
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = ast.unparse(node.func)
            if called == "context.run":
                found.append((file, ast.unparse(node.args[1])))
            elif called == "run_cells" and ast.unparse(node.args[0]) != "function":
                found.append((file, ast.unparse(node.args[0])))
    return [pytest.param(*each, id=f"{each[0].parent.name}-{each[1]}") for each in found]


FUNCTIONS = handed_to_run()


def function_of(file: Path, expression: str) -> Callable[..., Any]:
    inside = file.is_relative_to(PACKAGE)
    name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) if inside else program_module(file)
    found: Callable[..., Any] = eval(expression, vars(importlib.import_module(name)))
    return found


def test_there_are_functions_of_all_studies_that_are_programs() -> None:
    folders = {each.values[0].parent.name for each in FUNCTIONS}
    programs = {path.parent.name for path in shipped_studies().values() if path.with_name("study.py").is_file()}
    # Berg-Kirkpatrick's study compares, and nothing else.
    assert programs - folders == {"berg_kirkpatrick_2012"}
    assert {"studies", "training"} < folders


# File and expression of a function -> its program.
Programs = dict[Any, dict[str, str]]


def programs_after(edited: set[Path]) -> Programs:
    """The program of each function, where something is added to these files."""
    files = {file.resolve() for file in edited}
    functions = {each.values: function_of(*each.values) for each in FUNCTIONS}
    read, read_source = Path.read_bytes, sources._read

    def after(source: bytes, file: Path) -> bytes:
        return source + b"\nedited = True\n" * (file.resolve() in files)

    @cache
    def read_again(module: str, file: Path, version: Any) -> Any:
        return (read_source.__wrapped__ if file.resolve() in files else read_source)(module, file, version)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda file: after(read(file), file))
        patch.setattr(sources, "_read", read_again)
        for name, texts in SOURCES.items():
            folder = Path(LOADED[name]).parent
            patch.setitem(SOURCES, name, {each: after(source, folder / each) for each, source in texts.items()})
        return {each: program_of(function) for each, function in functions.items()}


@pytest.fixture(scope="module")
def programs() -> tuple[Programs, Programs, Programs]:
    """As the files are, after an edit of all pages and figures, and after an edit of all files with such a function."""
    own = {file_of(function_of(*each.values).__module__) for each in FUNCTIONS}
    assert len(PAGES) > 20
    assert not own & PAGES
    return programs_after(set()), programs_after(PAGES), programs_after(own)


def file_of(module: str) -> Path:
    return Path(str(sys.modules[module].__file__))


@pytest.mark.parametrize(("file", "expression"), FUNCTIONS)
def test_an_edit_of_a_figure_or_a_page_makes_nothing_again(
    file: Path, expression: str, programs: tuple[Programs, Programs, Programs]
) -> None:
    before, after_pages, after_own = (each[file, expression] for each in programs)
    assert after_pages == before
    own = provenance._known_as(function_of(file, expression).__module__)
    assert after_own[own] != before[own]
    # The tools of others that are compared there draw figures too.
    showing = [
        name for name in SHOWING if file.parent.name != "tools_bench" or name.startswith(("simstudy", "<study>"))
    ]
    assert not [name for name in before if name.startswith(tuple(showing))]
    assert "simstudy" not in before, "the package's own names come from where they are defined"


def executed(function: Callable[..., Any], *arguments: Any) -> set[Path]:
    """The files of simstudy and of shipped studies of which something is executed."""
    found: set[str] = set()
    sys.setprofile(lambda frame, event, _: found.add(frame.f_code.co_filename) if event == "call" else None)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    files = {Path(name).resolve() for name in found if name.endswith(".py")}
    return {file for file in files if file.is_relative_to(PACKAGE.resolve()) or file.is_relative_to(STUDIES.resolve())}


OUTPUTS = correlated_accuracies([0.6, 0.7, 0.8], 60)
X, Y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
TASK = simstudy.training.Task.from_arrays("t", X, Y, test_sets={"test": (X, Y)}, systems={"bayes": GaussianNB()})

# A file, a function that it hands over, and arguments with which it is soon done; texts in brackets are studies.
CASES: list[tuple[Path, str, tuple[Any, ...]]] = [
    (STUDIES / "chinchor_1992" / "study.py", "compared", (OUTPUTS, "exact", 0)),
    (STUDIES / "error_rates" / "study.py", "examine", (["error_rates"], "accuracy", 3, 0, False, False)),
    (
        STUDIES / "multiple_systems" / "study.py", "families.examine",
        (["multiple_systems"], "accuracy_100", "all equal", 2, 0, 3),
    ),
    (STUDIES / "tools_bench" / "study.py", "examine", (["tools_bench"], "sign_flips", "answers", 0, range(1))),
    (STUDIES / "yeh_2000" / "example.py", "tests_of", ("recall",)),
    (PACKAGE / "training" / "resampling.py", "train_variant", (TASK, Variant("bayes", 30, 0), 0)),
    (PACKAGE / "studies" / "comparing.py", "_compared", (OUTPUTS, {"n_resamples": 50}, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("file", "expression", "given"), CASES, ids=lambda case: getattr(case, "parent", Path()).name)
def test_all_that_is_executed_is_in_the_program(file: Path, expression: str, given: tuple[Any, ...]) -> None:
    """The profiler's list of files, against what the source says."""
    function = function_of(file, expression)
    arguments = [load_study(each[0]) if isinstance(each, list) else each for each in given]
    program = program_of(function, *_needed([Cell("a cell", tuple(arguments))]))
    files = executed(function, *arguments)
    names = {
        ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        if file.is_relative_to(PACKAGE)
        else f"<study>.{file.stem}".removesuffix(".study")
        for file in files
    }
    # How a package imports its names when they are asked for is no part of what they are.
    assert names - {"simstudy"} <= set(program)
    assert len(names) > 3
