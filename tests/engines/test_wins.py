"""Wins, losses and ties: by counting, and by putting one system's results in the other's place."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simstudy.engines.wins import win_counts
from simstudy.metrics import METRICS, Metric, Ratio
from tests.engines.pairs import KINDS, ask, best_first, by_item, made, question_of
from tests.oracles import ERROR_RATE, GEOMETRIC


def counted(statistics: np.ndarray, metric: Metric | str) -> tuple[int, int, int]:
    row = ask(statistics, metric, n_resamples=20)
    assert row.wins + row.losses + row.ties == statistics.shape[1]
    return int(row.wins), int(row.losses), int(row.ties)


def n_differ(statistics: np.ndarray, metric: Metric) -> int:
    """The third count, of which p_floor is made."""
    return int(win_counts(question_of(statistics, metric))[2][0])


def by_hand(signs: np.ndarray) -> tuple[int, int, int]:
    return int((signs > 0).sum()), int((signs < 0).sum()), int((signs == 0).sum())


@pytest.mark.parametrize("metric", ["accuracy", ERROR_RATE], ids=["accuracy", "error rate"])
def test_right_and_wrong(metric: str | Metric, rng: np.random.Generator) -> None:
    right = (rng.random((2, 80)) < [[0.7], [0.5]]).astype(int)
    assert right[0].sum() > right[1].sum()
    statistics = by_item(right if metric == "accuracy" else 1 - right)
    assert counted(statistics, metric) == by_hand(right[0] - right[1])
    # The same pair, handed in the other way round.
    assert counted(statistics[::-1], metric) == by_hand(right[0] - right[1])


def test_counts_without_a_sign_have_differences_below_0(rng: np.random.Generator) -> None:
    """As numpy's narrowest numbers, whose own differences wrap; the metric is no ratio."""
    counts = rng.integers(1, 200, (2, 50, 4))
    expected = counted(counts, GEOMETRIC)
    assert min(expected[:2]) > 10
    assert counted(counts.astype(np.uint8), GEOMETRIC) == expected


def test_scores_that_differ_in_their_last_bit_only_are_level(rng: np.random.Generator) -> None:
    """Scores without a common unit, 40 of 60 of them worked out in another way."""
    b = rng.normal(size=60) * np.pi
    a = np.where(np.arange(60) < 40, b * 1.1 / 1.1, b + rng.normal(size=60))
    assert (a[:40] != b[:40]).any()
    row = ask(by_item([a, b]), "mean", test="sign")
    assert row.ties == 40
    assert row.statistic == row.wins
    assert row.wins == (np.sign(a.mean() - b.mean()) * (a - b)[40:] > 0).sum()


def pooled_signs(pair: np.ndarray, metric: Ratio) -> np.ndarray:
    """Whether the pair's pooled ratio rises (1) or falls (-1) if a unit counts a little more for the first system."""
    direction = metric.sign
    weights = np.array([metric.numerator, metric.denominator]).T
    above, below = (Fraction(int(part)) for part in pair.sum(axis=(0, 1)) @ weights)
    signs = []
    for moved_above, moved_below in (pair[0] - pair[1]) @ weights:
        # A small part of the exchange, so that its own effect on the price of a guess does not count.
        part = Fraction(1, 10**9)
        after = (above + part * int(moved_above)) / (below + part * int(moved_below))
        signs.append(direction * int(np.sign(after - above / below)))
    return np.array(signs)


@pytest.mark.parametrize("kind", ["f1", "precision", "f0.5", "muc_f", "muc_f_2p", "ratings by count"])
def test_units_of_ratios_are_won_at_the_pooled_ratio(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for n in (5, 30):
        metric, statistics = made(kind, n, rng)
        row = ask(statistics, metric, n_resamples=20)
        assert isinstance(metric, Ratio)
        assert (row.wins, row.losses, row.ties) == by_hand(pooled_signs(best_first(statistics, row), metric))


def test_a_lower_geometric_mean_is_better() -> None:
    """An error rate of the same form: the systems change places, and the new first is better where it has less."""
    metric, statistics = made("geometric", 40, np.random.default_rng(3))
    loss = replace(GEOMETRIC, name="loss", higher_is_better=False)
    better, worse, level = counted(statistics, metric)
    assert better != worse
    assert counted(statistics, loss) == (better, worse, level)
    assert ask(statistics, metric, n_resamples=20).system_a != ask(statistics, loss, n_resamples=20).system_a


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_equal_on_every_statistic_is_level(kind: str) -> None:
    rng = np.random.default_rng(1)
    metric, statistics = made(kind, 12, rng)
    statistics = statistics.copy()
    statistics[1, 4:] = statistics[0, 4:]
    better, worse, level = counted(statistics, metric)
    assert level >= 8
    assert better + worse <= 4
    assert n_differ(statistics, metric) <= 4


@pytest.mark.parametrize(
    ("metric", "statistics", "counts", "differ"),
    [
        # Half of all guesses are right: one right and one wrong more are worth nothing, and still a difference.
        ("precision", [[[2, 4, 4], [1, 2, 2]], [[1, 2, 4], [2, 4, 2]]], (0, 0, 2), 2),
        # Different guesses with the same hits are no difference for recall.
        ("recall", [[[2, 3, 4], [1, 1, 4]], [[2, 5, 4], [1, 2, 4]]], (0, 0, 2), 0),
        ("precision", [[[2, 3, 4], [1, 1, 4]], [[2, 5, 4], [1, 2, 4]]], (2, 0, 0), 2),
    ],
)
def test_units_may_differ_and_tie(metric: str, statistics: Any, counts: tuple[int, int, int], differ: int) -> None:
    assert counted(np.array(statistics), metric) == counts
    assert n_differ(np.array(statistics), METRICS[metric]) == differ
    assert ask(np.array(statistics), metric).p_floor == 2.0**-differ
