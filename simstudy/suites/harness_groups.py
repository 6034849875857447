"""Groups of tasks that lm-evaluation-harness defines, from the ``results_<time>.json`` beside its sample logs.

``group_subtasks`` names the tasks and groups of each group. The harness averages over all tasks below a group, and
counts them by size or equally (``weight_by_size``). The file does not say which, but it has the group's score: the
average that gives this score is taken, and by size if both do, which is the harness's default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.notes import note
from simstudy.readers.text_files import read_json
from simstudy.suites.averages import TaskGroup
from simstudy.validation import InputError

# The harness writes scores with all digits.
_SAME = 1e-6


def harness_groups(paths: Iterable[str | Path], tasks: Collection[str]) -> dict[str, TaskGroup]:
    """The groups of these tasks, by name, that results files in the folders of these paths define.

    A group is left out if it has fewer than two tasks or, with a note, if not all of its tasks are there. An InputError
    names a file that is no results file, or whose groups contradict those of another file.

    Examples
    --------
    >>> harness_groups([], ["arc_easy"])
    {}
    """
    first: dict[str, tuple[TaskGroup, Path]] = {}
    for path in _newest_results(paths):
        content = read_json(path)
        if not isinstance(content, dict) or not isinstance(content.get("group_subtasks", {}), dict):
            raise InputError("not a results file of lm-evaluation-harness", at=path)
        subtasks: dict[str, Any] = content.get("group_subtasks", {})
        for name in subtasks:
            members = _tasks_below(name, subtasks, path)
            if len(members) < 2:
                continue
            group, origin = first.setdefault(name, (TaskGroup(members, by_size=True), path))
            if set(group.tasks) != set(members):
                raise InputError(f"group '{name}' has other tasks than in {origin}", at=path)
            # A system with the same average both ways does not tell; another may.
            first[name] = replace(group, by_size=group.by_size and _by_size(name, members, content)), origin
    groups = {}
    for name, (group, path) in first.items():
        missing = [task for task in group.tasks if task not in tasks]
        if not missing:
            groups[name] = group
        elif len(missing) < len(group.tasks):
            note("group left out", group=name, file=path.name, task=missing[0])
    return groups


def _newest_results(paths: Iterable[str | Path]) -> list[Path]:
    """The newest results file of each folder."""
    newest: dict[Path, Path] = {}
    for path in map(Path, paths):
        files = path.rglob("results_*.json") if path.is_dir() else path.absolute().parent.glob("results_*.json")
        newest |= {file.parent: file for file in sorted(files)}
    return list(newest.values())


def _tasks_below(name: str, subtasks: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    """The tasks below a group and its groups, each once."""
    names, groups, tasks = [name], set(), []
    while names:
        below = subtasks.get(first := names.pop(0))
        if not below:
            tasks.append(first)
        elif not isinstance(below, list) or not all(isinstance(task, str) for task in below):
            raise InputError(f"group '{first}'", "must be a list of names of tasks", at=path)
        elif first not in groups:
            groups.add(first)
            names = [*below, *names]
    return tuple(dict.fromkeys(tasks))


def _by_size(name: str, members: Sequence[str], content: Mapping[str, Any]) -> bool:
    """Whether the group's score in the file is the mean of its tasks by size; True if the file does not tell."""
    try:
        results, sizes = content["results"], content["n-samples"]
        n = [float(sizes[task]["effective"]) for task in members]
        scores = {metric: score for metric, score in results[name].items() if isinstance(score, float)}
        by_task = {metric: [float(results[task][metric]) for task in members] for metric in scores}
    except (KeyError, TypeError, ValueError, AttributeError):
        return True
    for metric, score in scores.items():
        if "stderr" not in metric and abs(np.mean(by_task[metric]) - score) < _SAME:
            return bool(abs(np.average(by_task[metric], weights=n) - score) < _SAME)
    return True
