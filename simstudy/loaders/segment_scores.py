"""Scores of segments as metrics of translation write them: COMET, BERTScore, sacrebleu and mt-metrics-eval."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from simstudy.files.unpacking import beginning, plain_name
from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source, system_files
from simstudy.loaders.items import items_in_order, numbered
from simstudy.loaders.json_files import read_json
from simstudy.loaders.reading import once, read_content, read_lines
from simstudy.loaders.tables import check_takes_one_score, score_statistics
from simstudy.loaders.text_columns import as_text
from simstudy.notes import note
from simstudy.validation import InputError, nearest

_COMET = re.compile(r"(?P<system>[^\t]+)\tSegment (?P<segment>\d+)\tscore: (?P<score>\S+)(\tvariance: \S+)?")
#: The last lines of comet-score: each system's score, and where the JSON file is.
_COMET_END = re.compile(r"[^\t]+\tscore: \S+|Predictions saved in: .*")
_BERTSCORE = re.compile(r"\S+ P: [\d.-]+ R: [\d.-]+ F1: [\d.-]+")
_BERTSCORE_COLUMNS = ("P", "R", "F1")
_SACREBLEU = re.compile(r"(?P<metric>\w[\w+]*)\|\S*version:\S* = (?P<score>-?[\d.]+)( .*)?")
_MTME_NAME = re.compile(r".+\.seg\.score", re.IGNORECASE)

#: What a file of mt-metrics-eval says of a segment that was not rated.
_NOT_RATED = "None"


class Segment(NamedTuple):
    """The score of a segment as written, where it is, and what it is of, if the file says so (src, mt, ref)."""

    place: str
    score: str
    texts: Mapping[str, object] | None = None


class Scores(NamedTuple):
    """What one file says: the metric, and each system's scores, in the order of the segments."""

    metric: str
    systems: Mapping[str, list[Segment]]


def read_segment_scores(source: Source) -> Loaded:
    """Systems from files in which a metric of translation has written the score of each segment.

    - ``comet-score``: its JSON file (``--to_json``) or what it prints. The files of translations are the systems.
    - ``bert-score -s``: what it prints, one file for each system; ``Source.columns`` may choose {"score": "P"} or "R".
    - ``sacrebleu -sl``: what it prints, one file for each system.
    - mt-metrics-eval: ``*.seg.score``, with all systems in one file; "None" is a segment that was not rated.

    The scores of a system are averaged, so the metric is `Mean`. Segments are numbered from 1; a table of items in
    their order names them.
    """
    check_takes_one_score(source.metric)
    found = [(path, _read(path, source.columns.get("score"))) for path in source.paths]
    metrics = list(dict.fromkeys(scores.metric for _, scores in found))
    if len(metrics) > 1:
        others = next(path for path, scores in found if scores.metric != metrics[0])
        raise InputError(f"{found[0][0]} has scores of {metrics[0]}, but {others} of {metrics[1]}: compare one metric")
    systems = _named(source, found)
    n = max(len(rows) for _, rows in systems.values())
    items = items_in_order(source, numbered(n))
    ids = items["id"].tolist()
    outputs = [_outputs(name, path, rows, ids, source) for name, (path, rows) in systems.items()]
    rated = items["id"].isin({item for system in outputs for item in system.ids})
    if not rated.all():
        items = items[rated].reset_index(drop=True)
        note("text", text=f"{n - len(items):,} of {n:,} segments left out that have no score of any system")
    if metrics[0] in ("BLEU", "chrF2", "chrF2++", "TER"):
        note("text", text=f"the scores are means over sentences; {metrics[0]} of a whole test set is another number")
    # As the first system with texts has them.
    told = [row.texts or {} for row in next((rows for _, rows in systems.values() if rows[0].texts is not None), ())]
    asked = Asked.of(ids, *([as_text(one.get(name)) for one in told] for name in ("src", "ref")))
    return replace(assemble(outputs, source, items, asked=asked), scored_by=(metrics[0],))


def holds_segment_scores(path: Path) -> bool:
    """Whether a file has scores of segments in one of these forms."""
    return _form(path) is not None


@once
def _form(path: Path) -> Callable[[Path, str | None], Scores] | None:
    """The reader of a file, by its name and its first line; None where it has none of the forms."""
    if _MTME_NAME.fullmatch(plain_name(path)):
        return _read_mtme
    try:
        text = beginning(path).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return None
    first = text.partition("\n")[0].rstrip("\r")
    if text.startswith("{") and re.search(r'"COMET"\s*:', text):
        return _read_comet_json
    for pattern, read in ((_COMET, _read_comet), (_BERTSCORE, _read_bertscore), (_SACREBLEU, _read_sacrebleu)):
        if pattern.fullmatch(first):
            return read
    return None


@once
def _read(path: Path, column: str | None) -> Scores:
    read = _form(path)
    if read is None:
        read_content(path)
        raise InputError(
            f"{path}: neither COMET's nor BERTScore's segment scores, nor those of sacrebleu -sl or mt-metrics-eval"
        )
    if column is not None and read is not _read_bertscore:
        raise InputError(f"{path}: there is one score of each segment, so columns={{'score': ...}} chooses nothing")
    return read(path, column)


