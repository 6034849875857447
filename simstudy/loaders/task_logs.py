"""Logs of one model on one task each, put together: what evaluation harnesses write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.base import Loaded, Source, SystemOutputs, assemble
from simstudy.loaders.tables import match_items


def assemble_tasks(
    logs: Mapping[tuple[str, str], SystemOutputs],
    source: Source,
    asked: Sequence[tuple[str, str]] = (),
    notes: Sequence[str] = (),
) -> Loaded:
    """Outputs of models on one or several tasks.

    With several tasks an item's id is ``<task>/<id>``, and the task is its ``domain``.

    Parameters
    ----------
    logs
        (Model, task) -> the model's scores on that task's items, one score an item.
    source
        Says the metric, what to do about missing items, and what else is known of the items.
    asked
        (Task, item) that logs have besides, without a score: items that are missing, perhaps from all models.
    notes
        What the loader has to say already.

    Raises
    ------
    ValueError
        As `assemble` and `match_items`.
    """
    several = len({task for _, task in logs}) > 1
    domains = {_id(task, item, several): task for task, item in asked}
    parts: dict[str, list[SystemOutputs]] = {}
    for (model, task), log in logs.items():
        ids = [_id(task, item, several) for item in log.ids]
        domains |= dict.fromkeys(ids, task)
        parts.setdefault(model, []).append(SystemOutputs(model, log.origin, ids, log.statistics, log.answers))
    table = pd.DataFrame({"id": list(domains)} | ({"domain": list(domains.values())} if several else {}))
    given = match_items(source, list(domains))
    return assemble(
        [_joined(own) for own in parts.values()],
        source,
        expected=list(domains),
        nothing=lambda item: np.array([0, 1]),
        items=table if given is None else given.join(table[[name for name in table if name not in given]]),
        notes=notes,
    )


def _id(task: str, item: str, several: bool) -> str:
    return f"{task}/{item}" if several else item


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
