"""What the command prints: tables that a terminal has room for, and that a file or another program can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd

#: No emoji: a system may be called ":100:".
console = Console(emoji=False)

# A narrower terminal has no room for all columns: these can be done without.
_WIDE = 110
_SPARE = ("units +/−", "p (BH)", "p ≈ 0.05")

# Columns of words; all others are numbers.
_WORDS = (
    *("system", "better", "worse", "speaks for", "relation", "groups", "test set", "metric", "winner on", "wins on"),
)


def print_table(title: str, rows: pd.DataFrame) -> None:
    """Print a table of text. Long names are folded, not cut: one must be able to tell systems apart."""
    if console.is_terminal and console.width < _WIDE:
        rows = rows.drop(columns=[name for name in _SPARE if name in rows])
    table = Table(box=None, header_style="dim")
    for column in map(str, rows.columns):
        words = column in _WORDS
        table.add_column(escape(column), justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for row in rows.to_numpy():
        table.add_row(*(escape(str(cell)) for cell in row))
    console.print(f"\n[bold]{escape(title)}[/]", highlight=False, soft_wrap=True)
    # A file or another program has no width that lines must fit.
    (console if console.is_terminal else Console(width=1000, emoji=False)).print(table)
