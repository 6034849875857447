from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analyses.leaderboard import leaderboard
from simstudy.analyses.stepdown import GainParts, Places, places
from simstudy.metrics.mean import Mean
from simstudy.metrics.ratio import Ratio
from simstudy.outputs import Outputs
from simstudy.truth.synthetic import clustered_accuracies, correlated_accuracies

SETS = ["rank_low", "rank_high", "rank_low_own", "rank_high_own", "may_be_best"]


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_right_or_wrong_items_have_wilsons_interval(level: float) -> None:
    right = np.arange(40) < np.array([0, 1, 23, 39, 40])[:, None]
    table = leaderboard(Outputs.from_statistics(np.stack([right, np.ones((5, 40))], axis=-1), "accuracy"), level=level)
    for row in table.itertuples():
        wanted = stats.binomtest(round(row.score * 0.4), 40).proportion_ci(level, method="wilson")
        assert [row.score_low, row.score_high] == pytest.approx([100 * wanted.low, 100 * wanted.high], abs=1e-9)
    assert table["score_se"].isna().tolist() == [True, False, False, False, True], "nothing varies at 0 and 100 %"


def test_other_scores_have_students_interval() -> None:
    scores = pd.DataFrame(np.random.default_rng(0).normal([1, 2, 3], [1, 2, 3], size=(12, 3)), columns=list("abc"))
    table = leaderboard(Outputs.from_scores(scores)).set_index("system")
    for name in scores:
        wanted = stats.ttest_1samp(scores[name], 0).confidence_interval(0.95)
        assert table.loc[name, ["score_low", "score_high"]].tolist() == pytest.approx([wanted.low, wanted.high])
        assert table.loc[name, "score_se"] == pytest.approx(stats.sem(scores[name]))


def test_shares_stay_within_their_scale() -> None:
    """Clusters of four items, nearly all right: the interval ends at 100; a mean of any numbers has no such end."""
    right = np.ones((2, 20), dtype=int)
    right[0, 3] = right[1, :19] = 0
    statistics = np.stack([right, np.ones_like(right)], axis=-1)
    items = pd.DataFrame({"id": range(20), "cluster": [f"c{i // 4}" for i in range(20)]})
    table = leaderboard(Outputs.from_statistics(statistics, "accuracy", items=items))
    assert (table["unit"] == "cluster").all()
    assert (table["n_units"] == 5).all()
    assert table["score"].tolist() == [95, 5]
    assert (table["score_high"][0], table["score_low"][1]) == (100, 0)
    share = 1 - np.array([0, 1, 0, 0, 0]) / 4
    reach = stats.t.ppf(0.975, 4) * stats.sem(share) * 100
    assert [table["score_low"][0], table["score_high"][1]] == pytest.approx([95 - reach, 5 + reach])
    means = leaderboard(Outputs.from_statistics(statistics, Mean(), items=items))
    assert means["score_high"][0] == 1, "right ones of all: a share too, on a scale of 1"
    ratings = leaderboard(Outputs.from_statistics(statistics * [3, 1], Mean(), items=items))
    assert ratings["score_high"][0] > 3


def test_scores_of_few_items_stay_within_the_scale_of_their_metric() -> None:
    """Student's interval of these would go beyond both ends: a standard error times 12.7."""
    gold, said = ["a", "b", "b", "a"] * 2, [["a", "b", "b", "b"] * 2, ["a", "a", "a", "b"] * 2]
    items = pd.DataFrame({"id": range(8), "cluster": [0] * 5 + [1] * 3})
    labels = Outputs.from_labels(gold, pd.DataFrame(dict(zip("xy", said, strict=True))), "macro_f1", items=items)
    board = leaderboard(labels)
    reach = stats.t.ppf(0.975, 1) * board["score_se"]
    assert (board["score"] + reach > 100).any()
    assert board["score_high"].tolist() == np.minimum(board["score"] + reach, 100).tolist()
    assert board["score_low"].tolist() == np.maximum(board["score"] - reach, 0).tolist()
    ranks = np.arange(6.0)
    answers = [np.stack([ranks, one], axis=-1) for one in (ranks[[0, 1, 2, 3, 5, 4]], ranks[::-1])]
    board = leaderboard(Outputs.from_statistics(np.stack(answers), "spearman", ["up", "down"]))
    assert board[["score_low", "score_high"]].abs().max(axis=None) == 1


