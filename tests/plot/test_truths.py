"""Figures of power, exaggeration, uniformity and choices show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from simstudy import plot


def choices() -> pd.DataFrame:
    verdicts = ["first choice", "nearly", "wrong too often", "keeps its level"]
    table = pd.DataFrame({"situation": ["accuracy", "accuracy", "BLEU", "BLEU"], "sizes": "10 - 30",
                          "test": ["sign_flips", "bootstrap"] * 2, "verdict": verdicts})  # fmt: skip
    return table.assign(power=[0.4, 0.123, np.nan, 1.0])


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


def test_uniformity_has_a_line_a_condition_a_colour_a_situation_and_a_band_of_binomial_shares() -> None:
    table = pd.DataFrame({"condition": ["a", "a", "b", "c"], "alpha": [0.5, 0.1, 0.1, 0.1]}).assign(
        situation=["one", "one", "two", "one"], n_sets=[100, 100, 100, 400], excess=[0.02, -0.01, 0.0, 0.01]
    )
    ax = plot.uniformity(table)
    lines = [line for line in ax.lines if line.get_label() in ("one", "two")]
    assert [list(line.get_xdata()) for line in lines] == [[0.1, 0.5], [0.1], [0.1]]
    assert lines[0].get_color() == lines[2].get_color() != lines[1].get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    (band,) = ax.collections
    (path,) = band.get_paths()
    assert path.vertices[:, 1].max() == pytest.approx(1.96 * np.sqrt(0.25 / 100), rel=1e-3)


def test_choices_are_cells_of_one_colour_a_verdict_with_power_in_percent() -> None:
    ax = plot.choices(choices())
    cells = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [cell.get_center().round(9).tolist() for cell in cells] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert len({to_hex(cell.get_facecolor()) for cell in cells}) == 4
    assert [text.get_text() for text in ax.texts] == ["40", "12", "", "100", "accuracy", "BLEU"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["10 - 30"] * 2
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["first choice", "keeps its level", "nearly", "wrong too often"]


@pytest.mark.parametrize(
    ("draw", "table", "message"),
    [
        (plot.choices, choices().assign(verdict="good"), "verdict must be one of first choice, .*, not 'good'"),
        (plot.choices, pd.concat([choices(), choices()]), "table must have a test once for a situation and size"),
        (plot.exaggeration, pd.DataFrame({"view": ["a"], "share": 0.5, "type_m": np.nan, "type_m_low": np.nan,
                                             "type_m_high": np.nan}), "table must have a type_m in some row"),
        (plot.uniformity, pd.DataFrame({"condition": ["a", "a"], "situation": "s", "alpha": 0.1, "n_sets": 9,
                                           "excess": 0.0}), "each condition once for a level"),
        (plot.power_curves, pd.DataFrame({"test": ["a", "a"], "n_units": 9, "share": 0.5, "low": 0.4, "high": 0.6}),
         "each test once for a number of units"),
    ],
)  # fmt: skip
def test_tables_of_two_questions_are_refused(draw: object, table: pd.DataFrame, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(table)  # type: ignore[operator]
