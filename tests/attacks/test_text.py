"""Names from files are text in a terminal, a figure and an error; test_pages_and_tables.py has the other doors."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simstudy import plot
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.comparisons.verdict import verdict
from simstudy.examination.asking import examine
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from simstudy.text.plain_text import json_text, label, line, printable, shown
from tests.attacks.names import HOSTILE, TEXTS, acts
from tests.cli.command import compare as run_compare
from tests.oracles import compared

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


def test_the_terminal_gets_no_control_characters(hostile_folder: Path) -> None:
    printed = (hostile_folder / "printed").read_text(encoding="utf-8")
    assert not acts(printed)
    for name in HOSTILE.values():
        assert "\r" in name or shown(name) in printed, name


def test_json_has_the_names_and_no_control_characters(hostile_folder: Path) -> None:
    text = (hostile_folder / "json").read_text(encoding="utf-8")
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


# Figures.


def written(path: Path) -> str:
    """The text of an SVG, which must be XML."""
    return "\n".join(element.text or "" for element in ElementTree.parse(path).iter() if element.tag.endswith("text"))


def test_figures_show_names_as_text(hostile_folder: Path) -> None:
    """An odd number of dollars, TeX, a leading underscore; and nothing is as wide as 3,000 letters."""
    for name in ("leaderboard", "groups", "matrix"):
        path = hostile_folder / "out" / "figures" / f"{name}.svg"
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
