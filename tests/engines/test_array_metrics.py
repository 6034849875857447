"""Metrics of arrays: against other libraries on resampled items, and against all resamples and all swaps."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import simstudy as ss
from simstudy.metrics.arrays import ARRAYS, ArrayMetric


def won(gold: np.ndarray, score: np.ndarray) -> float:
    """The share of pairs of a positive and a negative item that the positive one wins; ties are half."""
    excess = score[gold > 0][:, None] - score[gold <= 0]
    return float(((excess > 0) + (excess == 0) / 2).mean()) if excess.size else np.nan


OTHERS: dict[str, Any] = {
    "auc": lambda gold, score: won(gold, score),
    "pearson": lambda gold, score: stats.pearsonr(gold, score)[0],
    "spearman": lambda gold, score: stats.spearmanr(gold, score)[0],
    "median": lambda score: np.median(score),
}


def outputs_of(name: str, n: int, seed: int = 0, clusters: list[int] | None = None, **options: Any) -> ss.Outputs:
    """Three systems' scores with ties."""
    rng = np.random.default_rng(seed)
    gold = (rng.random(n) < 0.5).astype(float) if name == "auc" else rng.normal(size=n)
    gold[:2] = [0, 1]
    scores = [(quality * gold + rng.normal(size=n)).round(1) for quality in (1.2, 0.8, 0.1)]
    columns = [[one] if name == "median" else [gold, one] for one in scores]
    items = pd.DataFrame({"id": [str(i) for i in range(n)]})
    if clusters:
        items["cluster"] = [f"d{c}" for c in clusters]
    return ss.Outputs.from_statistics(np.stack([np.stack(c, axis=-1) for c in columns]), name, list("abc"), items)


@pytest.mark.parametrize("name", OTHERS)
def test_scores_of_counts_are_those_of_repeated_items(name: str, rng: np.random.Generator) -> None:
    rows = outputs_of(name, 25, 3).statistics[1]
    counts = rng.multinomial(25, np.full(25, 1 / 25), size=30)
    expected = [OTHERS[name](*rows[np.repeat(np.arange(25), times)].T) for times in counts]
    if name == "auc":
        assert won(*rows.T) == pytest.approx(roc_auc_score(*rows.T))
    np.testing.assert_allclose(ARRAYS[name].resampled(rows, counts), expected, atol=1e-10)
    by_function = ArrayMetric("own", ARRAYS[name].statistics, function=OTHERS[name])
    np.testing.assert_allclose(by_function.resampled(rows, counts), expected, atol=1e-12)


@pytest.mark.parametrize("clusters", [None, [0, 0, 0, 1, 2, 2, 3, 4, 4]])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_p_values_are_shares_of_all_resamples(clusters: list[int] | None, alternative: str) -> None:
    """Of clusters the whole is drawn: 5^5 resamples; of five items as many."""
    n = len(clusters) if clusters else 5
    outputs = outputs_of("median", n, 7, clusters)
    pair = ss.compare(outputs, n_resamples=10_000, alternative=alternative).pair("a", "c")
    assert (pair.row["test"], pair.row["interval"], pair.row["n_units"]) == ("bootstrap", "bootstrap", 5)
    best, other = outputs.select([pair.row["system_a"], pair.row["system_b"]]).statistics[..., 0]
    members = [np.flatnonzero(np.array(clusters or range(5)) == c) for c in range(5)]
    gains = []
    for drawn in product(range(5), repeat=5):
        items = np.concatenate([members[c] for c in drawn])
        gains.append(np.median(best[items]) - np.median(other[items]))
    gain, gains = np.median(best) - np.median(other), np.array(gains)
    twice = gains >= 2 * gain - 1e-9
    extreme = twice | (gains <= 1e-9) if alternative == "two-sided" else twice
    assert pair.p_value == pytest.approx(extreme.mean(), abs=0.02)
    assert pair.row["gain_se"] == pytest.approx(gains.std(), rel=0.08)


