"""Plain text: one file for each system, one line for each item. The metric decides what lines mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source, all_errors
from simstudy.loaders.items import items_in_order, numbered
from simstudy.loaders.reading import read_lines
from simstudy.loaders.tables import check_no_workbook, ending, no_column, number, read_table
from simstudy.loaders.text_notes import note_labels, note_lengths, note_script
from simstudy.metrics import METRICS, Metric
from simstudy.metrics.base import Array
from simstudy.metrics.per_class import PER_CLASS, PerClass
from simstudy.running.progress import doing
from simstudy.text.numerals import counted
from simstudy.validation import InputError


def read_text(source: Source) -> Loaded:
    """Outputs from files with a line for each item, in the same order in every file.

    - "bleu", "chrf", "chrf++", "rouge1", "rouge2", "rougeL", "ter", "wer", "cer": lines are texts. References are plain
      text files, one for the first references of all items, one for the second ones, …, where an empty line is no
      further reference; or one table (.csv, .tsv) with columns ``item`` and ``reference`` (by default the first and the
      last one), in which rows of one item are its references, items in the order of their first rows. "wer" and "cer"
      take one reference an item.
    - "accuracy", "macro_f1", "balanced_accuracy", "mcc": lines are labels, right where they equal the line of the one
      reference file; blanks around them do not count.
    - "mean", and any other `Mean`: lines are numbers. There are no references.

    A system's line may be empty where it is text or a label; a note counts such lines, and those that are far longer or
    shorter than their references (`simstudy.loaders.text_notes`). Items' ids are those of the table of references,
    which the items table must have then, in any order; else those of the items table, or "1", "2", … Lines have no ids
    by which one could tell which of them is missing, so that `Source.missing` does not matter.
    """
    _check(source)
    named, metric = source.systems(), source.metric
    gold = _references(source) if metric.counts_texts else None
    files = [_unmarked(read_lines(path), source) for path in source.paths]
    n = _common_length([(path, len(lines)) for path, lines in zip(source.paths, files, strict=True)], gold)
    known = pd.DataFrame({"id": gold.ids}) if gold and gold.ids else numbered(n)
    items = items_in_order(source, known, named=bool(gold and gold.ids))
    ids = items["id"].tolist()
    if isinstance(metric, PerClass) and gold:
        labels = chain((own[0] for own in gold.texts), *files)
        metric = metric.of_classes(label.strip() for label in labels)
        source = replace(source, metric=metric)
    how = source.texts
    counter = metric.text_counter(gold.texts, tokenize=how.tokenize, lowercase=how.lowercase) if gold else None
    if counter is not None:
        source = replace(source, metric=metric.signed(counter.signature))
    systems = []
    with doing(f"scoring {metric.label}", len(files)) as advance:
        for (name, path), lines in zip(named.items(), files, strict=True):
            if counter is None:
                systems.append(SystemOutputs(name, str(path), ids, _scores(lines, path, metric)))
            else:
                # Blanks around a label do not count.
                said = lines if metric.of_texts else [line.strip() for line in lines]
                systems.append(SystemOutputs(name, str(path), ids, counter.statistics(said), said, texts=said))
            advance(1)
    if gold:
        note_script(gold.texts, source)
        note_lengths(dict(zip(source.paths, files, strict=True)), gold.texts, texts=metric.of_texts)
        if not metric.of_texts:
            labels_of = {system.name: list(map(str, system.texts or ())) for system in systems}
            note_labels(labels_of, (own[0].strip() for own in gold.texts))
    asked = Asked.of(ids, references=map("\n".join, gold.texts)) if gold else None
    loaded = assemble(systems, source, items, asked=asked)
    return replace(loaded, scored_by=() if gold else all_errors(path.name for path in source.paths))


def _check(source: Source) -> None:
    """Raise a ValueError where a source asks for what plain text has not."""
    metric = source.metric
    if not source.paths:
        raise InputError("paths must name at least one file of system outputs")
    for path in source.paths:
        check_no_workbook(path)
    if not (metric.counts_texts or metric.item_range):
        known = ", ".join(["mean", *(name for name, one in METRICS.items() if one.counts_texts), *PER_CLASS])
        raise InputError(f"metric must be one of {known} for plain text, not '{metric.name}'")
    if source.texts.lowercase and not metric.of_texts:
        raise InputError(f"lowercase is for metrics of texts, not for '{metric.name}'")
    if source.texts.tokenize is not None and not metric.tokenizers:
        raise InputError(f"tokenize is for metric 'bleu', not for '{metric.name}'")
    if source.references and not metric.counts_texts:
        raise InputError(f"metric '{metric.name}' needs no references: lines of plain text are the scores")
    tabled = source.items is not None or any(_is_table(path) for path in source.references)
    if source.columns and not tabled:
        ours, theirs = next(iter(source.columns.items()))
        raise InputError(f"plain text has no columns, so none '{theirs}' for {ours}: give a table of the items")


def _common_length(files: Sequence[tuple[Path, int]], gold: _References | None) -> int:
    """How many items there are: as many as have references, or else as most files have."""
    if gold is not None:
        n, origin = len(gold.texts), gold.origin
    else:
        n = Counter(count for _, count in files).most_common(1)[0][0]
        origin = next(path for path, count in files if count == n)
    _check_lengths(files, origin, n)
    return n


def _scores(lines: Sequence[str], path: Path, metric: Metric) -> Array:
    """Statistics (n, 2) of a file's lines, where these are scores."""
    low, high = metric.item_range or (-np.inf, np.inf)
    values = np.array([number(line) for line in lines])
    for wrong, rule in (
        (~np.isfinite(values), "a number"),
        (values < low, f"at least {low:g}"),
        (values > high, f"at most {high:g}"),
    ):
        if wrong.any():
            line = int(wrong.argmax())
            found = f"not '{lines[line]}'" if lines[line].strip() else "but the line is empty"
            raise InputError(f"{path}, line {line + 1}: {metric.name} must be {rule}, {found}")
    return np.stack([values, np.ones_like(values)], axis=-1)


