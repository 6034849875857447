"""Studies that are programs: when study.py is executed and when not, and what is said of a bad one."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.running.keys import Cell
from simstudy.running.parallel import run_cells
from simstudy.running.program_files import ProgramError
from simstudy.studies import StudyError, load_study
from tests.studies.test_comparing import Counting

PROGRAM = """
from pathlib import Path
import pandas as pd
from simstudy.pages.sections import Section, Table
from simstudy.studies import Cell, Findings, Shown, Study

(Path(__file__).parent / "executed").touch()

class Settings(Study):
    numbers: list[int]

def run(study, context):
    cells = [Cell(str(n), (study.only("seed"), n)) for n in study.numbers]
    table = pd.DataFrame({"n": study.numbers, "square": context.run("squares", square, cells)})
    return Findings(tables={"squares": table})

def show(study, tables):
    sections = [Section("Squares", "Of numbers.", table=Table(tables["squares"], {"n²": "{square}"}))]
    return Shown(sections=sections, closing="No more.")

def square(study, n):
    return times(n, n) + study.seed

def times(a, b):
    return a * b
"""
KEYS = 'kind = "program"\ntitle = "T"\nquestion = "Q?"\nnumbers = [2, 3, 4]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "study.toml").write_text(KEYS)
    (folder / "study.py").write_text(PROGRAM)
    return folder


@pytest.fixture(scope="module")
def worker() -> Iterator[Executor]:
    """A worker process that has to import `simstudy.studies` once."""
    with ProcessPoolExecutor(1, get_context("spawn")) as worker:
        yield worker


def test_a_folder_that_is_named_is_run_and_its_cells_are_found_again(folder: Path, worker: Executor) -> None:
    """Also in worker processes, which get functions, settings and what the functions call."""
    out = folder.parent / "out"
    results = ss.run_study(folder, out=out, n_jobs=1, seed=5)
    assert results.tables["squares"]["square"].tolist() == [9, 14, 21]
    page = (out / "README.md").read_text(encoding="utf-8")
    assert "| n² |\n| --- |\n| 9 |" in page
    assert "Made by `simstudy run ../mine --out . --seed 5` in this folder" in page
    cells = {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.npz")}
    ss.run_study(folder, out=out, n_jobs=2, seed=5)
    assert {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.npz")} == cells
    (folder / "study.py").write_text(PROGRAM.replace("a * b", "a * b * b"))
    changed = ss.run_study(folder, out=out, executor=worker, seed=5)
    assert changed.tables["squares"]["square"].tolist() == [13, 32, 69], "cells of another program are not found"


def test_an_executor_that_is_given_computes_the_cells(folder: Path) -> None:
    with Counting(1) as executor:
        ss.run_study(folder, out=folder.parent / "out", executor=executor)
    assert executor.asked == 3


PARTS = {
    "study": """
import pandas as pd
from simstudy.studies import Findings, Shown
from .page import sections
from .work import Settings, square, cells

def run(study, context):
    table = pd.DataFrame({"square": context.run("squares", square, cells(study))})
    return Findings(tables={"squares": table})

def show(study, tables):
    return Shown(sections=sections(tables["squares"]), closing="No more.")
""",
    "page": """
from simstudy.pages.sections import Section, Table
def sections(table):
    return [Section("Squares", "Of numbers.", table=Table(table, {"n²": "{square}"}))]
""",
    "work": """
from simstudy.studies import Cell, Study
from .factor import FACTOR
class Settings(Study):
    numbers: list[int]
def cells(study):
    return [Cell(str(n), (n,)) for n in study.numbers]
def square(n):
    return FACTOR * n * n
