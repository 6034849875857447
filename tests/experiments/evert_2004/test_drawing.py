"""Figures of precision by length show what their tables say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tests.experiments.programs import program
from tests.plot.drawn import across, bands, curve_of, ends, legend

EVERT = program("evert_2004", "drawing")

N = np.arange(10, 110, 10)
CURVES = pd.concat(
    [
        pd.DataFrame({"ranking": name, "n": N, "precision": p, "low": p - 0.1, "high": p + 0.05, "baseline": 0.12})
        for name, p in (("t_score", 0.5 - N / 500), ("chi_squared", 0.4 - N / 500))
    ]
)
# Significant up to 40, and at 70 again.
DIFFERENCES = pd.DataFrame(
    {
        "n": N, "precision_1": 0.5 - N / 500, "precision_2": 0.4 - N / 500,
        "p_value": np.where((N <= 40) | (N == 70), 0.05, 0.051),
    }
)  # fmt: skip


def drawn(curves: pd.DataFrame, differences: pd.DataFrame | None = None, **options: Any) -> Any:
    """The panel of a figure."""
    figure = EVERT.by_ranking(curves, differences, **{"intervals": True, "alpha": 0.05, **options})
    return figure.axes[0]


def test_curves_bands_and_baseline() -> None:
    ax = drawn(CURVES)
    assert set(legend(ax)) == {"t score", "chi squared", "baseline"}
    for label, (_, rows) in zip(("t score", "chi squared"), CURVES.groupby("ranking", sort=False), strict=True):
        assert curve_of(ax, label) == dict(zip(rows["n"], rows["precision"].round(9), strict=True))
        assert ends(rows, "n") in bands(ax)
    assert across(ax) == [0.12]
    assert not drawn(CURVES, intervals=False).collections


def test_marks_where_two_differ_and_a_line_up_to_where_all_do() -> None:
    ax = drawn(CURVES, DIFFERENCES)
    middle = {n: round(0.45 - n / 500, 9) for n in (10, 20, 30, 40, 70)}
    assert curve_of(ax, "p ≤ 0.05") == middle, "between the two, where p is at most 0.05"
    assert across(ax, 0) == [40], "up to there all differ"
    assert across(drawn(CURVES, DIFFERENCES, alpha=0.01), 0) == []


def test_many_lengths_are_marked_by_an_even_choice() -> None:
    n = np.arange(1, 1001)
    table = pd.DataFrame({"n": n, "precision_1": 0.5, "precision_2": 0.4, "p_value": 0})
    curve = pd.DataFrame({"ranking": "t_score", "n": n, "precision": 0.5, "low": 0.4, "high": 0.6, "baseline": 0.1})
    (marks,) = [line for line in drawn(curve, table).lines if line.get_marker() == "^"]
    assert 30 <= len(marks.get_xdata()) <= 100
    assert len(set(np.diff(marks.get_xdata()))) == 1
