"""Logs of evaluation harnesses as rows: what the adapters of all harnesses share.

An adapter makes a `Log` of each file: the answers of one model to the items of one task, with all scores that the log
has. `read_logs` chooses one score of each log, checks that the logs of a task are comparable, and makes a long table.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from simstudy.metrics import METRICS, find_metric
from simstudy.metrics.arrays import ARRAYS
from simstudy.metrics.names import ALIASES, canonical, in_own_case
from simstudy.metrics.per_class import PER_CLASS
from simstudy.notes import Argument, Words, note
from simstudy.readers.columns import OF_TASKS
from simstudy.readers.long_table import LongTable
from simstudy.readers.paths import system_files
from simstudy.readers.request import Request, column
from simstudy.text.numerals import counted
from simstudy.text.plain_text import shown
from simstudy.text.reprs import listed
from simstudy.validation import InputError, check_utf8, nearest

#: What logs of one task must have in common, and what it is.
DIFFERENCES = {
    "metric": "the number that is used as the score",
    "filter": "how the answer is read from the response",
    "scorer": "the options of the scorer of Inspect",
    "version": "the version of the task",
    "shots": "the number of examples in the prompt",
    "input": "the question",
    "target": "the right answer",
    "prompt": "the text that the model was given",
}

# Those of them that each item has. The others are the same for a whole log.
_OF_ITEMS = ("input", "target", "prompt")

# Those of them that no message shows: they are digests.
_DIGESTS = ("input", "prompt")

#: The column of the items that says which number of the logs is the score, if it is not the same for all.
SCORED_BY = "scored_by"

# The filter of a log without filters, as lm-evaluation-harness calls it.
_NO_FILTER = "none"

# Names that a message lists.
_MOST = 20


class Answer(NamedTuple):
    """The answer of a model to an item of a task, or one of several.

    ``input``, ``target`` and ``prompt`` are compared with those of other logs; None is not known. ``question``,
    ``target`` and ``response`` are for people.
    """

    item: str
    #: Name of a score in the log -> the score; None or NaN if the answer was not scored.
    scores: Mapping[str, Any]
    #: Where the answer is: the number of a line, the id of a sample.
    place: object
    sample: int | str | None = None
    #: The filter of the answer, if the log may have several.
    filter: str = ""
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
    version: object = None
    shots: object = None
    #: Digest of the chat template; False for none, None if it is not known.
    template: object = None
    #: Score -> the options of its scorer.
    scorers: Mapping[str, str] = field(default_factory=dict)


def digest(text: str) -> str:
    """A short stand-in for a text that is compared."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def only_in_logs(metric: str) -> bool:
    """Whether a metric is none of simstudy, in any case: only logs can have one of this name."""
    return not any(map(find_metric, (metric, canonical(metric), in_own_case(metric, [*METRICS, *PER_CLASS, *ARRAYS]))))


def read_logs(
    request: Request,
    logs: Iterable[Log],
    unit: str,
    *,
    usual_filter: str = "",
    not_scores: re.Pattern[str] | None = None,
    named_by_file: bool = False,
    answers_compare: bool = False,
) -> LongTable:
    """The long table of logs, with one score of each log. Logs of one task must agree in all of `DIFFERENCES`.

    With several tasks the items are called ``<task>/<item>``, and the task is the domain. So is the only task if it is
    ``request.domain``: logs of other tasks are not read then. If logs differ in the name of their score, the items have
    a column ``scored_by``.

    `unit` is what the place of an answer is: "line". The `usual_filter` is read if a log has several and the user names
    none. Names that match `not_scores` are scores only if the user asks for them. Systems are `named_by_file` if the
    only task has several logs of a model.
    """
    choices = _Choices(request, usual_filter, not_scores)
    texts: dict[str, str] = {}
    tasks: list[str] = []
    heads: list[dict[str, Any]] = []
    frames: list[pd.DataFrame] = []
    for log in logs:
        tasks.append(log.task)
        if request.domain not in (None, log.task) and request.items is None:
            continue
        check_utf8([log.system, log.task], f"{log.path}: model and task")
        answers, filter, score = choices.answers_of(log)
        frames.append(_rows(log.path, answers, score, unit, texts).assign(log=len(heads)))
        compared = {"metric": score, "filter": filter or _NO_FILTER, "scorer": log.scorers.get(score)}
        compared |= {name: getattr(log, name) for name in ("version", "shots", "template")}
        texts_of = {name: None if value in (None, "") else str(value) for name, value in compared.items()}
        heads.append({"path": log.path, "system": log.system, "task": log.task, **texts_of})
    if not heads:
        raise InputError("domain", f"must be a task of the logs ({listed(sorted({*tasks}), _MOST)})", request.domain)
    choices.close(tasks)
    facts = pd.DataFrame(heads, dtype=object)
    facts["system"] = _system_names(facts, request, named_by_file)
    rows = pd.concat(frames, ignore_index=True)
    rows["task"] = facts["task"].to_numpy()[rows["log"]]
    _check_comparable(facts, rows, unit, request.allow_different)
    return _long_table(facts, rows, unit, request, answers_compare)


