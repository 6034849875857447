"""Figures of rankings show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from simstudy import plot
from simstudy.plot.colours import colours_of


def curves() -> pd.DataFrame:
    n = np.arange(10, 110, 10)
    one, two = 0.5 - n / 500, 0.4 - n / 500
    return pd.concat(
        [
            pd.DataFrame({"ranking": name, "n": n, "precision": p, "low": p - 0.1, "high": p + 0.05, "baseline": 0.12})
            for name, p in (("t_score", one), ("g2", two))
        ]
    )


def differences() -> pd.DataFrame:
    """Significant up to 40, and at 70 again."""
    table = curves().pivot(index="n", columns="ranking", values="precision").reset_index()
    table = table.rename(columns={"t_score": "precision_1", "g2": "precision_2"})
    table["p_value"] = np.where((table["n"] <= 40) | (table["n"] == 70), 0.01, 0.3)
    return table.assign(ranking_1="t_score", ranking_2="g2")


def test_curves_bands_and_baseline() -> None:
    table = curves().sample(frac=1, random_state=0)
    ax = plot.precision_curve(table)
    lines = {line.get_label(): np.array(line.get_xydata()) for line in ax.lines}
    assert set(lines) == {"t score", "g2", "baseline"}
    expected = curves().query("ranking == 't_score'")[["n", "precision"]]
    np.testing.assert_allclose(lines["t score"], expected)
    assert lines["baseline"][:, 1].tolist() == [0.12, 0.12]
    assert len(ax.collections) == 2
    (band,) = [c for c in ax.collections if c.get_paths()[0].get_extents().ymax == pytest.approx(0.53)]
    assert band.get_paths()[0].get_extents().ymin == pytest.approx(0.2)
    assert not plot.precision_curve(table, intervals=False).collections


def test_marks_where_two_differ_and_a_line_up_to_where_all_do() -> None:
    ax = plot.precision_curve(curves(), differences())
    (marks,) = [line for line in ax.lines if line.get_marker() == "^"]
    np.testing.assert_allclose(marks.get_xdata(), [10, 20, 30, 40, 70])
    np.testing.assert_allclose(marks.get_ydata(), 0.45 - np.array([10, 20, 30, 40, 70]) / 500)
    assert [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1] == [40]


def test_many_lengths_are_marked_by_an_even_choice() -> None:
    n = np.arange(1, 1001)
    table = pd.DataFrame(
        {"ranking_1": "a", "ranking_2": "b", "n": n, "precision_1": 0.5, "precision_2": 0.4, "p_value": 0}
    )
    shown = pd.DataFrame({"ranking": "a", "n": n, "precision": 0.5, "low": 0.4, "high": 0.6, "baseline": 0.1})
    (marks,) = [line for line in plot.precision_curve(shown, table).lines if line.get_marker() == "^"]
    assert 30 <= len(marks.get_xdata()) <= 100
    assert len(set(np.diff(marks.get_xdata()))) == 1


def test_rankings_keep_their_colours_among_others() -> None:
    among = ["x", "t_score", "g2"]
    colours = colours_of("ranking", among)
    drawn = plot.precision_curve(curves(), among=among).lines
    lines = {line.get_label(): to_hex(line.get_color()) for line in drawn}
    assert lines["t score"] == to_hex(colours["t_score"])


def test_several_pairs_cannot_be_marked() -> None:
    table = pd.concat([differences(), differences().assign(ranking_2="other")])
    with pytest.raises(ValueError, match="differences must be of one pair"):
        plot.precision_curve(curves(), table)
    with pytest.raises(ValueError, match="curves must be a table with the columns"):
        plot.precision_curve(curves().drop(columns="low"))


def spread() -> tuple[pd.DataFrame, pd.DataFrame]:
    observed = np.array([0.2, 0.25, 0.3, 0.3, 0.35, 0.4, np.nan])
    repetitions = pd.DataFrame({"ranking": "t_score", "precision": observed})
    check = pd.DataFrame(
        {"ranking": ["t_score"], "average_precision": [0.3], "sd_binomial": [0.04], "sd_observed": [0.07]}
    )
    return repetitions, check


def test_spread_has_every_evaluation_and_both_normal_curves() -> None:
    ax = plot.precision_spread(*spread(), "t_score")
    assert sum(bar.get_height() for bar in ax.patches) == 6
    width = ax.patches[0].get_width()
    for line, sd in zip(ax.lines, (0.04, 0.07), strict=True):
        x, y = np.array(line.get_xydata()).T
        # Each curve is the density of a normal times the area of the bars.
        assert y.max() == pytest.approx(6 * width / (sd * np.sqrt(2 * np.pi)), rel=1e-3)
        assert x[y.argmax()] == pytest.approx(0.3, abs=0.01)
        assert f"{sd:.3f}" in str(line.get_label())
    with pytest.raises(ValueError, match="repetitions of 'other'"):
        plot.precision_spread(*spread(), "other")


def test_spread_that_can_not_be_is_refused_and_none_observed_is_drawn() -> None:
    repetitions, check = spread()
    for none in (0.0, np.nan):
        with pytest.raises(ValueError, match="repetitions of 't_score' must let expect a spread; their average"):
            plot.precision_spread(repetitions, check.assign(sd_binomial=none), "t_score")
    with pytest.raises(ValueError, match="check of 't_score'"):
        plot.precision_spread(repetitions, check.assign(ranking="other"), "t_score")
    equal = repetitions.assign(precision=0.3)
    ax = plot.precision_spread(equal, check.assign(sd_observed=0.0), "t_score")
    assert [str(line.get_label()) for line in ax.lines] == ["expected sd 0.040", "normal, observed sd 0.000"]
    assert len(np.asarray(ax.lines[1].get_xydata())) == 0


def test_p_values_have_a_line_for_each_test() -> None:
    table = pd.DataFrame(
        {"test": ["fisher"] * 3 + ["bootstrap"] * 3, "n": [300, 100, 200] * 2, "p_value": [0.3, 0.1, 0.2] * 2}
    )
    ax = plot.p_values_by_length(table)
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert lines["fisher"] == [[100, 0.1], [200, 0.2], [300, 0.3]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fisher", "bootstrap"]
