"""What the command prints, and where."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from simstudy.text.plain_text import printable
from simstudy.text.printing import Printer

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.examination import Examination
    from simstudy.examination.several import Several
    from simstudy.planning.results import Plan

#: No emoji, no markup: a system may be called ":100:" or "[red]".
console = Console(emoji=False, markup=False, highlight=False)

#: What prints there.
printer = Printer(console)
print_line, print_facts, print_table = printer.line, printer.facts, printer.table


@dataclass(frozen=True)
class Output:
    """Where the outcome goes."""

    out: Annotated[Path | None, typer.Option(help="Folder for tables, figures and a page.")] = None
    print_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    verbose: Annotated[bool, typer.Option("--verbose", help="Print everything, not only what fits on a screen.")] = (
        False
    )


def write_page(found: Examination | Several | Plan, folder: Path | None, settings: dict[str, Any]) -> None:
    """Write what was found into a folder, if there is to be one, with this command and its options."""
    if folder is not None:
        found.write(folder, command=f"simstudy {shlex.join(sys.argv[1:])}", settings=settings)


def print_written(folder: Path | None) -> None:
    """Say where the page is, if there is one."""
    if folder is not None:
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
