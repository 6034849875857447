"""Logs of one model on one task each, put together: what evaluation harnesses write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import assemble
from simstudy.loaders.base import Source, SystemOutputs
from simstudy.loaders.items import items_by_id, of_samples
from simstudy.outputs import Outputs
from simstudy.validation import check_utf8, nearest


def chosen(path: Path, known: Sequence[str], wanted: str | None, what: str, column: str) -> str:
    """The one of several metrics, filters or scorers of a log that is wanted, else the only one there is."""
    if wanted is not None and wanted not in known:
        raise ValueError(f"{path}: no {what} '{wanted}' among {', '.join(known) or 'none'}{nearest(wanted, known)}")
    if wanted is None and len(known) != 1:
        several = f"{what}s {', '.join(known)}; columns={{'{column}': ...}} chooses one"
        raise ValueError(f"{path}: samples have {several if known else f'no {what}'}")
    return wanted or known[0]


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
        [answer for part in parts for answer in part.answers or ()],
    )
