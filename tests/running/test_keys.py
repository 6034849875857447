"""The key of a cell: whatever enters a result changes it, and nothing else does."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import os
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import simstudy
from simstudy.running import provenance
from simstudy.running.cells import Cell
from simstudy.running.fingerprints import describe
from simstudy.running.program_files import LOADED, SOURCES, load_program
from simstudy.running.provenance import definition_of, program_of
from simstudy.running.runner import run_cells
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.context import RunContext
from simstudy.studies.definition import Comparison
from simstudy.training.resampling import train_variant
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared

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


def changed(source: str, change: tuple[str, str]) -> str:
    assert source.count(change[0]) == 1
    return source.replace(*change)


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


@pytest.fixture(scope="module")
def plain_key() -> str:
    return key_at_a_prompt(PROMPT)


@pytest.fixture(scope="module")
def plain_key_beside_a_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return key_beside_a_file(PROMPT, tmp_path_factory.mktemp("plain"))


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
import simstudy.comparisons.comparing as comparing
from simstudy.running.fingerprints import describe
from simstudy.running.provenance import program_of
loaded = {name.partition(".")[0] for name in sys.modules}
program = program_of(comparing.compare)
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


def test_what_cannot_be_pickled_is_known_by_its_class() -> None:
    """A lock or an open file has no content: it neither fails nor makes a key of its own each time."""
    source = "import threading\nlock = threading.Lock()\ndef f(): return lock"
    assert key_at_a_prompt(source) == key_at_a_prompt(source)
    assert key_at_a_prompt(source) != key_at_a_prompt(source.replace("Lock", "RLock"))


def test_versions_of_libraries_and_of_python_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    before = program_of(compared)
    assert before["numpy"] == importlib.metadata.version("numpy")
    with monkeypatch.context() as patch:
        provenance._versions.cache_clear()
        newer = {"numpy": "99"}
        patch.setattr(provenance, "version", lambda name: newer.get(name) or importlib.metadata.version(name))
        after = program_of(compared)
        provenance._versions.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"numpy"}
    major, minor, *rest = sys.version_info
    for version, names in (((major, minor + 1, *rest), {"python"}), ((major, minor, 99), set[str]())):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "version_info", version)
            after = program_of(compared)
        assert {name for name in before if before[name] != after[name]} == names


def test_programs_have_what_they_execute_and_no_more() -> None:
    comparing, training = set(program_of(compared)), set(program_of(train_variant))
    assert {"simstudy.engines.kernels", "simstudy.metrics.bleu", "numpy", "scipy", "numba", "pandas"} <= comparing
    assert not [name for name in comparing if "plot" in name or "report" in name or name == "matplotlib"]
    assert {"simstudy.training.resampling", "simstudy.training.base", "scikit-learn", "scipy"} <= training
    assert not [name for name in training if "engines" in name]


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.cell")}


def test_each_part_of_a_cell_changes_its_key_alone(tmp_path: Path) -> None:
    def made(typed: str = "def f(*_): return 1", one: object = 1, seed: int = 0, label: str = "a cell") -> set[str]:
        names: dict[str, Any] = {"__name__": "nowhere"}
        exec(typed, names)
        cells = [Cell(label, {"n": n, "seed": seed}, ()) for n in (one, "other")]
        before = kept(tmp_path)
        run_cells(names["f"], cells, cache=tmp_path)
        return kept(tmp_path) - before

    assert len(made()) == 2
    assert not made()
    assert not made(label="other words")
    assert len(made(one=2)) == 1
    assert len(made(seed=1)) == 2
    assert len(made("def f(*_): return 2")) == 2


def test_each_part_of_a_comparison_changes_the_keys_of_its_own_cells(tmp_path: Path) -> None:
    def made(n: int = 50, n_resamples: int = 200, seed: int = 1) -> int:
        """How many of two test sets are compared anew, of which the first changes."""
        before = kept(tmp_path)
        first = Comparison(n_resamples=n_resamples).on(correlated_accuracies([0.5, 0.6], n), seed)
        second = Comparison(n_resamples=200).on(correlated_accuracies([0.5, 0.6], 55), 1)
        run_comparisons("t", [first, second], RunContext(tmp_path, 1))
        return len(kept(tmp_path) - before)

    assert [made(), made(), made(n=60), made(n_resamples=300), made(seed=2)] == [2, 0, 1, 1, 1]


def test_fingerprints_of_outputs_tell_all_parts_apart() -> None:
    """One number, one name, one column, the metric, the order: each is another thing to compare."""
    ones = np.ones((2, 3, 3), dtype=int)
    other = ones.copy()
    other[0, 0, 0] = 0
    base = simstudy.Outputs.from_statistics(ones, "f1", ["a", "b"])
    variants = [
        base,
        simstudy.Outputs.from_statistics(other, "f1", ["a", "b"]),
        simstudy.Outputs.from_statistics(ones, "f1", ["a", "c"]),
        base.with_metric("precision"),
        base.select(["b", "a"]),
        base.head(2),
    ]
    assert len({outputs.fingerprint() for outputs in variants}) == len(variants)


MODEL = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
class Model(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        return self
    def predict(self, X):
        return RESULT
"""


def test_a_mended_estimator_is_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers at random in effect (the classes reversed), then mended: the old score does not stay."""
    monkeypatch.syspath_prepend(tmp_path)
    features, gold = load_iris(return_X_y=True)

    def scores(result: str) -> list[float]:
        (tmp_path / "models.py").write_text(MODEL.replace("RESULT", result))
        monkeypatch.delitem(sys.modules, "models", raising=False)
        importlib.invalidate_caches()
        model = importlib.import_module("models").Model()
        task = simstudy.training.Task.from_arrays(
            "iris", features[::2], gold[::2], test_sets={"test": (features[1::2], gold[1::2])}, systems={"model": model}
        )
        options = {"fractions": [1.0], "replicates": [2], "cache": tmp_path / "cells"}
        return list(simstudy.training.resample_training(task, **options)["test"].scores())

    wrong = scores("2 - self.model_.predict(X)")
    assert scores("2 - self.model_.predict(X)  # as before") == wrong
    assert len(kept(tmp_path / "cells")) == 2
    assert min(scores("self.model_.predict(X)")) > 80 > max(wrong)
    assert len(kept(tmp_path / "cells")) == 4


class Words(dict[str, int]):
    """A dictionary that is one's own."""


@pytest.mark.parametrize("kind", [OrderedDict, Words])
def test_what_a_kind_of_dictionary_holds_counts(kind: type[dict[str, int]]) -> None:
    assert definition_of(kind(a=1)) == definition_of(kind(a=1))
    assert definition_of(kind(a=1)) != definition_of(kind(a=2))
