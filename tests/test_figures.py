"""Figures show what their tables say: checked on the Axes, and by files that are the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from simstudy import figures
from simstudy.analyses.correlation import correlation_shares

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def points() -> pd.DataFrame:
    gain = np.tile(np.linspace(0, 3, 60), 2)
    return pd.DataFrame(
        {
            "gain": gain, "p_value": 0.5 * np.exp(-gain), "metric": "accuracy", "n_items": np.repeat([100, 400], 60),
            "relation": np.repeat(["same family", "different families"], 60), "test_set": "home",
        }
    )  # fmt: skip


@pytest.fixture
def curves(points: pd.DataFrame) -> pd.DataFrame:
    middle = 1 - points["p_value"]
    return points.assign(confidence=middle, confidence_05=middle - 0.02, confidence_95=middle + 0.01)


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
    ax = figures.matrix(pairs.sample(frac=1, random_state=3))
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
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["significant at 0.1, certainty 0.99", "not significant", "p at most 0.1, not certainly"]


def test_matrix_without_resamples_needs_no_certainty() -> None:
    ax = figures.matrix(all_pairs(["a", "b", "c"], [0.0994, 0.0, 0.11], n=0))
    assert drawn_cells(ax) == [{(1, 0), (2, 0)}, {(2, 1)}]
    assert not ax.patches
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["significant at 0.1", "not significant"]


def test_matrix_of_many_systems_has_a_scale_instead_of_numbers(rng: np.random.Generator) -> None:
    ax = figures.matrix(all_pairs([f"s{k}" for k in range(21)], list(rng.random(210))), cutoff=0.05)
    assert not ax.texts
    assert sum(map(len, drawn_cells(ax))) == 210
    assert [label.get_text() for bar in ax.child_axes for label in bar.get_xticklabels()] == ["p = 0.0001", "0.05", "1"]


def grouped() -> pd.DataFrame:
    """a with c, and b with c and d: neither of the first two is a run that the other is apart from."""
    return pd.DataFrame(
        {
            "group": [1, 1, 2, 2, 2, 3], "place": [1, 3, 2, 3, 4, 5], "system": list("acbcde"), "metric": "f1",
            "score": [50.0, 48.0, 49.0, 48.0, 47.0, 30.0],
        }
    )  # fmt: skip


def test_groups_have_lanes_of_their_own_and_dots_at_members_only() -> None:
    ax = figures.groups(grouped())
    assert [label.get_text() for label in ax.get_yticklabels()] == list("abcde")
    scores, *lines = ax.lines
    assert dict(zip(*scores.get_data(), strict=True)) == {50: 1, 49: 2, 48: 3, 47: 4, 30: 5}
    assert [list(line.get_ydata()) for line in lines if line.get_marker() == "o"] == [[1, 3], [5], [2, 3, 4]]
    first, last, second = (line.get_xdata()[0] for line in lines if line.get_marker() == "o")
    joined = [(tuple(line.get_ydata()), line.get_linestyle()) for line in lines if line.get_marker() == "None"]
    assert joined == [((1, 3), "--"), ((2, 3), "-"), ((3, 4), "-")], "broken beside a system that is not in the group"
    assert 50 < first == last < second < ax.get_xlim()[1], "beside the scores; those that do not meet share a lane"
    assert ax.get_xlabel() == "score (F1, points)"
    assert max(ax.get_xticks()) <= 51


def test_groups_that_are_too_many_are_counted() -> None:
    """70 pairs of places that all span the middle: no two can share a lane."""
    ends = [(k, 141 - k) for k in range(1, 71)]
    table = pd.DataFrame([(k, place) for k, two in enumerate(ends) for place in two], columns=["group", "place"])
    ax = figures.groups(table.assign(system="s" + table["place"].astype(str), score=200.0 - table["place"]))
    assert [text.get_text() for text in ax.texts] == ["groups (60 of 70 lanes)"]
    assert len([line for line in ax.lines if line.get_marker() == "o"]) == 61


@pytest.mark.parametrize("k", [2, 17, 45])
def test_figures_of_pairs_keep_their_text_apart_and_inside(k: int, rng: np.random.Generator) -> None:
    names = [f"a-system-of-a-long-name-{n}" for n in range(k)]
    matrix = figures.matrix(all_pairs(names, list(rng.random(k * (k - 1) // 2))))
    table = pd.DataFrame({"group": 1, "place": np.arange(k) + 1, "system": names, "score": np.linspace(60, 20, k)})
    for ax in (matrix, figures.groups(table)):
        ax.figure.canvas.draw()
        page = ax.figure.bbox
        for labels in (ax.get_xticklabels(), ax.get_yticklabels(), ax.texts):
            boxes = [label.get_window_extent() for label in labels]
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
            assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 for box in boxes)


def agreed() -> pd.DataFrame:
    """Two tests beside each other, by relation class and over all pairs."""
    table = pd.DataFrame(
        {
            "relation": np.repeat(["same family", "different families", "all pairs"], 2),
            "test": ["sign", "z_independent"] * 3, "alpha": 0.01, "share": [0.5, 0.2, 0.7, 0.6, 0.65, 0.5],
        }
    )  # fmt: skip
    return table.assign(low=table["share"] - 0.1, high=table["share"] + 0.15)


def intervals(ax: Axes) -> list[np.ndarray]:
    """The ends of the error bars, (n, 2, 2), one array for each errorbar."""
    return [np.array(bars.get_segments()) for bars in ax.collections if isinstance(bars, LineCollection)]


def test_rejections_show_each_tests_share_and_interval_by_relation() -> None:
    table = agreed()
    ax = figures.rejections(table)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["sign", "z_independent"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first test on top"
    assert ax.get_xlabel() == "share of pairs with p ≤ 0.01"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["same family", "different families"], "all pairs are these together"
    for name, line, bars in zip(names, ax.lines, intervals(ax), strict=True):
        rows = table[table["relation"] == name]
        np.testing.assert_allclose(np.asarray(line.get_xdata(), float), rows["share"])
        assert np.round(line.get_ydata()).tolist() == [0, 1], "beside the test's name"
        np.testing.assert_allclose(bars[:, :, 0], rows[["low", "high"]])
        assert to_hex(line.get_color()) == figures.style.RELATIONS[name].lower()


def test_rejections_of_a_single_class_show_it() -> None:
    ax = figures.rejections(agreed().query("relation == 'all pairs'"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all pairs"]
    (line,) = ax.lines
    np.testing.assert_allclose(np.asarray(line.get_xdata(), float), [0.65, 0.5])


def correlated(*r12: float) -> pd.DataFrame:
    return pd.DataFrame({"relation": "same family", "r12": r12})


def test_correlations_are_shares_of_each_class_with_its_median() -> None:
    table = pd.concat([correlated(0.51, 0.52, 0.58, 0.92), correlated(0.1, 0.32).assign(relation="different families")])
    ax = figures.correlations(correlation_shares(table))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["same family: median 0.55", "different families: median 0.21"]
    assert [line.get_xdata()[0] for line in ax.lines] == pytest.approx([0.55, 0.21])
    tops = [area.get_path().vertices[:, 1].max() for area in ax.patches if area.get_fill()]
    assert tops == pytest.approx([2 / 4, 1 / 2]), "two of four in 0.50 - 0.55; one of two"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("correlation of two systems, r12", "share of the pairs")
    assert ax.get_xlim() == (0, 1)


@pytest.mark.parametrize("lowest", [-0.99, -0.5, -0.33, -0.2, -0.05, 0.3])
def test_correlations_of_equal_systems_are_drawn_whatever_the_lowest_is(lowest: float) -> None:
    """Of four pairs three have r12 = 1, which is the end of the scale."""
    ax = figures.correlations(correlation_shares(correlated(lowest, 1, 1, 1)))
    (area,) = [area for area in ax.patches if area.get_fill()]
    assert area.get_path().vertices[:, 1].max() == pytest.approx(3 / 4)
    assert ax.get_xlim()[0] <= min(lowest, 0)


def test_pairs_without_a_correlation_are_left_out() -> None:
    table = pd.concat([correlated(0.5, np.nan), correlated(np.nan).assign(relation="different families")])
    ax = figures.correlations(correlation_shares(table))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["same family: median 0.50"]


def dependent() -> pd.DataFrame:
    table = pd.DataFrame({"within": [0.0, 0.4] * 2, "unit": ["item"] * 2 + ["cluster"] * 2, "alpha": 0.1})
    return table.assign(share=[0.11, 0.4, 0.09, 0.1], low=[0.1, 0.35, 0.08, 0.09], high=[0.13, 0.5, 0.12, 0.11])


def test_type_1_errors_show_each_unit_beside_alpha() -> None:
    table = dependent()
    ax = figures.type_1_errors(table)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["unit: item", "unit: cluster"]
    *units, promised = [line for line in ax.lines if line.get_marker() != "_"]
    assert list(promised.get_ydata()) == [0.1, 0.1]
    for unit, line, bars in zip(("item", "cluster"), units, intervals(ax), strict=True):
        rows = table[table["unit"] == unit]
        assert list(line.get_xdata()) == [0, 0.4]
        np.testing.assert_allclose(np.asarray(line.get_ydata(), float), rows["share"])
        np.testing.assert_allclose(bars[:, :, 1], rows[["low", "high"]])
    assert ax.get_ylim()[0] == 0
    assert ax.get_xlabel() == "correlation of the items of a cluster"
    assert ax.get_ylabel() == "share of p ≤ 0.1, equally good systems"


@pytest.mark.parametrize(
    ("draw", "table"),
    [
        ("rejections", agreed()),
        ("correlations", correlation_shares(correlated(0.5)).drop(columns="n_pairs")),
        ("type_1_errors", dependent()),
    ],
)
def test_figures_of_tests_draw_on_the_axes_they_are_given(draw: str, table: pd.DataFrame) -> None:
    _, (ax,) = figures.panels(["mine"])
    assert getattr(figures, draw)(table, ax=ax) is ax
    assert ax.get_title(loc="left") == "mine"
    with pytest.raises(ValueError, match="table must have rows and the columns .*; missing: rows"):
        getattr(figures, draw)(table.head(0))
    for column in table.columns:
        with pytest.raises(ValueError, match=f"missing: {column}$"):
            getattr(figures, draw)(table.drop(columns=column))


def test_bad_tables_of_tests() -> None:
    for wrong in (pd.concat([agreed(), agreed()]), agreed().head(3)):
        with pytest.raises(ValueError, match="agreement of one test set, each test once in each relation class"):
            figures.rejections(wrong)
    with pytest.raises(ValueError, match="table must have a correlation; every r12 is missing"):
        correlation_shares(correlated(np.nan, np.nan))


def test_saved_files_are_the_same_in_every_run(points: pd.DataFrame, curves: pd.DataFrame, tmp_path: Path) -> None:
    for run in ("a", "b"):
        figure, axes = figures.panels(["one", "two"])
        for ax in axes:
            figures.curve(points, curves, ax=ax)
        figures.save(figure, tmp_path / run / "figure")
    for name in ("figure.png", "figure.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert "same family" in (tmp_path / "a" / "figure.svg").read_text(), "SVG text should stay text"


def test_drawing_leaves_the_callers_style_alone(points: pd.DataFrame) -> None:
    before = dict(mpl.rcParams)
    figures.curve(points)
    assert dict(mpl.rcParams) == before


def test_bad_tables_of_pairs() -> None:
    pairs = all_pairs(["a", "b", "c"], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="pairs must have rows and the columns .*; missing: n_extreme"):
        figures.matrix(pairs.drop(columns="n_extreme"))
    for wrong in (pairs.head(2), pd.concat([pairs, pairs]), pairs.assign(system_b=["b", "c", "a"])):
        with pytest.raises(ValueError, match="pairs must be every pair of systems of one test set and test once"):
            figures.matrix(wrong)
    with pytest.raises(ValueError, match="cutoff must lie between 0 and 1"):
        figures.matrix(pairs, cutoff=1)
    with pytest.raises(ValueError, match="certainty must lie between 0 and 1"):
        figures.matrix(pairs, certainty=99)
    with pytest.raises(ValueError, match="missing: place"):
        figures.groups(grouped().drop(columns="place"))
    with pytest.raises(ValueError, match="table must be the groups of one test set; it has two systems at one place"):
        figures.groups(pd.concat([grouped(), grouped().assign(system=list("vwxxyz"))]))


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