def _rows(path: Path, answers: Sequence[Answer], score: str, unit: str, texts: dict[str, str]) -> pd.DataFrame:
    """A row for each answer of a log. A text is held once in `texts`, however many logs have it."""
    # The log may have other rows of these items, with other scores.
    scored = {answer.item for answer in answers if score in answer.scores}
    answers = [answer for answer in answers if score in answer.scores or answer.item not in scored]
    columns: dict[str, list[Any]] = {
        "item": [answer.item for answer in answers],
        "score": [_number(answer, score, f"{path}, {unit} {answer.place}") for answer in answers],
    }
    if not any(value is not None for value in columns["score"]):
        raise InputError(f"no answer has a score '{score}'", at=path)
    for name in ("sample", "place", "input", "target", "prompt", "question", "response"):
        values = (getattr(answer, name) for answer in answers)
        columns[name] = [texts.setdefault(value, value) if isinstance(value, str) else value for value in values]
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def _number(answer: Answer, score: str, at: str) -> float | None:
    """The score of an answer; None if it was not scored."""
    value = answer.scores.get(score)
    if value is None or value != value:
        return None
    if not isinstance(value, int | float) or abs(value) > sys.float_info.max:
        raise InputError(f"'{score}'", "must be one number, the score of this answer", value, at=at)
    return value


def _system_names(facts: pd.DataFrame, request: Request, named_by_file: bool) -> list[str]:
    """The names of the logs' systems: those that the user gave, else the models; each has one log of a task."""
    paths = facts["path"].tolist()
    names = [request.names.get(path, system) for path, system in zip(paths, facts["system"], strict=True)]
    if named_by_file and facts["task"].nunique() == 1:
        counts = Counter(names)
        again = [path for path, name in zip(paths, names, strict=True) if counts[name] > 1]
        files = {path: name for name, path in system_files(again, request.names).items()}
        names = [files.get(path, name) for path, name in zip(paths, names, strict=True)]
    first: dict[tuple[str, str], Path] = {}
    for path, name, task in zip(paths, names, facts["task"], strict=True):
        other = first.setdefault((name, task), path)
        if other != path:
            rule = f"{other} and {path} are both of model '{name}' and task '{task}'"
            raise InputError(rule, remedy="keep one of them, or name the systems")
    return names


