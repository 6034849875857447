"""Association measures against arithmetic by hand, scipy, fractions, and the values that are stored with real data."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log, log2, log10, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.rankings.association import MEASURES, association
from simstudy.rankings.contingency import CELLS, contingency_tables


def random_tables(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Attraction, repulsion and independence, no empty row or column."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.integers(1, 10 ** rng.integers(1, 4, size=(n, 4))), columns=list(CELLS))


def one(*cells: int) -> dict[str, float]:
    """All measures of one table."""
    return association(pd.DataFrame([cells], columns=list(CELLS))).iloc[0].to_dict()


def test_measures_are_scipys() -> None:
    frame = random_tables()
    scores = association(frame)
    both = set()
    for row, cells in frame.iterrows():
        table = cells.to_numpy().reshape(2, 2)
        found = scores.loc[row]
        expected = stats.contingency.expected_freq(table)
        sign = np.sign(table[0, 0] - expected[0, 0])
        both.add(sign)
        for name, options in (
            ("log_likelihood", {"lambda_": "log-likelihood", "correction": False}),
            ("chi_squared", {"correction": False}),
            ("chi_squared_yates", {"correction": True}),
        ):
            theirs: Any = stats.chi2_contingency(table, **options)
            assert found[name] == pytest.approx(sign * theirs.statistic, rel=1e-9, abs=1e-11)
        p = stats.fisher_exact(table, alternative="greater").pvalue
        if p > 1e-300:
            assert found["fisher"] == pytest.approx(-np.log10(p), rel=1e-7, abs=1e-12)
        assert found["t_score"] == pytest.approx((table[0, 0] - expected[0, 0]) / sqrt(table[0, 0]), rel=1e-9)
        assert found["z_score"] == pytest.approx((table[0, 0] - expected[0, 0]) / sqrt(expected[0, 0]), rel=1e-9)
        assert found["mi"] == pytest.approx(log2(table[0, 0] / expected[0, 0]), rel=1e-9)
        assert found["dice"] == pytest.approx(2 * table[0, 0] / (table[0].sum() + table[:, 0].sum()))
        assert found["frequency"] == table[0, 0]
    assert both == {-1, 1}


def test_less_than_half_a_pair_off_is_0_for_yates() -> None:
    """E11 = 10 * 11 / 40 = 2.75: 3 is 1/4 off; 4 is 5/4 off, of which 3/4 are left."""
    scores = association(pd.DataFrame({"f": [3, 4, 2], "f1": 10, "f2": 11, "N": 40}), ["chi_squared_yates"])
    margins = 10 * 30 * 11 * 29 / 40**3
    assert scores["chi_squared_yates"].tolist()[0] == 0
    assert scores["chi_squared_yates"].tolist()[1:] == pytest.approx([0.75**2 / margins, -(0.25**2) / margins])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # Never seen together: E11 = 6 * 5 / 20 = 1.5.
        ((0, 6, 5, 9), {"t_score": -inf, "mi": -inf, "z_score": -sqrt(1.5), "dice": 0, "fisher": 0, "frequency": 0}),
        # Always together: G2 = 2 (4 ln(20 / 4) + 16 ln(20 / 16)), X2 = N, P = 1 / C(20, 4).
        (
            (4, 0, 0, 16),
            {
                "log_likelihood": 2 * (4 * log(5) + 16 * log(1.25)),
                "chi_squared": 20,
                "mi": log2(5),
                "dice": 1,
                "fisher": log10(4845),
            },
        ),
        # One cell is empty: 0 ln 0 = 0; E = (2, 2; 8, 8).
        ((0, 4, 10, 6), {"log_likelihood": -2 * (4 * log(2) + 10 * log(10 / 8) + 6 * log(6 / 8))}),
        # The first word is not there.
        ((0, 0, 5, 9), {**dict.fromkeys(MEASURES, 0.0)}),
        # The second word is not there.
        ((0, 5, 0, 9), {**dict.fromkeys(MEASURES, 0.0)}),
        # Neither is.
        ((0, 0, 0, 9), {**dict.fromkeys(MEASURES, 0.0)}),
        # The first word is everywhere, or both are: nothing is off, whatever is counted.
        ((4, 5, 0, 0), {**dict.fromkeys(MEASURES, 0.0), "dice": 8 / 13, "frequency": 4}),
        ((4, 0, 0, 0), {**dict.fromkeys(MEASURES, 0.0), "dice": 1, "frequency": 4}),
        # Independent.
        ((2, 4, 3, 6), {**dict.fromkeys(MEASURES, 0.0), "dice": 4 / 11, "frequency": 2, "fisher": None}),
    ],
)
def test_zero_cells_are_defined(cells: tuple[int, ...], expected: dict[str, float | None]) -> None:
    scores = one(*cells)
    assert not np.isnan(list(scores.values())).any()
    for name, score in expected.items():
        if score is not None:
            assert scores[name] == pytest.approx(score, rel=1e-13, abs=0), name
            assert score != 0 or not np.signbit(scores[name]), f"{name} is -0"


def test_every_tiny_table_has_scores() -> None:
    """No warning (they are errors here), no NaN, and none above the others' infinity."""
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 4), axis=-1).reshape(-1, 4)[1:]
    scores = association(pd.DataFrame(grid, columns=list(CELLS)))
    assert not scores.isna().any(axis=None)
    assert (scores < inf).all(axis=None)
    assert (scores["fisher"] >= 0).all()


