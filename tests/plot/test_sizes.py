"""The figure of smaller test sets: shares of pairs, or the gain of one pair."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy import plot
from tests.plot.tables import TABLES


def test_shares_of_pairs_by_size_before_and_after_correction() -> None:
    ax = plot.smaller_test_sets(TABLES["smaller_test_sets"])
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.get_lines()}
    assert drawn == {
        "not corrected": [[400, 0.8], [200, 0.6], [100, 0.3]],
        "Holm, for all pairs": [[400, 0.7], [200, 0.2], [100, 0.0]],
    }
    assert ax.get_xticks().tolist() == [400, 200, 100]


def test_of_one_pair_its_gain_with_intervals() -> None:
    gains = {"gain": [2.0, 1.9, 1.0], "gain_low": [1.0, 0.9, np.nan], "gain_high": [3.0, 2.9, np.nan]}
    sizes = pd.DataFrame({"n_items": [400, 390, 100], "pairs": 1, "significant": 1, "significant_holm": 1, **gains})
    ax = plot.smaller_test_sets(sizes)
    assert ax.get_lines()[0].get_xydata().tolist() == [[400, 2], [390, 1.9], [100, 1]]
    assert ax.get_ylabel() == "gain (95 % interval)"
    # Numbers that have no room beside each other are left out.
    assert ax.get_xticks().tolist() == [400, 100]
