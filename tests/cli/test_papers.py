"""What the command prints and writes for papers, and what it refuses before it compares."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from tests.cli.command import compare
from tests.papers.tex import check_structure

FOUR = ("four.csv", "--metric", "accuracy", "--columns", "domain=genre,cluster=doc")


def test_latex_and_markdown_are_what_the_examination_gives(four: str) -> None:
    found = ss.examine(four, "accuracy", columns={"domain": "genre", "cluster": "doc"})
    code, latex, err = compare(*FOUR, "--latex")
    assert (code, err) == (0, "")
    body = latex.split("\n", 2)
    assert body[0].startswith(f"% simstudy {ss.__version__}: simstudy ")
    assert body[1:] == (found.to_latex() + "\n").split("\n", 2)[1:]
    check_structure(latex)
    code, text, err = compare(*FOUR, "--markdown", "--baseline", "c")
    assert (code, text, err) == (0, found.to_markdown(baseline="c") + "\n", "")


def test_verbose_lists_every_pair(tmp_path: Path) -> None:
    outputs = ss.truth.correlated_accuracies([0.5 + k / 30 for k in range(11)], 60)
    table = outputs.statistics[..., 0].T
    Path("many.csv").write_text("item," + ",".join(outputs.names) + "\n" + "".join(
        f"{k}," + ",".join(str(int(x)) for x in row) + "\n" for k, row in enumerate(table)))  # fmt: skip
    few, every = (compare("many.csv", "--metric", "accuracy", "--markdown", *more)[1] for more in ((), ("--verbose",)))
    assert "of 10 neighbours by score among 55 pairs" in few
    assert every.count("\n| ") > few.count("\n| ") + 40


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--latex", "--json"), "--latex must not be given with --json"),
        (("--markdown", "--latex"), "--markdown must not be given with --latex"),
        (("--figures", "pdf"), "--figures needs --out with a folder"),
        (("--figures", "pdf", "--out", "x.html"), "--figures needs --out with a folder"),
        (("--figures", "bmp", "--out", "x"), "--figures must be one of pdf, svg, png, not 'bmp'"),
        (("--baseline", "a"), "--baseline needs --latex, --markdown or a folder"),
        (("--baseline", "e", "--latex"), "baseline must be a system, not 'e': one of a, b, c, d"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_compared(
    four: str, options: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simstudy.cli.compare._examine", None)
    code, out, err = compare(*FOUR, *options)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_folder_has_files_for_a_paper_and_the_next_one_removes_them(
    four: str, request: pytest.FixtureRequest
) -> None:
    """Figures are as wide as a column, with embedded fonts, and have no titles."""
    assert compare(*FOUR, "--out", "report", "--figures", "pdf", "--baseline", "d")[0] == 0
    paper = {path.name for path in Path("report/paper").iterdir()}
    drawn = {f"{name}.pdf" for name in ("groups", "leaderboard", "gain_confidence", "gains", "matrix")}
    assert paper == {"leaderboard.tex", "pairs.tex", "sentences.tex", "references.bib", "paper.md"} | drawn
    for path in Path("report/paper").glob("*.tex"):
        check_structure(path.read_text(encoding="utf-8"))
    assert "the 3 pairs with d" in Path("report/paper/leaderboard.tex").read_text(encoding="utf-8")
    keys = set(re.findall(r"\\citep\{([^}]*)\}", Path("report/paper/sentences.tex").read_text(encoding="utf-8")))
    entries = re.findall(
        r"^@\w+\{(\w+),", Path("report/paper/references.bib").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {key for several in keys for key in several.split(",")} <= {*entries}
    for name in drawn:
        content = Path("report/paper", name).read_bytes()
        (box,) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
        assert float(box[0]) == pytest.approx(84 / 25.4 * 72, abs=2)
        assert float(box[1]) <= 9 * 72
        assert b"/FontFile2" in content
        assert b"/Type3" not in content
        assert b"CreationDate" not in content
    if shutil.which("pdffonts"):
        fonts = subprocess.run(["pdffonts", "report/paper/leaderboard.pdf"], capture_output=True, text=True, check=True)
        assert all(" yes " in line and "TrueType" in line for line in fonts.stdout.splitlines()[2:])
    assert CliRunner().invoke(app, ["verify", "report"]).exit_code == 0
    request.getfixturevalue("undrawn")
    assert compare(*FOUR, "--out", "report")[0] == 0
    assert {path.name for path in Path("report/paper").iterdir()} == paper - drawn
    assert "Not among the figures for a paper" not in Path("report/README.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_several_metrics_have_a_folder_for_a_paper_each_and_one_for_all(four: str) -> None:
    line = (*FOUR, "--unit", "item", "--domain", "news", "--domain", "web")
    code, out, _ = compare(*line, "--out", "report", "--markdown")
    assert code == 0
    assert out.startswith("| System | news | 95 % CI | web | 95 % CI |")
    assert {path.name for path in Path("report/paper").iterdir()} == {
        "scores.tex", "sentences.tex", "references.bib", "paper.md",
    }  # fmt: skip
    assert {path.parts[1] for path in Path("report").glob("*/paper/leaderboard.tex")} == {
        "news_accuracy",
        "web_accuracy",
    }
    assert CliRunner().invoke(app, ["verify", "report"]).exit_code == 0


def test_a_plan_prints_and_writes_for_a_paper() -> None:
    line = ["plan", "--metric", "accuracy", "--score", "80", "--gain", "2", "--agreement", "0.9"]
    latex = CliRunner().invoke(app, [*line, "--latex", "--out", "plan", "--figures", "svg"])
    assert latex.exit_code == 0, latex.output
    check_structure(latex.stdout)
    paper = {path.name for path in Path("plan/paper").iterdir()}
    assert paper == {"sizes.tex", "sentences.tex", "references.bib", "paper.md", "plan.svg"}
    assert "<text" not in Path("plan/paper/plan.svg").read_text(encoding="utf-8"), "its letters are drawn"
    assert CliRunner().invoke(app, [*line, "--json", "--markdown"]).exit_code == 2
