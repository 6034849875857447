"""Scores of segments as metrics of translation write them: COMET, BERTScore, sacrebleu and mt-metrics-eval."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from simstudy.files.packed import beginning, plain_name
from simstudy.notes import note
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.paths import system_files
from simstudy.readers.request import Request
from simstudy.readers.text_files import NUMBER, field_of, once, read_json, read_lines
from simstudy.validation import InputError, check_choice

# Metrics that sacrebleu computes from the counts of all sentences, not from their scores.
_OF_CORPUS = ("BLEU", "chrF2", "chrF2++", "TER")


_COMET = r"(?P<system>[^\t]+)\tSegment (?P<segment>\d+)\tscore: (?P<score>\S+)(\tvariance: \S+)?"
# The last lines of comet-score have each system's score, and where the JSON file is.
_COMET_END = r"[^\t]+\tscore: \S+|Predictions saved in: .*|\s*"
_BERTSCORE = r"\S+ P: [\d.-]+ R: [\d.-]+ F1: [\d.-]+"
_SACREBLEU = r"(?P<metric>\w[\w+]*)\|\S*version:\S* = (?P<score>-?[\d.]+)( .*)?"

# Program -> the first line of its file, and all lines: what has no score is no segment.
_PROGRAMS = {
    "COMET": (re.compile(_COMET), re.compile(f"{_COMET}|{_COMET_END}")),
    "BERTScore": (re.compile(_BERTSCORE), re.compile(rf"(?P<P>[^\t]+)\t(?P<R>[^\t]+)\t(?P<F1>[^\t]+)|{_BERTSCORE}")),
    "sacrebleu": (re.compile(_SACREBLEU), re.compile(_SACREBLEU)),
}
_JSON = "COMET in JSON"

# Files *.seg.score of mt-metrics-eval are called after the metric.
_MTME_NAME = re.compile(r"(?P<metric>.+)\.seg\.score", re.IGNORECASE)
_MTME = re.compile(r"(?P<system>[^\t]+)\t(?P<score>[^\t]+)")


class Segment(NamedTuple):
    """The score of a system's next segment: a number, text of one, or None if the segment was not rated."""

    #: As the file has it; empty if the file is of one system.
    system: str
    score: object
    place: object
    metric: str
    input: object = None
    gold: object = None
    answer: object = None


def read(request: Request) -> LongTable:
    """Rows from files in which a metric of translation has written the score of each segment.

    - ``comet-score``: its JSON file (``--to_json``) or what it prints. The files of translations are the systems.
    - ``bert-score -s``: what it prints, one file for each system; ``{"score": "P"}`` chooses precision, R recall.
    - ``sacrebleu -sl``: what it prints, one file for each system.
    - mt-metrics-eval: ``*.seg.score``, with all systems in one file; "None" is a segment that was not rated.

    Segments are numbered from 1; a table of items in their order names them. Segments that no system has a score of are
    left out.
    """
    table = pd.concat([_segments(path, request) for path in request.paths])
    metric = table["metric"].iloc[0]
    if (others := table[table["metric"] != metric]).size:
        (file, line), other = others.index[0], others["metric"].iloc[0]
        rule = f"a score of {other}, but the first file has scores of {metric}"
        raise InputError(rule, remedy="compare one metric", at=f"{file}, line {line}")
    if metric in _OF_CORPUS:
        note("scores of sentences", metric=metric)
    table["system"] = _system_names(table, request)
    table["item"] = (table.groupby(["system", "path"], sort=False).cumcount() + 1).astype(str)
    _check_lengths(table)
    names = ["system", "item", "score", *(("input", "gold", "answer") if request.keeps_texts else ())]
    return LongTable(
        table.loc[table["score"].notna(), names].dropna(axis=1, how="all"),
        ("score",),
        expected=pd.DataFrame({"item": table["item"].unique()}),
        numbered=True,
        drops_unscored=True,
        scored_by=(metric,),
        read_as=f"scores of segments by {metric}",
    )


