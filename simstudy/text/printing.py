"""Lines, facts and tables as a terminal shows them, and as a file or another program can read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from simstudy.text.layout import SHARE, Laid, height, in_parts, laid_out, wrapped
from simstudy.text.plain_text import line
from simstudy.text.reprs import listed

if TYPE_CHECKING:
    import pandas as pd

#: Lines that a command prints at most, unless it is asked for everything. A line that wraps counts as several.
MOST_LINES = 25

# Columns of a terminal that is not there: output goes to a file or a program.
_COLUMNS = 100

# Lines that a note takes at most, unless everything is asked for; what it may end after where it is longer.
_NOTE_LINES, _PARTS = 2, (". ", "; ", ": ", ", ", " ")

#: The longest line on what is left out: room that is kept for it.
LEFT_OUT = "Not shown:" + 90 * "."

# Rows that are printed together.
_TOGETHER = 1000


class Printer:
    """What prints to a console, in which nothing of a name acts on the terminal, and nothing of it is cut.

    In a terminal lines end between words, and tables fit its width (`simstudy.text.layout`). In a file, and for another
    program, a text and a row of a table are one line, however long; tables have the columns that 100 columns hold, or
    all if that is asked for.
    """

    def __init__(self, console: Console, letters: Mapping[str, str] | None = None) -> None:
        self._console = console
        self._letters = letters or {}
        # Of two names of which one begins the other, the longer one is meant.
        self._names = re.compile("|".join(map(re.escape, sorted(self._letters, key=len, reverse=True))))

    def lettered(self, first: Sequence[str], every: Iterable[str]) -> tuple[Printer, list[str]]:
        """A printer that writes A and B for the first names if they are long, after lines that say which is which.

        Names are long that a table would fold: sentences that repeat them, and columns under them, take many lines.
        Returns the printer and these lines, which this printer prints.
        """
        long = {name: letter for name, letter in zip(first, "AB", strict=False) if cell_len(name) > SHARE * self._width}
        told = [f"{letter}: {name}" for name, letter in long.items()]
        others = {name: name for name in every if any(own in name for own in long)}
        return Printer(self._console, others | long), told

    def line(self, text: str, style: str = "") -> None:
        """Print a text."""
        self._print(Text(self._wrapped(self._line(text)), style))

    def lines(self, texts: Iterable[str]) -> None:
        """Print each text."""
        for text in texts:
            self.line(text)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names and values, a line each."""
        for name, value in facts.items():
            text = Text(self._wrapped(self._line(f"{name}: {value}")))
            text.stylize("dim", 0, len(self._line(name)) + 1)
            self._print(text)

    def table(self, title: str, rows: pd.DataFrame, spare: Sequence[str] = (), *, verbose: bool | None = None) -> None:
        """Print a table of text with the columns that have room; those that are `spare` are left out first.

        A line says which columns are left out, and that `verbose` prints them; None: the command has no such option.
        With `verbose` the other columns follow below, each part with the names of the rows.
        """
        self._console.print()
        self.line(title, "bold")
        for n, part in enumerate(self._laid(rows, spare, verbose)):
            if n:
                self._console.print()
            self._unfolded(part)
            if part.left_out and not verbose:
                self.line(self._columns_left_out(part.left_out, verbose))

    def unfolded(self, rows: pd.DataFrame) -> None:
        """Print a table without a title, each row as one line, however long."""
        self._unfolded(laid_out(rows))

    def _unfolded(self, laid: Laid) -> None:
        self._print(Text("\n".join(laid.head), "dim"))
        for start in range(0, len(laid.rows), _TOGETHER):
            self._print(Text("\n".join(laid.rows[start : start + _TOGETHER])))

    def height(self, *texts: str) -> int:
        """Lines that these texts take."""
        return sum(height(self._line(text), self._width) for text in texts)

    def facts_height(self, facts: Mapping[str, str]) -> int:
        """Lines that these facts take."""
        return self.height(*(f"{name}: {value}" for name, value in facts.items()))

    def facts_beside(
        self, facts: Mapping[str, str], spare: Sequence[str], room: int, tables: Sequence[int]
    ) -> tuple[dict[str, str], int]:
        """The facts that have room beside a table, and the lines that are kept for it.

        These are the first of `tables` with which all facts fit, but for those that are `spare`, in this order; or 0:
        no table has room.
        """
        for lines in (*tables, 0):
            kept = dict(facts)
            for name in spare:
                if self.facts_height(kept) + lines > room:
                    kept.pop(name, None)
            if self.facts_height(kept) + lines <= room:
                break
        return kept, lines

    def table_height(self, title: str, rows: pd.DataFrame, spare: Sequence[str] = ()) -> int:
        """Lines that a table takes with its title, the empty line before it, and one on columns that are left out."""
        lines = 1 + self.height(title)
        for part in self._laid(rows, spare, verbose=False):
            lines += sum(-(-cell_len(row) // self._width) for row in (*part.head, *part.rows))
            lines += self.height(self._columns_left_out(part.left_out, verbose=False)) if part.left_out else 0
        return lines

    def rows_fitting(self, title: str, rows: pd.DataFrame, room: int, spare: Sequence[str] = ()) -> int:
        """How many of the first rows a table has in so many lines; 0 where not even one has room."""
        n = min(len(rows), max(room, 0))
        while n and self.table_height(title, rows.head(n), spare) > room:
            n -= 1
        return n

    def _laid(self, rows: pd.DataFrame, spare: Sequence[str], verbose: bool | None) -> list[Laid]:
        if self._letters:
            rows = rows.rename(columns=self._named).map(lambda cell: self._named(str(cell)))
        if verbose:
            return in_parts(rows, self._width) if self._console.is_terminal else [laid_out(rows)]
        return [laid_out(rows, self._width, spare, fold=self._console.is_terminal)]

    def _columns_left_out(self, names: Sequence[str], verbose: bool | None) -> str:
        """One line on the columns that have no room."""
        ways = ["a wider terminal"] * self._console.is_terminal + ["--verbose", "--json"] * (verbose is not None)
        way = " or ".join(filter(None, [", ".join(ways[:-1]), ways[-1]]))
        columns, them = ("Columns", "them") if len(names) > 1 else ("Column", "it")
        return f"{columns} left out: {listed([*names], 4, self._width)} ({way} shows {them})"

    def shortened(self, note: str) -> str:
        """A note that takes no more lines than a note may; it ends between words, with a mark that says so."""
        text = self._line(note)
        if height(text, self._width) <= _NOTE_LINES:
            return text
        most = range(1, min(len(text), _NOTE_LINES * self._width))
        ends = [n for n in most if text[n] == " " and height(f"{text[:n]} …", self._width) <= _NOTE_LINES]
        # The first half of a name may be the name of something else: it ends after a part of the sentence, if it can.
        for part in _PARTS:
            if found := [n for n in ends if f"{text[:n]} ".endswith(part) and n > ends[-1] // 2]:
                return f"{text[: found[-1]]} …"
        return f"{text.split(' ')[0]} …"

    def fitting(self, texts: Iterable[str], room: int) -> list[str]:
        """The first of these texts that take at most so many lines together."""
        fitting: list[str] = []
        for text in texts:
            room -= self.height(text)
            if room < 0:
                break
            fitting.append(text)
        return fitting

    def _named(self, text: str) -> str:
        """A text with letters in the place of long names."""
        return self._names.sub(lambda found: self._letters[found[0]], text) if self._letters else text

    def _line(self, text: str) -> str:
        return self._named(line(text))

    def _print(self, text: Text) -> None:
        # Its lines have their ends: rich must not break them once more, in the middle of a number.
        self._console.print(text, soft_wrap=True)

    def _wrapped(self, text: str) -> str:
        return wrapped(text, self._width) if self._console.is_terminal else text

    @property
    def _width(self) -> int:
        return self._console.width if self._console.is_terminal else _COLUMNS


def noted(notes: Iterable[str]) -> list[str]:
    """Notes as they are printed."""
    return [f"Note: {line(note)}" for note in notes]


def not_shown(hidden: Mapping[str, int], *more: str) -> str:
    """What is not printed: so many of each, by their names; empty where nothing is."""
    parts = [f"{n:,} {name}{'s' if n > 1 else ''}" for name, n in hidden.items() if n > 0]
    return f"Not shown: {', '.join([*parts, *more])}" if parts or more else ""


def left_out(hidden: Mapping[str, int], every: Sequence[str], notes: Sequence[str], last: Sequence[str]) -> list[str]:
    """One line on what is not printed: so many of each, and those of all notes that are missing or cut.

    No line if nothing is left out. Something that was written to a folder needs no advice: the lines `last` name it.
    """
    more = ["the rest of long notes"] if any(note not in every for note in notes) else []
    said = not_shown({**hidden, "note": len(every) - len(notes)}, *more)
    # One line of a terminal, whatever is left out.
    where = "" if last or len(said) > len(LEFT_OUT) - 48 else ", --out DIR writes them"
    return [f"{said}. --verbose prints them{where}."] if said else []


def text_of(show: Callable[[Printer], None]) -> str:
    """What is printed, as a file has it: without colours, and without the last line end."""
    file = StringIO()
    show(Printer(_plain(file)))
    return file.getvalue().removesuffix("\n")


def _plain(file: object) -> Console:
    return Console(
        file=file,  # type: ignore[arg-type]
        force_terminal=False,
        # In a notebook rich would show the text instead of writing it.
        force_jupyter=False,
        color_system=None,
        emoji=False,
        markup=False,
        highlight=False,
    )
