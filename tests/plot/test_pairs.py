"""The matrix of p-values, groups and gains with intervals show what their tables say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.patches import Rectangle

from simstudy import plot
from simstudy.statistics.decisions import Decision
from tests.plot.drawn import across, bars, legend, rows
from tests.plot.tables import GROUPS, PAIRS


def all_pairs(names: list[str], p_values: list[float], n: int = 9_999) -> pd.DataFrame:
    """Systems best first, a point apart; the p-values in the order of `combinations`."""
    scores = {name: 60.0 - k for k, name in enumerate(names)}
    rows = [[a, b, scores[a], scores[b]] for a, b in combinations(names, 2)]
    table = pd.DataFrame(rows, columns=["system_a", "system_b", "score_a", "score_b"])
    extreme = pd.Series(np.array(p_values) * (n + 1) - 1).round().astype("int64") if n else 0
    return table.assign(p_value=p_values, n_extreme=extreme, n_resamples=n)


def drawn_cells(ax: Axes) -> list[set[tuple[int, int]]]:
    """(row, column) of the cells that each mesh of a matrix shows: the significant ones, and the others."""
    return [
        set(zip(*np.nonzero(~np.ma.getmaskarray(mesh.get_array())), strict=True))
        for mesh in ax.collections
        if isinstance(mesh, QuadMesh)
    ]


def test_matrix_shows_each_pair_once_with_its_decision() -> None:
    """Chinchor's GE, GE-CMU and UMASS, and a fourth: 0.0994 is not certainly at most 0.1."""
    pairs = all_pairs(["GE", "GE-CMU", "UMASS", "ITP"], [0.0415, 0.0994, 0.0001, 0.8918, 0.0042, 0.5])
    ax = plot.matrix(pairs.sample(frac=1, random_state=3), alpha=0.1, certainty=0.99)
    significant, other = drawn_cells(ax)
    assert significant == {(1, 0), (3, 0), (3, 1)}
    assert other == {(2, 0), (2, 1), (3, 2)}
    written = {tuple(np.floor(text.get_position()).astype(int)): text.get_text() for text in ax.texts}
    assert written == {
        (0, 1): "0.04", (0, 2): "0.099", (0, 3): "<0.001", (1, 2): "0.89", (1, 3): "0.004", (2, 3): "0.50",
    }  # fmt: skip
    assert [label.get_text() for label in ax.get_xticklabels()] == ["GE", "GE-CMU", "UMASS", "ITP"]
    assert ax.get_yticklabels()[1].get_text() == "GE-CMU  59.00"
    (frame,) = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert tuple(np.floor(frame.get_xy())) == (0, 2)
    why = "p at most 0.1, but not certain,\nor for the other system, or of too few units"
    assert legend(ax) == ["significant at 0.1, certainty 0.99,\nnot corrected", "not significant", why]
    as_it_is = plot.matrix(pairs, alpha=0.1)
    assert drawn_cells(as_it_is)[0] == {(1, 0), (2, 0), (3, 0), (3, 1)}
    assert legend(as_it_is)[0] == "significant at 0.1, not corrected"


def test_names_have_room_beside_the_longest_legend() -> None:
    pairs = all_pairs(["GE", "GE-CMU", "UMASS"], [0.0415, 0.0984, 0.92]).assign(alternative="two-sided")
    ax = plot.matrix(pairs, alpha=0.1, certainty=0.99)
    assert legend(ax)[0] == "significant at 0.1, two-sided, certainty 0.99,\nnot corrected"
    ax.figure.canvas.draw()
    assert min(label.get_window_extent().x0 for label in ax.get_yticklabels()) >= 0


def test_matrix_without_resamples_needs_no_certainty() -> None:
    ax = plot.matrix(all_pairs(["a", "b", "c"], [0.0994, 0.0, 0.11], n=0), alpha=0.1, certainty=0.99)
    assert drawn_cells(ax) == [{(1, 0), (2, 0)}, {(2, 1)}]
    assert not ax.patches
    assert legend(ax) == ["significant at 0.1, not corrected", "not significant"]


def test_matrix_does_not_show_what_prefers_the_other_as_significant() -> None:
    """p is 0.01 everywhere: one test speaks for the lower score, one gain is of two units."""
    pairs = all_pairs(["a", "b", "c"], [0.01, 0.01, 0.01], n=0).assign(p_floor=[0.001, 0.001, 0.5])
    ax = plot.matrix(pairs.assign(better=["a", "c", "b"], alternative="two-sided"))
    assert drawn_cells(ax) == [{(1, 0)}, {(2, 0), (2, 1)}]
    frames = {tuple(np.floor(patch.get_xy())) for patch in ax.patches if isinstance(patch, Rectangle)}
    assert frames == {(0, 2), (1, 2)}
    assert legend(ax)[0] == "significant at 0.05, two-sided, not corrected"


def test_matrix_of_many_systems_has_a_scale_instead_of_numbers(rng: np.random.Generator) -> None:
    ax = plot.matrix(all_pairs([f"s{k}" for k in range(21)], list(rng.random(210))), alpha=0.05)
    assert not ax.texts
    assert sum(map(len, drawn_cells(ax))) == 210
    assert [label.get_text() for bar in ax.child_axes for label in bar.get_xticklabels()] == ["p = 0.0001", "0.05", "1"]


