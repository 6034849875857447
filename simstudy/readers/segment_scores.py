"""Scores of segments as metrics of translation write them: COMET, BERTScore, sacrebleu and mt-metrics-eval."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from simstudy.files.packed import plain_name
from simstudy.metrics import get_metric
from simstudy.notes import note
from simstudy.readers.columns import first_of, place
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request, system_files
from simstudy.readers.text_files import NUMBER, field_of, first_text, once, read_json, read_lines
from simstudy.validation import InputError

# Metrics that sacrebleu computes from the counts of all sentences, not from their scores.
_OF_CORPUS = ("BLEU", "chrF2", "chrF2++", "TER")

_COMET = r"(?P<system>[^\t]+)\tSegment (?P<segment>\d+)\tscore: (?P<score>\S+)(\tvariance: \S+)?"
# The last lines of comet-score have each system's score, and where the JSON file is.
_COMET_END = r"[^\t]+\tscore: \S+|Predictions saved in: .*|\s*"
_BERTSCORE = r"\S+ P: [\d.-]+ R: [\d.-]+ F1: [\d.-]+"
_SACREBLEU = r"(?P<metric>\w[\w+]*)\|\S*version:\S* = (?P<score>-?[\d.]+)( .*)?"

# Program -> its first line, and all its lines: those without a score are no segments.
_PROGRAMS = {
    "COMET": (_COMET, f"{_COMET}|{_COMET_END}"),
    "BERTScore": (_BERTSCORE, rf"[^\t]+\t[^\t]+\t(?P<score>[^\t]+)|{_BERTSCORE}"),
    "sacrebleu": (_SACREBLEU, _SACREBLEU),
    "mt-metrics-eval": (None, r"(?P<system>[^\t]+)\t(?P<score>[^\t]+)"),
}
_JSON = "COMET in JSON"

# Files of mt-metrics-eval are called after the metric.
_MTME_NAME = re.compile(r"(?P<metric>.+)\.seg\.score", re.IGNORECASE)


class Segment(NamedTuple):
    """The score of a system's next segment: a number, text of one, or None if the segment was not rated."""

    file: str
    line: object
    metric: str
    #: As the file has it; empty if the file is of one system.
    system: str
    score: object
    input: str | None = None
    gold: str | None = None
    answer: str | None = None


def read(request: Request) -> LongTable:
    """Rows from files in which a metric of translation has written the score of each segment.

    - ``comet-score``: its JSON file (``--to_json``) or what it prints. The files of translations are the systems.
    - ``bert-score -s``: what it prints, one file for each system, of which F1 is the score.
    - ``sacrebleu -sl``: what it prints, one file for each system.
    - mt-metrics-eval: ``*.seg.score``, with all systems in one file; "None" is a segment that was not rated.

    Segments are numbered from 1; a table of items in their order names them. Segments that no system has a score of are
    left out.
    """
    if "score" in request.columns:
        raise InputError("columns", "must choose no score: the files have one score of each segment")
    segments = [segment for path in request.paths for segment in _segments(path)]
    table = pd.DataFrame(segments, columns=Segment._fields, dtype=object).set_index(["file", "line"])
    metric = table["metric"].iloc[0]
    if (row := first_of(table["metric"] != metric)) is not None:
        rule = f"a score of {table['metric'].iloc[row]}, but the first file has scores of {metric}"
        raise InputError(rule, remedy="compare one metric", at=place(table, row))
    if metric in _OF_CORPUS:
        note("scores of sentences", metric=metric)
    files = table.index.get_level_values("file")
    if (table["system"] == "").all():
        table["system"] = files.map({str(path): name for name, path in request.named_files().items()})
    elif request.names:
        raise InputError("paths", "must have no names: the files name their systems")
    elif metric == "COMET":
        # comet-score names systems after files of translations.
        named = {str(path): name for name, path in system_files([*map(Path, table["system"].unique())]).items()}
        table["system"] = [named[str(Path(name))] for name in table["system"]]
    by_system = table.groupby(["system", files], sort=False)
    table["item"] = (by_system.cumcount() + 1).astype(str)
    sizes = by_system["item"].transform("size")
    if (row := first_of(sizes < sizes.max())) is not None:
        rule = f"system '{table['system'].iloc[row]}' has {sizes.iloc[row]:,} segments, others have {sizes.max():,}"
        raise InputError(rule, at=files[row])
    names = ["system", "item", "score", *(("input", "gold", "answer") if request.keeps_texts else ())]
    # Lower is better, as sacrebleu has it.
    is_error = metric == "TER" and request.metric == get_metric("mean")
    return LongTable(
        table.loc[table["score"].notna(), names].dropna(axis=1, how="all"),
        ("score",),
        get_metric("mean (lower is better)") if is_error else None,
        expected=pd.DataFrame({"item": table["item"].unique()}),
        numbered=True,
        drops_unscored=True,
        scored_by=(metric,),
        read_as=f"scores of segments by {metric}",
    )


@once
def _program(path: Path) -> str:
    """The program that wrote a file, by its name and its first line; empty if it is none of these."""
    if _MTME_NAME.fullmatch(plain_name(path)):
        return "mt-metrics-eval"
    text = first_text(path)
    if text.startswith("{") and re.search(r'"COMET"\s*:', text):
        return _JSON
    first = text.partition("\n")[0].rstrip("\r")
    return next((name for name, (begin, _) in _PROGRAMS.items() if begin and re.fullmatch(begin, first)), "")


def _segments(path: Path) -> Iterator[Segment]:
    """The segments of a file in their order."""
    program = _program(path)
    if program == _JSON:
        for system, segments in read_json(path).items():
            if not isinstance(segments, list) or not segments:
                rule = "must be a list of segments, as comet-score writes it"
                raise InputError(f"'{system}'", rule, segments, at=path)
            for i, segment in enumerate(segments, start=1):
                score = field_of(segment, "COMET", NUMBER, f"{path}, system '{system}', segment {i}")
                texts = (as_text(segment.get(name)) for name in ("src", "ref", "mt"))
                yield Segment(str(path), f"of segment {i} of '{system}'", "COMET", system, score, *texts)
        return
    lines = read_lines(path)
    if not program:
        rule = "neither COMET's nor BERTScore's segment scores, nor those of sacrebleu -sl or mt-metrics-eval"
        raise InputError(rule, at=path)
    mtme = _MTME_NAME.fullmatch(plain_name(path))
    metric = mtme["metric"] if mtme else "BERTScore F1" if program == "BERTScore" else program
    pattern = re.compile(_PROGRAMS[program][1])
    counts: Counter[str] = Counter()
    for number, text in enumerate(lines, start=1):
        at = f"{path}, line {number}"
        match = pattern.fullmatch(text)
        if match is None:
            raise InputError("a line", f"must be a score of a segment as {program} writes it", text, at=at)
        parts = match.groupdict()
        system, score = parts.get("system") or "", parts["score"]
        if score is None:
            continue
        if "segment" in parts and int(parts["segment"]) != counts[system]:
            rule = f"segment {parts['segment']} of '{system}', but segment {counts[system]} is the next"
            raise InputError(rule, at=at)
        counts[system] += 1
        score = None if score == "None" else score
        yield Segment(str(path), number, parts.get("metric") or metric, system, score)
    if not counts:
        raise InputError("no scores of segments", remedy="bert-score prints them with -s", at=path)


_WHAT = "segment scores of COMET, BERTScore, sacrebleu or mt-metrics-eval"
FORMAT = Format("segments", _WHAT, read, ("*.seg.score", "*"), lambda path: bool(_program(path)), scored=True)
