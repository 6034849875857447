"""A result's program: whatever it depends on changes the hash, nothing else does."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from simstudy import provenance
from simstudy.engines.comparisons import compare
from simstudy.generators.resampled import train_variant
from simstudy.provenance import program_of

Write = Callable[..., ModuleType]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes modules of a user's own, and imports the first."""
    monkeypatch.syspath_prepend(tmp_path)
    names: list[str] = []

    def written(**sources: str) -> ModuleType:
        for name, source in sources.items():
            (tmp_path / f"{name}.py").write_text(source)
            names.append(name)
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(next(iter(sources)))

    yield written
    for name in names:
        sys.modules.pop(name, None)


def test_the_engine_is_in_a_comparisons_program_and_figures_are_not() -> None:
    program = program_of(compare)
    assert {"simstudy.engines.kernels", "simstudy.engines.comparisons", "simstudy.metrics.bleu"} <= set(program)
    assert {"numpy", "scipy", "numba", "pandas"} <= set(program)
    assert program["numpy"] == importlib.metadata.version("numpy")
    assert not [name for name in program if "figures" in name or "report" in name or name == "matplotlib"]


def test_training_depends_on_the_learner_and_not_on_the_engine() -> None:
    program = program_of(train_variant)
    assert {"simstudy.generators.resampled", "simstudy.tasks.base", "scikit-learn", "scipy"} <= set(program)
    assert not [name for name in program if "engines" in name]


def test_a_users_module_and_what_it_imports_are_read(write: Write) -> None:
    first = write(
        mine="import ours\nclass Model:\n    def predict(self, x): return ours.f(x)\n", ours="def f(x): return x\n"
    )
    before = program_of(first.Model())
    assert {"mine", "ours"} <= set(before)
    again = write(mine="import ours\nclass Model:\n    def predict(self, x): return ours.f(x)\n")
    assert program_of(again.Model()) == before
    changed = write(
        mine="import ours\nclass Model:\n    def predict(self, x): return ours.f(x)\n", ours="def f(x): return 2 * x\n"
    )
    assert program_of(changed.Model())["ours"] != before["ours"]
    imports = write(mine="def late():\n    from more import g\n    return g\nclass Model: pass\n", more="g = 1\n")
    assert "more" in program_of(imports.Model())


def test_functions_inside_estimators_count(write: Write) -> None:
    module = write(features="def double(x): return 2 * x\n")
    double = module.double
    for holder in (
        make_pipeline(FunctionTransformer(double)),
        functools.partial(double, 1),
        {"f": [double]},
        lambda x: double(x),
    ):
        assert "features" in program_of(holder)


def test_code_without_a_file_is_known_by_what_was_compiled() -> None:
    def typed(source: str) -> object:
        names: dict[str, object] = {"__name__": "typed_at_a_prompt"}
        sys.modules["typed_at_a_prompt"] = module = ModuleType("typed_at_a_prompt")
        exec(compile(source, "<stdin>", "exec"), names)
        vars(module).update(names)
        return names["f"]

    try:
        one, same = program_of(typed("def f(x): return x + 1")), program_of(typed("\n\ndef f(x): return x + 1"))
        other = program_of(typed("def f(x): return x + 2"))
        library = program_of(typed("import numpy as np\ndef f(x): return np.sum(x)"))
    finally:
        del sys.modules["typed_at_a_prompt"]
    assert one == same
    assert one != other
    assert "numpy" in library


def test_versions_of_libraries_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = program_of(compare)
    provenance._versions.cache_clear()
    monkeypatch.setattr(
        provenance, "version", lambda name: "99" if name == "numpy" else importlib.metadata.version(name)
    )
    after = program_of(compare)
    provenance._versions.cache_clear()
    assert {name for name in before if before[name] != after[name]} == {"numpy"}


def test_a_library_is_known_by_its_version_without_being_imported() -> None:
    """A loader of sacrebleu's tokenizers or of rouge_score may never be called: its libraries take seconds to load."""
    code = """
import sys
import simstudy.studies.comparing as comparing
from simstudy.provenance import program_of
loaded = {name.partition(".")[0] for name in sys.modules}
program = program_of(comparing.run_comparisons)
assert {"rouge-score", "nltk"} <= set(program)
new = {name.partition(".")[0] for name in sys.modules} - loaded
assert not {"rouge_score", "nltk", "sklearn", "matplotlib"} & new, new
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
