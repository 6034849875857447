from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.statistics.multiplicity import corrected

P_VALUES = st.lists(st.sampled_from([0, 1, 2, 3, 4, 8, 16, 32, 64]), min_size=1, max_size=9)


def holm_rejects(p: list[Fraction], alpha: Fraction) -> list[bool]:
    """Step down: the smallest first, held against alpha / (how many are left), until one is not rejected."""
    rejected = [False] * len(p)
    left = sorted(range(len(p)), key=lambda k: p[k])
    while left and p[left[0]] <= alpha / len(left):
        rejected[left.pop(0)] = True
    return rejected


def bh_rejects(p: list[Fraction], alpha: Fraction) -> list[bool]:
    """Step up: the largest k whose k-th smallest is at most k alpha / m, and all that are not larger than it."""
    ranked = sorted(p)
    bounds = [value for k, value in enumerate(ranked, 1) if value <= k * alpha / len(p)]
    return [value <= max(bounds, default=Fraction(-1)) for value in p]


@given(P_VALUES)
@settings(max_examples=50, deadline=None)
def test_both_decide_as_their_definitions_do_at_every_alpha(of_64: list[int]) -> None:
    """In whole fractions, at all alphas that a decision can hinge on, and between them."""
    p = [Fraction(value, 64) for value in of_64]
    table = corrected(pd.DataFrame({"p_value": [float(value) for value in p]}))
    m = len(p)
    factors = [Fraction(m, k) for k in range(1, m + 1)] + [Fraction(k) for k in range(1, m + 1)]
    hinges = sorted({min(value * factor, Fraction(1)) for value in p for factor in factors} | {Fraction(0)})
    between = [(low + high) / 2 for low, high in zip(hinges, hinges[1:], strict=False)]
    for alpha in (*hinges, *between):
        if alpha < 1:  # at 1 all are rejected, and a corrected value cannot tell 1 from more
            near = float(alpha) + 1e-12
            assert (table["p_holm"] <= near).tolist() == holm_rejects(p, alpha)
            assert (table["p_bh"] <= near).tolist() == bh_rejects(p, alpha)


def test_the_family_is_the_rows_handed_in() -> None:
    pairs = pd.DataFrame({"p_value": [0.01, 0.5, 0.02], "system_a": list("xyz")}, index=[7, 3, 5])
    together, alone = corrected(pairs), corrected(pairs.loc[[7]])
    assert together.loc[7, "p_holm"] == pytest.approx(3 * alone.loc[7, "p_holm"])
    assert together.index.tolist() == [7, 3, 5]
    assert "p_holm" not in pairs


def test_bad_tables() -> None:
    with pytest.raises(ValueError, match="no column p_value"):
        corrected(pd.DataFrame({"p": [0.1]}))
    with pytest.raises(ValueError, match="at least one row"):
        corrected(pd.DataFrame({"p_value": []}))
    for wrong in (np.nan, 1.5, -0.1):
        with pytest.raises(ValueError, match=f"p_value must lie between 0 and 1 in every row, not {wrong}"):
            corrected(pd.DataFrame({"p_value": [0.5, wrong]}))
