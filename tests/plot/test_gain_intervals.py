"""Gains with their intervals: what is drawn is what the table says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs
from simstudy.plot import gain_intervals
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared


def test_dots_and_bars_stand_where_the_table_says() -> None:
    pairs = compared(correlated_accuracies([0.5, 0.52, 0.8], 300))
    ax = gain_intervals(pairs)
    drawn = {}
    for container in ax.containers:
        dots, _, (bars,) = container.lines
        for x, y, bar in zip(*dots.get_data(), bars.get_segments(), strict=True):
            drawn[int(y)] = (x, *bar[:, 0])
    expected = pairs[["gain", "gain_low", "gain_high"]].to_numpy()
    np.testing.assert_allclose([drawn[k] for k in range(len(pairs))], expected)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(pairs["system_a"] + " – " + pairs["system_b"])


def test_blue_is_what_is_significant_and_the_legend_says_at_what() -> None:
    pairs = compared(correlated_accuracies([0.5, 0.52, 0.8], 300))
    ax = gain_intervals(pairs, alpha=0.01)
    blue = next(c for c in ax.containers if c.lines[0].get_color() == "#0072B2")
    assert sorted(blue.lines[0].get_ydata()) == list(np.flatnonzero(pairs["p_value"] <= 0.01))
    assert ax.get_legend().get_texts()[0].get_text() == "significant at 0.01, two-sided"


def test_pairs_without_an_interval_are_left_out_or_refused() -> None:
    scores = pd.DataFrame({"a": [0.3, 0.5, 0.9], "b": [0.3, 0.5, 0.9], "c": [0.1, 0.6, 0.2]})
    pairs = compared(Outputs.from_scores(scores))
    assert len(gain_intervals(pairs).get_yticks()) == 2
    with pytest.raises(ValueError, match="pairs must have at least one interval"):
        gain_intervals(pairs[pairs["gain_low"].isna()])
    with pytest.raises(ValueError, match="gain_low"):
        gain_intervals(pairs.drop(columns="gain_low"))
