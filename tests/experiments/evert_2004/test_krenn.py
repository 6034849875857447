from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.files.datasets import DataError
from simstudy.rankings.candidates import Candidates
from simstudy.studies import RunContext, StudyError
from tests.experiments.programs import program, small

EVERT = program("evert_2004")


def krenn_candidates(folder: Path, seed: int = 0) -> Candidates:
    candidates: Candidates = EVERT.krenn_candidates(folder / "colloc_krenn" / "KrennPPV.rda", seed)
    return candidates


COLUMNS = {
    "log_likelihood": "log.like", "chi_squared": "chisq", "chi_squared_yates": "chisq.corr", "t_score": "t.score",
    "z_score": "z.score", "mi": "MI", "dice": "Dice", "fisher": "Fisher", "frequency": "freq",
}  # fmt: skip


def test_the_candidates_are_those_of_the_paper(shared_data: Path) -> None:
    """Section 1: 5,102 pairs with f >= 30, baseline precision 11.09 %; the table beside the file was made by R."""
    candidates = krenn_candidates(shared_data, seed=3)
    assert (candidates.n_candidates, int(candidates.true.sum()), candidates.seed) == (5102, 566, 3)
    assert f"{candidates.baseline:.2%}" == "11.09%"
    assert candidates.names == list(COLUMNS)
    table = pd.read_csv(shared_data / "colloc_krenn" / "KrennPPV.tsv", sep="\t", keep_default_na=False)
    assert candidates.ids == (table["PP"] + " " + table["verb"]).tolist()
    assert candidates.true.tolist() == (table["is.colloc"] == 1).tolist()
    for name, column in COLUMNS.items():
        np.testing.assert_allclose(candidates.scores[candidates.names.index(name)], table[column], rtol=1e-12)
    assert candidates.scores[candidates.names.index("frequency")].min() == 30


def test_higher_is_better_of_every_measure(shared_data: Path) -> None:
    """Section 1: both G2 and t are far superior to frequency; no measure's first 500 are below chance."""
    candidates = krenn_candidates(shared_data)
    precision = {name: candidates.true[candidates.n_best(name, 500)].mean() for name in candidates.names}
    assert min(precision.values()) > candidates.baseline
    assert min(precision["log_likelihood"], precision["t_score"]) > precision["frequency"] + 0.05


def test_without_pyreadr_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadr", None)
    with pytest.raises(StudyError, match=r"needs pyreadr to read R's data: pip install 'simstudy\[r\]'$"):
        krenn_candidates(Path("/nowhere"))


def test_without_the_file_its_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"colloc_krenn/KrennPPV.rda"):
        EVERT.run(small("evert_2004"), RunContext(tmp_path / "cells", 1, tmp_path))
