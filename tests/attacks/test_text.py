"""Names from files are text, through whatever door they come out: terminal, page, table, figure, error."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from simstudy import plot
from simstudy.analyses.leaderboard import leaderboard
from simstudy.comparisons.verdict import verdict
from simstudy.examination.asking import examine
from simstudy.loaders.base import Loaded
from simstudy.outputs import Outputs
from simstudy.pages.report import table_rows
from simstudy.text.formulas import without_formulas
from simstudy.text.plain_text import csv_cell, csv_name, json_text, label, line, markdown, paragraph, printable, shown
from tests.attacks.names import HOSTILE, acts
from tests.cli.command import compare as run_compare
from tests.oracles import compared

# Also what hypothesis would not find soon: sequences that act together.
MARKS = "ab1.-=+@#>*_`~$|[]()!<>&;:/\\ \n\r\t\x1b\u202e'"
TEXTS = st.text(max_size=60) | st.text(MARKS, max_size=60)

# What GitHub's Markdown has beyond the standard.
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.fixture(scope="module")
def hostile() -> Outputs:
    rng = np.random.default_rng(12)
    quality = rng.uniform(0.3, 0.9, size=len(HOSTILE))
    right = pd.DataFrame((rng.random((60, len(HOSTILE))) < quality).astype(int), columns=list(HOSTILE.values()))
    return Outputs.from_scores(right, "accuracy", test_set="$t$ [x](https://evil.example)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison by the command of systems whose names come from a table, and their groups from another."""
    here = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(12)
    names = [name for name in HOSTILE.values() if "\n" not in name and "\r" not in name]
    rows = [
        (name, f"q{i}", int(rng.random() < 0.3 + 0.6 * k / len(names)))
        for k, name in enumerate(names)
        for i in range(40)
    ]
    pd.DataFrame(rows, columns=["system", "item", "score"]).to_csv(here / "scores.csv", index=False)
    groups = pd.DataFrame({"system": names, "group": names[::-1], "=1+1": "@x", "year": "-1.5"})
    groups.to_csv(here / "systems.csv", index=False)
    arguments = [str(here / "scores.csv"), "--metric", "accuracy", "--systems", str(here / "systems.csv")]
    code, out, err = run_compare(*arguments, "--by", "group", "--out", str(here / "out"), "--verbose")
    assert (code, err) == (0, "")
    (here / "printed").write_text(out, encoding="utf-8")
    code, out, err = run_compare(*arguments, "--json")
    assert (code, err) == (0, "")
    (here / "json").write_text(out, encoding="utf-8")
    return here


# What is shown.


@given(TEXTS)
@example("_" + "0" * 19 + "\x00" * 5)
@settings(max_examples=200, deadline=None)
def test_what_is_shown_does_not_act_and_does_not_change_when_it_is_shown_again(text: str) -> None:
    for door in (printable, shown, line, label):
        assert not acts(door(text))
        assert "\n" not in door(text)
        assert door(door(text)) == door(text)


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs", "Mn")), max_size=60))
@settings(max_examples=100, deadline=None)
def test_text_that_can_be_seen_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_joiners_stay_in_the_scripts_that_need_them() -> None:
    persian, family = "می\u200cخواهم", "\U0001f468\u200d\U0001f469"
    assert (printable(persian), printable(family)) == (persian, family)
    assert printable("a\u200db") == "a⟨U+200D⟩b"


def test_names_are_whole_and_what_no_file_may_be_called_stays_apart() -> None:
    """Two thousand texts that differ after 300 characters; a file has at most 255."""
    assert shown("n" * 255) == "n" * 255
    names = {shown("n" * 300 + str(i)) for i in range(2_000)}
    assert len(names) == 2_000
    assert {len(name) for name in names} == {255}
    assert all("…" in name for name in names)


def test_long_messages_keep_their_beginning_and_their_end() -> None:
    said = line("bad.csv: no column '" + "long name " * 1_000 + "' (did you mean 'x'?)")
    assert said.startswith("bad.csv: no column")
    assert said.endswith("(did you mean 'x'?)")
    assert len(said) < 2_000


@pytest.mark.parametrize("width", [20, 60])
def test_a_label_is_whole_in_lines_of_its_width(width: int) -> None:
    """Every length about the width, of names that matplotlib would leave out of a legend, and of others."""
    for first in ("_", "a", "\x00", "_\x00"):
        for length in range(width + 20):
            name = first + "0" * length
            found = label(name, width)
            assert all(len(part) <= width for part in found.split("\n"))
            assert found.replace("\n", "") == label(name)
            assert not found.startswith("_")
            assert label(name) == printable(name).replace("_", "\u200a_", 1)


# The terminal.


def test_the_terminal_gets_no_control_characters(folder: Path) -> None:
    printed = (folder / "printed").read_text(encoding="utf-8")
    assert not acts(printed)
    for name in HOSTILE.values():
        assert "\r" in name or shown(name) in printed, name


