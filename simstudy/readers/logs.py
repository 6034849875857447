"""Logs of evaluation harnesses as rows: what the adapters of all harnesses share.

An adapter makes a `Log` of each file: the answers of one model to the items of one task, with all scores that the log
has. `read_logs` chooses one score of each log, checks that the logs of a task are comparable, and makes a long table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from simstudy.metrics import METRICS, Metric, canonical, find_metric
from simstudy.metrics.labels import PER_CLASS
from simstudy.metrics.registry import ALIASES
from simstudy.notes import Argument, Words, note
from simstudy.readers.columns import OF_TASKS
from simstudy.readers.long_table import LongTable, if_missing
from simstudy.readers.request import Request, column, system_files
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError, brief, check_utf8, nearest

# What a whole log has, and what each item has, that all logs of a task must have in common.
_OF_LOGS = ("metric", "filter", "scorer", "version", "shots")
_OF_ITEMS = ("input", "target", "prompt")

#: What logs of one task must have in common; docs/formats.md says what each of them is.
DIFFERENCES = (*_OF_LOGS, *_OF_ITEMS)

#: The column of the items that says which number of the logs is the score, if it is not the same for all.
SCORED_BY = "scored_by"

#: The filter of answers without one, as lm-evaluation-harness calls it.
NO_FILTER = "none"

# Names that a message lists.
_MOST = 20


class Answer(NamedTuple):
    """The answer of a model to an item of a task, with one of its scores.

    ``input``, ``target`` and ``prompt`` are compared with those of other logs; None is not known. ``question``,
    ``target`` and ``response`` are for people.
    """

    item: str
    #: Where the answer is: the number of a line, the id of a sample.
    place: object
    #: The name of the score in the log; empty if the answer has none.
    metric: str = ""
    #: None or NaN if the answer was not scored; a tuple of statistics for a metric of ours that is a ratio of sums; a
    #: list if only the whole test set has a score.
    score: Any = None
    #: The number of one of several answers to the item.
    sample: object = None
    filter: str = NO_FILTER
    input: str | None = None
    target: str | None = None
    prompt: str | None = None
    question: str | None = None
    response: str | None = None


@dataclass(frozen=True)
class Log:
    """The answers of a model to the items of a task, in one file, and what holds for all of them."""

    path: Path
    system: str
    task: str
    #: They are read only if the log is wanted.
    answers: Iterable[Answer]
    #: What is known of version, shots, and template (hash of the chat template; False for none).
    facts: Mapping[str, object] = field(default_factory=dict)
    #: Score -> the options of its scorer.
    scorers: Mapping[str, str] = field(default_factory=dict)


def only_in_logs(metric: str) -> bool:
    """Whether a metric that a user named is none of simstudy, in any case: only logs can have one of this name."""
    return bool(metric) and find_metric(metric) is None and find_metric(canonical(metric)) is None


def read_logs(
    request: Request,
    logs: Iterable[Log],
    unit: str,
    *,
    usual_filter: str = "",
    usual_score: str = "",
    named_by_file: bool = False,
    answers_compare: bool = False,
) -> LongTable:
    """The long table of logs, with one score of each log. Logs of one task must agree in all of `DIFFERENCES`.

    With several tasks the items are called ``<task>/<item>``, and the task is the domain. So is the only task if it is
    ``request.domain``: logs of other tasks are not read then. If logs differ in the name of their score, the items have
    a column ``scored_by``.

    `unit` is what the place of an answer is: "line". The `usual_filter` and the `usual_score` are read if a log has
    several and the user names none. Systems are `named_by_file` if the only task has several logs of a model.
    """
    check_no_labels(request)
    if request.items is None and (named := {"system", "item"}.intersection(request.columns)):
        raise InputError("columns", f"must not name the {max(named)}: logs have it")
    tasks: list[str] = []
    facts_of_logs: list[dict[str, Any]] = []
    frames: list[pd.DataFrame] = []
    # Choices that the user has to make: score or filter, the log, the names.
    unclear: list[tuple[str, Path, list[str]]] = []
    # Logs of one task have the same questions: each text is held once.
    texts: dict[str | None, str | None] = {}
    for log in logs:
        tasks.append(log.task)
        if request.domain not in (None, log.task) and request.items is None:
            continue
        check_utf8([log.system, log.task], f"{log.path}: model and task")
        answers = list(log.answers)
        if not answers:
            raise InputError("the log has no answers", at=log.path)
        filter, filters = _choose("filter", log, [answer.filter for answer in answers], usual_filter, request)
        answers = [answer for answer in answers if answer.filter == filter]
        of_test_set = dict.fromkeys(answer.metric for answer in answers if isinstance(answer.score, list))
        every_metric = [answer.metric for answer in answers if answer.metric and answer.metric not in of_test_set]
        usual = request.asked if request.asked in every_metric else usual_score
        metric, metrics = _choose("score", log, every_metric, usual, request, [*of_test_set])
        unclear += [(kind, log.path, names) for kind, names in (("filter", filters), ("score", metrics)) if names]
        frames.append(_rows(log.path, answers, metric, texts).assign(log=len(frames)))
        # Scores of a scorer with several are called SCORER.KEY.
        scorer = [options for name, options in log.scorers.items() if f"{metric}.".startswith(f"{name}.")]
        chosen = {"metric": metric, "filter": filter, "scorer": next(iter(scorer), None)}
        facts_of_logs.append({"path": log.path, "system": log.system, "task": log.task, **chosen, **log.facts})
    if not frames:
        raise InputError("domain", f"must be a task of the logs ({listed(sorted({*tasks}), _MOST)})", request.domain)
    facts = pd.DataFrame(facts_of_logs, columns=["path", "system", "task", "template", *_OF_LOGS], dtype=object)
    rows = pd.concat(frames, ignore_index=True)
    metric_of_log = _metric_of_ratios(facts, rows, request)
    _check_choices(facts, unclear, tasks, request)
    facts["system"] = _system_names(facts, request, named_by_file)
    rows = rows.join(facts[["path", "system", "task", "template"]], on="log")
    _check_comparable(facts, rows, unit, request.allow_different)
    unscored = rows[rows["score"].isna()]
    if request.missing == "error" and len(unscored):
        first = unscored.iloc[0]
        rule = f"item '{first['item']}' has no score '{facts['metric'].iloc[first['log']]}'"
        raise InputError(rule, remedy=if_missing(request.metric), at=f"{first['path']}, {unit} {first['place']}")
    return _long_table(facts, rows, unit, request, answers_compare, metric_of_log)


def check_no_labels(request: Request) -> None:
    """Raise an InputError for a metric of labels, which logs do not have."""
    if request.metric.name in PER_CLASS:
        rule = f"'{request.metric.name}' needs the predicted and the gold label of each item, which logs do not have"
        raise InputError("metric", rule, remedy="make a table with the columns system, item, gold and predicted")


# What is chosen ----------------------------------------------------------------------------------------------------
def _choose(
    kind: str, log: Log, every: Iterable[str], usual: str, request: Request, of_test_set: Sequence[str] = ()
) -> tuple[str, list[str]]:
    """The score or the filter of a log that is read, and the names from which the user has to choose if it is unclear.

    It is the choice of the user for this task, else the usual name, else the first one. A metric `of_test_set` is
    an error if the user asks for it, or if there is no other.
    """
    names = list(dict.fromkeys(every))
    patterns = [name for name in request.columns if name.startswith(f"{kind}@")]
    fitting = [name for name in patterns if fnmatchcase(log.task, name.partition("@")[2])]
    # A filter for all tasks is for the logs that have filters.
    for_all_tasks = kind if names != [NO_FILTER] else ""
    wanted = request.columns.get(f"{kind}@{log.task}", request.columns.get(next(iter(fitting), for_all_tasks)))
    asked = wanted or request.asked
    if of_test_set and (asked in of_test_set or not names):
        name = asked if asked in of_test_set else of_test_set[0]
        rule = f"'{name}' is a metric of the whole test set: the log has no score of each answer"
        raise InputError(rule, at=log.path)
    if wanted is not None and wanted not in names:
        rule = f"no {kind} '{wanted}' among {listed(names, _MOST) or 'none'}{nearest(wanted, names)}"
        remedy = Words("{choice} chooses for this task", choice=column(f"{kind}@{log.task}"))
        raise InputError(rule, remedy=remedy, at=log.path)
    if not names:
        raise InputError(f"the answers have no {kind}", at=log.path)
    name = wanted or (usual if usual in names else names[0])
    # The user asked for a metric that only logs have, and this one has another.
    other_metric = kind == "score" and only_in_logs(request.asked)
    is_clear = name in (wanted, usual) or (len(names) == 1 and not other_metric)
    return name, [] if is_clear else names


def _check_choices(
    facts: pd.DataFrame, unclear: Sequence[tuple[str, Path, list[str]]], tasks: Sequence[str], request: Request
) -> None:
    """Raise an InputError for a choice for no task, a metric that no log has, and choices that the user has to make."""
    for name in request.columns:
        kind, at, pattern = name.partition("@")
        if at and kind in OF_TASKS and not any(task == pattern or fnmatchcase(task, pattern) for task in tasks):
            rule = f"'{name}' chooses for no task of {listed(sorted({*tasks}), _MOST)}{nearest(pattern, tasks)}"
            raise InputError("columns", rule)
    if only_in_logs(request.asked) and request.asked not in facts["metric"].tolist():
        metrics = facts["metric"].unique().tolist()
        hint = nearest(request.asked, [*metrics, *METRICS, *ALIASES])
        rule = f"must be one of simstudy or of the logs ({listed(metrics, _MOST)}){hint}"
        raise InputError("metric", rule, request.asked)
    if not unclear:
        return
    columns = dict(request.columns)
    for kind in dict.fromkeys(kind for kind, _, _ in unclear):
        chosen = zip(facts["task"], facts["metric" if kind == "score" else "filter"], strict=True)
        by_task = {task: name for task, name in chosen if name != NO_FILTER} or {"": NO_FILTER}
        most_common = Counter(by_task.values()).most_common(1)[0][0]
        columns |= {kind: most_common}
        columns |= {f"{kind}@{task}": name for task, name in by_task.items() if name != most_common}
    kind, path, names = unclear[0]
    remedy = Words("{columns} chooses for all tasks, the first of several", columns=Argument("columns", columns))
    raise InputError(f"the {kind} may be {listed(names, _MOST)}", remedy=remedy, at=path)


# Rows --------------------------------------------------------------------------------------------------------------
def _rows(path: Path, answers: Sequence[Answer], metric: str, texts: dict[str | None, str | None]) -> pd.DataFrame:
    """A row for each answer with this score, and for each item or sample that lacks it. `texts` holds a text once."""
    scored = [answer for answer in answers if answer.metric == metric]
    # A score without the number of a sample is of all samples of the item.
    samples = {(answer.item, sample) for answer in scored for sample in (answer.sample, None)}
    items = {answer.item for answer in scored if answer.sample is None}
    chosen = [
        answer
        for answer in answers
        if answer.metric == metric or ((answer.item, answer.sample) not in samples and answer.item not in items)
    ]
    rows = pd.DataFrame(chosen, dtype=object)
    rows.loc[rows["metric"] != metric, "score"] = None
    if rows["score"].isna().all():
        raise InputError(f"no answer has a score '{metric}'", at=path)
    for name in ("input", "target", "prompt", "question", "response"):
        rows[name] = pd.Series([texts.setdefault(text, text) for text in rows[name]], dtype=object)
    return rows.drop(columns=["metric", "filter"])


def _system_names(facts: pd.DataFrame, request: Request, named_by_file: bool) -> list[str]:
    """The names of the logs' systems: those that the user gave, else the models; each has one log of a task."""
    paths = facts["path"].tolist()
    names = [request.names.get(path, model) for path, model in zip(paths, facts["system"], strict=True)]
    if named_by_file and facts["task"].nunique() == 1:
        counts, logs_of_file = Counter(names), Counter(paths)
        again = dict.fromkeys(path for path, name in zip(paths, names, strict=True) if counts[name] > 1)
        files = {path: name for name, path in system_files([*again], request.names).items()}
        for k, (path, name) in enumerate(zip(paths, names, strict=True)):
            if counts[name] > 1:
                names[k] = files[path] if logs_of_file[path] == 1 else f"{files[path]}/{name}"
    first: dict[tuple[str, str], Path] = {}
    for path, name, task in zip(paths, names, facts["task"], strict=True):
        if (name, task) in first:
            rule = f"{first[name, task]} and {path} are both of model '{name}' and task '{task}'"
            raise InputError(rule, remedy="keep one of them, or name the systems")
        first[name, task] = path
    return names


