"""Names in the charts of HTML pages: whole, one beside the other, on wide and on narrow screens."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss
from tests.browser.made import named

pytestmark = pytest.mark.browser

Opened = Callable[..., Any]

# What is written in each chart: the names of rows, or those of the list below it, and the boxes of all labels.
WRITTEN = """(charts) => charts.map((chart) => ({
    kind: chart.classList[1],
    svgs: [...chart.querySelectorAll("svg")].map((svg) => ({
        names: [...svg.querySelectorAll("[data-mark=names] text")].map((text) => text.textContent),
        boxes: [...svg.querySelectorAll("[data-mark=names] text, [data-mark=numbers] text, [data-mark=columns] text")]
            .map((text) => text.getBoundingClientRect()).map((box) => [box.left, box.top, box.right, box.bottom]),
    })),
    listed: [...chart.querySelectorAll(".names li")].map((name) => name.textContent),
    left: chart.getBoundingClientRect().left,
}))"""  # fmt: skip

ROWS = {"leaderboard", "groups", "intervals", "matrix", "sizes"}


def long_names(n: int) -> list[str]:
    """Names of 150 characters that differ only at their ends; one of many is short."""
    first = "org/model-70b_instruct checkpoint.0042/" + "prompt=v2_few-shot." * 5
    names = [f"{first.ljust(147, 'x')}{k:03d}" for k in range(n)]
    return names if n < 9 else [*names[: n // 2], "short", *names[n // 2 + 1 :]]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("names")
    made = {n: folder / f"{n}.html" for n in (2, 9, 60)}
    for n, path in made.items():
        outputs = ss.truth.correlated_accuracies(np.linspace(0.5, 0.8, n).tolist(), 240, seed=3)
        ss.examine(named(outputs, long_names(n))).to_html(path)
    return made


def squeezed(text: str) -> str:
    """Without spaces, at which a line may end."""
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("how", [{}, {"viewport": {"width": 390, "height": 844}}], ids=["desktop", "phone"])
@pytest.mark.parametrize("n", [2, 9, 60])
def test_names_that_differ_at_their_ends_are_whole_and_do_not_overlap(
    opened: Opened, long: dict[int, Path], n: int, how: dict[str, Any]
) -> None:
    page = opened(long[n], **how)
    charts = page.locator(".drawn .chart").evaluate_all(WRITTEN)
    assert {chart["kind"] for chart in charts} == ({"intervals", "sizes"} if n == 2 else ROWS | {"gain_confidence"})
    for chart in charts:
        if chart["kind"] not in ROWS - ({"sizes"} if n == 2 else set()):
            continue
        rows = [squeezed(name) for svg in chart["svgs"] for name in svg["names"]] + [*map(squeezed, chart["listed"])]
        whole = {squeezed(name) for name in long_names(n)}
        assert whole == {name for row in rows for name in row.split("–")}, chart["kind"]
        for svg in chart["svgs"]:
            boxes = np.array(svg["boxes"]).reshape(-1, 4)
            # Letters have less height than their boxes: neighbouring ones may share two pixels.
            starts, ends = np.maximum(boxes[:, None, :2], boxes[:, :2]), np.minimum(boxes[:, None, 2:], boxes[:, 2:])
            overlapping = (ends - starts > 2.5).all(axis=-1) & ~np.eye(len(boxes), dtype=bool)
            assert not overlapping.any(), (chart["kind"], boxes[overlapping.any(axis=1)][:4])
            assert (boxes[:, 0] >= chart["left"] - 1).all(), f"{chart['kind']}: a name begins beyond its chart"
    assert "…" not in page.locator("main").inner_text()


def test_a_cell_of_a_matrix_names_its_pair_however_high_rows_are(opened: Opened, long: dict[int, Path]) -> None:
    """The pointer at the ends of a high cell is in this cell, though the middle of a lower one is closer."""
    page = opened(long[9])
    chart = page.locator(".chart.matrix")
    chart.scroll_into_view_if_needed()
    names = [squeezed(name) for name in chart.locator("[data-mark=names] text").all_text_contents()]
    boxes = [cell.bounding_box() for cell in chart.locator("[data-mark=rect] rect").all()]
    first = sorted((box for box in boxes if box["x"] == min(box["x"] for box in boxes)), key=lambda box: box["y"])
    assert len({round(box["height"]) for box in first}) == 2
    for box, name in zip(first, names[1:], strict=True):
        for part in (0.06, 0.94):
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + part * box["height"])
            assert squeezed(chart.locator(".told").inner_text()).startswith(squeezed(f"{names[0]} over {name};"))
