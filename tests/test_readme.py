"""What README promises: its code runs, its study is valid, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import load_study

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "experiments").glob("*/README.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)


def test_python_blocks_run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, names)
    assert "new" in capsys.readouterr().out
    assert isinstance(names["table"], pd.DataFrame)
    assert names["ax"].get_ylabel() == "confidence, 1 − p (two-sided)"  # type: ignore[attr-defined]
    plt.close("all")


def test_the_study_is_valid(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(blocks("toml")[0], encoding="utf-8")
    assert load_study(tmp_path).training.replicates == [10, 10]


def test_the_program_of_a_study_runs(tmp_path: Path) -> None:
    (program,) = [block for block in blocks("py") if "class Settings(Study)" in block]
    folder = tmp_path / "my-study"
    folder.mkdir()
    (folder / "study.py").write_text(program, encoding="utf-8")
    (folder / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\nsizes = [50, 100]\n')
    results = ss.run_study(folder, out=tmp_path / "out", n_jobs=1)
    assert results.tables["pairs"]["n_items"].tolist() == [50, 100]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert links
    missing = [link for link in links if not link.startswith("http") and not (page.parent / link).exists()]
    assert not missing
