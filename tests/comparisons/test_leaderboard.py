"""Leaderboards: intervals of scores by scipy, ranks and their sets by hand, and options that reach both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.leaderboard import leaderboard, score_interval
from simstudy.comparisons.stepdown import gain_parts, places
from simstudy.metrics.base import Ratio
from simstudy.metrics.mean import Mean
from simstudy.metrics.user_metrics import metric
from simstudy.outputs import Outputs
from simstudy.truth import clustered_accuracies, correlated_accuracies

SETS = ["rank_low", "rank_high", "rank_low_own", "rank_high_own", "may_be_best"]
N = 48


def right_answers(right: np.ndarray, names: list[str] | None = None) -> Outputs:
    """Accuracies of systems that have these items right, (K, n)."""
    return Outputs.from_statistics(np.stack([right, np.ones_like(right)], axis=-1).astype(int), "accuracy", names)


@pytest.fixture(scope="module")
def outputs() -> Outputs:
    """Eight systems, in no order, on 48 items of 12 documents."""
    rng = np.random.default_rng(12)
    systems = pd.DataFrame({"name": list("hbfagdce"), "family": list("xyzxywww")})
    scores = rng.normal(size=(N, 1)) + rng.normal(size=(N, 8)) + rng.permutation(np.linspace(0, 1.2, 8))
    items = pd.DataFrame({"id": [f"i{i}" for i in range(N)], "cluster": [f"d{i // 4}" for i in range(N)]})
    frame = pd.DataFrame(scores, columns=systems["name"].tolist())
    return Outputs.from_scores(frame, "mean", systems, items=items, task="t", test_set="s")


SEED = {"n_bootstrap": 60, "seed": 6}


@pytest.mark.parametrize(("unit", "options"), [(None, {}), ("cluster", {"level": 0.7}), ("item", SEED)])
def test_options_reach_intervals_and_ranks(outputs: Outputs, unit: str | None, options: dict[str, Any]) -> None:
    """Intervals are Student's, of the means of units; ranks are those of `places`."""
    board = leaderboard(outputs, unit=unit, **options)
    options = {"level": 0.95, "n_bootstrap": 2000, "seed": 0} | options
    ranked = outputs.best_first()
    sums = ranked if unit == "item" else ranked.sum_by("cluster")
    n = N if unit == "item" else 12
    expected = places(gain_parts(sums.statistics, outputs.metric, np.zeros(8, dtype=bool)), **options)
    for column, name in zip(SETS, ("low", "high", "low_own", "high_own", "may_be_best"), strict=True):
        assert board[column].tolist() == getattr(expected, name).tolist()
    assert board["rank_low"].tolist() != board["rank_low_own"].tolist()
    assert board["rank_high"].tolist() != board["rank_high_own"].tolist()
    units = pd.DataFrame(ranked.statistics[..., 0].T).groupby(np.arange(N) // (N // n)).mean()
    assert board["score"].tolist() == pytest.approx(units.mean().tolist())
    assert board["score"].is_monotonic_decreasing
    assert board["score_se"].tolist() == pytest.approx(stats.sem(units).tolist())
    interval = stats.ttest_1samp(units, 0).confidence_interval(options["level"])
    np.testing.assert_allclose(board[["score_low", "score_high"]].T, [interval.low, interval.high])
    key = board[["task", "test_set", "n_items", "metric", "unit", "n_units", "level"]].drop_duplicates()
    assert key.to_numpy().tolist() == [["t", "s", N, "mean", unit or "cluster", n, options["level"]]]
    family = dict(zip("hbfagdce", "xyzxywww", strict=True))
    assert board["family"].tolist() == [family[name] for name in board["system"]]


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_right_or_wrong_items_have_wilsons_interval(level: float) -> None:
    board = leaderboard(right_answers(np.arange(40) < np.array([0, 1, 23, 39, 40])[:, None]), level=level)
    for row in board.itertuples():
        expected = stats.binomtest(round(row.score * 0.4), 40).proportion_ci(level, method="wilson")
        assert [row.score_low, row.score_high] == pytest.approx([100 * expected.low, 100 * expected.high], abs=1e-9)
    assert board["score_se"].isna().tolist() == [True, False, False, False, True], "nothing varies at 0 and 100 %"


def test_shares_stay_within_their_scale() -> None:
    """Clusters of four items, nearly all right: the interval ends at 100; a mean of any numbers has no such end."""
    right = np.ones((2, 20), dtype=int)
    right[0, 3] = right[1, :19] = 0
    statistics = np.stack([right, np.ones_like(right)], axis=-1)
    items = pd.DataFrame({"id": range(20), "cluster": [f"c{i // 4}" for i in range(20)]})
    accuracy = Outputs.from_statistics(statistics, "accuracy", items=items)
    assert [score_interval(accuracy, unit) for unit in (None, "item")] == ["jackknife", "wilson"]
    board = leaderboard(accuracy)
    reach = stats.t.ppf(0.975, 4) * stats.sem(1 - np.array([0, 1, 0, 0, 0]) / 4) * 100
    assert board["score_low"].tolist() == pytest.approx([95 - reach, 0])
    assert board["score_high"].tolist() == pytest.approx([100, 5 + reach])
    means = leaderboard(Outputs.from_statistics(statistics, Mean(), items=items))
    assert means["score_high"][0] == 1, "right ones of all: a share too, on a scale of 1"
    ratings = leaderboard(Outputs.from_statistics(statistics * [3, 1], Mean(), items=items))
    assert ratings["score_high"][0] > 3
    errors = leaderboard(Outputs.from_statistics(statistics, "wer", items=items))
    assert errors["score_high"][1] > 100, "an item may have more errors than words"


def test_right_or_wrong_answers_in_percent_are_shares() -> None:
    """By scipy's interval, which is Wilson's (1927), for 100 and 0 as for 1 and 0."""
    right = np.array([[1, 1, 1, 1, 0], [0, 0, 1, 1, 1]])
    for worth in (1, 100):
        board = leaderboard(Outputs.from_scores(pd.DataFrame(worth * right.T, columns=["a", "b"])))
        limits = [stats.binomtest(k, 5).proportion_ci(method="wilson") for k in (4, 3)]
        assert board[["score_low", "score_high"]].to_numpy() == pytest.approx(worth * np.array(limits))


def test_scores_of_few_items_stay_within_the_scale_of_their_metric() -> None:
    """Student's interval would go beyond both ends: a standard error times 12.7."""
    gold, answers = ["a", "b", "b", "a"] * 2, [["a", "b", "b", "b"] * 2, ["a", "a", "a", "b"] * 2]
    items = pd.DataFrame({"id": range(8), "cluster": [0] * 5 + [1] * 3})
    labels = Outputs.from_labels(gold, pd.DataFrame(dict(zip("xy", answers, strict=True))), "macro_f1", items=items)
    board = leaderboard(labels)
    reach = stats.t.ppf(0.975, 1) * board["score_se"]
    assert (board["score"] + reach > 100).any()
    assert board["score_high"].tolist() == np.minimum(board["score"] + reach, 100).tolist()
    assert board["score_low"].tolist() == np.maximum(board["score"] - reach, 0).tolist()
    ranks = np.arange(6.0)
    pairs = [np.stack([ranks, other], axis=-1) for other in (ranks[[0, 1, 2, 3, 5, 4]], ranks[::-1])]
    board = leaderboard(Outputs.from_statistics(np.stack(pairs), "spearman", ["up", "down"]))
    assert board[["score_low", "score_high"]].abs().max(axis=None) == 1


def test_lower_is_better() -> None:
    """Errors, as ratios or by the jackknife, give the ranks of accuracies, and wrong guesses those of precisions."""
    error = Ratio("error", ("wrong", "total"), higher_is_better=False, numerator=(1, 0), denominator=(0, 1))
    outputs = correlated_accuracies([0.5, 0.6, 0.6, 0.75, 0.9], 200)
    right = outputs.statistics[..., 0]
    errors = Outputs.from_statistics(np.stack([1 - right, np.ones_like(right)], axis=-1), error, outputs.systems)
    rate = metric("rate", lambda wrong, total: 100 * wrong / total, lower_is_better=True)
    rates = Outputs.from_statistics(errors.statistics, rate, outputs.systems)
    board, board_of_errors, board_of_rates = leaderboard(outputs), leaderboard(errors), leaderboard(rates)
    for other in (board_of_errors, board_of_rates):
        assert other[["system", "rank", *SETS]].equals(board[["system", "rank", *SETS]])
    np.testing.assert_allclose(board_of_errors["score_low"], 100 - board["score_high"])
    assert board["may_be_best"].tolist() == [True, False, False, False, False]
    guessed = (np.random.default_rng(1).random(right.shape) < 0.6).astype(int)
    counts, columns = np.stack([right * guessed, guessed], axis=-1), ("correct", "guessed")
    precision = Ratio("p", columns, numerator=(1, 0), denominator=(0, 1))
    wrong = Ratio("m", columns, higher_is_better=False, numerator=(-1, 1), denominator=(0, 1))
    precise, missed = (leaderboard(Outputs.from_statistics(counts, by)) for by in (precision, wrong))
    assert missed[["system", *SETS]].equals(precise[["system", *SETS]])
    assert (precise["rank_low"] > 1).any()


def test_lower_medians_are_better() -> None:
    """Medians of seconds, and of minus the seconds: the same ranks, and Student's interval at the level."""
    seconds = np.random.default_rng(2).gamma(2, size=(4, 80, 1)) + np.array([0, 0.2, 2, 2.5])[:, None, None]
    lower = metric("seconds", lambda score: float(np.median(score)), resample=True, lower_is_better=True)
    higher = metric("minus seconds", lambda score: float(np.median(score)), resample=True)
    board = leaderboard(Outputs.from_statistics(seconds, lower, list("abcd")), level=0.8)
    turned = leaderboard(Outputs.from_statistics(-seconds, higher, list("abcd")), level=0.8)
    assert board[["system", "rank", *SETS]].equals(turned[["system", "rank", *SETS]])
    assert board["rank_low"].tolist() == [1, 1, 3, 3]
    np.testing.assert_allclose(board["score_high"], board["score"] + stats.t.ppf(0.9, 79) * board["score_se"])


def test_ties_share_a_place_and_identical_systems_never_differ() -> None:
    better = np.arange(100) < 80
    right = np.stack([better, better, np.roll(better, 30), np.arange(100) < 20, np.arange(100) < 20])
    outputs = right_answers(right, ["b", "a", "c", "e", "d"])
    board = leaderboard(outputs)
    assert board["system"].tolist() == list("abcde"), "those that tie by name"
    assert board["rank"].tolist() == [1, 1, 1, 4, 4]
    assert board[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 3]] * 3 + [[4, 5]] * 2
    assert board["may_be_best"].tolist() == [True] * 3 + [False] * 2
    assert leaderboard(outputs.select(["a", "b"]))[SETS].to_numpy().tolist() == [[1, 2, 1, 2, True]] * 2
    decimals = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.6, 0.0, 0.0]})
    assert leaderboard(Outputs.from_scores(decimals))["rank"].tolist() == [1, 1, 1]
    assert leaderboard(outputs.select(["c"]))[["rank", *SETS]].to_numpy().tolist() == [[1, 1, 1, 1, 1, True]]


