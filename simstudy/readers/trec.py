"""TREC runs: ranked documents of each topic, scored against relevance judgments (qrels) as trec_eval does.

Runs and qrels are TREC's text files, or the JSON of ranx and pytrec_eval: ``{topic: {docno: score}}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics.ranking import KINDS, ranking_measure
from simstudy.notes import note
from simstudy.readers.columns import number
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.tables import ending
from simstudy.readers.text_files import once, read_json, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

#: Topic -> document -> grade of relevance.
Qrels = dict[str, dict[str, int]]

# More digits than any scale has would be more than an array takes.
_GRADE = re.compile(r"[+-]?[0-9]{1,9}")
_LARGEST = 1e300

# Documents of a ranking that people see.
_SHOWN = 10


def read(request: Request) -> LongTable:
    """Rows of TREC runs, a file for each system (``topic Q0 docno rank score tag``, or JSON), and one file of qrels.

    As in trec_eval, documents are ranked by score, highest first, and by docno, last first, if scores tie in single
    precision; the rank column does not count. Items are the topics with a relevant document, in the order of the
    qrels; other topics of a run are left out. A topic that a run lacks is missing (`trec_eval -c`: missing="zero").
    """
    if len(request.references) != 1:
        raise InputError("references", f"of TREC runs must be one file, the qrels, not {len(request.references)}")
    measure = ranking_measure(request.metric.name)
    if measure is None:
        raise InputError("metric", f"must be one of {', '.join(KINDS)} for rankings", request.metric.name)
    qrels_path = request.references[0]
    qrels = read_qrels(qrels_path)
    topics = [topic for topic, judged in qrels.items() if max(judged.values()) >= 1]
    if not topics:
        raise InputError("no topic has a relevant document", at=qrels_path)
    if lacking := [topic for topic in qrels if topic not in set(topics)]:
        note("topics without relevance", path=qrels_path, n=len(lacking), all=len(qrels), first=lacking[0])
    rows = []
    for name, path in request.named_files().items():
        run = read_run(path)
        judged_topics = [topic for topic in topics if topic in run]
        if not judged_topics:
            raise InputError(f"has no topic of {qrels_path} that has a relevant document", at=path)
        for topic in judged_topics:
            grades = [qrels[topic].get(document, 0) for document in run[topic]]
            score = measure.score(grades, list(qrels[topic].values()))
            rows.append((str(path), topic, name, topic, score, _text(run[topic], qrels[topic])))
        if others := [topic for topic in run if topic not in qrels]:
            note("topics unknown", path=path, n=counted(len(others), "topic"), first=others[0])
    table = pd.DataFrame(rows, columns=["file", "topic", "system", "item", "score", "answer"])
    expected = pd.DataFrame(
        {"item": topics, "gold": [_text(_relevant(qrels[topic]), qrels[topic]) for topic in topics]}
    )
    return LongTable(table.set_index(["file", "topic"]), ("score",), None, expected, answers_compare=True)


def _relevant(judged: Mapping[str, int]) -> list[str]:
    """The relevant documents of a topic, the most relevant first."""
    return sorted(
        (document for document, grade in judged.items() if grade >= 1), key=lambda document: -judged[document]
    )


def _text(documents: Sequence[str], judged: Mapping[str, int]) -> str:
    """A ranking as people read it: the first documents with their grades of relevance ("?": not judged), and the rest.

    All documents are in it: rankings with the same text are the same.
    """
    first = "\n".join(f"{document} ({judged.get(document, '?')})" for document in documents[:_SHOWN])
    rest = documents[_SHOWN:]
    return f"{first}\n… {len(rest):,} more: {' '.join(rest)}" if rest else first


@once
def read_qrels(path: Path) -> Qrels:
    """The judgments of a file of qrels (``topic iteration docno relevance``, or JSON)."""
    qrels: Qrels = {}
    for place, topic, document, grade in _entries(path, "topic iteration docno relevance"):
        if not (isinstance(grade, int) or _GRADE.fullmatch(str(grade))):
            raise InputError("relevance", "must be a whole number", grade, at=place)
        qrels.setdefault(topic, {})[document] = int(grade)
    return qrels


@once
def read_run(path: Path) -> dict[str, list[str]]:
    """The documents of each topic of a run, best first."""
    run: dict[str, dict[str, float]] = {}
    for place, topic, document, score in _entries(path, "topic Q0 docno rank score tag"):
        value = number(score) if isinstance(score, str) else float(score)
        if not isfinite(value):
            raise InputError("score", "must be a number", score, at=place)
        run.setdefault(topic, {})[document] = value
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
    names = form.split()
    at = [names.index(name) for name in ("topic", "docno", "score" if "score" in names else "relevance")]
    seen = set()
    for n, line in enumerate(read_lines(path), start=1):
        place, cells = f"{path}, line {n}", line.split()
        if not cells:
            continue
        if len(cells) != len(names):
            raise InputError(f"{counted(len(cells), 'column')}, but {form} are {len(names)}", at=place)
        topic, document, value = (cells[i] for i in at)
        if (topic, document) in seen:
            raise InputError(f"document '{document}' is twice in topic '{topic}'", at=place)
        seen.add((topic, document))
        yield place, topic, document, value


def _json_entries(path: Path) -> Iterator[tuple[str, str, str, Any]]:
    """The same of ``{topic: {docno: number}}``."""
    topics = read_json(path)
    if not isinstance(topics, dict) or not topics:
        raise InputError("a run or qrels in JSON must be {topic: {document: number}}", at=path)
    for topic, scored in topics.items():
        if not isinstance(scored, dict) or not scored:
            raise InputError("must be {document: number}", at=f"{path}, topic '{topic}'")
        for document, value in scored.items():
            place = f"{path}, topic '{topic}', document '{document}'"
            if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
                raise InputError("", "must be a number", value, at=place)
            yield place, topic, document, value


FORMAT = Format("trec", "TREC runs", read, metrics=("ap", "rr", "@"))
