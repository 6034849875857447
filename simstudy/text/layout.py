"""Text and tables in the columns of a terminal: lines end between words, and tables leave out whole columns.

Nothing is cut. A number stays on one line; a name that is too long for one goes on below (`folded`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rich.cells import cell_len

from simstudy.text.plain_text import BREAKS, folded, printable

if TYPE_CHECKING:
    import pandas as pd

# Columns of words; all others are numbers.
_WORDS = frozenset(
    [
        *("system", "system_a", "system_b", "better", "worse", "test prefers", "caution", "relation", "groups"),
        *("test set", "metric", "winner on", "wins on", "domain", "study", "kind", "title", "name", "licence"),
        *("content", "SHA-256", "address", "part", "cell", "state", "task", "score is", "average", ""),
        *("null hypothesis", "may be the best (95 %)"),
    ]
)

# Lines of a heading before columns are left out; columns of a piece of a heading that stays whole.
_MOST_HEADING, _PIECE = 2, 14
#: Names that are folded have this share of the width together, and each at least `_LEAST_NAME` columns.
SHARE, _LEAST_NAME = 0.4, 8

# Spaces that a line ends at: not those before a unit, and not those of "p = 0.03".
_SPACE = re.compile(r"(?<![=<>≤]) (?!%|points?\b|[=<>≤]=? )")


def wrapped(text: str, width: int) -> str:
    """The text with line ends in the place of spaces, so that words and numbers stay whole.

    A word that is longer than a line goes on in the next one, as a terminal continues it.
    """
    lines, used = "", 0
    for n, word in enumerate(_SPACE.split(text)):
        size = cell_len(word)
        if n and used + 1 + size > width and (size <= width or used + 1 >= width):
            lines, used = f"{lines}\n{word}", size
        else:
            lines, used = f"{lines} {word}" if n else word, used + bool(n) + size
        used = (used - 1) % width + 1 if used else 0
    return lines


def height(text: str, width: int) -> int:
    """Lines of a terminal that a text takes, wrapped."""
    return sum(max(1, -(-cell_len(line) // width)) for line in wrapped(text, width).split("\n"))


@dataclass(frozen=True)
class Laid:
    """A table as lines: its head, its rows, and the columns that are left out."""

    head: list[str]
    rows: list[str]
    left_out: list[str]


def laid_out(rows: pd.DataFrame, width: int | None = None, spare: Sequence[str] = (), *, fold: bool = True) -> Laid:
    """A table of text that fits so many columns; None: each row is one line, however long.

    Columns are left out where there is no room: first those that are `spare`, in this order, then others, the last one
    first. Names and headings take several lines before that, if more columns have room then. The first columns of
    words, or the first column, stay. Without `fold` each row is one line, and only columns that are spare are left
    out, if that is enough.
    """
    columns = [_Column(printable(name), [printable(cell) for cell in rows[name]], name in _WORDS) for name in rows]
    if width is None or sum(column.natural + 2 for column in columns) <= width:
        return _Layout(columns, [column.natural for column in columns]).laid([])
    kept = _chosen(columns, [printable(name) for name in spare], width, fold=fold)
    return kept.laid([column.heading for column in columns if column not in kept.columns])


def in_parts(rows: pd.DataFrame, width: int) -> list[Laid]:
    """A table with all its columns, in parts below one another; each one begins with the columns that name the row."""
    parts, left = [], [*rows.columns]
    keys = left[: _n_keys([name in _WORDS for name in left])]
    while left:
        part = laid_out(rows[[*keys, *(name for name in left if name not in keys)]], width)
        parts.append(part)
        left = [name for name in left if printable(name) in part.left_out]
    return parts


@dataclass(frozen=True, eq=False)
class _Column:
    """A column: its heading, its cells, and whether they are words, which may take several lines."""

    heading: str
    cells: list[str]
    words: bool

    @cached_property
    def body(self) -> int:
        return max(map(cell_len, self.cells), default=0)

    @cached_property
    def natural(self) -> int:
        return max(self.body, cell_len(self.heading))

    def lines(self, width: int) -> int:
        """Lines of the longest cell in so many columns."""
        return max(map(len, (folded(cell, width) for cell in self.cells)), default=1) if self.words else 1

    def least(self, lines: int) -> int:
        """The least width at which the heading takes so many lines, without breaking a short word."""
        if lines == 1:
            return cell_len(self.heading)
        pieces = re.findall(rf"[^{re.escape(BREAKS)}]*[{re.escape(BREAKS)}]*", self.heading)
        width = min(_PIECE, max(cell_len(piece.rstrip(" ")) for piece in pieces))
        while len(folded(self.heading, width)) > lines:
            width += 1
        return width


@dataclass(frozen=True)
class _Layout:
    """Columns with their widths."""

    columns: list[_Column]
    widths: list[int]

    def laid(self, left_out: list[str]) -> Laid:
        head = [folded(one.heading, width) for one, width in zip(self.columns, self.widths, strict=True)]
        most = max(map(len, head), default=1)
        lines = self._lines([[*[""] * (most - len(parts)), *parts] for parts in head])
        rows: list[str] = []
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            parts = [
                folded(cell, width) if column.words else [cell]
                for column, cell, width in zip(self.columns, cells, self.widths, strict=True)
            ]
            rows += self._lines(parts)
        return Laid(lines, rows, left_out)

    def _lines(self, parts: list[list[str]]) -> list[str]:
        """Cells of one row, each in its lines."""
        lines = []
        for n in range(max(map(len, parts), default=0)):
            line = ""
            for column, cell, width in zip(self.columns, parts, self.widths, strict=True):
                text = cell[n] if n < len(cell) else ""
                space = " " * (width - cell_len(text))
                line += f" {text}{space} " if column.words else f" {space}{text} "
            lines.append(line)
        return lines


def _chosen(columns: list[_Column], spare: Sequence[str], width: int, *, fold: bool) -> _Layout:
    """The columns that stay, and their widths."""
    first = _n_keys([column.words for column in columns])
    by_name = {column.heading: column for column in columns[first:]}
    spares = [by_name.pop(name) for name in spare if name in by_name]
    # One column beside the names is the least that a table is.
    order = [*spares, *[*by_name.values()][:0:-1]]
    if not by_name:
        order = order[:-1]
    # What is spare goes before names take a second line, other columns before a third.
    names = ((1, len(spares)), (2, len(spares)), (3, len(order)), (0, len(order)))
    for n_lines, most in names if fold else names[:1]:
        for n in range(most + 1):
            kept = [column for column in columns if column not in order[:n]]
            for heading in range(1, _MOST_HEADING + 1):
                if widths := _fitting(kept, width, heading, n_lines):
                    return _Layout(kept, widths)
    if not fold:
        return _Layout(columns, [column.natural for column in columns])
    kept = [column for column in columns if column not in order]
    return _Layout(kept, [_LEAST_NAME if one.words else max(one.body, one.least(99)) for one in kept])


def _n_keys(words: Sequence[bool]) -> int:
    """How many of the first columns name the row: those of words, or the first one."""
    return max(1, words.index(False) if False in words else 1)


def _fitting(columns: list[_Column], width: int, heading: int, n_lines: int) -> list[int] | None:
    """Widths for headings of so many lines and names of so many (0: any number); None where there are none."""
    least = [max(column.least(heading), 0 if column.words else column.body) for column in columns]
    natural = [max(n, column.body) for n, column in zip(least, columns, strict=True)]
    room, n_words = width - 2 * len(columns), sum(column.words for column in columns)
    wanted = min(max(natural), max(_LEAST_NAME, int(SHARE * width) // max(n_words, 1)))
    # The longest names are folded, to one width.
    for most in range(max(natural), wanted - 1, -1):
        widths = [
            max(n, min(whole, most)) if column.words else whole
            for column, n, whole in zip(columns, least, natural, strict=True)
        ]
        if sum(widths) <= room:
            lines = max((column.lines(n) for column, n in zip(columns, widths, strict=True)), default=1)
            return widths if not n_lines or lines <= n_lines else None
        if n_lines == 1 or not n_words:
            return None
    return None