def _read_comet_json(path: Path, _: str | None) -> Scores:
    found = read_json(path)
    systems: dict[str, list[Segment]] = {}
    for system, segments in found.items():
        if not isinstance(segments, list) or not segments:
            raise InputError(f"{path}: '{system}' must be a list of segments, as comet-score writes it")
        rows = systems[system] = []
        for i, segment in enumerate(segments, start=1):
            place = f"{path}, system '{system}', segment {i}"
            if not isinstance(segment, dict) or not isinstance(segment.get("COMET"), int | float):
                raise InputError(f"{place}: no number 'COMET'")
            rows.append(Segment(place, repr(segment["COMET"]), segment))
    return Scores("COMET", systems)


def _read_comet(path: Path, _: str | None) -> Scores:
    systems: dict[str, list[Segment]] = {}
    for n, line in enumerate(read_lines(path), start=1):
        if _COMET_END.fullmatch(line) or not line.strip():
            continue
        row = _COMET.fullmatch(line)
        if row is None:
            raise InputError(f"{path}, line {n}: not a line of comet-score ('<file> <tab> Segment 0 <tab> score: 0.8')")
        rows = systems.setdefault(row["system"], [])
        if int(row["segment"]) != len(rows):
            raise InputError(
                f"{path}, line {n}: segment {row['segment']} of '{row['system']}', but segment {len(rows)} is the next"
            )
        rows.append(Segment(f"{path}, line {n}", row["score"]))
    return Scores("COMET", systems)


def _read_bertscore(path: Path, column: str | None) -> Scores:
    chosen = column or "F1"
    if chosen not in _BERTSCORE_COLUMNS:
        raise InputError(f"{path}: no score '{chosen}' among P, R, F1{nearest(chosen, _BERTSCORE_COLUMNS)}")
    _, *lines = read_lines(path)
    rows = []
    for n, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(_BERTSCORE_COLUMNS):
            raise InputError(f"{path}, line {n}: not three numbers P, R and F1 with tabs between them")
        rows.append(Segment(f"{path}, line {n}", cells[_BERTSCORE_COLUMNS.index(chosen)]))
    if not rows:
        raise InputError(f"{path}: no scores of segments; bert-score prints them with -s")
    return Scores(f"BERTScore {chosen}", {"": rows})


def _read_sacrebleu(path: Path, _: str | None) -> Scores:
    found: list[tuple[str, Segment]] = []
    for n, line in enumerate(read_lines(path), start=1):
        row = _SACREBLEU.fullmatch(line)
        if row is None:
            raise InputError(f"{path}, line {n}: not a line of sacrebleu -sl")
        if found and row["metric"] != found[0][0]:
            raise InputError(f"{path}, line {n}: a score of {row['metric']}, but the first line has {found[0][0]}")
        found.append((row["metric"], Segment(f"{path}, line {n}", row["score"])))
    return Scores(found[0][0], {"": [row for _, row in found]})


def _read_mtme(path: Path, _: str | None) -> Scores:
    systems: dict[str, list[Segment]] = {}
    for n, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if len(cells) != 2 or not cells[0]:
            raise InputError(f"{path}, line {n}: not a system and a score with a tab between them")
        systems.setdefault(cells[0], []).append(Segment(f"{path}, line {n}", cells[1]))
    return Scores(plain_name(path)[: -len(".seg.score")], systems)


def _named(source: Source, found: list[tuple[Path, Scores]]) -> dict[str, tuple[Path, list[Segment]]]:
    """The systems under their names: those that the files have, else the files' own."""
    if all(list(scores.systems) == [""] for _, scores in found):
        rows = {path: scores.systems[""] for path, scores in found}
        return {name: (path, rows[path]) for name, path in source.systems().items()}
    named: dict[str, tuple[Path, list[Segment]]] = {}
    for path, scores in found:
        # comet-score names systems after files of translations.
        names = system_files(list(map(Path, scores.systems))) if scores.metric == "COMET" else scores.systems
        for name, own in zip(names, scores.systems.values(), strict=True):
            if name in named:
                raise InputError(f"system '{name}' is in {named[name][0]} and again in {path}")
            named[name] = path, own
    return named


def _outputs(name: str, path: Path, rows: list[Segment], ids: list[str], source: Source) -> SystemOutputs:
    if len(rows) != len(ids):
        raise InputError(f"{path}: system '{name}' has {len(rows):,} segments, others have {len(ids):,}")
    rated = [i for i, row in enumerate(rows) if row.score != _NOT_RATED]
    places = [rows[i].place for i in rated]
    cells = pd.Series([rows[i].score for i in rated], dtype=object)
    statistics = score_statistics(cells, source.metric, places.__getitem__) if rated else np.zeros((0, 2))
    texts = [as_text((rows[i].texts or {}).get("mt")) for i in rated]
    said = texts if any(texts) else None
    return SystemOutputs(name, str(path), [ids[i] for i in rated], statistics, texts=said)
