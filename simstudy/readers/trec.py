"""TREC runs, scored against relevance judgments (qrels) as trec_eval does, and the values that trec_eval prints.

Runs and qrels are TREC's text files, those of MS MARCO and BEIR, or the JSON of ranx and pytrec_eval:
``{topic: {docno: score}}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from simstudy.metrics import canonical
from simstudy.metrics.ranking import KINDS, ranking_measure, ranking_metric
from simstudy.notes import Argument, Words, note
from simstudy.readers.columns import number
from simstudy.readers.formats import Format
from simstudy.readers.logs import only_in_logs
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request, column
from simstudy.readers.tables import ending
from simstudy.readers.text_files import first_text, once, read_json, read_lines
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError

#: Topic -> document -> grade of relevance.
Qrels = dict[str, dict[str, int]]

# Columns of a line, and of the shorter lines of MS MARCO's runs and BEIR's qrels.
_RUN, _MARCO = ("topic", "Q0", "docno", "rank", "score", "tag"), ("topic", "docno", "rank")
_QRELS, _BEIR = ("topic", "iteration", "docno", "relevance"), ("topic", "docno", "relevance")

# First lines with the names of the columns: "query-id corpus-id score" of qrels.
_RUN_HEADER = re.compile(r"(topic|q)\S* \S+ (rank|\S+ rank score \S+)", re.IGNORECASE)
_QRELS_HEADER = re.compile(r"(topic|q)\S* (\S+ )?\S+ (rel\w*|label|grade|score|judg\w+)", re.IGNORECASE)

# More digits than any scale has would be more than an array takes.
_GRADE = re.compile(r"([+-]?[0-9]{1,9})(\.0*)?")

# Measures as trec_eval begins a line with them, and as ir_measures writes them behind the topic.
_MEASURES = (
    re.compile(
        r"runid|num_\w+|(gm_)?(map|bpref)|Rprec|recip_rank|ndcg|infAP|11pt_avg"
        r"|(P|recall|success|set|map_cut|ndcg_cut|iprec_at_recall)_\S+"
    ),
    re.compile(r"(AP|RR|nDCG|Rprec|Bpref|infAP|P|R|Success|IPrec|Judged|ERR|nERR|RBP|Set\w+|Num\w+)([@(]\S+)?"),
)


class Ranking(NamedTuple):
    """The documents of a topic, best first."""

    documents: list[str]
    #: Whether scores tie in single precision.
    has_ties: bool
    #: Whether a document has a higher score and a worse rank than another.
    contradicts_ranks: bool


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
    tied, contradicted = [], []
    for system, path in request.named_files().items():
        run = read_run(path)
        judged_topics = [topic for topic in qrels if topic in run]
        if not any(document in qrels[topic] for topic in judged_topics for document in run[topic].documents):
            raise InputError(f"has no document that {qrels_path} judges for its topic", at=path)
        if unknown := [topic for topic in run if topic not in qrels]:
            note("topics unknown", path=path, n=counted(len(unknown), "topic"), first=unknown[0])
        for topic in judged_topics:
            documents, has_ties, contradicts_ranks = run[topic]
            grades = [qrels[topic].get(document, 0) for document in documents]
            score = measure.score(grades, list(qrels[topic].values()))
            rows.append((str(path), topic, system, topic, score, _text(documents, qrels[topic])))
            if has_ties:
                tied.append((topic, system))
            if contradicts_ranks:
                contradicted.append((topic, system))
    for kind, rankings in (("tied scores", tied), ("ranks unlike scores", contradicted)):
        if rankings:
            topics, systems = (dict.fromkeys(names) for names in zip(*rankings, strict=True))
            note(kind, n=len(topics), all=len(qrels), systems=listed([*systems], 3))
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
    """The judgments of a file of qrels: ``topic iteration docno relevance``, JSON, or three columns with a header."""
    qrels: Qrels = {}
    for place, cell in _entries(path, _QRELS, _BEIR, _QRELS_HEADER):
        grade = _GRADE.fullmatch(str(cell["relevance"]))
        if grade is None:
            raise InputError("relevance", "must be a whole number", cell["relevance"], at=place)
        qrels.setdefault(str(cell["topic"]), {})[str(cell["docno"])] = int(grade[1])
    return qrels


@once
def read_run(path: Path) -> dict[str, Ranking]:
    """The documents of each topic of a run: TREC's six columns, JSON, or MS MARCO's ``topic docno rank``."""
    run: dict[str, dict[str, float]] = {}
    ranks: dict[str, list[float]] = {}
    for place, cell in _entries(path, _RUN, _MARCO, _RUN_HEADER):
        topic, rank = str(cell["topic"]), number(str(cell.get("rank")))
        scores = run.setdefault(topic, {})
        if "score" not in cell and rank != len(scores) + 1:
            rule = "must be 1, 2, 3 … in the order of a topic's lines, if a run has the columns topic, docno and rank"
            raise InputError("rank", rule, cell["rank"], f"with scores, columns are {' '.join(_RUN)}", at=place)
        score = number(str(cell["score"])) if "score" in cell else -rank
        if not isfinite(score):
            raise InputError("score", "must be a number", cell["score"], at=place)
        scores[str(cell["docno"])] = score
        ranks.setdefault(topic, []).append(rank)
    return {topic: _ranking(scores, ranks[topic]) for topic, scores in run.items()}


def _ranking(scores: dict[str, float], ranks: list[float]) -> Ranking:
    with np.errstate(over="ignore"):
        single = np.array(list(scores.values())).astype(np.float32).tolist()
    # Code points are in the order of their UTF-8 bytes, which strcmp compares.
    documents = [document for _, document in sorted(zip(single, scores, strict=True), reverse=True)]
    by_score = [rank for _, rank in sorted((-score, rank) for score, rank in zip(single, ranks, strict=True))]
    has_ranks = all(map(isfinite, ranks))
    return Ranking(documents, len({*single}) < len(single), has_ranks and by_score != sorted(ranks))


def _entries(
    path: Path, columns: tuple[str, ...], short: tuple[str, ...], header: re.Pattern[str]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The place and the cells by their columns of each line of a run or qrels, or of each entry of JSON.

    The first line says whether all have the `columns` or the `short` ones, which qrels have below a header only. Lines
    that begin with "#" are comments.
    """
    value = "score" if "score" in columns else "relevance"
    if ending(path) == ".json":
        topics = read_json(path)
        if not (isinstance(topics, dict) and topics and all(isinstance(t, dict) for t in topics.values())):
            raise InputError("a run or qrels in JSON must be {topic: {document: number}}", at=path)
        for topic, documents in topics.items():
            for document, cell in documents.items():
                place = f"{path}, topic '{topic}', document '{document}'"
                yield place, {"topic": topic, "docno": document, value: cell}
        return
    documents_of: dict[str, set[str]] = {}
    has_header = False
    for n, line in enumerate(read_lines(path), start=1):
        place, cells = f"{path}, line {n}", _cells(line, len(columns))
        if not cells or line.startswith("#"):
            continue
        if not documents_of:
            if not has_header and header.fullmatch(" ".join(cells)):
                has_header = True
                continue
            if len(cells) == len(short) and (has_header or short == _MARCO):
                columns = short
        if len(cells) < len(columns) or (len(cells) > len(columns) and columns != _RUN):
            remedy: str = Words("are these judgments? {references} names them", references=Argument("references"))
            if columns == _QRELS:
                remedy = (
                    "is this a run?"
                    if len(cells) > len(columns)
                    else ("three columns need a header: query-id corpus-id score")
                )
            rule = f"{counted(len(cells), 'column')}, not {len(columns)}: {' '.join(columns)}"
            raise InputError(rule, remedy=remedy, at=place)
        cell = dict(zip(columns, cells, strict=False))
        documents = documents_of.setdefault(cell["topic"], set())
        if cell["docno"] in documents:
            raise InputError(f"document '{cell['docno']}' is twice in topic '{cell['topic']}'", at=place)
        documents.add(cell["docno"])
        yield place, cell


