"""A smaller SVG is the same picture: same texts, and for each style the same places to a hundredth of a point."""

from __future__ import annotations

import re
from collections import defaultdict
from io import StringIO
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from simstudy import plot
from simstudy.plot.style import styled
from simstudy.plot.svg import smaller

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
            texts.append(f"{element.text} {given.get('transform')} {style}")
        others = [value for name, value in given.items() if name in ("clip-path", "{http://www.w3.org/1999/xlink}href")]
        key = (tag, style, *others)
        for name in ("d", "x", "y", "width", "height"):
            places[key] += [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", given.get(name, ""))]
    return texts, dict(places)


def test_a_smaller_file_is_the_same_picture(points: pd.DataFrame, curves: pd.DataFrame) -> None:
    figure, axes = plot.panels(["one", "two"])
    for ax in axes:
        plot.curve(points, curves, ax=ax)
        ax.errorbar([0.1, 0.2, 0.35], [0.9, 0.95, 0.99], [0.01, 0.02, 0.003], fmt="o-")
        ax.text(0, 0, ' d="0.123456" style="none" 1.23456789')
    was = svg_of(figure)
    now = smaller(was)
    assert len(now) < 0.85 * len(was)
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
