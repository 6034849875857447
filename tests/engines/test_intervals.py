"""Intervals and standard errors of gains: scipy, brute force, and a constrained likelihood found by search."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.arguments import make_question
from simstudy.engines.intervals import spread
from simstudy.engines.question import common_bits, difference_moments
from simstudy.metrics import Metric
from simstudy.outputs import Outputs
from tests.engines.pairs import made, scored
from tests.oracles import ERROR_RATE, compared

COLUMNS = ["gain_se", "gain_low", "gain_high", "minimum_detectable_gain"]


def answers(both: int, only_first: int, only_second: int, neither: int, metric: str | Metric = "accuracy") -> Outputs:
    """Right and wrong answers of two systems, by a table of counts."""
    first = np.repeat([1, 1, 0, 0], [both, only_first, only_second, neither])
    second = np.repeat([1, 0, 1, 0], [both, only_first, only_second, neither])
    right = np.stack([first, second])
    return scored(right if metric == "accuracy" else 1 - right, metric)


@pytest.mark.parametrize("metric", ["accuracy", ERROR_RATE], ids=["accuracy", "error rate"])
def test_a_published_interval_of_right_and_wrong(metric: str | Metric) -> None:
    """Cavo et al. 2012 in R's contingencytables (Fagerland, Lydersen and Laake): -0.1240 to -0.0054 of 161."""
    row = compared(answers(59, 6, 16, 80, metric)).iloc[0]
    assert (row.system_a, row.interval, row.wins, row.losses, row.ties) == ("b", "score", 16, 6, 139)
    assert row.gain == pytest.approx(100 * 10 / 161)
    assert (row.gain_low, row.gain_high) == pytest.approx((0.54, 12.40), abs=5e-3)