@pytest.mark.parametrize(("wins", "losses"), [(12, 2), (9, 3), (40, 20), (20, 10)])
def test_two_systems_differ_by_the_sign_test(wins: int, losses: int) -> None:
    """Only items count that one of the two has right, and each is a coin; 20 to 10: one-sided, p is 0.049."""
    right = np.zeros((2, 100))
    right[0, :wins] = right[1, wins : wins + losses] = 1
    board = leaderboard(right_answers(right))
    significant = bool(stats.binomtest(wins, wins + losses).pvalue <= 0.05)
    high = 1 if significant else 2
    assert board["rank_low"].tolist() == board["rank_low_own"].tolist() == [1, 3 - high]
    assert board["rank_high"].tolist() == board["rank_high_own"].tolist() == [high, 2]
    assert board["may_be_best"].tolist() == [True, not significant]


def test_a_system_whose_score_rests_on_one_unit_differs_from_none() -> None:
    """It guesses once, and right: precision 100 %, whose spread is unknown. The others do not change for it."""
    rng = np.random.default_rng(0)
    guessed = rng.random((3, 200)) < 0.8
    correct = guessed & (rng.random((3, 200)) < np.array([[0.3], [0.6], [0.9]]))
    once = np.arange(200) == 5
    correct, guessed = np.vstack([correct, once]).astype(int), np.vstack([guessed, once]).astype(int)
    statistics = np.stack([correct, guessed, np.ones_like(guessed)], axis=-1)
    outputs = Outputs.from_statistics(statistics, "precision", list("abcd"))
    board = leaderboard(outputs).set_index("system")
    assert board.loc["d", ["score", "rank", "rank_low", "rank_high", "may_be_best"]].tolist() == [100, 1, 1, 4, True]
    assert board.loc["d", ["score_se", "score_low", "score_high"]].isna().all()
    assert board["n_undefined"].to_dict() == {"d": 1, "c": 0, "b": 0, "a": 0}
    assert board.loc[list("cba"), ["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [2, 3], [3, 4]]
    without = leaderboard(outputs.select(list("abc")))
    assert without[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    statistics[3] = [0, 0, 1]
    board = leaderboard(Outputs.from_statistics(statistics, "precision", list("abcd"))).set_index("system")
    assert (board.loc["d", "n_undefined"], board.loc["d", "rank_high"], board["rank_low"].max()) == (200, 4, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "level must lie between 0 and 1, both excluded, not 95"),
        ({"n_bootstrap": 18}, r"n_bootstrap must be at least 1 / \(1 - level\) - 1, .* not 18 with level 0.95"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"unit": "user"}, "must be a column of the items of test set 'clustered', not 'user'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    outputs = clustered_accuracies([0.5, 0.6], 10, 2)
    with pytest.raises(ValueError, match=message):
        leaderboard(outputs, **options)
    assert len(leaderboard(outputs, n_bootstrap=19)) == 2
