r"""Names from files as people see them: on a page, in a cell, in a figure (what attacks do is in tests/attacks)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import pytest

from simstudy.text.encodings import READABLE
from simstudy.text.formulas import with_formulas, without_formulas
from simstudy.text.numerals import units_text
from simstudy.text.plain_text import (
    code,
    csv_cell,
    csv_name,
    in_words,
    json_in,
    json_text,
    label,
    line,
    markdown,
    paragraph,
    printable,
    shown,
)  # fmt: skip
from simstudy.text.printing import text_of
from simstudy.text.reprs import listed


@pytest.mark.parametrize(
    ("write", "text", "written"),
    [
        (printable, "a\x1b[31mb\n", "a⟨U+001B⟩[31mb⟨U+000A⟩"), (printable, "naïve 模型 :-)", "naïve 模型 :-)"),
        (shown, "gpt-4", "gpt-4"), (shown, "a" * 255, "a" * 255),
        (line, " no column 'x\ny' ", "no column 'x⟨U+000A⟩y'"),
        (label, r"$x$ \alpha", r"$x$ \alpha"), (label, "_hidden", "\u200a_hidden"), (in_words, "t_score", "t score"),
        (markdown, "[click](https://x.y) | <b> a_b *c*", r"\[click\](https\://x.y) \| \<b> a_b \*c\*"),
        (markdown, "_a_ `b` ~c~ $d$ &amp; www.x", r"\_a\_ \`b\` \~c\~ \$d\$ \&amp; www\.x"),
        (paragraph, "# 1\n2. b\n- c\n> d\n1) e", "\\# 1\n2\\. b\n\\- c\n\\> d\n1\\) e"),
        (code, "run x", "`run x`"), (code, "run `x`", "`` run `x` ``"), (code, "a ``b`` c", "``` a ``b`` c ```"),
        (csv_cell, "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), (csv_cell, "gpt-4", "gpt-4"),
        (csv_cell, "'@a", "''@a"), (csv_cell, "-1.5", "-1.5"), (csv_cell, "+1e-5", "+1e-5"),
        (csv_cell, "-x", "'-x"), (csv_cell, "-1+cmd", "'-1+cmd"), (csv_cell, "\t1", "'\t1"),
        (csv_name, "'=a", "=a"), (csv_name, "''@a", "'@a"), (csv_name, "'tis", "'tis"),
        (json_text, '{"a\u202eb": "😀\U000e0041"}\n', '{"a\\u202eb": "😀\\udb40\\udc41"}\n'),
    ],
)  # fmt: skip
def test_text_is_written_so_that_it_is_only_text(write: Callable[[str], str], text: str, written: str) -> None:
    assert write(text) == written


def test_what_is_too_long_for_a_name_differs_where_the_whole_texts_do() -> None:
    one, other = shown("a" * 3000, 30), shown("a" * 3001, 30)
    assert (len(one), one[:22]) == (30, "a" * 20 + "…#")
    assert one != other
    long = line("no file " + "/".join("abcdefgh" for _ in range(300)) + " there")
    assert long.startswith("no file abcdefgh/")
    assert (len(long.split()[2]), long.endswith(" there")) == (550, True)
    names = [f"name-{n}" for n in range(400)]
    assert set(line(" ".join(names)).split()) < {*names, "…"}, "no name of a long message is cut"


@pytest.mark.parametrize(
    ("n", "unit", "text"),
    [
        (1200, "item", "1,200 items"), (1, "item", "1 item"), (1, "cluster", "1 cluster"),
        (2.0, "cluster", "2 clusters"), (8, "user", "8 clusters (user)"), (1, "user", "1 cluster (user)"),
    ],
)  # fmt: skip
def test_units_are_items_or_clusters(n: float, unit: str, text: str) -> None:
    assert units_text(n, unit) == text


def test_lists_are_told_by_their_first_names() -> None:
    assert (listed(["a", "b"]), listed(list("abcd"), 3)) == ("a, b", "a, b, c and 1 more")
    assert listed([*"abcde"]) == "a, b, c, d, e"


def test_tables_without_formulas_are_read_back() -> None:
    names = pd.Series(["=a", "'tis", "-1.5", None], dtype=object)
    table = pd.DataFrame({"=name": names, "n": [-1.5, 2, 3, 4]})
    table["kind"] = pd.Categorical(["+x", "y", "+x", "y"])
    written = without_formulas(table)
    assert written.columns.tolist() == ["'=name", "n", "kind"]
    assert written.to_numpy().tolist()[0] == ["'=a", -1.5, "'+x"]
    assert written["'=name"].tolist()[1:] == ["'tis", "-1.5", None]
    again = with_formulas(written)
    assert again.columns.tolist() == ["=name", "n", "kind"]
    assert again.head(3).to_numpy().tolist() == table.head(3).to_numpy().tolist()
    assert without_formulas(table[["n"]]).equals(table[["n"]])
    assert without_formulas(table.set_axis([7, 5, 3, 1]))["'=name"].to_dict() == {
        7: "'=a",
        5: "'tis",
        3: "-1.5",
        1: None,
    }


def test_facts_are_lines_of_a_file() -> None:
    assert (
        text_of(lambda printer: printer.facts({"Systems": "2", "Items\n": "\x1b4"}))
        == "Systems: 2\nItems⟨U+000A⟩: ⟨U+001B⟩4"
    )


def test_what_an_encoding_lacks_reads_like_it_or_has_its_code_point() -> None:
    text = "75.85–82.90 … p ≈ 0.05 ⟨U+001B⟩ 模型 \udcff é"
    assert text.encode("ascii", READABLE) == b"75.85-82.90 ... p ~ 0.05 <U+001B> \\u6a21\\u578b \\udcff \\xe9"
    assert "≤…模–".encode("ascii", READABLE) == b"<=...\\u6a21-", "one after the other"
    assert "“−0.31 ± 0.02”".encode("ascii", READABLE) == b'"-0.31 +- 0.02"', "numbers of tables for a paper"
    assert json.loads(json_in(json.dumps(text, ensure_ascii=False), "ascii")) == text
    assert json_in('"é 😀"', "utf-8") == '"é 😀"'
    assert json.loads(json_in('"é 😀"', "cp1252").encode("cp1252")) == "é 😀"
    assert "75.85–82.90 é".encode("cp1252", READABLE).decode("cp1252") == "75.85–82.90 é"
