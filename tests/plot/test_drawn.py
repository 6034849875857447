"""Everything that a figure draws is in its table: intervals at both ends, bands, fitted lines, lines across."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.lines import Line2D

from simstudy import plot
from simstudy.plot.colours import relation_colour

Ends = dict[float, tuple[float, float]]


def ends(table: pd.DataFrame, at: str, low: str = "low", high: str = "high") -> Ends:
    """Where an interval is -> from where to where, of the rows that have one."""
    known = table[table[low].notna()]
    return {float(x): (float(a), float(b)) for x, a, b in zip(known[at], known[low], known[high], strict=True)}


def bars(ax: Axes, *, flat: bool = False) -> list[Ends]:
    """The intervals of each error bar: where -> from where to where; flat ones lie along the other axis."""
    found = []
    for lines in ax.collections:
        if isinstance(lines, LineCollection):
            parts = [np.round(part[:, ::-1] if flat else part, 9) for part in lines.get_segments() if len(part) == 2]
            found.append({float(x): (float(low), float(high)) for (x, low), (_, high) in parts if low != high})
    return found


def bands(ax: Axes) -> list[Ends]:
    """The shaded bands between two curves: where -> from where to where."""
    found = []
    for band in ax.collections:
        if isinstance(band, PolyCollection) and not isinstance(band, LineCollection):
            corners = pd.DataFrame(np.round(band.get_paths()[0].vertices, 9), columns=["x", "y"]).groupby("x")["y"]
            limits = zip(corners.min().index, corners.min(), corners.max(), strict=True)
            found.append({float(x): (float(low), float(high)) for x, low, high in limits})
    return found


def stripes(ax: Axes, axis: int) -> dict[str, tuple[float, float]]:
    """Shade of a stripe that crosses the panel -> from where to where."""
    found = {}
    for patch in ax.patches:
        corners = patch.get_patch_transform().transform(patch.get_path().vertices)[:, axis]
        found[to_hex(patch.get_facecolor())] = (round(corners.min(), 9), round(corners.max(), 9))
    return found


def points(line: Line2D) -> dict[float, float]:
    return {round(float(x), 9): round(float(y), 9) for x, y in np.asarray(line.get_xydata(), float)}


def curve_of(ax: Axes, label: str) -> dict[float, float]:
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return points(line)


def across(ax: Axes, axis: int = 1) -> list[float]:
    """Where broken or thin lines cross the whole panel, horizontal ones (or, of axis 0, vertical ones)."""
    data = [np.asarray(line.get_xydata(), float) for line in ax.lines]
    return sorted({float(d[0, axis]) for d in data if len(d) == 2 and d[:, 1 - axis].tolist() == [0, 1]})


def test_curves_and_their_bands(points: pd.DataFrame, curves: pd.DataFrame) -> None:
    ax = plot.curve(points, curves)
    relations = list(dict.fromkeys(points["relation"]))
    for relation, band in zip(relations, bands(ax)[-2:], strict=True):
        rows = curves[curves["relation"] == relation].round(9)
        assert band == ends(rows, "gain", "confidence_05", "confidence_95")
        assert curve_of(ax, relation) == dict(zip(rows["gain"], rows["confidence"], strict=True))
    assert across(ax) == [0.95], "where p is 0.05"


def test_thresholds_of_each_class_their_intervals_and_fits() -> None:
    table = pd.DataFrame(
        {
            "n_items": [100, 400] * 2, "relation": ["same family"] * 2 + ["different families"] * 2,
            "metric": "accuracy", "threshold": [6.1, 3.2, 8.3, 4.4], "low": [5.0, 2.5, 8.0, 4.3],
            "high": [6.5, 5.5, 9.9, 7.0], "c": [60.0] * 2 + [80.0] * 2, "fit": [6.0, 3.0, 8.0, 4.0], "exponent": -0.4,
        }
    )  # fmt: skip
    ax = plot.thresholds(table)
    for (relation, rows), drawn in zip(table.groupby("relation", sort=False), bars(ax), strict=True):
        assert list(drawn.values()) == list(ends(rows, "n_items").values())
        label = f"{rows['c'].iloc[0]:.3g} / √n   (free slope -0.40)"
        assert curve_of(ax, label) == dict(zip(rows["n_items"], rows["fit"], strict=True))
        colours = {line.get_label(): line.get_color() for line in ax.lines}
        assert colours[label] == relation_colour(str(relation))


def test_calibration_its_intervals_and_what_it_is_held_against() -> None:
    table = pd.DataFrame(
        {
            "p_from": [0.0, 0.01, 0.1], "p_to": [0.01, 0.1, 1.0], "expected": [0.999, 0.95, 0.6],
            "baseline": [0.97, 0.85, 0.55], "share": [0.9, 0.8, 0.7], "low": [0.85, 0.6, 0.5],
            "high": [0.98, 0.82, 0.76], "elsewhere": "news",
        }
    )  # fmt: skip
    ax = plot.calibration(table)
    assert curve_of(ax, "expected, same domain") == {0: 0.6, 1: 0.95, 2: 0.999}
    assert curve_of(ax, "same number, home items") == {0: 0.55, 1: 0.85, 2: 0.97}
    (drawn,) = bars(ax)
    assert drawn == {2: (0.85, 0.98), 1: (0.6, 0.82), 0: (0.5, 0.76)}
    assert across(ax) == [0.5], "a coin"


RATES = pd.DataFrame(
    {
        "test": "sign", "n_units": [10, 100], "alpha": 0.1, "share": [0.06, 0.09], "low": [0.01, 0.08],
        "high": [0.07, 0.15], "title": "F1", "level": 0.9,
    }
)  # fmt: skip


def test_error_rates_between_their_two_bands() -> None:
    ax = plot.error_rates(RATES, target=(0.08, 0.12), liberal=(0.05, 0.15))
    assert bars(ax) == [ends(RATES, "n_units")]
    wide, narrow = stripes(ax, 1).items()
    assert (wide[1], narrow[1]) == ((0.05, 0.15), (0.08, 0.12))
    assert sum(to_rgba(narrow[0])) < sum(to_rgba(wide[0])), "the narrow band is the darker one"
    assert across(ax) == [0.1]


def test_coverage_beside_its_level_and_its_band() -> None:
    covered = RATES.assign(share=[0.86, 0.91], low=[0.8, 0.9], high=[0.87, 0.95])
    ax = plot.coverage(covered, target=(0.88, 0.92))
    drawn = [interval for of_size in bars(ax, flat=True) for interval in of_size.values()]
    assert drawn == list(ends(covered, "n_units").values())
    assert list(stripes(ax, 0).values()) == [(0.88, 0.92)]
    assert across(ax, 0) == [0.9]


def test_coverage_below_the_axis_is_drawn_at_its_beginning_and_keeps_its_interval() -> None:
    covered = RATES.assign(share=[0.7, 0.91], low=[0.65, 0.9], high=[0.8, 0.95])
    ax = plot.coverage(covered, least=0.75)
    assert [interval for of_size in bars(ax, flat=True) for interval in of_size.values()] == [(0.65, 0.8), (0.9, 0.95)]
    assert sorted(float(x) for line in ax.lines for x in line.get_xdata() if line.get_marker() == "o") == [0.75, 0.91]


def test_intervals_of_gains_have_two_ends() -> None:
    pairs = pd.DataFrame(
        {
            "system_a": ["x", "x", "y"], "system_b": ["y", "z", "z"], "gain": [2.0, 5.0, 3.0],
            "gain_low": [-0.5, 4.0, 1.0], "gain_high": [2.5, 9.0, 8.0], "p_value": [0.11, 0.001, 0.04],
            "n_extreme": 0, "n_resamples": 0,
        }
    )  # fmt: skip
    ax = plot.gain_intervals(pairs)
    drawn = {y: interval for of_colour in bars(ax, flat=True) for y, interval in of_colour.items()}
    assert drawn == {0: (-0.5, 2.5), 1: (4, 9), 2: (1, 8)}
    assert across(ax, 0) == [0], "no gain"


def test_gains_by_size_their_intervals_line_and_band() -> None:
    n = np.array([100, 200, 400, 800, 1600])
    gain = np.array([4.2, 2.5, 2.2, 1.3, 0.9])
    table = pd.DataFrame(
        {
            "n_items": n, "metric": "las", "true_80": gain, "true_80_low": gain - 0.3, "true_80_high": gain + 0.7,
            "alternative": "two-sided", "alpha": 0.05,
        }
    )  # fmt: skip
    ax = plot.gains_by_size(table)
    assert bars(ax)[0] == ends(table.round(9), "n_items", "true_80_low", "true_80_high")
    of_each = np.sort(gain * np.sqrt(n))
    # Of five values the 10th percentile is 0.4 of the way from the least to the next one, and so from above.
    c_10, c_90 = of_each[0] + 0.4 * np.diff(of_each[:2])[0], of_each[-1] - 0.4 * np.diff(of_each[-2:])[0]
    (band,) = bands(ax)
    (line,) = [points(line) for line in ax.lines if line.get_linestyle() == "-" and len(points(line)) == 2]
    for size in (100, 1600):
        assert band[size] == pytest.approx((c_10 / np.sqrt(size), c_90 / np.sqrt(size)))
        assert line[size] == pytest.approx(of_each[2] / np.sqrt(size))


CURVES = pd.DataFrame(
    {
        "ranking": "t_score", "n": [1, 2, 3], "precision": [0.9, 0.5, 0.6], "low": [0.1, 0.2, 0.3],
        "high": [1.0, 0.8, 0.95], "baseline": 0.35,
    }
)  # fmt: skip


def test_precision_with_its_intervals_baseline_and_marks() -> None:
    differences = pd.DataFrame(
        {
            "ranking_1": "t_score", "ranking_2": "frequency", "n": [1, 2, 3], "precision_1": [0.9, 0.5, 0.6],
            "precision_2": [0.5, 0.3, 0.6], "p_value": [0.01, 0.05, 0.2],
        }
    )  # fmt: skip
    ax = plot.precision_curve(CURVES, differences)
    assert bands(ax) == [ends(CURVES, "n")]
    assert across(ax) == [0.35]
    assert curve_of(ax, "p ≤ 0.05") == {1: 0.7, 2: 0.4}, "between the two, where p is at most 0.05"
    assert across(ax, 0) == [2], "up to there all differ"


def test_sizes_go_from_light_to_dark_in_whatever_order(points: pd.DataFrame) -> None:
    def shade(table: pd.DataFrame) -> dict[Any, float]:
        ax = plot.curve(table, by="n_items")
        return {line.get_label(): sum(to_rgba(line.get_color())[:3]) for line in ax.lines if len(line.get_label()) < 12}

    there, back = shade(points), shade(points.iloc[::-1])
    assert there == back
    assert there["100 items"] > there["400 items"]
