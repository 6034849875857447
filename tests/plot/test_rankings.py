"""Figures of rankings show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from simstudy import plot
from simstudy.plot.parts import colours_of
from tests.plot.drawn import across, bands, curve_of, ends, legend
from tests.plot.tables import DIFFERENCES, RANKED


def test_curves_bands_and_baseline() -> None:
    ax = plot.precision_curve(RANKED.sample(frac=1, random_state=0))
    assert set(legend(ax)) == {"t score", "g2", "baseline"}
    shown = dict(zip(("t score", "g2"), RANKED.groupby("ranking", sort=False), strict=True))
    for label, (_, own) in shown.items():
        assert curve_of(ax, label) == dict(zip(own["n"], own["precision"].round(9), strict=True))
        assert ends(own, "n") in bands(ax)
    assert across(ax) == [0.12]
    assert not plot.precision_curve(RANKED, intervals=False).collections


def test_marks_where_two_differ_and_a_line_up_to_where_all_do() -> None:
    ax = plot.precision_curve(RANKED, DIFFERENCES)
    middle = {n: round(0.45 - n / 500, 9) for n in (10, 20, 30, 40, 70)}
    assert curve_of(ax, "p ≤ 0.05") == middle, "between the two, where p is at most 0.05"
    assert across(ax, 0) == [40], "up to there all differ"
    assert [*curve_of(plot.precision_curve(RANKED[RANKED["n"] < 40], DIFFERENCES), "p ≤ 0.05")] == [10, 20, 30]
    assert across(plot.precision_curve(RANKED, DIFFERENCES, alpha=0.01), 0) == []


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
    drawn = plot.precision_curve(RANKED, among=among).lines
    assert {line.get_label(): to_hex(line.get_color()) for line in drawn}["t score"] == to_hex(
        colours_of("ranking", among)["t_score"]
    )
