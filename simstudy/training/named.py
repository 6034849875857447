"""Tasks by name: the digits of scikit-learn, and those that studies bring, each in a task.py beside its study.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from simstudy.files.datasets import DataError
from simstudy.running import program_files
from simstudy.training.base import Task
from simstudy.validation import InputError, brief, check_choice, check_path

#: What a study.toml says of a task of its own, before the name of the function in task.py that makes it.
OWN = "task.py:"

# The one task of the package itself, which needs no data.
_DIGITS = "digits"


def task_names() -> list[str]:
    """The tasks that come with the package.

    Examples
    --------
    >>> "digits" in task_names(), "dependencies" in task_names()
    (True, True)
    """
    return sorted([_DIGITS, *_of_studies()])


def task_folder(name: str) -> Path | None:
    """The folder of the shipped study that brings the task of this name; None for any other name."""
    path = _of_studies().get(name)
    return None if path is None else path.parent


def load_task(name: str, data_dir: str | Path | None = None, *, folder: str | Path | None = None) -> Task:
    """A task by name; its data comes from `data_dir`, SIMSTUDY_DATA_DIR or its public address.

    Parameters
    ----------
    name
        One of `task_names`; or "task.py:" and the name of a function in the task.py of `folder`, which is executed.
    data_dir
        What that function is given, as a Path: the folder of data files, or None, to fetch them.
    folder
        Of a study that brings its own task.

    Raises
    ------
    ValueError
        For an unknown name, where the package of one of its base systems is not installed, and where task.py fails; it
        names the line.
    simstudy.files.datasets.DataError
        Where its data cannot be had.

    Examples
    --------
    >>> sorted(load_task("digits").systems)
    ['logistic regression', 'naive Bayes', 'nearest neighbours', 'random forest']
    """
    check_path("data_dir", data_dir, or_none=True)
    make = maker(name, folder)
    with program_files.blaming(_file(name, folder), but=(DataError, OSError, MemoryError)):
        task = make(Path(data_dir) if data_dir else None)
        if not isinstance(task, Task):
            raise TypeError(f"{name.removeprefix(OWN)} must return a simstudy.training.Task, not {brief(task)}")
    return task


def maker(name: str, folder: str | Path | None = None) -> Callable[[Path | None], Task]:
    """The function that makes a task of the folder of its data; arguments and errors are those of `load_task`."""
    check_path("folder", folder, or_none=True)
    check_task("name", name, folder)
    if name == _DIGITS:
        # It needs scikit-learn: only those who train should wait for it.
        from simstudy.training.digits import digits

        return digits
    program_files.load_learners()
    path, function = _file(name, folder), name.removeprefix(OWN)
    with program_files.blaming(path):
        module = program_files.load_program(path)
    make: Callable[[Path | None], Task] | None = getattr(module, function, None)
    if not callable(make):
        raise program_files.ProgramError(f"{path} must define {function}(data_dir), as the name of the task says")
    return make


def _file(name: str, folder: str | Path | None) -> Path:
    """The task.py that makes a task."""
    return Path(folder or "") / "task.py" if name.startswith(OWN) else _of_studies().get(name, Path(__file__))


def check_task(argument: str, name: str, folder: str | Path | None) -> None:
    """Raise a ValueError unless a task has this name; that of a folder's own must have its task.py there."""
    if isinstance(name, str) and ".py" in name and not name.startswith(OWN):
        raise InputError(argument, f"must name a function of task.py, such as '{OWN}mine'", name)
    if not isinstance(name, str) or not name.startswith(OWN):
        check_choice(argument, name, task_names())
    elif folder is None:
        raise InputError(argument, f"must be one of {', '.join(task_names())} where no folder is given", name)
    elif not name.removeprefix(OWN).isidentifier():
        raise InputError(argument, f"must have the name of a function after '{OWN}'", name)
    elif not (Path(folder) / "task.py").is_file():
        raise InputError(f"{argument} '{name}' needs a task.py in {folder}, and there is none")


@cache
def _of_studies() -> dict[str, Path]:
    """The tasks that shipped studies bring: name -> task.py."""
    tasks = {}
    for study in program_files.shipped_studies().values():
        task = tomllib.loads(study.read_text(encoding="utf-8")).get("task", "")
        if task.startswith(OWN):
            tasks[task.removeprefix(OWN)] = study.with_name("task.py")
    return tasks
