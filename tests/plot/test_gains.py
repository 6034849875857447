"""Curves, thresholds and calibration show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import plot


@pytest.mark.parametrize("by", ["relation", "n_items"])
def test_curve_draws_points_lines_and_names(points: pd.DataFrame, curves: pd.DataFrame, by: str) -> None:
    ax = plot.curve(points, curves, by=by)
    drawn = np.concatenate(
        [collection.get_offsets() for collection in ax.collections if len(collection.get_offsets()) > 1]
    )
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(1 - points["p_value"]))
    lines = [line for line in ax.lines if len(line.get_xdata()) == 60]
    assert len(lines) == 2
    names = {text.get_text() for text in ax.get_legend().get_texts()}
    assert names == ({"same family", "different families"} if by == "relation" else {"100 items", "400 items"})
    assert ax.get_xlabel() == "gain (accuracy, points)"


def drawn_heights(points: pd.DataFrame) -> np.ndarray:
    ax = plot.curve(points)
    return np.sort(np.concatenate([np.asarray(found.get_offsets())[:, 1] for found in ax.collections]))


def test_curve_has_no_confidence_in_gains_that_the_test_speaks_against(points: pd.DataFrame) -> None:
    """Every second pair's test speaks for the system that is behind; or the table says the confidence itself."""
    against = np.arange(len(points)) % 2 == 0
    behind = [f"b{k}" for k in range(len(points))]
    pairs = points.assign(system_a="a", system_b=behind, favours=np.where(against, behind, "a"))
    wanted = np.where(against, 0.0, 1 - points["p_value"])
    np.testing.assert_allclose(drawn_heights(pairs), np.sort(wanted))
    neither = pairs.assign(favours=np.where(against, "", "a"))
    np.testing.assert_allclose(drawn_heights(neither), np.sort(1 - points["p_value"]))
    np.testing.assert_allclose(drawn_heights(pairs.assign(confidence=0.25)), 0.25)


def test_curve_without_lines_still_names_the_classes(points: pd.DataFrame) -> None:
    ax = plot.curve(points)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"same family", "different families"}


def test_thresholds_show_values_intervals_and_the_fit() -> None:
    table = pd.DataFrame(
        {
            "n_items": [100, 400, 100, 400], "relation": ["same family"] * 2 + ["all pairs"] * 2, "metric": "accuracy",
            "threshold": [6.0, 3.0, 7.0, np.nan], "low": [5.0, 2.5, 6.0, np.nan], "high": [7.0, 3.5, 8.0, np.nan],
            "c": 60.0, "fit": [6.0, 3.0, 6.0, 3.0], "exponent": -0.5,
        }
    )  # fmt: skip
    ax = plot.thresholds(table)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "60 / √n   (free slope -0.50)" in names
    assert not any("all pairs" in name for name in names)
    (values,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(np.asarray(values.get_ydata(), float), [6.0, 3.0])


def test_thresholds_without_an_interval_are_points(recwarn: pytest.WarningsRecorder) -> None:
    table = pd.DataFrame(
        {
            "n_items": [100, 400], "relation": "all pairs", "metric": "accuracy", "threshold": [6.0, 3.0],
            "low": [5.0, np.nan], "high": [7.0, np.nan], "c": 60.0, "fit": [6.0, 3.0], "exponent": -0.5,
        }
    )  # fmt: skip
    ax = plot.thresholds(table)
    ax.figure.canvas.draw()
    (values,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(np.asarray(values.get_ydata(), float), [6.0, 3.0])
    bars = [bar for found in ax.collections for bar in found.get_segments() if len(bar) == 2]
    assert [bar[:, 1].tolist() for bar in bars] == [[5.0, 7.0]]
    assert not recwarn.list


@pytest.mark.parametrize(("alternative", "sides"), [("greater", "one-sided"), ("two-sided", "two-sided")])
def test_axes_say_the_sides_where_the_table_does(points: pd.DataFrame, alternative: str, sides: str) -> None:
    asked = points.assign(alternative=alternative)
    assert plot.curve(asked).get_ylabel() == f"confidence, 1 − p ({sides})"
    assert plot.curve(points).get_ylabel() == "confidence, 1 − p"
    table = pd.DataFrame(
        {
            "n_items": [100, 400], "relation": "all pairs", "metric": "accuracy", "threshold": 3.0, "low": 2.0,
            "high": 4.0, "c": 60.0, "fit": 3.0, "exponent": -0.5, "alternative": alternative,
        }
    )  # fmt: skip
    assert plot.thresholds(table).get_ylabel() == f"gain threshold (accuracy, points) ({sides})"


def test_calibration_shows_bins_from_weak_to_strong() -> None:
    table = pd.DataFrame(
        {
            "p_from": [0.0, 0.01, 0.04] * 2, "p_to": [0.01, 0.1, 0.06] * 2, "expected": [0.999, 0.95, 0.95] * 2,
            "share": [0.99, 0.9, 0.88, 0.8, np.nan, 0.7], "low": [0.9, 0.8, 0.7, 0.7, np.nan, 0.6],
            "high": [1.0, 0.95, 0.95, 0.9, np.nan, 0.8], "elsewhere": ["news"] * 3 + ["wiki"] * 3,
        }
    )  # fmt: skip
    ax = plot.calibration(table)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.01 – 0.1", "< 0.01"]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"expected, same domain", "news", "wiki"}
    beside = plot.calibration(table.assign(baseline=[0.97, 0.8, 0.8] * 2, low=np.nan, high=np.nan))
    names = {text.get_text() for text in beside.get_legend().get_texts()}
    assert names == {"expected, same domain", "same number, home items", "news", "wiki"}
    (measured,) = [line for line in beside.lines if line.get_label() == "same number, home items"]
    assert dict(zip(*measured.get_data(), strict=True)) == {0: 0.8, 1: 0.97}


def test_bad_tables(points: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="no column p_value"):
        plot.curve(points.drop(columns="p_value"))
    with pytest.raises(ValueError, match="must have at least one row"):
        plot.curve(points.head(0))
    with pytest.raises(ValueError, match="every window had too few pairs"):
        plot.thresholds(
            pd.DataFrame(
                columns=["n_items", "relation", "threshold", "low", "high", "fit", "c", "exponent"],
                data=[[1, "x"] + [np.nan] * 6],
            )
        )
    with pytest.raises(ValueError, match="every bin had too few pairs"):
        plot.calibration(
            pd.DataFrame(
                columns=["p_from", "p_to", "share", "low", "high", "expected", "elsewhere"],
                data=[[0, 1, *[np.nan] * 4, "x"]],
            )
        )
