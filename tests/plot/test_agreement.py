"""Tests side by side, correlations and type I errors show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import plot
from simstudy.studies.side_by_side import correlation_shares
from tests.plot.drawn import across, bars, dotted, ends, legend, rows
from tests.plot.tables import AGREED, DEPENDENT


def test_rejections_show_each_tests_share_and_interval_by_relation() -> None:
    ax = plot.rejections(AGREED)
    assert rows(ax) == ["z_independent", "sign"]
    assert ax.get_xlabel() == "share of pairs with p ≤ 0.01"
    assert legend(ax) == ["same family", "different families"], "all pairs are these together"
    for line, drawn, (name, own) in zip(ax.lines, bars(ax, flat=True), dotted(ax).items(), strict=True):
        table = AGREED[AGREED["relation"] == name]
        assert [*own] == table["share"].tolist()
        assert [round(y) for y in own.values()] == [0, 1], "beside the test's name"
        assert [*drawn.values()] == [*ends(table, "share").values()]
        assert line.get_color() == plot.parts.relation_colour(name)
    alone = plot.rejections(AGREED.query("relation == 'all pairs'"))
    assert dotted(alone) == {"all pairs": {0.65: 0, 0.5: 1}}


def test_a_tick_of_percents_is_where_it_says() -> None:
    """Ticks at 82.5 % and 97.5 % once said 82 % and 98 %."""
    shares = AGREED.assign(share=np.linspace(0.81, 0.97, len(AGREED)), low=0.8, high=0.99)
    ax = plot.rejections(shares)
    ax.figure.canvas.draw()
    said = [float(tick.get_text().removesuffix("%")) for tick in ax.get_xticklabels()]
    np.testing.assert_allclose(said, 100 * ax.get_xticks())
    assert any(number % 1 for number in said), "whole percents alone would not tell"


def correlated(*r12: float) -> pd.DataFrame:
    return pd.DataFrame({"relation": "same family", "r12": r12})


def test_correlations_are_shares_of_each_class_with_its_median() -> None:
    table = pd.concat([correlated(0.51, 0.52, 0.58, 0.92), correlated(0.1, 0.32).assign(relation="different families")])
    ax = plot.correlations(correlation_shares(table))
    assert legend(ax) == ["same family: median 0.55", "different families: median 0.21"]
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx([0.55, 0.21])
    tops = [area.get_path().vertices[:, 1].max() for area in ax.patches if area.get_fill()]
    assert tops == pytest.approx([2 / 4, 1 / 2]), "two of four in 0.50 - 0.55; one of two"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("correlation of two systems, r12", "share of the pairs")
    assert ax.get_xlim() == (0, 1)


@pytest.mark.parametrize("lowest", [-0.99, -0.33, 0.3])
def test_correlations_of_equal_systems_are_drawn_whatever_the_lowest_is(lowest: float) -> None:
    """Of four pairs three have r12 = 1, which is the end of the scale."""
    ax = plot.correlations(correlation_shares(correlated(lowest, 1, 1, 1)))
    (area,) = [area for area in ax.patches if area.get_fill()]
    assert area.get_path().vertices[:, 1].max() == pytest.approx(3 / 4)
    assert ax.get_xlim()[0] <= min(lowest, 0)


def test_pairs_without_a_correlation_are_left_out() -> None:
    table = pd.concat([correlated(0.5, np.nan), correlated(np.nan).assign(relation="different families")])
    ax = plot.correlations(correlation_shares(table))
    assert legend(ax) == ["same family: median 0.50"]
    with pytest.raises(ValueError, match="table must have a correlation; every r12 is missing"):
        correlation_shares(correlated(np.nan, np.nan))


def test_type_1_errors_show_each_unit_beside_alpha() -> None:
    ax = plot.type_1_errors(DEPENDENT)
    assert legend(ax) == ["unit: item", "unit: cluster"]
    assert across(ax) == [0.1]
    assert dotted(ax) == {"unit: item": {0: 0.11, 0.4: 0.4}, "unit: cluster": {0: 0.09, 0.4: 0.1}}
    for drawn, (_, own) in zip(bars(ax), DEPENDENT.groupby("unit", sort=False), strict=True):
        assert drawn == ends(own, "within")
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylabel() == "share of p ≤ 0.1, equally good systems"
