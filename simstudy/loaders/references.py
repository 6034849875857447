"""Reference texts: one file for each of an item's references, or one table with any number of them for an item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from simstudy.loaders.base import Source, counted
from simstudy.loaders.lines import read_lines
from simstudy.loaders.tables import no_column, read_table


def is_table(path: Path) -> bool:
    """Whether a file of references is a table: by its name, .csv or .tsv, packed (.gz) or not."""
    return Path(path.name.removesuffix(".gz")).suffix in (".csv", ".tsv")


@dataclass(frozen=True)
class References:
    """References of each item, the file that says how many items there are, and ids where a table has them."""

    texts: list[list[str]]
    origin: Path
    ids: list[str] | None = None


def read_references(source: Source) -> References:
    """The references of a source: files of lines, or one table (.csv, .tsv) of items and references.

    Line i of each file is a reference of item i, or empty where the item has no further one. In a table, each row
    has an item (column ``item``, by default the first) and a reference (column ``reference``, by default the last);
    items are in the order of their first rows.
    """
    if not source.references:
        raise ValueError(f"metric '{source.metric.name}' needs references: at least one file")
    table = next((path for path in source.references if is_table(path)), None)
    if table is None:
        return _from_files(source)
    if len(source.references) > 1:
        raise ValueError(f"a table of references must be the only file of references, unlike {table}")
    return _from_table(table, source)


def check_lengths(files: Sequence[tuple[Path, int]], origin: Path, n: int) -> None:
    """Raise a ValueError that names the files, with their numbers of lines, that are not n as in the origin.

    Examples
    --------
    >>> check_lengths([(Path("a.txt"), 997), (Path("b.txt"), 1000)], Path("ref.en"), 1000)
    Traceback (most recent call last):
    ValueError: a.txt has 997 lines, ref.en 1,000; lines have no ids, so that none can be dropped or scored as missing
    """
    wrong = [(path, count) for path, count in files if count != n]
    if not wrong:
        return
    (first, fewer), *others = wrong
    listed = "".join(f", {path} {count:,}" for path, count in others[:2])
    more = f", {counted(len(others) - 2, 'more file')} other numbers" if len(others) > 2 else ""
    items = counted(n, "item") if is_table(origin) else f"{n:,}"
    raise ValueError(
        f"{first} has {counted(fewer, 'line')}{listed}{more}, {origin} {items}; lines have no ids, so that none can be "
        "dropped or scored as missing"
    )


def unmarked(lines: list[str], source: Source) -> list[str]:
    """The lines without the source's mark."""
    return [line.replace(source.mark, " ") for line in lines] if source.mark else lines


def _from_files(source: Source) -> References:
    paths = source.references
    lines = [unmarked(read_lines(path), source) for path in paths]
    check_lengths([(path, len(own)) for path, own in zip(paths, lines, strict=True)], paths[0], len(lines[0]))
    texts = [[text for text in own if text.strip()] for own in zip(*lines, strict=True)]
    if [] in texts:
        also = ", and so in the other files of references" if len(paths) > 1 else ""
        raise ValueError(f"{paths[0]}, line {texts.index([]) + 1}: the reference is empty{also}")
    return References(texts, paths[0])


def _from_table(path: Path, source: Source) -> References:
    table = read_table(path)
    item, reference = (_column(table, path, source, *which) for which in (("item", 0), ("reference", -1)))
    if item == reference:
        raise ValueError(f"{path}: items and references must be two columns, not both '{item}'")
    texts: dict[str, list[str]] = {}
    first: dict[str, object] = {}
    for line, name, text in zip(table.index, table[item], table[reference], strict=True):
        first.setdefault(name, line)
        own = texts.setdefault(name, [])
        if text.strip():
            own.append(text)
    for name, own in texts.items():
        if not own:
            raise ValueError(f"{path}, line {first[name]}: item '{name}' has no reference that is not empty")
    named = all(name.strip() and "\n" not in name and "\r" not in name for name in texts)
    return References(list(texts.values()), path, list(texts) if named else None)


def _column(table: pd.DataFrame, path: Path, source: Source, ours: str, position: int) -> str:
    """The name of the column of items or of references."""
    named = source.columns.get(ours)
    if named is None:
        return ours if ours in table else str(table.columns[position])
    if named not in table:
        no_column(path, named, table.columns)
    return named