def _long_table(
    facts: pd.DataFrame, rows: pd.DataFrame, unit: str, request: Request, answers_compare: bool
) -> LongTable:
    """The long table of all logs' rows. Items that no log has a score of are expected too."""
    several = facts["task"].nunique() > 1 or request.domain in facts["task"].tolist()
    names = rows["task"] + "/" + rows["item"] if several else rows["item"]
    items = rows.assign(item=names).drop_duplicates("item")
    expected = items[["item", "task"]].rename(columns={"task": "domain"}) if several else items[["item"]]
    metrics = facts.groupby("task")["metric"].agg(lambda names: "+".join(dict.fromkeys(names)))
    if facts["metric"].nunique() > 1:
        expected = expected.assign(**{SCORED_BY: metrics.loc[items["task"]].to_numpy()})
    columns = {"system": facts["system"].to_numpy()[rows["log"]], "item": names, "score": rows["score"]}
    if rows["sample"].notna().any():
        columns["sample"] = rows["sample"].where(rows["sample"].notna(), 1)
    texts = {"answer": "response"} | ({"input": "question", "gold": "target"} if request.keeps_texts else {})
    columns |= {ours: rows[theirs] for ours, theirs in texts.items() if rows[theirs].notna().any()}
    files = facts["path"].astype(str).to_numpy()[rows["log"]]
    index = pd.MultiIndex.from_arrays([files, rows["place"]], names=["file", unit])
    remarks = [f"scores by {_examples(facts, 'metric')}"]
    if (filtered := facts[facts["filter"] != _NO_FILTER]).size:
        remarks.append(f"filter {_examples(filtered, 'filter')}")
    return LongTable(
        pd.DataFrame(columns).set_axis(index)[rows["score"].notna().to_numpy()],
        ("score",),
        expected=expected.reset_index(drop=True),
        answers_compare=answers_compare,
        scored_by=tuple(dict.fromkeys(facts["metric"])),
        remarks=remarks,
    )


def _examples(facts: pd.DataFrame, name: str) -> str:
    """What the logs have under a name, with the first task of each if they have several."""
    first = facts.drop_duplicates(name)
    pairs = zip(first[name], first["task"], strict=True)
    return listed([f"'{value}'" + (f" ({task})" if len(first) > 1 else "") for value, task in pairs], _MOST)


# What is chosen ----------------------------------------------------------------------------------------------------
class _Choices:
    """The score and the filter of each log: those that the user chose, the only ones, and those that are open.

    The first name stands for a choice that is open. `close` raises one error that has a choice for all tasks.
    """

    def __init__(self, request: Request, usual_filter: str, not_scores: re.Pattern[str] | None) -> None:
        self._columns, self._asked = request.columns, request.asked
        self._usual_filter, self._not_scores = usual_filter, not_scores
        # score or filter -> task -> the name.
        self._made: dict[str, dict[str, str]] = {ours: {} for ours in OF_TASKS}
        # score or filter -> the first log in which it is open, and its names.
        self._open: dict[str, tuple[Path, list[str]]] = {}
        # A metric that only logs have, and no log had yet.
        self._missed = bool(request.asked) and only_in_logs(request.asked)
        self._must_have = request.asked if self._missed else ""

    def answers_of(self, log: Log) -> tuple[list[Answer], str, str]:
        """The answers of a log under its filter, this filter, and the name of its score."""
        answers = list(log.answers)
        filters = list(dict.fromkeys(answer.filter for answer in answers))
        filter = ""
        if filters != [""] or self._wanted("filter", log.task) != self._columns.get("filter"):
            filter = self._chosen(log, "filter", filters, self._usual_filter)
        answers = [answer for answer in answers if answer.filter == filter]
        scores = list(dict.fromkeys(name for answer in answers for name in answer.scores))
        return answers, filter, self._chosen(log, "score", scores, self._asked)

    def _wanted(self, ours: str, task: str) -> str | None:
        """The name that the user chose for a task: under score@task, score@pattern, or score."""
        patterns = [name for name in self._columns if name.startswith(f"{ours}@")]
        fits = (name for name in patterns if fnmatchcase(task, name.partition("@")[2]))
        return self._columns.get(f"{ours}@{task}", self._columns.get(next(fits, ours)))

    def _chosen(self, log: Log, ours: str, names: list[str], default: str) -> str:
        """The one of the names of a log that is chosen, or is the default, or comes first."""
        wanted = self._wanted(ours, log.task)
        if wanted is not None and wanted not in names:
            rule = f"no {ours} '{wanted}' among {listed(names, _MOST) or 'none'}{nearest(wanted, names)}"
            remedy = Words("{chosen} chooses for this task", chosen=column(f"{ours}@{log.task}"))
            raise InputError(rule, remedy=remedy, at=log.path)
        minor = self._not_scores if ours == "score" else None
        usual = [name for name in names if minor is None or not minor.fullmatch(name)]
        name = wanted or (default if default in names else next(iter(usual), None))
        if name is None:
            raise InputError("the log has no samples" if not names else f"the answers have no {ours}", at=log.path)
        lacks = ours == "score" and self._must_have not in ("", name)
        if wanted is None and (lacks or (len(usual) > 1 and name != default)):
            self._open.setdefault(ours, (log.path, usual))
        self._missed &= name != self._must_have
        self._made[ours].setdefault(log.task, name)
        return name

    def close(self, tasks: Sequence[str]) -> None:
        """Raise an InputError for a choice of no task that there is, and for choices that are open."""
        for name in self._columns:
            ours, at, pattern = name.partition("@")
            if at and ours in OF_TASKS and not any(task == pattern or fnmatchcase(task, pattern) for task in tasks):
                known = sorted({*tasks})
                rule = f"'{name}' chooses for no task of {listed(known, _MOST)}{nearest(pattern, known)}"
                raise InputError("columns", rule)
        if self._missed:
            names = list(dict.fromkeys(self._made["score"].values()))
            hint = nearest(self._asked, [*names, *METRICS, *ALIASES])
            rule = f"must be one of simstudy or of the logs ({listed(names, _MOST)}){hint}"
            raise InputError("metric", rule, self._asked)
        if not self._open:
            return
        columns = dict(self._columns)
        for ours in self._open:
            made = {task: name for task, name in self._made[ours].items() if name}
            usual = Counter(made.values()).most_common(1)[0][0]
            columns |= {ours: usual} | {f"{ours}@{task}": name for task, name in made.items() if name != usual}
        ours, (path, names) = next(iter(self._open.items()))
        remedy = Words("{columns} chooses for all tasks, the first of several", columns=Argument("columns", columns))
        raise InputError(f"the {ours} may be {listed(names, _MOST)}", remedy=remedy, at=path)


