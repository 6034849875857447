"""Curves, thresholds and calibration show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import figures


@pytest.mark.parametrize("by", ["relation", "n_items"])
def test_curve_draws_points_lines_and_names(points: pd.DataFrame, curves: pd.DataFrame, by: str) -> None:
    ax = figures.curve(points, curves, by=by)
    drawn = np.concatenate(
        [collection.get_offsets() for collection in ax.collections if len(collection.get_offsets()) > 1]
    )
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(1 - points["p_value"]))
    lines = [line for line in ax.lines if len(line.get_xdata()) == 60]
    assert len(lines) == 2
    names = {text.get_text() for text in ax.get_legend().get_texts()}
    assert names == ({"same family", "different families"} if by == "relation" else {"100 items", "400 items"})
    assert ax.get_xlabel() == "gain (accuracy, points)"


def test_curve_without_lines_still_names_the_classes(points: pd.DataFrame) -> None:
    ax = figures.curve(points)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"same family", "different families"}


def test_thresholds_show_values_intervals_and_the_fit() -> None:
    table = pd.DataFrame(
        {
            "n_items": [100, 400, 100, 400], "relation": ["same family"] * 2 + ["all pairs"] * 2, "metric": "accuracy",
            "threshold": [6.0, 3.0, 7.0, np.nan], "low": [5.0, 2.5, 6.0, np.nan], "high": [7.0, 3.5, 8.0, np.nan],
            "c": 60.0, "fit": [6.0, 3.0, 6.0, 3.0], "exponent": -0.5,
        }
    )  # fmt: skip
    ax = figures.thresholds(table)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "60 / √n   (free slope -0.50)" in names
    assert not any("all pairs" in name for name in names)
    (values,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(np.asarray(values.get_ydata(), float), [6.0, 3.0])


def test_calibration_shows_bins_from_weak_to_strong() -> None:
    table = pd.DataFrame(
        {
            "p_from": [0.0, 0.01, 0.04] * 2, "p_to": [0.01, 0.1, 0.06] * 2, "confidence": [0.999, 0.95, 0.95] * 2,
            "share": [0.99, 0.9, 0.88, 0.8, np.nan, 0.7], "low": [0.9, 0.8, 0.7, 0.7, np.nan, 0.6],
            "high": [1.0, 0.95, 0.95, 0.9, np.nan, 0.8], "elsewhere": ["news"] * 3 + ["wiki"] * 3,
        }
    )  # fmt: skip
    ax = figures.calibration(table)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.01 – 0.1", "< 0.01"]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"1 − p", "news", "wiki"}


def test_bad_tables(points: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="missing: p_value"):
        figures.curve(points.drop(columns="p_value"))
    with pytest.raises(ValueError, match="missing: rows"):
        figures.curve(points.head(0))
    with pytest.raises(ValueError, match="every window had too few pairs"):
        figures.thresholds(
            pd.DataFrame(
                columns=["n_items", "relation", "threshold", "low", "high", "fit", "c", "exponent"],
                data=[[1, "x"] + [np.nan] * 6],
            )
        )
    with pytest.raises(ValueError, match="every bin had too few pairs"):
        figures.calibration(
            pd.DataFrame(
                columns=["p_from", "p_to", "share", "low", "high", "confidence", "elsewhere"],
                data=[[0, 1, *[np.nan] * 4, "x"]],
            )
        )
