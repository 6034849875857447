"""Lines, facts and tables as a terminal shows them, and as a file or another program can read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simstudy.text.plain_text import line, printable

if TYPE_CHECKING:
    import pandas as pd

# A narrower terminal has no room for all columns: these can be done without.
_WIDE = 110
_SPARE = ("units +/−", "p (BH)", "p ≈ 0.05")

# Columns of words; all others are numbers.
_WORDS = (
    *("system", "better", "worse", "test prefers", "caution", "relation", "groups", "test set", "metric", "winner on"),
    *("wins on", "domain"),
)


class Printer:
    """What prints to a console, in which nothing of a name acts on the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def line(self, text: str, style: str = "") -> None:
        """Print a text as one line, however long."""
        self._console.print(Text(line(text), style), soft_wrap=True)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names and values, a line each."""
        for name, value in facts.items():
            self._console.print(Text.assemble((f"{name}:", "dim"), " ", line(value)), soft_wrap=True)

    def table(self, title: str, rows: pd.DataFrame) -> None:
        """Print a table of text. Long names are folded, not cut: one must be able to tell systems apart."""
        console = self._console
        if console.is_terminal and console.width < _WIDE:
            rows = rows.drop(columns=[name for name in _SPARE if name in rows])
        table = Table(box=None, header_style="dim")
        for column in map(str, rows.columns):
            words = column in _WORDS
            justify: Literal["left", "right"] = "left" if words else "right"
            table.add_column(Text(printable(column)), justify=justify, overflow="fold", no_wrap=not words)
        for row in rows.to_numpy():
            table.add_row(*(Text(printable(cell)) for cell in row))
        console.print()
        self.line(title, "bold")
        # A file or another program has no width that lines must fit.
        (console if console.is_terminal else _plain(console.file)).print(table)


def text_of(show: Callable[[Printer], None]) -> str:
    """What is printed, as a file has it: without colours, and without the last line end."""
    file = StringIO()
    show(Printer(_plain(file)))
    return file.getvalue().removesuffix("\n")


def _plain(file: object) -> Console:
    return Console(
        file=file,  # type: ignore[arg-type]
        width=1000,
        force_terminal=False,
        # In a notebook rich would show the text instead of writing it.
        force_jupyter=False,
        color_system=None,
        emoji=False,
        markup=False,
        highlight=False,
    )
