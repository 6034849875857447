"""The key of a cell whose function was typed at a prompt: whatever enters a result changes it, nothing else does."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scipy import stats

from simstudy.running import provenance
from simstudy.running.fingerprints import describe
from simstudy.running.provenance import program_of
from tests.running.sources import changed

# What somebody types at a prompt; each line that is changed below is there once.
PROMPT = '''
import os.path
import functools
import re
from collections import deque
from dataclasses import dataclass, field
import numpy as np
from numpy import max as largest
LEVEL = 0.05
WORDS = {"a", "b", "c"}
WEIGHTS = np.arange(3)
PAIRS = {"one": [1, 2]}
WORD = re.compile("a+")
LAST = deque([60, 61])
NOTHING = 0
def unused(): return 1
def helper(x): return deeper(x) + 1
def deeper(x): return x * 2
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n > 0 and even(n - 1)
def made(average):
    def inner(x): return average(x)
    return inner
mean = made(np.std)
half = functools.partial(pow, exp=2)
@functools.cache
def cached(x): return x + 10
class Base:
    def start(self): return 5
class Model(Base):
    """A model."""
    rate = 0.5
    def __init__(self, size=7): self.size = size
    @property
    def shown(self): return self.size + 20
    @staticmethod
    def fixed(): return 30
model = Model(size=8)
@dataclass
class Settings:
    n: int = 40
    names: list = field(default_factory=list)
def f(x, y=1, score=np.mean, /, *, k=2, test=np.any):
    """What it does."""
    import string
    values = [helper(x), even(x), mean(x), half(x), cached(x), model.shown, Settings(), LEVEL, WORDS, WEIGHTS, PAIRS]
    values += [WORD, *LAST]
    return [sum(v for v in values if v in {"d", "e", "f"}), np.min(x), largest(x), lambda z: z + 50, string.digits]
'''

MATTERS_AT_A_PROMPT = {
    "default": ("y=1", "y=9"),
    "default of another type": ("y=1", "y=True"),
    "function as default": ("score=np.mean", "score=np.median"),
    "keyword default": ("k=2", "k=3"),
    "function as keyword default": ("test=np.any", "test=np.all"),
    "where arguments may be keywords": ("/, *, k", "*, k"),
    "constant of the code": ('"e", "f"}', '"e", "g"}'),
    "function of a library": ("np.min(x)", "np.max(x)"),
    "global function of a library": ("import max as", "import min as"),
    "function in a closure": ("made(np.std)", "made(np.var)"),
    "code in a closure": ("return average(x)", "return -average(x)"),
    "partial": ("exp=2", "exp=3"),
    "another function": ("deeper(x) + 1", "deeper(x) + 2"),
    "a function that this one calls": ("x * 2", "x * 3"),
    "mutual recursion": ("n > 0 and", "n > 1 and"),
    "cached function": ("x + 10", "x + 11"),
    "inner function": ("z + 50", "z + 51"),
    "base class": ("return 5", "return 6"),
    "class attribute": ("rate = 0.5", "rate = 0.6"),
    "property": ("self.size + 20", "self.size + 21"),
    "static method": ("return 30", "return 31"),
    "state of an object": ("Model(size=8)", "Model(size=9)"),
    "default of a dataclass": ("n: int = 40", "n: int = 41"),
    "factory of a dataclass": ("default_factory=list", "default_factory=tuple"),
    "number": ("LEVEL = 0.05", "LEVEL = 0.01"),
    "set": ('"b", "c"}', '"b", "x"}'),
    "array": ("np.arange(3)", "np.arange(3.0)"),
    "regular expression": ("a+", "b+"),
    "items of an object": ("60, 61", "60, 62"),
    "dictionary of lists": ("[1, 2]", "[2, 1]"),
    "import inside": ("import string", "import numpy as string"),
}

CANNOT_MATTER_AT_A_PROMPT = {
    "position": ("import os.path", "\n\n\nimport os.path"),
    "comment": ("LEVEL = 0.05", "LEVEL = 0.05  # as usual"),
    "formatting": ("y=1, score=np.mean, /,", "y = 1,\n  score = np.mean, /, \n"),
    "docstring of a function": ('"""What it does."""', '"""Other words."""'),
    "no docstring of a function": ('"""What it does."""', ""),
    "docstring of a class": ('"""A model."""', '"""Other words."""'),
    "order of imports": ("import os.path\nimport functools", "import functools\nimport os.path"),
    "what is not used": ("def unused(): return 1", "def unused(): return 2"),
    "constant that is not used": ("NOTHING = 0", "NOTHING = 1"),
    "order of a set": ('"a", "b", "c"', '"c", "b", "a"'),
}


def key_at_a_prompt(source: str, names: dict[str, Any] | None = None) -> str:
    module = ModuleType("nowhere")
    names = vars(module) if names is None else names
    with pytest.MonkeyPatch.context() as patch:
        # Dataclasses look their module up.
        patch.setitem(sys.modules, "nowhere", module)
        exec(compile(source, "<stdin>", "exec"), names)
        return describe(program_of(names["f"]))


def key_beside_a_file(source: str, folder: Path) -> str:
    """The key among the names of a module that has a file, as of a script that a prompt follows (``python -i``)."""
    (folder / "followed.py").write_text("answer = 42\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        try:
            return key_at_a_prompt(source, vars(importlib.import_module("followed")))
        finally:
            sys.modules.pop("followed", None)


def test_modules_that_are_loaded_when_they_are_asked_do_not_stop_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            if name == "__dict__":
                monkeypatch.setitem(sys.modules, "loaded_late", ModuleType("loaded_late"))
            return super().__getattribute__(name)

    monkeypatch.setitem(sys.modules, "late", Late("late"))
    assert provenance._libraries_with("norm", stats.norm) == ["scipy.stats"]
    assert "loaded_late" in sys.modules


# An object's name and address -> the object, which so keeps its address, and the library that calls it so.
LIBRARIES: dict[tuple[str, int], tuple[Any, list[str]]] = {}


@pytest.fixture
def libraries_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object is looked for in all loaded modules once: to do so for each key takes most of its time."""

    def once(name: str, part: Any, whole: Any = provenance._libraries_with) -> list[str]:
        if (name, id(part)) not in LIBRARIES:
            LIBRARIES[name, id(part)] = (part, whole(name, part))
        return LIBRARIES[name, id(part)][1]

    monkeypatch.setattr(provenance, "_libraries_with", once)


