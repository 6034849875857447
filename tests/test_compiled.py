"""Functions that numba compiles: when, together with what, and where they are kept."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numba
import pytest

from simstudy.compiled import compiled

LOOPS = """
from simstudy.compiled import compiled

@compiled
def twice(x):
    return 2 * x

@compiled(inline=True)
def one_more(x):
    return x + 1

@compiled
def total(n):
    \"\"\"A sum.\"\"\"
    found = 0
    for k in range(n):
        found += one_more(twice(k))
    return found
"""


@pytest.fixture
def loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module in a folder that nothing can be kept in, as an installation may be."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "__pycache__").touch()
    path = tmp_path / "installed" / "loops.py"
    path.write_text(LOOPS, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("loops", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kept(folder: Path) -> set[str]:
    return {path.name.split("-")[0] for path in folder.rglob("*.nbc")}


def test_what_an_installation_cannot_keep_is_in_the_users_folder(
    loops: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert (loops.total.__name__, loops.total.__doc__) == ("total", "A sum.")
    assert not kept(tmp_path), "nothing is compiled before it is called"
    assert loops.total(10) == sum(2 * k + 1 for k in range(10))
    assert kept(tmp_path / "cache") == {"loops.total", "loops.twice"}


def test_without_any_folder_each_process_compiles(loops: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "installed" / "__pycache__"))
    assert loops.total(10) == 100
    assert not kept(tmp_path)


def test_errors_of_numba_are_not_taken_for_a_missing_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: Any) -> Any:
        raise RuntimeError("something else")

    monkeypatch.setattr(numba, "njit", broken)
    with pytest.raises(RuntimeError, match="something else"):
        compiled(lambda x: x)(1)
