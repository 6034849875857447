"""Plain text: a file for each system and a line for each item, in the same order or with the same ids.

`read` says how files become rows. Below it are the ids of lines, the references, and the notes on texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pandas as pd

from simstudy.metrics import METRICS
from simstudy.metrics.base import Array
from simstudy.metrics.direction import sounds_like_error
from simstudy.metrics.per_class import PER_CLASS, PerClass
from simstudy.notes import Argument, Words, note
from simstudy.readers.columns import OURS, USUAL, no_column, plain
from simstudy.readers.formats import Format
from simstudy.readers.labels import note_labels
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.tables import ending, read_table
from simstudy.readers.text_files import read_lines
from simstudy.running.progress import doing
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError

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
_FAIRSEQ_LINE = re.compile(r"[STHD]-([0-9]+)\t(?:[-+.0-9einfa]+\t)?")

# So many lines begin with different words that all have digits only if these are ids.
_FEWEST_IDS = 5

_MARKUP = re.compile(r"\s*<(\?xml|!DOCTYPE|mteval|dataset|refset|srcset|tstset|doc)\b", re.IGNORECASE)
_HEADERS = frozenset(chain(OURS, *USUAL.values(), ("class", "category")))


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a text file: what they say, their numbers in the file, and the ids of their items."""

    path: Path
    texts: list[str]
    numbers: list[int]
    ids: list[str]


@dataclass(frozen=True, eq=False)
class _Gold:
    """The references of n items, and the file that they are in."""

    path: Path
    items: list[str]
    texts: list[list[str]]


def read(request: Request) -> LongTable:
    """Rows of files with a line for each item.

    - Metrics of texts (``bleu``, ``chrf``, ``rougeL``, ``wer`` …): lines are texts. References are text files, one for
      the first reference of all items, one for the second …, where an empty line is no reference; or one table (.csv,
      .tsv) with the columns ``item`` and ``reference`` (else the first and the last column) and any number of rows
      for an item.
    - Metrics of labels (``accuracy``, ``macro_f1`` …): lines are labels, right if they equal the line of the one
      reference file. Blanks around them do not count.
    - ``mean``: lines are numbers, and there are no references.

    Lines of all files have one order, or ids (`_with_ids`). A system's line may be empty if it is a text or a label.
    """
    _check_request(request)
    named, metric = request.named_files(), request.metric
    table = next((path for path in request.references if _is_table(path)), None)
    gold = None if table is None else _gold_of_table(table, request)
    paths = [*named.values(), *(request.references if table is None else ())]
    files, remarks = _with_ids([_read(path, request.mark) for path in paths], gold, request)
    what = "plain text with ids" if remarks else ""
    numbered = not remarks and table is None
    systems = dict(zip(named, files, strict=False))
    if not metric.of_texts:
        # Blanks around labels and numbers do not count.
        systems = {
            name: replace(lines, texts=[text.strip() for text in lines.texts]) for name, lines in systems.items()
        }
    if not metric.counts_texts:
        rows = [
            line_rows(name, lines.path, lines.numbers, lines.ids, {"score": lines.texts})
            for name, lines in systems.items()
        ]
        errors = tuple(path.name for path in paths if sounds_like_error(path.name))
        scored_by = errors if len(errors) == len(paths) else ()
        return LongTable(
            pd.concat(rows), ("score",), numbered=numbered, scored_by=scored_by, read_as=what, remarks=remarks
        )
    gold = gold or _gold_of_files(files[len(named) :])
    if isinstance(metric, PerClass):
        labels = chain((right[0].strip() for right in gold.texts), *(lines.texts for lines in systems.values()))
        # No answer is a label of its own.
        metric = metric.of_classes([*labels, ""] if request.missing == "zero" else labels)
    how = request.texts
    counter = metric.text_counter(gold.texts, tokenize=how.tokenize, lowercase=how.lowercase)
    assert counter is not None
    metric = metric.signed(counter.signature)
    position = {item: i for i, item in enumerate(gold.items)}
    rows = []
    with doing(f"scoring {metric.label}", len(systems)) as advance:
        for name, lines in systems.items():
            outputs = dict(zip(lines.ids, lines.texts, strict=True))
            # Only items of both files count: for others any text stands.
            texts = [outputs.get(item, right[0]) for item, right in zip(gold.items, gold.texts, strict=True)]
            counts = counter.statistics(texts)[[position.get(item, 0) for item in lines.ids]]
            values = dict(zip(metric.statistics, counts.T, strict=True))
            rows.append(line_rows(name, lines.path, lines.numbers, lines.ids, values, lines.texts))
            advance(1)
    _note_texts(systems, gold, request)
    expected = pd.DataFrame({"item": gold.items, "gold": ["\n".join(right) for right in gold.texts]})
    if request.missing == "zero":
        nothing = pd.DataFrame(counter.statistics([""] * len(gold.items)), columns=[*metric.statistics])
        expected = expected.join(nothing)
    return LongTable(
        pd.concat(rows),
        metric.statistics,
        metric,
        expected,
        numbered=numbered,
        answers_compare=True,
        read_as=what,
        remarks=remarks,
    )


