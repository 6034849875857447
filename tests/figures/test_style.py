"""Files that are the same in every run, in a style that is left at the door."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd

from simstudy import figures


def test_saved_files_are_the_same_in_every_run(points: pd.DataFrame, curves: pd.DataFrame, tmp_path: Path) -> None:
    for run in ("a", "b"):
        figure, axes = figures.panels(["one", "two"])
        for ax in axes:
            figures.curve(points, curves, ax=ax)
        figures.save(figure, tmp_path / run / "figure")
    for name in ("figure.png", "figure.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "same family" in (tmp_path / "a" / "figure.svg").read_text(), "SVG text should stay text"


def test_drawing_leaves_the_callers_style_alone(points: pd.DataFrame) -> None:
    before = dict(mpl.rcParams)
    figures.curve(points)
    assert dict(mpl.rcParams) == before
