"""A folder of results for people: tables as CSV, figures, and a page that shows them, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy import plot
from simstudy.files.whole import INDEX, atomic_path, check_file_names
from simstudy.notes import notes_kept
from simstudy.pages.html import html
from simstudy.pages.sections import Figure, Section
from simstudy.pages.tables import InOrder, write_tables
from simstudy.running.folders import ResultsFolder
from simstudy.running.progress import doing
from simstudy.text.formulas import has_formulas
from simstudy.text.plain_text import code, markdown, markdown_rows, paragraph
from simstudy.validation import check_choice

# Inches that a page of a paper has for a figure.
_PAGE_HEIGHT = 9.0

_APOSTROPHES = (
    "In these files an apostrophe goes before text that begins with =, +, - or @, so that no spreadsheet takes it for "
    "a formula; `simstudy.text.plain_text.csv_name` takes it off."
)


@dataclass(frozen=True, kw_only=True)
class Page:
    """What README.md and index.html show. All of it is text, not Markdown.

    `facts` say what was run, `closing` how to read it.
    A fact that is a list is one of signatures, or of what else machines write: its entries stand below each other.
    Tables and figures have names of files (`simstudy.files.whole.check_file_names`); a ValueError names one
    that has not.
    """

    title: str
    question: str
    command: str
    facts: Mapping[str, str | Sequence[str]]
    sections: Sequence[Section]
    tables: Mapping[str, pd.DataFrame | InOrder]
    closing: str
    #: Where the command runs as it stands, in words: "in this folder".
    place: str = ""
    #: What other pages show -> their paths from this one.
    links: Mapping[str, str] = field(default_factory=dict)
    #: The answer in one sentence, large at the top of an HTML page; without one, title and question are there.
    headline: str = ""
    #: Further sentences of the answer.
    answer: Sequence[str] = ()
    #: What the page does not show, a sentence each.
    limits: Sequence[str] = ()
    #: What readers should know of the data: of an HTML page its last list, in the place of the fact "Note".
    notes: Sequence[str] = ()
    #: How to read the CSV files; a page without files leaves it out.
    of_files: str = ""
    #: Pages that one HTML file has below its own sections; a folder has a folder for each.
    parts: Mapping[str, Page] = field(default_factory=dict)
    #: Name -> text of the files for a paper, which go to the folder "paper".
    paper: Mapping[str, str] = field(default_factory=dict)
    #: What all figures are of, which is written below them: the test set, the metric and its size.
    data: str = ""
    #: "pdf", "svg" or "png": figures for a paper go there too.
    paper_figures: str | None = None

    def __post_init__(self) -> None:
        check_file_names("table", self.tables)
        check_file_names("figure", [figure.name for figure in self.drawn])
        if self.paper_figures is not None:
            # It loads what draws.
            from simstudy.plot.saving import FORMATS

            check_choice("figures", self.paper_figures, FORMATS)

    @property
    def drawn(self) -> list[Figure]:
        return [section.figure for section in self.sections if section.figure]

    @property
    def sizes(self) -> dict[str, str]:
        """How many rows each table has, in words."""
        return {name: f"{len(rows):,} row{'' if len(rows) == 1 else 's'}" for name, rows in self.tables.items()}


def write_results(
    results: ResultsFolder, page: Page, manifest: Mapping[str, Any], seconds: Mapping[str, float] | None = None
) -> None:
    """Write tables (but those that are there), figures and the page; then all take their places, with the manifest."""
    with doing("writing tables"):
        there = {path.stem for path in results.gathered.glob("*.csv")}
        write_tables({name: table for name, table in page.tables.items() if name not in there}, results.gathered)
    with notes_kept() as told, doing("drawing figures", len(page.drawn)) as advance:
        for figure in page.drawn:
            drawn = figure.draw().figure
            if page.data:
                plot.say_below(drawn, page.data)
            plot.save(drawn, results.gathered / "figures" / figure.name)
            advance(1)
        left_out = _write_paper(page, results.gathered / "paper")
    notes = [f"Note: {one}." for one in told[:1]]
    if page.paper:
        notes.append(
            "For a paper: the folder paper has tables and sentences, in LaTeX and Markdown, and what they cite."
        )
    if left_out:
        notes.append(f"Not among the figures for a paper, which has no room for so many rows: {', '.join(left_out)}.")
    with doing("writing the page"):
        _write(page_text(page, notes), results.gathered / "README.md")
        _write(html(page, results.gathered), results.gathered / INDEX)
        results.publish(manifest, seconds)


def _write_paper(page: Page, folder: Path) -> list[str]:
    """The files for a paper; its figures are as wide as a column, without titles. Figures that are left out by name."""
    left_out = []
    for figure in page.drawn if page.paper_figures else []:
        with plot.for_a_paper():
            drawn = figure.draw().figure if figure.in_papers else None
            if drawn is None or drawn.get_size_inches()[1] > _PAGE_HEIGHT:
                left_out.append(figure.name)
                continue
            plot.save(drawn, folder / figure.name, formats=[str(page.paper_figures)])
    for name, text in page.paper.items():
        _write(text, folder / name)
    return left_out


def _write(text: str, path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def page_text(page: Page, notes: Sequence[str] = ()) -> str:
    """README.md: the question, what was run, figures and main tables, and notes on these."""
    parts = [
        f"# {markdown(page.title)}",
        paragraph(page.question),
        f"Made by {code(page.command)}{page.place and ' '}{page.place}; `manifest.json` has every setting and version.",
        "\n".join(_fact(name, value) for name, value in page.facts.items()),
    ]
    for section in page.sections:
        parts.append(f"## {markdown(section.heading)}")
        if section.figure:
            parts.append(f"![{markdown(section.heading)}](figures/{section.figure.name}.png)")
        parts.append(paragraph(section.text))
        if section.table is not None:
            parts.append(table_rows(section.table.text()))
    if page.links:
        parts += ["## Pages", "\n".join(f"- [{markdown(name)}]({path})" for name, path in page.links.items())]
    parts += ["## Tables", "\n".join(f"- [{name}.csv]({name}.csv): {rows}" for name, rows in page.sizes.items())]
    if any(map(has_formulas, (t.table if isinstance(t, InOrder) else t for t in page.tables.values()))):
        parts.append(_APOSTROPHES)
    parts += map(paragraph, notes)
    parts.append(paragraph(" ".join(filter(None, (page.closing, page.of_files)))))
    return "\n\n".join(parts) + "\n"


def _fact(name: str, value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return f"- **{markdown(name)}**: {markdown(value)}"
    entries = [code(entry) for entry in value]
    listed = f" {entries[0]}" if len(entries) == 1 else "".join(f"\n  - {entry}" for entry in entries)
    return f"- **{markdown(name)}**:{listed}"


def table_rows(table: pd.DataFrame) -> str:
    """A table of text as Markdown."""
    head, *body = [[*map(markdown, row)] for row in (list(table.columns), *table.to_numpy().tolist())]
    return markdown_rows(head, body)