def test_lower_is_better() -> None:
    """Error rates put the systems in the same places as the accuracies that they are the rest of."""
    error = Ratio("error", ("wrong", "total"), higher_is_better=False, numerator=(1, 0), denominator=(0, 1))
    outputs = correlated_accuracies([0.5, 0.6, 0.6, 0.75, 0.9], 200)
    right, wrong = outputs.statistics[..., 0], 1 - outputs.statistics[..., 0]
    errors = Outputs.from_statistics(np.stack([wrong, np.ones_like(wrong)], axis=-1), error, outputs.systems)
    table, of_errors = leaderboard(outputs), leaderboard(errors)
    assert of_errors[["system", "rank", *SETS]].equals(table[["system", "rank", *SETS]])
    np.testing.assert_allclose(of_errors["score"], 100 - table["score"])
    np.testing.assert_allclose(of_errors["score_low"], 100 - table["score_high"])
    assert right.sum() > 0
    assert table["may_be_best"].tolist() == [True, False, False, False, False]
    # Precision, with denominators of its own, and the share of wrong guesses.
    guessed = (np.random.default_rng(1).random(right.shape) < 0.6).astype(int)
    kind = {"statistics": ("correct", "guessed"), "denominator": (0, 1)}
    kept = np.stack([right * guessed, guessed], axis=-1)
    precise = leaderboard(Outputs.from_statistics(kept, Ratio("p", numerator=(1, 0), **kind)))
    missed = Ratio("m", numerator=(-1, 1), higher_is_better=False, **kind)
    assert leaderboard(Outputs.from_statistics(kept, missed))[["system", *SETS]].equals(precise[["system", *SETS]])
    assert (precise["rank_low"] > 1).any()


def test_ties_share_a_place_and_identical_systems_never_differ() -> None:
    better = np.arange(100) < 80
    statistics = np.stack([better, better, np.roll(better, 30), np.arange(100) < 20, np.arange(100) < 20]).astype(int)
    outputs = Outputs.from_statistics(
        np.stack([statistics, np.ones_like(statistics)], axis=-1), "accuracy", ["b", "a", "c", "e", "d"]
    )
    table = leaderboard(outputs)
    assert table["system"].tolist() == list("abcde"), "those that tie by name"
    assert table["rank"].tolist() == [1, 1, 1, 4, 4]
    assert table[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 3]] * 3 + [[4, 5]] * 2
    assert table["may_be_best"].tolist() == [True] * 3 + [False] * 2
    alike = leaderboard(outputs.select(["a", "b"]))
    assert alike[SETS].to_numpy().tolist() == [[1, 2, 1, 2, True]] * 2


