"""The bootstrap against enumeration of all n^n resamples in fractions, whole-number polynomials, and a trinomial."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.bootstrap import _OwnRatios, _Scores, _SharedRatios, make_tally
from simstudy.engines.question import Question
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from tests.engines.pairs import ask as ask_pair
from tests.engines.pairs import best_first, by_item, made, n_extreme, question_of
from tests.oracles import ERROR_RATE, all_resamples, compared, could_be, drawn_tail, exact_bootstrap_p, goodness

RULES = [
    ("default", "greater"),
    ("default", "two-sided"),
    ("bk2012", "greater"),
    ("bk2012", "two-sided"),
    ("koehn2004", "greater"),
]


def ask(scores: np.ndarray, metric: Metric | str = "mean", total: int = 1, **options: Any) -> Any:
    """A pair's row of Comparisons, of scores (2, n) with one total each."""
    return ask_pair(by_item(scores) * [1, total], metric, test="bootstrap", **options)


def differences(scores: np.ndarray, row: Any) -> np.ndarray:
    better, worse = best_first(scores, row)
    return np.asarray(better - worse)


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

#: Rules: what is counted, and whether ties are not.
EVENTS = list(product(("twice", "not won"), (False, True)))


def enumerated(question: Question) -> int:
    """Resamples of a pair that the question's rule counts: ratios in fractions, 1e-9 is a tie of other scores."""
    score, slack = goodness(question.metric), 0 if isinstance(question.metric, Ratio) else 1e-9
    first, second = question.statistics
    gain = score(first.sum(axis=0)) - score(second.sum(axis=0))
    sums = all_resamples(question.n_units) @ np.hstack([first, second])
    n_counted = 0
    for both, count in zip(*np.unique(sums, axis=0, return_counts=True), strict=True):
        drawn = score(both[: len(both) // 2]) - score(both[len(both) // 2 :])
        distance = -drawn if question.convention.counts == "not won" else drawn - 2 * gain
        n_counted += int(count) * (distance > slack if question.convention.strict else distance >= -slack)
    return n_counted


def tallied(statistics: np.ndarray, question: Question) -> int:
    """Resamples of statistics (K, n, S), best first, that the tally counts for the first pair, by the same rule."""
    rule = question.convention
    question = question_of(statistics, question.metric, strict=rule.strict, counts=rule.counts)
    return int(n_extreme(make_tally(question), question, all_resamples(question.n_units))[0])


#: Kind of pairs -> the tally that counts for them.
TALLIES: dict[str, Any] = {
    **dict.fromkeys(("one decision", "words", "error rate", "ratings"), _SharedRatios),
    **dict.fromkeys(("f1", "f0.5", "precision"), _OwnRatios | _SharedRatios),
    **dict.fromkeys(("geometric", "tenths"), _Scores),
}


@pytest.mark.parametrize("kind", TALLIES)
def test_counts_equal_full_enumeration(kind: str) -> None:
    """Tenths have no exact binary form: sums that are equal in decimals must tie all the same."""
    for n, (counts, strict) in product((1, 2, 5), EVENTS):
        rng = np.random.default_rng([n, len(kind), len(counts), strict])
        for _ in range(4):
            metric, statistics = made("ratings" if kind == "tenths" else kind, n, rng)
            question = question_of(statistics, metric, strict=strict, counts=counts)
            shown = question.statistics / [10, 1] if kind == "tenths" else question.statistics
            assert isinstance(make_tally(question_of(shown, metric)), TALLIES[kind]) or not statistics[..., -1].any()
            assert tallied(shown, question) == enumerated(question)


def test_near_ties_of_large_counts_are_decided_exactly() -> None:
    """Fractions that double precision can not tell apart: 2^24-ish counts, differences of about 1e-15."""
    n, big = 3, 2**22
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(80):
        guessed = rng.integers(big - 3, big, size=(2, n))
        gold = np.broadcast_to(rng.integers(big - 3, big, size=n), (2, n))
        correct = np.minimum(guessed, gold) - rng.integers(0, 2, size=(2, n))
        statistics = np.stack([correct, guessed, gold], axis=-1)
        questions = [question_of(statistics, METRICS["f1"], strict=strict) for strict in (False, True)]
        with_ties, without = (tallied(question.statistics, question) for question in questions)
        assert [with_ties, without] == [enumerated(question) for question in questions]
        # Else all denominators happen to be equal.
        decided += isinstance(make_tally(questions[0]), _OwnRatios) and with_ties != without
    assert decided, "no exact tie occurred: the test shows nothing"


def test_precision_follows_the_size_of_the_sums() -> None:
    def dtype(statistics: Any) -> np.dtype[Any]:
        return make_tally(question_of(np.array(statistics), METRICS["accuracy"])).columns.dtype

    assert dtype(np.ones((2, 100, 2), int)) == np.float32
    assert dtype([[[2**20, 2**20]] * 100, [[1, 2**20]] * 100]) == np.float64
    with pytest.raises(ValueError, match="less than 2\\^53"):
        dtype([[[2**52 - 1, 2**52]] * 10, [[2**52, 2**52]] * 10])


@pytest.mark.parametrize("kind", ["precision", "f1"])
def test_a_system_that_guesses_nothing_changes_no_other_pair(kind: str) -> None:
    """Its score is 0; ties of the two others stay exact, also of counts a power of two larger."""
    rng = np.random.default_rng(21)
    for (counts, strict), _ in product(EVENTS, range(5)):
        question = question_of(
            np.sort(rng.integers(1, 4, size=(2, 4, 3)), axis=-1), METRICS[kind], strict=strict, counts=counts
        )
        pair = question.statistics
        silent = np.stack([np.zeros(4, int), np.zeros(4, int), pair[0, :, 2]], axis=-1)[None]
        assert tallied(np.concatenate([pair, silent]), question) == enumerated(question)
        with_silent = question_of(np.concatenate([pair[1:], silent]), METRICS[kind], strict=strict, counts=counts)
        assert tallied(with_silent.statistics, question) == enumerated(with_silent)
        # Past the bound of what integers settle.
        assert tallied(pair * 2**26, question) == enumerated(question)
