"""Figures for a paper, figures of many systems, and names in scripts that fonts lack."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

import simstudy as ss
from simstudy import plot
from simstudy.notes import notes_kept
from simstudy.plot import fonts
from simstudy.plot.rows import folded
from tests.plot.drawn import legend
from tests.plot.tables import CURVES, PAIRS, POINTS, TABLES

ROWS = ("leaderboard", "groups", "gain_intervals", "matrix", "gain_by_task")


def laid_out(figure: Figure) -> list[Text]:
    """The texts of a figure that is drawn as it would be saved."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [*ROWS, "curve", "planned_gains"])
def test_in_a_paper_a_figure_is_a_column_wide_and_nothing_is_cut_or_has_a_title(name: str) -> None:
    with plot.for_a_paper():
        figure = getattr(plot, name)(TABLES[name]).figure
        texts = laid_out(figure)
    width, height = figure.get_size_inches()
    assert width == pytest.approx(84 / 25.4, abs=0.03)
    assert height < 9
    assert not any(ax.get_title(loc="left") for ax in figure.axes)
    assert min(text.get_fontsize() for text in texts) >= 6.5
    # In inches; what is beyond an axis' ends is not seen.
    seen = figure.get_tightbbox()
    assert -0.02 <= seen.x0 < seen.x1 <= width + 0.02
    assert -0.02 <= seen.y0 < seen.y1 <= height + 0.02
    plt.close(figure)


def test_outside_of_the_block_figures_are_as_they_were() -> None:
    with plot.for_a_paper():
        pass
    _, (ax,) = plot.panels(["A title"])
    assert ax.get_title(loc="left") == "A title"
    assert ax.figure.get_size_inches().tolist() == [4.4, 3.4]


def many(k: int) -> ss.Comparisons:
    return ss.compare(ss.truth.correlated_accuracies(np.linspace(0.5, 0.9, k).tolist(), 40), test="t_paired")


@pytest.mark.parametrize(("k", "keyed"), [(60, False), (61, True)])
def test_columns_of_a_large_matrix_have_numbers_that_its_rows_explain(k: int, keyed: bool) -> None:
    ax = plot.matrix(many(k))
    below = [label.get_text() for label in ax.get_xticklabels()]
    beside = [label.get_text() for label in ax.get_yticklabels()]
    assert len(below) == len(beside) == k
    if keyed:
        assert below == [str(place) for place in range(1, k + 1)]
        assert all(text.endswith(f"  {place}") for place, text in enumerate(beside, 1))
    else:
        assert all(text.startswith(f"{name}  ") for name, text in zip(below, beside, strict=True))
    plt.close(ax.figure)


def test_rows_of_many_systems_are_low_and_do_not_touch() -> None:
    """200 systems: a row's letters are no higher than the row, and the figure is no higher than two feet."""
    pairs = many(200)
    board = pd.DataFrame({"group": 1, "rank": range(1, 201), "system": pairs.names, "score": np.linspace(90, 50, 200)})
    for ax in (plot.groups(board), plot.matrix(pairs), plot.gain_intervals(pairs.frame.head(199))):
        height = ax.figure.get_size_inches()[1]
        assert height < 24
        labels = ax.get_yticklabels()
        assert len(labels) == 200 - (len(labels) == 199)
        assert labels[0].get_fontsize() / 72 <= height / len(labels)
        plt.close(ax.figure)


def test_a_legend_has_only_what_is_drawn() -> None:
    sure, unsure = PAIRS.assign(p_value=0.001), PAIRS.assign(p_value=0.5)
    assert legend(plot.matrix(sure)) == ["significant at 0.05, not corrected"]
    assert legend(plot.matrix(unsure)) == ["not significant at 0.05, not corrected"]
    intervals = TABLES["gain_intervals"]
    assert legend(plot.gain_intervals(intervals.assign(p_value=0.001))) == ["significant at 0.05, not corrected"]
    assert legend(plot.gain_intervals(intervals.assign(p_value=0.5))) == ["not significant at 0.05, not corrected"]


def test_of_many_test_sets_only_lines_are_drawn_which_differ_in_colour_and_dashes() -> None:
    sets = [f"set {k}" for k in range(6)]
    points = pd.concat([POINTS.assign(test_set=name) for name in sets], ignore_index=True)
    curves = pd.concat([CURVES.assign(test_set=name) for name in sets[:5]], ignore_index=True)
    ax = plot.curve(points, curves, by="test_set")
    assert legend(ax) == sets
    lines = [line for line in ax.lines if line.get_label() in sets[:5]]
    assert (
        len({line.get_color() for line in lines})
        == len({str(line.get_linestyle()) + str(line._dash_pattern) for line in lines})
        == 5
    )  # type: ignore[attr-defined]
    assert len(ax.collections) == 1, "the points of the test set without a line"
    few = plot.curve(
        points[points["test_set"].isin(sets[:3])], curves[curves["test_set"].isin(sets[:3])], by="test_set"
    )
    assert len(few.collections) == 3


def test_a_long_title_is_small_enough_for_its_panel_and_a_long_legend_has_rows() -> None:
    figure, axes = plot.panels(["word_alignment_unsupervised", "short"], width=2.9)
    for ax in axes:
        for k in range(7):
            ax.plot([0, 1], label=f"each on a test set of its own {k}")
    plot.share_legend(figure, axes)
    laid_out(figure)
    title = next(text for text in axes[0].findobj(Text) if text.get_text() == "word_alignment_unsupervised")  # type: ignore[attr-defined]
    assert title.get_window_extent().x1 <= axes[1].get_window_extent().x0
    assert axes[1].title.get_fontsize() != title.get_fontsize()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_the_line_below_a_figure_says_what_its_data_are(tmp_path: Path) -> None:
    figure = plot.curve(POINTS).figure
    plot.say_below(figure, "exam $x$, accuracy, 40 items")
    plot.save(figure, tmp_path / "one", formats=["svg"])
    assert "exam $x$, accuracy, 40 items" in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_names_are_folded_where_words_end() -> None:
    assert folded("meta-llama/Llama-3.1-405B-Instruct").split("\n") == ["meta-llama/Llama-3.1-", "405B-Instruct"]
    assert folded("short") == "short"
    assert max(map(len, folded("x" * 80).split("\n"))) <= 44


def test_letters_that_no_font_has_are_noted_once_and_nothing_warns(tmp_path: Path) -> None:
    table = TABLES["leaderboard"].assign(system=[f"\U0001f9ea{k}" for k in range(len(TABLES["leaderboard"]))])
    with notes_kept() as told, warnings.catch_warnings():
        warnings.simplefilter("error")
        plot.save(plot.leaderboard(table).figure, tmp_path / "one", formats=["png", "svg", "pdf"])
    assert len(told) == 1
    assert "Noto Sans CJK" in told[0]
    assert "\U0001f9ea" in told[0]


def test_fonts_of_this_machine_are_in_no_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "families", lambda: ["DejaVu Sans", "One", "Two Sans"])
    assert fonts.without_own_fonts("font-family: 'DejaVu Sans', 'One', 'Two Sans';") == "font-family: 'DejaVu Sans';"


@pytest.mark.parametrize("formats", [["gif"], "png", [3]])
def test_other_formats_are_refused(tmp_path: Path, formats: list[str]) -> None:
    figure, _ = plot.panels(["one"])
    with pytest.raises(ValueError, match="formats must be"):
        plot.save(figure, tmp_path / "one", formats=formats)
    assert not re.search("one", " ".join(path.name for path in tmp_path.iterdir()))
    plt.close(figure)