def test_json_has_the_names_and_no_control_characters(folder: Path) -> None:
    text = (folder / "json").read_text(encoding="utf-8")
    assert not acts(text)
    found = {row["system"] for row in json.loads(text)["systems"]}
    assert found == {name for name in HOSTILE.values() if "\r" not in name}


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_json_means_the_same(text: str) -> None:
    document = json.dumps([text], ensure_ascii=False)
    assert json.loads(json_text(document)) == [text]
    assert not acts(json_text(document))


def test_the_verdict_can_be_printed_and_tells_the_two_systems_apart(hostile: Outputs) -> None:
    names = ["a\x1b[31m", "a⟨U+001B⟩[31m"]
    right = pd.DataFrame({names[0]: [1] * 40, names[1]: [0] * 20 + [1] * 20})
    outputs = Outputs.from_scores(right, "accuracy")
    said = verdict(compared(outputs).iloc[0])
    assert not acts(said)
    # The first one is better, and it is the first one that the sentence names.
    answer, _, numbers = said.partition("\n")
    assert answer == "a⟨U+001B⟩[31m is better than a⟨U+001B⟩[31m (2): the gain is significant at 0.05."
    assert numbers.startswith(
        "a⟨U+001B⟩[31m scores 100.00 % accuracy, 50.00 points more than a⟨U+001B⟩[31m (2) (50.00 %)"
    )
    for _, pair in compared(hostile).sample(30, random_state=0).iterrows():
        assert not acts(verdict(pair))


@pytest.mark.parametrize("name", [name for name in HOSTILE.values() if len(name) < 200], ids=repr)
def test_errors_name_it_and_stay_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"system": [name, name, "b", "b"], "item": ["1", "1", "1", "2"], "score": [1, 0, 1, 1]})
    table.to_csv("scores.csv", index=False)
    for arguments in (
        ["scores.csv", "--metric", "accuracy"],
        ["scores.csv", f"--metric={name}"],
        [f"./{name}", "--metric=mean"],
    ):
        code, out, err = run_compare(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("simstudy: ")
        assert err.count("\n") == 1
        assert not acts(err)


# Pages.


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


def test_nothing_of_a_name_is_more_than_text_on_a_page(folder: Path) -> None:
    page = (folder / "out" / "README.md").read_text(encoding="utf-8")
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


# Tables.


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


def test_tables_of_a_comparison_have_no_formulas_and_all_names(folder: Path) -> None:
    for path in (folder / "out").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert {len(row) for row in rows} == {len(rows[0])}
        for cell in (cell for row in rows for cell in row):
            assert not cell.startswith(("=", "@", "\t", "\r")), path
            assert not re.match(r"[+-](?![\d.]+(e[+-]?\d+)?$|inf$)", cell), (path, cell)
    systems = pd.read_csv(folder / "out" / "systems.csv", keep_default_na=False)
    assert {csv_name(name) for name in systems["system"]} == {name for name in HOSTILE.values() if "\r" not in name}
    assert (systems["year"] == -1.5).all()
    assert (systems["'=1+1"] == "'@x").all()
    assert "csv_name" in (folder / "out" / "README.md").read_text(encoding="utf-8")


# Figures.


def written(path: Path) -> str:
    """The text of an SVG, which must be XML."""
    return "\n".join(element.text or "" for element in ElementTree.parse(path).iter() if element.tag.endswith("text"))


def test_figures_show_names_as_text(folder: Path) -> None:
    """An odd number of dollars, TeX, a leading underscore; and nothing is as wide as 3,000 letters."""
    for name in ("leaderboard", "groups", "matrix"):
        path = folder / "out" / "figures" / f"{name}.svg"
        read = written(path)
        assert not acts(read.replace("\u200a", ""))
        for text in ("$$", "$\\frac{1}{$", "\\alpha_{x}^{2} %#&{}"):
            assert text in read, (name, text)
        width = float(ElementTree.parse(path).getroot().attrib["width"].removesuffix("pt"))
        assert width < 72 * 40


def test_users_own_panels_and_settings_do_not_make_formulas_of_names(hostile: Outputs, tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    three = hostile.select([HOSTILE["dollars"], HOSTILE["formula of TeX"], HOSTILE["underscore"]])
    figure, ax = plt.subplots()
    plot.groups(examine(Loaded(three)).groups, ax=ax)
    figure.savefig(tmp_path / "own.svg")
    plt.close(figure)
    figure, (ax,) = plot.panels(["$\\frac{$ and $$"])
    plot.leaderboard(leaderboard(three), ax=ax)
    plot.save(figure, tmp_path / "ours")
    assert "$\\frac{$ and $$" in written(tmp_path / "ours.svg")


def test_legends_have_what_begins_with_an_underscore(hostile: Outputs) -> None:
    pairs = compared(hostile.select([HOSTILE["dollars"], HOSTILE["underscore"]])).assign(test_set="_hidden")
    ax = plot.curve(pairs, by="test_set")
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [label("_hidden")]
