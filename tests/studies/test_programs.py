"""Studies that are programs: when study.py is executed and when not, and what is said of a bad one."""

from __future__ import annotations

from pathlib import Path

import pytest

import simstudy as ss
from simstudy.studies import StudyError, load_study

PROGRAM = """
from pathlib import Path
import pandas as pd
from simstudy.sections import Section, Table
from simstudy.studies import Cell, Findings, Study

(Path(__file__).parent / "executed").touch()

class Settings(Study):
    numbers: list[int]

def run(study, context):
    cells = [Cell(str(n), {"n": n}, (study, n)) for n in study.numbers]
    table = pd.DataFrame({"n": study.numbers, "square": context.run("squares", square, cells)})
    return Findings({"squares": table}, [Section("Squares", "Of numbers.", table=Table(table, {"n²": "{square}"}))],
                    {}, "No more.", {})

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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_folder_that_is_named_is_run_and_its_cells_are_found_again(folder: Path, n_jobs: int) -> None:
    """Also in worker processes, which get functions, settings and what the functions call."""
    out = folder.parent / "out"
    results = ss.run_study(folder, out=out, n_jobs=n_jobs, seed=5)
    assert results.tables["squares"]["square"].tolist() == [9, 14, 21]
    assert "| n² |\n| --- |\n| 9 |" in (out / "README.md").read_text(encoding="utf-8")
    assert "Made by `simstudy run mine --seed 5`" in (out / "README.md").read_text(encoding="utf-8")
    cells = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    ss.run_study(folder, out=out, n_jobs=n_jobs, seed=5)
    assert {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()} == cells
    (folder / "study.py").write_text(PROGRAM.replace("a * b", "a * b * b"))
    changed = ss.run_study(folder, out=out, n_jobs=n_jobs, seed=5)
    assert changed.tables["squares"]["square"].tolist() == [13, 32, 69], "cells of another program are not found"


def test_a_program_is_not_executed_where_only_its_toml_is_named(folder: Path) -> None:
    with pytest.raises(StudyError, match=r"study.toml is of a program: name its folder, .*mine, to run the study.py"):
        load_study(folder / "study.toml")
    assert not (folder / "executed").exists()


def test_a_program_is_not_executed_for_a_study_that_is_data(folder: Path) -> None:
    home = '[home]\ntest_set = "test"\nsizes = [100]\n'
    (folder / "study.toml").write_text(f'title = "T"\nquestion = "Q?"\ntask = "digits"\n{home}')
    assert load_study(folder).kind == "resampling"
    assert not (folder / "executed").exists()


def test_a_program_is_not_executed_for_a_toml_that_is_none(folder: Path) -> None:
    (folder / "study.toml").write_text("kind = ")
    with pytest.raises(StudyError, match="is not TOML"):
        load_study(folder)
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
        ("1 / 0", "study.py can not be loaded: ZeroDivisionError: division by zero"),
        ("def run(", "study.py can not be loaded: SyntaxError: "),
        ("import nothing_of_this_name", "study.py can not be loaded: ModuleNotFoundError: "),
        ("def run(): ...", "study.py must define Settings, a subclass of simstudy.studies.Study, and a function run"),
        (PROGRAM.replace("def run", "def ran"), "study.py must define Settings, "),
        (PROGRAM.replace("(Study)", ""), "study.py must define Settings, "),
        (
            PROGRAM.replace("numbers:", "number:"),
            "key 'number' is missing; unknown key 'numbers' (did you mean 'number'?)",
        ),
    ],
)
def test_what_is_wrong_with_a_program_is_one_line(folder: Path, program: str | None, message: str) -> None:
    if program is None:
        (folder / "study.py").unlink()
    else:
        (folder / "study.py").write_text(program)
    with pytest.raises(StudyError) as error:
        load_study(folder)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
