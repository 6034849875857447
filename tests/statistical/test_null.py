"""What p-values are worth where the null hypothesis holds exactly, on thousands of test sets of two equal systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.intervals import intervals
from simstudy.engines.question import Question
from simstudy.engines.registry import TESTS
from simstudy.metrics import METRICS, Metric, get_metric
from simstudy.metrics.made import metric as make_metric
from simstudy.statistics.pvalues import CONVENTIONS
from simstudy.truth.synthetic import clustered_accuracies
from tests.oracles import compared

pytestmark = pytest.mark.statistical

ALPHAS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)
FALSE_ALARM = 1e-6
SACREBLEU: dict[str, Any] = {"convention": CONVENTIONS["sacrebleu"], "monte_carlo": True}


def p_values(pairs: Iterable[np.ndarray], metric: str | Metric = "mean", *, test: str, **options: Any) -> np.ndarray:
    """Two-sided p-values of pairs' statistics (2, n, S), each a test set with a seed of its own.

    The engine's own answers: `compare` would take ten times as long to make tables of one row.
    """
    of_sums, found = get_metric(metric), []
    for seed, pair in enumerate(pairs):
        first, second = of_sums.score(pair.sum(axis=1))
        best_first = np.ascontiguousarray(pair if first >= second else pair[::-1])
        bounds = np.array([0, pair.shape[1]])
        question = Question(best_first, of_sums, ["a", "b"], "item", bounds, "two-sided", **options, seed=seed)
        assert not TESTS[test].refusal(question)
        found.append(TESTS[test].run(question).p_value[0])
    return np.array(found)


def null_pairs(kind: str, n_data: int, n: int, seed: int, between: float = 0.5) -> Iterator[np.ndarray]:
    """Pairs whose two systems could swap their results on any item and nothing would change in law."""
    rng = np.random.default_rng(seed)
    for _ in range(n_data):
        shared = rng.normal(size=n) * np.sqrt(between)
        own = rng.normal(size=(2, n)) * np.sqrt(1 - between)
        if kind == "right or wrong":
            scores = (shared + own < 0.5).astype(np.int64)
        elif kind == "ratings":
            scores = np.clip(np.rint(shared + own + 3), 1, 5).astype(np.int64)
        elif kind == "f1":
            gold = rng.integers(0, 4, size=n)
            correct, spurious = rng.binomial(gold, 0.6, size=(2, n)), rng.poisson(0.8, size=(2, n))
            yield np.stack([correct, correct + spurious, np.broadcast_to(gold, (2, n))], axis=-1)
            continue
        else:
            scores = shared + (rng.standard_t(2, size=(2, n)) if kind == "heavy tails" else own)
        yield np.stack([scores, np.ones_like(scores)], axis=-1)


def unlike_guesses(n_data: int, n: int, seed: int) -> Iterator[np.ndarray]:
    """Two systems of equal precision, 0.5, of which one guesses once an item and the other ten times."""
    rng = np.random.default_rng(seed)
    for _ in range(n_data):
        guessed = np.broadcast_to([[1], [10]], (2, n))
        yield np.stack([rng.binomial(guessed, 0.5), guessed, np.full((2, n), 20)], axis=-1)


def is_at_most(rejected: int, tried: int, alpha: float) -> bool:
    """Whether a test that rejects with probability at most alpha may have rejected so often."""
    return bool(stats.binom.sf(rejected - 1, tried, alpha) > FALSE_ALARM / len(ALPHAS))


def assert_valid(p: np.ndarray) -> None:
    for alpha in ALPHAS:
        # A p-value of 0.05 made of binary sums may be above it in the last bit, or below.
        assert is_at_most(int((p <= alpha + 1e-12).sum()), len(p), alpha), alpha


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "test"),
    [
        ("right or wrong", "randomization"),
        ("right or wrong", "mcnemar"),
        ("ratings", "randomization"),
        ("ratings", "sign"),
        ("ratings", "wilcoxon"),
        ("f1", "randomization"),
    ],
)
def test_exact_tests_reject_at_most_as_often_as_they_say(kind: str, test: str) -> None:
    """10,000 test sets with discrete results, on which few p-values are possible."""
    metric = {"right or wrong": "accuracy", "f1": "f1"}.get(kind, "mean")
    p = p_values(null_pairs(kind, 10_000, 24, seed=1), metric, test=test, monte_carlo=False)
    assert_valid(p)
    # Valid, and not by never rejecting.
    assert (p <= 0.1).mean() > 0.03


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "heavy tails"])
@pytest.mark.parametrize("test", ["randomization", "wilcoxon"])
def test_exact_p_values_of_continuous_scores_are_uniform(kind: str, test: str) -> None:
    """10,000 test sets of 13 items: two-sided p-values are even on 2 / 2^13, 4 / 2^13 …, next to uniform."""
    p = p_values(null_pairs(kind, 10_000, 13, seed=2), test=test, monte_carlo=False)
    assert_valid(p)
    # Wilcoxon's sums of ranks have few values: spread each p-value over the step below it.
    steps = np.unique(p)
    below = np.concatenate([[0.0], steps])[np.searchsorted(steps, p)]
    spread = below + np.random.default_rng(0).random(len(p)) * (p - below)
    assert stats.kstest(spread, "uniform").pvalue > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "f1", "right or wrong"])
def test_random_shuffles_with_the_plus_one_are_valid_however_few(kind: str) -> None:
    """10,000 test sets, 99 shuffles each: (s + 1) / (B + 1) is below alpha with probability at most alpha."""
    metric = {"right or wrong": "accuracy", "f1": "f1"}.get(kind, "mean")
    p = p_values(null_pairs(kind, 10_000, 40, seed=3), metric, test="randomization", monte_carlo=True, n_resamples=99)
    assert_valid(p)
    if kind in ("normal", "heavy tails"):
        # Continuous gains have no ties: all 100 p-values are equally likely.
        counts = np.bincount(np.rint(100 * p).astype(int), minlength=101)[1:]
        assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.slow
def test_strict_rules_without_the_plus_one_are_not_valid() -> None:
    """Few items, ties not counted: sacrebleu's rule and s / B reject more often than they say."""
    pairs = list(null_pairs("right or wrong", 1500, 12, seed=4))
    strict = p_values(pairs, "accuracy", test="randomization", n_resamples=199, **SACREBLEU)
    assert not is_at_most(int((strict <= 0.05).sum()), len(strict), 0.05)
    default = p_values(pairs, "accuracy", test="randomization", monte_carlo=True, n_resamples=199)
    assert_valid(default)


