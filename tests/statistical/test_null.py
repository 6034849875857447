"""What p-values and intervals are worth where the null hypothesis holds exactly, on many test sets of two systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines import drawn_pairs
from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.engines.question import Question
from simstudy.engines.registry import TESTS
from simstudy.metrics.user_metrics import metric as make_metric
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from simstudy.truth import clustered_accuracies
from tests.oracles import compared

pytestmark = pytest.mark.statistical

ALPHAS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)
FALSE_ALARM = 1e-6
METRIC = {"right or wrong": "accuracy", "f1": "f1", "unlike guesses": "precision"}


def null_sets(kind: str, m: int, n: int, seed: int, between: float = 0.5) -> np.ndarray:
    """Statistics (m, 2, n, S) of pairs that could swap their results on any item, and nothing would change in law.

    But for "unlike guesses": two systems of precision 0.5, of which one guesses once an item, the other ten times.
    """
    rng = np.random.default_rng(seed)
    shape = (m, 2, n)
    if kind == "unlike guesses":
        guessed = np.broadcast_to([[1], [10]], shape)
        return np.stack([rng.binomial(guessed, 0.5), guessed, np.full(shape, 20)], axis=-1)
    if kind == "f1":
        gold = np.broadcast_to(rng.integers(0, 4, size=(m, 1, n)), shape)
        correct = rng.binomial(gold, 0.6)
        return np.stack([correct, correct + rng.poisson(0.8, size=shape), gold], axis=-1)
    shared = rng.normal(size=(m, 1, n)) * np.sqrt(between)
    noise = rng.standard_t(2, size=shape) if kind == "heavy tails" else rng.normal(size=shape) * np.sqrt(1 - between)
    scores = shared + noise
    if kind == "right or wrong":
        scores = (scores < 0.5).astype(np.int64)
    elif kind == "ratings":
        scores = np.clip(np.rint(scores + 3), 1, 5).astype(np.int64)
    return np.stack([scores, np.ones_like(scores)], axis=-1)


def p_values(kind: str, sets: np.ndarray, test: str, *, n_resamples: int = 499, **options: Any) -> np.ndarray:
    """Two-sided p-values (m,); a hundred test sets share their resamples."""
    found = []
    for seed, some in enumerate(np.array_split(sets, max(len(sets) // 100, 1))):
        question = DrawnPairs(some, METRIC.get(kind, "mean"), n_resamples=n_resamples, seed=seed).question
        found.append(drawn_pairs.p_values(replace(question, alternative="two-sided", **options), test))
    return np.concatenate(found)  # type: ignore[arg-type]


def is_at_most(rejected: int, tried: int, alpha: float) -> bool:
    """Whether a test that rejects with probability at most alpha may have rejected so often."""
    return bool(stats.binom.sf(rejected - 1, tried, alpha) > FALSE_ALARM / len(ALPHAS))


def is_between(rejected: int, tried: int, low: float, high: float) -> bool:
    return bool(min(stats.binom.cdf(rejected, tried, low), stats.binom.sf(rejected - 1, tried, high)) > FALSE_ALARM)


def assert_valid(p: np.ndarray) -> None:
    for alpha in ALPHAS:
        # A p-value of 0.05 made of binary sums may be above it in the last bit, or below.
        assert is_at_most(int((p <= alpha + 1e-12).sum()), len(p), alpha), alpha


@pytest.mark.parametrize(
    ("kind", "test"),
    [("right or wrong", "sign_flips"), ("ratings", "randomization"), ("ratings", "sign"), ("ratings", "wilcoxon")],
)
def test_exact_tests_reject_at_most_as_often_as_they_say(kind: str, test: str) -> None:
    """2,000 test sets with discrete results, on which few p-values are possible."""
    p = p_values(kind, null_sets(kind, 2000, 24, seed=1), test)
    assert_valid(p)
    # Valid, and not by never rejecting.
    assert (p <= 0.1).mean() > 0.03


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "test"),
    [("right or wrong", "mcnemar"), ("f1", "randomization"), ("normal", "randomization"), ("normal", "wilcoxon"),
     ("heavy tails", "randomization"), ("heavy tails", "wilcoxon")],
)  # fmt: skip
def test_exact_p_values_are_valid_and_of_continuous_scores_uniform(kind: str, test: str) -> None:
    """10,000 test sets of 13 items: two-sided p-values are even on 2 / 2^13, 4 / 2^13 …, next to uniform."""
    p = p_values(kind, null_sets(kind, 10_000, 13, seed=2), test)
    assert_valid(p)
    if kind in ("normal", "heavy tails"):
        # Wilcoxon's sums of ranks have few values: spread each p-value over the step below it.
        steps = np.unique(p)
        below = np.concatenate([[0.0], steps])[np.searchsorted(steps, p)]
        spread = below + np.random.default_rng(0).random(len(p)) * (p - below)
        assert stats.kstest(spread, "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize("kind", ["normal", "f1", "right or wrong"])
def test_random_shuffles_with_the_plus_one_are_valid_however_few(kind: str) -> None:
    """(s + 1) / (B + 1) is at most alpha with probability at most alpha; s / B without ties is so too often."""
    sets = null_sets(kind, 5000, 12, seed=3)
    drawn: dict[str, Any] = {"test": "randomization", "monte_carlo": True, "n_resamples": 99}
    assert_valid(p_values(kind, sets, **drawn))
    if kind == "right or wrong":
        strict = p_values(kind, sets, convention=CONVENTIONS["sacrebleu"], **drawn)
        assert not is_at_most(int((strict <= 0.05).sum()), len(strict), 0.05)


@pytest.mark.parametrize(
    ("test", "kind", "n"),
    [("sign_flips", "f1", 25), ("sign_flips", "unlike guesses", 80), ("bootstrap", "ratings", 100),
     ("t_paired", "ratings", 100), ("z_paired", "right or wrong", 150)],
)  # fmt: skip
def test_approximate_tests_are_near_their_size_on_many_items(test: str, kind: str, n: int) -> None:
    """2,000 test sets of two equal scores: 5 % is allowed to be 4 to 6.5 %, beside what chance does."""
    p = p_values(kind, null_sets(kind, 2000, n, seed=5), test)
    assert is_between(int((p <= 0.05).sum()), len(p), 0.04, 0.065)


def test_randomization_of_unlike_guesses_rejects_equal_scores_too_often() -> None:
    """Equal precision, of 1 and of 10 guesses an item: that they could be exchanged is false."""
    sets = null_sets("unlike guesses", 300, 150, seed=9)
    p = p_values("unlike guesses", sets, "randomization", monte_carlo=True)
    assert not is_at_most(int((p <= 0.05).sum()), len(p), 0.05)


@pytest.mark.parametrize(("kind", "n"), [("f1", 25), ("ratings", 25), ("right or wrong", 25), ("unlike guesses", 100)])
def test_intervals_hold_a_gain_of_0_as_often_as_they_say(kind: str, n: int) -> None:
    """4,000 test sets: 95 % is allowed to be 94 to 97 %, beside what chance does."""
    row = DrawnPairs(null_sets(kind, 4000, n, seed=8), METRIC.get(kind, "mean")).coverage(0.0)
    assert row["interval"] == ("score" if kind == "right or wrong" else "jackknife")
    assert row["n_undefined"] == 0
    assert is_between(int(row["n_covered"]), 4000, 0.94, 0.97)


def test_intervals_hold_a_gain_that_is_there() -> None:
    """The first system is better by 1; some test sets show that this is less than a margin of 1.2."""
    scores = np.random.default_rng(4).normal([[1.0], [0.0]], size=(4000, 2, 30))
    sets = DrawnPairs(np.stack([scores, np.ones_like(scores)], axis=-1), "mean")
    assert is_between(int(sets.coverage(1.0)["n_covered"]), 4000, 0.94, 0.96)
    difference = scores[:, 0] - scores[:, 1]
    bounds = stats.ttest_1samp(difference, 0, axis=1).confidence_interval()
    not_worse, equivalent = sets.shown_within(1.2)
    assert not_worse.tolist() == (bounds.low > -1.2).tolist()
    assert equivalent.tolist() == ((bounds.low > -1.2) & (bounds.high < 1.2)).tolist()
    assert 0 < equivalent.sum() < not_worse.sum()


def test_t_is_exact_for_normal_differences_and_z_is_not() -> None:
    """6 items: Student's p-values are uniform, the normal distribution's are too small."""
    sets = null_sets("normal", 4000, 6, seed=6)
    assert stats.kstest(p_values("normal", sets, "t_paired"), "uniform").pvalue > FALSE_ALARM
    assert not is_at_most(int((p_values("normal", sets, "z_paired") <= 0.05).sum()), 4000, 0.05)


@pytest.mark.parametrize("test", ["z_independent", "t_two_sample", "two_proportions", "chi_square"])
def test_tests_that_assume_independence_reject_correlated_systems_too_rarely(test: str) -> None:
    """Yeh's point (2000, section 2). With independent systems the same tests are near their size."""
    assert "independent" in TESTS[test].assumes
    sets = {between: null_sets("right or wrong", 1000, 150, 7, between) for between in (0.0, 0.8)}
    rejected = {between: (p_values("right or wrong", drawn, test) <= 0.05).mean() for between, drawn in sets.items()}
    assert rejected[0.0] == pytest.approx(0.05, abs=0.01 + 5 * np.sqrt(0.05 * 0.95 / 1000))
    assert rejected[0.8] < 0.01


