"""What a definition depends on, as its source says: module by module, against lists made by hand."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simstudy.running.dependencies import modules_behind
from simstudy.running.program_files import LOADED, SOURCES, load_program
from simstudy.studies.catalogue import load_study, program_behind

STUDY = """
from __future__ import annotations
import textwrap
from typing import TYPE_CHECKING
import simstudy as ss
import simstudy.validation
from simstudy import plot
from simstudy.text import numerals
from . import page, numbers
from .numbers import base as started
from .page import TITLE
if TYPE_CHECKING:
    from .types import Settings

REGISTRY = {"scale": numbers.scale}
FORMAT = numerals.p_text

def registered(function):
    return REGISTRY.setdefault(function.__name__, function)

@registered
def cell(settings: Settings, k: int) -> float:
    from .late import late
    return REGISTRY["scale"](k) + late(started) + helper(k)

def helper(k):
    return ss.analyses.certainty(k, 10, 0.1)

def begins():
    return started

def named(p):
    return FORMAT(p)

def draws(table):
    return page.sections(TITLE, plot.curve(table), textwrap.dedent(""))

async def checks(value):
    return simstudy.validation.brief(value)
"""
BESIDE = {
    "numbers": "import fractions\nbase = 1\ndef scale(k): return k\ndef other(): return fractions\n",
    "late": "import bisect\ndef late(x): return bisect.bisect([x], x)\n",
    "page": "import turtle\nTITLE = 'x'\ndef sections(*parts): return parts\n",
    "types": "class Settings: pass\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "study.py").write_text(STUDY)
    for name, source in BESIDE.items():
        (tmp_path / f"{name}.py").write_text(source.replace("import turtle\n", ""))
    name = load_program(tmp_path / "study.py").__name__
    yield name
    del LOADED[name], SOURCES[name]
    for each in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        del sys.modules[each]


CERTAINTY = {"simstudy.statistics.pvalues", "simstudy.validation", "numpy", "scipy"}


@pytest.mark.parametrize(
    ("name", "beside", "others", "never"),
    [
        # By decorator, constant, helper, late import and a name of the package; neither page nor what is for types.
        ("cell", {"numbers", "late"}, CERTAINTY | {"bisect", "fractions"}, {"textwrap", "simstudy.text.numerals"}),
        ("begins", {"numbers"}, set(), {"fractions", "simstudy.statistics.pvalues"}),
        ("helper", set(), CERTAINTY, {"bisect", "simstudy.text.numerals"}),
        ("named", set(), {"simstudy.text.numerals"}, {"simstudy.statistics.pvalues", "textwrap"}),
        ("draws", {"page"}, {"textwrap"}, {"simstudy.statistics.pvalues"}),
        ("checks", set(), {"simstudy.validation"}, {"simstudy.statistics.pvalues"}),
        ("not there", {"numbers", "late", "page"}, CERTAINTY | {"textwrap", "bisect"}, set()),
    ],
)
def test_a_study_needs_what_its_function_uses(
    program: str, name: str, beside: set[str], others: set[str], never: set[str]
) -> None:
    found = modules_behind([(program, name)])
    assert {each.removeprefix(f"{program}.") for each in found if each.startswith(f"{program}.")} == beside
    assert others <= found
    assert not {*never, "simstudy", "matplotlib", "simstudy.plot", "simstudy.plot.gains"} & found


@pytest.mark.parametrize(
    ("name", "facts"), [("quickstart", "engines.described"), ("leaderboards", "studies.natural.facts")]
)
def test_a_page_is_no_part_of_the_program_that_makes_its_tables(name: str, facts: str) -> None:
    """The facts on it are: a run keeps them beside the tables, and nothing writes them anew from these."""
    program = {module.removeprefix("simstudy.") for module in program_behind(load_study(name))}
    rooms, modules = ("plot", "pages", "papers"), (".page", ".paper", ".printed", ".sentences", ".verdict")
    assert facts in program
    assert not [each for each in program if each.startswith(rooms) or each.endswith(modules)]


def test_only_studies_that_read_scores_depend_on_how_they_are_read() -> None:
    read = "simstudy.loaders.wide_tables"
    found = {name: read in program_behind(load_study(name)) for name in ("quickstart", "chunking", "generation")}
    assert found == {"quickstart": False, "chunking": False, "generation": True}, "others made texts for the last one"


def test_packages_that_only_import_are_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that defines anything is not: a table of all there is may be asked for any of it."""
    for name, source in {
        "only/__init__.py": "from only.one import f\nfrom only.two import g as h\n__all__ = ['f', 'h']\n",
        "only/one.py": "import fractions\ndef f(): pass\n",
        "only/two.py": "import bisect\ndef g(): pass\n",
        "table/__init__.py": "from table.one import f\nfrom table.two import g\nTABLE = {'f': f, 'g': g}\n",
        "table/one.py": "def f(): pass\n",
        "table/two.py": "import calendar\ndef g(): pass\n",
        "asks.py": "from only import h\nclass A: pass\n",
        "asks_all.py": "import only\ndef f(name): return getattr(only, name)\n",
        "asks_one.py": "import only\ndef f(): return only.f()\n",
        "asks_above.py": "import only.two\ndef f(): return only.f(only.two)\n",
        "looks_up.py": "from table import f\n",
        "for_types.py": "import typing\nif typing.TYPE_CHECKING:\n    import only\nelse:\n    import heapq\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert modules_behind([("asks", "A")]) == {"asks", "only.two", "bisect"}
    assert modules_behind([("asks_all", "f")]) == {
        "asks_all", "only", "only.one", "only.two", "fractions", "bisect",
    }  # fmt: skip
    assert modules_behind([("asks_one", "f")]) == {"asks_one", "only.one", "fractions"}
    assert modules_behind([("asks_above", "f")]) == {"asks_above", "only.one", "only.two", "fractions", "bisect"}
    assert modules_behind([("looks_up", "")]) == {"looks_up", "table", "table.one", "table.two", "calendar"}
    assert modules_behind([("for_types", "")]) == {"for_types", "typing", "heapq"}


def test_all_statements_that_make_a_name_are_followed(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(f"{name.upper()} = [1]\n")
    (tmp_path / "study.py").write_text(
        "from . import first, second\nSTEPS = first.FIRST\nSTEPS += second.SECOND\ndef cell(x): return [x, STEPS]\n"
    )
    module = load_program(tmp_path / "study.py").__name__
    try:
        found = modules_behind([(module, "cell")])
    finally:
        del LOADED[module], SOURCES[module]
    assert {f"{module}.first", f"{module}.second"} <= found
