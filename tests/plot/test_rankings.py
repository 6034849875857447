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