@pytest.mark.parametrize("test", ["bootstrap", "t_paired", "z_paired"])
@pytest.mark.parametrize("kind", ["right or wrong", "ratings"])
@pytest.mark.slow
def test_approximate_tests_are_near_their_size_on_many_items(test: str, kind: str) -> None:
    """3,000 test sets of 150 items: 5 % is allowed to be 4 to 6 %, beside what chance does."""
    tried = 3000
    p = p_values(null_pairs(kind, tried, 150, seed=5), test=test)
    rejected = int((p <= 0.05).sum())
    assert stats.binom.cdf(rejected, tried, 0.04) > FALSE_ALARM
    assert stats.binom.sf(rejected - 1, tried, 0.06) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), [("f1", 150), ("f1", 25), ("unlike guesses", 150)])
def test_sign_flips_of_ratios_are_near_their_size(kind: str, n: int) -> None:
    """2,000 test sets of two equal scores, also where one system guesses ten times as much as the other.

    5 % is allowed to be 4 to 6 %, beside what chance does.
    """
    tried = 2000
    pairs = unlike_guesses(tried, n, seed=8) if kind == "unlike guesses" else null_pairs(kind, tried, n, seed=8)
    metric = "precision" if kind == "unlike guesses" else "f1"
    p = p_values(pairs, metric, test="sign_flips", monte_carlo=True, n_resamples=499)
    rejected = int((p <= 0.05).sum())
    assert stats.binom.cdf(rejected, tried, 0.04) > FALSE_ALARM
    assert stats.binom.sf(rejected - 1, tried, 0.06) > FALSE_ALARM


def error_pairs(n_data: int, n: int, seed: int) -> Iterator[np.ndarray]:
    """Squared errors of two systems that err alike, and how many: for root mean squared errors."""
    rng = np.random.default_rng(seed)
    for _ in range(n_data):
        errors = rng.normal(size=n) * 0.7 + rng.normal(size=(2, n)) * 0.7
        yield np.stack([errors**2, np.ones((2, n))], axis=-1)


def surprise_pairs(n_data: int, n: int, seed: int) -> Iterator[np.ndarray]:
    """Surprise of two language models on texts of 5 to 39 words, and the number of words: for perplexity."""
    rng = np.random.default_rng(seed)
    for _ in range(n_data):
        words = np.broadcast_to(rng.integers(5, 40, size=n), (2, n))
        yield np.stack([(rng.gamma(1, size=n) + rng.gamma(1, size=(2, n))) * words, words], axis=-1)


