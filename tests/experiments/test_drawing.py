"""Figures that one study has, and no other: they show what their tables say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from simstudy import plot
from tests.experiments.programs import program
from tests.experiments.test_power_tables import BENCHMARKS, two_metrics

STUDIES = ("error_rates", "evert_2004", "power_tables", "tools_bench")
ERRORS, EVERT, POWER, TOOLS = (program(name, "drawing") for name in STUDIES)


@pytest.fixture
def panel() -> Iterator[Any]:
    figure, (ax,) = plot.panels(["mine"])
    yield ax
    plt.close(figure)


def lines(ax: Any) -> dict[str, tuple[list[float], list[float]]]:
    """What each errorbar is called and where its points lie."""
    return {
        str(bars.get_label()): tuple(np.asarray(side, float).tolist() for side in bars[0].get_data())
        for bars in ax.containers
    }


def test_rates_by_test_have_a_row_for_each_test_and_a_dot_for_each_condition(panel: Any) -> None:
    table = pd.DataFrame(
        {"label": ["t", "t", "sign"], "title": ["F1", "BLEU", "F1"], "alpha": 0.05, "share": [0.04, 0.06, 0.4],
         "low": [0.03, 0.05, 0.3], "high": [0.05, 0.07, 0.5]}
    )  # fmt: skip
    ax = plot.styled(TOOLS.rates_by_test)(table, most=0.2, ax=panel)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["t", "sign"]
    (shares, at), (other, above) = lines(ax)["F1"], lines(ax)["BLEU"]
    assert shares == [0.04, 0.2], "what is beyond the axis is drawn at its end"
    assert other == [0.06]
    assert [round(y) for y in at] == [0, 1]
    assert at[0] < above[0]
    assert ax.get_xlabel() == "share of rejections at 0.05"
    with pytest.raises(ValueError, match="each test once for a condition"):
        TOOLS.rates_by_test(pd.concat([table, table]), most=0.2, ax=panel)
    with pytest.raises(ValueError, match="table must have at least one row"):
        TOOLS.rates_by_test(table.head(0), most=0.2, ax=panel)


def spread() -> tuple[pd.DataFrame, pd.DataFrame]:
    observed = np.array([0.2, 0.25, 0.3, 0.3, 0.35, 0.4, np.nan])
    repetitions = pd.DataFrame({"ranking": "t_score", "precision": observed})
    check = pd.DataFrame(
        {"ranking": ["t_score"], "average_precision": [0.3], "sd_binomial": [0.04], "sd_observed": [0.07]}
    )
    return repetitions, check


def test_spread_has_every_evaluation_and_both_normal_curves(panel: Any) -> None:
    ax = plot.styled(EVERT.precision_spread)(*spread(), "t_score", ax=panel)
    assert sum(bar.get_height() for bar in ax.patches) == 6
    width = ax.patches[0].get_width()
    for line, sd in zip(ax.lines, (0.04, 0.07), strict=True):
        x, y = np.array(line.get_xydata()).T
        # Each curve is the density of a normal times the area of the bars.
        assert y.max() == pytest.approx(6 * width / (sd * np.sqrt(2 * np.pi)), rel=1e-3)
        assert x[y.argmax()] == pytest.approx(0.3, abs=0.01)
        assert f"{sd:.3f}" in str(line.get_label())
    with pytest.raises(ValueError, match="repetitions of 'other'"):
        plot.styled(EVERT.precision_spread)(*spread(), "other", ax=panel)


def test_spread_that_can_not_be_is_refused_and_none_observed_is_drawn(panel: Any) -> None:
    repetitions, check = spread()
    for none in (0.0, np.nan):
        with pytest.raises(ValueError, match="repetitions of 't_score' must let expect a spread; their average"):
            plot.styled(EVERT.precision_spread)(repetitions, check.assign(sd_binomial=none), "t_score", ax=panel)
    with pytest.raises(ValueError, match="check of 't_score'"):
        plot.styled(EVERT.precision_spread)(repetitions, check.assign(ranking="other"), "t_score", ax=panel)
    equal = repetitions.assign(precision=0.3)
    ax = plot.styled(EVERT.precision_spread)(equal, check.assign(sd_observed=0.0), "t_score", ax=panel)
    assert [str(line.get_label()) for line in ax.lines] == ["normal, expected sd 0.040", "normal, observed sd 0.000"]
    assert len(np.asarray(ax.lines[1].get_xydata())) == 0


def test_p_values_have_a_line_for_each_test(panel: Any) -> None:
    table = pd.DataFrame(
        {"test": ["fisher"] * 3 + ["bootstrap"] * 3, "n": [300, 100, 200] * 2, "p_value": [0.3, 0.1, 0.2] * 2}
    )
    ax = plot.styled(EVERT.p_values_by_length)(table, alpha=0.05, ax=panel)
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert drawn["fisher"] == [[100, 0.1], [200, 0.2], [300, 0.3]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fisher", "bootstrap"]


def test_the_spread_of_precision_beside_what_is_expected(panel: Any) -> None:
    """A normal curve of so many evaluations is as high as its bin is wide, over its standard deviation."""
    precision = np.array([0.5, 0.56, 0.44, 0.6, 0.4])
    repetitions = pd.DataFrame({"ranking": "t", "precision": precision})
    check = pd.DataFrame({"ranking": ["t"], "average_precision": 0.5, "sd_binomial": 0.04, "sd_observed": 0.08})
    ax = plot.styled(EVERT.precision_spread)(repetitions, check, "t", ax=panel)
    curves = {line.get_label(): line.get_ydata().max() for line in ax.lines}
    for label, sd in (("normal, expected sd 0.040", 0.04), ("normal, observed sd 0.080", 0.08)):
        assert curves[label] == pytest.approx(5 * 0.04 / (sd * np.sqrt(2 * np.pi)), rel=1e-2)
    assert sum(patch.get_height() for patch in ax.patches) == 5


def test_minimum_detectable_gains_are_in_points_whatever_the_metrics_unit_is() -> None:
    """The law's c is the median, 80; pairs within a family, and a metric of two test sets, are not in its figure."""
    benchmarks = two_metrics(BENCHMARKS.UNLIKE).assign(kind=["image"] * 3 + ["retrieval"] * 3)
    same = benchmarks.assign(relation=BENCHMARKS.VARIANTS, minimum_detectable_gain=7.0)
    few = benchmarks.head(2).assign(metric="las")
    (ax,) = POWER.by_size(pd.concat([benchmarks, same, few])).axes
    drawn = {str(line.get_label()): line.get_xydata().T for line in ax.lines if "√n" in str(line.get_label())}
    assert [*drawn] == ["F1: 80 / √n", "average precision: 80 / √n"]
    for n, gains in drawn.values():
        np.testing.assert_allclose(gains * np.sqrt(n), [60, 80, 100])
    laws = [line.get_xydata().T for line in ax.lines if str(line.get_label()) not in drawn]
    np.testing.assert_allclose([gains * np.sqrt(n) for n, gains in laws], [[80, 80]] * 2)
    titles = {name: name.upper() for name in benchmarks["test_set"]}
    figure = POWER.gallery(benchmarks, titles)
    order = np.array([80 / np.sqrt(4000), 60 / np.sqrt(1000), 100 / np.sqrt(2000)])
    for ax, metric in zip(figure.axes, ("F1", "AP"), strict=True):
        assert [tick.get_text() for tick in ax.get_yticklabels()] == [
            f"{metric} {n}  ({n:,})" for n in (4000, 1000, 2000)
        ]
        np.testing.assert_allclose(sorted(ax.lines[0].get_xydata().tolist()), np.column_stack([order, range(3)]))
        ends = sorted(segment[:, 0].tolist() for segment in ax.collections[0].get_segments())
        np.testing.assert_allclose(ends, np.column_stack([order / 2, 2 * order]))
    plt.close("all")


