"""Studies that are programs: a study.py beside the study.toml, which says what the keys are and does the work.

A program is only ever loaded from the package's own experiments and from a folder that the user names: running one's
own folder with a study.py runs one's own program. Nothing that data or results name is looked at for programs.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from simstudy.program_files import load_file
from simstudy.studies.definition import Study, StudyError
from simstudy.studies.findings import Findings, RunContext

#: The value of `kind` in the study.toml of a program.
PROGRAM = "program"

Run = Callable[[Any, RunContext], Findings]

# What the study.toml of each loaded program may say -> what runs it.
_RUNS: dict[type[Study], Run] = {}


def load_program(folder: Path) -> type[Study]:
    """Load a folder's study.py.

    Parameters
    ----------
    folder
        Its study.py defines `Settings`, a subclass of `simstudy.studies.Study` whose fields are the keys of study.toml,
        and `run(settings, context)`, which returns `simstudy.studies.Findings`. Functions that it gives to
        `RunContext.run` work in worker processes too; their cells are known by the content of the whole file.

    Returns
    -------
    settings
        Its `Settings`.

    Raises
    ------
    StudyError
        Where there is no such file, or it fails, or lacks one of the two.
    """
    path = folder / "study.py"
    if not path.is_file():
        raise StudyError(f"{folder} has no study.py, which kind '{PROGRAM}' needs")
    # Called after its content: what has the same source is the same program, wherever it lies.
    name = f"study_{sha256(path.read_bytes()).hexdigest()[:16]}"
    try:
        module = load_file(name, path)
    except (Exception, SystemExit) as error:
        raise StudyError(f"{path} can not be loaded: {type(error).__name__}: {error}") from error
    settings, run = getattr(module, "Settings", None), getattr(module, "run", None)
    if not (isinstance(settings, type) and issubclass(settings, Study) and callable(run)):
        raise StudyError(f"{path} must define Settings, a subclass of simstudy.studies.Study, and a function run")
    _RUNS[settings] = run
    return settings


def run_of(settings: Study) -> Run:
    """What runs a study that is a program."""
    return _RUNS[type(settings)]
