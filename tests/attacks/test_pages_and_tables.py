"""Names from files are text on a page and in a table."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from simstudy.pages.report import table_rows
from simstudy.text.formulas import without_formulas
from simstudy.text.plain_text import csv_cell, csv_name, markdown, paragraph, printable, shown
from tests.attacks.names import HOSTILE, TEXTS, acts

# What GitHub's Markdown has beyond the standard.
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Everything that Markdown makes of a page: kind of token, and its text."""
    for token in RENDERER.parse(page):
        yield token.type, token.content
        for child in token.children or ():
            yield child.type, child.content


def as_read(text: str) -> str:
    """What a reader of one paragraph of Markdown sees."""
    (inline,) = (token for token in RENDERER.parse(text) if token.type == "inline")
    return "".join("\n" if child.type == "softbreak" else child.content for child in inline.children or ())


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_paragraph_reads_as_the_text_does(text: str) -> None:
    wanted = "\n".join(printable(part).strip() for part in text.strip().split("\n"))
    if not text.strip() or "\n\n" in wanted:
        return
    found = {kind for kind, _ in blocks(paragraph(text))}
    assert found <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special", "softbreak"}
    assert as_read(paragraph(text)) == wanted


@pytest.mark.parametrize("text", ["a\n # b", "a\n  - b", "a\n   > b", "a\n =", "a\n 1. b", "a\n\t+ b"])
def test_a_line_that_begins_with_spaces_begins_nothing(text: str) -> None:
    assert {kind for kind, _ in blocks(paragraph(text))} <= {
        "paragraph_open", "paragraph_close", "inline", "text", "text_special", "softbreak",
    }  # fmt: skip


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_a_table_keeps_its_cells(rows: list[list[str]]) -> None:
    tokens = RENDERER.parse(table_rows(pd.DataFrame(rows, columns=["a", "b"])))
    cells = [token for token in tokens if token.type == "inline"]
    read = ["".join(child.content for child in token.children or ()) for token in cells]
    assert read == ["a", "b", *(printable(cell).strip() for row in rows for cell in row)]


def test_nothing_of_a_name_is_more_than_text_on_a_page(hostile_folder: Path) -> None:
    page = (hostile_folder / "out" / "README.md").read_text(encoding="utf-8")
    assert not acts(page)
    found = list(blocks(page))
    kinds = {kind for kind, _ in found}
    assert not kinds & {
        "html_block",
        "html_inline",
        "fence",
        "code_block",
        "blockquote_open",
        "em_open",
        "s_open",
        "hr",
    }
    links = [t.attrs["href"] for token in RENDERER.parse(page) for t in token.children or () if t.type == "link_open"]
    images = [t.attrs["src"] for token in RENDERER.parse(page) for t in token.children or () if t.type == "image"]
    assert all(re.fullmatch(r"[a-z_]+\.csv", str(link)) for link in links)
    assert all(re.fullmatch(r"figures/[a-z_]+\.png", str(image)) for image in images)
    assert "https://" not in page
    assert "www.e" not in page
    read = "".join(content for kind, content in found if kind in ("text", "text_special"))
    for name in HOSTILE.values():
        assert "\r" in name or shown(name).strip() in read, name
    # No row of a table has more cells than its head.
    for part in re.findall(r"(?:^\|.*\n)+", page, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in part.replace("\\\\", "").splitlines()}) == 1


def test_underscores_within_words_need_no_backslash() -> None:
    assert markdown("gain_low and n_items") == "gain_low and n_items"


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_no_cell_is_a_formula_and_each_is_read_back(text: str) -> None:
    cell = csv_cell(text)
    is_number = bool(re.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?", text))
    assert is_number or cell[:1] not in tuple("=+-@\t\r")
    assert csv_name(cell) == text


def test_numbers_stay_numbers() -> None:
    table = pd.DataFrame(
        {"gain": [-1.5, 2.0], "n": [-1, 1], "year": ["-1.5", "+2e-3"], "date": pd.to_datetime(["2020", "2021"])}
    )
    assert without_formulas(table) is table


def test_formulas_in_categories_missing_cells_and_column_names() -> None:
    table = pd.DataFrame(
        {"=a": ["x", "y"], "kind": pd.Categorical(["=1", "b"]), "text": pd.array(["@x", pd.NA], "string")}
    )
    made = without_formulas(table)
    assert made.columns.tolist() == ["'=a", "kind", "text"]
    assert made["kind"].tolist() == ["'=1", "b"]
    assert made["text"].fillna("").tolist() == ["'@x", ""]
    assert table.columns[0] == "=a"


def test_tables_of_a_comparison_have_no_formulas_and_all_names(hostile_folder: Path) -> None:
    for path in (hostile_folder / "out").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert {len(row) for row in rows} == {len(rows[0])}
        for cell in (cell for row in rows for cell in row):
            assert not cell.startswith(("=", "@", "\t", "\r")), path
            assert not re.match(r"[+-](?![\d.]+(e[+-]?\d+)?$|inf$)", cell), (path, cell)
    systems = pd.read_csv(hostile_folder / "out" / "systems.csv", keep_default_na=False)
    assert {csv_name(name) for name in systems["system"]} == {name for name in HOSTILE.values() if "\r" not in name}
    assert (systems["year"] == -1.5).all()
    assert (systems["'=1+1"] == "'@x").all()
    assert "csv_name" in (hostile_folder / "out" / "README.md").read_text(encoding="utf-8")
