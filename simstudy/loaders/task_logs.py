"""Logs of one model on one task each, put together: what evaluation harnesses write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.items import items_by_id, of_samples, sample_id
from simstudy.loaders.tables import score_statistics
from simstudy.outputs import Outputs
from simstudy.validation import InputError, check_utf8

#: The column of the items that says which number of the logs is the score, where it is not the same for all.
SCORED_BY = "scored_by"


@dataclass(frozen=True)
class Answer:
    """What a model did with a sample of an item of a task."""

    item: str
    #: Which of several samples it is; None for the only one, or the first.
    sample: int | str | None
    #: None: the item is asked, but was not scored.
    score: Any
    #: Where it is, for messages.
    place: str
    #: What the model said, which tells duplicates; None where nothing says.
    said: str | None = None
    #: What it was read from.
    of: Any = None


@dataclass(frozen=True)
class TaskLog:
    """The answers of a model to the items of a task, scored by a metric of the log."""

    path: Path
    system: str
    task: str
    metric: str
    answers: Sequence[Answer]
    #: For people: what the model said, and what is asked and right. Neither is called if texts are not kept.
    told: Callable[[Answer], str | None]
    asks: Callable[[Answer], tuple[str | None, str | None]]


def assemble_tasks(logs: Sequence[TaskLog], source: Source) -> Loaded:
    """Outputs of models on one or several tasks, with one score for each item.

    With several tasks an item's id is ``<task>/<id>``, and the task is its ``domain``. Logs of one task, the only one
    that `Source.domain` takes, are named as those of several. If the metrics of the tasks, or of the logs of a task,
    have several names, items have a column ``scored_by``.
    """
    parts: dict[str, dict[str, SystemOutputs]] = {}
    tasks = {log.task for log in logs}
    in_tasks = len(tasks) > 1 or source.domain in tasks
    sampled = any(answer.sample is not None for log in logs for answer in log.answers)
    # The item of each sample, and the task of each item.
    items: dict[str, str] = {}
    domains: dict[str, str] = {}
    texts: dict[str, tuple[str | None, str | None]] = {}
    for log in logs:
        check_utf8([log.system, log.task], f"{log.path}: model and task")
        check_utf8((answer.item for answer in log.answers), f"{log.path}: samples")
        ids: list[str] = []
        for answer in log.answers:
            item = f"{log.task}/{answer.item}" if in_tasks else answer.item
            name = sample_id(item, 1 if answer.sample is None else answer.sample) if sampled else item
            items[name], domains[item] = item, log.task
            if source.keeps_texts and name not in texts:
                texts[name] = log.asks(answer)
            if answer.score is not None:
                ids.append(name)
        own = parts.setdefault(log.system, {})
        if (first := own.get(log.task)) is not None:
            both = f"{first.origin} and {log.path} are both"
            raise InputError(f"{both} of model '{log.system}' and task '{log.task}': keep one of them")
        own[log.task] = _of_log(log, ids, source)
    known = pd.DataFrame({"id": list(domains)} | ({"domain": list(domains.values())} if in_tasks else {}))
    metrics = {task: dict.fromkeys(log.metric for log in logs if log.task == task) for task in tasks}
    scored_by = tuple(dict.fromkeys(log.metric for log in logs))
    if len(scored_by) > 1:
        known = known.assign(**{SCORED_BY: ["+".join(metrics[task]) for task in domains.values()]})
    table = items_by_id(source, known)
    if sampled:
        table = of_samples(table, items)
    asked = Asked(*({name: both[k] for name, both in texts.items()} for k in (0, 1)))
    joined = [_joined(list(of_system.values())) for of_system in parts.values()]
    loaded = assemble(joined, source, table, lambda item: np.array([0, 1]), asked)
    return replace(loaded, scored_by=scored_by)


def _of_log(log: TaskLog, ids: Sequence[str], source: Source) -> SystemOutputs:
    """The outputs of a log: the answers that have a score, under these ids."""
    scored = [answer for answer in log.answers if answer.score is not None]
    scores = pd.Series([answer.score for answer in scored], dtype=object)
    statistics = score_statistics(scores, source.metric, lambda i: scored[i].place)
    said = [answer.said for answer in scored]
    answers = None if None in said or not said else said
    return SystemOutputs(log.system, str(log.path), ids, statistics, answers, texts=map(log.told, scored))


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
        texts=chain.from_iterable([None] * len(part.ids) if part.texts is None else part.texts for part in parts),
    )
