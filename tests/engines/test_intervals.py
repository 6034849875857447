"""Intervals and standard errors of gains: scipy, brute force, and a constrained likelihood found by search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.arguments import make_question
from simstudy.engines.intervals import spread
from simstudy.metrics import Metric
from simstudy.outputs import Outputs
from tests.engines.pairs import made
from tests.oracles import ERROR_RATE, compared

COLUMNS = ["gain_se", "gain_low", "gain_high", "minimum_detectable_gain"]


def answers(both: int, only_first: int, only_second: int, neither: int, metric: str | Metric = "accuracy") -> Outputs:
    """Right and wrong answers of two systems, by a table of counts."""
    first = np.repeat([1, 1, 0, 0], [both, only_first, only_second, neither])
    second = np.repeat([1, 0, 1, 0], [both, only_first, only_second, neither])
    right = np.stack([first, second])
    counted = right if metric == "accuracy" else 1 - right
    return Outputs.from_statistics(np.stack([counted, np.ones_like(right)], axis=-1), metric, ["first", "second"])


def scored(scores: Any, **columns: Any) -> Outputs:
    """Systems a, b, … with one score an item."""
    frame = pd.DataFrame(np.asarray(scores).T, columns=list("abcdefg")[: len(scores)])
    return Outputs.from_scores(frame, items=pd.DataFrame({"id": range(len(frame)), **columns}))


@pytest.mark.parametrize("metric", ["accuracy", ERROR_RATE], ids=["accuracy", "error rate"])
def test_a_published_interval_of_right_and_wrong(metric: str | Metric) -> None:
    """Cavo et al. 2012 in R's contingencytables (Fagerland, Lydersen and Laake): -0.1240 to -0.0054 of 161."""
    row = compared(answers(59, 6, 16, 80, metric)).iloc[0]
    assert (row.system_a, row.interval, row.wins, row.losses, row.ties) == ("second", "score", 16, 6, 139)
    assert row.gain == pytest.approx(100 * 10 / 161)
    assert (row.gain_low, row.gain_high) == pytest.approx((0.54, 12.40), abs=5e-3)
    # Bentur et al. 2009, as printed in their paper of 2014: 0.026 to 0.517 of 21.
    row = compared(answers(1, 1, 7, 12, metric)).iloc[0]
    assert (row.gain_low, row.gain_high) == pytest.approx((2.6, 51.7), abs=0.05)


