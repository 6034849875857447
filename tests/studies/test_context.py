"""What a part of a study lists, and what it says of the cells that are done."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from simstudy.running.cells import Cell
from simstudy.running.runner import CellsFailed
from simstudy.studies.context import RunContext, Unfinished


def root(x: int) -> float:
    if x < 0:
        raise ValueError("no root")
    return float(x**0.5)


CELLS = [Cell(f"root of {x}", {"x": x}, (x,)) for x in (4, -1, 9)]


def test_cells_that_failed_are_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are listed, not computed, and not counted as done."""
    with pytest.raises(CellsFailed, match="root of -1"):
        RunContext(tmp_path, 1).run("roots", root, CELLS)
    listed: list[pd.DataFrame] = []
    with pytest.raises(Unfinished):
        RunContext(tmp_path, 1, listed=listed).run("roots", root, CELLS)
    assert listed[0]["state"].tolist() == ["done", "failed", "done"]
    capsys.readouterr()
    with pytest.raises(CellsFailed):
        RunContext(tmp_path, 1).run("roots", root, CELLS)
    assert "roots: 2 of 3 cells are done" in capsys.readouterr().err


def test_what_is_done_is_listed_and_returned(tmp_path: Path) -> None:
    done = [CELLS[0], CELLS[2]]
    assert RunContext(tmp_path, 1).run("roots", root, done) == [2.0, 3.0]
    listed: list[pd.DataFrame] = []
    assert RunContext(tmp_path, 1, listed=listed).run("roots", root, done) == [2.0, 3.0]
    assert listed[0]["state"].tolist() == ["done", "done"]
