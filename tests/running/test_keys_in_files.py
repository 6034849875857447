"""The key of a cell whose function is in a user's files, or in a study that is a program."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from simstudy.running.fingerprints import describe
from simstudy.running.program_files import LOADED, SOURCES, load_program
from simstudy.running.provenance import definition_of, program_of
from tests.running.sources import changed

# A user's modules: the function is in the first.
FILES = {
    "mine": '''"""What this is."""
from __future__ import annotations
import os
import beside
from typing import TYPE_CHECKING
from fractions import Fraction as Number
from deep import depth
if TYPE_CHECKING:
    import for_types
LEVEL = 0.05
class Model:
    """A model."""
    size: int = 3
    """Its size."""
    def predict(self, x): return x + self.size
def f(x, score=max, *, k=2):
    """What it does."""
    from late import late
    if k < 1:
        raise ValueError(f"k must be positive, not {k}")
    return [beside.g(x), score(x), k, Model(), LEVEL, os.sep, Number(1), late, {"a", "b", "c"}]
''',
    "beside": "from deep import depth\ndef g(x): return depth\n",
    "deep": "depth = 1\n",
    "late": "late = 1\n",
    "for_types": "some = 1\n",
    "other": "depth = 3\n",
}

MATTERS_IN_FILES = {
    "default": ("mine", "score=max", "score=min"),
    "keyword default": ("mine", "k=2", "k=3"),
    "code": ("mine", "x + self.size", "x - self.size"),
    "constant": ("mine", "LEVEL = 0.05", "LEVEL = 0.01"),
    "annotation, which dataclasses read": ("mine", "size: int", "size: float"),
    "constant set": ("mine", '"b", "c"', '"b", "d"'),
    "source of an import": ("mine", "from deep", "from other"),
    "imported module": ("beside", "return depth", "return -depth"),
    "module that this one imports": ("deep", "depth = 1", "depth = 2"),
    "module that is imported late": ("late", "late = 1", "late = 2"),
    "kind of an error": ("mine", "ValueError", "KeyError"),
    "when there is an error": ("mine", "k < 1", "k < 2"),
}

CANNOT_MATTER_IN_FILES = {
    "docstring of a module": ("mine", '"""What this is."""', '"""Other words."""'),
    "no docstring of a module": ("mine", '"""What this is."""', ""),
    "docstring of a class": ("mine", '"""A model."""', '"""Other words."""'),
    "docstring of a field": ("mine", '"""Its size."""', ""),
    "docstring of a function": ("mine", '"""What it does."""', '"""Other words."""'),
    "docstring of an imported module": ("beside", "from", "'''What it is.'''\nfrom"),
    "message of an error": ("mine", 'f"k must be positive, not {k}"', '"no such k"'),
    "comment": ("mine", "LEVEL = 0.05", "# As usual.\nLEVEL = 0.05"),
    "blank lines": ("mine", "LEVEL = 0.05", "\n\n\nLEVEL = 0.05\n\n"),
    "formatting": ("mine", "[beside.g(x), score(x)", "[\n  (beside . g( x )),\n  score(x)"),
    "order of imports": ("mine", "import os\nimport beside\n", "import beside\nimport os\n"),
    "order of imports of two kinds": (
        "mine",
        "import os\nimport beside\nfrom typing import TYPE_CHECKING\n",
        "from typing import TYPE_CHECKING\nimport beside, os\n",
    ),
    "module imported for types only": ("mine", "import for_types", "import other\n    import for_types"),
    "no module imported for types only": ("mine", "if TYPE_CHECKING:\n    import for_types\n", ""),
    "nothing is for types": (
        "mine",
        "from typing import TYPE_CHECKING\nfrom fractions import Fraction as Number\nfrom deep import depth\n"
        "if TYPE_CHECKING:\n    import for_types\n",
        "from fractions import Fraction as Number\nfrom deep import depth\n",
    ),
    "source of what is imported for types": ("for_types", "some = 1", "some = 2"),
    "another file": ("other", "depth = 3", "depth = 4"),
}


@pytest.fixture
def key_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, str]], str]]:
    monkeypatch.syspath_prepend(tmp_path)

    def forget() -> None:
        for name in FILES:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()

    def key(files: dict[str, str]) -> str:
        for name, source in files.items():
            (tmp_path / f"{name}.py").write_text(source)
        forget()
        return describe(program_of(importlib.import_module("mine").f))

    yield key
    forget()


@pytest.mark.parametrize("change", MATTERS_IN_FILES.values(), ids=MATTERS_IN_FILES)
def test_what_matters_in_files(change: tuple[str, str, str], key_in_files: Callable[[dict[str, str]], str]) -> None:
    file, *texts = change
    assert key_in_files({**FILES, file: changed(FILES[file], (texts[0], texts[1]))}) != key_in_files(FILES)


@pytest.mark.parametrize("change", CANNOT_MATTER_IN_FILES.values(), ids=CANNOT_MATTER_IN_FILES)
def test_what_cannot_matter_in_files(
    change: tuple[str, str, str], key_in_files: Callable[[dict[str, str]], str]
) -> None:
    file, *texts = change
    assert key_in_files({**FILES, file: changed(FILES[file], (texts[0], texts[1]))}) == key_in_files(FILES)


@pytest.mark.parametrize(
    "imports", [("import deep", "import other as deep"), ("from deep import *", "from other import depth")]
)
def test_the_order_of_imports_of_one_name_matters(
    imports: tuple[str, str], key_in_files: Callable[[dict[str, str]], str]
) -> None:
    one, other = ({**FILES, "mine": "\n".join([FILES["mine"], *lines])} for lines in (imports, imports[::-1]))
    assert key_in_files(one) != key_in_files(other)


def test_docstrings_of_a_module_that_reads_them_matter(key_in_files: Callable[[dict[str, str]], str]) -> None:
    mine = FILES["mine"] + "ABOUT = __doc__ + f.__doc__\n"
    before = key_in_files({**FILES, "mine": mine})
    for words in ("What this is.", "What it does."):
        assert key_in_files({**FILES, "mine": changed(mine, (words, "Other words."))}) != before


def test_a_source_that_is_too_deep_to_be_read_is_known_by_its_text(
    key_in_files: Callable[[dict[str, str]], str],
) -> None:
    deep = f"depth = {'+'.join('1' * 1500)}\n"
    assert key_in_files({**FILES, "deep": deep}) != key_in_files({**FILES, "deep": deep.replace("+1\n", "+2\n")})


# A study that is a program: what its cells execute is in study.py and in the modules that the function needs.
STUDY = {
    "study": '"""A study."""\nfrom . import page\nfrom .numbers import base\ndef cell(k): return base + k\n',
    "numbers": "base = 1\n",
    "page": 'TITLE = "What we found"\n',
}


@pytest.mark.parametrize(
    ("file", "old", "new", "matters"),
    [
        ("study", "base + k", "base - k", True),
        ("study", "A study.", "Other words.", False),
        ("numbers", "1", "2", True),
        ("numbers", "1", "1  # as usual", False),
        ("page", "What we found", "Other words", False),
        ("page", "TITLE", "import textwrap\nTITLE", False),
    ],
)
def test_what_matters_in_a_study(tmp_path: Path, file: str, old: str, new: str, matters: bool) -> None:
    """Wherever it lies: the second is in another folder."""

    def key(folder: Path, sources: dict[str, str]) -> str:
        folder.mkdir()
        for name, source in sources.items():
            (folder / f"{name}.py").write_text(source)
        module = load_program(folder / "study.py")
        try:
            # What was loaded is what counts, whatever is in the files now.
            (folder / "numbers.py").write_text("base = 77\n")
            return describe(program_of(module.cell))
        finally:
            name = module.__name__
            del LOADED[name], SOURCES[name]
            for each in [each for each in sys.modules if each.partition(".")[0] == name]:
                del sys.modules[each]

    edited = {**STUDY, file: changed(STUDY[file], (old, new))}
    assert (key(tmp_path / "one", STUDY) != key(tmp_path / "two", edited)) == matters


def test_functions_of_one_file_have_keys_of_their_own(key_in_files: Callable[[dict[str, str]], str]) -> None:
    """Whatever happens in the module after it was imported."""
    key_in_files({**FILES, "mine": "def f(): pass\ndef g(): pass\nlambdas = [lambda: calls, lambda: 2]\ncalls = 0\n"})
    mine = sys.modules["mine"]
    programs = [program_of(each) for each in (mine.f, mine.g, *mine.lambdas)]
    assert len(set(map(describe, programs))) == 4
    mine.calls += 1
    assert [program_of(each) for each in (mine.f, mine.g, *mine.lambdas)] == programs
    assert all("mine" in program for program in programs)
    assert program_of(mine.f, mine.g) == program_of(mine.g, mine.f)


def test_what_functions_are_bound_to_matters(key_in_files: Callable[[dict[str, str]], str]) -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, x: float) -> float:
            return self.by * x

        def method(self, x: float) -> float:
            return self.by * x

    key_in_files(FILES)
    f = sys.modules["mine"].f
    first, second = Scale(1), Scale(2)
    for one, other in [
        (functools.partial(f, 1), functools.partial(f, 2)),
        (functools.partial(f, k=1), functools.partial(f, k=2)),
        (first, second),
        (first.method, second.method),
        (functools.wraps(f)(Scale(1)), functools.wraps(f)(Scale(2))),
        (FunctionTransformer(f), FunctionTransformer(max)),
        (make_pipeline(FunctionTransformer(f)), make_pipeline(FunctionTransformer(lambda x: f(x)))),
        ({"f": [f]}, {"f": [max]}),
        (np.add, np.subtract),
        ("a".join, "b".join),
    ]:
        assert definition_of(one) != definition_of(other)
        assert program_of(one) != program_of(other)
    assert {"mine", "scikit-learn"} <= set(program_of(make_pipeline(FunctionTransformer(lambda x: f(x)))))
