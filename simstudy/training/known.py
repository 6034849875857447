"""The tasks that come with the package, by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from simstudy.training.base import Task
from simstudy.validation import check_choice, check_path

#: Name -> module and name of the function that makes the task, given a folder of data files (or None, to fetch them).
#: It is imported when the task is asked for: for learners only those who train should wait.
TASKS: dict[str, str] = {
    "alignment": "simstudy.training.alignment:alignment",
    "alignment_unsupervised": "simstudy.training.alignment:alignment_unsupervised",
    "brown_tagging": "simstudy.training.brown:brown",
    "chunking": "simstudy.training.chunking:chunking",
    "constituency": "simstudy.training.constituency:constituency",
    "constituency_ptb": "simstudy.training.constituency:constituency_ptb",
    "dependencies": "simstudy.training.dependencies:dependencies",
    "digits": "simstudy.training.digits:digits",
    "generation": "simstudy.training.generation:generation",
    "tagging": "simstudy.training.tagging:tagging",
    "translation": "simstudy.training.translation:translation",
}


def load_task(name: str, data_dir: str | Path | None = None) -> Task:
    """A task by name; its data comes from `data_dir`, SIMSTUDY_DATA_DIR or its public address.

    Raises
    ------
    ValueError
        For an unknown name, or where the package of one of its learners is not installed.
    simstudy.files.datasets.DataError
        Where its data cannot be had.

    Examples
    --------
    >>> sorted(load_task("digits").systems)
    ['logistic regression', 'naive Bayes', 'nearest neighbours', 'random forest']
    """
    check_choice("task", name, TASKS)
    check_path("data_dir", data_dir, or_none=True)
    module, _, function = TASKS[name].partition(":")
    task: Task = getattr(import_module(module), function)(Path(data_dir) if data_dir else None)
    return task
