"""What is chosen among the metrics, filters and scorers of logs, by task, and what to say where nothing chooses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from simstudy.loaders.base import Loaded
from simstudy.loaders.task_logs import TaskLog
from simstudy.loaders.usual_names import OF_TASKS
from simstudy.metrics import METRICS, find_metric, get_metric
from simstudy.metrics.arrays import ARRAYS
from simstudy.metrics.mean import Mean
from simstudy.metrics.names import ALIASES, canonical, in_own_case
from simstudy.metrics.per_class import PER_CLASS
from simstudy.notes import note
from simstudy.text.reprs import listed
from simstudy.validation import InputError, nearest

L = TypeVar("L")
R = TypeVar("R")

#: The task of a log, its metric, and its filter; None where there was none to choose.
Chosen = tuple[str, str, str | None]

# Names that a message lists, and tasks for which it chooses one by one.
_MOST, _MOST_TASKS = 20, 8


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
            raise InputError(
                f"columns choose '{name}', but no task is called so among {listed([*known], _MOST)}"
                f"{nearest(pattern, known)}"
            )


class Undecided(InputError):
    """A log has several metrics, filters or scorers, and nothing chooses one. Columns call the choice `name`.

    Or it has none of the name that was asked for: it `lacks` that.
    """

    def __init__(self, path: Path, what: str, name: str, known: Sequence[str], lacks: str = "") -> None:
        has = f"no {what} '{lacks}' among" if lacks else f"samples have {what}s"
        super().__init__(f"{path}: {has} {listed([*known], _MOST)}")
        self.name, self.known, self.lacks = name, known, lacks


def chosen(
    path: Path, known: Sequence[str], columns: Mapping[str, str], what: str, ours: str, *, task: str, asked: str = ""
) -> str:
    """The one of several metrics, filters or scorers of a log that columns choose, else the only one there is.

    A metric that was asked for by the name that it has in the log goes before the only one. A name that is no metric of
    ours must be in the log.
    """
    name = wanted(columns, ours, task)
    if name is None and asked in known:
        name = asked
    if name is not None and name not in known:
        hint = nearest(name, known)
        if not hint and known and name == columns.get(ours):
            hint = f"; columns={{'{ours}@{task}': ...}} chooses for this task"
        raise InputError(f"{path}: no {what} '{name}' among {listed([*known], _MOST) or 'none'}{hint}")
    if name is None and not known:
        raise InputError(f"{path}: samples have no {what}")
    if name is None and asked and is_of_logs(asked):
        raise Undecided(path, what, f"{ours}@{task}", known, asked)
    if name is None and len(known) > 1:
        raise Undecided(path, what, f"{ours}@{task}", known)
    return name or known[0]


def of_domain(logs: Sequence[L], domain: str | None, task_of: Callable[[L], str]) -> Sequence[L]:
    """The logs of the task that is the wanted domain; all if none is asked for, or no log is of it."""
    return [log for log in logs if task_of(log) == domain] or logs


def by_own_metric(loaded: Loaded, asked: str) -> Loaded:
    """What was read by a metric that only the logs know, as the mean: as accuracy if all scores are from 0 to 1."""
    outputs, scores = loaded.outputs, loaded.outputs.statistics[..., 0]
    low, high = scores.min(), scores.max()
    as_accuracy = outputs.metric == Mean() and low >= 0 and high <= 1
    if as_accuracy:
        outputs = replace(outputs, metric=get_metric("accuracy"))
    note(
        "text",
        text=f"metric '{asked}' of the logs is read as {outputs.metric.name}: its values are from {low:g} to {high:g}",
    )
    return replace(loaded, outputs=outputs)


def is_of_logs(metric: str) -> bool:
    """Whether a metric is none of ours, in any case: it can only be one of the files'."""
    return not any(map(find_metric, (metric, canonical(metric), in_own_case(metric, [*METRICS, *PER_CLASS, *ARRAYS]))))


def read_each(
    logs: Sequence[L],
    columns: Mapping[str, str],
    read: Callable[[L, Mapping[str, str]], R],
    found: Callable[[R], Chosen],
) -> list[R]:
    """What `read` makes of each log with the columns.

    Where a choice is open in some log, one ValueError has a choice for all logs: the first metric and filter of each
    task. `found` tells the task of what was read, its metric, and its filter if there was one to choose.
    """
    made: dict[str, str] = {}
    first: Undecided | None = None
    lacking: Undecided | None = None
    done: list[R] = []
    for log in logs:
        while True:
            try:
                done.append(read(log, {**columns, **made}))
            except Undecided as error:
                first = first or error
                lacking = lacking or (error if error.lacks else None)
                made[error.name] = error.known[0]
                continue
            except ValueError:
                if first is None:
                    raise
            break
    if first is not None:
        known = [found(one) for one in done]
        if lacking is not None and lacking.lacks not in {metric for _, metric, _ in known}:
            raise InputError(f"{lacking}{nearest(lacking.lacks, [*lacking.known, *METRICS, *ALIASES])}")
        several = len({task for task, _, _ in known} | {name.partition("@")[2] for name in made}) > 1
        chooses = "chooses for all tasks, the first where there are several" if several else "chooses the first"
        raise InputError(f"{first}; {_suggested(made, known, columns)} {chooses}")
    return done


def _suggested(made: Mapping[str, str], found: Iterable[Chosen], columns: Mapping[str, str]) -> str:
    """Columns that choose for all tasks: one name for all where it fits all, else a name for each task."""
    names: dict[str, dict[str, str]] = {ours: {} for ours in OF_TASKS}
    for task, metric, one in found:
        names["score"].setdefault(task, metric)
        if one is not None:
            names["filter"].setdefault(task, one)
    for name, theirs in made.items():
        ours, _, task = name.partition("@")
        names[ours][task] = theirs
    told = dict(columns)
    for ours, of in names.items():
        if not any(name.startswith(f"{ours}@") for name in made):
            continue
        usual = Counter(of.values()).most_common(1)[0][0]
        if len(set(of.values())) == 1 or len(of) > _MOST_TASKS:
            told[ours] = usual
            of = {task: theirs for task, theirs in of.items() if theirs != usual}
        told |= {f"{ours}@{task}": theirs for task, theirs in of.items()}
    return "columns={" + ", ".join(f"'{ours}': '{theirs}'" for ours, theirs in told.items()) + "}"


def note_metrics(logs: Iterable[TaskLog], columns: Mapping[str, str]) -> None:
    """Say that tasks have different metrics, unless the user chose by task."""
    of = {log.task: log.metric for log in logs}
    names = list(dict.fromkeys(of.values()))
    if len(names) > 1 and not any(name.startswith("score@") for name in columns):
        examples = [f"{name} ({next(task for task in of if of[task] == name)})" for name in names]
        some = listed(examples, _MOST)
        note("text", text=f"tasks have different metrics: {some}; columns={{'score@TASK': '...'}} chooses for a task")
