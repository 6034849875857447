"""Tables are checked at one door, and figures of pairs refuse what the analyses refuse."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pandas as pd
import pytest

import simstudy as ss
from simstudy.tables import check_table
from tests.oracles import compared

OUTPUTS = ss.truth.correlated_accuracies([0.5, 0.7, 0.9], 60)
PAIRS = compared(OUTPUTS)
FIGURES = [ss.plot.curve, ss.plot.gain_intervals, ss.plot.matrix]


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.parametrize(
    ("other", "what"),
    [
        (PAIRS.assign(test="sign"), "one test"),
        (PAIRS.assign(alternative="greater"), "one alternative"),
        (PAIRS.assign(unit="cluster"), "one unit"),
        (PAIRS, "every"),
    ],
    ids=["test", "sides", "unit", "seed"],
)
def test_figures_of_pairs_refuse_mixed_tables(draw: Callable[..., Any], other: pd.DataFrame, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        draw(pd.concat([PAIRS, other], ignore_index=True))


@pytest.mark.parametrize("value", ["1,5", None, 1j, True])
def test_a_column_of_numbers_has_numbers(value: object) -> None:
    column = pd.Series([value] + [0.5] * (len(PAIRS) - 1), dtype=object)
    with pytest.raises(ValueError, match="pairs must have numbers in column 'p_value', not "):
        ss.thresholds(PAIRS.assign(p_value=column))


def test_a_table_that_was_written_and_read_again_loses_no_pair_in_silence() -> None:
    text = PAIRS.assign(task="").to_csv(index=False)
    with pytest.raises(ValueError, match="a value in every row of column 'task'"):
        ss.curve(pd.read_csv(StringIO(text)))
    whole = pd.read_csv(StringIO(text), keep_default_na=False)
    assert ss.thresholds(whole)["n_pairs"].tolist() == [3]


def test_a_column_that_is_there_twice_is_refused() -> None:
    table = pd.concat([PAIRS, PAIRS[["gain"]]], axis=1)
    with pytest.raises(ValueError, match="pairs must have each column once, unlike 'gain'"):
        check_table("pairs", table, ["gain"])
