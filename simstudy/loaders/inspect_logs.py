"""Eval logs of Inspect (UK AI Security Institute): archives (.eval) and logs in JSON form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.loaders.base import Loaded, Source, system_files
from simstudy.loaders.harness_texts import as_read
from simstudy.loaders.inspect_archives import read_archive
from simstudy.loaders.json_files import first_keys, read_json
from simstudy.loaders.mixtures import Mixtures
from simstudy.loaders.reading import once
from simstudy.loaders.tables import check_takes_one_score, number
from simstudy.loaders.task_choices import check_tasks, chosen, of_domain, read_each
from simstudy.loaders.task_logs import Answer, TaskLog, assemble_tasks
from simstudy.notes import note
from simstudy.validation import InputError

#: Inspect's value_to_float.
_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

# A long text of a sample that is kept beside it: this, and its name.
_ATTACHMENT = "attachment://"


@dataclass(frozen=True)
class Sample:
    """What was asked (a digest of it), the right answer, and what the model said (as JSON; None if not known)."""

    input: str
    target: str
    said: str | None


@dataclass(frozen=True)
class Log:
    """One log: a model's answers to the samples of a task.

    Samples go by id and epoch; the scored ones have a value under the scorer.
    """

    path: Path
    model: str
    task: str
    version: Any
    samples: Mapping[tuple[str, int], Sample]
    scored: Mapping[tuple[str, int], Any]
    #: The scorer's name, and its name with its options where the log has these.
    scorer: str
    scorer_with_options: str


def holds_inspect(path: Path) -> bool:
    """Whether a file is an Inspect log: an archive by its name, JSON by its keys."""
    return path.suffix.lower() == ".eval" or {"status", "eval", "task", "model"} <= first_keys(path)


def read_inspect(source: Source) -> Loaded:
    """Systems from Inspect eval logs: archives (.eval), or logs in JSON form.

    The system is the model, or the file where logs of one task have the same model. Items are samples, by their id, and
    tasks domains, as `assemble_tasks` has it; epochs are samples of an item (`simstudy.loaders.items`). Values are
    numbers as Inspect takes them: C 1, P (partial) 0.5, I and N (no answer) 0. What has no score (it failed, or the
    scorer left it unscored) is missing. `Source.columns` chooses of several scorers: {"score": "match"}, or
    {"score@quiz": "match"} for one task. Logs of one task must agree on its version, the scorer, the inputs and the
    targets (`simstudy.loaders.mixtures`).
    """
    check_takes_one_score(source.metric)
    tasks: set[str] = set()

    def task_of(path: Path) -> str:
        tasks.add(task := str(_parsed(path)["eval"]["task"]))
        return task

    paths = source.paths if source.domain is None else of_domain(source.paths, source.domain, task_of)
    inputs: dict[str, str] | None = {} if source.keeps_texts else None
    read = read_each(
        paths, source.columns,
        lambda path, columns: read_log(path, columns, source.asked, inputs), lambda log: (log.task, log.scorer, None),
    )  # fmt: skip
    check_tasks(source.columns, tasks | {log.task for log in read})
    mixtures = Mixtures(source.allow_different)
    for log in read:
        _check(log, mixtures)
    mixtures.close()
    logs = [
        TaskLog(
            log.path,
            name,
            log.task,
            log.scorer,
            _answers(log),
            told=lambda answer: as_read(answer.said),
            asks=lambda answer: (as_read((inputs or {}).get(answer.of.input)), as_read(answer.of.target or None)),
        )
        for name, log in zip(_names(read, source.names), read, strict=True)
    ]
    return assemble_tasks(logs, source)


def read_log(path: Path, columns: Mapping[str, str], asked: str = "", inputs: dict[str, str] | None = None) -> Log:
    """One log, under the scorer that the columns choose for its task, or the only one.

    What samples ask is put into `inputs`, by its digest.
    """
    log = _parsed(path)
    if log["status"] != "success":
        raise InputError(
            f"{path}: the log's status is '{log['status']}', not 'success': the evaluation is not complete"
        )
    if log.get("invalidated"):
        note("text", text=f"{path}: the log is marked as invalidated")
    samples = [_sample(path, i, sample, inputs) for i, sample in enumerate(log.get("samples") or (), start=1)]
    if not samples:
        raise InputError(f"{path}: the log has no samples")
    about = log["eval"]
    task = str(about["task"])
    known = list(dict.fromkeys(name for _, _, own in samples for name in own))
    scorer = chosen(path, known, columns, "scorer", "score", task=task, asked=asked)
    scored: dict[tuple[str, int], Any] = {}
    seen: dict[tuple[str, int], Sample] = {}
    for (name, epoch), sample, own in samples:
        if (name, epoch) in seen:
            raise InputError(f"{path}: sample '{name}' is there twice, both times as epoch {epoch}")
        seen[name, epoch] = sample
        value = own.get(scorer)
        # NaN is Inspect's mark of what a scorer leaves unscored.
        if value is not None and value == value:
            scored[name, epoch] = value
    version = about.get("task_version")
    return Log(path, str(about["model"]), task, version, seen, scored, scorer, _with_options(about, scorer))


def _check(log: Log, mixtures: Mixtures) -> None:
    """Raise a ValueError where a log differs from others of its task in more than the model."""
    place = str(log.path)
    mixtures.check("scorer", log.task, log.scorer, place)
    if log.scorer_with_options != log.scorer:
        mixtures.check("scorer", log.task, log.scorer_with_options, place, part="options")
    mixtures.check("version", log.task, log.version, place)
    for (name, _), sample in log.samples.items():
        mixtures.check("input", log.task, sample.input, place, item=name)
        mixtures.check("target", log.task, sample.target, place, item=name)


def _with_options(about: Mapping[str, Any], scorer: str) -> str:
    """The scorer's name, and the options that it was called with where the log says so."""
    listed = about.get("scorers")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("name") == scorer and isinstance(one.get("options"), dict):
            return f"{scorer} {json.dumps(one['options'], sort_keys=True, ensure_ascii=False, default=str)}"
    return scorer


