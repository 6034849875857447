from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from simstudy.cli.command import app
from tests.attacks.studies import toy


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def test_run_prints_what_a_study_found_and_list_and_verify_what_there_is(tmp_path: Path) -> None:
    study, out = toy(tmp_path / "toy", 0, 0.001), str(tmp_path / "out")
    code, said, err = run("run", str(study), "--out", out, "--jobs", "1")
    assert code == 0, err
    drawn = [f"{number:.3f}" for number in pd.read_csv(tmp_path / "out" / "drawn.csv")["drawn"]]
    assert said.split("All")[1].split()[1:-4] == drawn
    assert f"Figures and report: {out}" in said.replace("\n", "")
    code, said, _ = run("run", str(study), "--out", out, "--list")
    assert (code, said.startswith("2 of 2 known cells (pieces of work) are done.\ncells: 2 done; ")) == (0, True)
    assert run("verify", out)[0] == 0


def test_a_page_is_written_where_the_study_was_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(toy(tmp_path / "toy", 0, 0.001))
    assert run("run", ".", "--jobs", "1")[0] == 0
    code, said, err = run("page", ".")
    assert (code, err) == (0, "")
    assert "results/toy/index.html" in said.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quikstart"], "no study and no file is called 'quikstart' (did you mean 'quickstart'?)"),
        (["quickstart", "--jobs", "0"], "--jobs must be at least 1, or -1 for all cores, not 0"),
        (["quickstart", "--seed", "-3"], "quickstart: seed: input should be greater than or equal to 0, not -3"),
        (["pos_tagging", "--data-dir", "/nowhere"], ": there is no folder /nowhere; without --data-dir and"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    code, out, err = run("run", *arguments, "--out", str(tmp_path / "out"))
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err
    (line,) = [line for line in err.splitlines() if line.startswith("simstudy: ")]
    assert err.strip().endswith(line)


def test_bad_toml_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("title = 3\n[home]\nsize = 3")
    code, _, err = run("run", str(tmp_path))
    assert code == 2
    assert err.count("\n") == 1
    assert re.search(r"title: input should be a valid string, not 3; key 'question' is missing", err)


def test_unknown_kind_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('kind = "yeh"')
    code, _, err = run("run", str(tmp_path))
    assert code == 2
    assert err.count("\n") == 1
    assert "kind: it must be one of resampling, natural, simulation, program, not 'yeh'" in err


def test_help_is_quick_to_load() -> None:
    """The command's help needs no numpy."""
    code = "import sys; import simstudy.cli.command; assert 'numpy' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