def test_right_and_wrong_in_documents_or_strata_are_no_multinomial() -> None:
    right = np.random.default_rng(3).integers(0, 2, size=(2, 40))
    items = pd.DataFrame({"id": range(40), "cluster": np.arange(40) // 4, "domain": np.arange(40) % 2})
    outputs = Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy", items=items)
    kinds = {
        "score": {"unit": "item"},
        "jackknife": {"unit": "cluster"},
    }
    for kind, options in kinds.items():
        assert set(compared(outputs, **options)["interval"]) == {kind}  # type: ignore[arg-type]
    stratified = compared(outputs, test="bootstrap", n_resamples=50, unit="item", strata="domain")
    assert set(stratified["interval"]) == {"jackknife"}


@pytest.mark.parametrize("kind", ["decimals", "ratings"])
def test_of_means_they_are_those_of_the_paired_t_test(kind: str, rng: np.random.Generator) -> None:
    scores = rng.normal(size=(4, 30)) + rng.normal(size=30) + np.array([[0.0], [0.1], [0.5], [0.6]])
    scores = np.rint(scores * 2) if kind == "ratings" else scores
    outputs = scored(scores)
    for row in compared(outputs).itertuples():
        a, b = (scores["abcd".index(name)] for name in (row.system_a, row.system_b))
        theirs = stats.ttest_rel(a, b)
        assert row.gain_se == pytest.approx(stats.sem(a - b), rel=1e-10)
        interval = theirs.confidence_interval(0.95)
        assert (row.gain_low, row.gain_high) == pytest.approx((interval.low, interval.high), rel=1e-9)
        assert (row.interval, row.df) == ("jackknife", 29)


def test_of_documents_they_are_those_of_their_sums(tagged: Outputs) -> None:
    """A ratio of sums over 15 documents: its own leave-one-out, with 14 degrees of freedom."""
    correct, total = np.moveaxis(tagged.statistics.reshape(5, 15, 4, 2).sum(axis=2), -1, 0)
    for row in compared(tagged).itertuples():
        i, j = (tagged.names.index(name) for name in (row.system_a, row.system_b))
        without = [
            np.delete(correct[i], u).sum() / np.delete(total[i], u).sum()
            - np.delete(correct[j], u).sum() / np.delete(total[j], u).sum()
            for u in range(15)
        ]
        se = 100 * np.sqrt(14 * np.var(without))
        assert row.gain_se == pytest.approx(se, rel=1e-9)
        reach = stats.t.ppf(0.975, 14) * se
        assert (row.gain_low, row.gain_high) == pytest.approx((row.gain - reach, row.gain + reach), rel=1e-9)
        assert row.df == 14


@pytest.mark.parametrize("kind", ["f1", "precision", "muc_f", "geometric", "error rate", "net wins"])
def test_standard_errors_are_those_of_leaving_units_out(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    metric, statistics = made(kind, 20, rng)
    row = compared(Outputs.from_statistics(statistics, metric, ["a", "b"])).iloc[0]
    gains = [np.diff(metric.score(np.delete(statistics, u, axis=1).sum(axis=1)))[0] for u in range(20)]
    assert row.gain_se == pytest.approx(np.sqrt(19 * np.var(gains)), rel=1e-9)
    low, high = sorted([row.gain_low, row.gain_high])
    assert low == row.gain_low
    assert (row.gain_low + row.gain_high) / 2 == pytest.approx(row.gain, rel=1e-9, abs=1e-12)


def test_strata_leave_what_lies_between_them_out() -> None:
    """Two strata of different gains: each one's own spread, weighted by its share of the items."""
    rng = np.random.default_rng(5)
    domain = np.array(["x"] * 30 + ["y"] * 20)
    difference = rng.normal(np.where(domain == "x", 2.0, -1.0), 0.5)
    order = rng.permutation(50)
    outputs = scored(np.stack([difference, np.zeros(50)])[:, order], domain=domain[order])
    options: dict[str, Any] = {"test": "bootstrap", "n_resamples": 50}
    row = compared(outputs, strata="domain", **options).iloc[0]
    variance = sum(
        (size / 50) ** 2 * difference[domain == name].var(ddof=1) / size for name, size in (("x", 30), ("y", 20))
    )
    assert row.gain_se == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert row.df == 48
    reach = stats.t.ppf(0.975, 48) * row.gain_se
    assert (row.gain_low, row.gain_high) == pytest.approx((row.gain - reach, row.gain + reach))
    assert compared(outputs, **options).gain_se[0] > 2 * row.gain_se


@pytest.mark.parametrize("kind", ["f1", "geometric", "ratings"])
def test_identical_systems_have_no_interval(kind: str, rng: np.random.Generator) -> None:
    """Nothing varies: that says nothing of how large a difference could be."""
    metric, statistics = made(kind, 12, rng)
    statistics = statistics[[0, 0, 1]]
    pairs = compared(Outputs.from_statistics(statistics, metric, ["x", "x again", "y"]))
    same = pairs["system_a"].str.startswith("x") & pairs["system_b"].str.startswith("x")
    assert same.sum() == 1
    assert pairs.loc[same, COLUMNS].isna().all(axis=None)
    assert pairs.loc[~same, COLUMNS].notna().all(axis=None)


def test_identical_answers_have_tangos_interval() -> None:
    """No item tells them apart: of n, the true gain may be up to z^2 / (n + z^2)."""
    row = compared(answers(20, 0, 0, 20)).iloc[0]
    z = stats.norm.ppf(0.975)
    assert (row.gain_low, row.gain_high) == pytest.approx((-100 * z**2 / (40 + z**2), 100 * z**2 / (40 + z**2)))
    assert np.isnan([row.gain_se, row.minimum_detectable_gain]).all()


def test_a_constant_difference_has_no_interval() -> None:
    """Each of ten items is better by one: no spread tells how sure that is."""
    row = compared(scored([np.arange(1, 11), np.arange(10)])).iloc[0]
    assert row.gain == 1
    assert np.isnan(row[COLUMNS].astype(float)).all()


def test_a_score_that_one_unit_carries_has_no_interval() -> None:
    """All guesses of b are in one unit: without it, b has no precision."""
    counts = np.array([[[1, 1, 1]] * 5 + [[0, 1, 1]], [[0, 0, 1]] * 5 + [[1, 2, 1]], [[0, 1, 1]] * 4 + [[1, 1, 1]] * 2])
    pairs = compared(Outputs.from_statistics(counts, "precision", ["a", "b", "c"]))
    of_b = (pairs["system_a"] == "b") | (pairs["system_b"] == "b")
    assert pairs.loc[of_b, COLUMNS].isna().all(axis=None)
    assert pairs.loc[~of_b, COLUMNS].notna().all(axis=None)
    assert pairs["p_value"].between(0, 1).all()


def power_at(gain: float, se: float, df: int) -> float:
    """The probability that a t test of two sides at 0.05 finds this true gain, by the shifted distribution of t."""
    limit = stats.t.ppf(0.975, df)
    return float(stats.t.sf(limit - gain / se, df) + stats.t.cdf(-limit - gain / se, df))


def test_the_detectable_gain_is_found_four_times_in_five(tagged: Outputs) -> None:
    for options, df in (({"unit": "item"}, 59), ({}, 14)):
        for row in compared(tagged, **options).itertuples():  # type: ignore[arg-type]
            assert power_at(row.minimum_detectable_gain, row.gain_se, df) == pytest.approx(0.8, abs=1e-4)
            assert row.minimum_detectable_gain / row.gain_se == pytest.approx(
                stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)
            )


def test_the_interval_does_not_depend_on_the_test(answered: Outputs) -> None:
    """A description of the gain, whoever asks what for, on one side or two."""
    tables = [
        compared(answered, test=test, alternative=alternative, n_resamples=50)[[*COLUMNS, "wins", "df"]]
        for test, alternative in (("sign_flips", "two-sided"), ("bootstrap", "greater"), ("sign", "greater"))
    ]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])


@pytest.mark.parametrize("n", [40, 10_000])
@pytest.mark.parametrize("metric", ["accuracy", "mean (lower is better)"])
def test_right_and_wrong_answers_have_the_spread_of_numbers(n: int, metric: str) -> None:
    """There is one deviation for all right answers and one for all wrong ones. Two systems are equal."""
    right = np.random.default_rng(n).random((n, 5)) < np.linspace(0.3, 0.9, 5)
    right[:, 1] = right[:, 0]
    outputs = Outputs.from_scores(pd.DataFrame(right, columns=list("abcde")), metric)
    known, numbers = (make_question(outputs.best_first(), test="sign_flips") for _ in range(2))
    assert known.right_or_wrong
    vars(numbers)["right"] = None
    for found, expected in zip(spread(known), spread(numbers), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        assert np.isnan(found).sum() == 1
