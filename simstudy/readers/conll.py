"""CoNLL columns: each line has a token and its tag, and empty lines separate sentences."""

from __future__ import annotations

from pathlib import Path

from simstudy.metrics.spans import is_bio, span_counts
from simstudy.notes import note
from simstudy.readers.annotations import Annotated, annotated, compared_with_gold
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_DOCUMENT = "-DOCSTART-"

#: The tags of a sentence.
Tags = tuple[str, ...]


def read(request: Request) -> LongTable:
    """Rows of tagged sentences, a file for each system, scored by F1 of spans or by accuracy against a gold file.

    Sentences, and their tokens, are matched by their order. They must be as many as in gold, but tokens may be spelt
    otherwise, which a note counts. ``columns["tag"]`` is the number of the column of tags, from 1 on.
    """
    gold_path = request.gold_file("CoNLL columns", ["span_f1", "accuracy"])
    spans, column = request.metric.name == "span_f1", request.columns.get("tag", "")
    if column and not (column.isascii() and column.isdecimal() and int(column) >= 1):
        raise InputError("columns", "must give the number of the column of tags, from 1 on", f"tag={column}")
    gold = _read_columns(gold_path, column, spans)

    def of_system(path: Path) -> dict[str, Annotated[Tags]]:
        sentences = _read_columns(path, column, spans)
        if n_altered := sum(gold.get(item, sentence).words != sentence.words for item, sentence in sentences.items()):
            note("tokens unlike gold", path=path, n=counted(n_altered, "sentence"), all=f"{len(gold):,}")
        return sentences

    def counts(tags: Tags, gold_tags: Tags) -> tuple[int, ...]:
        if len(tags) != len(gold_tags):
            raise InputError(f"a sentence of {counted(len(tags), 'token')}, not {len(gold_tags)}")
        return span_counts(tags, gold_tags) if spans else (sum(map(str.__eq__, tags, gold_tags)), len(gold_tags))

    return compared_with_gold(request, gold, of_system, counts)


@once
def _read_columns(path: Path, column: str, bio: bool) -> dict[str, Annotated[Tags]]:
    """The sentences of a file of CoNLL columns by their numbers.

    Columns are separated by tabs, or else by spaces; the first is the token, and the last, or that of the number
    `column` from 1 on, the tag. Lines of the token -DOCSTART- are in no sentence. Neither are lines before a sentence
    that begin with # and have another number of columns than the rest. With `bio` tags must be O, B-label or I-label.
    """
    lines = read_lines(path)
    model = next((line for line in lines if line.strip() and not line.startswith(("#", _DOCUMENT))), "# O")
    separator = "\t" if "\t" in model else " "
    width, at = len(_fields(model, separator)), int(column or 0)
    if width < max(2, at):
        raise InputError(f"has {counted(width, 'column')}, but a token and its tag need {max(2, at)}", at=path)
    sentences: dict[str, Annotated[Tags]] = {}
    tokens: list[str] = []
    tags: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        fields = _fields(line, separator)
        if not fields or line.startswith(_DOCUMENT):
            if tokens:
                # O marks no span.
                text = annotated(tokens, ("" if tag == "O" else tag for tag in tags))
                sentence = Annotated(number - len(tokens), " ".join(tokens), tuple(tags), text)
                sentences[str(len(sentences) + 1)] = sentence
            tokens, tags = [], []
        elif len(fields) == width:
            tag = fields[at - 1]
            if bio and not is_bio(tag):
                raise InputError("tag", "must be O, B-label or I-label", tag, at=f"{path}, line {number}")
            tokens.append(fields[0])
            tags.append(tag)
        elif tokens or not fields[0].startswith("#"):
            rule = f"{counted(len(fields), 'column')}, but the first sentence of the file has {width}"
            raise InputError(rule, at=f"{path}, line {number}")
    return sentences


def _fields(line: str, separator: str) -> list[str]:
    """The columns of a line, none if it is empty. A no-break space is part of a token."""
    return [field for field in line.split(separator) if field.strip(" ")]


FORMAT = Format("conll", "CoNLL columns", read, ("*.conll", "*.bio"), metrics=("span_f1",))