def _cells(line: str, least: int) -> list[str]:
    """The cells of a line between tabs, if these are enough, else between blanks of any kind."""
    cells = [cell.strip() for cell in line.strip().split("\t")]
    return cells if len(cells) >= least and all(cells) else line.split()


# What trec_eval prints ---------------------------------------------------------------------------------------------
def read_values(request: Request) -> LongTable:
    """Rows of the values that trec_eval -q, pytrec_eval or ir_measures -q print for each topic; a file is a system.

    A line has the measure, the topic and the value; those of ir_measures begin with the topic. The measure is that of
    the metric ("ap" reads map), the one that ``columns={"score": "bpref"}`` names, or the only one of the files. Lines
    of the topic "all" are averages, and left out.
    """
    lines = [line for system, path in request.named_files().items() for line in _values(path, system)]
    table = pd.DataFrame(lines, columns=["file", "line", "system", "measure", "item", "score"])
    n_systems = table.groupby("measure", sort=False)["system"].nunique()
    measures = [str(name) for name in n_systems.index[n_systems == len(request.paths)]]
    metrics = {name: ranking_metric(canonical(name.lower())) for name in measures}
    wanted = request.columns.get("score", request.asked)
    chosen = [name for name in measures if name.lower() == wanted.lower()]
    if not chosen and "score" not in request.columns:
        chosen = [name for name, metric in metrics.items() if metric == request.metric]
        if not chosen and ranking_metric(request.metric.name) is None and not only_in_logs(request.asked):
            chosen = measures
    if len(chosen) != 1:
        remedy = Words("{score} chooses one", score=column("score"))
        rule = f"must be one of the measures of all files: {listed(measures, 12)}"
        raise InputError("score", rule, wanted or request.metric.name, remedy)
    measure = chosen[0]
    return LongTable(
        table[table["measure"] == measure].set_index(["file", "line"])[["system", "item", "score"]],
        ("score",),
        metrics[measure] if request.choose_metric else None,
        scored_by=(measure,),
        read_as=f"values of {measure} by topic",
    )


