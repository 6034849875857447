"""Lines and tables in a terminal of any width: nothing is cut, numbers are whole, and columns that go are named."""

from __future__ import annotations

import re
from io import StringIO

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from simstudy.text.layout import in_parts, laid_out, wrapped
from simstudy.text.plain_text import folded
from simstudy.text.printing import Printer

WIDTHS = st.integers(20, 160)
NAMES = st.text("ab-_/. 模", min_size=1, max_size=70).map(str.strip).filter(bool)

# Numbers of many widths, a heading of several words, and one that is longer than its numbers.
NUMBERS = {"score": "{:.2f}", "95 %": "{:.2f} to {:.2f}", "p (Holm)": "{:.6f}", "power for a gain of 1": "{:.0f}"}


def board(names: list[str]) -> pd.DataFrame:
    """A table of text with a name and four numbers in each row, all of them different."""
    rows = {"system": names}
    for k, (heading, form) in enumerate(NUMBERS.items()):
        rows[heading] = [form.format(1000 * k + n + 0.5, 7000 + n) for n in range(len(names))]
    return pd.DataFrame(rows, dtype=object)


def printed(table: pd.DataFrame, width: int | None, *spare: str, verbose: bool | None = False) -> list[str]:
    """What is printed in a terminal of this width, or (None) into a file."""
    file = StringIO()
    console = Console(file=file, width=width or 80, force_terminal=width is not None, color_system=None)
    Printer(console).table("Title", table, spare, verbose=verbose)
    return file.getvalue().splitlines()