def test_groups_have_lanes_of_their_own_and_dots_at_members_only() -> None:
    ax = plot.groups(GROUPS.assign(metric="f1"))
    assert rows(ax) == list("abcde")
    scores, *lines = ax.lines
    assert dict(zip(*scores.get_data(), strict=True)) == {50: 1, 49: 2, 48: 3, 47: 4, 30: 5}
    assert [list(line.get_ydata()) for line in lines if line.get_marker() == "o"] == [[1, 3], [5], [2, 3, 4]]
    first, last, second = (line.get_xdata()[0] for line in lines if line.get_marker() == "o")
    joined = [(tuple(line.get_ydata()), line.get_linestyle()) for line in lines if line.get_marker() == "None"]
    assert joined == [((1, 3), "--"), ((2, 3), "-"), ((3, 4), "-")], "broken beside a system that is not in the group"
    assert 50 < first == last < second < ax.get_xlim()[1], "beside the scores; those that do not meet share a lane"
    colours = [line.get_color() for line in lines if line.get_marker() == "o"]
    assert len(set(colours)) == 3, "groups that lie beside each other differ"
    assert ax.get_xlabel() == "score (F1, %)"
    assert max(ax.get_xticks()) <= 51


def test_groups_that_are_too_many_are_counted() -> None:
    """70 pairs of places that all span the middle: no two can share a lane."""
    ends = [(k, 141 - k) for k in range(1, 71)]
    table = pd.DataFrame([(k, place) for k, two in enumerate(ends) for place in two], columns=["group", "rank"])
    ax = plot.groups(table.assign(system="s" + table["rank"].astype(str), score=200.0 - table["rank"]))
    assert [text.get_text() for text in ax.texts] == ["groups (60 of 70 lanes)"]
    assert len([line for line in ax.lines if line.get_marker() == "o"]) == 61


@pytest.mark.parametrize("k", [2, 17])
def test_figures_of_pairs_keep_their_text_apart_and_inside(k: int, rng: np.random.Generator) -> None:
    names = [f"a-system-of-a-long-name-{n}" for n in range(k)]
    matrix = plot.matrix(all_pairs(names, list(rng.random(k * (k - 1) // 2))))
    table = pd.DataFrame({"group": 1, "rank": np.arange(k) + 1, "system": names, "score": np.linspace(60, 20, k)})
    for ax in (matrix, plot.groups(table)):
        ax.figure.canvas.draw()
        page = ax.figure.bbox
        for labels in (ax.get_xticklabels(), ax.get_yticklabels(), ax.texts):
            boxes = [label.get_window_extent() for label in labels]
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
            assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 for box in boxes)


def test_gains_stand_with_their_intervals_in_the_order_of_the_table() -> None:
    table = pd.concat([PAIRS, PAIRS.head(1).assign(system_a="v", system_b="w", gain_low=np.nan)])
    ax = plot.gain_intervals(table.assign(alternative="two-sided"), alpha=0.01)
    assert rows(ax) == ["x – y", "x – z", "y – z"], "what has no interval is left out"
    drawn = {y: ends for of_colour in bars(ax, flat=True) for y, ends in of_colour.items()}
    assert drawn == {0: (-0.5, 2.5), 1: (4, 9), 2: (1, 8)}
    assert {y: x for found in ax.containers for x, y in found[0].get_xydata().tolist()} == {0: 2, 1: 5, 2: 3}  # type: ignore[index]
    assert across(ax, 0) == [0], "no gain"
    assert legend(ax) == ["significant at 0.01, two-sided, not corrected", "not significant"]


def test_blue_is_what_is_significant(rng: np.random.Generator) -> None:
    """By the one rule, of pairs some of which speak for the other system or are of too few units."""
    for alpha in (0.05, 0.2):
        pairs = all_pairs(list("abcdefg"), list(rng.random(21) ** 3))
        pairs = pairs.assign(gain=1.0, gain_low=0.0, gain_high=2.0, alternative="two-sided",
                             better=np.where(rng.random(21) < 0.8, pairs["system_a"], pairs["system_b"]),
                             p_floor=np.where(rng.random(21) < 0.8, 1e-6, 0.5))  # fmt: skip
        significant = Decision(alpha).significant(pairs)
        assert 2 < significant.sum() < 15
        ax = plot.gain_intervals(pairs, alpha=alpha)
        (blue,) = [found for found in ax.containers if found[0].get_color() == "#0072B2"]  # type: ignore[index]
        assert sorted(blue[0].get_ydata()) == np.flatnonzero(significant).tolist()  # type: ignore[index]
        cells = {(ord(b) - 97, ord(a) - 97) for a, b in pairs[significant][["system_a", "system_b"]].to_numpy()}
        assert drawn_cells(plot.matrix(pairs, alpha=alpha))[0] == cells


def test_groups_share_a_lane_only_if_they_share_no_system() -> None:
    """One ends with the system that the next one begins with; a third begins below both."""
    members = [(1, 1), (1, 2), (2, 2), (2, 3), (3, 4), (3, 5)]
    table = pd.DataFrame(members, columns=["group", "rank"])
    ax = plot.groups(table.assign(system="s" + table["rank"].astype(str), score=50.0 - table["rank"]))
    first, second, third = sorted(
        (min(line.get_ydata()), line.get_xdata()[0]) for line in ax.lines[1:] if line.get_marker() == "o"
    )
    assert first[1] == third[1] != second[1]
