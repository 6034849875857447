"""Many drawn test sets: their scores, p-values and places are those of the same test sets one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simstudy as ss
from simstudy.outputs import Outputs
from simstudy.studies import DrawnBoards, drawn_boards
from simstudy.truth import Bernoulli, GaussianCopula, ItemClusters, ScoreModel
from tests.oracles import compared

MODEL = ScoreModel([Bernoulli(0.5), Bernoulli(0.6), Bernoulli(0.9)], GaussianCopula(0.5), metric="accuracy")


@pytest.fixture
def drawn(rng: np.random.Generator) -> DrawnBoards:
    """Six test sets; in the first the second system is ahead of the first, in the second these two tie."""
    (boards,) = DrawnBoards.of(MODEL, 6, 30, rng)
    statistics = boards.statistics.copy()
    statistics[1, 1] = statistics[1, 0]
    statistics[0, 0, :, 0], statistics[0, 1, :, 0] = 0, 1
    return DrawnBoards(statistics, "accuracy")


def one_by_one(drawn: DrawnBoards) -> list[Outputs]:
    return [Outputs.from_statistics(statistics, drawn.metric, list("abc")) for statistics in drawn.statistics]


def test_scores_and_who_is_ahead(drawn: DrawnBoards) -> None:
    scores = np.array([outputs.scores() for outputs in one_by_one(drawn)])
    np.testing.assert_allclose(drawn.scores(), scores)
    first, second = drawn.pairs
    assert list(zip(first, second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_array_equal(drawn.ahead(), np.sign((scores[:, first] - scores[:, second]).round(9)))
    assert drawn.ahead()[:2, 0].tolist() == [-1, 0]
    asked = np.array([2, 1]), np.array([0, 1])
    np.testing.assert_array_equal(drawn.ahead(asked), np.stack([-drawn.ahead()[:, 1], np.zeros(6)], axis=1))


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("test", ["sign_flips", "t_paired"])
def test_p_values_are_those_of_compare(drawn: DrawnBoards, test: str, alternative: str) -> None:
    """Of all pairs and of some, named in any order; more pairs than systems are asked test set by test set."""
    tables = [compared(outputs, test=test, alternative=alternative) for outputs in one_by_one(drawn)]
    wanted = np.array(
        [
            [float(table.loc[[{a, b} == set(pair) for a, b in named], "p_value"].item()) for pair in ("ab", "ac", "bc")]
            for table in tables
            for named in [table[["system_a", "system_b"]].to_numpy().tolist()]
        ]
    )
    everything = drawn.p_values(test, alternative=alternative)
    np.testing.assert_allclose(everything, wanted)
    # A tie's better system is either.
    some = drawn.p_values(test, pairs=(np.array([2, 1]), np.array([1, 0])), alternative=alternative)
    np.testing.assert_allclose(some[:, 0], wanted[:, 2])
    np.testing.assert_allclose(some[:, 1], wanted[:, 0])
    four = np.array([0, 0, 1, 1]), np.array([1, 2, 2, 0])
    np.testing.assert_allclose(drawn.p_values(test, pairs=four, alternative=alternative), wanted[:, [0, 1, 2, 0]])


def test_places_are_those_of_a_leaderboard(drawn: DrawnBoards) -> None:
    for found, outputs in zip(drawn.places(level=0.9, n_draws=200, seed=4), one_by_one(drawn), strict=True):
        board = ss.leaderboard(outputs, level=0.9, n_bootstrap=200, seed=4).set_index("system").loc[list("abc")]
        low, high = (getattr(found, name) for name in ("low", "high"))
        np.testing.assert_array_equal(np.stack([low, high]), board[["rank_low", "rank_high"]].to_numpy().T)


def test_some_systems_of_the_same_test_sets(drawn: DrawnBoards) -> None:
    some = drawn.of_systems([2, 0])
    assert (some.n_systems, some.metric) == (2, "accuracy")
    np.testing.assert_array_equal(some.statistics, drawn.statistics[:, [2, 0]])


def test_as_many_test_sets_as_asked_for_come_some_at_a_time(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn_boards, "SCORES", 3 * 20 * 4)
    shapes = [boards.statistics.shape for boards in DrawnBoards.of(MODEL, 10, 20, rng)]
    assert shapes == [(4, 3, 20, 2), (4, 3, 20, 2), (2, 3, 20, 2)]
    monkeypatch.setattr(drawn_boards, "SCORES", 1)
    assert len(list(DrawnBoards.of(MODEL, 3, 20, rng))) == 3


def test_units_of_clusters_have_the_sums_of_their_items(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items of a cluster are alike here: all are right, or none. Each test set begins with the first size."""
    margins, clusters = [Bernoulli(0.5)] * 2, ItemClusters(1.0, (3, 1, 2))
    monkeypatch.setattr(drawn_boards, "SCORES", 4 * 2 * 5 * 2)
    model = ScoreModel(margins, GaussianCopula(0.5), clusters=clusters, metric="accuracy")
    parts = [drawn.statistics for drawn in DrawnBoards.of(model, 10, 5, rng)]
    assert [len(statistics) for statistics in parts] == [4, 4, 2]
    right, total = np.moveaxis(np.concatenate(parts), -1, 0)
    assert (total == [3, 1, 2, 3, 1]).all()
    assert set(np.unique(right / total)) == {0, 1}


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda drawn: DrawnBoards(drawn.statistics, "acuracy"), "metric must be one of accuracy, mean"),
        (lambda drawn: DrawnBoards(drawn.statistics[0], "accuracy"), r"an array \(M, K > 1, n, S\), not of shape \(3,"),
        (lambda drawn: DrawnBoards(drawn.statistics[:, :1], "accuracy"), r"not of shape \(6, 1, 30, 2\)"),
        (lambda drawn: drawn.p_values("tt"), "test must be one of"),
        (lambda drawn: drawn.p_values("fisher"), "test: test 'fisher' needs"),
        (
            lambda drawn: DrawnBoards(2 * drawn.statistics, "accuracy").p_values("bootstrap"),
            "test must draw no resamples of 'accuracy' here, unlike 'bootstrap'",
        ),
        (lambda drawn: list(DrawnBoards.of(MODEL, 0, 20, np.random.default_rng(0))), "n_sets must be at least 1"),
        (lambda drawn: list(DrawnBoards.of(MODEL, 1, 1, np.random.default_rng(0))), "n_units must be at least 2"),
    ],
)
def test_what_cannot_be_asked_is_told(drawn: DrawnBoards, act: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        act(drawn)
