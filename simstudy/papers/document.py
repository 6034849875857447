"""A paper on one analysis, as data: tables with marks and captions, sentences for two sections, and what they cite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, nearest

#: Marks of better and of worse systems, each at the level and at a fifth of it.
BETTER_MARKS, WORSE_MARKS = ("†", "‡"), ("§", "¶")

#: The mark of numbers with a caution.
CAUTION_MARK = "*"


@dataclass(frozen=True)
class Cite:
    """A citation by the keys of `simstudy.papers.references`."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """What a machine wrote, such as a signature."""

    text: str


@dataclass(frozen=True)
class PValue:
    """A p-value: "= 0.03", or "< 0.001", with the name of its letter before it."""

    text: str


#: A sentence, or some: names and numbers are plain text.
Text = Sequence[str | Cite | Code | PValue]


@dataclass(frozen=True, repr=False)
class Cell(FieldsMixin):
    """A cell of a table: its text, whether it is bold, and its mark."""

    text: str
    bold: bool = False
    mark: str = ""


@dataclass(frozen=True, repr=False)
class Table(FieldsMixin):
    """A table, and the caption below it, which says what its marks claim."""

    #: Of its file and its label: letters and digits.
    name: str
    #: Headings; names are set to the left, numbers to the right, intervals in the middle.
    columns: Sequence[tuple[str, Literal["left", "right", "middle"]]]
    rows: Sequence[Sequence[Cell | str]]
    caption: Text
    #: Rows that have a rule above them.
    ruled: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Paper(FieldsMixin):
    """The tables and sentences of a paper about one analysis."""

    tables: Sequence[Table]
    #: Sentences for the section of results, and for that of methods; a paragraph each.
    results: Text
    methods: Text
    #: What a reader should know about the data, each a sentence.
    notes: Sequence[str] = ()

    def table(self, name: str) -> Table:
        """The table of this name; a ValueError lists those that are there."""
        for one in self.tables:
            if one.name == name:
                return one
        names = [one.name for one in self.tables]
        raise InputError("table", f"must be one of {', '.join(names)}", name, nearest(name, names))

    @property
    def cited(self) -> list[str]:
        """The keys of everything that is cited, in order."""
        parts = [*self.results, *self.methods, *(part for one in self.tables for part in one.caption)]
        return list(dict.fromkeys(key for part in parts if isinstance(part, Cite) for key in part.keys))


def cells(row: Iterable[Cell | str]) -> list[Cell]:
    """The cells of a row."""
    return [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]


def joined(*texts: Text) -> Text:
    """Texts one after the other, with a space between them; empty ones are left out."""
    found: list[str | Cite | Code | PValue] = []
    for text in texts:
        if not any(text):
            continue
        found += [" ", *text] if found else text
    return found


def parts(table: Table, most: int) -> list[Table]:
    """A table as several, of which each has at most so many rows; only the first has the whole caption."""
    if len(table.rows) <= most:
        return [table]
    starts = range(0, len(table.rows), most)
    found = [
        replace(table, rows=table.rows[start : start + most], ruled=tuple(k - start for k in table.ruled if k > start))
        for start in starts
    ]
    return [found[0], *(replace(one, name=f"{table.name}{k}", caption=[f"Continued from the table before, part {k}."])
                        for k, one in enumerate(found[1:], 2))]  # fmt: skip