def test_decimals_that_tie_share_a_place() -> None:
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.6, 0.0, 0.0]})
    assert leaderboard(Outputs.from_scores(frame))["rank"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(("wins", "losses"), [(12, 2), (9, 3), (40, 20), (20, 10)])
def test_two_systems_are_told_apart_by_the_sign_test(wins: int, losses: int) -> None:
    """Of right or wrong items only those count that one of the two has right, and each is a coin.

    Both may be the best in truth, so that this too is a question of two sides (20 to 10: one-sided, p is 0.049).
    """
    right = np.zeros((2, 100), dtype=int)
    right[0, :wins] = right[1, wins : wins + losses] = 1
    table = leaderboard(Outputs.from_statistics(np.stack([right, np.ones_like(right)], axis=-1), "accuracy"))
    apart = bool(stats.binomtest(wins, wins + losses).pvalue <= 0.05)
    high = 1 if apart else 2
    assert table["rank_low"].tolist() == table["rank_low_own"].tolist() == [1, 3 - high]
    assert table["rank_high"].tolist() == table["rank_high_own"].tolist() == [high, 2]
    assert table["may_be_best"].tolist() == [True, not apart]


def test_one_system_has_one_place() -> None:
    table = leaderboard(correlated_accuracies([0.7], 30))
    assert table[["rank", *SETS]].to_numpy().tolist() == [[1, 1, 1, 1, 1, True]]


def test_a_system_whose_score_hangs_on_one_unit_differs_from_none() -> None:
    """It guesses once, and right: precision 100 %, of which nothing is known. The others do not change for it."""
    rng = np.random.default_rng(0)
    guessed = rng.random((3, 200)) < 0.8
    correct = guessed & (rng.random((3, 200)) < np.array([[0.3], [0.6], [0.9]]))
    once = np.arange(200) == 5
    correct, guessed = np.vstack([correct, once]).astype(int), np.vstack([guessed, once]).astype(int)
    outputs = Outputs.from_statistics(
        np.stack([correct, guessed, np.ones_like(guessed)], axis=-1), "precision", list("abcd")
    )
    table = leaderboard(outputs).set_index("system")
    assert table.loc["d", ["score", "rank", "rank_low", "rank_high", "may_be_best"]].tolist() == [100, 1, 1, 4, True]
    assert table.loc["d", ["score_se", "score_low", "score_high"]].isna().all()
    assert table["n_undefined"].to_dict() == {"d": 1, "c": 0, "b": 0, "a": 0}
    assert table.loc[list("cba"), ["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [2, 3], [3, 4]]
    without = leaderboard(outputs.select(list("abc")))
    assert without[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]


def test_a_system_without_any_denominator() -> None:
    guessed = np.array([[1] * 30, [0] * 30])
    table = leaderboard(
        Outputs.from_statistics(np.stack([guessed, guessed, np.ones_like(guessed)], axis=-1), "precision")
    )
    assert table["n_undefined"].tolist() == [0, 30]
    assert table[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [1, 2]]


def test_same_seed_same_places_and_any_order_of_systems() -> None:
    outputs = correlated_accuracies(list(np.linspace(0.5, 0.8, 15)), 150)
    table = leaderboard(outputs, seed=3)
    assert leaderboard(outputs, seed=3).equals(table)
    pd.testing.assert_frame_equal(leaderboard(outputs.select(outputs.names[::-1]), seed=3), table)


def test_bad_options() -> None:
    outputs = clustered_accuracies([0.5, 0.6], 10, 2)
    with pytest.raises(ValueError, match="level must lie between 0 and 1, both excluded, not 95"):
        leaderboard(outputs, level=95)
    with pytest.raises(
        ValueError, match=r"n_bootstrap must be at least 1 / \(1 - level\) - 1, .* not 18 with level 0.95"
    ):
        leaderboard(outputs, n_bootstrap=18)
    assert len(leaderboard(outputs, n_bootstrap=19)) == 2
    with pytest.raises(ValueError, match="seed must be at least 0"):
        leaderboard(outputs, seed=-1)
    with pytest.raises(ValueError, match="must be a column of the items of test set 'clustered', not 'user'"):
        leaderboard(outputs, unit="user")


def right_or_wrong(true: np.ndarray, n: int, rng: np.random.Generator) -> GainParts:
    """Items of a difficulty that all systems share, as of `correlated_accuracies`, without tables."""
    latent = np.sqrt(0.5) * (rng.standard_normal(n) + rng.standard_normal((len(true), n)))
    parts = (latent < stats.norm.ppf(true)[:, None]) / n
    return GainParts(parts.sum(axis=1), parts, np.zeros(len(true), dtype=bool))


def holds(found: Places, true: np.ndarray) -> bool:
    """Whether all true ranks are in the simultaneous sets; where systems tie, the whole range of theirs."""
    best = 1 + (true > true[:, None]).sum(axis=1)
    worst = len(true) - (true < true[:, None]).sum(axis=1)
    return bool(((found.low <= best) & (worst <= found.high)).all())


@pytest.mark.statistical
def test_true_differences_are_covered_and_found() -> None:
    """Ten systems of 70 %, five of 55 % and five of 40 %, 200 items, 200 test sets."""
    rng = np.random.default_rng(20240102)
    true = np.repeat([0.7, 0.55, 0.4], [10, 5, 5])
    covered, best, first_and_last, apart = 0, 0, 0.0, 0.0
    for seed in range(200):
        found = places(right_or_wrong(true, 200, rng), level=0.95, n_bootstrap=499, seed=seed)
        covered += holds(found, true)
        best += found.may_be_best[:10].all()
        # 30 points apart: below all ten; and 15 points.
        first_and_last += (found.low[15:] > 10).mean() / 200
        apart += (~found.may_be_best[10:15]).mean() / 200
    assert covered / 200 >= 0.93
    assert best / 200 >= 0.93
    assert first_and_last > 0.95
    assert apart > 0.6


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_a_hundred_items_are_enough(share: float) -> None:
    """Of twenty equal systems on 100 items, and of five on 30: 3,000 test sets each."""
    rng = np.random.default_rng(20240103)
    for k, n in ((20, 100), (5, 30)):
        true = np.full(k, share)
        found = [places(right_or_wrong(true, n, rng), level=0.95, n_bootstrap=499, seed=s) for s in range(3000)]
        assert np.mean([holds(one, true) for one in found]) >= 0.935
        assert np.mean([one.may_be_best.all() for one in found]) >= 0.935
