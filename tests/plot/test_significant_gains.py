"""Gains that are significant, by test set and by test size, show what their tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from simstudy import plot
from simstudy.plot.parts import colours_of, relation_colour
from simstudy.studies.natural.gains import rule_of_thumb
from tests.plot.drawn import bands, bars, curve_of, dotted, legend, rows
from tests.plot.tables import BY_SIZE, BY_TEST_SET


def test_sizes_show_a_point_for_each_test_set_and_a_line_through_them() -> None:
    ax = plot.gains_by_size(BY_SIZE.sample(frac=1, random_state=1))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    metrics = list(dict.fromkeys(BY_SIZE.sample(frac=1, random_state=1)["metric"]))
    drawn = {to_hex(found[0].get_color()): dict(found[0].get_xydata()) for found in ax.containers}  # type: ignore[index]
    colours = {name: to_hex(colour) for name, colour in colours_of("metric", metrics).items()}
    assert drawn[colours["las"]] == pytest.approx({100: 4.0, 400: 2.0, 1600: 1.0})
    assert drawn[colours["bleu"]] == pytest.approx({100: 9.0, 900: 3.0})
    assert sorted(legend(ax)) == ["BLEU: 90 / √n", "LAS: 40 / √n, free slope -0.50"]
    assert curve_of(ax, "LAS: 40 / √n, free slope -0.50") == {100: 4, 1600: 1}
    assert curve_of(ax, "BLEU: 90 / √n") == {100: 9, 900: 3}
    found = sorted((x, *ends) for drawn_bars in bars(ax) for x, ends in drawn_bars.items())
    np.testing.assert_allclose(found, sorted(BY_SIZE[["n_items", "true_80_low", "true_80_high"]].to_numpy().tolist()))
    wanted = "minimum detectable gain (power 0.8)\neach on its metric's scale; two-sided, α = 0.05"
    assert ax.get_ylabel() == wanted, "several metrics have no unit in common"


def test_sizes_of_one_metric_have_its_unit_and_other_colours() -> None:
    table = BY_SIZE.query("metric == 'las'").assign(test_set=["one", "two", "two"])
    ax = plot.gains_by_size(table, by="test_set")
    assert ax.get_ylabel() == "minimum detectable gain (power 0.8)\nLAS, points; two-sided, α = 0.05"
    assert [name.partition(":")[0] for name in legend(ax)] == ["one", "two"]


def test_the_free_slope_is_that_of_a_power_law() -> None:
    """Gains that fall with n and not with its square root: the slope in the logarithms is -1."""
    table = BY_SIZE.head(3)
    table = table.assign(true_80=400 / table["n_items"])
    assert "free slope -1.00" in legend(plot.gains_by_size(table))[0]
    two_sizes = table.assign(n_items=[100, 400, 400])
    assert "slope" not in legend(plot.gains_by_size(two_sizes))[0], "a line goes through any two sizes"


def test_test_sets_without_a_number_are_left_out() -> None:
    table = BY_SIZE.copy()
    table.loc[table["metric"] == "bleu", ["true_80", "true_80_low", "true_80_high"]] = np.nan
    ax = plot.gains_by_size(table)
    assert len(legend(ax)) == 1
    assert legend(ax)[0].startswith("LAS: 40 / √n")


def test_numbers_without_an_interval_are_points() -> None:
    ax = plot.gains_by_size(BY_SIZE.assign(true_80_low=np.nan, true_80_high=np.nan))
    assert bars(ax) == [{}, {}]
    assert sum(len(found) for found in dotted(ax).values()) >= 2


def test_the_band_holds_the_rule_of_thumb_s_spread() -> None:
    """The c, and its 10 and 90 %, are those of `rule_of_thumb`; line and band are c / sqrt(n) at both ends."""
    rng = np.random.default_rng(2)
    n = rng.integers(100, 10_000, 30)
    table = pd.DataFrame({"n_items": n, "metric": "accuracy", "true_80": rng.uniform(60, 120, 30) / np.sqrt(n)})
    table = table.assign(true_80_low=np.nan, true_80_high=np.nan, alternative="greater", alpha=0.01)
    ax = plot.gains_by_size(table)
    named = table.assign(task="t", test_set=[f"s{k}" for k in range(30)], pairs="all pairs")
    rule = rule_of_thumb(named, ["true_80"]).iloc[0]
    (text,) = legend(ax)
    spread = f"({rule['c_10']:.3g}–{rule['c_90']:.3g})"
    assert text == f"accuracy: {rule['c']:.3g} / √n {spread}, free slope {rule['exponent']:.2f}"
    (band,) = bands(ax)
    assert [*band] == [n.min(), n.max()]
    for size, found in band.items():
        assert found == pytest.approx((rule["c_10"] / np.sqrt(size), rule["c_90"] / np.sqrt(size)))
    assert ax.get_ylabel().endswith("; one-sided, α = 0.01")


@pytest.mark.parametrize("rows", [1, 2])
def test_one_test_set_or_one_size_can_be_drawn(rows: int) -> None:
    table = BY_SIZE.head(1)
    ax = plot.gains_by_size(pd.concat([table] * rows, ignore_index=True))
    ax.figure.canvas.draw()
    assert legend(ax) == ["LAS: 40 / √n"]


def marks(ax: Axes, marker: str, relation: str) -> dict[int, float]:
    """Row of the chart -> where the marks of a relation stand."""
    colour = to_hex(relation_colour(relation))
    lines = [line for line in ax.lines if line.get_marker() == marker and to_hex(line.get_color()) == colour]
    return {round(y): x for line in lines for x, y in np.asarray(line.get_xydata(), float).tolist()}


def test_test_sets_have_rows_by_size_with_true_and_observed_gains() -> None:
    ax = plot.gains_by_test_set(BY_TEST_SET)
    assert rows(ax) == ["small  (50)", "middle  (200)", "large  (1,000)"], "the largest at the bottom"
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
    assert sorted(legend(ax)[:3]) == ["all pairs", "different groups", "same group"]
    assert legend(ax)[3:] == [
        "minimum detectable gain (power 0.8)", "observed gain significant for half of the pairs",
        "… to 95 % of the pairs",
    ]  # fmt: skip
    heights = [np.asarray(line.get_ydata(), float) for line in ax.lines if line.get_marker() == "o"]
    assert len(np.unique(np.concatenate(heights).round(6))) == 5, "classes of a test set do not hide each other"


def test_relations_keep_their_colours() -> None:
    """One class missing changes no other's colour, and all words for one kind of class have one."""
    ax = plot.gains_by_test_set(BY_TEST_SET.query("relation != 'same group'"))
    assert marks(ax, "o", "different groups") == {0: 8.0, 2: 3.0}
    assert relation_colour("same base model") == relation_colour("same group")
    assert relation_colour("different families") == relation_colour("different groups")
    kinds = ["same group", "different groups", "all pairs", "system combinations", "combination and single system"]
    assert len({relation_colour(kind) for kind in [*kinds, "group unknown"]}) == 6
    assert colours_of("relation", kinds) == {kind: relation_colour(kind) for kind in kinds}


