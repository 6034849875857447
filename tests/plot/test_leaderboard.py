from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from simstudy import plot
from tests.plot.drawn import legend
from tests.plot.tables import board

BEST, OTHER = "#d55e00", "#0072b2"


def bars(ax: Axes) -> dict[tuple[int, str, float], tuple[float, float]]:
    """Row, colour and opacity of a horizontal bar -> from where to where."""
    found = {}
    for lines in ax.collections:
        assert isinstance(lines, LineCollection)
        for (low, y), (high, _) in [np.round(ends, 6).tolist() for ends in lines.get_segments() if len(ends)]:
            found[round(y), to_hex(lines.get_color()[0]), lines.get_alpha() or 1.0] = (low, high)
    return found


def test_scores_and_places_of_each_system() -> None:
    ax = plot.leaderboard(board())
    beside = ax.figure.axes[-1]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"system {p}" for p in (1, 2, 3, 4)]
    assert bars(ax) == {
        (1, BEST, 1.0): (81, 88), (2, BEST, 1.0): (76, 83), (3, OTHER, 1.0): (71, 78), (4, OTHER, 1.0): (66, 73),
    }  # fmt: skip
    drawn = bars(beside)
    assert len(drawn) == 8
    # A bar ends 0.4 of a place beyond its places, so that one place alone is seen.
    assert drawn[1, BEST, 0.3] == (0.6, 3.4)
    assert drawn[1, BEST, 1.0] == (0.6, 2.4)
    assert drawn[3, OTHER, 0.3] == (0.6, 4.4)
    assert drawn[3, OTHER, 1.0] == (1.6, 4.4)
    marks = {(x, y) for line in beside.lines for x, y in np.asarray(line.get_xydata(), float).tolist()}
    assert marks == {(1, 1), (2, 2), (3, 3), (4, 4)}
    bottom, top = beside.get_ylim()
    assert bottom > top, "the best on top"
    assert ax.get_xlabel() == "accuracy, %, with 95 % interval"
    assert beside.get_xlabel() == "rank, 95 % confidence set"


def test_the_legend_says_what_bars_are_and_lies_above_them() -> None:
    for table in (board(), board(60), board(2)):
        ax = plot.leaderboard(table)
        ax.figure.canvas.draw()
        beside = ax.figure.axes[-1]
        texts = legend(beside)
        assert texts == ["all systems at once", "one system, chosen beforehand", "by score", "may be the best"]
        swatches = [line.get_color() for line in beside.get_legend().get_lines()]
        assert (swatches[0] == swatches[3]) == table["may_be_best"].all(), "bars of one colour"
        box, panel = beside.get_legend().get_window_extent(), beside.get_window_extent()
        assert box.y0 >= panel.y1
        assert box.x1 <= ax.figure.bbox.x1
        assert box.y1 <= ax.figure.bbox.y1


def test_many_systems_keep_their_names_apart_and_rows_level() -> None:
    table = board(60).assign(system=[f"2025{p:04}_a-system-with-quite-a-name_{p}" for p in range(60)])
    ax = plot.leaderboard(table)
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in zip(boxes, boxes[1:], strict=False))
    assert boxes[0].x0 >= 0
    beside = ax.figure.axes[-1]
    assert beside.get_ylim() == ax.get_ylim()
    assert abs(beside.get_window_extent().y0 - ax.get_window_extent().y0) < 1
    assert beside.get_window_extent().width > 200


def test_a_score_without_interval(tmp_path: Path) -> None:
    table = board()
    table.loc[1, ["score_low", "score_high"]] = np.nan
    ax = plot.leaderboard(table.assign(metric="bleu", level=0.9))
    assert ax.get_xlabel() == "BLEU, with 90 % interval"
    assert [row for row, _, _ in bars(ax)] == [1, 3, 4]
    assert len(bars(ax.figure.axes[-1])) == 8, "its places are drawn"
    assert all(path.exists() for path in plot.save(ax.figure, tmp_path / "board"))


def test_scores_say_where_lower_is_better() -> None:
    errors = board().assign(metric="aer", score=[5.0, 6.0, 7.0, 8.0])
    assert plot.leaderboard(errors).get_xlabel() == "AER, %, lower is better, with 95 % interval"
    ties = board().assign(metric="aer", score=[5.0, 5.0, 5.0, 5.0 + 1e-12])
    assert plot.leaderboard(ties).get_xlabel() == "AER, %, with 95 % interval"


def test_drawn_in_a_panel_that_is_there() -> None:
    figure, panels = plot.panels(["one", "two"])
    assert plot.leaderboard(board(), ax=panels[0]) is panels[0]
    figure.canvas.draw()
    scores, other, places = (ax.get_window_extent() for ax in figure.axes)
    assert scores.x1 < places.x0 < places.x1 < other.x0


def test_axes_that_are_no_panel_are_refused() -> None:
    figure, _ = plot.panels(["one"])
    with pytest.raises(ValueError, match="ax must be a panel of a grid"):
        plot.leaderboard(board(), ax=figure.add_axes((0, 0, 1, 1)))


def test_tied_systems_have_rows_of_their_own_and_no_place_is_cut_off() -> None:
    """Two third places, and joint sets that end two places behind the narrow ones."""
    table = board(5).assign(rank=[1, 2, 3, 3, 5], rank_high=[3, 4, 5, 5, 5], rank_high_own=[1, 2, 3, 3, 3])
    beside = plot.leaderboard(table).figure.axes[-1]
    marks = {(x, y) for line in beside.lines for x, y in np.asarray(line.get_xydata(), float).tolist()}
    assert marks == {(1, 1), (2, 2), (3, 3), (3, 4), (5, 5)}
    drawn = bars(beside)
    assert len(drawn) == 10
    assert {row for row, _, _ in drawn} == {1, 2, 3, 4, 5}
    assert beside.get_xlim()[1] >= max(high for _, high in drawn.values()) == 5.4
