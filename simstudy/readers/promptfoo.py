"""Results of promptfoo: ``promptfoo eval -o results.json``, or a line for each result (``results.jsonl``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from simstudy.files.packed import plain_name
from simstudy.readers.formats import Format
from simstudy.readers.logs import Answer, Log, read_logs
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request
from simstudy.readers.text_files import field_of, first_keys, parse_json, read_json, read_lines
from simstudy.validation import InputError

# What makes a test. Its number does not: a repeat of a test has another one.
_TEST = ("description", "vars", "assert")

# Characters of a test's description that its id shows.
_LONGEST = 60

# The failureReason of a result without an answer.
_ERROR = 2


def read(request: Request) -> LongTable:
    """Rows from results of promptfoo, of one or several systems in a file.

    The system is the provider's label or id, with the prompt's label if the file has several prompts. Items are the
    different tests, by what they say; repeats of a test are samples of an item. The score is ``score``, unless the user
    names ``success`` or ``namedScores.NAME``. A result with an error and without an output has no score.
    """
    logs = [log for path in request.paths for log in _logs(path, request)]
    return read_logs(request, logs, "result", usual_score="score", named_by_file=True, answers_compare=True)


def _holds(path: Path) -> bool:
    """Whether a file has results of promptfoo: by its keys."""
    return {"provider", "vars", "success", "namedScores"} <= first_keys(path)


def _logs(path: Path, request: Request) -> list[Log]:
    """The logs in a file: one for each provider and prompt."""
    results = _results(path)
    several = len({_label(result, "prompt", at) for at, result in results}) > 1
    answers: dict[str, list[Answer]] = {}
    columns: dict[str, object] = {}
    tests: dict[str, str] = {}
    repeats: Counter[tuple[str, str]] = Counter()
    for at, result in results:
        labels = [_label(result, name, at) for name in ("provider", "prompt")[: 1 + several]]
        system = " / ".join(labels)
        if columns.setdefault(system, result.get("promptIdx")) != result.get("promptIdx"):
            rule = f"two providers, or two prompts, are called '{system}'"
            raise InputError(rule, remedy="give them labels", at=at)
        test = {name: result.get(name) for name in _TEST} | field_of(result, "testCase", dict, at, {})
        key = json.dumps([test[name] for name in _TEST], sort_keys=True)
        if key not in tests:
            # A test is called alike in every file.
            name = _test_name(test)
            n_before = sum(other.partition("#")[0] == name for other in tests.values())
            tests[key] = f"{name}#{n_before + 1}" if n_before else name
        item = tests[key]
        repeats[system, item] += 1
        output = field_of(result, "response", dict, at, {}).get("output")
        answer = Answer(
            item=item,
            place=at.rpartition(" ")[2],
            sample=repeats[system, item],
            input=as_text(test["vars"]),
            target=as_text(test["assert"] or None),
            question=as_text(field_of(result, "prompt", dict, at).get("raw")),
            response=as_text(output),
        )
        failed = result.get("error") and (output is None or result.get("failureReason") == _ERROR)
        scores = {"score": result.get("score"), "success": result.get("success")}
        named = field_of(result, "namedScores", dict, at, {})
        for name, value in (scores | {f"namedScores.{name}": named[name] for name in named}).items():
            answers.setdefault(system, []).append(answer._replace(metric=name, score=None if failed else value))
    if path in request.names and len(answers) > 1:
        raise InputError("paths", f"must not be named: {path} has {len(answers)} systems", request.names[path])
    return [Log(path, system, "promptfoo", answers_of_system) for system, answers_of_system in answers.items()]


def _results(path: Path) -> list[tuple[str, Any]]:
    """The results of a file with their places, in the order of tests and prompts; promptfoo writes them in any."""
    if plain_name(path).endswith(".jsonl"):
        results = [parse_json(line, path, n) for n, line in enumerate(read_lines(path), start=1)]
    else:
        # Files of early versions have the list itself.
        content = field_of(read_json(path), "results", dict | list, path)
        results = content if isinstance(content, list) else field_of(content, "results", list, path)
    placed = [(f"{path}, result {n}", result) for n, result in enumerate(results, start=1)]
    return sorted(
        placed, key=lambda pair: [field_of(pair[1], name, int, pair[0], 0) for name in ("testIdx", "promptIdx")]
    )


def _test_name(test: Mapping[str, Any]) -> str:
    """The description of a test, else its variables, in one line."""
    variables = test["vars"] if isinstance(test["vars"], dict) else {}
    text = test["description"] or " / ".join(as_text(value) or "" for value in variables.values()) or "test"
    text = " ".join(str(text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… {sha256(text.encode()).hexdigest()[:6]}"


def _label(result: Any, name: str, at: str) -> str:
    """The label of the provider or the prompt of a result, else its id or its text, in one line."""
    about = field_of(result, name, dict, at)
    return " ".join(str(about.get("label") or about.get("id") or about.get("display") or about.get("raw")).split())


FORMAT = Format("promptfoo", "results of promptfoo", read, ("*.json", "*.jsonl"), _holds, scored=True, is_log=True)
