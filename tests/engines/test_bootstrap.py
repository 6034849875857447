"""The bootstrap against enumeration of all n^n resamples in fractions, whole-number polynomials, and a trinomial."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.bootstrap import _OwnRatios, _Scores, _SharedRatios, make_tally
from simstudy.engines.kernels import Event
from simstudy.engines.question import Question
from simstudy.engines.resampling import Tally
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.oracles import (
    ERROR_RATE,
    GEOMETRIC,
    all_resamples,
    compared,
    could_be,
    drawn_tail,
    exact_bootstrap_p,
    goodness,
)  # fmt: skip

RULES = [
    ("default", "greater"),
    ("default", "two-sided"),
    ("bk2012", "greater"),
    ("bk2012", "two-sided"),
    ("koehn2004", "greater"),
]


def ask(scores: np.ndarray, metric: Metric | str = "mean", total: int = 1, **options: Any) -> Any:
    """A pair's row of Comparisons, of scores (2, n) with one total each."""
    statistics = np.stack([scores, np.full_like(scores, total)], axis=-1)
    outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
    return compared(outputs, **({"test": "bootstrap", "alternative": "greater"} | options)).iloc[0]


def differences(scores: np.ndarray, row: Any) -> np.ndarray:
    return (scores[0] - scores[1]) * (1 if row.system_a == "a" else -1)


def limit(difference: np.ndarray, convention: str, alternative: str) -> float:
    """The share of all n^n resamples that a rule counts, by exact tails of the sum of n draws."""
    gain, strict = int(difference.sum()), int(convention == "bk2012")
    if convention == "koehn2004":
        return float(drawn_tail(-difference, 0))
    p = drawn_tail(difference, 2 * gain + strict)
    if alternative == "two-sided":
        p += drawn_tail(-difference, strict)
    return float(min(p, 1))


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("metric", ["accuracy", ERROR_RATE], ids=["accuracy", "error rate"])
def test_p_of_right_and_wrong_answers_is_the_share_of_all_resamples(metric: Any, alternative: str) -> None:
    rng = np.random.default_rng(len(alternative))
    for n in (2, 3, 4, 4, 5, 5):
        scores = rng.integers(0, 2, (2, n))
        row = ask(scores, metric, alternative=alternative)
        won = differences(scores, row) * (1 if metric == "accuracy" else -1)
        gains = all_resamples(n) @ won
        extreme = (gains >= 2 * won.sum()) | ((alternative == "two-sided") & (gains <= 0))
        assert (row["exact_level"], row["computation"], row["n_resamples"]) == (False, "approximated", 0)
        # No p-value is 0.
        expected = max(extreme.mean(), 1e-300)
        assert row["p_low"] == row["p_value"] == row["p_high"] == pytest.approx(expected, rel=1e-12, abs=0)


def test_tiny_tails_agree_with_a_trinomial() -> None:
    smallest = 1.0
    for n, only_a, only_b in (
        (60, 30, 10), (100, 12, 12), (400, 30, 20), (2000, 300, 150), (2000, 700, 10), (3000, 1500, 300),
        (20_000, 900, 700),
    ):  # fmt: skip
        scores = np.zeros((2, n), np.int64)
        scores[0, :only_a] = 1
        scores[1, only_a : only_a + only_b] = 1
        expected = exact_bootstrap_p(*scores)
        assert ask(scores, "accuracy").p_value == pytest.approx(expected, rel=1e-9, abs=0)
        if n < 1000:
            expected = limit(scores[0] - scores[1], "default", "two-sided")
            assert ask(scores, "accuracy", alternative="two-sided").p_value == pytest.approx(expected, rel=1e-9, abs=0)
        smallest = min(smallest, expected)
    assert 0 < smallest < 1e-200


def test_p_is_the_same_before_functions_are_compiled() -> None:
    """And for any number of workers, each of which has a part of the pairs."""
    code = """
import sys
import numpy as np
from simstudy.compiled import few
from simstudy.engines.exact_distributions import add_trinomial_tails
counts = np.array([(more, less) for more in range(61) for less in range(0, min(more + 1, 40), 2)])
with few(0) if sys.argv[1] == "few" else few(2**60):
    p_values = np.zeros((3, len(counts)))
    for n, row in zip((100, 137, 150), p_values):
        add_trinomial_tails(n, counts, False, row)
        add_trinomial_tails(n, counts[:100], True, row)
assert ("numba" in sys.modules) == (sys.argv[1] == "many")
print(p_values.tobytes().hex())
"""
    plain, compiled = (
        subprocess.run([sys.executable, "-c", code, how], check=True, capture_output=True, text=True).stdout
        for how in ("few", "many")
    )
    assert plain == compiled


@pytest.mark.statistical
@pytest.mark.parametrize(("convention", "alternative"), RULES)
def test_resampling_agrees_with_its_limit(convention: str, alternative: str) -> None:
    """Right and wrong answers, ratings, ratings with an outlier, and seven decisions an item."""
    rng = np.random.default_rng(4)
    options = {"convention": convention, "alternative": alternative, "n_resamples": 20_000, "monte_carlo": True}
    for most, total in ((1, 1), (5, 1), (60, 1), (7, 7)):
        scores = rng.integers(0, min(most, 7) + 1, size=(2, 70))
        scores[0, : 1 if most == 60 else 9] = most
        row = ask(scores, "mean" if total == 1 else "accuracy", total, **options)
        assert (row["exact_level"], row["computation"]) == (False, "resampled")
        expected = limit(differences(scores, row), convention, alternative)
        assert 0.001 < expected <= 1
        assert could_be(row["n_extreme"], row["n_resamples"], expected)