def test_many_test_sets_keep_their_names_apart() -> None:
    table = pd.concat([BY_TEST_SET.head(2).assign(test_set=f"set {k}", n_items=50 + k) for k in range(50)])
    ax = plot.gains_by_test_set(table)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) == 50
    assert not any(one.overlaps(other) for one, other in zip(boxes, boxes[1:], strict=False))


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ("accuracy", "gain in points ("),
        (["accuracy", "las"] * 3, "gain in points ("),
        ("ap", "gain (average precision; "),
        (["ap", "bleu"] * 3, "gain (each on its metric's scale; "),
        (["ap", "las"] * 3, "gain (each on its metric's scale; "),
        ("mine", "gain (mine; "),
    ],
)
def test_gains_are_called_points_only_where_metrics_are_in_percent(metrics: object, said: str) -> None:
    assert plot.gains_by_test_set(BY_TEST_SET.assign(metric=metrics)).get_xlabel() == f"{said}two-sided, α = 0.05)"


def test_a_table_may_say_itself_whether_it_is_in_percent() -> None:
    own = BY_TEST_SET.assign(metric="mine", metric_unit="percent")
    assert plot.gains_by_test_set(own).get_xlabel().startswith("gain in points (")
    mixed = own.assign(metric_unit=["percent", "points"] * 3)
    assert plot.gains_by_test_set(mixed).get_xlabel().startswith("gain (mine; ")
