"""CoNLL columns: each line has a token and its tag, and empty lines separate sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from simstudy.metrics.annotations import has_ends, is_span_tag, span_counts, strict_spans, tagged_spans
from simstudy.notes import Argument, Words, note
from simstudy.readers.annotations import Annotated, annotated, compared_with_gold
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_DOCUMENT = "-DOCSTART-"

#: The tokens of a sentence, and their tags.
Tagged = tuple[tuple[str, ...], tuple[str, ...]]


def read(request: Request) -> LongTable:
    """Rows of tagged sentences, a file for each system, scored by F1 of spans or by accuracy against gold tags.

    Sentences are matched by their order, or by their tokens if these are in another order. They must be as many as in
    gold; a note counts tokens that are spelt otherwise. ``columns["tag"]`` is the number of the column of tags, from 1
    on, and ``columns["gold"]`` that of gold tags in the systems' files, which must be the same in all of them.
    """
    tag_column, gold_column = (_number(request, name) for name in ("tag", "gold"))
    if gold_column:
        if request.references:
            raise InputError("references", "must not be given with a column of gold tags")
        if tag_column in (0, gold_column):
            raise InputError("columns", "must give two columns, such as gold=3,tag=4", f"gold={gold_column}")
        request = replace(request, references=request.paths[:1])
    gold_path = request.gold_file("CoNLL columns", ["span_f1", "span_f1:strict", "accuracy"])
    spans, strict = request.metric.name.startswith("span_f1"), request.metric.name.endswith(":strict")
    gold = _read_columns(gold_path, gold_column or tag_column, spans)
    all_tags = [sentence.annotation[1] for sentence in gold.values()]
    ends = has_ends(chain(*all_tags))
    if strict and 2 * sum(len(strict_spans(tags, ends)) for tags in all_tags) < sum(
        map(len, map(tagged_spans, all_tags))
    ):
        remedy = Words("{metric} reads others too", metric=Argument("metric", "span_f1"))
        raise InputError("most spans do not begin with B, as 'span_f1:strict' demands", remedy=remedy, at=gold_path)
    remarks: list[str] = []

    def of_system(path: Path) -> Mapping[str, Annotated[Tagged]]:
        if gold_column:
            same_gold = _read_columns(path, gold_column, spans)
            for sentence, right in zip(same_gold.values(), gold.values(), strict=False):
                if sentence.annotation != right.annotation:
                    rule = f"other tokens or gold tags than in {gold_path}, line {right.line}"
                    raise InputError(rule, at=f"{path}, line {sentence.line}")
        sentences = _read_columns(path, tag_column, spans)
        words, gold_words = ([sentence.words for sentence in file.values()] for file in (sentences, gold))
        if len(words) != len(gold_words):
            raise InputError(f"has {counted(len(words), 'sentence')}, {gold_path} {len(gold_words):,}", at=path)
        if words != gold_words and Counter(words) == Counter(gold_words):
            if len({*words}) < len(words):
                rule = "has the sentences of gold in another order, some of them several times"
                raise InputError(rule, remedy="put them in the order of gold", at=path)
            remarks.append("sentences in another order are matched by their tokens")
            by_words = dict(zip(words, sentences.values(), strict=True))
            sentences = {item: by_words[sentence.words] for item, sentence in gold.items()}
        _check_tokens(sentences, path, gold, gold_path)
        return sentences

    def counts(sentence: Tagged, gold_sentence: Tagged) -> tuple[int, ...]:
        (_, tags), (_, gold_tags) = sentence, gold_sentence
        if len(tags) != len(gold_tags):
            raise InputError(f"a sentence of {counted(len(tags), 'token')}, not {len(gold_tags)}")
        if strict and has_ends(tags) and not ends:
            raise InputError("tags of IOBES or BILOU, but gold has none of these")
        if spans:
            return span_counts(tags, gold_tags, strict=strict, ends=ends)
        return sum(map(str.__eq__, tags, gold_tags)), len(gold_tags)

    return compared_with_gold(request, gold, of_system, counts, columns=("tag", "gold"), remarks=remarks)


def _number(request: Request, name: str) -> int:
    """The number of a column, from 1 on; 0 if it is not given."""
    if name not in request.columns:
        return 0
    text = request.columns[name]
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise InputError("columns", "must give the number of a column, from 1 on", f"{name}={text}")
    return int(text)


def _check_tokens(
    sentences: Mapping[str, Annotated[Tagged]], path: Path, gold: Mapping[str, Annotated[Tagged]], gold_path: Path
) -> None:
    """Raise an InputError if most tokens are not those of gold; a note counts fewer."""
    pairs = [
        (sentence.line + i, *tokens)
        for sentence, right in zip(sentences.values(), gold.values(), strict=False)
        for i, tokens in enumerate(zip(sentence.annotation[0], right.annotation[0], strict=False))
    ]
    unlike = [(line, token, gold_token) for line, token, gold_token in pairs if token != gold_token]
    if 2 * len(unlike) > len(pairs):
        line, token, gold_token = unlike[0]
        rule = f"{len(unlike):,} of {counted(len(pairs), 'token')} are not those of {gold_path}"
        remedy = "sentences must be in the order of gold, and tokens in the first column"
        raise InputError(f"{rule}, first '{token}' for '{gold_token}'", remedy=remedy, at=f"{path}, line {line}")
    if unlike:
        note("tokens unlike gold", path=path, n=counted(len(unlike), "token"), all=f"{len(pairs):,}")


@once
def _read_columns(path: Path, column: int, spans: bool) -> dict[str, Annotated[Tagged]]:
    """The sentences of a file of CoNLL columns by their numbers.

    Columns are separated by tabs, or else by spaces; the first is the token, and the last, or that of the number
    `column` from 1 on, the tag. Lines of the token -DOCSTART- are in no sentence. Neither are lines before a sentence
    that begin with # and have another number of columns than the rest. Tags of `spans` must be of BIO, IOBES or BILOU.
    """
    lines = read_lines(path)
    model = next((line for line in lines if line.strip() and not line.startswith(("#", _DOCUMENT))), "# O")
    separator = "\t" if "\t" in model else " "
    width = len(_fields(model, separator))
    if width < max(2, column):
        raise InputError(f"has {counted(width, 'column')}, but a token and its tag need {max(2, column)}", at=path)
    sentences: dict[str, Annotated[Tagged]] = {}
    tokens: list[str] = []
    tags: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        fields = _fields(line, separator)
        if not fields or line.startswith(_DOCUMENT):
            if tokens:
                # O marks no span.
                text = annotated(tokens, ("" if tag == "O" else tag for tag in tags))
                tagged = tuple(tokens), tuple(tags)
                sentences[str(len(sentences) + 1)] = Annotated(number - len(tokens), " ".join(tokens), tagged, text)
            tokens, tags = [], []
        elif len(fields) == width:
            tag = fields[column - 1]
            if spans and not is_span_tag(tag):
                rule = "must be O, or B, I, E, S, L or U with -label or without"
                raise InputError("tag", rule, tag, at=f"{path}, line {number}")
            tokens.append(fields[0])
            tags.append(tag)
        elif tokens or not fields[0].startswith("#"):
            rule = f"{counted(len(fields), 'column')}, but the first sentence of the file has {width}"
            raise InputError(rule, at=f"{path}, line {number}")
    return sentences


def _fields(line: str, separator: str) -> list[str]:
    """The columns of a line, none if it is empty. A no-break space is part of a token."""
    return [field for field in line.split(separator) if field.strip(" ")]


FORMAT = Format("conll", "CoNLL columns", read, ("*.conll", "*.bio"), metrics=("span_f1", "span_f1:strict"))
