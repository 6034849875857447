"""Files that are the same in every run, in a style that is left at the door."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from simstudy import plot
from simstudy.plot.style import styled


def test_saved_files_are_the_same_in_every_run(points: pd.DataFrame, curves: pd.DataFrame, tmp_path: Path) -> None:
    for run in ("a", "b"):
        figure, axes = plot.panels(["one", "two"])
        for ax in axes:
            plot.curve(points, curves, ax=ax)
        plot.save(figure, tmp_path / run / "figure")
    for name in ("figure.png", "figure.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "same family" in (tmp_path / "a" / "figure.svg").read_text(), "SVG text should stay text"


def test_drawing_leaves_the_callers_style_alone(points: pd.DataFrame) -> None:
    before = dict(mpl.rcParams)
    plot.curve(points)
    assert dict(mpl.rcParams) == before


def test_a_function_of_ones_own_draws_in_the_house_style() -> None:
    _, (ax,) = plot.panels(["mine"])
    line, *_ = plot.styled(lambda gains, ax: ax.plot(gains))([1, 2], ax=ax)
    own, *_ = ax.plot([1, 2])
    assert (line.get_solid_capstyle(), own.get_solid_capstyle()) == ("round", "projecting")
    with pytest.raises(ValueError, match="^draw must be a function, not 3$"):
        plot.styled(3)  # type: ignore[type-var]


@pytest.mark.parametrize("facecolor", ["white", "none"])
def test_pictures_show_what_was_drawn_and_have_a_palette_where_nothing_shines_through(
    facecolor: str, tmp_path: Path
) -> None:
    figure, ax = plt.subplots(figsize=(2, 1))
    ax.plot([0, 1], alpha=0.3)
    figure.set_facecolor(facecolor)
    ax.set_facecolor(facecolor)
    png, _ = plot.save(figure, tmp_path / "picture")
    with Image.open(png) as picture:
        assert picture.mode == ("P" if facecolor == "white" else "RGBA")
        saved = np.asarray(picture.convert("RGBA"))
    figure.set_dpi(saved.shape[0])
    canvas = FigureCanvasAgg(figure)
    styled(canvas.draw)()
    np.testing.assert_array_equal(saved, np.asarray(canvas.buffer_rgba()))
