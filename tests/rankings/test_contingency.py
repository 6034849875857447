"""Contingency tables from cells and signatures, and every way in which counts can be wrong."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.rankings.contingency import CELLS, SIGNATURE, contingency_tables, deviations, has_tables
from tests.experiments.programs import program

PAIRS = [("give", "up")] * 3 + [("give", "in"), ("look", "up"), ("look", "at"), ("look", "at"), ("sit", "down")]

PARTICLES = program("evert_2004", "particles")


def signature(**changes: Any) -> pd.DataFrame:
    """Two candidates, the second with changes."""
    counts = {"f": 30, "f1": 100, "f2": 50, "N": 1000}
    return pd.DataFrame([counts, counts | changes], index=["give up", "look at"])


def cells(**changes: Any) -> pd.DataFrame:
    counts = {"O11": 30, "O12": 70, "O21": 20, "O22": 880}
    return pd.DataFrame([counts, counts | changes], index=["give up", "look at"])


def test_cells_are_what_counting_tokens_gives() -> None:
    """Each pair token is with or without the first word, with or without the second."""
    tables = contingency_tables(PARTICLES.frequency_table(PAIRS))
    for label, row in tables.iterrows():
        first, second = str(label).split()
        counted = [
            sum((a == first) == x and (b == second) == y for a, b in PAIRS)
            for x, y in ((True, True), (True, False), (False, True), (False, False))
        ]
        assert row.tolist() == counted
    assert tuple(tables.columns) == CELLS
    assert (tables.dtypes == np.int64).all()


def test_cells_with_marginals_that_agree_come_back() -> None:
    margins = {"R1": 100, "R2": 900, "C1": 50, "C2": 950, "N": 1000, "f": 30, "f1": 100, "f2": 50}
    frame = cells().assign(**margins, word="x")
    pd.testing.assert_frame_equal(contingency_tables(frame), cells())
    pd.testing.assert_frame_equal(contingency_tables(signature().assign(R2=900, mi=-1.5)), cells())
    # Alone, without f1, f2 and N, a column f may be anything.
    pd.testing.assert_frame_equal(contingency_tables(cells().assign(f=-1)), cells())


def test_whole_numbers_come_in_any_type() -> None:
    for kind in ("float64", "Int64", "uint8", "object", "str"):
        expected = contingency_tables(signature(N=255))
        pd.testing.assert_frame_equal(contingency_tables(signature(N=255).iloc[[1]].astype(kind)), expected.iloc[[1]])


def test_no_candidates_are_no_tables() -> None:
    assert contingency_tables(signature().iloc[:0]).shape == (0, 4)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [(CELLS, True), (SIGNATURE, True), (("f", "f1", "f2"), False), (("O11", "O12", "O21", "N"), False), ((), False)],
)
def test_columns_hold_tables_where_a_set_is_complete(columns: tuple[str, ...], expected: bool) -> None:
    assert has_tables([*columns, "word"]) == has_tables(iter(columns)) == expected


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (signature(f=-1), "whole numbers from 0 to 2.53 - 1, unlike f = -1 of candidate 'look at'"),
        (signature(f=1.5), "unlike f = 1.5 of candidate 'look at'"),
        (signature(f1=np.nan), "unlike f1 = nan of candidate 'look at'"),
        (signature(f2=None), "unlike f2 = nan of candidate 'look at'"),
        (signature(N=np.inf), "unlike N = inf of candidate 'look at'"),
        (signature(N=2**53), "unlike N = 9007199254740992 of candidate 'look at'"),
        (signature(N="many"), "unlike N = many of candidate 'look at'"),
        (signature(f=101), "f <= f1, unlike candidate 'look at' with f = 101, f1 = 100"),
        (signature(f=51), "f <= f2, unlike candidate 'look at' with f = 51, f2 = 50"),
        (signature(f1=1001), "f1 <= N, unlike candidate 'look at' with f1 = 1001, N = 1000"),
        (signature(f2=1001), "f2 <= N, unlike candidate 'look at' with f2 = 1001, N = 1000"),
        (signature(f1=981), r"f1 \+ f2 - f <= N, unlike candidate 'look at' with f = 30, f1 = 981, f2 = 50, N = 1000"),
        (signature(f=0, f1=0, f2=0, N=0), "at least 1 and below 2.53, unlike candidate 'look at' with N = 0"),
        (cells(O22=2**53 - 1), "at least 1 and below 2.53, unlike candidate 'look at' with N = 9007199254741111"),
        (cells(O21=-3), "unlike O21 = -3 of candidate 'look at'"),
        (cells().assign(R1=[100, 99]), "agree with the cells, unlike candidate 'look at', with R1 = 99 .* give 100"),
        (cells().assign(C2=[950, 0]), "unlike candidate 'look at', with C2 = 0 where the cells give 950"),
        (cells().assign(N=999), "unlike candidate 'give up', with N = 999 where the cells give 1000"),
        (signature().assign(R2=[900, 901]), "unlike candidate 'look at', with R2 = 901 where the cells give 900"),
        (cells().join(signature(f=29)), "unlike candidate 'look at', with f = 29 where the cells give 30"),
        (cells().join(signature(f2=49)), "unlike candidate 'look at', with f2 = 49 where the cells give 50"),
        (cells().drop(columns="O22"), r"O11, O12, O21, O22 \(missing: O22\) or f, f1, f2, N \(missing: f, f1, f2, N\)"),
        (signature()[["f", "N"]], r"\(missing: O11, O12, O21, O22\) or f, f1, f2, N \(missing: f1, f2\)"),
        (signature()[["f", "f1", "f2", "N", "N"]], "each column once, unlike 'N'"),
        ({"f": 1}, "frequencies must be a pandas DataFrame, not dict"),
    ],
)
def test_wrong_counts_are_told_with_candidate_column_and_value(frame: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        contingency_tables(frame)
    assert "\n" not in str(error.value)


def test_deviations_keep_their_digits() -> None:
    """Of counts near 10^9, a difference of one in 10^18 from independence; against fractions."""
    rng = np.random.default_rng(0)
    r1, c1 = rng.integers(1, 2**31, size=(2, 200))
    n = np.maximum(r1, c1) + rng.integers(0, 2**32, size=200)
    nearest = np.array([round(Fraction(int(a) * int(b), int(t))) for a, b, t in zip(r1, c1, n, strict=True)])
    found = deviations(nearest, r1, c1, n)
    for o, a, b, t, value in zip(nearest, r1, c1, n, found, strict=True):
        exact = int(o) - Fraction(int(a) * int(b), int(t))
        assert value == pytest.approx(float(exact), rel=1e-15, abs=0)
    assert np.abs(found).max() <= 0.5