# What must be the same ---------------------------------------------------------------------------------------------
def _check_comparable(facts: pd.DataFrame, rows: pd.DataFrame, unit: str, allowed: Sequence[str]) -> None:
    """Raise an InputError if logs of one task differ in more than the model; a note tells of differences allowed.

    Prompts of two logs that are known to have different chat templates may differ.
    """
    refused = []
    rows = rows.join(facts[["path", "template"]], on="log")
    for what in DIFFERENCES:
        keys, frame = (["task", "item"], rows) if what in _OF_ITEMS else (["task"], facts)
        compared = frame[frame[what].notna()].reset_index(drop=True)
        group = compared.groupby(keys, sort=False).ngroup().to_numpy()
        first = compared.iloc[np.unique(group, return_index=True)[1][group]].reset_index(drop=True)
        differs = (compared[what] != first[what]).to_numpy()
        templates, others = compared["template"], first["template"]
        by_template = (templates.notna() & others.notna() & (templates != others)).to_numpy() & (what == "prompt")
        explained = not (differs & ~by_template).any()
        differs = differs if explained else differs & ~by_template
        if not differs.any():
            continue
        row = int(np.argmax(differs))
        values = "" if what in _DIGESTS else f" ({shown(compared[what][row])!r} and {shown(first[what][row])!r})"
        fields = {
            "what": what,
            "of": " of ".join(f"{key} '{compared[key][row]}'" for key in reversed(keys)),
            "n": counted(len(np.unique(group[differs])), keys[-1]),
            "all": f"{group.max() + 1:,}",
            "place": _place(compared.iloc[row], unit),
            "other": _place(first.iloc[row], unit) + values,
        }
        if explained or what in allowed:
            note("logs differ", **fields, reason="chat templates differ" if explained else "you allowed it")
        else:
            refused.append(fields)
    if refused:
        names = [fields["what"] for fields in refused]
        allow = Argument("allow_different", names if len(names) > 1 else names[0])
        remedy = Words("{allow} compares such logs all the same", allow=allow)
        rule = "another {what} of {of} than in {other}; {n} of {all} differ".format(**refused[0])
        raise InputError(rule, remedy=remedy, at=refused[0]["place"])


def _place(row: pd.Series[Any], unit: str) -> str:
    return f"{row['path']}, {unit} {row['place']}" if "place" in row else str(row["path"])