def _segments(path: Path, request: Request) -> pd.DataFrame:
    """The segments of a file, with its path."""
    program, chosen = _program(path), request.columns.get("score")
    if program == "BERTScore":
        check_choice("the score of BERTScore", chosen or "F1", ("P", "R", "F1"))
    elif chosen is not None:
        raise InputError("columns", f"must choose no score: {path} has one score of each segment")
    segments = [*(_of_json(path) if program == _JSON else _of_lines(path, program, chosen or "F1"))]
    if not segments:
        raise InputError("no scores of segments", remedy="bert-score prints them with -s", at=path)
    table = pd.DataFrame(segments, dtype=object)
    table["path"] = pd.Series([path] * len(table), dtype=object)
    return table.set_axis(pd.MultiIndex.from_product([[str(path)], table["place"]], names=["file", "line"]))


def _system_names(table: pd.DataFrame, request: Request) -> pd.Series[str]:
    """The names of the rows' systems: those in the files, else those of the files."""
    if (table["system"] == "").all():
        return table["path"].map({path: name for name, path in request.named_files().items()})
    if table["metric"].iloc[0] != "COMET":
        return table["system"]
    # comet-score names systems after files of translations.
    theirs = table["system"].unique()
    return table["system"].map(dict(zip(theirs, system_files([Path(name) for name in theirs]), strict=True)))


def _check_lengths(table: pd.DataFrame) -> None:
    """Raise an InputError if a system is in two files, or has fewer segments than others."""
    counts = table.groupby("system", sort=False).size()
    for system, paths in table.groupby("system", sort=False)["path"]:
        if paths.iloc[0] != paths.iloc[-1]:
            raise InputError(f"system '{system}' is in {paths.iloc[0]} and again in {paths.iloc[-1]}")
        if counts[system] < counts.max():
            rule = f"system '{system}' has {counts[system]:,} segments, others have {counts.max():,}"
            raise InputError(rule, at=paths.iloc[0])


def _holds(path: Path) -> bool:
    """Whether a file has scores of segments in one of these forms."""
    return bool(_program(path))


@once
def _program(path: Path) -> str:
    """The program that wrote a file, by its name and its first line; empty if it is none of these."""
    if _MTME_NAME.fullmatch(plain_name(path)):
        return "mt-metrics-eval"
    try:
        text = beginning(path).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""
    if text.startswith("{") and re.search(r'"COMET"\s*:', text):
        return _JSON
    first = text.partition("\n")[0].rstrip("\r")
    return next((program for program, (pattern, _) in _PROGRAMS.items() if pattern.fullmatch(first)), "")


def _of_json(path: Path) -> Iterator[Segment]:
    for system, segments in read_json(path).items():
        if not isinstance(segments, list) or not segments:
            raise InputError(f"'{system}'", "must be a list of segments, as comet-score writes it", segments, at=path)
        for i, segment in enumerate(segments, start=1):
            score = field_of(segment, "COMET", NUMBER, f"{path}, system '{system}', segment {i}")
            texts = (as_text(segment.get(name)) for name in ("src", "ref", "mt"))
            yield Segment(system, score, f"of segment {i} of '{system}'", "COMET", *texts)


def _of_lines(path: Path, program: str, chosen: str) -> Iterator[Segment]:
    lines = read_lines(path)
    if not program:
        rule = "neither COMET's nor BERTScore's segment scores, nor those of sacrebleu -sl or mt-metrics-eval"
        raise InputError(rule, at=path)
    named = _MTME_NAME.fullmatch(plain_name(path))
    pattern = _MTME if named else _PROGRAMS[program][1]
    metric = named["metric"] if named else f"{program} {chosen}" if program == "BERTScore" else program
    counts: dict[str, int] = {}
    for line, text in enumerate(lines, start=1):
        row = pattern.fullmatch(text)
        if row is None:
            raise InputError(
                "a line", f"must be a score of a segment as {program} writes it", text, at=f"{path}, line {line}"
            )
        groups = row.groupdict()
        score, system = groups.get("score", groups.get(chosen)), groups.get("system", "")
        if score is None:
            continue
        n = counts[system] = counts.get(system, 0) + 1
        if int(groups.get("segment", n - 1)) != n - 1:
            rule = f"segment {groups['segment']} of '{system}', but segment {n - 1} is the next"
            raise InputError(rule, at=f"{path}, line {line}")
        yield Segment(system, None if score == "None" else score, line, groups.get("metric", metric))


FORMAT = Format(
    "segments",
    "segment scores of COMET, BERTScore, sacrebleu or mt-metrics-eval",
    read,
    ("*.seg.score", "*"),
    _holds,
    scored=True,
)