""",
    "factor": "FACTOR = 1\n",
}


def test_modules_beside_the_program_are_its_parts_and_all_but_its_page_count(folder: Path, worker: Executor) -> None:
    """Other words on the page compute nothing again; another factor does, two imports away, also for workers."""

    def squares(executor: Executor | None = None, **changed: str) -> list[int]:
        for name, source in {**PARTS, **changed}.items():
            (folder / f"{name}.py").write_text(source)
        found = ss.run_study(folder, out=out, n_jobs=1, executor=executor).tables["squares"]["square"].tolist()
        return [len(list((out / "cells").glob("*.npz"))), *found]

    out = folder.parent / "out"
    assert squares() == [3, 4, 9, 16]
    assert squares(page=PARTS["page"].replace("Of numbers", "Other words")) == [3, 4, 9, 16]
    assert "Other words" in (out / "README.md").read_text(encoding="utf-8")
    assert squares(worker, factor="FACTOR = 2") == [6, 8, 18, 32]
    assert squares(work=PARTS["work"].replace("n * n", "n")) == [9, 2, 3, 4]
    assert squares(study=PARTS["study"].replace("No more", "More")) == [12, 4, 9, 16], "its words count too"


def test_a_program_that_is_edited_after_it_was_loaded_is_known_by_what_it_was(folder: Path) -> None:
    out = folder.parent / "out"
    study = load_study(folder)
    (folder / "study.py").write_text(PROGRAM.replace("a * b", "a * b * b"))
    assert ss.run_study(study, out=out, n_jobs=1).tables["squares"]["square"].tolist() == [4, 9, 16]
    assert ss.run_study(folder, out=out, n_jobs=1).tables["squares"]["square"].tolist() == [8, 27, 64]


_slow = partial(pytest.param, marks=pytest.mark.slow)
_ROWS = 'Table(tables["squares"], {"n²": "{square}"})'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("return Findings(", "Findings(", ": TypeError: run must return simstudy.studies.Findings, not NoneType"),
        ("study, context", "", "study.py must define run(settings, context), not run()"),
        (_ROWS, _ROWS.replace("{square}", "{sqare}"), "'{sqare}': there is no column 'sqare' (did you mean 'square'?)"),
        _slow(_ROWS, _ROWS.replace("{square", "{square:q"), "study.py: ValueError: template '{square:q}', column 'squ"),
        _slow(_ROWS, _ROWS.replace("square}", "square"), "study.py: ValueError: template '{square': "),
        ("table = pd", "table = 1 / 0; pd", "study.py, line 14: ZeroDivisionError: division by zero"),
        ("table = pd", "pd.concat([]); table = pd", "study.py, line 14: ValueError: No objects to concatenate"),
        ("table = pd", "raise SystemExit(0); table = pd", "study.py, line 14: SystemExit: 0"),
        ("table = pd", "__import__('simstudy').comparisons.certainty(1, 2, 7); table = pd",
         "line 14: InputError: alpha must lie"),
        _slow("a * b", "a * b if a > 2 else __import__('os')._exit(0)",
              "its process died 3 times: perhaps fewer jobs leave it enough memory; tracebacks in "),
        ("a * b", "a / 0", "(2, 3, 4), the first with ZeroDivisionError: division by zero; tracebacks in "),
    ],
)  # fmt: skip
def test_a_program_that_fails_is_told_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, message: str
) -> None:
    """The file, the line where there is one, and what was raised: it is the user's program, and no bug of simstudy."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert old in PROGRAM
    (folder / "study.py").write_text(PROGRAM.replace(old, new, 1))
    monkeypatch.chdir(folder.parent)
    # One job is this process, which has to live.
    n_jobs = "2" if "_exit" in new else "1"
    result = CliRunner().invoke(app, ["run", folder.name, "--out", str(tmp_path / "out"), "--jobs", n_jobs])
    # A log may have a line of progress before it.
    line = [line for line in result.stderr.splitlines() if line.startswith("simstudy: ")][-1]
    assert message in line
    # The random name of a file may have any letters in it.
    assert "bug" not in re.sub(r"simstudy-traceback-\w+", "", result.stderr)
    assert "Traceback" not in result.stderr
    assert result.exit_code == (1 if "tracebacks in" in message else 2)
    kept = list(tmp_path.glob("simstudy-traceback-*.txt"))
    at_run_time = result.exit_code == 2 and "must define" not in message
    assert [str(path) in line for path in kept] == [True] * at_run_time
    assert not (tmp_path / "out" / "README.md").exists()


DATA = 'title = "T"\nquestion = "Q?"\ntask = "digits"\n[home]\ntest_set = "test"\nsizes = [100]\n'


