"""Written results: whether they are of today's program, and whether their pages are as today's code writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import simstudy as ss
from simstudy.pages.report import page_text
from simstudy.running.folders import MANIFEST, verify
from simstudy.running.keys import RESULTS_VERSION
from simstudy.studies import ShippedTables, load_study, written
from simstudy.studies.written import page_of, rewrite_page, why_not_fresh
from tests.cli.test_run_options import run

RESULTS = Path(__file__).parents[2] / "results"

PROGRAM = '''"""A study of one number."""

import pandas as pd

from simstudy.studies import Findings, Study


class Settings(Study):
    factor: int = 3


def run(study, context):
    """Multiply."""
    return Findings(tables={"numbers": pd.DataFrame({"n": [2 * study.factor]})})
'''


def test_an_edit_of_code_or_settings_is_told_by_name_and_one_of_words_is_not(tmp_path: Path) -> None:
    home, out = tmp_path / "mine", tmp_path / "out"
    home.mkdir()
    definition, program = home / "study.toml", home / "study.py"
    definition.write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\nfactor = 4\n')
    program.write_text(PROGRAM)
    (home / "helper.py").touch()
    ss.run_study(home, out=out)
    assert why_not_fresh(out, home) == ([], "")
    (home / "helper.py").unlink()
    assert why_not_fresh(out, home) == (["the study's code has changed: helper.py"], "")
    (home / "helper.py").touch()
    program.write_text(PROGRAM.replace("2 *", "3 *"))
    assert why_not_fresh(out, home) == (["the study's code has changed: study.py"], "")
    definition.write_text(definition.read_text().replace("4", "5"))
    assert why_not_fresh(out, home)[0] == ["settings have changed: factor", "the study's code has changed: study.py"]
    manifest = json.loads((out / MANIFEST).read_text())
    here, manifest["versions"]["numpy"] = manifest["versions"]["numpy"], "1"
    (out / MANIFEST).write_text(json.dumps({**manifest, "results_version": 0}))
    changed, others = why_not_fresh(out, home)
    numbers = f"RESULTS_VERSION was 0 and is {RESULTS_VERSION}: numbers may have changed"
    assert changed == ["settings have changed: factor", "the study's code has changed: study.py", numbers]
    assert others == f"numpy {here}, not 1"
    with pytest.raises(ValueError, match=f"^{out}: no study and no file is called 'mine'"):
        why_not_fresh(out)
    with pytest.raises(ValueError, match=f"^{home} holds no results of a study$"):
        why_not_fresh(home)


def test_the_command_says_that_old_code_made_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = "the study's code has changed: study.py"
    folder = str(RESULTS / "chinchor_1992")
    monkeypatch.setattr(written, "why_not_fresh", lambda _: ([], ""))
    code, out, _ = run("verify", "--fresh", folder)
    assert code == 0
    assert out.endswith(
        "all files match the manifest; the settings, the study's own files and RESULTS_VERSION are those of the run\n"
    )
    monkeypatch.setattr(written, "why_not_fresh", lambda _: ([changed], "numpy 2, not 1"))
    code, out, _ = run("verify", "--fresh", folder)
    assert code == 1
    assert out.startswith("Other versions of libraries are installed than made the results: numpy 2, not 1\n")
    assert out.endswith(f"{changed}\n")


SHOWING = PROGRAM.replace("import Findings, Study", "import Findings, Shown, Study\nfrom .page import sections")
SHOWING += """

def show(study, tables):
    return Shown(sections=sections(tables["numbers"]))
"""
PAGE = """from simstudy.pages.sections import Section

def sections(table):
    return [Section("Numbers", f"The first is {table['n'][0]}.")]
"""


def test_an_edit_of_the_page_alone_is_written_without_a_run(tmp_path: Path) -> None:
    home, out = tmp_path / "mine", tmp_path / "out"
    home.mkdir()
    (home / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\n')
    (home / "study.py").write_text(SHOWING)
    (home / "page.py").write_text(PAGE)
    ss.run_study(home, out=out)

    def files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}

    before = files()
    assert b"The first is 6." in before["README.md"]
    assert rewrite_page(home, out=out) == (out, {})
    assert files() == before
    (home / "page.py").write_text(PAGE.replace("The first is", "It begins with"))
    (home / "study.toml").write_text('kind = "program"\ntitle = "Other"\nquestion = "Who?"\n')
    (out / "cells").mkdir(exist_ok=True)
    (out / "cells" / "damaged.npz").write_bytes(b"damaged")
    rewrite_page(home, out=out)
    page = (out / "README.md").read_text()
    assert page.startswith("# Other\n\nWho?")
    (out / "cells" / "damaged.npz").unlink()
    assert "It begins with 6." in page
    assert why_not_fresh(out, home) == ([], "")
    assert verify(out) == []
    # What would be computed today is not looked at.
    (home / "study.py").write_text(SHOWING.replace("2 *", "3 *"))
    rewrite_page(home, out=out)
    assert (out / "README.md").read_text() == page
    with pytest.raises(ValueError, match=r"was made with other settings \(seed\): run the study$"):
        rewrite_page(home, out=out, seed=9)
    (out / "numbers.csv").write_text("n\n7\n")
    with pytest.raises(ValueError, match=r"as a run of the study left it: numbers.csv has been changed$"):
        rewrite_page(home, out=out)


@pytest.mark.parametrize("name", sorted(path.name for path in RESULTS.iterdir() if path.is_dir()))
def test_shipped_pages_are_as_todays_code_writes_them(name: str) -> None:
    """An edited sentence needs no run, but ``simstudy page NAME``."""
    manifest = json.loads((RESULTS / name / MANIFEST).read_text(encoding="utf-8"))
    page, _ = page_of(load_study(name), ShippedTables.of(RESULTS / name), manifest)
    assert (RESULTS / name / "README.md").read_text(encoding="utf-8") == page_text(page)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in RESULTS.iterdir() if path.is_dir()))
def test_shipped_results_are_of_todays_program(name: str) -> None:
    assert why_not_fresh(RESULTS / name)[0] == []