@pytest.mark.parametrize("scale", [10**4, 10**9])
def test_large_counts_keep_their_digits(scale: int) -> None:
    """Counts whose products exceed 2^63, near independence and far from it; against fractions."""
    rng = np.random.default_rng(4)
    near = np.array([[scale + 1, scale, scale, scale], [scale, scale + 3, scale, scale - 1]])
    cells = np.concatenate([near, rng.integers(scale // 2, 2 * scale, size=(20, 4)), [[5, scale, 3, 8 * scale]]])
    scores = association(pd.DataFrame(cells, columns=list(CELLS)))
    for (a, b, c, d), (_, found) in zip(cells.tolist(), scores.iterrows(), strict=True):
        n, determinant = a + b + c + d, a * d - b * c
        sign = (determinant > 0) - (determinant < 0)
        margins = (a + b) * (c + d) * (a + c) * (b + d)
        e11, above = Fraction((a + b) * (a + c), n), Fraction(determinant, n)
        exact = {
            "chi_squared": sign * Fraction(n * determinant**2, margins),
            "chi_squared_yates": sign * n * max(Fraction(0), abs(determinant) - Fraction(n, 2)) ** 2 / margins,
            "t_score": float(above) / sqrt(a),
            "z_score": float(above) / sqrt(e11),
            "dice": Fraction(2 * a, 2 * a + b + c),
            "mi": np.log1p(float(above / e11)) / log(2),
        }
        for name, value in exact.items():
            assert found[name] == pytest.approx(float(value), rel=1e-12, abs=0), name


def test_a_measure_is_a_function_of_a_frame() -> None:
    """Each alone as all together, from cells or from signatures, with the index kept."""
    frame = random_tables(30, seed=1).set_axis([f"pair {i}" for i in range(30)])
    o11, o12, o21, o22 = (frame[name] for name in CELLS)
    signatures = pd.DataFrame({"f": o11, "f1": o11 + o12, "f2": o11 + o21, "N": o11 + o12 + o21 + o22, "true": 1})
    pd.testing.assert_frame_equal(contingency_tables(signatures), frame)
    scores = association(signatures)
    assert list(scores.columns) == list(MEASURES)
    assert list(scores.index) == list(frame.index)
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert measure.formula
        assert measure.source
        alone = measure(frame)
        assert alone.dtype == np.float64
        np.testing.assert_array_equal(alone, scores[name])
    pd.testing.assert_frame_equal(association(frame, ("mi", "dice")), scores[["mi", "dice"]])


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["mi", "log_likelyhood"], r"measures must be one of .* not 'log_likelyhood' \(did you mean 'log_likelihood'"),
        (["mi", "mi"], "measures must be at least one name, and each once, not 'mi, mi'"),
        ([], "measures must be at least one name"),
        ("mi", "measures must be a list of names, not 'mi'"),
    ],
)
def test_measures_are_asked_for_by_name(measures: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        association(random_tables(3), measures)


def test_the_stored_values_of_the_papers_candidates(shared_data: Path) -> None:
    """Krenn's 5,102 pairs are stored with scores but without marginals: these follow from the scores, but for N.

    O11 is stored, E11 = O11 - t sqrt(O11), and R1 + C1 = 2 O11 / Dice, R1 C1 = E11 N: two equations for two unknowns.
    N, one number, is what fits log-likelihood best; all measures of all candidates must then be there.
    (Their mi is log10.)
    """
    stored = pd.read_csv(shared_data / "colloc_krenn" / "KrennPPV.tsv", sep="\t", keep_default_na=False)
    f, total = stored["freq"], 2 * stored["freq"] / stored["Dice"]
    expected = f - stored["t.score"] * np.sqrt(f)
    # Elsewhere the stored digits leave E11 with few.
    known = expected > 5

    def tables(n: float) -> pd.DataFrame:
        root = np.sqrt(np.maximum(total**2 - 4 * expected * n, 0))
        f2 = np.maximum(np.rint((total - root) / 2), f)
        return pd.DataFrame({"f": f, "f1": np.maximum(np.rint(total - f2), f), "f2": f2, "N": round(n)})[known]

    def off(n: float) -> float:
        """The median distance of log-likelihood, as a part of it."""
        ours = association(tables(n), ["log_likelihood"])["log_likelihood"]
        return float((ours / stored.loc[known & (stored["log.like"] != 0), "log.like"] - 1).abs().median())

    n = min(np.arange(4.8e6, 5.4e6, 1e4), key=off)
    assert off(n) < 5e-4
    scores = association(tables(n))
    assert len(scores) > 2000
    scores["mi"] *= np.log10(2)
    for name, column, step in (
        ("log_likelihood", "log.like", 0.01), ("fisher", "Fisher", 0.01), ("chi_squared", "chisq", 1),
        ("chi_squared_yates", "chisq.corr", 1), ("z_score", "z.score", 0.01), ("mi", "MI", 0.01),
        ("t_score", "t.score", 0.01), ("dice", "Dice", 1e-6),
    ):  # fmt: skip
        # About one in the last digit, and 1 % for what the digits of t leave of E11.
        theirs = stored.loc[known, column]
        assert ((scores[name] - theirs).abs() <= step + 0.01 * theirs.abs()).all(), name
    # They are signed as ours are: -0.01 is a repulsion.
    repelled = stored.loc[known, "log.like"] < 0
    assert repelled.sum() > 500
    assert (scores.loc[repelled, ["log_likelihood", "chi_squared"]] < 0).all(axis=None)
