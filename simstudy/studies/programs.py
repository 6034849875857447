"""Studies that are programs: a study.py beside the study.toml, which says what the keys are and does the work.

A program is only ever loaded from the package's own experiments and from a folder that the user names: running one's
own folder with a study.py runs one's own program. Nothing that data or results name is looked at for programs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from inspect import signature
from pathlib import Path
from typing import Any

from simstudy.files.datasets import DataError
from simstudy.running import program_files
from simstudy.running.runner import CellsFailed
from simstudy.studies.context import Findings, RunContext, Unfinished
from simstudy.studies.definition import Study, StudyError

#: The value of `kind` in the study.toml of a program.
PROGRAM = "program"

Run = Callable[[Any, RunContext], Findings]

# The settings of each loaded program -> what runs it.
_RUNS: dict[type[Study], Run] = {}

# What says by itself what is wrong: a definition, data, cells, memory, a disk.
_TOLD = (StudyError, DataError, CellsFailed, Unfinished, MemoryError, OSError)


def load_program(folder: Path) -> type[Study]:
    """Load a folder's study.py, and return its `Settings`.

    It defines `Settings`, a subclass of `simstudy.studies.Study` whose fields are the keys of study.toml, and
    `run(settings, context)`, which returns `simstudy.studies.Findings`. It may import modules beside it
    (``from .page import sections``). Functions that it gives to `RunContext.run` work in worker processes too; their
    cells are known by the source of what they depend on (`simstudy.running.dependencies`), which a page beside them
    is not.

    Raises
    ------
    StudyError
        Where there is no such file, or it fails, or lacks one of the two.
    """
    path = folder / "study.py"
    if not path.is_file():
        raise StudyError(f"{folder} has no study.py, which kind '{PROGRAM}' needs")
    try:
        module = program_files.load_program(path)
    except (Exception, SystemExit) as error:
        raise StudyError(program_files.told(error, path)) from error
    settings, run = getattr(module, "Settings", None), getattr(module, "run", None)
    if not (isinstance(settings, type) and issubclass(settings, Study) and callable(run)):
        raise StudyError(f"{path} must define Settings, a subclass of simstudy.studies.Study, and a function run")
    try:
        signature(run).bind(None, None)
    except TypeError:
        raise StudyError(f"{path} must define run(settings, context), not run{signature(run)}") from None
    settings.folder = folder
    _RUNS[settings] = run
    return settings


def run_of(settings: Study) -> Run:
    """What runs a study that is a program."""

    def run(study: Study, context: RunContext) -> Findings:
        found = _RUNS[type(settings)](study, context)
        if not isinstance(found, Findings):
            raise TypeError(f"run must return simstudy.studies.Findings, not {type(found).__name__}")
        return found

    return run


def blaming_program(settings: Study) -> AbstractContextManager[None]:
    """Tell what is raised inside as an error of the study's study.py (`simstudy.running.program_files.blaming`)."""
    assert settings.folder is not None
    return program_files.blaming(settings.folder / "study.py", but=_TOLD)