def choices() -> pd.DataFrame:
    verdicts = ["first choice", "nearly", "wrong too often", "keeps its level"]
    table = pd.DataFrame({"situation": ["accuracy", "accuracy", "BLEU", "BLEU"], "sizes": "10 - 30",
                          "test": ["sign_flips", "bootstrap"] * 2, "verdict": verdicts})  # fmt: skip
    return table.assign(power=[0.4, 0.123, np.nan, 1.0])


def test_uniformity_has_a_line_a_condition_a_colour_a_situation_and_a_band_of_binomial_shares(panel: Any) -> None:
    table = pd.DataFrame({"condition": ["a", "a", "b", "c"], "alpha": [0.5, 0.1, 0.1, 0.1]}).assign(
        situation=["one", "one", "two", "one"], n_sets=[100, 100, 100, 400], excess=[0.02, -0.01, 0.0, 0.01]
    )
    ax = plot.styled(ERRORS.uniformity)(table, ax=panel)
    drawn = [line for line in ax.lines if line.get_label() in ("one", "two")]
    assert [list(line.get_xdata()) for line in drawn] == [[0.1, 0.5], [0.1], [0.1]]
    assert drawn[0].get_color() == drawn[2].get_color() != drawn[1].get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    (band,) = ax.collections
    (path,) = band.get_paths()
    assert path.vertices[:, 1].max() == pytest.approx(1.96 * np.sqrt(0.25 / 100), rel=1e-3)


def test_choices_are_cells_of_one_colour_a_verdict_with_power_in_percent(panel: Any) -> None:
    ax = plot.styled(ERRORS.cells)(choices(), ax=panel)
    cells = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [cell.get_center().round(9).tolist() for cell in cells] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert len({to_hex(cell.get_facecolor()) for cell in cells}) == 4
    assert [text.get_text() for text in ax.texts] == ["40", "12", "", "100", "accuracy", "BLEU"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["10 - 30"] * 2
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["first choice", "keeps its level", "nearly keeps its level", "rejects too often"]


@pytest.mark.parametrize(
    ("draw", "table", "message"),
    [
        (ERRORS.cells, choices().assign(verdict="good"), "verdict must be one of first choice, .*, not 'good'"),
        (ERRORS.cells, pd.concat([choices(), choices()]), "table must have a test once for a situation and size"),
        (ERRORS.uniformity, pd.DataFrame({"condition": ["a", "a"], "situation": "s", "alpha": 0.1, "n_sets": 9,
                                          "excess": 0.0}), "each condition once for a level"),
    ],
)  # fmt: skip
def test_tables_of_two_questions_are_refused(draw: Any, table: pd.DataFrame, message: str, panel: Any) -> None:
    with pytest.raises(ValueError, match=message):
        draw(table, ax=panel)
