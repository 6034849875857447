"""Groups of tasks that lm-evaluation-harness defines, from the ``results_<time>.json`` beside its sample logs.

``group_subtasks`` names the tasks and groups of each group. The harness averages over all tasks below a group, and
counts them by size or equally (``weight_by_size``). The file does not say which, but it has the group's score: the
average that gives this score is taken, and by size if both do, which is the harness's default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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

    A group is left out if it has fewer than two tasks or, with a note, if not all of its tasks are there.

    Raises
    ------
    ValueError
        Names a file that is no results file, or whose groups contradict those of another file.

    Examples
    --------
    >>> harness_groups([], ["arc_easy"])
    {}
    """
    found: dict[str, tuple[TaskGroup, Path]] = {}
    for path in _results(paths):
        content = read_json(path)
        if not isinstance(content, dict):
            raise InputError("not a results file of lm-evaluation-harness", at=path)
        listed = content.get("group_subtasks")
        subtasks: dict[str, Any] = listed if isinstance(listed, dict) else {}
        for name in subtasks:
            members = _leaves(name, subtasks, path)
            if len(members) < 2:
                continue
            group = TaskGroup(tuple(members), by_size=_by_size(name, members, content))
            known, first = found.setdefault(name, (group, path))
            if set(known.tasks) != set(group.tasks):
                raise InputError(f"group '{name}' has other tasks than in {first}", at=path)
            if not group.by_size:
                # Another system may have the same average both ways, which does not tell.
                found[name] = group, first
    groups = {}
    for name, (group, path) in found.items():
        missing = [task for task in group.tasks if task not in tasks]
        if not missing:
            groups[name] = group
        elif len(missing) < len(group.tasks):
            note("group left out", group=name, file=path.name, task=missing[0])
    return groups


def _results(paths: Iterable[str | Path]) -> list[Path]:
    """The newest results file of each folder."""
    newest: dict[Path, Path] = {}
    for path in map(Path, paths):
        files = path.rglob("results_*.json") if path.is_dir() else path.absolute().parent.glob("results_*.json")
        for file in sorted(files):
            newest[file.parent] = file
    return list(newest.values())


def _leaves(name: str, subtasks: Mapping[str, Any], path: Path, above: tuple[str, ...] = ()) -> list[str]:
    """The tasks below a group, each once."""
    if name in above:
        raise InputError(f"group '{name}' is part of itself", at=path)
    below = subtasks.get(name)
    if not isinstance(below, list) or not all(isinstance(one, str) for one in below):
        raise InputError(f"group '{name}'", "must be a list of names of tasks", at=path)
    found: dict[str, None] = {}
    for one in below:
        leaves = _leaves(one, subtasks, path, (*above, name)) if subtasks.get(one) else [one]
        found |= dict.fromkeys(leaves)
    return list(found)


def _by_size(name: str, members: list[str], content: Mapping[str, Any]) -> bool:
    """Whether the group's score in the file is the mean of its tasks by size; True if the file does not tell."""
    results, sizes = content.get("results"), content.get("n-samples")
    if not isinstance(results, dict) or not isinstance(sizes, dict) or not isinstance(results.get(name), dict):
        return True
    for metric, score in results[name].items():
        try:
            values = np.array([float(results[task][metric]) for task in members])
            n = np.array([float(sizes[task]["effective"]) for task in members])
            target = float(score)
        except (KeyError, TypeError, ValueError):
            continue
        if "stderr" not in metric and abs(values.mean() - target) < _SAME:
            return bool(abs((values * n).sum() / n.sum() - target) < _SAME)
    return True
