"""Tests side by side, correlations and type I errors show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from simstudy import plot
from simstudy.analyses.correlation import correlation_shares


def agreed() -> pd.DataFrame:
    """Two tests beside each other, by relation class and over all pairs."""
    table = pd.DataFrame(
        {
            "relation": np.repeat(["same family", "different families", "all pairs"], 2),
            "test": ["sign", "z_independent"] * 3, "alpha": 0.01, "share": [0.5, 0.2, 0.7, 0.6, 0.65, 0.5],
        }
    )  # fmt: skip
    return table.assign(low=table["share"] - 0.1, high=table["share"] + 0.15)


def intervals(ax: Axes) -> list[np.ndarray]:
    """The ends of the error bars, (n, 2, 2), one array for each errorbar."""
    return [np.array(bars.get_segments()) for bars in ax.collections if isinstance(bars, LineCollection)]


def test_rejections_show_each_tests_share_and_interval_by_relation() -> None:
    table = agreed()
    ax = plot.rejections(table)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["sign", "z_independent"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first test on top"
    assert ax.get_xlabel() == "share of pairs with p ≤ 0.01"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["same family", "different families"], "all pairs are these together"
    for name, line, bars in zip(names, ax.lines, intervals(ax), strict=True):
        rows = table[table["relation"] == name]
        np.testing.assert_allclose(np.asarray(line.get_xdata(), float), rows["share"])
        assert np.round(line.get_ydata()).tolist() == [0, 1], "beside the test's name"
        np.testing.assert_allclose(bars[:, :, 0], rows[["low", "high"]])
        assert to_hex(line.get_color()) == plot.colours.relation_colour(name).lower()


def test_rejections_of_a_single_class_show_it() -> None:
    ax = plot.rejections(agreed().query("relation == 'all pairs'"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all pairs"]
    (line,) = ax.lines
    np.testing.assert_allclose(np.asarray(line.get_xdata(), float), [0.65, 0.5])


def correlated(*r12: float) -> pd.DataFrame:
    return pd.DataFrame({"relation": "same family", "r12": r12})


def test_correlations_are_shares_of_each_class_with_its_median() -> None:
    table = pd.concat([correlated(0.51, 0.52, 0.58, 0.92), correlated(0.1, 0.32).assign(relation="different families")])
    ax = plot.correlations(correlation_shares(table))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["same family: median 0.55", "different families: median 0.21"]
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx([0.55, 0.21])
    tops = [area.get_path().vertices[:, 1].max() for area in ax.patches if area.get_fill()]
    assert tops == pytest.approx([2 / 4, 1 / 2]), "two of four in 0.50 - 0.55; one of two"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("correlation of two systems, r12", "share of the pairs")
    assert ax.get_xlim() == (0, 1)


@pytest.mark.parametrize("lowest", [-0.99, -0.5, -0.33, -0.2, -0.05, 0.3])
def test_correlations_of_equal_systems_are_drawn_whatever_the_lowest_is(lowest: float) -> None:
    """Of four pairs three have r12 = 1, which is the end of the scale."""
    ax = plot.correlations(correlation_shares(correlated(lowest, 1, 1, 1)))
    (area,) = [area for area in ax.patches if area.get_fill()]
    assert area.get_path().vertices[:, 1].max() == pytest.approx(3 / 4)
    assert ax.get_xlim()[0] <= min(lowest, 0)


def test_pairs_without_a_correlation_are_left_out() -> None:
    table = pd.concat([correlated(0.5, np.nan), correlated(np.nan).assign(relation="different families")])
    ax = plot.correlations(correlation_shares(table))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["same family: median 0.50"]


def dependent() -> pd.DataFrame:
    table = pd.DataFrame({"within": [0.0, 0.4] * 2, "unit": ["item"] * 2 + ["cluster"] * 2, "alpha": 0.1})
    return table.assign(share=[0.11, 0.4, 0.09, 0.1], low=[0.1, 0.35, 0.08, 0.09], high=[0.13, 0.5, 0.12, 0.11])


def test_type_1_errors_show_each_unit_beside_alpha() -> None:
    table = dependent()
    ax = plot.type_1_errors(table)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["unit: item", "unit: cluster"]
    *units, promised = [line for line in ax.lines if line.get_marker() != "_"]
    assert list(promised.get_ydata()) == [0.1, 0.1]
    for unit, line, bars in zip(("item", "cluster"), units, intervals(ax), strict=True):
        rows = table[table["unit"] == unit]
        assert list(line.get_xdata()) == [0, 0.4]
        np.testing.assert_allclose(np.asarray(line.get_ydata(), float), rows["share"])
        np.testing.assert_allclose(bars[:, :, 1], rows[["low", "high"]])
    assert ax.get_ylim()[0] == 0
    assert ax.get_xlabel() == "correlation of the items of a cluster"
    assert ax.get_ylabel() == "share of p ≤ 0.1, equally good systems"


@pytest.mark.parametrize(
    ("draw", "table"),
    [
        ("rejections", agreed()),
        ("correlations", correlation_shares(correlated(0.5)).drop(columns="n_pairs")),
        ("type_1_errors", dependent()),
    ],
)
def test_figures_of_tests_draw_on_the_axes_they_are_given(draw: str, table: pd.DataFrame) -> None:
    _, (ax,) = plot.panels(["mine"])
    assert getattr(plot, draw)(table, ax=ax) is ax
    assert ax.get_title(loc="left") == "mine"
    with pytest.raises(ValueError, match="table must have at least one row"):
        getattr(plot, draw)(table.head(0))
    for column in table.columns:
        with pytest.raises(ValueError, match=f"no column {column}$"):
            getattr(plot, draw)(table.drop(columns=column))


def test_bad_tables_of_tests() -> None:
    for wrong in (pd.concat([agreed(), agreed()]), agreed().head(3)):
        with pytest.raises(ValueError, match="agreement of one test set, each test once in each relation class"):
            plot.rejections(wrong)
    with pytest.raises(ValueError, match="table must have a correlation; every r12 is missing"):
        correlation_shares(correlated(np.nan, np.nan))
