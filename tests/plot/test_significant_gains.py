"""Gains that are significant, by test set and by test size, show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex

from simstudy import plot
from simstudy.analyses.thresholds import rule_of_thumb
from simstudy.plot.colours import colours_of, relation_colour


def by_size() -> pd.DataFrame:
    """Numbers of two metrics that follow c / sqrt(n) exactly, c = 40 and 90."""
    table = pd.DataFrame({"n_items": [100, 400, 1600, 100, 900], "metric": ["las"] * 3 + ["bleu"] * 2})
    table["true_80"] = np.where(table["metric"] == "las", 40.0, 90.0) / np.sqrt(table["n_items"])
    return table.assign(
        true_80_low=0.8 * table["true_80"], true_80_high=1.3 * table["true_80"], alternative="two-sided", alpha=0.05
    )


def points_of(ax: Axes, colour: str) -> dict[float, float]:
    dots = [line for line in ax.lines if line.get_marker() == "o" and to_hex(line.get_color()) == to_hex(colour)]
    return dict(zip(*np.concatenate([line.get_xydata() for line in dots]).T, strict=True))


def labels(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_sizes_show_a_point_for_each_test_set_and_a_line_through_them() -> None:
    table = by_size().sample(frac=1, random_state=1)
    ax = plot.gains_by_size(table)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    colours = colours_of("metric", list(dict.fromkeys(table["metric"])))
    assert points_of(ax, colours["las"]) == pytest.approx({100: 4.0, 400: 2.0, 1600: 1.0})
    assert points_of(ax, colours["bleu"]) == pytest.approx({100: 9.0, 900: 3.0})
    lines = {str(line.get_label()): line.get_xydata() for line in ax.lines if "√n" in str(line.get_label())}
    (las,) = [line for name, line in lines.items() if name.startswith("LAS: 40 / √n")]
    np.testing.assert_allclose(las, [[100, 4], [1600, 1]])
    np.testing.assert_allclose(lines["BLEU: 90 / √n"], [[100, 9], [900, 3]])
    assert sorted(labels(ax)) == sorted(lines)
    bars = np.concatenate([c.get_segments() for c in ax.collections])
    drawn = sorted((x, low, high) for (x, low), (_, high) in bars.tolist())
    np.testing.assert_allclose(drawn, sorted(table[["n_items", "true_80_low", "true_80_high"]].to_numpy().tolist()))
    wanted = "true gain found with power 0.8\ntwo-sided, α = 0.05"
    assert ax.get_ylabel() == wanted, "several metrics have no unit in common"


def test_sizes_of_one_metric_have_its_unit_and_other_colours() -> None:
    table = by_size().query("metric == 'las'").assign(test_set=["one", "two", "two"])
    ax = plot.gains_by_size(table, by="test_set")
    assert ax.get_ylabel() == "true gain found with power 0.8 (LAS, points)\ntwo-sided, α = 0.05"
    assert [name.partition(":")[0] for name in labels(ax)] == ["one", "two"]


def test_the_free_slope_is_that_of_a_power_law() -> None:
    """Gains that fall with n and not with its square root: the slope in the logarithms is -1."""
    table = by_size().head(3)
    table = table.assign(true_80=400 / table["n_items"])
    assert "free slope -1.00" in labels(plot.gains_by_size(table))[0]


def test_test_sets_without_a_number_are_left_out() -> None:
    table = by_size()
    table.loc[table["metric"] == "bleu", ["true_80", "true_80_low", "true_80_high"]] = np.nan
    ax = plot.gains_by_size(table)
    assert len(labels(ax)) == 1
    assert labels(ax)[0].startswith("LAS: 40 / √n")


def test_numbers_without_an_interval_are_points() -> None:
    table = by_size().assign(true_80_low=np.nan, true_80_high=np.nan)
    ax = plot.gains_by_size(table)
    bars = np.concatenate([c.get_segments() for c in ax.collections])
    assert (bars[:, 0] == bars[:, 1]).all()
    assert len(bars) == 5


def test_the_band_holds_the_rule_of_thumb_s_spread() -> None:
    """The c, and its 10 and 90 %, are those of `rule_of_thumb`; line and band are c / sqrt(n) at both ends."""
    rng = np.random.default_rng(2)
    n = rng.integers(100, 10_000, 30)
    table = pd.DataFrame({"n_items": n, "metric": "accuracy", "true_80": rng.uniform(60, 120, 30) / np.sqrt(n)})
    table = table.assign(true_80_low=np.nan, true_80_high=np.nan, alternative="greater", alpha=0.01)
    ax = plot.gains_by_size(table)
    named = table.assign(task="t", test_set=[f"s{k}" for k in range(30)], of="all pairs")
    rule = rule_of_thumb(named, ["true_80"]).iloc[0]
    (text,) = labels(ax)
    spread = f"({rule['c_10']:.3g}–{rule['c_90']:.3g})"
    assert text == f"accuracy: {rule['c']:.3g} / √n {spread}, free slope {rule['exponent']:.2f}"
    (band,) = [found for found in ax.collections if isinstance(found, PolyCollection)]
    corners = {(round(x), round(y * np.sqrt(x), 6)) for x, y in band.get_paths()[0].vertices}
    ends = {int(n.min()), int(n.max())}
    assert corners == {(x, round(rule[c], 6)) for x in ends for c in ("c_10", "c_90")}
    assert ax.get_ylabel().endswith("\none-sided, α = 0.01")


@pytest.mark.parametrize("rows", [1, 2])
def test_one_test_set_or_one_size_can_be_drawn(rows: int) -> None:
    table = by_size().head(1)
    ax = plot.gains_by_size(pd.concat([table] * rows, ignore_index=True))
    ax.figure.canvas.draw()
    assert labels(ax) == ["LAS: 40 / √n"]


def by_test_set() -> pd.DataFrame:
    rows = [
        ("small", 50, "same group", 3.0, 5.5, 4.0, 3.5, 5.0),
        ("small", 50, "different groups", 6.0, 9.0, 8.0, 7.0, 9.5),
        ("large", 1000, "same group", 1.0, 2.0, 1.5, 1.2, 1.9),
        ("large", 1000, "different groups", 2.0, 4.0, 3.0, 2.5, 3.5),
        ("middle", 200, "all pairs", 2.5, 4.5, 3.5, 3.0, 4.0),
        ("unknown", 20, "same group", *[np.nan] * 5),
    ]
    numbers = ["observed_50", "observed_95", "true_80", "true_80_low", "true_80_high"]
    table = pd.DataFrame(rows, columns=["test_set", "n_items", "relation", *numbers])
    return table.assign(metric="accuracy", alternative="two-sided", alpha=0.05)


def marks(ax: Axes, marker: str, relation: str) -> dict[int, float]:
    """Row of the chart -> where the marks of a relation stand."""
    colour = to_hex(relation_colour(relation))
    lines = [line for line in ax.lines if line.get_marker() == marker and to_hex(line.get_color()) == colour]
    return {round(y): x for line in lines for x, y in np.asarray(line.get_xydata(), float).tolist()}


def test_test_sets_have_rows_by_size_with_true_and_observed_gains() -> None:
    table = by_test_set()
    ax = plot.gains_by_test_set(table)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["small  (50)", "middle  (200)", "large  (1,000)"]
    bottom, top = ax.get_ylim()
    assert bottom > top, "the largest at the bottom"
    assert marks(ax, "o", "same group") == {0: 4.0, 2: 1.5}
    assert marks(ax, "|", "same group") == {0: 3.0, 2: 1.0}
    assert marks(ax, "o", "different groups") == {0: 8.0, 2: 3.0}
    assert marks(ax, "o", "all pairs") == {1: 3.5}
    bars = np.concatenate([c.get_segments() for c in ax.collections])
    drawn = {(low, high) for (low, _), (high, _) in bars.round(6).tolist()}
    intervals = {(3.5, 5.0), (7.0, 9.5), (1.2, 1.9), (2.5, 3.5), (3.0, 4.0)}
    observed = {(3.0, 5.5), (6.0, 9.0), (1.0, 2.0), (2.0, 4.0), (2.5, 4.5)}
    assert drawn == intervals | observed
    assert ax.get_xlabel() == "gain in points (two-sided, α = 0.05)"
    assert sorted(labels(ax)[:3]) == ["all pairs", "different groups", "same group"]
    assert labels(ax)[3:] == [
        "true gain found with power 0.8", "observed gain significant for half of the pairs", "… to 95 % of the pairs"
    ]  # fmt: skip
    heights = [np.asarray(line.get_ydata(), float) for line in ax.lines if line.get_marker() == "o"]
    assert len(np.unique(np.concatenate(heights).round(6))) == 5, "classes of a test set do not hide each other"


def test_relations_keep_their_colours() -> None:
    """One class missing changes no other's colour, and all words for one kind of class have one."""
    ax = plot.gains_by_test_set(by_test_set().query("relation != 'same group'"))
    assert marks(ax, "o", "different groups") == {0: 8.0, 2: 3.0}
    assert relation_colour("same base model") == relation_colour("same group")
    assert relation_colour("different families") == relation_colour("different groups")
    kinds = ["same group", "different groups", "all pairs", "system combinations", "combination and single system"]
    assert len({relation_colour(kind) for kind in [*kinds, "group unknown"]}) == 6
    assert colours_of("relation", kinds) == {kind: relation_colour(kind) for kind in kinds}


