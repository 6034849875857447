"""Figures of error rates and coverage show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from simstudy import plot


def rates() -> pd.DataFrame:
    table = pd.DataFrame({"test": ["sign_flips"] * 3 + ["fisher"] * 3, "n_units": [500, 10, 100] * 2, "alpha": 0.1})
    return table.assign(share=[0.1, 0.02, 0.09, 0.05, 0.0, 0.06], low=0.0, high=0.15)


def covered() -> pd.DataFrame:
    table = pd.DataFrame({"title": np.repeat(["F1", "BLEU"], 2), "n_units": [10, 100] * 2, "level": 0.9})
    return table.assign(share=[0.85, 0.9, 0.3, np.nan], low=[0.8, 0.88, 0.2, 0.0], high=[0.9, 0.92, 0.4, 1.0])


def lines(ax: Axes) -> dict[str, tuple[list[float], list[float]]]:
    """What each errorbar is called and where its points lie."""
    return {
        str(bars.get_label()): tuple(np.asarray(side, float).tolist() for side in bars[0].get_data())
        for bars in ax.containers
    }


def spans(ax: Axes, axis: int) -> list[tuple[float, float]]:
    """The ends of the bands, across the x or y axis."""
    boxes = [patch.get_extents().transformed(ax.transData.inverted()) for patch in ax.patches]
    return [tuple(np.round(box.get_points()[:, axis], 6)) for box in boxes]


def test_error_rates_are_lines_over_the_number_of_units() -> None:
    ax = plot.error_rates(rates(), target=(0.08, 0.12), liberal=(0.05, 0.15))
    assert lines(ax) == {
        "sign_flips": ([10, 100, 500], [0.02, 0.09, 0.1]),
        "fisher": ([10, 100, 500], [0.0, 0.06, 0.05]),
    }
    assert spans(ax, 1) == [(0.05, 0.15), (0.08, 0.12)]
    level = [line for line in ax.lines if len(set(line.get_ydata())) == 1 and len(line.get_xdata()) == 2]
    assert [line.get_ydata()[0] for line in level] == [0.1]
    assert ax.get_ylabel() == "share of p ≤ 0.1"
    assert ax.get_xscale() == "log"
    assert ax.xaxis.get_ticklocs().tolist() == [10, 100, 500]
    first = next(bars for bars in ax.collections if isinstance(bars, LineCollection))
    np.testing.assert_allclose(np.array(first.get_segments())[:, :, 1], [[0, 0.15]] * 3, atol=1e-12)


def test_ticks_leave_each_other_room() -> None:
    table = pd.DataFrame({"test": "sign", "n_units": [10, 15, 20, 1000], "alpha": 0.05, "share": 0.05})
    ax = plot.error_rates(table.assign(low=0.04, high=0.06))
    assert ax.xaxis.get_ticklocs().tolist() == [10, 20, 1000]
    assert [ax.xaxis.get_major_formatter()(x, 0) for x in (10, 1000)] == ["10", "1,000"]


def test_coverage_has_a_row_for_each_condition_and_a_dot_for_each_number_of_units() -> None:
    ax = plot.coverage(covered(), target=(0.85, 0.95), least=0.7)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["F1", "BLEU"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first condition on top"
    (few, at), (many, above) = lines(ax)["10 units"], lines(ax)["100 units"]
    assert few == [0.85, 0.7], "what is below the axis is drawn at its beginning"
    np.testing.assert_equal(many, [0.9, np.nan])
    assert np.round(at).tolist() == np.round(above).tolist() == [0, 1]
    assert at != above
    assert spans(ax, 0) == [(0.85, 0.95)]
    assert ax.get_xlabel() == "share of 90 % intervals that hold the true gain"


@pytest.mark.parametrize(("draw", "table"), [("error_rates", rates()), ("coverage", covered())])
def test_figures_of_known_gains_draw_on_the_axes_they_are_given(draw: str, table: pd.DataFrame) -> None:
    _, (ax,) = plot.panels(["mine"])
    assert getattr(plot, draw)(table, ax=ax) is ax
    assert ax.get_title(loc="left") == "mine"
    with pytest.raises(ValueError, match="table must have at least one row"):
        getattr(plot, draw)(table.head(0))
    for column in table.columns:
        with pytest.raises(ValueError, match=f"no column {column}$"):
            getattr(plot, draw)(table.drop(columns=column))
    with pytest.raises(ValueError, match="once for a number of units"):
        getattr(plot, draw)(pd.concat([table, table]))
