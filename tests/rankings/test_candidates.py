"""Rankings, acceptance sets and n-best lists, against sorting by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.rankings.candidates import Candidates
from tests.oracles import compared


def random_candidates(seed: int, n: int = 40, values: int = 6, ties: str = "jitter") -> Candidates:
    """Three scoring functions with many ties."""
    rng = np.random.default_rng(seed)
    scores = pd.DataFrame(rng.integers(0, values, size=(n, 3)), columns=["g1", "g2", "g3"]).set_axis(
        [f"c{i}" for i in range(n)]
    )
    return Candidates.from_scores(scores, rng.random(n) < 0.4, ties=ties, seed=seed)


@pytest.mark.parametrize("seed", range(2))
def test_broken_ties_make_permutations_that_agree_with_the_scores(seed: int) -> None:
    candidates = random_candidates(seed)
    for scores, ranks in zip(candidates.scores, candidates.ranks, strict=True):
        assert sorted(ranks) == list(range(1, 41))
        assert (np.diff(scores[np.argsort(ranks)]) <= 0).all()


@pytest.mark.parametrize("seed", range(2))
def test_kept_ties_have_the_ranks_of_competitions(seed: int) -> None:
    candidates = random_candidates(seed, ties="keep")
    expected = [stats.rankdata(-scores, method="min") for scores in candidates.scores]
    np.testing.assert_array_equal(candidates.ranks, expected)


def test_ties_are_broken_by_every_order_alike() -> None:
    """Four candidates, three of which tie: over seeds each of the six orders comes up a sixth of the time."""
    frame = pd.DataFrame({"g": [1, 0, 0, 0]}, index=list("abcd"))
    candidates = Candidates.from_scores(frame, [1, 0, 0, 1])
    orders = [tuple(replace(candidates, seed=seed).ranks[0]) for seed in range(3000)]
    counts = pd.Series(orders).value_counts()
    assert len(counts) == 6
    assert all(order[0] == 1 for order in counts.index)
    assert stats.chisquare(counts).pvalue > 1e-6


def test_jitter_is_of_the_candidate_not_of_its_place_or_the_function() -> None:
    """The feature vector is jittered (footnote 5): functions with the same scores rank alike, in any order of rows."""
    candidates = random_candidates(3)
    frame = pd.DataFrame(candidates.scores.T, columns=candidates.names, index=candidates.ids)
    twin = Candidates.from_scores(frame.assign(twin=frame["g1"])[["twin", "g3", "g1"]], candidates.true, seed=3)
    np.testing.assert_array_equal(twin.ranks[0], twin.ranks[2])
    np.testing.assert_array_equal(twin.ranks[2], candidates.ranks[0])
    order = np.random.default_rng(0).permutation(len(frame))
    moved = Candidates.from_scores(frame.iloc[order], candidates.true[order], seed=3)
    np.testing.assert_array_equal(moved.ranks, candidates.ranks[:, order])
    again = Candidates.from_scores(frame, candidates.true, seed=4)
    assert (again.ranks != candidates.ranks).any()


@pytest.mark.parametrize("ties", ["jitter", "keep"])
@pytest.mark.parametrize("seed", range(3))
def test_n_best_lists_and_acceptance_sets(seed: int, ties: str) -> None:
    candidates = random_candidates(seed, ties=ties)
    for k, name in enumerate(candidates.names):
        for n in (1, 7, 39, 40):
            gamma = candidates.threshold(name, n)
            assert gamma == sorted(candidates.scores[k], reverse=True)[n - 1]
            accepted, best = candidates.accepted(name, gamma), candidates.n_best(name, n)
            assert accepted.tolist() == [score >= gamma for score in candidates.scores[k]]
            assert (accepted | ~best).all(), "an n-best list lies within the acceptance set of its threshold"
            if ties == "keep":
                np.testing.assert_array_equal(accepted, best)
            else:
                assert best.sum() == n


def test_outputs_have_the_precision_of_the_lists() -> None:
    candidates = random_candidates(1)
    outputs = candidates.outputs(12)
    assert outputs.metric.name == "precision@12"
    assert outputs.items["true"].tolist() == candidates.true.tolist()
    for k, name in enumerate(candidates.names):
        ordered = sorted(range(40), key=lambda i, k=k: candidates.ranks[k, i])
        assert outputs.scores()[k] == pytest.approx(np.mean([candidates.true[i] for i in ordered[:12]]))
        assert outputs.names[k] == name


def test_infinite_scores_rank_first_and_last() -> None:
    frame = pd.DataFrame({"g": [0.0, -np.inf, np.inf, 7.0]})
    assert Candidates.from_scores(frame, [1, 0, 0, 1]).ranks.tolist() == [[3, 4, 1, 2]]
    twice = pd.DataFrame({"g": [np.inf, -np.inf, np.inf, 7.0, -np.inf]})
    assert Candidates.from_scores(twice, [1, 0, 0, 1, 1], ties="keep").ranks.tolist() == [[1, 4, 1, 3, 4]]


def test_negative_zero_ties_with_zero() -> None:
    frame = pd.DataFrame({"g": [0.0, -0.0]})
    assert Candidates.from_scores(frame, [1, 0], ties="keep").ranks.tolist() == [[1, 1]]


def test_nothing_changes_in_place() -> None:
    frame, true = pd.DataFrame({"g": [2.0, 1.0]}), np.array([True, False])
    candidates = Candidates.from_scores(frame, true)
    frame.loc[0, "g"], true[0] = 0.0, False
    assert (candidates.scores.tolist(), candidates.true.tolist()) == ([[2.0, 1.0]], [True, False])
    candidates = random_candidates(0)
    for array in (candidates.scores, candidates.true, candidates.ranks):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


FRAME = pd.DataFrame({"g1": [3.0, 2.0, 1.0], "g2": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])


@pytest.mark.parametrize(
    ("frame", "true", "options", "message"),
    [
        (FRAME.assign(g2=[1.0, np.nan, 3.0]), [1, 0, 1], {}, "must not be missing, as that of candidate 'b' by 'g2'"),
        (FRAME.assign(g2=["x", "y", "z"]), [1, 0, 1], {}, "scores must be numbers, unlike those of 'g2'"),
        (FRAME.iloc[:0], [], {}, "at least one candidate"),
        (FRAME[[]], [1, 0, 1], {}, "at least one candidate"),
        (FRAME.set_axis(["a", "b", "a"]), [1, 0, 1], {}, "candidates must be named once each; 'a'"),
        (FRAME.set_axis(["g", "g"], axis=1), [1, 0, 1], {}, "scoring functions must be named once each; 'g'"),
        (FRAME, [1, 0], {}, r"true must have one value for each of 3 candidates, not the shape \(2,\)"),
        (FRAME, [1, 2, 0], {}, "true must be true or false .* unlike 2 of candidate 'b'"),
        (FRAME, [1.0, np.nan, 0], {}, "true must be true or false .* unlike nan of candidate 'b'"),
        (FRAME, [1, 0, 1], {"ties": "break"}, "ties must be one of jitter, keep, not 'break'"),
        (FRAME, [1, 0, 1], {"seed": -1}, "seed must be"),
        ([[1, 2]], [1], {}, "scores must be a pandas DataFrame"),
        (FRAME.assign(g2=[1j, 2j, 3j]), [1, 0, 1], {}, r"numbers, unlike those of 'g2' \(complex128\)"),
        (FRAME.assign(g2=pd.Timestamp("2004-07-01")), [1, 0, 1], {}, r"numbers, unlike those of 'g2' \(datetime64"),
        (FRAME, [1, pd.NA, 0], {}, "true must be true or false .* unlike <NA> of candidate 'b'"),
        (FRAME, pd.Series([1, 0, 1]), {}, "true must have the index of the candidates"),
        (FRAME, pd.Series([1, 0, 1], index=["c", "b", "a"]), {}, "true must have the index of the candidates"),
    ],
)
def test_bad_candidates_are_refused(frame: pd.DataFrame, true: list[float], options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Candidates.from_scores(frame, true, **options)


def test_bad_questions_are_refused() -> None:
    candidates = Candidates.from_scores(FRAME, [1, 0, 1])
    with pytest.raises(ValueError, match="n must be between 1 and 3, the number of candidates, not 4"):
        candidates.n_best("g1", 4)
    with pytest.raises(ValueError, match="n must be at least 1, not 0"):
        candidates.outputs(0)
    with pytest.raises(ValueError, match=r"n must be a whole number \(an int\), not 1.5"):
        candidates.outputs(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"no scoring function 'g_1' among g1, g2 \(did you mean 'g1'"):
        candidates.threshold("g_1", 1)
    for threshold in (float("nan"), "high", True):
        with pytest.raises(ValueError, match=f"threshold must be a number, not {threshold!r}"):
            candidates.accepted("g1", threshold)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, 1])
def test_all_true_and_none_true_are_defined(value: int) -> None:
    candidates = Candidates.from_scores(FRAME, [value] * 3)
    assert candidates.baseline == value
    pairs = compared(candidates.outputs(1), test="fisher")
    assert (pairs["gain"].iloc[0], pairs["p_value"].iloc[0]) == (0, 1)


def test_masked_values_are_refused() -> None:
    with pytest.raises(ValueError, match="^true must not be masked, as 1 value is"):
        Candidates.from_scores(pd.DataFrame({"g": [1.0, 2.0]}), np.ma.array([1, 0], mask=[0, 1]))