def line_rows(
    system: str,
    path: Path,
    lines: list[int],
    items: list[str],
    values: Mapping[str, Sequence[object] | Array],
    answers: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Rows of a long table: an item for each of some lines of a system's file, with its statistics or score."""
    index = pd.MultiIndex.from_arrays([[str(path)] * len(items), lines], names=["file", "line"])
    columns = {"system": system, "item": items, **values}
    return pd.DataFrame(columns if answers is None else {**columns, "answer": answers}, index=index)


def check_as_many(path: Path, n: int, noun: str, gold_path: Path, n_gold: int) -> None:
    """Raise an InputError if a file has not as many of something as the gold file."""
    if n != n_gold:
        raise InputError(f"has {counted(n, noun)}, {gold_path} {n_gold:,}", at=path)


def _check_request(request: Request) -> None:
    """Raise an InputError if a request asks for what plain text has not."""
    metric = request.metric
    if not (metric.counts_texts or metric.item_range):
        names = ["mean", *(name for name, other in METRICS.items() if other.counts_texts), *PER_CLASS]
        raise InputError("metric", f"must be one of {', '.join(names)} for plain text", metric.name)
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
def _read(path: Path, mark: str) -> Lines:
    """The lines of a file of text, without the mark; an InputError if it is a file of another kind."""
    texts = read_lines(path)
    if match := _MARKUP.match(texts[0]):
        remedy = r"take the segments out: sed -n 's/.*<seg[^>]*>\(.*\)<.seg>.*/\1/p' FILE > FILE.txt"
        raise InputError(f"must have a line for each item, but is markup: {match[0]} …>", remedy=remedy, at=path)
    texts = [text.replace(mark, " ") for text in texts] if mark else texts
    return Lines(path, texts, list(range(1, len(texts) + 1)), [])


def _with_ids(files: Sequence[Lines], gold: _Gold | None, request: Request) -> tuple[list[Lines], list[Words]]:
    """The files with the id of each line, and what the first note says of ids that are in the lines.

    Lines have ids if each line of a file has another one, at the same place of `_ID_PLACES` in all files, and more
    than half of all ids are in every file. In some file each line has more than its id. Other lines go by their order.
    """
    if request.ids == "auto":
        _check_header(files)
        for where, pattern in _ID_PLACES.items():
            split = _split_all(files, pattern)
            if _are_alike(split, gold):
                with_ids = [file for file in split if file is not None]
                remark = "lines are matched by their ids ({where}: {ids} …); {none} reads no ids"
                return with_ids, [Words(remark, where=where, ids=", ".join(with_ids[0].ids[:2]), none=AS_THEY_ARE)]
            _check_all_have_ids(files, split, where, gold)
        _check_columns(files)
        _check_order(files)
    lengths = ([len(gold.items)] if gold else []) + [len(file.texts) for file in reversed(files)]
    n = Counter(lengths).most_common(1)[0][0]
    for file in files:
        if len(file.texts) != n:
            raise _other_length(file, n, files, gold)
    ids = gold.items if gold else [str(number) for number in range(1, n + 1)]
    return [replace(file, ids=ids) for file in files], []


def _split_all(files: Sequence[Lines], pattern: re.Pattern[str]) -> list[Lines | None]:
    """The files with the ids that stand where a pattern says; None for a file whose lines have none there."""
    split = [_split(file, pattern) for file in files]
    with_ids = [file for file, parts in zip(files, split, strict=True) if parts is not None]
    if with_ids and all(_FAIRSEQ_LINE.match(file.texts[0]) for file in with_ids):
        # These ids count the lines of the source from 0: so lines without ids, in the order of the source, have them.
        for i, file in enumerate(files):
            if not any(_split(file, other) for other in _ID_PLACES.values()):
                split[i] = replace(file, ids=[str(k) for k in range(len(file.texts))])
    return split


def _split(lines: Lines, pattern: re.Pattern[str]) -> Lines | None:
    """The lines with the ids that stand where a pattern says; None if one has none, or two have the same."""
    kept: dict[str, tuple[int, str]] = {}
    for number, line in zip(lines.numbers, lines.texts, strict=True):
        match = pattern.fullmatch(line)
        if match is None:
            if line.strip():
                return None
            continue
        name, text = match["id"].strip(), match["text"] or ""
        if fairseq := _FAIRSEQ_LINE.match(line):
            name, text = fairseq[1], line[fairseq.end() :]
        if not name or name in kept:
            return None
        kept[name] = number, text
    numbers, texts = map(list, zip(*kept.values(), strict=True))
    return Lines(lines.path, texts, numbers, list(kept))


def _are_alike(split: Sequence[Lines | None], gold: _Gold | None) -> bool:
    """Whether all files have ids, most of them in common, and some file has a text behind each."""
    with_ids = [file for file in split if file is not None]
    sets = [set(file.ids) for file in with_ids] + ([set(gold.items)] if gold else [])
    if len(with_ids) < len(split) or len(sets) < 2:
        return False
    common, union = set.intersection(*sets), set.union(*sets)
    return 2 * len(common) > len(union) and any(map(_has_texts, with_ids))


def _has_texts(lines: Lines) -> bool:
    return all(text.strip() for text in lines.texts)


def _check_all_have_ids(files: Sequence[Lines], split: Sequence[Lines | None], where: str, gold: _Gold | None) -> None:
    """Raise an InputError if the lines of one file begin or end with ids, and others have none or unlike ones."""
    with_ids = [file for file in split if file is not None and _has_texts(file)]
    # A first column may be anything: `_check_columns` tells of those.
    if where == _BEFORE_TAB or not with_ids or len(with_ids[0].ids) < _FEWEST_IDS:
        return
    first = with_ids[0]
    pairs = zip(files, split, strict=True)
    others = [file.path for file, parts in pairs if parts is None or first.ids[0] not in parts.ids]
    if others := others + ([gold.path] if gold else []):
        remedy = Words("give all files the same ids; {none} reads ids as words", none=AS_THEY_ARE)
        rule = f"lines have ids ('{first.ids[0]}', {where}) that {others[0]} lacks"
        raise InputError(rule, remedy=remedy, at=first.path)


def _check_header(files: Sequence[Lines]) -> None:
    """Raise an InputError if the first line of each file is a name of a column."""
    first = [file.texts[0].strip() for file in files]
    parts = [part for text in first for part in text.split("\t")]
    if all(plain(part).removesuffix("s") in _HEADERS for part in parts) and first[-1] not in files[-1].texts[1:]:
        remedy = Words("take line 1 out of all files (tail -n +2); {none} reads it as an item", none=AS_THEY_ARE)
        raise InputError(f"'{first[0]}' is a header", remedy=remedy, at=f"{files[0].path}, line 1")


def _check_order(files: Sequence[Lines]) -> None:
    """Raise an InputError if the lines of all files begin with the same different words, in another order."""
    first = [[text.split(None, 1)[0] if text.strip() else "" for text in file.texts] for file in files]
    for file, words in zip(files[1:], first[1:], strict=True):
        alike = len(words) >= _FEWEST_IDS and len({*words}) == len(words) == len(first[0])
        if alike and {*words} == {*first[0]} and words != first[0]:
            remedy = Words("put a tab behind ids; {none} goes by the order of lines", none=AS_THEY_ARE)
            rule = f"begins its lines with the words of {files[0].path} in another order: are these ids?"
            raise InputError(rule, remedy=remedy, at=file.path)


def _check_columns(files: Sequence[Lines]) -> None:
    """Raise an InputError if most lines of a file have columns between tabs."""
    for file in files:
        n = sum("\t" in text and "\t" in text.strip() for text in file.texts)
        if 2 * n > len(file.texts):
            remedy = Words(
                "keep the column of the texts (cut -f1), write each of several references into a file of its own, and "
                "ids into all files; {none} reads tabs as blanks",
                none=AS_THEY_ARE,
            )
            rule = f"{n:,} of {counted(len(file.texts), 'line')} have columns between tabs"
            raise InputError(rule, remedy=remedy, at=file.path)


def _other_length(lines: Lines, n: int, files: Sequence[Lines], gold: _Gold | None) -> InputError:
    """The error of a file that has not as many lines as there are items."""
    origin = next((file for file in reversed(files) if len(file.texts) == n), None)
    longer, least = (lines, n) if len(lines.texts) > n else (origin, len(lines.texts))
    remedy = "lines without ids go by their order: write a line for each item, an empty one for no answer"
    if longer and not any(text.strip() for text in longer.texts[least:]):
        remedy = f"take out the empty lines at the end of {longer.path}"
    elif any(map(_FAIRSEQ_LINE.match, lines.texts)):
        remedy = "of the output of fairseq-generate keep one kind of lines (grep ^D-, or grep ^H-)"
    path = gold.path if gold else origin.path if origin else ""
    return InputError(f"has {counted(len(lines.texts), 'line')}, {path} {n:,}", remedy=remedy, at=lines.path)


# References ----------------------------------------------------------------------------------------------------------
def _gold_of_files(files: Sequence[Lines]) -> _Gold:
    """References in text files: the items are those of the first."""
    of_item = [dict(zip(file.ids, file.texts, strict=True)) for file in files]
    items = files[0].ids
    texts = [[text for file in of_item if (text := file.get(item, "")).strip()] for item in items]
    if [] in texts:
        also = ", and in the other files of references" if len(files) > 1 else ""
        place = f"{files[0].path}, line {files[0].numbers[texts.index([])]}"
        raise InputError(f"the reference is empty{also}", at=place)
    return _Gold(files[0].path, items, texts)


def _gold_of_table(path: Path, request: Request) -> _Gold:
    """References in a table: those of an item are in its rows, items in the order of their first rows."""
    if len(request.references) > 1:
        raise InputError("references", f"must be text files, or one table alone, unlike {path}")
    table = read_table(path)
    names = []
    for ours, position in (("item", 0), ("reference", -1)):
        usual = ours if ours in table else str(table.columns[position])
        names.append(request.columns.get(ours, usual))
        if names[-1] not in table:
            no_column(path, names[-1], table.columns)
    if names[0] == names[1]:
        raise InputError(f"items and references must be two columns, not both '{names[0]}'", at=path)
    texts: dict[str, list[str]] = {}
    first: dict[str, object] = {}
    for line, name, text in zip(table.index, *(table[name] for name in names), strict=True):
        first.setdefault(name, line)
        texts.setdefault(name, []).extend([text] if text.strip() else [])
    for name, references in texts.items():
        if not references:
            raise InputError(f"item '{name}' has no reference that is not empty", at=f"{path}, line {first[name]}")
    note("table of references", path=path, item=names[0], reference=names[1])
    return _Gold(path, list(texts), list(texts.values()))


# Notes ---------------------------------------------------------------------------------------------------------------
# An output is far too long if it has more than five times the characters of each of its references, and at least 200
# more. Of 136 systems on seven public test sets that names eight (with outputs that are far too short).
_TIMES, _MORE = 5, 200

# sacrebleu warns of so many lines that end in a period that stands alone.
_TOKENIZED = 100

_SUBWORDS = re.compile(r"\w@@(?: |$)|(?:^| )\u2581")

# Words between blanks have fewer letters than this on average in all languages that write blanks.
_LONGEST_WORDS = 20


def _note_texts(systems: Mapping[str, Lines], gold: _Gold, request: Request) -> None:
    """Notes on outputs that are empty or unlike the references in length, tokens, labels or script."""
    outputs = list(systems.values())
    _note_lines("empty outputs", outputs, lambda item, text: not text.strip())
    if not request.metric.of_texts:
        note_labels({name: lines.texts for name, lines in systems.items()}, {right[0].strip() for right in gold.texts})
        return
    longest = {item: max(map(len, right)) for item, right in zip(gold.items, gold.texts, strict=True)}
    _note_lines(
        "long outputs",
        outputs,
        lambda item, text: len(text.strip()) > max(_TIMES * (n := longest.get(item, len(text))), n + _MORE - 1),
        times=_TIMES,
    )
    _note_lines("subwords", outputs, lambda item, text: _SUBWORDS.search(text) is not None)
    if request.metric.tokenizers and request.texts.tokenize is None:
        _note_lines("tokenized outputs", outputs, lambda item, text: text.endswith(" ."), fewest=_TOKENIZED)
    _note_words(gold.texts, request)


def _note_lines(
    kind: str, outputs: Sequence[Lines], holds: Callable[[str, str], bool], *, fewest: int = 1, **fields: object
) -> None:
    """Name the files with lines of which something holds, those with the most first, and the first line of each."""
    at = {
        file: [i for i, pair in enumerate(zip(file.ids, file.texts, strict=True)) if holds(*pair)] for file in outputs
    }
    files = sorted((file for file in outputs if len(at[file]) >= fewest), key=lambda file: -len(at[file]))
    if files:
        named = [f"{file.path} has {len(at[file]):,}, first in line {file.numbers[at[file][0]]:,}" for file in files]
        note(kind, files=listed(named, 3), **fields)


def _note_words(texts: Iterable[Iterable[str]], request: Request) -> None:
    """Say so if the metric's words are none in the language of the references."""
    metric, text = request.metric, " ".join(chain.from_iterable(texts))[:2_000]
    letters = [letter for letter in text if letter.isalpha()]
    chrf = Argument("metric", "chrf")
    if metric.words == "a-z0-9" and 2 * sum(letter.isascii() for letter in letters) < len(letters):
        note("words of other letters", metric=metric.name, chrf=chrf)
    by_blanks = metric.words == "spaced" or (metric.tokenizers and request.texts.tokenize is None)
    if by_blanks and len(letters) > _LONGEST_WORDS * len(text.split()):
        zh, japanese = Argument("tokenize", "zh"), Argument("tokenize", "ja-mecab")
        cure = "{zh}, {japanese} and {chrf} do not" if metric.tokenizers else "{chrf} does not"
        note("words without blanks", metric=metric.name, cure=Words(cure, zh=zh, japanese=japanese, chrf=chrf))


FORMAT = Format("text", "plain text", read)
