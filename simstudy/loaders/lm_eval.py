"""Sample logs of EleutherAI's lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, as --log_samples writes them."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simstudy.files.unpacking import plain_name
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.harness_texts import asked_of_document, responses_of
from simstudy.loaders.json_files import first_keys, parse_json
from simstudy.loaders.lm_eval_runs import Run, named_runs, newest_runs
from simstudy.loaders.mixtures import Mixtures
from simstudy.loaders.reading import once, read_lines
from simstudy.loaders.tables import check_takes_one_score
from simstudy.loaders.task_choices import check_tasks, chosen, note_metrics, of_domain, read_each, wanted
from simstudy.loaders.task_logs import Answer, TaskLog, assemble_tasks
from simstudy.loaders.text_columns import as_text
from simstudy.outputs.item_columns import names_samples
from simstudy.validation import InputError

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
#: Fields of a sample that are not metrics, in all versions of the harness from 0.4.0.
_FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "schema"}

# The filter of a task with one way to read the answers.
_ONE_WAY = "none"

# Where the harness (from 0.5) has the scores of several responses to a document, by metric.
_REPEATS = "scores_per_repeat"

#: A line of a log: what was asked (``doc_id``), what came out, and a number under each metric.
Sample = dict[str, Any]


#: A run with the chosen metric and filter of its log, and the samples under these.
Read = tuple[Run, str, str, list[tuple[int, Sample]]]


def holds_lm_eval(path: Path) -> bool:
    """Whether a file is a sample log: by its name, or by its keys."""
    if _NAME.fullmatch(plain_name(path)):
        return True
    keys = first_keys(path)
    return "doc_id" in keys and not keys.isdisjoint(("resps", "filtered_resps", "metrics", "arguments"))


def read_lm_eval(source: Source) -> Loaded:
    """Systems from sample logs of lm-evaluation-harness, one file for each model and task.

    The system is the folder of the file, which the harness names after the model. Items are the documents of the task,
    by ``doc_id``, and tasks are domains, as `assemble_tasks` has it; several responses to a document are samples of an
    item (`simstudy.loaders.items`). `Source.columns` chooses where there is a choice: {"score": "acc_norm"} of several
    metrics, {"filter": "strict-match"} of several filters, and {"score@gsm8k": "exact_match"} for one task.

    If a folder has a task several times, the newest file is read. Logs of one task must agree on the metric, the
    filter, the task's version and number of shots, the documents, targets and prompts (`simstudy.loaders.mixtures`).
    The versions come from the file ``results_<time>.json`` beside a log.
    """
    check_takes_one_score(source.metric)
    runs = named_runs(newest_runs([_run(path) for path in source.paths]))
    check_tasks(source.columns, {run.task for run in runs})
    mixtures = Mixtures(source.allow_different)

    def of_run(run: Run, columns: Mapping[str, str]) -> Read:
        return run, *read_samples(run.path, columns, run.task, source.asked)

    read = read_each(
        of_domain(runs, source.domain, lambda run: run.task), source.columns, of_run,
        lambda one: (one[0].task, one[1], None if one[2] == _ONE_WAY else one[2]),
    )  # fmt: skip
    for run, metric, one, samples in read:
        _check(run, metric, one, samples, mixtures)
    mixtures.close()
    number = source.columns.get("sample")
    logs = [
        TaskLog(
            run.path,
            source.names.get(run.path, run.system),
            run.task,
            metric,
            list(_answers(run.path, metric, samples, number)),
            told=_told,
            asks=lambda answer: (asked_of_document(answer.of[0]), as_text(answer.of[0].get("target"))),
        )
        for run, metric, _, samples in read
    ]
    note_metrics(logs, source.columns)
    return assemble_tasks(logs, source)


def read_samples(
    path: Path, columns: Mapping[str, str], task: str, asked: str = ""
) -> tuple[str, str, list[tuple[int, Sample]]]:
    """The chosen metric and filter of one file, and its samples under these, each with its line."""
    logged = _parsed(path)
    found = list(dict.fromkeys(str(sample.get("filter", _ONE_WAY)) for _, sample in logged))
    one = _ONE_WAY
    # There is nothing to choose, but for that task alone.
    if found != [_ONE_WAY] or wanted(columns, "filter", task) not in (None, columns.get("filter")):
        one = chosen(path, found, columns, "filter", "filter", task=task)
        logged = [(line, sample) for line, sample in logged if sample.get("filter", _ONE_WAY) == one]
    known = list(dict.fromkeys(str(name) for _, sample in logged for name in _metrics(sample)))
    return chosen(path, known, columns, "metric", "score", task=task, asked=asked), one, logged


def _metrics(sample: Sample) -> list[Any]:
    """The metrics that a sample lists; in early versions it does not, and its numbers are metrics."""
    own = [name for name, value in sample.items() if name not in _FIELDS and isinstance(value, int | float)]
    listed: list[Any] = sample.get("metrics", own)
    return listed


def _check(run: Run, metric: str, one: str, samples: Sequence[tuple[int, Sample]], mixtures: Mixtures) -> None:
    """Raise a ValueError where a log differs from others of its task in more than the model."""
    task, place = run.task, str(run.path)
    for what, value in (("metric", metric), ("filter", one), ("version", run.version), ("shots", run.shots)):
        mixtures.check(what, task, value, place)
    for line, sample in samples:
        where, item = f"{run.path}, line {line}", str(sample["doc_id"])
        # In logs of early versions hashes are empty or not there.
        mixtures.check("input", task, sample.get("doc_hash"), where, item=item)
        mixtures.check("target", task, as_text(sample.get("target")), where, item=item)
        mixtures.check("prompt", task, sample.get("prompt_hash"), where, item=item, setting=run.template)


def _answers(path: Path, metric: str, samples: Sequence[tuple[int, Sample]], number: str | None) -> Iterator[Answer]:
    """The responses of a log: each is of its sample, as logged, and of its place among the responses to that."""
    first: dict[tuple[str, object], int] = {}
    counts = Counter(str(sample["doc_id"]) for _, sample in samples)
    for line, sample in samples:
        doc_id = str(sample["doc_id"])
        if metric not in sample:
            raise InputError(f"{path}, line {line}: no metric '{metric}' in this sample")
        said = _said(sample)
        scores = _repeated(sample, metric)
        own: list[tuple[int | str | None, Any, str | None]]
        if scores is not None:
            own = list(zip(range(1, len(scores) + 1), scores, said, strict=True))
        else:
            whole = said[0] if len(said) == 1 else json.dumps(said, ensure_ascii=False)
            own = [(_number(sample, number) if counts[doc_id] > 1 else None, sample[metric], whole)]
        for place, (which, score, text) in enumerate(own):
            at = first.setdefault((doc_id, which), line)
            if at != line:
                raise InputError(
                    f"{path}, line {line}: doc_id {doc_id} again, first in line {at}; samples of a document go into a "
                    "table of scores, with a column 'sample'"
                )
            _check_score(path, line, metric, score)
            yield Answer(doc_id, which, score, f"{path}, line {line}", text, (sample, place))


def _repeated(sample: Sample, metric: str) -> list[Any] | None:
    """The scores of several responses to a document; None where there is one score."""
    repeats = sample.get(_REPEATS)
    scores = repeats.get(metric) if isinstance(repeats, dict) else sample[metric]
    resps = sample.get("resps")
    # Corpus metrics are pairs (F1 of a class) or longer, and of one request with several responses to choose from.
    if isinstance(scores, list) and isinstance(resps, list) and len(resps) == 1 and isinstance(resps[0], list):
        return scores if len(scores) == len(resps[0]) > 1 else None
    return None


def _said(sample: Sample) -> list[str | None]:
    """What the model said, as JSON: raw responses, not what a filter took from them. None where nothing says."""
    resps = sample.get("resps")
    if not isinstance(resps, list) or not resps:
        return [None]
    of = resps[0] if len(resps) == 1 and isinstance(resps[0], list) else [resps]
    return [json.dumps(response, ensure_ascii=False) for response in of] or [None]


def _told(answer: Answer) -> str | None:
    """What the model said, as people read it."""
    sample, place = answer.of
    texts = responses_of(sample)
    # One score of several responses: it is of all of them together.
    if answer.sample is None and len(texts) > 1:
        return "\n\n".join(text for text in texts if text is not None)
    told: str | None = texts[min(place, len(texts) - 1)]
    return told


def _number(sample: Sample, name: str | None) -> int | str | None:
    """The number of one of several samples of a document, from a field that is called so."""
    field = name if name is not None else next((one for one in sample if names_samples(one)), None)
    value = None if field is None else sample.get(field)
    return value if isinstance(value, int | str) else None


def _check_score(path: Path, line: int, metric: str, score: Any) -> None:
    if score != score:
        raise InputError(f"{path}, line {line}: no score, '{metric}' is NaN")
    if not isinstance(score, int | float) or abs(score) > sys.float_info.max:
        # Of corpus measures (BLEU, F1 of a class) the harness logs what it needs, and scores all samples at once.
        shown = json.dumps(score, ensure_ascii=False)[:60]
        raise InputError(f"{path}, line {line}: '{metric}' is no score of this one sample, but {shown}")


def _run(path: Path) -> Run:
    found = _NAME.fullmatch(plain_name(path))
    if not found:
        raise InputError(
            f"{path}: sample logs of lm-evaluation-harness are called samples_<task>_<time>.jsonl; format='scores' "
            "reads other records with scores"
        )
    return Run.of(path, found["task"], found["time"])


@once
def _parsed(path: Path) -> list[tuple[int, Sample]]:
    logged = []
    for number, line in enumerate(read_lines(path), start=1):
        sample = parse_json(line, path, number)
        if not isinstance(sample, dict) or "doc_id" not in sample:
            raise InputError(f"{path}, line {number}: not a sample of lm-evaluation-harness: it has no doc_id")
        if not isinstance(sample.get("metrics", []), list):
            shown = json.dumps(sample["metrics"], ensure_ascii=False)[:60]
            raise InputError(f"{path}, line {number}: 'metrics' must be a list of names, not {shown}")
        logged.append((number, sample))
    return logged
