"""Error rates, coverage, power and exaggeration show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgba

from simstudy import plot
from tests.plot.drawn import across, bars, dotted, ends, legend, rows, stripes
from tests.plot.tables import COVERED, EXAGGERATED, POWER, RATES, SIZES


def test_error_rates_are_lines_over_the_number_of_units_between_two_bands() -> None:
    ax = plot.error_rates(RATES, target=(0.08, 0.12), liberal=(0.05, 0.15), most=0.3)
    assert dotted(ax) == {
        "sign_flips": {10: 0.02, 100: 0.09, 500: 0.1}, "fisher": {10: 0.0, 100: 0.06, 500: 0.05}
    }  # fmt: skip
    assert bars(ax)[0] == ends(RATES.head(3), "n_units")
    wide, narrow = stripes(ax, 1).items()
    assert (wide[1], narrow[1]) == ((0.05, 0.15), (0.08, 0.12))
    assert sum(to_rgba(narrow[0])) < sum(to_rgba(wide[0])), "the narrow band is the darker one"
    assert across(ax) == [0.1]
    assert (ax.get_ylabel(), ax.get_xscale(), ax.get_ylim()) == ("share of p ≤ 0.1", "log", (0, 0.3))
    assert len({line.get_color() for line in ax.lines if len(line.get_xdata()) == 3}) == 2  # type: ignore[arg-type]


def test_ticks_leave_each_other_room() -> None:
    ax = plot.error_rates(pd.concat([RATES.head(1).assign(n_units=n) for n in (1000, 15, 20, 10)]))
    assert ax.xaxis.get_ticklocs().tolist() == [10, 20, 1000]
    assert [ax.xaxis.get_major_formatter()(x, 0) for x in (10, 1000)] == ["10", "1,000"]


def test_coverage_has_a_row_for_each_condition_and_a_dot_for_each_number_of_units() -> None:
    ax = plot.coverage(COVERED, target=(0.88, 0.92), least=0.7)
    assert rows(ax) == ["F1", "BLEU"]
    few, many = dotted(ax)["10 units"], dotted(ax)["100 units"]
    assert [*few] == [0.7, 0.85] or [*few] == [0.85, 0.7], "what is below the axis is drawn at its beginning"
    assert {x: round(y) for x, y in {**few, **many}.items()} == {0.85: 0, 0.7: 1, 0.9: 0, 0.91: 1}
    assert few[0.85] < many[0.9], "beside each other"
    intervals = [[*found.values()] for found in bars(ax, flat=True)]
    assert intervals == [[(0.8, 0.9), (0.2, 0.7)], [(0.88, 0.92), (0.89, 0.97)]]
    assert [*stripes(ax, 0).values()] == [(0.88, 0.92)]
    assert across(ax, 0) == [0.9]
    assert ax.get_xlabel() == "share of 90 % intervals that hold the true gain"


def test_power_is_a_line_a_test_over_the_number_of_units() -> None:
    ax = plot.power_curves(RATES.drop(columns="alpha"))
    assert dotted(ax)["sign_flips"] == {10: 0.02, 100: 0.09, 500: 0.1}
    assert bars(ax)[0] == ends(RATES.head(3), "n_units")
    assert across(ax) == [0.8]


def test_exaggeration_is_a_line_a_condition_over_power() -> None:
    ax = plot.exaggeration(EXAGGERATED, most=6)
    assert dotted(ax) == {"a": {0.2: 3.0, 0.8: 1.1}}
    assert bars(ax) == [{0.2: (2.9, 3.2), 0.8: (1.0, 1.3)}]
    assert across(ax) == [1]
    assert (ax.get_ylim(), ax.get_yscale()) == ((0.9, 6), "log")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1", "1.5", "2", "3", "4", "6"]


def shaded(ax: object, table: pd.DataFrame, name: str) -> None:
    """A line with its range for each relation, and the colours that relation classes have elsewhere."""
    lines = {line.get_label(): line for line in ax.lines}  # type: ignore[attr-defined]
    for (relation, own), band in zip(table.groupby("relation", sort=False), ax.collections, strict=True):  # type: ignore[attr-defined]
        line = lines[relation]
        assert line.get_color() == plot.parts.relation_colour("same " if relation == "variants" else "different ")
        np.testing.assert_allclose(line.get_xydata(), own[["n_items", name]])
        corners = pd.DataFrame(band.get_paths()[0].vertices, columns=["x", "y"]).groupby("x")["y"]
        np.testing.assert_allclose(corners.min(), own[f"{name}_low"])
        np.testing.assert_allclose(corners.max(), own[f"{name}_high"])


def test_planned_power_is_shown_by_relation_with_the_planned_sizes() -> None:
    planned = {"relation": ["variants", "different families", "variants"], "n_items": [1200.4, np.inf, 77]}
    answers = pd.DataFrame(planned).assign(goal=["better", "better", "worse"])
    ax = plot.planned_power(POWER.iloc[[2, 0, 1, 3, 5, 4]].assign(gain=2.5), answers, power=0.7)
    shaded(ax, POWER, "power")
    assert across(ax) == [0.7]
    marked = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "o"]
    assert marked == [[[1200.4, 0.7]]]
    assert [text.get_text() for text in ax.texts] == ["1,200"]
    assert (ax.get_ylabel(), ax.get_xscale()) == ("power to detect a gain of 2.5", "log")
    assert plot.planned_power(POWER).get_ylabel() == "power"


def test_planned_gains_are_shown_where_there_are_any() -> None:
    ax = plot.planned_gains(SIZES.assign(metric="accuracy"))
    shaded(ax, SIZES.dropna(), "minimum_detectable_gain")
    assert ax.get_ylabel() == "minimum detectable gain (accuracy, points)"
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert legend(ax) == ["variants", "different families"]
    assert legend(plot.planned_gains(SIZES.head(3))) == []
