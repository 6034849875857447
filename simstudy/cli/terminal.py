"""What the command prints: tables that a terminal has room for, and that a file or another program can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simstudy.plain_text import line, printable

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

#: No emoji, no markup: a system may be called ":100:" or "[red]".
console = Console(emoji=False, markup=False, highlight=False)

# A narrower terminal has no room for all columns: these can be done without.
_WIDE = 110
_SPARE = ("units +/−", "p (BH)", "p ≈ 0.05")

# Columns of words; all others are numbers.
_WORDS = (
    *(
        "system",
        "better",
        "worse",
        "speaks for",
        "caution",
        "relation",
        "groups",
        "test set",
        "metric",
        "winner on",
        "wins on",
    ),
)


def print_line(text: str, style: str = "") -> None:
    """Print a text as one line, however long, in which nothing of a name acts on the terminal."""
    console.print(Text(line(text), style), soft_wrap=True)


def print_facts(facts: dict[str, str]) -> None:
    """Print names and values, a line each."""
    for name, value in facts.items():
        console.print(Text.assemble((f"{name}:", "dim"), " ", line(value)), soft_wrap=True)


def print_written(folder: Path) -> None:
    """Say where the page is."""
    console.print()
    print_line(f"Figures and report: {folder / 'README.md'}")


def print_cells(cells: pd.DataFrame) -> None:
    """Print how far a study is: its parts in a few lines, then its cells."""
    for part, rows in cells.groupby("part", sort=False):
        counts = rows["state"].value_counts()
        said = ", ".join(f"{counts[state]:,} {state}" for state in ("done", "missing", "failed") if state in counts)
        print_line(f"{part}: {said}; {rows['seconds'].sum():,.1f} s and {rows['bytes'].sum() / 1e6:,.1f} MB so far")
    table = Table("part", "cell", "state", box=None, header_style="bold")
    for name in ("seconds", "bytes"):
        table.add_column(name, justify="right")
    texts = cells.assign(
        cell=cells["cell"].map(printable),
        seconds=cells["seconds"].map("{:,.1f}".format, na_action="ignore"),
        bytes=cells["bytes"].map("{:,}".format, na_action="ignore"),
    )
    for row in texts.astype(object).fillna("").to_numpy().tolist():
        table.add_row(*row)
    console.print(table)
    if not (cells["state"] == "done").all():
        print_line("Parts that follow from what is not done are not known yet.")


def print_table(title: str, rows: pd.DataFrame) -> None:
    """Print a table of text. Long names are folded, not cut: one must be able to tell systems apart."""
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
    print_line(title, "bold")
    # A file or another program has no width that lines must fit.
    (console if console.is_terminal else Console(width=1000, emoji=False)).print(table)