def _sample(
    path: Path, n: int, sample: Any, inputs: dict[str, str] | None
) -> tuple[tuple[str, int], Sample, dict[str, Any]]:
    """Id and epoch of the n-th sample, the sample, and the value by each scorer; what was asked goes to `inputs`."""
    try:
        scores = {str(k): None if v is None else v["value"] for k, v in (sample.get("scores") or {}).items()}
        content = json.dumps(_plain(sample, sample.get("input")), ensure_ascii=False)
        asked = "" if sample.get("input") is None else sha256(content.encode(errors="surrogatepass")).hexdigest()
        target = "" if sample.get("target") is None else json.dumps(sample["target"], ensure_ascii=False, default=str)
        key = str(sample["id"]), int(sample.get("epoch", 1))
        if inputs is not None and asked:
            inputs.setdefault(asked, content)
        return key, Sample(asked, target, _said(sample)), scores
    except (KeyError, TypeError, AttributeError, OverflowError, ValueError, RecursionError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else error
        raise InputError(f"{path}, sample {n}: not as Inspect writes it ({problem})") from None


def _said(sample: Mapping[str, Any]) -> str | None:
    """What the model said, as JSON: the whole completion, not what a scorer took from it. None where nothing says."""
    output = sample.get("output") or {}
    choices = output.get("choices") or [{}]
    content = (choices[0].get("message") or {}).get("content")
    said = output.get("completion") if content is None else content
    return None if said is None else json.dumps(_plain(sample, said), ensure_ascii=False)


def _plain(sample: Mapping[str, Any], content: Any) -> Any:
    """A text, a message, or a list of these without what differs between runs: ids, empty fields, attachments.

    Inspect keeps a long text as an attachment, which a sample refers to by name.
    """
    if isinstance(content, str):
        name = content.removeprefix(_ATTACHMENT)
        return content if name == content else (sample.get("attachments") or {}).get(name, content)
    if isinstance(content, list):
        return [_plain(sample, part) for part in content]
    if isinstance(content, dict):
        if "role" in content:
            return [content["role"], _plain(sample, content.get("content"))]
        known = {name: content[name] for name in sorted(content) if name in _OF_PARTS}
        return {name: _plain(sample, value) for name, value in known.items() if value is not None}
    return content if content is None or isinstance(content, int | float) else str(content)


# The fields of a part of a message that are its content.
_OF_PARTS = ("type", "text", "reasoning", "image", "audio", "video", "document", "data")


@once
def _parsed(path: Path) -> dict[str, Any]:
    log: Any = read_archive(path) if path.suffix.lower() == ".eval" else read_json(path)
    about = log.get("eval") if isinstance(log, dict) else None
    if not isinstance(about, dict) or "status" not in log or not {"task", "model"} <= about.keys():
        raise InputError(f"{path}: not an Inspect eval log: it has no status, or no task and model")
    if not isinstance(log.get("samples") or [], list):
        raise InputError(f"{path}: not as Inspect writes it (samples are no list)")
    return dict(log)


def _names(logs: Sequence[Log], given: Mapping[Path, str]) -> list[str]:
    """The names given, or the models; files where one task has several logs of a model (other solvers, prompts)."""
    names = {log.path: given.get(log.path, log.model) for log in logs}
    if len({log.task for log in logs}) == 1:
        counts = Counter(names.values())
        repeated = [path for path, name in names.items() if counts[name] > 1 and path not in given]
        names |= {path: name for name, path in system_files(repeated).items()}
    return list(names.values())


def _answers(log: Log) -> list[Answer]:
    answers = []
    for (name, epoch), sample in log.samples.items():
        place, value = f"{log.path}, sample '{name}'", log.scored.get((name, epoch))
        score = None if value is None else _number(value)
        if score is not None and np.isnan(score):
            raise InputError(f"{place}: the value must be one number or C, I, P, N, not {value!r:.60}")
        answers.append(Answer(name, epoch if epoch > 1 else None, score, place, sample.said, sample))
    return answers


def _number(value: Any) -> float:
    """A score's value as Inspect's value_to_float has it; NaN where it is not one number."""
    if isinstance(value, str):
        return _VALUES.get(value, _VALUES.get(value.lower(), number(value)))
    try:
        return float(value)
    except (TypeError, OverflowError):
        return np.nan
