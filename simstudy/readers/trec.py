"""TREC runs: ranked documents of each topic, scored against relevance judgments (qrels) as trec_eval does.

Runs and qrels are TREC's text files, or the JSON of ranx and pytrec_eval: ``{topic: {docno: score}}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path

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


def read(request: Request) -> LongTable:
    """Rows of TREC runs, a file for each system (``topic Q0 docno rank score tag``, or JSON), and one file of qrels.

    As in trec_eval, documents are ranked by score, highest first, and by docno, last first, if scores tie in single
    precision; the rank column does not count. Items are the topics in the order of the qrels; other topics of a run are
    left out. A topic without a relevant document scores 0. A topic that a run lacks is missing (`trec_eval -c`:
    missing="zero").
    """
    if len(request.references) != 1:
        raise InputError("references", f"of TREC runs must be one file, the qrels, not {len(request.references)}")
    measure = ranking_measure(request.metric.name)
    if measure is None:
        raise InputError("metric", f"must be one of {', '.join(KINDS)} for rankings", request.metric.name)
    qrels_path = request.references[0]
    qrels = read_qrels(qrels_path)
    lacking = [topic for topic, judged in qrels.items() if max(judged.values()) < measure.level]
    if len(lacking) == len(qrels):
        raise InputError(f"no topic has a document of relevance {measure.level} or more", at=qrels_path)
    if lacking:
        note("topics without relevance", path=qrels_path, n=len(lacking), all=len(qrels), first=lacking[0])
    rows = []
    for system, path in request.named_files().items():
        run = read_run(path)
        judged_topics = [topic for topic in qrels if topic in run]
        if not judged_topics:
            raise InputError(f"has no topic of {qrels_path}", at=path)
        for topic in judged_topics:
            grades = [qrels[topic].get(document, 0) for document in run[topic]]
            score = measure.score(grades, list(qrels[topic].values()))
            rows.append((str(path), topic, system, topic, score, _text(run[topic], qrels[topic])))
    table = pd.DataFrame(rows, columns=["file", "topic", "system", "item", "score", "answer"])
    relevant = [{document: grade for document, grade in judged.items() if grade >= 1} for judged in qrels.values()]
    gold = [_text(sorted(grades, key=lambda document: -grades[document]), grades) for grades in relevant]
    expected = pd.DataFrame({"item": [*qrels], "gold": gold})
    return LongTable(table.set_index(["file", "topic"]), ("score",), None, expected, answers_compare=True)


def _text(documents: Iterable[str], judged: Mapping[str, int]) -> str:
    """A ranking as people read it: documents with their grades of relevance ("?": not judged)."""
    return "\n".join(f"{document} ({judged.get(document, '?')})" for document in documents)


@once
def read_qrels(path: Path) -> Qrels:
    """The judgments of a file of qrels (``topic iteration docno relevance``, or JSON)."""
    qrels: Qrels = {}
    for place, topic, document, grade in _entries(path, ("topic", "iteration", "docno", "relevance")):
        if not _GRADE.fullmatch(str(grade)):
            raise InputError("relevance", "must be a whole number", grade, at=place)
        qrels.setdefault(topic, {})[document] = int(str(grade))
    return qrels


@once
def read_run(path: Path) -> dict[str, list[str]]:
    """The documents of each topic of a run, best first."""
    run: dict[str, dict[str, float]] = {}
    for place, topic, document, score in _entries(path, ("topic", "Q0", "docno", "rank", "score", "tag")):
        value = number(str(score))
        if not isfinite(value):
            raise InputError("score", "must be a number", score, at=place)
        run.setdefault(topic, {})[document] = value
    return {topic: _ranked(scores) for topic, scores in run.items()}


def _ranked(scores: dict[str, float]) -> list[str]:
    with np.errstate(over="ignore"):
        single = np.array(list(scores.values())).astype(np.float32).tolist()
    # Code points are in the order of their UTF-8 bytes, which strcmp compares.
    return [document for _, document in sorted(zip(single, scores, strict=True), reverse=True)]


def _entries(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, str, str, object]]:
    """The place, topic, document and score or relevance of each line, or of each entry of JSON."""
    if ending(path) == ".json":
        topics = read_json(path)
        if not (isinstance(topics, dict) and topics and all(isinstance(t, dict) and t for t in topics.values())):
            raise InputError("a run or qrels in JSON must be {topic: {document: number}}", at=path)
        for topic, documents in topics.items():
            for document, value in documents.items():
                yield f"{path}, topic '{topic}', document '{document}'", topic, document, value
        return
    seen = set()
    for n, line in enumerate(read_lines(path), start=1):
        place, cells = f"{path}, line {n}", line.split()
        if not cells:
            continue
        if len(cells) != len(columns):
            raise InputError(f"{counted(len(cells), 'column')}, not {len(columns)}: {' '.join(columns)}", at=place)
        cell = dict(zip(columns, cells, strict=True))
        topic, document = cell["topic"], cell["docno"]
        if (topic, document) in seen:
            raise InputError(f"document '{document}' is twice in topic '{topic}'", at=place)
        seen.add((topic, document))
        yield place, topic, document, cell["score" if "score" in cell else "relevance"]


FORMAT = Format("trec", "TREC runs", read, metrics=("ap", "rr", "@"))