@given(NAMES, st.integers(2, 40))
@settings(max_examples=200, deadline=None)
def test_a_name_is_folded_and_whole(name: str, width: int) -> None:
    lines = folded(name, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")


WORDS = ["25,870", "p = 0.031", "p < 0.0001", "95 %", "items", "1.12 points", "a" * 50]


@given(st.lists(st.sampled_from(WORDS)), WIDTHS)
@settings(max_examples=200, deadline=None)
def test_lines_end_between_words_and_never_in_a_number(words: list[str], width: int) -> None:
    text = " ".join(words)
    lines = wrapped(text, width).split("\n")
    assert " ".join(lines) == text
    for line in lines:
        # Only a word that no line holds is longer; the terminal goes on with it.
        assert cell_len(line) <= width or "a" * 50 in line
        assert not re.match(r"[%=<]|points", line)
        assert not re.search(r"[=<]$", line)


@given(st.lists(NAMES, min_size=1, max_size=4, unique_by=lambda name: name.replace(" ", "")), WIDTHS)
@settings(max_examples=150, deadline=None)
def test_a_table_fits_and_has_its_names_and_numbers_whole(names: list[str], width: int) -> None:
    table = board(names)
    laid = laid_out(table, width, ["power for a gain of 1"])
    assert all(cell_len(line) <= width for line in (*laid.head, *laid.rows))
    kept = [heading for heading in NUMBERS if heading not in laid.left_out]
    assert kept, "a table has one column of numbers at least"
    # A row of the terminal has all its numbers in its first line; names are what is left of it, and the lines below.
    text = "\n".join(laid.rows)
    for heading in kept:
        assert all(f" {cell} " in text for cell in table[heading])
    for heading in laid.left_out:
        assert not any(f" {cell} " in text for cell in table[heading])
    if text.isascii():
        cells = table[kept[0]]
        first = min(line.index(f" {cell} ") for cell in cells for line in laid.rows if f" {cell} " in line)
        assert "".join(line[: first + 1] for line in laid.rows).replace(" ", "") == "".join(names).replace(" ", "")


@given(st.lists(NAMES, min_size=1, max_size=3, unique_by=lambda name: name.replace(" ", "")), st.integers(30, 160))
@settings(max_examples=50, deadline=None)
def test_all_columns_are_there_below_one_another_if_they_are_asked_for(names: list[str], width: int) -> None:
    table = board(names)
    parts = in_parts(table, width)
    assert all(cell_len(line) <= width for part in parts for line in (*part.head, *part.rows))
    cells = " ".join(" ".join(part.rows) for part in parts).split()
    for heading in NUMBERS:
        assert all(set(cell.split()) <= set(cells) for cell in table[heading])


def test_columns_go_in_the_order_of_their_importance_and_a_line_names_them() -> None:
    table = board(["new", "old"])
    for width, gone in ((80, []), (60, ["score"]), (50, ["score", "power for a gain of 1"]), (None, [])):
        lines = printed(table, width, "score", "power for a gain of 1")
        said = [line for line in lines if "left out" in line]
        assert bool(said) == bool(gone)
        heading = " ".join(" ".join(line.split()) for line in lines[2:4])
        assert all((name.split()[0] in heading) == (name not in gone) for name in NUMBERS)
        if gone:
            told = " ".join(lines[lines.index(said[0]) :])
            s, them = ("s", "them") if len(gone) > 1 else ("", "it")
            how = f"(a wider terminal, --verbose or --json shows {them})"
            assert told == f"Column{s} left out: {', '.join(gone)} {how}"
    (told,) = [line for line in printed(table, 60, "score", verbose=None) if "left out" in line]
    assert told.endswith("(a wider terminal shows it)"), "a command that has no --verbose does not offer it"
    assert not [line for line in printed(table, 50, verbose=True) if "left out" in line]


def test_the_last_columns_go_first_and_the_first_number_stays() -> None:
    names = [letter * 8 for letter in "abcd"]
    table = pd.DataFrame({"system": ["new"], **dict.fromkeys(names, ["1234567.8"])})
    for width, n in ((60, 4), (46, 3), (34, 2), (24, 1)):
        shown = " ".join(printed(table, width)).partition("left out")[0]
        assert [name for name in names if f"{name} " in shown] == names[:n]


def test_a_file_has_rows_of_one_line_and_the_columns_of_a_hundred() -> None:
    long = board(["n" * 54, "m" * 54])
    assert [line.split()[0] for line in printed(long, None)[-2:]] == ["n" * 54, "m" * 54]
    assert "left out: p (Holm) (--verbose or --json shows it)" in printed(long, None, "p (Holm)")[-1]
    assert len(printed(long, None, verbose=True)[-1].split()) == 7


@pytest.mark.parametrize("width", [60, 100])
def test_names_at_the_left_numbers_at_the_right_and_no_character_acts(width: int) -> None:
    table = pd.DataFrame({"system": ["a", "longer\x1b"], "score": ["1", "100"], "p\x07": ["0.5", "0.5"]})
    _, title, head, first, second = printed(table, width)
    assert (title, head.split()) == ("Title", ["system", "score", "p⟨U+0007⟩"])
    assert (first.strip().startswith("a "), second.strip().startswith("longer⟨U+001B⟩")) == (True, True)
    ends = [line.index(cell) + len(cell) for line, cell in ((head, "score"), (first, "1"), (second, "100"))]
    assert len(set(ends)) == 1
    assert first.index("a") == second.index("longer") == head.index("system")


def test_a_note_that_is_shortened_ends_after_a_part_of_its_sentence() -> None:
    printer = Printer(Console(file=StringIO(), width=40, force_terminal=True, color_system=None))
    names = ", ".join(f"system {n} of the team" for n in range(9))
    note = f"Note: near-duplicates dropped: {names}"
    short = printer.shortened(note)
    assert (short[-2:], printer.height(short) <= 2) == (" …", True)
    assert note.startswith(short.removesuffix(" …"))
    assert short.removesuffix(" …").endswith("of the team,"), "no first half of a name stands for it"
    assert printer.shortened("Note: short") == "Note: short"


def test_letters_stand_for_long_names_and_not_for_what_begins_with_one() -> None:
    file = StringIO()
    printer = Printer(Console(file=file, width=60, force_terminal=True, color_system=None))
    long = "a-name-that-is-longer-than-a-table-has-room-for"
    lettered, told = printer.lettered([long, "short"], [long, "short", f"{long}.v2"])
    lettered.line(f"{long}.v2 and short beat {long}.")
    assert told == [f"A: {long}"]
    assert file.getvalue().split() == [f"{long}.v2", "and", "short", "beat", "A."]


def test_texts_that_just_fit_are_all_there() -> None:
    printer = Printer(Console(file=StringIO(), width=10, force_terminal=True, color_system=None))
    texts = ["one", "two words in three", "last"]
    rows = [printer.height(text) for text in texts]
    assert [printer.fitting(texts, sum(rows) - less) for less in (0, 1)] == [texts, texts[:2]]
    assert printer.fitting(texts, sum(rows[:2]) - 1) == texts[:1]