@pytest.mark.statistical
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("kind", ["lengths", "strata"])
def test_resamples_of_clusters_and_strata(kind: str, alternative: str) -> None:
    """Clusters of unequal size, whose number of items varies; strata that keep their number of items."""
    resamples, items = all_resamples(5), pd.DataFrame({"id": range(5), "domain": list("xxyyy")})
    if kind == "strata":
        resamples = resamples[resamples[:, :2].sum(axis=1) == 2]
    p_values = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        below = rng.integers(1, 9, 5) if kind == "lengths" else np.ones(5, dtype=np.int64)
        above = rng.integers(0, 2 + below, (2, 5))
        statistics = np.stack([above, np.stack([below, below])], axis=-1)
        outputs = Outputs.from_statistics(statistics, "mean", ["a", "b"], items)
        options: dict[str, Any] = {"test": "bootstrap", "alternative": alternative, "n_resamples": 20_000}
        row = compared(outputs, **options, **({"strata": "domain"} if kind == "strata" else {})).iloc[0]
        won = differences(above, row)
        gains, gain = resamples @ won / (resamples @ below), won.sum() / below.sum()
        extreme = (gains >= 2 * gain - 1e-9) | ((alternative == "two-sided") & (gains <= 1e-9))
        assert could_be(row["n_extreme"], row["n_resamples"], extreme.mean())
        p_values.add(extreme.mean())
    assert len(p_values) > 2


# Tallies, given each of all n^n resamples once.

EVENTS = [Event(2, 1, False), Event(2, 1, True), Event(0, -1, False), Event(0, -1, True)]
EACH_EVENT = pytest.mark.parametrize("event", EVENTS, ids=["gain >=", "gain >", "loss >=", "loss >"])


def enumerated(statistics: np.ndarray, metric: Ratio, event: Event) -> int:
    """Resamples of a pair in which the event holds, by exact arithmetic."""
    score = goodness(metric)
    gain = score(statistics[0].sum(axis=0)) - score(statistics[1].sum(axis=0))
    sums = np.hstack([all_resamples(statistics.shape[1]) @ statistics[k] for k in range(2)])
    n_extreme = 0
    for both, count in zip(*np.unique(sums, axis=0, return_counts=True), strict=True):
        a, b = np.split(both, 2)
        distance = event.sign * (score(a) - score(b) - event.target * gain)
        n_extreme += int(count) * (distance > 0 if event.strict else distance >= 0)
    return n_extreme


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
            else:
                metric = ERROR_RATE if kind == "error rate" else METRICS["accuracy"]  # type: ignore[assignment]
                lowest = 0 if kind == "zero words" else 1
                total = np.ones(n, int) if kind == "one decision" else rng.integers(lowest, 5, size=n)
                right = rng.binomial(total, 0.6, size=(2, n))
                statistics = np.stack([right, np.broadcast_to(total, right.shape)], axis=-1)
                if total.any():
                    assert isinstance(tally_of(statistics, metric), _SharedRatios)
            statistics = best_first(statistics, metric)
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


@EACH_EVENT
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


@EACH_EVENT
def test_decimals_tie_as_their_fractions_do(event: Event) -> None:
    """Tenths have no exact binary form: sums that are equal in decimals must tie all the same."""
    metric = METRICS["mean"]
    assert isinstance(metric, Ratio)
    rng = np.random.default_rng(11)
    for _ in range(5):
        tenths = best_first(np.stack([rng.integers(0, 10, size=(2, 5)), np.full((2, 5), 1)], axis=-1), metric)
        decimals = tenths / [10, 1]
        assert isinstance(tally_of(decimals, metric), _Scores)
        assert tallied(decimals, metric, event) == enumerated(tenths, metric, event)


def test_precision_follows_the_size_of_the_sums() -> None:
    assert tally_of(np.ones((2, 100, 2), int), METRICS["accuracy"]).columns.dtype == np.float32
    large = np.array([[[2**20, 2**20]] * 100, [[1, 2**20]] * 100])
    assert tally_of(large, METRICS["accuracy"]).columns.dtype == np.float64
    huge = np.full((2, 10, 2), 2**52)
    huge[0, 0, 0] -= 1
    with pytest.raises(ValueError, match="less than 2\\^53"):
        tally_of(huge, METRICS["accuracy"])


@EACH_EVENT
@pytest.mark.parametrize("kind", ["precision", "f1"])
def test_a_system_that_guesses_nothing_changes_no_other_pair(kind: str, event: Event) -> None:
    """Its score is 0; ties of the two others stay exact, also of counts a power of two larger."""
    metric = METRICS[kind]
    assert isinstance(metric, Ratio)
    rng = np.random.default_rng(21)
    for _ in range(5):
        pair = best_first(np.sort(rng.integers(1, 4, size=(2, 4, 3)), axis=-1), metric)
        silent = np.stack([np.zeros(4, int), np.zeros(4, int), pair[0, :, 2]], axis=-1)[None]
        statistics = np.concatenate([pair, silent])
        assert isinstance(tally_of(statistics, metric), _OwnRatios | _SharedRatios)
        assert tallied(statistics, metric, event) == enumerated(pair, metric, event)
        assert tallied(statistics[1:], metric, event) == enumerated(statistics[1:], metric, event)
        # Past the bound of what integers settle.
        assert tallied(pair * 2**26, metric, event) == enumerated(pair, metric, event)