def _metric_of_ratios(facts: pd.DataFrame, rows: pd.DataFrame, request: Request) -> Metric | None:
    """The metric whose statistics the rows have in place of scores; None for scores."""
    is_ratio = rows["score"].map(lambda score: isinstance(score, tuple))
    if not is_ratio.any():
        return None
    log = facts.loc[rows["log"][is_ratio].iloc[0]]
    if facts["metric"].nunique() > 1:
        tasks = " or ".join(f"'{task}'" for task in dict.fromkeys(facts["task"]))
        remedy = Words("{domain} reads the logs of one task: {tasks}", domain=Argument("domain", "NAME"), tasks=tasks)
        rule = f"'{log['metric']}' of task '{log['task']}' is a ratio of sums, and cannot be pooled with other scores"
        raise InputError(rule, remedy=remedy, at=log["path"])
    if not request.choose_metric and request.metric.name != log["metric"]:
        raise InputError("metric", f"must be '{log['metric']}', as the score is", request.asked)
    # This checks the options against the metric.
    return replace(request, metric=METRICS[log["metric"]]).metric


def _long_table(
    facts: pd.DataFrame,
    rows: pd.DataFrame,
    unit: str,
    request: Request,
    answers_compare: bool,
    metric: Metric | None,
) -> LongTable:
    """The long table of all logs' rows. Items that no log has a score of are expected too."""
    several = facts["task"].nunique() > 1 or request.domain in facts["task"].tolist()
    rows = rows.assign(item=rows["task"] + "/" + rows["item"]) if several else rows
    items = rows.drop_duplicates("item")
    expected = items[["item", "task"]].rename(columns={"task": "domain"}) if several else items[["item"]]
    if facts["metric"].nunique() > 1:
        metrics = facts.groupby("task")["metric"].agg(lambda names: "+".join(dict.fromkeys(names)))
        expected = expected.assign(**{SCORED_BY: metrics.loc[items["task"]].to_numpy()})
    rows = rows[rows["score"].notna()]
    sample = rows["sample"].where(rows["sample"].notna(), 1)
    columns: dict[str, Any] = {"system": rows["system"], "item": rows["item"], "sample": sample}
    if metric is None:
        columns["score"] = rows["score"]
    else:
        columns |= zip(metric.statistics, zip(*rows["score"], strict=True), strict=True)
    texts = {"answer": "response"} | ({"input": "question", "gold": "target"} if request.keeps_texts else {})
    columns |= {name: rows[text] for name, text in texts.items() if rows[text].notna().any()}
    index = pd.MultiIndex.from_arrays([rows["path"].astype(str), rows["place"]], names=["file", unit])
    quoted = {name: [f"'{text}'" for text in dict.fromkeys(facts[name])] for name in ("metric", "filter")}
    remarks = [f"scores by {listed(quoted['metric'], _MOST)}"]
    if (facts["filter"] != NO_FILTER).any():
        remarks.append(f"filter {listed(quoted['filter'], _MOST)}")
    return LongTable(
        pd.DataFrame(columns).set_axis(index),
        ("score",) if metric is None else metric.statistics,
        metric,
        expected=expected.reset_index(drop=True),
        answers_compare=answers_compare,
        scored_by=tuple(dict.fromkeys(facts["metric"])),
        remarks=remarks,
    )