def _is_table(path: Path) -> bool:
    """Whether a file of references is a table: by its name, .csv or .tsv, packed or not."""
    return ending(path) in (".csv", ".tsv")


@dataclass(frozen=True)
class _References:
    """References of each item, the file that says how many items there are, and ids where a table has them."""

    texts: list[list[str]]
    origin: Path
    ids: list[str] | None = None


def _references(source: Source) -> _References:
    """The references of a source, of either kind that `read_text` names."""
    if not source.references:
        raise InputError(
            f"metric '{source.metric.name}' needs references: at least one file. (Files are read as plain text, "
            "because their names do not end in .csv, .tsv, .json, .jsonl or .parquet)"
        )
    table = next((path for path in source.references if _is_table(path)), None)
    if table is None:
        return _from_files(source)
    if len(source.references) > 1:
        raise InputError(f"a table of references must be the only file of references, unlike {table}")
    return _from_table(table, source)


def _check_lengths(files: Sequence[tuple[Path, int]], origin: Path, n: int) -> None:
    """Raise a ValueError that names the files, with their numbers of lines, that are not n as in the origin."""
    wrong = [(path, count) for path, count in files if count != n]
    if not wrong:
        return
    (first, found), *others = wrong
    listed = "".join(f", {path} {count:,}" for path, count in others[:2])
    more = f", {counted(len(others) - 2, 'more file')} other numbers" if len(others) > 2 else ""
    items = counted(n, "item") if _is_table(origin) else f"{n:,}"
    counts = f"{first} has {counted(found, 'line')}{listed}{more}, {origin} {items}"
    longer, least = (first, n) if found > n else (origin, found)
    if not _is_table(longer) and not any(line.strip() for line in read_lines(longer)[least:]):
        raise InputError(f"{counts}; line {least + 1} of {longer} is empty: take out the empty lines at its end")
    raise InputError(f"{counts}; lines have no ids, so that none can be dropped or scored as missing")


def _unmarked(lines: list[str], source: Source) -> list[str]:
    """The lines without the source's mark."""
    return [line.replace(source.mark, " ") for line in lines] if source.mark else lines


def _from_files(source: Source) -> _References:
    paths = source.references
    lines = [_unmarked(read_lines(path), source) for path in paths]
    _check_lengths([(path, len(own)) for path, own in zip(paths, lines, strict=True)], paths[0], len(lines[0]))
    texts = [[text for text in own if text.strip()] for own in zip(*lines, strict=True)]
    if [] in texts:
        also = ", and so in the other files of references" if len(paths) > 1 else ""
        raise InputError(f"{paths[0]}, line {texts.index([]) + 1}: the reference is empty{also}")
    return _References(texts, paths[0])


def _from_table(path: Path, source: Source) -> _References:
    table = read_table(path)
    item, reference = (_column(table, path, source, *which) for which in (("item", 0), ("reference", -1)))
    if item == reference:
        raise InputError(f"{path}: items and references must be two columns, not both '{item}'")
    texts: dict[str, list[str]] = {}
    first: dict[str, object] = {}
    for line, name, text in zip(table.index, table[item], table[reference], strict=True):
        first.setdefault(name, line)
        own = texts.setdefault(name, [])
        if text.strip():
            own.append(text)
    for name, own in texts.items():
        if not own:
            raise InputError(f"{path}, line {first[name]}: item '{name}' has no reference that is not empty")
    named = all(name.strip() and "\n" not in name and "\r" not in name for name in texts)
    return _References(list(texts.values()), path, list(texts) if named else None)


def _column(table: pd.DataFrame, path: Path, source: Source, ours: str, position: int) -> str:
    """The name of the column of items or of references."""
    named = source.columns.get(ours)
    if named is None:
        return ours if ours in table else str(table.columns[position])
    if named not in table:
        no_column(path, named, table.columns)
    return named
