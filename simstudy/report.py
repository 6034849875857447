"""A study's folder for people: tables as CSV, and a page that shows figures and the main rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy import figures
from simstudy.files import atomic_path
from simstudy.manifest import earlier_manifest, manifest_of

Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Section:
    """A part of a study's page.

    Attributes
    ----------
    heading
        In the page's outline.
    text
        What the figure or the table shows, in a sentence or some.
    figure
        The name of a figure in figures/, without suffix.
    table
        Rows of text to print below it.
    """

    heading: str
    text: str
    figure: str | None = None
    table: pd.DataFrame | None = None


def write_results(
    folder: Path,
    *,
    title: str,
    question: str,
    command: str,
    facts: Mapping[str, str],
    sections: Sequence[Section],
    tables: Tables,
    closing: str,
    settings: Mapping[str, Any],
    data: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> None:
    """Everything of a folder of results but its figures, which are drawn already: tables, page and manifest.

    The manifest comes last, so that a folder that has one is whole; what an earlier one names and this run has not
    goes. `settings`, `data` and `seconds` are as in `simstudy.manifest.manifest_of`.
    """
    write_tables(tables, folder)
    drawn = [section.figure for section in sections if section.figure]
    manifest = manifest_of(settings, data, tables, drawn, folder, seconds)
    write_page(
        folder,
        title=title,
        question=question,
        command=command,
        facts=facts,
        sections=sections,
        tables=tables,
        closing=closing,
    )
    remove_stale(folder, earlier_manifest(folder), tables, drawn)
    with atomic_path(folder / "manifest.json") as temporary:
        temporary.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def write_tables(tables: Tables, folder: Path) -> None:
    """Each table as <name>.csv, six significant digits."""
    for name, table in tables.items():
        with atomic_path(folder / f"{name}.csv") as temporary:
            table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")


def save_figure(figure: Any, folder: Path, name: str) -> str:
    """Write a figure to figures/<name>.png and .svg; its name."""
    figures.save(figure, folder / "figures" / name)
    return name


def remove_stale(
    folder: Path, earlier: Mapping[str, Iterable[str]], tables: Iterable[str], drawn: Iterable[str]
) -> None:
    """Remove tables and figures that an earlier run's manifest names and this run, with other settings, has not."""
    for name in set(earlier.get("tables", ())) - set(tables):
        (folder / f"{name}.csv").unlink(missing_ok=True)
    for name in set(earlier.get("figures", ())) - set(drawn):
        for suffix in (".png", ".svg"):
            (folder / "figures" / f"{name}{suffix}").unlink(missing_ok=True)


def write_page(
    folder: Path,
    *,
    title: str,
    question: str,
    command: str,
    facts: Mapping[str, str],
    sections: Sequence[Section],
    tables: Tables,
    closing: str,
) -> None:
    """README.md: the question, what was run, figures and main tables."""
    parts = [f"# {title}", question.strip(), f"Made by `{command}`; `manifest.json` has every setting and version."]
    parts.append("\n".join(f"- **{name}**: {value}" for name, value in facts.items()))
    for section in sections:
        parts.append(f"## {section.heading}")
        if section.figure:
            parts.append(f"![{section.heading}](figures/{section.figure}.png)")
        parts.append(section.text)
        if section.table is not None:
            parts.append(markdown(section.table))
    parts += [
        "## Tables",
        "\n".join(
            f"- [{name}.csv]({name}.csv): {len(table):,} row{'' if len(table) == 1 else 's'}"
            for name, table in tables.items()
        ),
        closing,
    ]
    with atomic_path(folder / "README.md") as temporary:
        temporary.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


# What Markdown would take for its own: columns, emphasis, tags.
_MARKS = re.compile(r"([|*]|<(?=[A-Za-z/!]))")


def markdown(table: pd.DataFrame) -> str:
    """A table of text as Markdown."""
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(_MARKS.sub(r"\\\1", str(cell)) for cell in line) + " |" for line in lines)
