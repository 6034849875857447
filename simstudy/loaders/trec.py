"""TREC runs: ranked documents of each topic, scored against relevance judgments (qrels) as trec_eval does.

Runs and qrels are TREC's text files, or the JSON of ranx and pytrec_eval: ``{topic: {docno: score}}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.items import items_by_id
from simstudy.loaders.json_files import read_json
from simstudy.loaders.reading import once, read_lines
from simstudy.loaders.tables import ending, number
from simstudy.metrics.ranking import ranking_score
from simstudy.notes import note
from simstudy.text.numerals import counted
from simstudy.validation import InputError

#: Topic -> document -> grade of relevance.
Qrels = dict[str, dict[str, int]]

# More digits than any scale has would be more than an array takes.
_GRADE = re.compile(r"[+-]?[0-9]{1,9}")
_LARGEST = 1e300

# Documents of a ranking that people see.
_SHOWN = 10


def read_trec(source: Source) -> Loaded:
    """Systems from TREC runs, one file for each (``topic Q0 docno rank score tag``, or JSON), and one file of qrels.

    As in trec_eval, documents are ranked by score, highest first, and by docno, last first, where scores tie in single
    precision; the rank column is not looked at. Items are the topics with a relevant document, in the order of the
    qrels; other topics of a run are left out. A topic that a run lacks is missing (`trec_eval -c`: missing="zero").
    """
    if len(source.references) != 1:
        raise InputError(f"TREC runs need one reference, the file of qrels, not {len(source.references)}")
    ranking_score(source.metric, [], [])
    qrels = read_qrels(source.references[0])
    topics = [topic for topic, judged in qrels.items() if max(judged.values()) >= 1]
    if not topics:
        raise InputError(f"{source.references[0]}: no topic has a relevant document")
    if len(topics) < len(qrels):
        lacking = next(topic for topic in qrels if topic not in set(topics))
        note(
            "text",
            text=(
                f"{source.references[0]}: {len(qrels) - len(topics)} of {len(qrels)} topics left out that have no "
                f"relevant document, first '{lacking}'"
            ),
        )
    systems = []
    for name, path in source.systems().items():
        run = read_run(path)
        known = [topic for topic in topics if topic in run]
        rankings = [tuple(run[topic]) for topic in known]
        scores = []
        for topic, ranking in zip(known, rankings, strict=True):
            grades = [qrels[topic].get(document, 0) for document in ranking]
            scores.append([ranking_score(source.metric, grades, list(qrels[topic].values())), 1])
        others = [topic for topic in run if topic not in qrels]
        if others:
            note(
                "text",
                text=f"{path}: {counted(len(others), 'topic')} left out that the qrels lack, first '{others[0]}'",
            )
        statistics = np.array(scores, dtype=np.float64).reshape(-1, 2)
        texts = (_text(ranking, qrels[topic]) for topic, ranking in zip(known, rankings, strict=True))
        systems.append(SystemOutputs(name, str(path), known, statistics, rankings, texts=texts))
    items = items_by_id(source, pd.DataFrame({"id": topics}))
    asked = Asked(references={topic: _text(_best(qrels[topic]), qrels[topic]) for topic in topics})
    return assemble(systems, source, items, lambda topic: np.array([0, 1]), asked)


def _best(judged: Mapping[str, int]) -> list[str]:
    """The relevant documents of a topic, the most relevant first."""
    return sorted((document for document, grade in judged.items() if grade >= 1), key=lambda one: -judged[one])


def _text(documents: Sequence[str], judged: Mapping[str, int]) -> str:
    """The first documents of a ranking with their grades of relevance, as people read it; "?": not judged."""
    listed = "\n".join(f"{one} ({judged.get(one, '?')})" for one in documents[:_SHOWN])
    more = len(documents) - _SHOWN
    return f"{listed}\n… {more:,} more" if more > 0 else listed


@once
def read_qrels(path: Path) -> Qrels:
    """The judgments of a file of qrels (``topic iteration docno relevance``, or JSON)."""
    qrels: Qrels = {}
    for place, topic, document, grade in _entries(path, "topic iteration docno relevance"):
        if not (isinstance(grade, int) or _GRADE.fullmatch(str(grade))):
            raise InputError(f"{place}: relevance must be a whole number, not {grade!r}")
        qrels.setdefault(topic, {})[document] = int(grade)
    return qrels


@once
def read_run(path: Path) -> dict[str, list[str]]:
    """The documents of each topic of a run, best first."""
    run: dict[str, dict[str, float]] = {}
    for place, topic, document, score in _entries(path, "topic Q0 docno rank score tag"):
        scores = run.setdefault(topic, {})
        scores[document] = number(score) if isinstance(score, str) else float(score)
        if not isfinite(scores[document]):
            raise InputError(f"{place}: the score must be a number, not {score!r}")
    return {topic: _ranked(scores) for topic, scores in run.items()}


def _ranked(scores: dict[str, float]) -> list[str]:
    with np.errstate(over="ignore"):
        single = np.array(list(scores.values())).astype(np.float32).tolist()
    # Code points are in the order of their UTF-8 bytes, which strcmp compares.
    return [document for _, document in sorted(zip(single, scores, strict=True), reverse=True)]


def _entries(path: Path, form: str) -> Iterator[tuple[str, str, str, Any]]:
    """The place, topic, document and number of each line of this form, or of each entry of JSON; each is there once."""
    if ending(path) == ".json":
        yield from _json_entries(path)
        return
    names, seen = form.split(), set()
    at = [names.index(name) for name in ("topic", "docno", "score" if "score" in names else "relevance")]
    for n, line in enumerate(read_lines(path), start=1):
        cells = line.split()
        if cells and len(cells) != len(names):
            raise InputError(f"{path}, line {n}: {counted(len(cells), 'column')}, not {len(names)} ({form})")
        if cells:
            topic, document, value = (cells[i] for i in at)
            if (topic, document) in seen:
                raise InputError(f"{path}, line {n}: document '{document}' is twice in topic '{topic}'")
            seen.add((topic, document))
            yield f"{path}, line {n}", topic, document, value


def _json_entries(path: Path) -> Iterator[tuple[str, str, str, Any]]:
    """The same of ``{topic: {docno: number}}``."""
    found = read_json(path)
    if not isinstance(found, dict) or not found:
        raise InputError(f"{path}: a run or qrels in JSON must be {{topic: {{document: number}}}}")
    for topic, scored in found.items():
        if not isinstance(scored, dict):
            raise InputError(f"{path}, topic '{topic}': must be {{document: number}}")
        for document, value in scored.items():
            place = f"{path}, topic '{topic}', document '{document}'"
            if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
                raise InputError(f"{place}: must be a number, not {json.dumps(value)[:60]}")
            yield place, topic, document, value
