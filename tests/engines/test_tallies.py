"""Ties and tails, judged against enumeration of all n^n resamples in exact fractions."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from simstudy.engines import ties
from simstudy.engines.kernels import Event
from simstudy.engines.question import Question
from simstudy.engines.tallies import Tally, _OwnRatios, _Scores, _SharedRatios, make_tally
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.statistics.pvalues import CONVENTIONS
from tests.oracles import ERROR_RATE, GEOMETRIC, all_resamples, goodness


def enumerated(statistics: np.ndarray, metric: Ratio, event: Event) -> int:
    """Resamples of a pair in which the event holds, by exact arithmetic."""
    score = goodness(metric)
    gain = score(statistics[0].sum(axis=0)) - score(statistics[1].sum(axis=0))
    sums = np.hstack([all_resamples(statistics.shape[1]) @ statistics[k] for k in range(2)])
    found = 0
    for both, count in zip(*np.unique(sums, axis=0, return_counts=True), strict=True):
        a, b = np.split(both, 2)
        distance = event.sign * (score(a) - score(b) - event.target * gain)
        found += int(count) * (distance > 0 if event.strict else distance >= 0)
    return found


EVENTS = [Event(2, 1, False), Event(2, 1, True), Event(0, -1, False), Event(0, -1, True)]
OF_EVENTS = pytest.mark.parametrize("event", EVENTS, ids=["gain >=", "gain >", "loss >=", "loss >"])


def tally_of(statistics: np.ndarray, metric: Metric, event: Event = EVENTS[0]) -> Tally:
    """The tally of all pairs of systems, which counts one event."""
    rule = replace(CONVENTIONS["koehn2004" if event.sign < 0 else "default"], strict=event.strict)
    names, bounds = [str(k) for k in range(len(statistics))], np.array([0, statistics.shape[1]])
    return make_tally(Question(statistics, metric, names, "item", bounds, "greater", rule))


def tallied(statistics: np.ndarray, metric: Metric, event: Event) -> int:
    """Resamples in which the event holds for the first pair."""
    tally = tally_of(statistics, metric, event)
    counts = all_resamples(statistics.shape[1]).astype(tally.columns.dtype)
    extreme = np.zeros(len(statistics) * (len(statistics) - 1) // 2, np.int64)
    tally.add(tally.columns @ counts.T, extreme)
    return int(extreme[0])


def best_first(statistics: np.ndarray, metric: Metric) -> np.ndarray:
    scores = metric.score(statistics.sum(axis=1))
    order = np.argsort(-scores if metric.higher_is_better else scores, kind="stable")
    return np.ascontiguousarray(statistics[order])


@pytest.mark.parametrize("kind", ["one decision", "words", "zero words", "f1", "f2", "precision", "error rate"])
def test_counts_equal_full_enumeration(kind: str) -> None:
    for n, event in product((1, 2, 5), EVENTS):
        rng = np.random.default_rng([n, len(kind), event.target, event.strict])
        for _ in range(4):
            if kind in ("f1", "f2", "precision"):
                metric: Ratio = METRICS[kind]  # type: ignore[assignment]
                statistics = np.sort(rng.integers(0, 4, size=(2, n, 3)), axis=-1)
                expected_tally: type = _OwnRatios
            else:
                metric = ERROR_RATE if kind == "error rate" else METRICS["accuracy"]  # type: ignore[assignment]
                lowest = 0 if kind == "zero words" else 1
                total = np.ones(n, int) if kind == "one decision" else rng.integers(lowest, 5, size=n)
                right = rng.binomial(total, 0.6, size=(2, n))
                statistics = np.stack([right, np.broadcast_to(total, right.shape)], axis=-1)
                expected_tally = _SharedRatios
            statistics = best_first(statistics, metric)
            if expected_tally is _SharedRatios and statistics[..., 1].any():
                assert isinstance(tally_of(statistics, metric), _SharedRatios)
            assert tallied(statistics, metric, event) == enumerated(statistics, metric, event)


def test_near_ties_of_large_counts_are_decided_exactly() -> None:
    """Fractions that double precision can not tell apart: 2^24-ish counts, differences of about 1e-15."""
    metric = METRICS["f1"]
    assert isinstance(metric, Ratio)
    n, big = 3, 2**22
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(80):
        guessed = rng.integers(big - 3, big, size=(2, n))
        gold = np.broadcast_to(rng.integers(big - 3, big, size=n), (2, n))
        correct = np.minimum(guessed, gold) - rng.integers(0, 2, size=(2, n))
        statistics = best_first(np.stack([correct, guessed, gold], axis=-1), metric)
        own = isinstance(tally_of(statistics, metric), _OwnRatios)  # else all denominators happen to be equal
        for event in EVENTS[:2]:
            assert tallied(statistics, metric, event) == enumerated(statistics, metric, event)
        decided += own and tallied(statistics, metric, EVENTS[0]) != tallied(statistics, metric, EVENTS[1])
    assert decided, "no exact tie occurred: the test shows nothing"


@OF_EVENTS
def test_any_metric_of_sums_agrees_with_brute_force(event: Event) -> None:
    metric = GEOMETRIC
    rng = np.random.default_rng(7)
    statistics = best_first(np.sort(rng.integers(1, 9, size=(2, 5, 4)), axis=-1), metric)
    assert isinstance(tally_of(statistics, metric), _Scores)
    resamples = all_resamples(5)
    scores = np.stack([metric.score(resamples @ statistics[k]) for k in range(2)])
    observed = metric.score(statistics.sum(axis=1))
    distance = event.sign * ((scores[0] - scores[1]) - event.target * (observed[0] - observed[1]))
    tied = np.abs(distance) < 1e-9
    expected = int((distance[~tied] > 0).sum() + (0 if event.strict else tied.sum()))
    assert tallied(statistics, metric, event) == expected


@pytest.mark.parametrize("event", EVENTS[:2], ids=["gain >=", "gain >"])
def test_item_scores_that_are_not_integers_tie_as_their_fractions_do(event: Event) -> None:
    """Tenths have no exact binary form: sums that are equal in decimals must tie all the same."""
    metric = METRICS["mean"]
    assert isinstance(metric, Ratio)
    rng = np.random.default_rng(11)
    for _ in range(5):
        tenths = np.stack([rng.integers(0, 10, size=(2, 5)), np.full((2, 5), 1)], axis=-1)
        tenths = best_first(tenths, metric)
        decimal = tenths.astype(float)
        decimal[..., 0] /= 10
        assert isinstance(tally_of(decimal, metric), _Scores)
        assert tallied(decimal, metric, event) == enumerated(tenths, metric, event)


def test_a_pair_ties_by_the_larger_tolerance_of_its_two_systems() -> None:
    pairs = np.array([0, 1, 2]), np.array([1, 2, 0])
    assert ties.of_pairs(np.array([1.0, 5.0, 3.0]), pairs).tolist() == [5, 5, 3]


def test_floats_that_are_whole_numbers_are_treated_as_integers() -> None:
    assert isinstance(tally_of(np.ones((2, 3, 2)), METRICS["accuracy"]), _SharedRatios)


def test_precision_follows_the_size_of_the_sums() -> None:
    small = np.ones((2, 100, 2), int)
    assert tally_of(small, METRICS["accuracy"]).columns.dtype == np.float32
    large = np.array([[[2**20, 2**20]] * 100, [[1, 2**20]] * 100])
    tally = tally_of(large, METRICS["accuracy"])
    assert tally.columns.dtype == np.float64
    huge = np.full((2, 10, 2), 2**52)
    huge[0, 0, 0] -= 1
    with pytest.raises(ValueError, match="less than 2\\^53"):
        tally_of(huge, METRICS["accuracy"])


@OF_EVENTS
@pytest.mark.parametrize("kind", ["precision", "f1"])
def test_a_system_that_guesses_nothing_changes_no_other_pair(kind: str, event: Event) -> None:
    """Its score is 0; ties of the two others stay exact."""
    metric = METRICS[kind]
    assert isinstance(metric, Ratio)
    rng = np.random.default_rng(21)
    for _ in range(5):
        pair = np.sort(rng.integers(1, 4, size=(2, 4, 3)), axis=-1)
        silent = np.stack([np.zeros(4, int), np.zeros(4, int), pair[0, :, 2]], axis=-1)[None]
        statistics = np.concatenate([best_first(pair, metric), silent])
        assert isinstance(tally_of(statistics, metric), _OwnRatios | _SharedRatios)
        assert tallied(statistics, metric, event) == enumerated(statistics[:2], metric, event)
        assert tallied(statistics[1:], metric, event) == enumerated(statistics[1:], metric, event)


@OF_EVENTS
def test_ratios_of_counts_too_large_to_be_exact_tie_all_the_same(event: Event) -> None:
    """Counts a power of two larger give the same fractions, but are past the bound of the exact tally."""
    metric = METRICS["f1"]
    assert isinstance(metric, Ratio)
    rng = np.random.default_rng(22)
    for _ in range(5):
        small = best_first(np.sort(rng.integers(1, 4, size=(2, 4, 3)), axis=-1), metric)
        large = small * 2**26
        if isinstance(tally_of(small, metric), _OwnRatios):
            assert isinstance(tally_of(large, metric), _Scores)
        assert tallied(large, metric, event) == enumerated(small, metric, event)