def _values(path: Path, system: str) -> list[tuple[str, int, str, str, str, str]]:
    """The file, line, system, measure, topic and value of each line that is no average."""
    topic_first = _begins_with_topic(path)
    values = []
    for n, line in enumerate(read_lines(path), start=1):
        cells = _cells(line, 3)
        if cells and len(cells) != 3:
            raise InputError("a line", "must have a measure, a topic and a value", line, at=f"{path}, line {n}")
        if cells:
            measure, topic = cells[1::-1] if topic_first else cells[:2]
            values.append((str(path), n, system, measure, topic, cells[2]))
    values = [value for value in values if value[4] != "all"]
    if not values:
        raise InputError("has no values of topics", remedy="trec_eval and ir_measures print them with -q", at=path)
    return values


def _begins_with_topic(path: Path) -> bool | None:
    """Whether lines begin with the topic, as those of ir_measures do; None if the first has no known measure."""
    cells = _cells(first_text(path).partition("\n")[0], 3)
    if len(cells) != 3 or (cells[1] != "all" and not isfinite(number(cells[2]))):
        return None
    return next((k == 1 for k, pattern in enumerate(_MEASURES) if pattern.fullmatch(cells[k])), None)


def _holds_values(path: Path) -> bool:
    """Whether a file has values of topics, by its first line."""
    return _begins_with_topic(path) is not None


FORMAT = Format("trec", "TREC runs", read, metrics=KINDS)
VALUES = Format("trec-eval", "values that trec_eval prints by topic", read_values, ("*",), _holds_values, scored=True)
