"""Files that are the same in every run, in a style that is left at the door; a smaller SVG is the same picture."""

from __future__ import annotations

import re
from collections import defaultdict
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from PIL import Image

from simstudy import plot
from simstudy.plot.style import styled
from simstudy.plot.svg import smaller
from tests.plot.tables import CURVES, POINTS


def test_saved_files_are_the_same_in_every_run(tmp_path: Path) -> None:
    for run in ("a", "b"):
        figure, axes = plot.panels(["one", "two"])
        for ax in axes:
            plot.curve(POINTS, CURVES, ax=ax)
        plot.save(figure, tmp_path / run / "figure")
    for name in ("figure.png", "figure.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "same family" in (tmp_path / "a" / "figure.svg").read_text(), "SVG text should stay text"


@pytest.mark.parametrize(
    ("shared", "per_row", "same"), [(None, 2, True), (None, None, False), (False, 2, False), (True, None, True)]
)
def test_panels_stand_in_rows_and_share_their_axes_or_do_not(
    shared: bool | None, per_row: int | None, same: bool
) -> None:
    figure, axes = plot.panels(["a", "b", "c"], per_row=per_row, shared=shared, width=2, height=1)
    axes[0].set_xlim(0, 7)
    assert (axes[2].get_xlim() == (0, 7)) is same
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["a", "b", "c"], "no empty panel"
    assert figure.get_size_inches().tolist() == ([4, 2] if per_row else [6, 1])


def test_rows_of_an_uneven_grid_are_as_far_apart_as_those_of_an_even_one() -> None:
    """The names below the second panel stand in the empty place below it."""
    between = []
    for n in (3, 4):
        figure, axes = plot.panels([str(k) for k in range(n)], per_row=2, shared=True, width=3, height=2)
        for ax in axes:
            ax.set_xticks([0, 1], ["the name of a bin"] * 2, rotation=90)
        axes[1].set_xlim(0, 1)
        axes[1].tick_params(axis="x", labelbottom=n == 3)
        figure.draw_without_rendering()
        between.append(axes[0].get_position().y0 - axes[2].get_position().y1)
        last = axes[1].xaxis.get_tightbbox()
        assert last is None or last.x1 <= figure.bbox.x1, "no name is cut at the right"
        plt.close(figure)
    assert between[0] == pytest.approx(between[1], abs=0.01)


@pytest.mark.parametrize("side", [False, True])
def test_a_shared_legend_has_each_name_once_with_its_first_look(side: bool) -> None:
    figure, axes = plot.panels(["one", "two"])
    for ax, names in zip(axes, ("ab", "bc"), strict=True):
        for name in names:
            ax.plot([0, 1], color="red" if ax is axes[0] else "blue", label=name)
        ax.legend()
    plot.share_legend(figure, axes, side=side)
    (shared,) = figure.legends
    looks = {
        text.get_text(): line.get_color() for text, line in zip(shared.get_texts(), shared.get_lines(), strict=True)
    }
    assert looks == {"a": "red", "b": "red", "c": "blue"}
    assert [ax.get_legend() for ax in axes] == [None, None]
    figure.canvas.draw()
    box = shared.get_window_extent()
    assert box.y1 < axes[0].get_window_extent().y0 or (side and box.x0 > axes[1].get_window_extent().x1)


def test_a_single_panel_may_have_its_legend_aside() -> None:
    figure = plot.single(plot.curve, POINTS, title="One", width=6, legend_aside=True, by="n_items")
    assert (figure.axes[0].get_title(loc="left"), figure.axes[0].get_legend()) == ("One", None)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["100 items", "400 items"]
    assert figure.get_size_inches().tolist() == [6, 3.4]


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


Drawn = dict[tuple[str, ...], list[float]]


@styled
def svg_of(figure: Figure) -> str:
    written = StringIO()
    FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})
    plt.close(figure)
    return written.getvalue()


def picture(svg: str) -> tuple[list[str], Drawn]:
    """The texts, and the places that are drawn in each style (with its clip path and marker), in order."""
    root = ElementTree.fromstring(svg)
    rules = dict(re.findall(r"\.(\w+)\{([^}]*)\}", svg))
    texts, places = [], defaultdict(list)
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        given = element.attrib
        style = given.get("style", rules.get(given.get("class", ""), ""))
        if tag == "text":
            # To turn by nothing is not to turn.
            turned = re.sub(r"rotate\(-?0 .*", "", given.get("transform", ""))
            texts.append(f"{element.text} {turned} {style}")
        others = [value for name, value in given.items() if name in ("clip-path", "{http://www.w3.org/1999/xlink}href")]
        key = (tag, style, *others)
        for name in ("d", "x", "y", "width", "height"):
            places[key] += [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", given.get(name, ""))]
    return texts, {key: numbers for key, numbers in places.items() if numbers}


def test_a_smaller_file_is_the_same_picture() -> None:
    figure, axes = plot.panels(["one", "two"])
    for ax in axes:
        plot.curve(POINTS, CURVES, ax=ax)
        ax.errorbar([0.1, 0.2, 0.35], [0.9, 0.95, 0.99], [0.01, 0.02, 0.003], fmt="o-")
        ax.text(0, 0, ' d="0.123456" style="none" 1.23456789')
        # matplotlib writes an empty group for a line without points.
        ax.plot([], [])
    was = svg_of(figure)
    now = smaller(was)
    assert len(now) < 0.65 * len(was)
    (texts, places), (same_texts, same_places) = picture(was), picture(now)
    assert any('d="0.123456" style="none" 1.23456789' in text for text in texts)
    assert same_texts == texts
    assert same_places.keys() == places.keys()
    for key, numbers in places.items():
        np.testing.assert_allclose(same_places[key], numbers, rtol=0, atol=0.0051, err_msg=str(key))


@pytest.mark.parametrize(("style", "paths"), [({"alpha": 0.5}, 2), ({}, 1)])
def test_lines_of_one_style_are_one_path_unless_they_shine_through(style: dict[str, float], paths: int) -> None:
    figure, ax = plt.subplots()
    ax.vlines([0.0, 1.0], 0, 1, color="#123456", **style)
    svg = svg_of(figure)
    assert svg.count("stroke: #123456") == 2
    (name,) = re.findall(r"\.(\w+)\{[^}]*#123456", smaller(svg))
    assert smaller(svg).count(f'class="{name}"') == paths
