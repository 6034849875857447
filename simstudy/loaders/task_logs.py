"""Logs of one model on one task each, put together: what evaluation harnesses write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import assemble
from simstudy.loaders.base import OF_TASKS, Source, SystemOutputs
from simstudy.loaders.items import items_by_id, of_samples
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.validation import check_utf8, nearest

# Names that a message lists.
_MOST = 20


def wanted(columns: Mapping[str, str], ours: str, task: str) -> str | None:
    """The name in the logs that columns choose for a task: under score@task, score@pattern, or score; None for none."""
    if (own := columns.get(f"{ours}@{task}")) is not None:
        return own
    for name, theirs in columns.items():
        of, at, pattern = name.partition("@")
        if of == ours and at and fnmatchcase(task, pattern):
            return theirs
    return columns.get(ours)


def check_tasks(columns: Mapping[str, str], tasks: Iterable[str]) -> None:
    """Raise a ValueError where columns choose for a task that no log is of."""
    known = sorted(set(tasks))
    for name in columns:
        ours, at, pattern = name.partition("@")
        if at and ours in OF_TASKS and pattern not in known and not any(fnmatchcase(one, pattern) for one in known):
            raise ValueError(
                f"columns choose '{name}', but no task is called so among {_listed(known)}{nearest(pattern, known)}"
            )


def chosen(path: Path, known: Sequence[str], columns: Mapping[str, str], what: str, ours: str, *, task: str) -> str:
    """The one of several metrics, filters or scorers of a log that columns choose, else the only one there is."""
    name = wanted(columns, ours, task)
    if name is not None and name not in known:
        hint = nearest(name, known)
        if not hint and known and name == columns.get(ours):
            hint = f"; columns={{'{ours}@{task}': ...}} chooses for this task"
        raise ValueError(f"{path}: no {what} '{name}' among {_listed(known) or 'none'}{hint}")
    if name is None and len(known) != 1:
        several = f"{what}s {_listed(known)}; columns={{'{ours}': ...}} chooses one"
        raise ValueError(f"{path}: samples have {several if known else f'no {what}'}")
    return name or known[0]


def note_metrics(metrics: Iterable[tuple[str, str]], columns: Mapping[str, str]) -> None:
    """Say that tasks have different metrics, from pairs of task and metric, unless the user chose by task."""
    of = dict(metrics)
    names = list(dict.fromkeys(of.values()))
    if len(names) > 1 and not any(name.startswith("score@") for name in columns):
        examples = [f"{name} ({next(task for task in of if of[task] == name)})" for name in names]
        note(f"tasks have different metrics: {_listed(examples)}; columns={{'score@TASK': '...'}} chooses for a task")


def assemble_tasks(
    logs: Iterable[tuple[str, SystemOutputs]], source: Source, asked: Mapping[tuple[str, str], str] | None = None
) -> Outputs:
    """Outputs of models on one or several tasks, with one score for each item, from pairs of task and log.

    With several tasks an item's id is ``<task>/<id>``, and the task is its ``domain``. What is asked, (task, id) and
    the item that this is a sample of (or the id itself), may be without a score in some logs, or in all: missing.
    """
    found: dict[tuple[str, str], SystemOutputs] = {}
    for task, log in logs:
        first = found.setdefault((log.name, task), log)
        if first is not log:
            both = f"{first.origin} and {log.origin}"
            raise ValueError(f"{both} are both of model '{log.name}' and task '{task}': keep one of them")
    for (model, task), log in found.items():
        check_utf8([model, task], f"{log.origin}: model and task")
        check_utf8(log.ids, f"{log.origin}: samples")
    asked = asked or {(task, item): item for (_, task), log in found.items() for item in log.ids}
    check_utf8((name for _, name in asked), "samples")
    several = len({task for _, task in found}) > 1

    def id_of(task: str, item: str) -> str:
        return f"{task}/{item}" if several else item

    items = {id_of(task, name): id_of(task, item) for (task, name), item in asked.items()}
    domains = {id_of(task, item): task for (task, _), item in asked.items()}
    parts: dict[str, list[SystemOutputs]] = {}
    for (model, task), log in found.items():
        parts.setdefault(model, []).append(replace(log, ids=[id_of(task, item) for item in log.ids]))
    known = pd.DataFrame({"id": list(domains)} | ({"domain": list(domains.values())} if several else {}))
    table = items_by_id(source, known)
    if any(sample != item for sample, item in items.items()):
        table = of_samples(table, items)
    return assemble([_joined(own) for own in parts.values()], source, table, lambda item: np.array([0, 1]))


def of_several_tasks(outputs: Outputs) -> bool:
    """Whether these are outputs of several tasks, with ids and domains as `assemble_tasks` names them."""
    if "domain" not in outputs.items or outputs.items["domain"].nunique() < 2:
        return False
    both = zip(outputs.items["id"].astype(str), outputs.items["domain"].astype(str), strict=True)
    return all(name.startswith(f"{task}/") for name, task in both)


def _joined(parts: Sequence[SystemOutputs]) -> SystemOutputs:
    """A model's tasks, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return SystemOutputs(
        parts[0].name,
        str(Path(parts[0].origin).parent),
        [item for part in parts for item in part.ids],
        np.concatenate([part.statistics for part in parts]),
        None if any(part.answers is None for part in parts) else [a for part in parts for a in part.answers or ()],
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join([*names[:_MOST], "…"] if len(names) > _MOST else names)
