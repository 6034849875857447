"""Whether shipped results are of today's program: an edit of code or settings is told, one of words is not."""

from __future__ import annotations

from pathlib import Path

import pytest

import simstudy as ss
from simstudy.studies.freshness import why_not_fresh
from tests.cli.test_run_options import run

RESULTS = Path(__file__).parents[2] / "results"

PROGRAM = '''"""A study of one number."""

import pandas as pd

from simstudy.studies import Findings, Study


class Settings(Study):
    factor: int = 3


def run(study, context):
    """Multiply."""
    return Findings(tables={"numbers": pd.DataFrame({"n": [2 * study.factor]})}, sections=[])
'''


def test_an_edit_of_code_or_settings_is_told_by_name_and_one_of_words_is_not(tmp_path: Path) -> None:
    home, out = tmp_path / "mine", tmp_path / "out"
    home.mkdir()
    definition, program = home / "study.toml", home / "study.py"
    definition.write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\nfactor = 4\n')
    program.write_text(PROGRAM)
    ss.run_study(home, out=out)
    assert why_not_fresh(out, home) == ([], "")
    program.write_text(PROGRAM.replace("Multiply.", "Take it twice."))
    assert why_not_fresh(out, home) == ([], "")
    program.write_text(PROGRAM.replace("2 *", "3 *"))
    assert why_not_fresh(out, home) == (["code has changed: <study>"], "")
    definition.write_text(definition.read_text().replace("4", "5"))
    assert why_not_fresh(out, home)[0] == ["settings have changed: factor", "code has changed: <study>"]
    with pytest.raises(ValueError, match=f"^{out}: no study and no file is called 'mine'"):
        why_not_fresh(out)
    with pytest.raises(ValueError, match=f"^{home} holds no results of a study$"):
        why_not_fresh(home)


def test_the_command_says_that_old_code_made_results(tmp_path: Path) -> None:
    ss.run_study("chinchor_1992", out=tmp_path / "out")
    code, out, _ = run("verify", "--fresh", str(tmp_path / "out"))
    assert code == 0
    assert out.endswith("all files match the manifest, and today's settings and code made the tables\n")
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"simstudy.engines": "', '"simstudy.engines": "0'))
    code, out, _ = run("verify", "--fresh", str(tmp_path / "out"))
    assert code == 1
    assert out.endswith("code has changed: simstudy.engines\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in RESULTS.iterdir() if path.is_dir()))
def test_shipped_results_are_of_todays_program(name: str) -> None:
    assert why_not_fresh(RESULTS / name)[0] == []
