"""Figures of power and exaggeration show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import plot


def test_power_is_a_line_a_test_over_the_number_of_units() -> None:
    table = pd.DataFrame({"test": ["sign", "sign", "fisher"], "n_units": [100, 10, 10], "share": [0.9, 0.2, 0.1]})
    ax = plot.power_curves(table.assign(low=0.0, high=1.0))
    drawn = {str(bars.get_label()): [list(side) for side in bars[0].get_data()] for bars in ax.containers}
    assert drawn == {"sign": [[10, 100], [0.2, 0.9]], "fisher": [[10], [0.1]]}


def test_exaggeration_is_a_line_a_condition_over_power() -> None:
    table = pd.DataFrame({"view": ["a", "a", "b"], "share": [0.8, 0.2, 0.5], "type_m": [1.1, 3.0, np.nan]})
    ax = plot.exaggeration(table.assign(type_m_low=table["type_m"] - 0.1, type_m_high=table["type_m"] + 0.2))
    (bars,) = ax.containers
    assert [list(side) for side in bars[0].get_data()] == [[0.2, 0.8], [3.0, 1.1]]
    arms = np.array(bars[2][0].get_segments())[:, :, 1]
    np.testing.assert_allclose(arms, [[2.9, 3.2], [1.0, 1.3]])


@pytest.mark.parametrize(
    ("draw", "table", "message"),
    [
        (plot.exaggeration, pd.DataFrame({"view": ["a"], "share": 0.5, "type_m": np.nan, "type_m_low": np.nan,
                                             "type_m_high": np.nan}), "table must have a type_m in some row"),
        (plot.power_curves, pd.DataFrame({"test": ["a", "a"], "n_units": 9, "share": 0.5, "low": 0.4, "high": 0.6}),
         "each test once for a number of units"),
    ],
)  # fmt: skip
def test_tables_of_two_questions_are_refused(draw: object, table: pd.DataFrame, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(table)  # type: ignore[operator]
