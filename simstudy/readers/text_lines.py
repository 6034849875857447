"""Plain text: a file for each system and a line for each item, in the same order or with the same ids.

`read` says how files become rows. Below it are the ids of lines, the references, and the notes on texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics import METRICS, Metric
from simstudy.metrics.labels import PER_CLASS, PerClass
from simstudy.metrics.registry import sounds_like_error
from simstudy.notes import Argument, Words, note
from simstudy.readers.columns import OURS, USUAL, no_column, plain
from simstudy.readers.formats import Format
from simstudy.readers.items import check_row_numbers
from simstudy.readers.labels import note_labels
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.tables import ending, read_table
from simstudy.readers.text_files import read_lines
from simstudy.running.progress import doing
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError, check_choice

#: Reads lines as they are, without ids, headers and columns.
AS_THEY_ARE = Argument("ids", "none")

# Where the ids of lines may stand.
_BEFORE_TAB = "before the first tab"
_ID_PLACES = {
    _BEFORE_TAB: re.compile(r"(?P<id>[^\t]+)\t(?P<text>.*)"),
    "the first word": re.compile(r"(?=\S*[0-9])(?P<id>\S+)(?:[ \t]+(?P<text>.*))?"),
    "the last bracket": re.compile(r"(?:(?P<text>.*)[ \t])?\((?P<id>\S+)\)[ \t]*"),
}

# fairseq-generate writes S-3 (source), T-3 (target), H-3 and D-3 (hypothesis, detokenized hypothesis; behind a score).
_FAIRSEQ_LINE = re.compile(r"[STHD]-(?P<id>[0-9]+)\t(?:[-+.0-9einfa]+\t)?(?P<text>.*)")

# So many lines begin with different words that all have digits only if these are ids.
_FEWEST_IDS = 5

# What separates the sentences of a summary in its line: the mark of CNN/Daily Mail, and a line break as JSON writes it.
_BREAKS = ("<q>", r"\n")

_MARKUP = re.compile(r"\s*<(\?xml|!DOCTYPE|mteval|dataset|refset|srcset|tstset|doc)\b", re.IGNORECASE)
_HEADERS = frozenset(chain(OURS, *USUAL.values(), ("class", "category")))


@dataclass(frozen=True, eq=False)
class _Lines:
    """Lines of a text file: what they say, their numbers in the file, and the ids of their items."""

    path: Path
    texts: list[str]
    numbers: list[int]
    ids: list[str]


#: Item -> its references.
_Gold = dict[str, list[str]]


def read(request: Request) -> LongTable:
    """Rows of files with a line for each item.

    - Metrics of texts (``bleu``, ``chrf``, ``rougeL``, ``wer`` …): lines are texts. References are text files, one for
      the first reference of all items, one for the second …, where an empty line is no reference, unless an item has
      no other: then it is an empty text; or one table (.csv, .tsv) with the columns ``item`` and ``reference`` and any
      number of rows for an item. For rougeLsum, `_BREAKS` separate the sentences of a text.
    - Metrics of labels (``accuracy``, ``macro_f1`` …): lines are labels, right if they equal the line of the one
      reference file. Blanks around them do not count.
    - ``mean``: lines are numbers, and there are no references.

    Lines of all files have one order, or ids (`_with_ids`). A system's line may be empty if it is a text or a label.
    """
    _check_request(request)
    named, metric = request.named_files(), request.metric
    table = next((path for path in request.references if _is_table(path)), None)
    gold = _gold_of_table(table, request) if table else None
    paths = [*named.values(), *(() if table else request.references)]
    files, remarks = _with_ids([*map(_read, paths)], gold, request)
    files = [replace(lines, texts=[_counted_text(text, request) for text in lines.texts]) for lines in files]
    systems = dict(zip(named, files, strict=False))
    frames = []
    for name, lines in systems.items():
        index = pd.MultiIndex.from_arrays([[str(lines.path)] * len(lines.ids), lines.numbers], names=["file", "line"])
        frames.append(pd.DataFrame({"system": name, "item": lines.ids, "answer": lines.texts}, index))
    rows = pd.concat(frames)
    read_as = "plain text with ids" if remarks else ""
    of_lines: dict[str, Any] = {"numbered": not remarks and table is None, "read_as": read_as, "remarks": remarks}
    if not metric.counts_texts:
        names = tuple(path.name for path in paths)
        scored_by = names if all(map(sounds_like_error, names)) else ()
        return LongTable(rows.rename(columns={"answer": "score"}), ("score",), scored_by=scored_by, **of_lines)
    gold = gold or _gold_of_files(files[len(named) :], metric)
    if isinstance(metric, PerClass):
        labels = chain(*gold.values(), *(lines.texts for lines in systems.values()))
        # No answer is a label of its own.
        metric = metric.with_classes([*labels, ""] if request.missing == "zero" else labels)
    tokenize, lowercase = request.texts.tokenize, request.texts.lowercase
    counter = metric.text_counter([*gold.values()], tokenize=tokenize, lowercase=lowercase)
    assert counter is not None
    metric = metric.signed(counter.signature)
    position = {item: i for i, item in enumerate(gold)}
    counts = []
    with doing(f"scoring {metric.label}", len(systems)) as advance:
        for lines in systems.values():
            outputs = dict(zip(lines.ids, lines.texts, strict=True))
            # Only items of both files count: for others any text stands.
            texts = [outputs.get(item, references[0]) for item, references in gold.items()]
            counts.append(counter.statistics(texts)[[position.get(item, 0) for item in lines.ids]])
            advance(1)
    _note_texts(systems, gold, request)
    expected = pd.DataFrame({"item": [*gold], "gold": ["\n".join(references) for references in gold.values()]})
    if request.missing == "zero":
        nothing = pd.DataFrame(counter.statistics([""] * len(gold)), columns=[*metric.statistics])
        expected = expected.join(nothing)
    rows = pd.concat([rows, pd.DataFrame(np.concatenate(counts), rows.index, metric.statistics)], axis=1)
    return LongTable(rows, metric.statistics, metric, expected, answers_compare=True, **of_lines)


def _check_request(request: Request) -> None:
    """Raise an InputError if a request asks for what plain text has not."""
    metric = request.metric
    if not (metric.counts_texts or metric.item_range):
        names = ["mean", *(name for name, other in METRICS.items() if other.counts_texts), *PER_CLASS]
        check_choice("metric", metric.name, names)
    if (request.texts.lowercase and not metric.of_texts) or (request.texts.tokenize and not metric.tokenizers):
        raise InputError("texts", f"must not be given for metric '{metric.name}': they say how texts are counted")
    if bool(request.references) != metric.counts_texts:
        rule = "must name at least one file" if metric.counts_texts else "must not be given"
        remedy = "files are read as plain text if their names do not end in .csv, .tsv, .json or .parquet"
        raise InputError("references", f"{rule} for metric '{metric.name}'", remedy=remedy)
    if request.columns and request.items is None and not any(map(_is_table, request.references)):
        remedy = Words("a table of the items ({items}) has the clusters and domains of lines", items=Argument("items"))
        raise InputError("columns", "must not be given: plain text has no columns", remedy=remedy)


def _is_table(path: Path) -> bool:
    return ending(path) in (".csv", ".tsv")


# Lines and their ids -------------------------------------------------------------------------------------------------
def _read(path: Path) -> _Lines:
    """The lines of a file of text; an InputError if it is a file of another kind."""
    texts = read_lines(path)
    if match := _MARKUP.match(texts[0]):
        remedy = r"take the segments out: sed -n 's/.*<seg[^>]*>\(.*\)<.seg>.*/\1/p' FILE > FILE.txt"
        raise InputError(f"must have a line for each item, but is markup: {match[0]} …>", remedy=remedy, at=path)
    return _Lines(path, texts, list(range(1, len(texts) + 1)), [])


def _counted_text(text: str, request: Request) -> str:
    """A text with line breaks between its sentences, for rougeLsum; a label or a number without blanks around it."""
    if not request.metric.of_texts:
        return text.strip()
    tells_sentences = request.metric.name.startswith("rougeLsum")
    for mark in filter(None, (request.mark, *(_BREAKS if tells_sentences else ()))):
        text = text.replace(mark, "\n" if tells_sentences else " ")
    return text


def _with_ids(files: Sequence[_Lines], gold: _Gold | None, request: Request) -> tuple[list[_Lines], list[Words]]:
    """The files with the id of each line, and what the first note says of ids that are in the lines.

    Lines have ids if each line of a file has another one, at the same place of `_ID_PLACES` in all files, and more
    than half of all ids are in every file. In some file most lines have more than their ids. Other lines go by their
    order.
    """
    if request.ids == "auto":
        _check_header(files)
        fairseq = [_FAIRSEQ_LINE.match(file.texts[0]) is not None for file in files]
        for where, pattern in _ID_PLACES.items():
            split = [_split(file, pattern) for file in files]
            for i, file in enumerate(files):
                # The ids of fairseq number the lines of the source from 0: so do lines without ids.
                if any(fairseq) and not fairseq[i] and not any(_split(file, other) for other in _ID_PLACES.values()):
                    split[i] = replace(file, ids=[str(number) for number in range(len(file.texts))])
            with_ids = [file for file in split if file is not None]
            sets = [set(file.ids) for file in with_ids] + ([set(gold)] if gold else [])
            alike = len(sets) > 1 and 2 * len(set.intersection(*sets)) > len(set.union(*sets))
            if alike and len(with_ids) == len(files) and any(map(_has_texts, with_ids)):
                remark = "lines are matched by their ids ({where}: {ids} …); {none} reads no ids"
                return with_ids, [Words(remark, where=where, ids=", ".join(with_ids[0].ids[:2]), none=AS_THEY_ARE)]
            # A first column may be anything: `_check_columns` tells of those.
            if where != _BEFORE_TAB:
                _check_all_have_ids(files, split, where, request.references[0] if gold else None)
        _check_columns(files)
        _check_order(files)
    origin, n = (request.references[0], len(gold)) if gold else (files[-1].path, len(files[-1].texts))
    for file in files:
        if len(file.texts) != n:
            remedy = "lines without ids go by their order: write a line for each item, an empty one for no answer"
            rule = f"has {counted(len(file.texts), 'line')}, {origin} {n:,}"
            raise InputError(rule, remedy=remedy, at=file.path)
    if gold and request.ids == "auto":
        check_row_numbers("item", pd.Series([*gold]), origin)
    ids = [*gold] if gold else [str(number) for number in range(1, n + 1)]
    return [replace(file, ids=ids) for file in files], []


def _split(lines: _Lines, pattern: re.Pattern[str]) -> _Lines | None:
    """The lines with the ids that stand where a pattern says; None if one has none, or two have the same."""
    kept: dict[str, tuple[int, str]] = {}
    for number, line in zip(lines.numbers, lines.texts, strict=True):
        match = _FAIRSEQ_LINE.fullmatch(line) or pattern.fullmatch(line)
        if match is None:
            if line.strip():
                return None
            continue
        name = match["id"].strip()
        if not name or name in kept:
            return None
        kept[name] = number, match["text"] or ""
    numbers, texts = map(list, zip(*kept.values(), strict=True))
    return _Lines(lines.path, texts, numbers, list(kept))


def _has_texts(lines: _Lines) -> bool:
    """Whether most lines have more than an id."""
    return 2 * sum(text.strip() != "" for text in lines.texts) > len(lines.texts)


def _check_all_have_ids(
    files: Sequence[_Lines], split: Sequence[_Lines | None], where: str, table: Path | None
) -> None:
    """Raise an InputError if the lines of one file begin or end with ids, and others have none or unlike ones."""
    first = next((file for file in split if file is not None and _has_texts(file)), None)
    if first is None or len(first.ids) < _FEWEST_IDS:
        return
    pairs = zip(files, split, strict=True)
    others = [file.path for file, parts in pairs if parts is None or first.ids[0] not in parts.ids]
    if others := others + ([table] if table else []):
        remedy = Words("give all files the same ids; {none} reads ids as words", none=AS_THEY_ARE)
        rule = f"lines have ids ('{first.ids[0]}', {where}) that {others[0]} lacks"
        raise InputError(rule, remedy=remedy, at=first.path)


def _check_header(files: Sequence[_Lines]) -> None:
    """Raise an InputError if the first line of each file is a name of a column."""
    first = [file.texts[0].strip() for file in files]
    names = [plain(name).removesuffix("s") for name in "\t".join(first).split("\t")]
    if _HEADERS.issuperset(names) and first[-1] not in files[-1].texts[1:]:
        remedy = Words("take line 1 out of all files (tail -n +2); {none} reads it as an item", none=AS_THEY_ARE)
        raise InputError(f"'{first[0]}' is a header", remedy=remedy, at=f"{files[0].path}, line 1")


def _check_order(files: Sequence[_Lines]) -> None:
    """Raise an InputError if the lines of all files begin with the same different words, in another order."""
    first = [[text.split(None, 1)[0] if text.strip() else "" for text in file.texts] for file in files]
    for file, words in zip(files[1:], first[1:], strict=True):
        alike = len(words) >= _FEWEST_IDS and len({*words}) == len(words) == len(first[0])
        if alike and {*words} == {*first[0]} and words != first[0]:
            remedy = Words("put a tab behind ids; {none} goes by the order of lines", none=AS_THEY_ARE)
            rule = f"begins its lines with the words of {files[0].path} in another order: are these ids?"
            raise InputError(rule, remedy=remedy, at=file.path)


def _check_columns(files: Sequence[_Lines]) -> None:
    """Raise an InputError if most lines of a file have columns between tabs."""
    for file in files:
        n = sum("\t" in text and "\t" in text.strip() for text in file.texts)
        if 2 * n > len(file.texts):
            remedy = Words("keep the texts (cut -f1), or put ids into all files; {none} reads tabs", none=AS_THEY_ARE)
            rule = f"{n:,} of {counted(len(file.texts), 'line')} have columns between tabs"
            raise InputError(rule, remedy=remedy, at=file.path)


# References ----------------------------------------------------------------------------------------------------------
def _gold_of_files(files: Sequence[_Lines], metric: Metric) -> _Gold:
    """References in text files: the items are those of the first."""
    of_item = [dict(zip(file.ids, file.texts, strict=True)) for file in files]
    gold = {}
    for item, number in zip(files[0].ids, files[0].numbers, strict=True):
        gold[item] = _references((file.get(item, "") for file in of_item), metric, f"{files[0].path}, line {number}")
    return gold


def _gold_of_table(path: Path, request: Request) -> _Gold:
    """References in a table: those of an item are in its rows, items in the order of their first rows."""
    if len(request.references) > 1:
        raise InputError("references", f"must be text files, or one table alone, unlike {path}")
    table = read_table(path)
    item, reference = (request.columns.get(name, name) for name in ("item", "reference"))
    for name in (item, reference):
        if name not in table:
            no_column(path, name, table.columns)
    gold: _Gold = {}
    lines: dict[str, int] = {}
    for line, name, text in zip(table.index, table[item], table[reference], strict=True):
        gold.setdefault(name, []).append(_counted_text(text.strip(), request))
        lines.setdefault(name, line)
    return {name: _references(texts, request.metric, f"{path}, line {lines[name]}") for name, texts in gold.items()}


def _references(texts: Iterable[str], metric: Metric, place: str) -> list[str]:
    """The texts that are not empty, else one empty text. An empty label is an InputError."""
    references = [text for text in texts if text.strip()]
    if not references and not metric.of_texts:
        raise InputError("has no label", at=place)
    return references or [""]


# Notes ---------------------------------------------------------------------------------------------------------------
# As sacrebleu does, warn of so many lines that end in a period that stands alone; and of marks of subwords.
_FEWEST_TOKENIZED = 100
_TOKENIZED = re.compile(r"\w@@(?: |$)|(?:^| )\u2581| \.$")

# Words between blanks have fewer letters than this on average in all languages that write blanks.
_LONGEST_WORDS = 20


def _note_texts(systems: Mapping[str, _Lines], gold: _Gold, request: Request) -> None:
    """Notes on outputs that are empty or tokenized, labels unlike gold, and words that the metric does not see."""
    metric = request.metric
    _note_lines("empty outputs", systems, lambda text: not text.strip())
    if empty := [item for item, references in gold.items() if references == [""]]:
        note("empty references", n=f"{len(empty):,}", all=counted(len(gold), "item"), first=empty[0])
    if not metric.of_texts:
        note_labels({name: lines.texts for name, lines in systems.items()}, set(chain(*gold.values())))
        return
    tokenizes = metric.tokenizers and request.texts.tokenize is None
    if tokenizes:
        _note_lines("tokenized outputs", systems, lambda text: bool(_TOKENIZED.search(text)), _FEWEST_TOKENIZED)
    text = " ".join(chain(*gold.values()))[:2_000]
    letters = [letter for letter in text if letter.isalpha()]
    other_letters = 2 * sum(letter.isascii() for letter in letters) < len(letters)
    without_blanks = len(letters) > _LONGEST_WORDS * len(text.split())
    if (metric.words == "a-z0-9" and other_letters) or (without_blanks and (tokenizes or metric.words == "spaced")):
        cure = Argument("tokenize", "zh") if metric.tokenizers else Argument("metric", "chrf")
        note("words not counted", metric=metric.name, cure=cure)


def _note_lines(kind: str, systems: Mapping[str, _Lines], holds: Callable[[str], bool], fewest: int = 1) -> None:
    """Name the files with lines of which something holds, and the first such line of each."""
    files = []
    for lines in systems.values():
        numbers = [number for number, text in zip(lines.numbers, lines.texts, strict=True) if holds(text)]
        if len(numbers) >= fewest:
            files.append(f"{lines.path} has {len(numbers):,}, first in line {numbers[0]:,}")
    if files:
        note(kind, files=listed(files, 3))


FORMAT = Format("text", "plain text", read)
