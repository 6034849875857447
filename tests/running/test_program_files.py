"""Programs outside of packages: whose errors are whose, with their lines, and what is left of one that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from simstudy.running.program_files import LOADED, SOURCES, ProgramError, blaming, load_program

STUDY = "from .beside import fails\n\ndef run(kind):\n    fails(kind)\n"
BESIDE = (
    "import json\n\ndef fails(kind):\n    if kind is json:\n        json.loads('{')\n    raise kind('two\\n lines')\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "study.py").write_text(STUDY)
    (tmp_path / "beside.py").write_text(BESIDE)
    before = set(LOADED)
    yield tmp_path
    for name in set(LOADED) - before:
        del LOADED[name], SOURCES[name]
        for each in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[each]


def test_errors_are_told_with_the_last_line_in_the_folder_and_some_pass(folder: Path) -> None:
    path = folder / "study.py"
    run = load_program(path).run
    for kind, said in (
        (RuntimeError, f"{folder}/beside.py, line 6: RuntimeError: two lines"),
        (SystemExit, f"{folder}/beside.py, line 6: SystemExit: two lines"),
        (sys.modules["json"], f"{folder}/beside.py, line 5: JSONDecodeError: Expecting property name"),
    ):
        with pytest.raises(ProgramError) as error, blaming(path, but=(OSError,)):
            run(kind)
        assert str(error.value).startswith(said)
        assert "\n" not in str(error.value)
        assert error.value.__cause__ is not None
    for kind in (OSError, FileNotFoundError, KeyboardInterrupt):
        with pytest.raises(kind, match="two"), blaming(path, but=(OSError,)):
            run(kind)
    with pytest.raises(ProgramError, match=rf"^{path}: KeyError: 'x'$"), blaming(path):
        raise KeyError("x")


def test_a_program_is_loaded_once_and_again_where_a_file_beside_it_has_changed(folder: Path) -> None:
    first = load_program(folder / "study.py")
    assert load_program(folder / "study.py") is first
    assert LOADED[first.__name__] == str(folder / "study.py")
    assert SOURCES[first.__name__] == {"study.py": STUDY.encode(), "beside.py": BESIDE.encode()}
    (folder / "beside.py").write_text(BESIDE + "\n")
    second = load_program(folder / "study.py")
    assert second is not first
    assert second.__name__ != first.__name__


def test_nothing_is_left_of_a_program_that_fails(folder: Path) -> None:
    (folder / "study.py").write_text("from . import beside\n1 / 0\n")
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        load_program(folder / "study.py")
    assert not [name for name in set(sys.modules) - before if name.startswith("simstudy_program_")]
    assert not [path for path in LOADED.values() if path == str(folder / "study.py")]


def test_a_program_is_found_by_its_name_where_its_file_is_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOADED, "there", str(folder / "study.py"))
    monkeypatch.setitem(LOADED, "gone", str(folder / "none.py"))
    spec = find_spec("there")
    assert spec is not None
    assert (spec.origin, spec.submodule_search_locations) == (str(folder / "study.py"), [str(folder)])
    assert find_spec("gone") is None


def test_a_module_below_counts_and_one_that_is_edited_meanwhile_is_not_loaded(folder: Path) -> None:
    """In a worker, which loads it later; pages may be edited."""
    (folder / "deep").mkdir()
    (folder / "deep" / "part.py").write_text("n = 1\n")
    (folder / "study.py").write_text("from .deep.part import n\n")
    first = load_program(folder / "study.py")
    (folder / "page.py").write_text("text = 1\n")
    del sys.modules[first.__name__]
    assert find_spec(first.__name__) is not None
    (folder / "deep" / "part.py").write_text("n = 2\n")
    with pytest.raises(ImportError, match="was edited while the run works"):
        find_spec(first.__name__)
    assert load_program(folder / "study.py").n == 2
