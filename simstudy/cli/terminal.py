"""What the command prints, and where."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from simstudy.cli.errors import say
from simstudy.files.whole import INDEX, is_html
from simstudy.notes import notes_kept
from simstudy.text.printing import MOST_LINES, Printer, not_shown
from simstudy.validation import InputError, check_choice

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.examination import Examination
    from simstudy.examination.several import Several
    from simstudy.papers.document import Paper
    from simstudy.planning.results import Plan


class _Console(Console):
    """A console whose reader may have seen enough (`| head`): the command then ends as `cli.errors` says."""

    def on_broken_pipe(self) -> None:
        """Leave it to the command: rich would exit with code 1."""
        raise BrokenPipeError


#: No emoji, no markup: a system may be called ":100:" or "[red]".
console = _Console(emoji=False, markup=False, highlight=False)

#: What prints there.
printer = Printer(console)
print_line, print_table = printer.line, printer.table


@dataclass(frozen=True)
class Output:
    """Where the outcome goes."""

    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE.html",
            help="Write tables, figures and pages to this folder, or everything as one HTML file.",
        ),
    ] = None
    print_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False
    verbose: Annotated[bool, typer.Option("--verbose", help="Print everything, not only 25 lines.")] = False
    latex: Annotated[
        bool, typer.Option("--latex", help="Print tables (booktabs) and sentences for a paper, with references.")
    ] = False
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the same in Markdown.")] = False
    figures: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="With --out, also figures for a paper: pdf, svg or png (as wide as a column, no titles).",
        ),
    ] = None

    def __post_init__(self) -> None:
        every = {"--json": self.print_json, "--latex": self.latex, "--markdown": self.markdown}
        asked = [name for name, wanted in every.items() if wanted]
        if len(asked) > 1:
            raise InputError(asked[1], f"must not be given with {asked[0]}: each prints everything in its own form")
        if self.figures is not None:
            check_choice("--figures", self.figures, ("pdf", "svg", "png"))
            if self.out is None or is_html(self.out):
                raise InputError("--figures needs --out with a folder: figures are files")

    @property
    def for_a_paper(self) -> bool:
        """Whether tables and sentences for a paper are printed."""
        return self.latex or self.markdown

    def paper(self, found: Paper) -> str:
        """What is printed of a paper."""
        from simstudy.papers.written import in_latex, in_markdown

        return in_latex(found, made_by=_command()) if self.latex else in_markdown(found)


def write_page(found: Examination | Several | Plan, out: Path | None, settings: dict[str, Any], **options: Any) -> None:
    """Write what was found into a folder or an HTML file, if there is to be one, with this command and its options."""
    with notes_kept() as told:
        if out is not None and is_html(out):
            found.to_html(out, command=_command())
        elif out is not None:
            found.write(out, command=_command(), settings=settings, **options)
    # A figure's; each says the same.
    for note in told[:1]:
        say(note)


def _command() -> str:
    return f"simstudy {shlex.join(sys.argv[1:])}"


def written(out: Path | None) -> list[str]:
    """The lines that say where the page is, if there is one."""
    if out is None:
        return []
    return ["", f"Report: {out}" if is_html(out) else f"Figures and report: {out / INDEX}"]


def print_cells(cells: pd.DataFrame, *, verbose: bool = False) -> None:
    """Print how far a study is: how many cells are done, its parts, then its cells; all of them if `verbose`."""
    n = cells["state"].value_counts()
    counts = "".join(f", {n[state]:,} {state}" for state in ("missing", "failed") if state in n)
    counts = counts.replace(",", ";", 1)
    print_line(f"{n.get('done', 0):,} of {len(cells):,} known cells (pieces of work) are done{counts}.")
    for part, rows in cells.groupby("part", sort=False):
        n = rows["state"].value_counts()
        counts = ", ".join(f"{n[state]:,} {state}" for state in ("done", "missing", "failed") if state in n)
        print_line(f"{part}: {counts}; {rows['bytes'].sum() / 1e6:,.1f} MB so far")
    if not (cells["state"] == "done").all():
        print_line("Parts that need these cells are not listed yet.")
    texts = cells.assign(bytes=cells["bytes"].map("{:,}".format, na_action="ignore"))
    # Failed cells are what people look for.
    order = cells["state"].map({"failed": 0, "missing": 1}).fillna(2).sort_values(kind="stable").index
    room = MOST_LINES - cells["part"].nunique() - 6
    shown = texts if verbose or len(texts) <= room else texts.loc[order].head(max(room, 1))
    print_table("Cells", shown.astype(object).fillna(""), verbose=verbose)
    if len(shown) < len(texts):
        print_line(f"{not_shown({'cell': len(texts) - len(shown)})}. --verbose prints them.")
