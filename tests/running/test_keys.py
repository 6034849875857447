"""When a result is found again: what changes a key, and what does not."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from simstudy.outputs import Outputs
from simstudy.running import keys
from simstudy.running.keys import RULE, CellKeys, code_of, declared_version, is_lasting
from simstudy.running.program_files import LOADED, load_program


def add(a: int, b: int = 2) -> int:
    return a + b


@declared_version(2)
def newer(a: int) -> int:
    return a


def key(*arguments: Any, function: Any = add, code: dict[str, str] | None = None) -> str:
    return CellKeys(code).of(function, arguments)


def test_arguments_count_by_value() -> None:
    scores = np.arange(6.0).reshape(2, 3)
    same = ["m", 1, 0.5, None, {"b": 1, "a": scores}, (True,), {3, 1}, LogisticRegression(C=2.0)]
    again = ["m", 1, 0.5, None, {"b": 1, "a": scores.copy()}, (True,), {1, 3}, LogisticRegression(C=2.0)]
    assert key(*same) == key(*again)
    # The order of a dictionary counts, too: a result may depend on it.
    for k, other in enumerate(["n", 2, 0.25, 0, {"a": scores, "b": 1}, (False,), {1}, LogisticRegression(C=3.0)]):
        assert key(*same) != key(*[*same[:k], other, *same[k + 1 :]]), other
    assert key(1, 2) != key(2, 1)
    assert key(np.arange(3)) != key(np.arange(3.0)) != key(np.arange(3.0)[:, None])


def test_outputs_count_by_their_content() -> None:
    """How a table came about changes how pandas holds it, and not what it says."""
    outputs = Outputs.from_scores({"a": [1, 0, 1], "b": [0, 0, 1]}, "accuracy")
    taken = outputs.take(np.array([0, 1, 2]))
    assert key(outputs) == key(taken)
    assert key(outputs) != key(outputs.select(["b", "a"]))


def test_tables_count_by_their_values_and_not_by_how_pandas_holds_them() -> None:
    table = pd.DataFrame({"system": ["a", "b"], "score": [0.5, 0.25]})
    apart = pd.DataFrame({"system": ["a", "b"]}).assign(score=[0.5, 0.25])
    assert key(table) == key(apart) == key(table.copy())
    assert len({key(table), key(table[::-1]), key(table.rename(columns={"score": "s"})), key(table.astype(str))}) == 4


def test_an_argument_that_changes_between_calls_changes_the_key() -> None:
    keys_of_study, growing = CellKeys(), [1]
    before = keys_of_study.of(add, (growing,))
    growing.append(2)
    assert keys_of_study.of(add, (growing,)) != before


def twice(function: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(function)
    def called(x: int) -> int:
        return 2 * function(x)

    return called


def power(n: int) -> Callable[[int], int]:
    def raised(x: int) -> int:
        return x**n if n else raised(x)

    return raised


def scaled(factor: int, offset: int) -> Callable[[int], int]:
    return lambda x, by=factor, *, more=offset: by * x + more


def test_functions_that_share_a_name_are_told_apart_by_what_they_hold() -> None:
    functions = [twice(power(2)), twice(power(3)), power(2), power(3), scaled(2, 0), scaled(3, 0), scaled(2, 1)]
    assert len({key(function) for function in functions}) == 7
    assert key(twice(power(2))) == key(twice(power(2)))


def test_the_function_its_version_the_studys_code_and_the_libraries_count(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {key(1), key(1, function=newer), key(1, code={"study.py": "1"}), key(1, code={"study.py": "2"})}
    assert len(known) == 4
    assert key(1, code={"study.py": "1", "page.py": "1", "drawing.py": "2"}) == key(1, code={"study.py": "1"})
    before = key(1, function=newer)
    monkeypatch.setattr(newer, "version", 3)
    assert key(1, function=newer) != before
    before = key(1)
    monkeypatch.setattr(keys, "RESULTS_VERSION", keys.RESULTS_VERSION + 1)
    assert key(1) != before
    for library in keys.LIBRARIES:
        before = key(1)
        assert library in RULE
        monkeypatch.setattr(keys, "versions", lambda library=library: {library: "0"})
        assert key(1) != before


def test_what_a_partial_holds_counts_but_for_threads() -> None:
    one, other = functools.partial(add, 1), functools.partial(add, 2)
    assert key(function=one) == key(1) != key(function=other)
    assert key(1, function=functools.partial(add, n_threads=4)) == key(1)
    assert key(1, function=functools.partial(add, b=4)) != key(1)


def test_keys_are_the_same_in_every_process(tmp_path: Path) -> None:
    """Dictionaries and sets whose members cannot be ordered too, whatever the seed of Python's own hashes."""
    program = (
        "import numpy as np; from simstudy.metrics import METRICS; from simstudy.running.keys import CellKeys; "
        "from tests.running.test_keys import add\n"
        "metrics = {METRICS[name]: name for name in ('f1', 'accuracy', 'bleu')}\n"
        "parts = metrics, {('a', None), ('a', 1)}, frozenset({'x', 'y', 'z'})\n"
        "print(CellKeys().of(add, (parts, np.arange(5))))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


PROGRAM = """
import numpy as np
class Settings:
    pass
def run(n):
    return n
def scaled(factor):
    return lambda x: factor * x
plain, double, triple, negative = lambda x: x, scaled(2), scaled(3), lambda x: -x
"""


def test_what_a_program_defines_counts_by_name_wherever_the_program_lies(tmp_path: Path) -> None:
    """A lambda is known by its place and by what it holds; a change of the file is left to the code of the study."""
    modules = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.py").write_text(PROGRAM)
        modules.append(load_program(tmp_path / name / "study.py"))
    here, there = modules
    for name in ("run", "plain", "double"):
        assert key(getattr(here, name)) == key(getattr(there, name)), name
        assert is_lasting(key(1, function=getattr(here, name)))
    assert key(here.Settings()) == key(there.Settings())
    assert len({key(function) for function in (here.plain, here.double, here.triple, here.negative)}) == 4
    assert here.__name__ in LOADED


def test_what_was_typed_at_a_prompt_is_computed_anew() -> None:
    program = (
        "from simstudy.running.keys import CellKeys, is_lasting\n"
        "def typed(x): return x\n"
        "class Typed: pass\n"
        "keys = CellKeys()\n"
        "for function, arguments in ((typed, (1,)), (max, (Typed(),)), (max, (typed,)), (max, (lambda x: x,))):\n"
        "    key = keys.of(function, arguments)\n"
        "    assert not is_lasting(key) and key != keys.of(function, arguments), arguments\n"
        "assert is_lasting(keys.of(max, (1, 2)))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_code_of_a_study_is_its_python_files_and_its_learners(tmp_path: Path) -> None:
    study, learners = tmp_path / "mine", tmp_path / "parsers"
    (learners / "deep").mkdir(parents=True)
    study.mkdir()
    for path in (study / "study.py", study / "page.py", study / "data.csv", learners / "deep" / "one.py"):
        path.write_text("1")
    code = code_of(study, learners)
    assert sorted(code) == ["page.py", "parsers/", "study.py"]
    (learners / "deep" / "one.py").write_text("2")
    assert [name for name, digest in code_of(study, learners).items() if code[name] != digest] == ["parsers/"]


def test_the_documentation_has_the_rule() -> None:
    page = Path(__file__).parents[2] / "docs" / "reliability.md"
    assert RULE in " ".join(page.read_text(encoding="utf-8").split())
