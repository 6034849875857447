"""Curves, thresholds and calibration show what their tables say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from simstudy import plot
from simstudy.plot.parts import relation_colour
from tests.plot.drawn import across, bands, bars, curve_of, dotted, ends, legend
from tests.plot.tables import CALIBRATION, CURVES, POINTS, THRESHOLDS


@pytest.mark.parametrize("by", ["relation", "n_items"])
def test_curve_draws_points_lines_bands_and_names(by: str) -> None:
    ax = plot.curve(POINTS, CURVES, by=by)
    values = list(dict.fromkeys(POINTS[by]))
    assert legend(ax) == [value if by == "relation" else f"{value} items" for value in values]
    for value, name, drawn, band in zip(values, legend(ax), ax.collections, bands(ax)[-2:], strict=False):
        own, rows = POINTS[POINTS[by] == value], CURVES[CURVES[by] == value].round(9)
        np.testing.assert_allclose(drawn.get_offsets(), np.stack([own["gain"], 1 - own["p_value"]], axis=-1))
        assert band == ends(rows, "gain", "confidence_05", "confidence_95")
        assert curve_of(ax, name) == dict(zip(rows["gain"], rows["confidence"], strict=True))
    assert across(ax) == [0.95], "where p is 0.05"
    assert ax.get_xlabel() == "gain (accuracy, points)"


def test_bands_of_many_test_sets_would_hide_each_other() -> None:
    for names, drawn in ((["a"], 1), (["a", "b"], 2), (["a", "b", "c"], 0)):
        points, curves = (pd.concat([table.assign(test_set=name) for name in names]) for table in (POINTS, CURVES))
        assert len(bands(plot.curve(points, curves, by="test_set"))) == drawn


def heights(points: pd.DataFrame) -> np.ndarray:
    return np.sort(np.concatenate([np.asarray(c.get_offsets())[:, 1] for c in plot.curve(points).collections]))


def test_curve_has_no_confidence_in_gains_that_the_test_speaks_against() -> None:
    """Every second pair's test speaks for the system that is behind; or the table says the confidence itself."""
    against = np.arange(len(POINTS)) % 2 == 0
    behind = [f"b{k}" for k in range(len(POINTS))]
    pairs = POINTS.assign(system_a="a", system_b=behind, better=np.where(against, behind, "a"))
    np.testing.assert_allclose(heights(pairs), np.sort(np.where(against, 0.0, 1 - POINTS["p_value"])))
    neither = pairs.assign(better=np.where(against, "", "a"))
    np.testing.assert_allclose(heights(neither), np.sort(1 - POINTS["p_value"]))
    np.testing.assert_allclose(heights(pairs.assign(confidence=0.25)), 0.25)


def test_points_over_others_are_large_and_dark_and_the_axis_ends_where_all_are_significant() -> None:
    ax = plot.curve(POINTS.assign(p_value=np.where(POINTS["gain"] > 2, 0.001, 0.4)), over="different families")
    below, above = ax.collections
    assert below.get_zorder() < above.get_zorder()
    assert to_rgba(above.get_facecolor()[0])[:3] == to_rgba("0.1")[:3]
    assert ax.get_xlim() == (0, pytest.approx(1.05 * POINTS["gain"][POINTS["gain"] <= 2].max()))
    assert ax.get_ylim() == (0.5, 1.005), "confidences of one side begin at a half"
    sure = POINTS.assign(p_value=0.01)
    for sides, bottom in (("two-sided", 0), ("greater", 0.5), (["greater", "two-sided"] * 60, 0)):
        asked = sure.assign(alternative=sides, test_set=["a", "b"] * 60)
        assert plot.curve(asked).get_ylim()[0] == bottom


def test_sizes_go_from_light_to_dark_in_whatever_order() -> None:
    def shade(table: pd.DataFrame) -> dict[Any, float]:
        ax = plot.curve(table, by="n_items")
        return {line.get_label(): sum(to_rgba(line.get_color())[:3]) for line in ax.lines if len(line.get_label()) < 12}

    there, back = shade(POINTS), shade(POINTS.iloc[::-1])
    assert there == back
    assert there["100 items"] > there["400 items"]


