"""Runs of lm-evaluation-harness: which files of a folder belong together, and what they say about a task.

The harness writes ``<output_path>/<model>/results_<time>.json`` beside ``samples_<task>_<time>.jsonl``. If its output
path ends in .json, all models share a folder, and the results are called ``<stem>_<time>.json``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from simstudy.loaders.json_files import read_json
from simstudy.loaders.reading import once
from simstudy.notes import note
from simstudy.validation import InputError


@dataclass(frozen=True)
class Run:
    """A model's log of a task, with what the results of the same run say; None where there are none."""

    path: Path
    task: str
    time: str
    system: str
    version: Any = None
    shots: Any = None
    #: Digest of the chat template; False for none.
    template: Any = None

    @classmethod
    def of(cls, path: Path, task: str, time: str) -> Self:
        """The run that a log is of."""
        folder = path.absolute().parent
        results = _results(folder, time)
        if results is None:
            return cls(path, task, time, folder.name)
        about = _about(results)
        name = folder.name
        if not results.name.startswith("results_"):
            name = str(about.get("model_name_sanitized") or about.get("model_name") or name)
        template = (about["chat_template_sha"] or False) if "chat_template_sha" in about else None
        return cls(path, task, time, name, _of_task(about, "versions", task), _of_task(about, "n-shot", task), template)


def newest_runs(runs: Sequence[Run]) -> list[Run]:
    """The newest log of each task of a system in a folder. A note tells of older ones."""
    newest: dict[tuple[Path, str, str], Run] = {}
    older: list[Path] = []
    for run in runs:
        key = run.path.absolute().parent, run.system, run.task
        known = newest.get(key)
        if known is None:
            newest[key] = run
        elif known.time < run.time:
            older.append(known.path)
            newest[key] = run
        else:
            older.append(run.path)
    if older:
        logs = "1 older log" if len(older) == 1 else f"{len(older):,} older logs"
        note("text", text=f"the newest log of each model and task is read; {logs} not, first {min(older)}")
    # In the order of the files, whichever of them was the first.
    kept = set(map(id, newest.values()))
    return [run for run in runs if id(run) in kept]


def named_runs(runs: Sequence[Run]) -> list[Run]:
    """The runs, with the folder above in the system's name where two folders of one name have the same task."""
    counts = Counter((run.system, run.task) for run in runs)
    folders: dict[str, set[Path]] = defaultdict(set)
    for run in runs:
        if counts[run.system, run.task] > 1:
            folders[run.system].add(run.path.absolute().parent)
    return [
        replace(run, system=f"{run.path.absolute().parent.parent.name}/{run.system}") if run.system in folders else run
        for run in runs
    ]


def _results(folder: Path, time: str) -> Path | None:
    """The results of the run of this time."""
    own = folder / f"results_{time}.json"
    if own.is_file():
        return own
    return next((path for path in sorted(folder.glob(f"*_{time}.json")) if path.is_file()), None)


@once
def _about(path: Path) -> Mapping[str, Any]:
    about = read_json(path)
    if not isinstance(about, dict):
        raise InputError(f"{path}: not results of lm-evaluation-harness (no object of JSON)")
    return about


def _of_task(about: Mapping[str, Any], what: str, task: str) -> Any:
    """What results say about a task; None where they say nothing."""
    of = about.get(what)
    value = of.get(task) if isinstance(of, dict) else None
    # Versions of groups are called N/A.
    return None if value in (None, "N/A", "Yaml") else value
