"""Tables and sentences in LaTeX: names stay names, tables are whole, and LaTeX takes them."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

import simstudy as ss
from simstudy.examination import Examination
from simstudy.papers import markdown
from simstudy.papers.document import BETTER_MARKS, CAUTION_MARK, WORSE_MARKS, Cell, Paper, Table
from simstudy.papers.latex import document, escaped, table
from tests.papers.tex import check_structure, compiled, plain, tables

# What TeX, Markdown and terminals take for something else.
NAMES = [
    "$x^2$ & 50% #1 {a} _b_ ~c~ \\alpha", "[red] *star*", "--pre--trained ''q'' ,,", "Müller é Dvořák", "*",
    "model\u202eevil\x07", "<b>|x| \"q\" `t`", "meta-llama/Llama-3.1-405B-Instruct-Turbo_fp8@2024", "p = 0.5", "100 %",
]  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Examination:
    rng = np.random.default_rng(5)
    right = rng.random((200, len(NAMES))) < np.linspace(0.95, 0.4, len(NAMES))
    outputs = ss.Outputs.from_scores(pd.DataFrame(right, columns=NAMES), "accuracy", test_set="T_1 & co")
    return ss.examine(outputs)


def shown(name: str) -> str:
    return name.replace("\u202e", "⟨U+202E⟩").replace("\x07", "⟨U+0007⟩")


def test_every_table_is_whole_and_names_are_printed_as_they_are(found: Examination) -> None:
    latex = found.to_latex()
    check_structure(latex)
    (_, (head, *rows), caption), *_ = tables(latex)
    assert head == ["System", "Accuracy (%)", "95 % CI", "Rank"]
    assert {row[0] for row in rows} == {shown(name).strip() for name in NAMES}
    assert "on 200 items of T_1 & co" in caption
    assert "\u202e" not in latex
    assert "\x07" not in latex


def test_names_are_printed_as_they_are_wherever_they_stand() -> None:
    """In headings, cells, bold cells with marks, captions, sentences and notes; another reader reads the Markdown."""
    signs = [*BETTER_MARKS, *WORSE_MARKS, CAUTION_MARK] * 2
    marked = [Cell(name, bold=True, mark=sign) for name, sign in zip(NAMES, signs, strict=True)]
    one = Table("t", [(name, "left") for name in NAMES], [NAMES, marked], NAMES)
    seen, together = [shown(name).strip() for name in NAMES], "".join(map(shown, NAMES))
    rows = [seen, seen, [name + sign for name, sign in zip(seen, signs, strict=True)]]
    assert [(body, caption) for _, body, caption in tables(table(one))] == [(rows, together)]
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(
        markdown.document(Paper(tables=[one], results=NAMES, methods=NAMES, notes=NAMES))
    )  # fmt: skip
    assert {part.type for token in tokens for part in token.children or ()} <= {
        *("text", "text_special", "strong_open", "strong_close")
    }
    read = [
        (before.type, "".join(part.content for part in token.children or ()))
        for before, token in itertools.pairwise(tokens)
        if token.type == "inline"
    ]
    assert [text for kind, text in read if kind in ("th_open", "td_open")] == sum(rows, [])
    notes = [f"Note: {shown(name)}" for name in NAMES]
    said = [together, f"Results: {together}", f"Methods: {together}", *notes, "References:"]
    assert [text for kind, text in read if kind == "paragraph_open"] == said


@pytest.mark.parametrize(
    "text", [*NAMES, "a--b", "---", "''", "x,,y", "^_^", "{", "}", "\\", "\\\\", "~", "é…", "50 %"]
)
def test_escaped_text_is_printed_as_it_was(text: str) -> None:
    assert plain(escaped(text)) == shown(text).strip()
    # No ligature of TeX's fonts, and nothing that acts.
    assert not any(pair in escaped(text).replace("{}", "\0").replace("''", "") for pair in ("--", ",,", "?`", "!`"))


def test_a_row_that_begins_with_a_bracket_or_a_star_is_no_option_of_the_row_before() -> None:
    one = Table("t", [("System", "left"), ("x", "right")], [["a", "1"], ["[b]", "2"], ["*c", "3"]], ["Caption."])
    lines = [line for line in table(one).split("\n") if line.endswith("\\\\")]
    assert lines[1:] == ["a & 1 \\\\", "{}[b] & 2 \\\\", "{}*c & 3 \\\\"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("通义", "XeLaTeX or LuaLaTeX, and a font that has 义通,"),
        ("Ωmega", "XeLaTeX"),
        ("Þór", "fontenc"),
        ("Müller", ""),
    ],
)
@pytest.mark.parametrize("is_heading", [False, True])
def test_letters_that_pdflatex_lacks_are_named_in_a_comment(name: str, said: str, is_heading: bool) -> None:
    heading, cell = (name, "1") if is_heading else ("System", name)
    one = Table("t", [(heading, "left")], [[cell]], ["Caption."])
    comments = [
        line for line in document(Paper(tables=[one], results=["r"], methods=["m"])).split("\n") if "names" in line
    ]
    assert len(comments) == bool(said)
    assert said in "".join(comments)
    assert all(comment.startswith("% ") for comment in comments)


def test_a_very_long_table_is_several_and_a_rule_stays_where_it_was() -> None:
    rows = [[f"s{k}", Cell(str(k), bold=k == 1)] for k in range(100)]
    one = Table("long", [("System", "left"), ("x", "right")], rows, ["All of it."], ruled=(50,))
    parts = tables(table(one))
    assert [cell for _, (_, *body), _ in parts for cell, _ in body] == [f"s{k}" for k in range(100)]
    assert [caption for *_, caption in parts] == [
        "All of it.",
        *(f"Continued from the table before, part {k}." for k in (2, 3)),
    ]
    assert table(one).count("\\label{tab:long") == len(parts)
    assert "\\midrule\ns50 & 50" in table(one)
    assert table(one).count("\\midrule") == len(parts) + 1


@pytest.mark.parametrize(("letters", "most"), [(28, 40), (29, 20), (57, 13)])
def test_a_table_of_long_names_that_are_broken_has_fewer_rows(letters: int, most: int) -> None:
    """A page has room for 40 lines; a name has a line for every 28 letters."""
    for n in (most, most + 1, 2 * most, 2 * most + 1):
        rows = [[f"{k:0{letters}}", "1"] for k in range(n)]
        found = [body for _, (_, *body), _ in tables(table(Table("t", [("", "left"), ("x", "right")], rows, ["C."])))]
        assert [len(body) for body in found] == [most] * (n // most) + [n % most] * (n % most > 0)
        assert sum(found, []) == rows


def test_a_table_that_is_too_wide_for_a_column_takes_two() -> None:
    def made(width: int) -> str:
        return table(Table("t", [("System", "left"), ("Score", "right")], [["n" * width, "1.0"]], ["C."]))

    assert "\\begin{table}" in made(12)
    # 9 points Times: a digit has 4.5, and a comma, a blank or a full stop half of it.
    row = ["baseline", "71.0", "5.3", "[0.7, 10.0]", "0.0297"]
    heads = ("System", "Accuracy (%)", "Gain", "95 % CI", "p")
    assert "\\begin{table}" in table(Table("t", [(name, "left") for name in heads], [row], ["C."]))
    assert "\\begin{table*}" in made(60)
    assert "p{0.38\\textwidth}" in made(60)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_takes_it(found: Examination, tmp_path: Path) -> None:
    text = compiled(found.to_latex(baseline=NAMES[3]), tmp_path)
    if text:
        for part in ("[red] *star*", "50% #1 {a}", "<b>|x|", "model⟨U+202E⟩evil", "100 %"):
            assert "".join(part.split()) in "".join(text.split())
        assert "iffalse" not in text