@pytest.mark.parametrize(
    ("toml", "name", "message"),
    [
        (KEYS, "study.toml", "study.toml is of a program: name its folder, .*mine, to run the study.py"),
        ("kind = ", "", "is not TOML"),
        (DATA, "", None),
    ],
)
def test_a_program_is_not_executed_by_its_toml_alone(folder: Path, toml: str, name: str, message: str | None) -> None:
    """Nor for one that is no TOML, nor for a study that is data."""
    (folder / "study.toml").write_text(toml)
    if message is None:
        assert load_study(folder / name).kind == "resampling"
    else:
        with pytest.raises(StudyError, match=message):
            load_study(folder / name)
    assert not (folder / "executed").exists()


def test_a_study_in_the_folder_of_data_or_of_results_is_not_looked_at(folder: Path) -> None:
    """Nor is a study.py beside files of data that a study names."""
    data = folder.parent / "data"
    data.mkdir()
    rows = "".join(f"{system},{item},{item % 3 > k}\n" for k, system in enumerate("ab") for item in range(40))
    (data / "scores.csv").write_text("system,item,score\n" + rows)
    out = folder.parent / "out"
    out.mkdir()
    for place in (data, folder):
        (place / "study.py").write_text(PROGRAM)
    (folder / "study.toml").write_text(
        'kind = "natural"\ntitle = "T"\nquestion = "Q?"\n[[test_sets]]\nname = "exam"\nmetric = "accuracy"\n'
        'paths = ["scores.csv"]\nby = []\n'
    )
    ss.run_study(folder, out=out, n_jobs=1, data_dir=data)
    assert not [place for place in (data, folder, out) if (place / "executed").exists()]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (None, "has no study.py, which kind 'program' needs"),
        ("1 / 0", "study.py, line 1: ZeroDivisionError: division by zero"),
        ("def run(", "study.py, line 1: '(' was never closed"),
        ("from .page import x", "study.py, line 1: there is no page.py beside it"),
        ("import nothing_of_this_name", "study.py, line 1: ModuleNotFoundError: "),
        ("def run(): ...", "study.py must define Settings, a subclass of simstudy.studies.Study, and a function run"),
        (PROGRAM.replace("def run", "def ran"), "study.py must define Settings, "),
        (PROGRAM.replace("(Study)", ""), "study.py must define Settings, "),
        (PROGRAM.replace("numbers:", "number:"),
         "key 'number' is missing; unknown key 'numbers' (did you mean 'number'?)"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_program_is_one_line(folder: Path, program: str | None, message: str) -> None:
    (folder / "study.py").unlink() if program is None else (folder / "study.py").write_text(program)
    with pytest.raises(StudyError) as error:
        load_study(folder)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_program_is_found_from_another_working_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, worker: Executor
) -> None:
    """Workers load programs by their whole paths."""
    monkeypatch.chdir(folder.parent)
    study = load_study(folder.name)
    monkeypatch.chdir(tmp_path)
    assert len(ss.run_study(study, out=tmp_path / "out", executor=worker).tables) > 0


def test_workers_load_no_program_that_their_calls_do_not_need(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One whose folder is gone fails no other cells, and one that is there is not executed."""
    shutil.copytree(folder, tmp_path / "gone")
    monkeypatch.chdir(tmp_path)
    for name in ("gone", folder.name):
        load_study(name)
    shutil.rmtree(tmp_path / "gone")
    (folder / "executed").unlink()
    monkeypatch.chdir(folder)
    cells = [Cell(f"{n}", (n,)) for n in (1, 4)]
    with ProcessPoolExecutor(1, get_context("spawn")) as own:
        assert run_cells(math.sqrt, cells, executor=own) == [1, 2]
    assert not (folder / "executed").exists()


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("None if n == 3 else n", "cell '3' of 'squares' returned nothing (is a return missing?)"),
        ("pd.DataFrame({'n': [n]}) if n != 3 else 9", "cell '3' of 'squares' returned 9, others a table"),
    ],
)
def test_a_cell_that_returns_nothing_or_no_table_is_named(folder: Path, returned: str, told: str) -> None:
    (folder / "study.py").write_text(PROGRAM.replace("return times(n, n) + study.seed", f"return {returned}"))
    with pytest.raises(ProgramError, match=rf"study.py, line \d+: TypeError: {re.escape(told)}$"):
        ss.run_study(folder, out=folder.parent / "out", n_jobs=1)
