"""Lines, facts and tables as a terminal shows them, and as a file or another program can read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simstudy.text.plain_text import line, printable

if TYPE_CHECKING:
    import pandas as pd

#: Lines that a command prints at most, unless it is asked for everything. A line that wraps counts as several.
MOST_LINES = 25

# Columns of a terminal that is not there: output goes to a file or a program.
_COLUMNS = 100

# Lines that a note takes at most, unless everything is asked for.
_NOTE_LINES = 2

#: The longest line on what is left out: room that is kept for it.
LEFT_OUT = "Not shown:" + 90 * "."

# A narrower terminal has no room for all columns: these can be done without.
_WIDE = 110
_SPARE = ("wins/losses", "p (BH)", "pairs with p ≈ 0.05")

# Rows that are printed together.
_TOGETHER = 1000

# Columns of words; all others are numbers.
_WORDS = (
    *("system", "better", "worse", "test prefers", "caution", "relation", "groups", "test set", "metric", "winner on"),
    *(
        "wins on",
        "domain",
        "study",
        "kind",
        "title",
        "name",
        "licence",
        "content",
        "SHA-256",
        "address",
        "part",
        "cell",
        "state",
    ),
)


class Printer:
    """What prints to a console, in which nothing of a name acts on the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def line(self, text: str, style: str = "") -> None:
        """Print a text as one line, however long."""
        self._console.print(Text(line(text), style), soft_wrap=True)

    def lines(self, texts: Iterable[str]) -> None:
        """Print each text as one line."""
        for text in texts:
            self.line(text)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names and values, a line each."""
        for name, value in facts.items():
            self._console.print(Text.assemble((f"{name}:", "dim"), " ", line(value)), soft_wrap=True)

    def table(self, title: str, rows: pd.DataFrame) -> None:
        """Print a table of text. Long names are folded, not cut: one must be able to tell systems apart."""
        console = self._console
        console.print()
        self.line(title, "bold")
        rows = self._without_spare(rows)
        # A file or another program has no width that lines must fit.
        if console.is_terminal and cell_len(_aligned(rows)[0]) > console.width:
            console.print(_folding(rows))
        else:
            self.unfolded(rows)

    def unfolded(self, rows: pd.DataFrame) -> None:
        """Print a table without a title, each row as one line, however long."""
        console = self._console
        header, *lines = _aligned(rows)
        console.print(Text(header, "dim"), soft_wrap=True)
        for start in range(0, len(lines), _TOGETHER):
            console.print(Text("\n".join(lines[start : start + _TOGETHER])), soft_wrap=True)

    def height(self, *texts: str) -> int:
        """Lines that these texts take, each printed as one line."""
        return sum(self._wrapped(line(text)) for text in texts)

    def facts_height(self, facts: Mapping[str, str]) -> int:
        """Lines that these facts take."""
        return self.height(*(f"{name}: {value}" for name, value in facts.items()))

    def table_height(self, title: str, rows: pd.DataFrame) -> int:
        """Lines that a table takes with its title and the empty line before it."""
        rows = self._without_spare(rows)
        lines = _aligned(rows)
        if self._console.is_terminal and cell_len(lines[0]) > self._width:
            file = StringIO()
            _plain(file, self._width).print(_folding(rows))
            lines = file.getvalue().splitlines()
        return 1 + self.height(title) + sum(map(self._wrapped, lines))

    def shortened(self, note: str) -> str:
        """A note that takes no more lines than a note may, with a mark where it is cut."""
        most = _NOTE_LINES * self._width
        text = line(note)
        while cell_len(text) > most:
            text = text.removesuffix(" …")[: -max(1, (cell_len(text) - most) // 2)].rstrip() + " …"
        return text

    def fitting(self, texts: Iterable[str], room: int) -> list[str]:
        """The first of these texts that take at most so many lines together."""
        fitting: list[str] = []
        for text in texts:
            room -= self.height(text)
            if room < 0:
                break
            fitting.append(text)
        return fitting

    def _wrapped(self, text: str) -> int:
        return max(1, -(-cell_len(text) // self._width))

    @property
    def _width(self) -> int:
        return self._console.width if self._console.is_terminal else _COLUMNS

    def _without_spare(self, rows: pd.DataFrame) -> pd.DataFrame:
        if self._console.is_terminal and self._console.width < _WIDE:
            return rows.drop(columns=[name for name in _SPARE if name in rows])
        return rows


def _aligned(rows: pd.DataFrame) -> list[str]:
    """Header and rows, each column as wide as its widest cell: rich takes minutes for 10,000 rows."""
    columns = [[printable(name), *map(printable, rows[name])] for name in rows]
    for name, cells in zip(rows, columns, strict=True):
        width = max(map(cell_len, cells))
        for i, cell in enumerate(cells):
            space = " " * (width - cell_len(cell))
            cells[i] = f" {cell}{space} " if name in _WORDS else f" {space}{cell} "
    return ["".join(cells) for cells in zip(*columns, strict=True)]


def _folding(rows: pd.DataFrame) -> Table:
    """The rows as a table that fits a terminal."""
    table = Table(box=None, header_style="dim")
    for column in map(str, rows.columns):
        words = column in _WORDS
        justify: Literal["left", "right"] = "left" if words else "right"
        table.add_column(Text(printable(column)), justify=justify, overflow="fold", no_wrap=not words)
    for row in rows.to_numpy():
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def noted(notes: Iterable[str]) -> list[str]:
    """Notes as they are printed."""
    return [f"Note: {line(note)}" for note in notes]


def left_out(hidden: Mapping[str, int], every: Sequence[str], notes: Sequence[str], last: Sequence[str]) -> list[str]:
    """One line on what is not printed: so many of each, and those of all notes that are missing or cut.

    No line if nothing is left out. Something that was written to a folder needs no advice: the lines `last` name it.
    """
    counts = {**hidden, "note": len(every) - len(notes)}
    parts = [f"{n:,} {name}{'s' if n > 1 else ''}" for name, n in counts.items() if n]
    if any(note not in every for note in notes):
        parts.append("the rest of long notes")
    said = f"Not shown: {', '.join(parts)}. --verbose prints them"
    # One line of a terminal, whatever is left out.
    where = "" if last or len(said) > len(LEFT_OUT) - 25 else ", --out DIR writes them"
    return [f"{said}{where}."] if parts else []


def text_of(show: Callable[[Printer], None]) -> str:
    """What is printed, as a file has it: without colours, and without the last line end."""
    file = StringIO()
    show(Printer(_plain(file)))
    return file.getvalue().removesuffix("\n")


def _plain(file: object, width: int = 1000) -> Console:
    return Console(
        file=file,  # type: ignore[arg-type]
        width=width,
        force_terminal=False,
        # In a notebook rich would show the text instead of writing it.
        force_jupyter=False,
        color_system=None,
        emoji=False,
        markup=False,
        highlight=False,
    )