MADE = {
    "fowlkes-mallows": (
        lambda correct, guessed, gold: 100 * correct / np.sqrt(guessed * gold),
        lambda *args: null_pairs("f1", *args),
    ),
    "root mean squared error": (lambda squares, number: np.sqrt(squares / number), error_pairs),
    "perplexity": (lambda surprise, words: np.exp(surprise / words), surprise_pairs),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("test", ["sign_flips", "bootstrap", "randomization"])
def test_smooth_metrics_of_ones_own_are_near_their_size(name: str, test: str) -> None:
    """2,000 test sets of 150 items: 5 % is allowed to be 3 to 6.5 %, beside what chance does."""
    function, pairs = MADE[name]
    own = make_metric(name, function)
    p = p_values(pairs(2000, 150, 11), own, test=test, monte_carlo=True, n_resamples=499)
    rejected = int((p <= 0.05).sum())
    assert stats.binom.cdf(rejected, len(p), 0.03) > FALSE_ALARM
    assert stats.binom.sf(rejected - 1, len(p), 0.065) > FALSE_ALARM


@pytest.mark.slow
def test_steps_are_only_for_randomization() -> None:
    """A score that is rounded has no slope: sign flips take its gains for certain."""
    rounded = make_metric("rounded", lambda squares, number: np.round(20 * squares / number) / 20)
    found = {
        test: int(
            (p_values(error_pairs(1000, 150, 12), rounded, test=test, monte_carlo=True, n_resamples=499) <= 0.01).sum()
        )
        for test in ("sign_flips", "randomization")
    }
    assert not is_at_most(found["sign_flips"], 1000, 0.01)
    assert is_at_most(found["randomization"], 1000, 0.01)


def test_randomization_of_unlike_guesses_rejects_equal_scores_too_often() -> None:
    """Equal precision, of 1 and of 10 guesses an item: that they could be exchanged is false."""
    p = p_values(unlike_guesses(300, 150, seed=9), "precision", test="randomization", monte_carlo=True, n_resamples=499)
    assert not is_at_most(int((p <= 0.05).sum()), len(p), 0.05)


@pytest.mark.parametrize(("kind", "n"), [("f1", 150), ("f1", 25), ("ratings", 25), ("unlike guesses", 100)])
def test_intervals_hold_a_gain_of_0_as_often_as_they_say(kind: str, n: int) -> None:
    """2,000 test sets: 95 % is allowed to be 94 to 96 %, beside what chance does."""
    tried, held = 2000, 0
    metric = METRICS[{"f1": "f1", "ratings": "mean"}.get(kind, "precision")]
    pairs = unlike_guesses(tried, n, seed=8) if kind == "unlike guesses" else null_pairs(kind, tried, n, seed=8)
    for pair in pairs:
        gain = -np.diff(metric.score(pair.sum(axis=1)))
        question = Question(pair, metric, ["a", "b"], "item", np.array([0, n]))
        found = intervals(question, gain, np.zeros(1), np.zeros(1))
        held += int(found["gain_low"][0] <= 0 <= found["gain_high"][0])
    assert stats.binom.sf(held - 1, tried, 0.96) > FALSE_ALARM
    assert stats.binom.cdf(held, tried, 0.94) > FALSE_ALARM


def test_t_is_exact_for_normal_differences_and_z_is_not() -> None:
    """6 items: Student's p-values are uniform, the normal distribution's are too small."""
    pairs = list(null_pairs("normal", 4000, 6, seed=6))
    assert stats.kstest(p_values(pairs, test="t_paired"), "uniform").pvalue > FALSE_ALARM
    too_many = int((p_values(pairs, test="z_paired") <= 0.05).sum())
    assert not is_at_most(too_many, len(pairs), 0.05)


@pytest.mark.parametrize("test", ["z_independent", "t_two_sample", "two_proportions", "chi_square"])
def test_tests_that_assume_independence_reject_correlated_systems_too_rarely(test: str) -> None:
    """Yeh's point (2000, section 2). With independent systems the same tests are near their size."""
    assert "independent" in TESTS[test].assumes
    rejected = {
        between: (p_values(null_pairs("right or wrong", 1000, 150, 7, between), "accuracy", test=test) <= 0.05).mean()
        for between in (0.0, 0.8)
    }
    error = np.sqrt(0.05 * 0.95 / 1000)
    assert rejected[0.0] == pytest.approx(0.05, abs=0.01 + 5 * error)
    assert rejected[0.8] < 0.01


@pytest.mark.slow
def test_swapping_dependent_items_rejects_too_often_and_swapping_their_clusters_does_not() -> None:
    """60 documents of ten sentences, on each of which one system happens to do well."""
    rejected = {"item": 0, "cluster": 0}
    tried = 1000
    for seed in range(tried):
        outputs = clustered_accuracies([0.7, 0.7], 60, 10, within=0.3, seed=seed)
        for unit in rejected:
            p = compared(outputs, test="randomization", alternative="two-sided", unit=unit, monte_carlo=False).p_value[
                0
            ]
            rejected[unit] += p <= 0.05
    assert rejected["item"] / tried > 0.1
    assert is_at_most(rejected["cluster"], tried, 0.05)