def test_right_and_wrong_in_documents_or_strata_are_no_multinomial() -> None:
    right = np.random.default_rng(3).integers(0, 2, size=(2, 40))
    outputs = scored(right, "accuracy", cluster=np.arange(40) // 4, domain=np.arange(40) % 2)
    resampled: dict[str, Any] = {"test": "bootstrap", "n_resamples": 50, "unit": "item"}
    assert compared(outputs, unit="item")["interval"].item() == "score"
    assert compared(outputs, unit="cluster")["interval"].item() == "jackknife"
    assert compared(outputs, strata="domain", **resampled)["interval"].item() == "jackknife"


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


@pytest.mark.parametrize("kind", ["f1", "precision", "muc_f", "geometric", "error rate", "net wins"])
def test_standard_errors_are_those_of_leaving_units_out(kind: str) -> None:
    n = 20
    metric, statistics = made(kind, n, np.random.default_rng(len(kind)))
    row = compared(Outputs.from_statistics(statistics, metric)).iloc[0]
    gains = [np.diff(metric.score(np.delete(statistics, u, axis=1).sum(axis=1)))[0] for u in range(n)]
    assert (row.df, row.gain_se) == (n - 1, pytest.approx(np.sqrt((n - 1) * np.var(gains)), rel=1e-9))
    reach = stats.t.ppf(0.975, n - 1) * row.gain_se
    assert (row.gain_low, row.gain_high) == pytest.approx((row.gain - reach, row.gain + reach), rel=1e-9)


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


TWICE = {kind: made(kind, 12, np.random.default_rng(5)) for kind in ("f1", "geometric", "ratings")}
# All guesses of b are in one unit: without it, b has no precision.
SILENT = [[[1, 1, 1]] * 5 + [[0, 1, 1]], [[0, 0, 1]] * 5 + [[1, 2, 1]], [[0, 1, 1]] * 4 + [[1, 1, 1]] * 2]


@pytest.mark.parametrize(
    ("metric", "statistics", "without"),
    [
        *((metric, statistics[[0, 0, 1]], [{"a", "b"}]) for metric, statistics in TWICE.values()),
        # Each item is better by one: no spread tells how sure that is.
        ("mean", [[[score + shift, 1] for score in range(10)] for shift in (1, 0)], [{"a", "b"}]),
        ("precision", SILENT, [{"a", "b"}, {"b", "c"}]),
    ],
)
def test_pairs_without_an_interval(metric: Any, statistics: Any, without: list[set[str]]) -> None:
    pairs = compared(Outputs.from_statistics(statistics, metric, list("abc")[: len(statistics)]))
    for _, row in pairs.iterrows():
        missing = row[COLUMNS].isna()
        assert missing.all() if {row["system_a"], row["system_b"]} in without else not missing.any()
    assert pairs["p_value"].between(0, 1).all()


def test_identical_answers_have_tangos_interval() -> None:
    """No item tells them apart: of n, the true gain may be up to z^2 / (n + z^2)."""
    row = compared(answers(20, 0, 0, 20)).iloc[0]
    z = stats.norm.ppf(0.975)
    assert (row.gain_low, row.gain_high) == pytest.approx((-100 * z**2 / (40 + z**2), 100 * z**2 / (40 + z**2)))
    assert np.isnan([row.gain_se, row.minimum_detectable_gain]).all()


def test_the_detectable_gain_is_found_four_times_in_five(tagged: Outputs) -> None:
    """The power of a two-sided t test at 0.05, by the shifted distribution of t."""
    for unit, df in (("item", 59), ("cluster", 14)):
        limit = stats.t.ppf(0.975, df)
        pairs = compared(tagged, unit=unit)
        t = pairs["minimum_detectable_gain"] / pairs["gain_se"]
        np.testing.assert_allclose(stats.t.sf(limit - t, df) + stats.t.cdf(-limit - t, df), 0.8, atol=1e-4)


def test_the_interval_does_not_depend_on_the_test(answered: Outputs) -> None:
    columns = [*COLUMNS, "wins", "df"]
    expected = compared(answered)[columns]
    for test in ("bootstrap", "sign"):
        table = compared(answered, test=test, alternative="greater", n_resamples=50)
        pd.testing.assert_frame_equal(table[columns], expected)


@pytest.mark.parametrize("n", [40, 10_000])
@pytest.mark.parametrize("metric", ["accuracy", "mean (lower is better)"])
def test_right_and_wrong_answers_have_the_spread_of_numbers(n: int, metric: str) -> None:
    """There is one deviation for all right answers and one for all wrong ones. Two systems are equal."""
    right = np.random.default_rng(n).binomial(1, np.linspace(0.3, 0.9, 5)[:, None], size=(5, n))
    right[1] = right[0]
    known, numbers = (make_question(scored(right, metric).best_first(), test="sign_flips") for _ in range(2))
    assert known.right_or_wrong
    vars(numbers)["_answers"] = None
    for by_counts, expected in zip(spread(known), spread(numbers), strict=True):
        np.testing.assert_allclose(by_counts, expected, rtol=1e-10, atol=1e-12)
        assert np.isnan(by_counts).sum() == 1


@pytest.mark.parametrize("test", ["sign_flips", "bootstrap", "mcnemar"])
def test_answers_in_percent_are_right_or_wrong(test: str) -> None:
    right = np.random.default_rng(7).binomial(1, np.linspace(0.4, 0.9, 4)[:, None], size=(4, 60))
    right[0] = 1
    of_ones, of_hundreds = (compared(scored(scores, "mean"), test=test) for scores in (right, 100 * right))
    of_units = ["gain", *COLUMNS]
    others = ["interval", "exact_level", "wins", "losses", "p_value", "skewness", "caution", "computation"]
    assert set(of_ones["interval"]) == {"score"}
    np.testing.assert_allclose(of_hundreds[of_units], 100 * of_ones[of_units], rtol=1e-9)
    pd.testing.assert_frame_equal(of_hundreds[others], of_ones[others])


@pytest.mark.parametrize(
    "values", [(0, 1, 0.5), (0, 1, -1), (0, 100, 50), (0, 100, 1), (99, 100), (0, 50), (-100, 100)]
)
def test_other_scores_are_no_right_or_wrong_answers(values: tuple[float, ...]) -> None:
    """What has two values on this test set may have others on the next."""
    chosen = np.random.default_rng(7).integers(0, len(values), size=(3, 60))
    assert set(compared(scored(np.array(values)[chosen], "mean"))["interval"]) == {"jackknife"}


# Metric -> statistics of one large item and two small ones, of two systems; the largest gain.
DOMINATED: dict[str, tuple[list[list[list[float]]], float]] = {
    "f1": ([[[57, 60, 60], [1, 2, 2], [2, 2, 2]], [[8, 60, 60], [2, 2, 2], [1, 2, 2]]], 100),
    "precision": ([[[57, 60, 60], [1, 2, 2], [2, 2, 2]], [[8, 60, 60], [2, 2, 2], [1, 2, 2]]], 100),
    "muc_f": ([[[60, 60, 57, 1], [2, 2, 1, 0], [2, 2, 2, 0]], [[60, 60, 8, 1], [2, 2, 2, 0], [2, 2, 1, 0]]], 100),
    "aer": ([[[57, 60, 60, 60], [1, 2, 2, 2], [2, 2, 2, 2]], [[8, 9, 60, 60], [2, 2, 2, 2], [1, 1, 2, 2]]], 100),
    "bleu": (
        [
            [[58, 55, 50, 48, 60, 59, 58, 57, 60, 60], [3, 1, 0, 0, 4, 3, 2, 1, 4, 4], [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]],
            [[9, 3, 1, 1, 60, 59, 58, 57, 60, 60], [4, 3, 2, 1, 4, 3, 2, 1, 4, 4], [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]],
        ],
        100,
    ),
    "ndcg@10": ([[[1.0, 1], [0.1, 1], [1.0, 1]], [[0.0, 1], [0.9, 1], [0.2, 1]]], 1),
    "wer": ([[[1, 60], [2, 2], [0, 2]], [[90, 60], [0, 2], [1, 2]]], np.inf),
    "mean": ([[[9.0, 1], [0.1, 1], [1.0, 1]], [[0.0, 1], [0.9, 1], [0.2, 1]]], np.inf),
}


@pytest.mark.parametrize("metric", DOMINATED)
def test_no_interval_goes_beyond_what_gains_can_be(metric: str) -> None:
    """Else it is gain ± t times the standard error."""
    statistics, most = DOMINATED[metric]
    row = compared(Outputs.from_statistics(statistics, metric)).iloc[0]
    reach = stats.t.ppf(0.975, 2) * row.gain_se
    assert row.gain + reach > min(most, row.gain + 1e-9), "the case tests the cut"
    assert row.gain_low == pytest.approx(max(row.gain - reach, -most))
    assert row.gain_high == pytest.approx(min(row.gain + reach, most))


def test_intervals_of_metrics_of_classes_end_at_their_ranges() -> None:
    answers = pd.DataFrame({"new": list("aabb"), "old": list("babb")})
    for metric, most in (("macro_f1", 100), ("balanced_accuracy", 100), ("mcc", 2)):
        row = compared(Outputs.from_labels(list("abbb"), answers, metric)).iloc[0]
        reach = stats.t.ppf(0.975, 3) * row.gain_se
        assert row.gain + reach > most
        assert (row.gain_low, row.gain_high) == pytest.approx((max(row.gain - reach, -most), most))


@pytest.mark.parametrize("n", [1, 2, 15, 17, 2034])
def test_moments_of_differences_have_the_same_bits_for_a_pair_alone(n: int) -> None:
    """Parts hold 16 pairs of 2,034 units."""
    rows = np.random.default_rng(n).normal(size=(7, n))
    i, j = pairs = np.triu_indices(7, 1)
    together = np.array(difference_moments(rows, pairs))
    alone = [difference_moments(np.asfortranarray(rows), (i[[p]], j[[p]])) for p in range(21)]
    assert together.tobytes() == np.array(alone)[:, :, 0].T.tobytes()
    exact = [fsum(d**power for d in rows[a] - rows[b]) for power in (2, 3) for a, b in zip(i, j, strict=True)]
    np.testing.assert_allclose(together.ravel(), exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [1, 16, 63, 65, 200_000])
def test_common_bits_are_those_of_both_rows(n: int) -> None:
    right, pairs = np.random.default_rng(n).random((7, n)) < 0.6, np.triu_indices(7, 1)
    counts = right.astype(np.float64) @ right.T
    assert common_bits(right, pairs).tolist() == counts[pairs].tolist()
