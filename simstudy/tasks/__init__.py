"""Tasks: data, base systems, metric and test sets, ready for training-set resampling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simstudy.tasks.base import Task
from simstudy.tasks.classification import Classifier, Rows
from simstudy.tasks.examples import BaseSystem, Examples
from simstudy.validation import check_choice, check_path


def _digits(data_dir: Path | None) -> Task:
    # Learners come with scikit-learn, for which only those who train should wait.
    from simstudy.tasks.digits import digits

    return digits(data_dir)


def _tagging(data_dir: Path | None) -> Task:
    from simstudy.tasks.tagging import tagging

    return tagging(data_dir)


def _dependencies(data_dir: Path | None) -> Task:
    from simstudy.tasks.dependencies import dependencies

    return dependencies(data_dir)


def _brown(data_dir: Path | None) -> Task:
    from simstudy.tasks.brown import brown

    return brown(data_dir)


def _chunking(data_dir: Path | None) -> Task:
    from simstudy.tasks.chunking import chunking

    return chunking(data_dir)


def _constituency(data_dir: Path | None) -> Task:
    from simstudy.tasks.constituency import constituency

    return constituency(data_dir)


def _constituency_ptb(data_dir: Path | None) -> Task:
    from simstudy.tasks.constituency import constituency_ptb

    return constituency_ptb(data_dir)


#: Name -> function that makes the task, given a folder of data files (or None, to fetch them).
TASKS: dict[str, Callable[[Path | None], Task]] = {
    "brown_tagging": _brown,
    "chunking": _chunking,
    "dependencies": _dependencies,
    "constituency": _constituency,
    "constituency_ptb": _constituency_ptb,
    "digits": _digits,
    "tagging": _tagging,
}

__all__ = ["TASKS", "BaseSystem", "Classifier", "Examples", "Rows", "Task", "load_task"]


def load_task(name: str, data_dir: str | Path | None = None) -> Task:
    """A task by name; its data comes from `data_dir`, SIMSTUDY_DATA_DIR or its public address.

    Raises
    ------
    ValueError
        For an unknown name.
    simstudy.datasets.DataError
        Where its data cannot be had.

    Examples
    --------
    >>> sorted(load_task("digits").systems)
    ['logistic regression', 'naive Bayes', 'nearest neighbours', 'random forest']
    """
    check_choice("task", name, TASKS)
    check_path("data_dir", data_dir, or_none=True)
    return TASKS[name](Path(data_dir) if data_dir else None)
