"""Association measures against arithmetic by hand, scipy, and the values that are stored with the paper's data."""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.experiments.programs import program

MEASURES = program("evert_2004", "association").MEASURES


def signatures(cells: Any) -> pd.DataFrame:
    """The frequency signatures of tables (n, 4) with the cells O11, O12, O21, O22."""
    o11, o12, o21, o22 = np.transpose(cells)
    return pd.DataFrame({"f": o11, "f1": o11 + o12, "f2": o11 + o21, "N": o11 + o12 + o21 + o22})


def test_measures_are_scipys() -> None:
    """Attraction and repulsion, from small counts to thousands."""
    rng = np.random.default_rng(0)
    tables = rng.integers(1, 10 ** rng.integers(1, 4, size=(60, 4)))
    scores = pd.DataFrame({name: measure(signatures(tables)) for name, measure in MEASURES.items()})
    signs = set()
    for cells, row in zip(tables, scores.to_dict("records"), strict=True):
        table = cells.reshape(2, 2)
        deviation = table[0, 0] - stats.contingency.expected_freq(table)[0, 0]
        sign = np.sign(deviation)
        signs.add(sign)
        for name, kind in (("log_likelihood", "log-likelihood"), ("chi_squared", "pearson")):
            theirs: Any = stats.chi2_contingency(table, lambda_=kind, correction=False)
            assert row[name] == pytest.approx(sign * theirs.statistic, rel=1e-9, abs=1e-10)
        assert row["t_score"] == pytest.approx(deviation / sqrt(table[0, 0]), rel=1e-9)
        assert row["frequency"] == table[0, 0]
    assert signs == {-1, 1}


@pytest.mark.parametrize(
    ("cells", "g2", "x2", "t"),
    [
        # Always together: X2 = N.
        ((4, 0, 0, 16), 2 * (4 * log(5) + 16 * log(1.25)), 20, (4 - 0.8) / 2),
        # Every pair has the first word: nothing deviates.
        ((4, 5, 0, 0), 0, 0, 0),
        ((4, 0, 0, 0), 0, 0, 0),
        # Independent.
        ((2, 4, 3, 6), 0, 0, 0),
    ],
)
def test_tables_with_empty_cells_and_independent_words(cells: list[int], g2: float, x2: float, t: float) -> None:
    scores = [MEASURES[name](signatures([cells]))[0] for name in ("log_likelihood", "chi_squared", "t_score")]
    assert scores == pytest.approx([g2, x2, t], rel=1e-12, abs=1e-12)


def test_the_stored_values_of_the_papers_candidates(shared_data: Path) -> None:
    """Krenn's 5,102 pairs are stored with scores but without marginals: these follow from the scores, but for N.

    O11 is stored, E11 = O11 - t sqrt(O11), and R1 + C1 = 2 O11 / Dice, R1 C1 = E11 N: two equations for two unknowns.
    N, one number, is what fits log-likelihood best; the other measures of all candidates must then be there.
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
        ours = MEASURES["log_likelihood"](tables(n))
        return float((ours / stored.loc[known & (stored["log.like"] != 0), "log.like"] - 1).abs().median())

    n = min(np.arange(4.8e6, 5.4e6, 1e4), key=off)
    assert off(n) < 5e-4
    scores = {name: measure(tables(n)) for name, measure in MEASURES.items()}
    assert known.sum() > 2000
    for name, column, step in (
        ("log_likelihood", "log.like", 0.01), ("chi_squared", "chisq", 1), ("t_score", "t.score", 0.01),
    ):  # fmt: skip
        # About one in the last digit, and 1 % for what the digits of t leave of E11.
        theirs = stored.loc[known, column]
        assert ((scores[name] - theirs).abs() <= step + 0.01 * theirs.abs()).all(), name
    # They are signed as ours are: -0.01 is a repulsion.
    repelled = stored.loc[known, "log.like"] < 0
    assert repelled.sum() > 500
    assert all((scores[name][repelled] < 0).all() for name in ("log_likelihood", "chi_squared"))