# What must be the same ---------------------------------------------------------------------------------------------
def _check_comparable(facts: pd.DataFrame, rows: pd.DataFrame, unit: str, allowed: Sequence[str]) -> None:
    """Raise an InputError if logs of one task differ in more than the model; a note says which differences are allowed.

    Prompts of logs with different chat templates may differ, if all logs say what their templates are.
    """
    refused = []
    for what in DIFFERENCES:
        frame, keys = (rows, ["task", "item"]) if what in _OF_ITEMS else (facts, ["task"])
        difference = _difference(frame, what, keys, unit)
        reason = "you allowed it"
        if difference and what == "prompt" and facts["template"].notna().all():
            unexplained = _difference(frame, what, [*keys, "template"], unit)
            reason = reason if unexplained else "chat templates differ"
            difference = unexplained or difference
        if difference and (what in allowed or reason != "you allowed it"):
            note("logs differ", **difference, reason=reason)
        elif difference:
            refused.append(difference)
    if refused:
        names = [difference["what"] for difference in refused]
        allow = Argument("allow_different", names if len(names) > 1 else names[0])
        remedy = Words("{allow} compares such logs all the same", allow=allow)
        rule = "{what} of {of} differs from {other}; {n} of {all} differ".format(**refused[0])
        raise InputError(rule, remedy=remedy, at=refused[0]["place"])


def _difference(frame: pd.DataFrame, what: str, keys: list[str], unit: str) -> dict[str, Any]:
    """The fields of a message on rows with equal keys that differ in a column; empty if no rows differ."""
    compared = frame.loc[frame[what].notna(), [*keys, what]]
    groups = compared.groupby(keys, sort=False)
    different = compared[compared[what] != groups[what].transform("first")]
    if different.empty:
        return {}
    same_keys = groups.get_group(tuple(different[keys].iloc[0]))
    row, first = frame.loc[different.index[0]], frame.loc[same_keys.index[0]]
    place, other = (f"{log['path']}, {unit} {log['place']}" if "place" in log else log["path"] for log in (row, first))
    return {
        "what": what,
        "of": f"item '{row['item']}' of task '{row['task']}'" if "item" in keys else f"task '{row['task']}'",
        "n": counted(len(different.drop_duplicates(keys)), "item" if "item" in keys else "task"),
        "all": f"{groups.ngroups:,}",
        "place": place,
        "other": f"{other} ({brief(row[what])} and {brief(first[what])})",
    }
