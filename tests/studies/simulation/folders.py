"""Folders of simulation studies that tests write and run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import simstudy as ss

HEAD = 'kind = "simulation"\ntitle = "T"\nquestion = "Q?"\n'


# Two systems of normal scores, and tests: with an interval, with failures, and with a line in a file for each call.
PROGRAM = """
import numpy as np
from scipy import stats
from simstudy.studies import by_block

def generate(condition, rng):
    return rng.normal(size=(2, condition["n_units"])) + [[condition["gain"]], [0]]

truth = lambda condition: condition["gain"]

def t_test(replicate):
    result = stats.ttest_rel(*replicate.scores)
    low, high = result.confidence_interval(0.95)
    return {"p_value": result.pvalue, "estimate": (low + high) / 2, "low": low, "high": high}

def picky(replicate):
    if replicate.data[0, 0] < replicate.condition["limit"]:
        raise ValueError("the first score is\\ntoo low")
    return {"is_high": replicate.data[0, 0] > 2, "first": replicate.data[0, 0]}

@by_block
def logged(block):
    with open(block.condition["log"], "a") as file:
        file.write("call\\n")
    p_values = [stats.ttest_rel(*scores).pvalue for scores in block.data]
    return {"p_value": np.array(p_values)}
"""


GOOD = """
tests = ["t_paired"]
replicates = { most = 20, block = 10 }
fixed.model = "Scores"
fixed.margins = [
    { kind = "Gamma", average = 1, shape = 1 },
    { kind = "StudentT", average = 1, scale = 0.5 },
]
factors.n_units = [5, 9]
"""


def folder_of(tmp_path: Path, keys: str, program: str = "") -> Path:
    folder = tmp_path / "mine"
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(HEAD + keys, encoding="utf-8")
    if program:
        (folder / "study.py").write_text(program, encoding="utf-8")
    return folder


def tables_of(folder: Path, n_jobs: int = 1) -> dict[str, pd.DataFrame]:
    return ss.run_study(folder, out=folder.parent / "out", n_jobs=n_jobs).tables
