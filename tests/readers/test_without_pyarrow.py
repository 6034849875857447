"""Comparisons of text files and of data frames need no pyarrow, and give the same results without it."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BLOCKED = 'import sys; sys.modules["pyarrow"] = None\n'
COMMAND = 'import runpy, sys; sys.argv[1:] = {}; runpy.run_module("simstudy", run_name="__main__", alter_sys=True)'
EXAMINED = 'import simstudy as ss; print(ss.examine("a.csv", "accuracy").text)'
FROM_FRAME = """
import pandas as pd, simstudy as ss
print(ss.compare(ss.Outputs.from_scores(pd.read_csv("a.csv", index_col="item"), "accuracy")).frame.T.to_string())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    answers = (np.random.default_rng(0).random((120, 2)) < [0.6, 0.75]).astype(int)
    table = pd.DataFrame(answers, pd.Index([f"q{k}" for k in range(120)], name="item"), ["old", "new"])
    table.to_csv(tmp_path / "a.csv")
    for name in table:
        text = table[name].rename("score").to_csv(sep="\t")
        (tmp_path / f"{name}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def run(folder: Path, code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


COMPARED = [
    COMMAND.format(["compare", *files, "--metric", "accuracy"]) for files in (["a.csv"], ["old.tsv.gz", "new.tsv.gz"])
]


@pytest.mark.parametrize("code", [*COMPARED, EXAMINED, FROM_FRAME])
def test_the_same_is_printed(folder: Path, code: str) -> None:
    assert run(folder, BLOCKED + code) == run(folder, code)


@pytest.mark.parametrize("out", ["folder", "page.html"])
def test_the_command_writes_its_report(folder: Path, out: str) -> None:
    run(folder, BLOCKED + COMMAND.format(["compare", "a.csv", "--metric", "accuracy", "--out", out]))
    assert (folder / out).exists()


STUDY = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
import simstudy as ss
from simstudy.studies import load_study, make_study
whole = load_study("quickstart").model_dump()
small = {"training": {"fractions": [0.2], "replicates": [3]}, "comparison": {"n_resamples": 1000}, "domains": None,
         "calibration": {"population": ["test"], "size": 100, "n_draws": 2, "n_resamples": 500}}
for _ in range(2):
    results = ss.run_study(make_study(whole | small, "here"), out="out", n_jobs=1)
print(len(results.comparisons))
"""


def test_the_main_study_needs_none(folder: Path) -> None:
    """Run twice: its cells and its whole are kept, and found again. Scikit-learn looks for the module itself."""
    assert run(folder, STUDY) == f"{12 * 11 // 2 * 4}\n"
    assert (folder / "out" / "comparisons.csv.gz").exists()
