"""What holds for every figure: it draws where it is told, says what its table lacks, and leaves all else alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

import simstudy as ss
from simstudy import plot
from simstudy.tables import check_table
from tests.oracles import compared
from tests.plot.tables import BY_SIZE, BY_TEST_SET, PAIRS, POINTS, RATES, TABLES


def test_each_has_a_table() -> None:
    others = {"for_a_paper", "panels", "save", "say_below", "share_legend", "single", "styled"}
    assert {*TABLES, *others} == {*plot.__all__}


@pytest.mark.parametrize("name", TABLES)
def test_it_draws_on_the_axes_it_is_given_from_the_columns_it_needs(name: str) -> None:
    draw, table = getattr(plot, name), TABLES[name]
    before, given = dict(mpl.rcParams), table.copy()
    _, (ax,) = plot.panels(["mine"])
    assert draw(table, ax=ax) is ax
    assert ax.get_title(loc="left") == "mine"
    assert ax.has_data()
    assert dict(mpl.rcParams) == before
    pd.testing.assert_frame_equal(table, given)
    with pytest.raises(ValueError, match="must have at least one row"):
        draw(table.head(0))
    for column in table.columns:
        with pytest.raises(ValueError, match=f"no column {column}(, {column})?$"):
            draw(table.drop(columns=column))
    with pytest.raises(ValueError, match="^ax must be matplotlib's Axes, or None, not 'here'$"):
        draw(table, ax="here")


def nothing(name: str, *columns: str) -> pd.DataFrame:
    return TABLES[name].assign(**dict.fromkeys(columns, float("nan")))


@pytest.mark.parametrize(
    ("name", "table", "options", "message"),
    [
        ("thresholds", nothing("thresholds", "threshold"), {}, "every window had too few pairs"),
        ("calibration", nothing("calibration", "share"), {}, "every bin had too few pairs"),
        ("calibration", TABLES["calibration"], {"among": ["web"]}, "among must have every value of elsewhere, unlike"),
        ("gain_intervals", nothing("gain_intervals", "gain_low"), {}, "pairs must have at least one interval"),
        ("matrix", PAIRS.head(2), {}, "pairs must have every two systems once"),
        ("matrix", PAIRS.assign(system_a=list("xzy"), system_b=list("yxz")), {}, "the better system as system_a"),
        ("matrix", PAIRS, {"alpha": 1}, "alpha must lie between 0 and 1"),
        ("matrix", PAIRS, {"certainty": 99}, "certainty must lie between 0 and 1"),
        ("groups", pd.concat([TABLES["groups"], TABLES["groups"].assign(system=list("vwxxyz"))]), {},
         "table must be the groups of one test set; it has two systems at one place"),
        ("leaderboard", pd.concat([TABLES["leaderboard"]] * 2), {}, "it has a system twice"),
        *((name, pd.concat([TABLES[name]] * 2), {}, "once for a number of units")
          for name in ("error_rates", "power_curves", "coverage")),
        ("error_rates", RATES, {"most": 0}, "most must be a share above 0, not 0"),
        ("error_rates", RATES, {"most": 1.1}, "most must be a share above 0, not 1.1"),
        ("exaggeration", nothing("exaggeration", "type_m"), {}, "table must have a type_m in some row"),
        ("exaggeration", TABLES["exaggeration"], {"most": 1}, "most must be a finite number above 1, not 1"),
        ("rejections", TABLES["rejections"].head(3), {}, "of one test set, each test once in each relation class"),
        ("rejections", pd.concat([TABLES["rejections"]] * 2), {}, "agreement of one test set"),
        ("gains_by_size", nothing("gains_by_size", "true_80"), {}, "every test set had too few pairs"),
        ("gains_by_size", pd.concat([BY_SIZE, BY_SIZE.assign(alternative="greater")]), {},
         "table must have one alternative, not two-sided, greater"),
        ("gains_by_size", BY_SIZE.assign(pairs=["all pairs", "top", *["all pairs"] * 3]), {}, "one pairs, not all"),
        ("gain_by_task", TABLES["gain_by_task"].assign(system_a=list("abc")), {}, "must be of one pair of systems"),
        ("gains_by_test_set", BY_TEST_SET.tail(1), {}, "every test set had too few pairs"),
        ("gains_by_test_set", pd.concat([BY_TEST_SET, BY_TEST_SET.assign(alpha=0.01)]), {},
         "table must have one alpha, not 0.05, 0.01"),
    ],
)  # fmt: skip
def test_what_it_cannot_draw_is_refused(name: str, table: pd.DataFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(plot, name)(table, **options)


COMPARED = compared(ss.truth.correlated_accuracies([0.5, 0.7, 0.9], 60))


@pytest.mark.parametrize("draw", [plot.curve, plot.gain_intervals, plot.matrix])
@pytest.mark.parametrize(
    ("other", "what"),
    [({"test": "sign"}, "one test"), ({"alternative": "greater"}, "one alternative"), ({"unit": "cluster"}, "one unit"),
     ({}, "every")],
)  # fmt: skip
def test_figures_of_pairs_refuse_mixed_tables(draw: Callable[..., Any], other: dict[str, str], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        draw(pd.concat([COMPARED, COMPARED.assign(**other)], ignore_index=True))


@pytest.mark.parametrize("value", ["1,5", None, 1j, True])
def test_a_column_of_numbers_has_numbers(value: object) -> None:
    column = pd.Series([value] + [0.5] * (len(POINTS) - 1), dtype=object)
    with pytest.raises(ValueError, match="points must have numbers in column 'p_value', not "):
        plot.curve(POINTS.assign(p_value=column))


def test_a_column_that_is_there_twice_or_was_read_as_missing_is_refused() -> None:
    with pytest.raises(ValueError, match="pairs must have each column once, unlike 'gain'"):
        check_table("pairs", pd.concat([COMPARED, COMPARED[["gain"]]], axis=1), ["gain"])
    with pytest.raises(ValueError, match="a value in every row of column 'relation'"):
        plot.curve(POINTS.assign(relation=None))