def test_many_test_sets_keep_their_names_apart() -> None:
    table = pd.concat([by_test_set().head(2).assign(test_set=f"set {k}", n_items=50 + k) for k in range(50)])
    ax = plot.gains_by_test_set(table)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) == 50
    assert not any(one.overlaps(other) for one, other in zip(boxes, boxes[1:], strict=False))


def test_panels_share_their_axes_or_do_not() -> None:
    for shared, columns, same in ((None, 2, True), (None, None, False), (False, 2, False), (True, None, True)):
        _, axes = plot.panels(["a", "b", "c", "d"], per_row=columns, shared=shared)
        axes[0].set_xlim(0, 7)
        assert (axes[3].get_xlim() == (0, 7)) is same


def test_drawn_on_an_axes_that_is_there() -> None:
    _, (ax,) = plot.panels(["here"])
    assert plot.gains_by_size(by_size(), ax=ax) is ax
    _, (ax,) = plot.panels(["here"])
    assert plot.gains_by_test_set(by_test_set(), ax=ax) is ax


def test_bad_tables() -> None:
    for column in ("metric", "true_80_low", "alternative"):
        with pytest.raises(ValueError, match=f"no column {column}"):
            plot.gains_by_size(by_size().assign(test_set="a").drop(columns=column), by="test_set")
    with pytest.raises(ValueError, match="no column relation"):
        plot.gains_by_test_set(by_test_set().drop(columns="relation"))
    with pytest.raises(ValueError, match="must have at least one row"):
        plot.gains_by_test_set(by_test_set().head(0))
    with pytest.raises(ValueError, match="every test set had too few pairs"):
        plot.gains_by_size(by_size().assign(true_80=np.nan))
    with pytest.raises(ValueError, match="every test set had too few pairs"):
        plot.gains_by_test_set(by_test_set().tail(1))
    with pytest.raises(ValueError, match="table must have one alpha, not 0.05, 0.01"):
        plot.gains_by_test_set(pd.concat([by_test_set(), by_test_set().assign(alpha=0.01)]))
    with pytest.raises(ValueError, match="table must have one alternative, not two-sided, greater"):
        plot.gains_by_size(pd.concat([by_size(), by_size().assign(alternative="greater")]))


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ("accuracy", "gain in points ("),
        (["accuracy", "las"] * 3, "gain in points ("),
        ("ap", "gain (average precision; "),
        (["ap", "bleu"] * 3, "gain (each on its metric's scale; "),
    ],
)
def test_gains_are_called_points_only_where_metrics_are_in_percent(metrics: object, said: str) -> None:
    table = by_test_set()
    table["metric"] = metrics
    assert plot.gains_by_test_set(table).get_xlabel() == f"{said}two-sided, α = 0.05)"
