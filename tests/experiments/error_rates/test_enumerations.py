"""Rates of right and wrong answers against enumeration: rejections, wrong winners, exaggeration, undefined scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from tests.experiments.error_rates.small import study
from tests.truth.bivariate import outcome_correlation

SETS = 3000


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """The tables of a run."""
    some = study(
        ["accuracy", "precision_few", "accuracy_gain", "turned"], [60, 6], {"shown": [60], "bands": [[6, 60]]},
        tests=["sign_flips", "mcnemar", "randomization"], replicates={"most": SETS, "block": 500}, n_resamples=99,
        alphas=[0.05, 0.01, 0.02],
    )  # fmt: skip
    folder: Path = tmp_path_factory.mktemp("enumerations")
    run = ss.run_study(some, out=folder / "out", n_jobs=1)
    return dict(run.tables)


def at(table: pd.DataFrame, condition: str, test: str, n_units: int = 60, alternative: str = "two-sided") -> Any:
    """The one row of a table."""
    rows = table.query("condition == @condition and test == @test and n_units == @n_units")
    (row,) = rows.query("alternative == @alternative and alpha == 0.05").to_dict("records")
    return row


def assert_share(count: float, expected: float) -> None:
    assert stats.binomtest(int(count), SETS, expected).pvalue > 1e-5


def two_by_two(n: int, only_first: float, only_second: float) -> Any:
    """All results of n items of which some only the first system has right, some only the second: their chances."""
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    rest = np.maximum(n - b - c, 0)
    chance = stats.multinomial.pmf(
        np.stack([b, c, rest], -1), n, [only_first, only_second, 1 - only_first - only_second]
    )
    return b, c, np.where(b + c <= n, chance, 0.0)


@pytest.mark.parametrize("name", ["accuracy_gain", "turned"])
def test_power_and_exaggeration_are_those_of_all_results_there_can_be(tables: Any, name: str) -> None:
    """McNemar's test of right and wrong answers, enumerated: power, wrong winners and the mean significant gain."""
    n = 60
    both = 0.83 * 0.8 + outcome_correlation(0.83, 0.8, 0.5) * np.sqrt(0.83 * 0.17 * 0.8 * 0.2)
    b, c, chance = two_by_two(n, 0.83 - both, 0.8 - both)
    significant = np.minimum(2 * stats.binom.cdf(np.minimum(b, c), b + c, 0.5), 1) <= 0.05
    right, wrong = ((chance * (significant & side)).sum() for side in (b > c, b < c))
    mean = (chance * significant * np.abs(b - c)).sum() / n * 100 / (right + wrong)
    row = at(tables["power"], name, "mcnemar")
    assert row["true_gain"] == pytest.approx(3 if name == "accuracy_gain" else -3)
    assert_share(round(row["share"] * SETS), right)
    assert_share(row["n_wrong"], wrong)
    assert_share(row["n_rejected"], right + wrong)
    assert row["type_s"] == pytest.approx(row["n_wrong"] / row["n_rejected"])
    half = (row["type_m_high"] - row["type_m_low"]) / 2
    assert abs(row["type_m"] - mean / 3) < 2 * half < 0.5
    assert row["type_m"] > 3, "so few items find three points only where they seem many more"


@pytest.mark.parametrize("test", ["sign_flips", "mcnemar", "randomization"])
def test_right_and_wrong_answers_are_rejected_as_often_as_coins_allow(tables: Any, test: str) -> None:
    """Each item differs with a known chance, and then the sign test's rejections are binomial."""
    n, alpha = 60, 0.05
    differ = 2 * 0.8 * 0.2 * (1 - outcome_correlation(0.8, 0.8, 0.5))
    losses = np.arange(n + 1)
    tails = [stats.binom.cdf(losses[: m + 1], m, 0.5) for m in range(n + 1)]
    chance = [stats.binom.pmf(losses[: m + 1], m, 0.5) for m in range(n + 1)]
    named = stats.binom.pmf(losses, n, differ) @ [
        pmf @ (tail <= alpha) for pmf, tail in zip(chance, tails, strict=True)
    ]
    two_sided = [2 * pmf @ (2 * tail <= alpha) for pmf, tail in zip(chance, tails, strict=True)]
    for alternative, expected in (
        ("two-sided", stats.binom.pmf(losses, n, differ) @ two_sided),
        ("greater", 2 * named),
        ("greater, named beforehand", named),
    ):
        assert 0.01 < expected < 0.1
        row = at(tables["rates"], "accuracy", test, alternative=alternative)
        assert row["n_sets"] == SETS
        assert_share(row["n_rejected"], expected)


def test_undefined_scores_are_counted_apart_and_few_accepted_candidates_have_cautions(tables: Any) -> None:
    """A system that accepts 8 % of 6 candidates accepts none of them three times in five, and of 60 five."""
    row = at(tables["rates"], "precision_few", "sign_flips", 6)
    assert_share(row["n_undefined"], 1 - (1 - 0.92**6) * (1 - 0.7**6))
    assert row["n_sets"] + row["n_undefined"] == SETS
    assert tables["cautions"].set_index("condition")["cautioned"].gt(0.5).to_dict() == {"precision_few": True}