@pytest.fixture(scope="module")
def plain_key() -> str:
    return key_at_a_prompt(PROMPT)


@pytest.fixture(scope="module")
def plain_key_beside_a_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return key_beside_a_file(PROMPT, tmp_path_factory.mktemp("plain"))


@pytest.mark.usefixtures("libraries_once")
@pytest.mark.parametrize("change", MATTERS_AT_A_PROMPT.values(), ids=MATTERS_AT_A_PROMPT)
def test_what_matters_at_a_prompt(
    change: tuple[str, str], plain_key: str, plain_key_beside_a_file: str, tmp_path: Path
) -> None:
    other = changed(PROMPT, change)
    assert key_at_a_prompt(other) != plain_key
    assert key_beside_a_file(other, tmp_path) != plain_key_beside_a_file


def test_a_key_is_the_same_another_time(plain_key: str, plain_key_beside_a_file: str, tmp_path: Path) -> None:
    assert key_at_a_prompt(PROMPT) == plain_key
    assert key_beside_a_file(PROMPT, tmp_path) == plain_key_beside_a_file


@pytest.mark.usefixtures("libraries_once")
@pytest.mark.parametrize("change", CANNOT_MATTER_AT_A_PROMPT.values(), ids=CANNOT_MATTER_AT_A_PROMPT)
def test_what_cannot_matter_at_a_prompt(change: tuple[str, str], plain_key: str) -> None:
    assert key_at_a_prompt(changed(PROMPT, change)) == plain_key


def test_a_docstring_that_is_read_matters() -> None:
    source = "def f(): return g.__doc__\ndef g():\n    'one'\n"
    assert key_at_a_prompt(source) != key_at_a_prompt(source.replace("one", "two"))


FRESH = """
from __future__ import annotations
import sys
from types import ModuleType
from simstudy.metrics.rouge import Rouge
from simstudy.running.fingerprints import describe
from simstudy.running.provenance import program_of
loaded = {name.partition(".")[0] for name in sys.modules}
program = program_of(Rouge.text_counter)
assert {"rouge-score", "nltk"} <= set(program)
new = {name.partition(".")[0] for name in sys.modules} - loaded
assert not {"rouge_score", "nltk", "sklearn", "matplotlib"} & new, new
sys.modules["nowhere"] = module = ModuleType("nowhere")
exec(compile(sys.stdin.read(), "<stdin>", "exec"), vars(module))
print(describe(program_of(module.f)))
"""


def test_a_key_is_the_same_in_every_process_and_no_library_is_imported_for_it() -> None:
    """A loader of sacrebleu's tokenizers or of rouge_score may never be called: its libraries take seconds to load."""
    # Its hashes are in another order than those of this process.
    other = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    result = subprocess.run(
        [sys.executable, "-c", FRESH], input=PROMPT, env={**os.environ, "PYTHONHASHSEED": other}, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert result.stdout.strip() == key_at_a_prompt(PROMPT), result.stderr


def test_a_key_is_the_same_after_its_parts_were_used() -> None:
    names: dict[str, Any] = {}
    source = "from scipy import stats\nimport functools\n@functools.cache\ndef g(x): return stats.norm.rvs()\n"
    exec(f"{source}class C:\n    def m(self): return g(1)\nc = C()\ndef f(): return c.m()", names)
    before = program_of(names["f"])
    names["f"]()
    assert program_of(names["f"]) == before


@pytest.mark.parametrize(
    ("source", "needed", "others"),
    [
        ("from scipy.special import expit\ndef f(x): return expit(x)", "scipy", "pandas"),
        ("def f(x):\n    import pandas\n    return pandas.Series(x)", "pandas", "simstudy.statistics.pvalues"),
        (
            "import simstudy as ss\ndef f(x): return ss.analyses.certainty(x, 10, 0.1)",
            "simstudy.statistics.pvalues",
            "simstudy",
        ),
        (
            "import simstudy as ss\ndef f(x): return ss.compare(x)",
            "simstudy.comparisons.comparing",
            "simstudy.pages.report",
        ),
    ],
)
def test_the_program_of_a_prompt_has_what_is_used_of_a_library(source: str, needed: str, others: str) -> None:
    names: dict[str, Any] = {}
    exec(source, names)
    program = program_of(names["f"])
    assert needed in program
    assert others not in program


def test_what_cannot_be_pickled_is_known_by_its_class() -> None:
    """A lock or an open file has no content: it neither fails nor makes a key of its own each time."""
    source = "import threading\nlock = threading.Lock()\ndef f(): return lock"
    assert key_at_a_prompt(source) == key_at_a_prompt(source)
    assert key_at_a_prompt(source) != key_at_a_prompt(source.replace("Lock", "RLock"))