def errors(m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Squared errors of two systems that err alike, and how many: for root mean squared errors."""
    squares = (rng.normal(size=(m, 1, n)) * 0.7 + rng.normal(size=(m, 2, n)) * 0.7) ** 2
    return np.stack([squares, np.ones_like(squares)], axis=-1)


def surprises(m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Surprise of two language models on texts of 5 to 39 words, and the number of words: for perplexity."""
    words = np.broadcast_to(rng.integers(5, 40, size=(m, 1, n)), (m, 2, n))
    return np.stack([(rng.gamma(1, size=(m, 1, n)) + rng.gamma(1, size=(m, 2, n))) * words, words], axis=-1)


def rejected_of_own(function: Callable[..., Any], sets: np.ndarray, test: str, alpha: float) -> int:
    """How often a test rejects, of a metric that a user brings; each test set is drawn by itself."""
    own, rejected = make_metric("own", function), 0
    for seed, pair in enumerate(sets):
        first, second = own.score(pair.sum(axis=1))
        best_first = np.ascontiguousarray(pair if first >= second else pair[::-1])
        bounds = np.array([0, pair.shape[1]])
        question = Question(
            best_first, own, ["a", "b"], "item", bounds, "two-sided", monte_carlo=True, n_resamples=499, seed=seed
        )
        rejected += int(TESTS[test].run(question).p_value[0] <= alpha)
    return rejected


@pytest.mark.slow
@pytest.mark.parametrize("test", ["sign_flips", "bootstrap", "randomization"])
def test_smooth_metrics_of_ones_own_are_near_their_size_and_steps_only_for_randomization(test: str) -> None:
    """1,000 test sets of 150 items: 5 % is allowed to be 3 to 6.5 %, beside what chance does.

    A score that is rounded has no slope: sign flips take its gains for certain.
    """
    rng = np.random.default_rng(11)
    for function, draw in (
        (lambda squares, number: np.sqrt(squares / number), errors),
        (lambda surprise, words: np.exp(surprise / words), surprises),
    ):
        assert is_between(rejected_of_own(function, draw(1000, 150, rng), test, 0.05), 1000, 0.03, 0.065)
    if test != "bootstrap":
        rejected = rejected_of_own(lambda s, n: np.round(20 * s / n) / 20, errors(1000, 150, rng), test, 0.01)
        assert is_at_most(rejected, 1000, 0.01) == (test == "randomization")


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_dependent_items_reject_too_often_and_their_clusters_do_not(test: str) -> None:
    """60 documents of ten sentences, on each of which one system happens to do well."""
    rejected = {"item": 0, "cluster": 0}
    for seed in range(600):
        outputs = clustered_accuracies([0.7, 0.7], 60, 10, within=0.3, seed=seed)
        for unit in rejected:
            options: dict[str, Any] = {"unit": unit, "n_resamples": 500, "seed": seed}
            rejected[unit] += compared(outputs, test=test, **options).p_value[0] <= 0.05
    assert rejected["item"] / 600 > 0.1
    assert is_at_most(rejected["cluster"], 600, 0.05 if test == "randomization" else 0.065)


def test_resampled_clusters_keep_the_level() -> None:
    """Items in clusters of ten that are right or wrong together: as items, two systems seem to differ."""
    rng = np.random.default_rng(2)
    items = pd.DataFrame({"id": range(600), "cluster": np.repeat(np.arange(60), 10)})
    right = np.repeat(rng.random((40, 60)) < 0.7, 10, axis=1).astype(np.int8)
    outputs = Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy", items=items)
    by_item, by_cluster = (compared(outputs, unit=unit)["p_value"] <= 0.05 for unit in ("item", "cluster"))
    assert by_item.mean() > 0.3
    assert by_cluster.mean() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["macro_f1", "balanced_accuracy", "mcc"])
def test_stray_answers_of_equally_good_systems_leave_the_level(metric: str) -> None:
    """Of 150 answers some three are no label; in one of ten test sets only one system has any."""
    rng, n_sets = np.random.default_rng(11), 1000
    rejected = 0
    for _ in range(n_sets):
        gold = rng.choice(list("abc"), 150)
        said = {}
        for name in ("one", "other"):
            own = np.where(rng.random(150) < 0.8, gold, rng.choice(list("abc"), 150))
            said[name] = np.where(rng.random(150) < 0.02, "unknown", own)
        p = compared(Outputs.from_labels(gold, pd.DataFrame(said), metric))["p_value"].iloc[0]
        assert p > 1e-5
        rejected += p <= 0.05
    # The target of the study error_rates.
    assert stats.binom.sf(rejected - 1, n_sets, 0.065) > FALSE_ALARM