@pytest.mark.parametrize("fast", [True, False])
def test_randomization_is_the_share_of_all_swaps(fast: bool) -> None:
    outputs = outputs_of("auc", 8, 1).select(["a", "c"])
    if not fast:
        own = ss.metric("own", won, resample=True)
        outputs = ss.Outputs.from_statistics(outputs.statistics, own, outputs.systems, outputs.items)
    gold, a, c = outputs.statistics[0, :, 0], *outputs.statistics[..., 1]
    gains = []
    for swaps in product((False, True), repeat=8):
        gains.append(won(gold, np.where(swaps, c, a)) - won(gold, np.where(swaps, a, c)))
    expected = np.mean(np.abs(gains) >= abs(gains[0]) - 1e-9)
    found = ss.compare(outputs, test="randomization", n_resamples=4_000 if fast else 800).frame.iloc[0]
    assert found["p_value"] == pytest.approx(expected, abs=0.035 if fast else 0.07)
    assert found["exact_level"]


def test_bounds_of_a_normal_mean_are_students() -> None:
    """A mean by a function of arrays has the standard error of a mean, up to Monte Carlo error and 1 / n."""
    rng = np.random.default_rng(5)
    scores = pd.DataFrame(rng.normal([0.3, 0.0], 1, size=(60, 2)), columns=["a", "b"])
    own = ss.metric("mean of arrays", lambda score: np.mean(score), resample=True)
    arrays = ss.Outputs.from_statistics(scores.to_numpy().T[..., None], own, ["a", "b"])
    made = arrays, ss.Outputs.from_scores(scores)
    found, sums = (ss.compare(one, test="bootstrap", n_resamples=1_000, monte_carlo=True, seed=1) for one in made)
    np.testing.assert_allclose(found["gain_se"], sums["gain_se"], rtol=0.05)
    np.testing.assert_array_equal(found["n_extreme"], sums["n_extreme"])
    boards = [ss.leaderboard(one).set_index("system") for one in made]
    np.testing.assert_allclose(boards[0]["score_se"], boards[1]["score_se"], rtol=0.06)
    assert boards[0]["rank_high"].tolist() == boards[1]["rank_high"].tolist()


@pytest.mark.parametrize(
    "function",
    [lambda outputs: ss.plan(pilot=outputs), ss.comparisons.correlation, lambda outputs: outputs.sum_by("id")],
)
def test_what_is_for_sums_is_refused(function: Any) -> None:
    with pytest.raises(ValueError, match="^[^\n]*'auc'[^\n]*$"):
        function(outputs_of("auc", 30))


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda score: 1 / 0, "fails: ZeroDivisionError"),
        (lambda score: score, "must return one number, not an array of shape"),
        (lambda score: None, "must return real numbers, not nothing"),
        (lambda score: np.nan, "must be a finite number for the whole test set, not nan as for system 'system-1'"),
    ],
)
def test_functions_that_are_none(function: Any, problem: str) -> None:
    own = ss.metric("own", function, resample=True)
    outputs = ss.Outputs.from_statistics(np.ones((2, 5, 1)), own)
    with pytest.raises(ValueError, match=problem):
        ss.compare(outputs, n_resamples=10)


def test_an_undefined_resample_scores_nothing_and_lower_may_be_better() -> None:
    rows = np.array([[0, 0.1], [1, 0.9], [0, 0.3]])
    assert ARRAYS["auc"].resampled(rows, np.array([[3, 0, 0], [1, 1, 1]])).tolist() == [0, 1]
    seconds = pd.DataFrame({"slow": [3, 5, 9], "fast": [1, 2, 1]})
    outputs = ss.Outputs.from_scores(seconds, "median", lower_is_better=True)
    assert outputs.best_first().names == ["fast", "slow"]
    assert outputs.scores().tolist() == [5, 1]