@pytest.mark.parametrize(
    ("alternative", "sides"), [("greater", " (one-sided)"), ("two-sided", " (two-sided)"), ("", "")]
)
def test_axes_say_the_sides_where_the_table_does(alternative: str, sides: str) -> None:
    asked = {"alternative": alternative} if alternative else {}
    assert plot.curve(POINTS.assign(**asked)).get_ylabel() == f"confidence, 1 − p{sides}"
    ax = plot.thresholds(THRESHOLDS.assign(metric="bleu", **asked))
    assert ax.get_ylabel() == f"gain threshold (BLEU{sides.replace(' (', '; ') or ')'}"
    assert plot.curve(POINTS.assign(metric="mean (lower is better)", **asked)).get_xlabel() == "gain (mean)"


def test_thresholds_of_each_class_their_intervals_and_fits() -> None:
    all_pairs = THRESHOLDS.head(1).assign(relation="all pairs", threshold=7.0)
    ax = plot.thresholds(pd.concat([THRESHOLDS, all_pairs]))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    for (relation, rows), drawn in zip(THRESHOLDS.groupby("relation", sort=False), bars(ax), strict=True):
        assert list(drawn.values()) == list(ends(rows, "n_items").values())
        assert list(dotted(ax)[str(relation)].values()) == rows["threshold"].tolist()
        np.testing.assert_allclose([*dotted(ax)[str(relation)]], rows["n_items"], rtol=0.03)
        label = f"{rows['c'].iloc[0]:.3g} / √n   (free slope -0.40)"
        assert curve_of(ax, label) == dict(zip(rows["n_items"], rows["fit"], strict=True))
        assert {line.get_label(): line.get_color() for line in ax.lines}[label] == relation_colour(str(relation))
    assert "all pairs" not in legend(ax)
    alone = plot.thresholds(THRESHOLDS.head(2).assign(relation="all pairs", fit=np.nan))
    assert legend(alone) == ["all pairs"]


def test_thresholds_without_an_interval_are_points(recwarn: pytest.WarningsRecorder) -> None:
    ax = plot.thresholds(THRESHOLDS.head(2).assign(low=[5.0, np.nan], high=[7.0, np.nan]))
    ax.figure.canvas.draw()
    assert dotted(ax) == {"same family": {100: 6.1, 400: 3.2}}
    assert bars(ax) == [{100: (5.0, 7.0)}]
    assert not recwarn.list


def test_sizes_that_would_touch_have_one_name() -> None:
    table = pd.concat([THRESHOLDS.head(2).assign(n_items=[n, 1000]) for n in (100, 400, 461, 800)])
    ticks = plot.thresholds(table).get_xticklabels()
    assert [tick.get_text() for tick in ticks] == ["100", "", "461", "800", "1,000"]


def test_calibration_shows_bins_from_weak_to_strong_and_what_they_are_held_against() -> None:
    ax = plot.calibration(CALIBRATION.assign(baseline=[0.97, 0.85, 0.55]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1 – 1", "0.01 – 0.1", "< 0.01"]
    assert dotted(ax) == {"news": {0: 0.7, 1: 0.8, 2: 0.9}}
    assert bars(ax) == [{2: (0.85, 0.98), 1: (0.6, 0.82), 0: (0.5, 0.76)}]
    assert curve_of(ax, "expected, same domain") == {0: 0.6, 1: 0.95, 2: 0.999}
    assert curve_of(ax, "baseline, same domain") == {0: 0.55, 1: 0.85, 2: 0.97}
    assert across(ax) == [0.5], "a coin"
    assert set(legend(ax)) == {"news", "expected, same domain", "baseline, same domain"}


def test_calibration_keeps_gaps_and_colours_and_leaves_the_bin_around_005_out() -> None:
    extra = CALIBRATION.head(1).assign(p_from=0.04, p_to=0.06)
    web = CALIBRATION.assign(elsewhere="web", share=[np.nan, 0.5, 0.3], low=np.nan, high=np.nan)
    ax = plot.calibration(pd.concat([CALIBRATION, extra, web]), among=["mail", "news", "web"])
    assert len(ax.get_xticklabels()) == 3
    assert set(legend(ax)) == {"expected, same domain", "news", "web"}
    assert [round(x) for x in dotted(ax)["web"]] == [0, 1, 2]
    assert list(dotted(ax)["web"].values())[:2] == [0.3, 0.5]
    assert ax.get_ylim()[0] == pytest.approx(0.28), "the lowest share is seen"
    alone = plot.calibration(CALIBRATION, among=["mail", "news", "web"])
    first = [drawn[0].get_color() for drawn in (ax.containers[0], alone.containers[0])]  # type: ignore[index]
    assert first[0] == first[1] != plot.calibration(CALIBRATION).containers[0][0].get_color()  # type: ignore[index]
