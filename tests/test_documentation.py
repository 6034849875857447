"""What README and docs/ promise: code runs, outputs are those of today, studies are valid, links lead somewhere."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import load_study, shipped_studies
from tests.documentation import BUILT, DOCS, ROOT, anchors, blocks, examples_in, is_shown_rightly, printed, prose, shown
from tests.evidence import filled

README = ROOT / "README.md"
PAGES = [*DOCS, *sorted((ROOT / "experiments").glob("*/README.md")), *sorted((ROOT / "results").glob("*/README.md"))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def those_with(language: str) -> list[Path]:
    return [page for page in DOCS if blocks(page, language)]


@pytest.fixture(autouse=True)
def in_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undrawn: None) -> None:
    monkeypatch.chdir(examples_in(tmp_path))


FEWER = {
    "range(100)": "range(9)",
    "[8, 8]": "[3, 3]",
    "[4, 4]": "[3, 3]",
    "[5]": "[3]",
    "sorted(topics)": "sorted(topics)[::4]",
}


@cache
def said_in_python(page: Path) -> tuple[str, dict[str, object]]:
    """What the Python blocks of a page print, one after the other, and their names."""
    mpl.use("Agg")
    names: dict[str, object] = {}
    said = StringIO()
    with redirect_stdout(said):
        for block in blocks(page, "python"):
            # Fewer sets, replicates and texts than a page shows: nothing is said of what comes out.
            for shown, fewer in FEWER.items():
                block = block.replace(shown, fewer)
            exec(block, names)
    plt.close("all")
    return said.getvalue(), names


# Commands write nothing that others read.
said_by = cache(printed)


@pytest.mark.parametrize("page", those_with("python"), ids=name_of)
def test_python_blocks_run(page: Path) -> None:
    said, names = said_in_python(page)
    assert said
    if page.name == "python.md":
        assert isinstance(names["table"], pd.DataFrame)
        assert names["ax"].get_ylabel() == "confidence, 1 − p (two-sided)"  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", those_with("console"), ids=name_of)
def test_shown_outputs_are_what_the_commands_print(page: Path) -> None:
    for block in blocks(page, "console"):
        for command, lines in shown(block):
            assert is_shown_rightly(lines, output := said_by(command)), f"$ {command}\n{output}"


def test_readme_says_the_same_on_the_command_line_and_in_python() -> None:
    commands = [command for block in blocks(README, "console") for command, _ in shown(block)]
    for command in commands[1:4]:
        first, *_ = said_by(command).splitlines()
        assert first in said_in_python(README)[0], command


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_tables_of_results_are_those_of_the_results(page: Path) -> None:
    text = page.read_text("utf-8")
    assert filled(text) == text, "python -m tests.documentation --write"


def test_outputs_that_are_not_printed_are_seen() -> None:
    output = "answer\na\nb\nc\n"
    for right in (["answer", "…"], ["…", "b", "…"], ["…", "b", "c"], ["answer", "a", "…", "c"], output.split()):
        assert is_shown_rightly(right, output), right
    for wrong in (["answer"], ["a", "…"], ["…", "b"], ["…", "c", "…", "b", "…"], ["answer", "b", "…"], ["…", "swer"]):
        assert not is_shown_rightly(wrong, output), wrong


def test_every_test_has_a_line_that_says_when_to_use_it() -> None:
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "choose" / "test.md").read_text("utf-8"), flags=re.MULTILINE)
    told = sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))
    assert told == sorted(ss.TESTS), "docs/choose/test.md has a line for each test"


def test_every_shipped_study_has_a_line_in_the_table_of_studies() -> None:
    page = (ROOT / "docs" / "studies.md").read_text("utf-8")
    told = re.findall(r"^\| \[(\w+)\]\(\.\./experiments/(\w+)/README\.md\)", page, flags=re.MULTILINE)
    assert sorted(name for name, _ in told) == sorted(shipped_studies())
    assert all(name == folder for name, folder in told)


def test_readme_fits_on_a_page() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= 900


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_sentences_are_plain(page: Path) -> None:
    """One thought: at most one bracket and three numbers; none begins with a word that asks, unless it asks."""
    for sentence in prose(page):
        assert len(re.findall(r"\(", sentence)) <= 1, sentence
        assert len(re.findall(r"(?<![\w.^-])\d[\d,.]*(?![\w-])", sentence)) <= 3, sentence
        assert sentence.endswith("?") or not re.match(r"[*_]*(Of|What|Where)\b", sentence), sentence


def test_the_study_is_valid(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(blocks(ROOT / "docs" / "studies.md", "toml")[0], encoding="utf-8")
    assert load_study(tmp_path).training.replicates == [10, 10]


def test_the_program_of_a_study_runs(tmp_path: Path) -> None:
    _, program, _ = blocks(ROOT / "docs" / "studies.md", "py")
    folder = tmp_path / "my-study"
    folder.mkdir()
    (folder / "study.py").write_text(program, encoding="utf-8")
    (folder / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\nsizes = [50, 100]\n')
    results = ss.run_study(folder, out=tmp_path / "out", n_jobs=1)
    assert results.tables["pairs"]["n_items"].tolist() == [50, 100]


def test_the_simulation_of_a_test_of_ones_own_runs(tmp_path: Path) -> None:
    page = ROOT / "docs" / "studies.md"
    keys, program = blocks(page, "toml")[1], blocks(page, "py")[0]
    assert len(f"{keys}{program}".splitlines()) < 30
    folder = tmp_path / "my-simulation"
    folder.mkdir()
    (folder / "study.toml").write_text(keys, encoding="utf-8")
    (folder / "study.py").write_text(program, encoding="utf-8")
    rates = ss.run_study(folder, out=tmp_path / "out", n_jobs=1).tables["rates"]
    verdicts = rates.groupby(["method", "pair"])["verdict"].unique().to_dict()
    assert {*verdicts["t_paired", "alike"], *verdicts["t_paired", "one_skewed"]} <= {"inside", "unclear"}
    assert (*verdicts["yuen", "alike"], *verdicts["yuen", "one_skewed"]) == ("below", "above")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if target.resolve().relative_to(ROOT).parts[:2] in [("docs", name) for name in BUILT]:
            continue  # the build of the site checks these
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    for name in re.findall(r"[\w/]*test_\w+\.py", page.read_text(encoding="utf-8")):
        assert (ROOT / "tests" / name.removeprefix("tests/")).exists(), name


@pytest.mark.parametrize("page", [page for page in DOCS if page.parent.name == "start"], ids=name_of)
def test_what_a_page_quotes_is_what_its_commands_print(page: Path) -> None:
    """Sentences for a paper (quotations) have the numbers of the outputs above them, rounded."""
    quoted = " ".join(re.findall(r"^> (.*)$", page.read_text("utf-8"), flags=re.MULTILINE))
    block = "".join(blocks(page, "console"))
    printed_numbers = [float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", block)]
    asked = {"95", "0.05", "0.8", "1"}
    for number in set(re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w-])", quoted)) - asked:
        value, digits = float(number.rstrip(",").replace(",", "")), len(number.partition(".")[2])
        assert any(abs(value - one) <= 0.5001 * 10.0**-digits or value == 100 * one for one in printed_numbers), number
