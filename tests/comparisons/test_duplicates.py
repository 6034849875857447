"""Near-duplicates by their definition in loops and by scikit-learn's kappa, and which of them are kept."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from simstudy.comparisons.duplicates import distinct, near_duplicates, without_duplicates
from simstudy.outputs import Outputs
from tests.oracles import ERROR_RATE


def scored(table: np.ndarray, names: str, answers: np.ndarray | None = None) -> Outputs:
    """Systems with one 0/1 score an item, (K, n)."""
    outputs = Outputs.from_scores(pd.DataFrame(table.T, columns=list(names)), "accuracy", task="t", test_set="s")
    return replace(outputs, answers=answers)


def joined_names(table: pd.DataFrame) -> set[str]:
    return set(table["system_a"] + table["system_b"])


@patch("simstudy.comparisons.duplicates._TILE", 3)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 12), st.booleans(), st.sampled_from([0.5, 0.9]))
@example(40133, 5, 11, False, 0.5)
@settings(max_examples=25, deadline=None)
def test_as_by_definition(seed: int, k: int, n: int, with_answers: bool, share: float) -> None:
    """Every pair in a loop; without answers, on items on which any two systems differ, by scikit-learn's kappa too."""
    rng = np.random.default_rng(seed)
    names = "".join(rng.permutation(list("abcdefg"))[:k])
    scores = (rng.random((k, n)) < 0.8).astype(int)
    answers = rng.integers(0, 2, (k, n)) if with_answers else None
    duplicates = near_duplicates(scored(scores, names, answers), share=share)
    table = scores if answers is None else answers
    differ = [i for i in range(n) if with_answers or len({row[i] for row in table.tolist()}) > 1]
    only = [len({table[s, c] for s in range(k) if scores[s, c]}) == 1 for c in range(n)] if with_answers else []
    scores_differ = 0 < scores.sum() < k * n
    expected, kappas = {}, {}
    for i, j in combinations(range(k), 2):
        columns = [c for c in differ if not (only and scores_differ and only[c] and scores[i, c] and scores[j, c])]
        equal = sum(int(table[i, c] == table[j, c]) for c in columns)
        with warnings.catch_warnings():
            # Undefined where both have one score throughout; then they are identical or nowhere alike.
            warnings.simplefilter("ignore")
            kappa = np.inf if with_answers or not columns else cohen_kappa_score(table[i, columns], table[j, columns])
        if equal == len(columns) or (equal / len(columns) > share + 1e-9 and kappa > share + 1e-9):
            pair = tuple(sorted((names[i], names[j])))
            expected[pair] = (equal, equal / len(columns) if columns else 1.0, equal == len(columns))
            kappas[pair] = kappa if np.isfinite(kappa) else np.nan
    rows = duplicates[["system_a", "system_b", "n_identical", "share", "identical"]].itertuples(index=False)
    assert {(a, b): tuple(rest) for a, b, *rest in rows} == expected
    pairs = zip(duplicates["system_a"], duplicates["system_b"], strict=True)
    np.testing.assert_allclose(duplicates["kappa"].astype(float), [kappas[pair] for pair in pairs], atol=1e-12)
    assert duplicates["share"].is_monotonic_decreasing
    assert set(duplicates["compared"]) <= {"answers" if with_answers else "scores"}
    assert (duplicates["n_items"] == n).all()


def test_sentences_without_names_are_right_for_all_who_find_none() -> None:
    """F1 of a sentence is 0 / 0 where there is no name and none was guessed: that is no likeness."""
    counts = np.zeros((2, 100, 3), dtype=int)
    counts[:, :5] = [[[0, 1, 1]], [[1, 1, 1]]]
    answers = np.zeros((2, 100), dtype=np.int64)
    answers[:, :5] = [[1], [2]]
    assert near_duplicates(Outputs.from_statistics(counts, "span_f1", ["a", "b"], answers=answers)).empty


@pytest.mark.parametrize("with_answers", [True, False])
def test_many_systems_need_little_memory(with_answers: bool, rng: np.random.Generator) -> None:
    """400 systems x 100 items whose scores are all different: K x K x n numbers were 128 MB."""
    scores = rng.random((400, 100, 1))
    outputs = Outputs.from_statistics(np.concatenate([scores, np.ones_like(scores)], axis=-1), "mean")
    answers = rng.integers(0, 9, (400, 100)) if with_answers else None
    tracemalloc.start()
    try:
        assert near_duplicates(replace(outputs, answers=answers)).empty
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_all_statistics_of_an_item_count_and_fractions_are_compared_as_they_are() -> None:
    """Equal sums, and equal values of single statistics, are not equal statistics."""
    statistics = [[[1, 2, 3], [0, 1, 1]], [[0, 3, 3], [0, 1, 1]], [[1, 2, 3], [0, 1, 1]]]
    assert joined_names(near_duplicates(Outputs.from_statistics(statistics, "f1", ["a", "b", "c"]))) == {"ac"}
    frame = pd.DataFrame({"a": [0.25, 0.5], "b": [0.25, 0.5], "c": [0.25, 0.5 + 1e-9]})
    assert joined_names(near_duplicates(Outputs.from_scores(frame))) == {"ab"}


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda two: two[0] < two[1])))
@settings(max_examples=80, deadline=None)
def test_what_stays_is_not_alike_and_what_goes_is_like_something_that_stays(edges: set[tuple[int, int]]) -> None:
    table = pd.DataFrame([(f"s{i}", f"s{j}") for i, j in edges], columns=["system_a", "system_b"])
    names = [f"s{k}" for k in (3, 7, 6, 0, 5, 4, 2, 1)]
    kept = without_duplicates(names, table)
    assert kept == [name for name in names if name in kept]
    alike = {frozenset((f"s{i}", f"s{j}")) for i, j in edges}
    assert not [two for two in alike if two <= set(kept)]
    for gone in {*names} - {*kept}:
        assert any(frozenset((gone, other)) in alike and other < gone for other in kept)


def test_where_less_is_better_right_is_what_has_no_error() -> None:
    """Right answers are not compared, whether items count what is right or what is wrong."""
    rng = np.random.default_rng(4)
    right = (rng.random((6, 80)) < 0.85).astype(int)
    answers = np.where(right, 0, rng.integers(1, 3, (6, 80)))
    answers[5] = np.where(rng.random(80) < 0.04, 7, answers[4])
    right[5] = answers[5] == 0
    by_accuracy = scored(right, "abcdef", answers)
    statistics = np.stack([1 - right, np.ones_like(right)], axis=-1)
    by_errors = replace(Outputs.from_statistics(statistics, ERROR_RATE, list("abcdef")), answers=answers)
    columns = ["system_a", "system_b", "n_identical", "share", "kappa", "compared", "identical"]
    for share in (0.05, 0.2, 0.5, 0.9):
        tables = [near_duplicates(outputs, share=share)[columns] for outputs in (by_errors, by_accuracy)]
        pd.testing.assert_frame_equal(*tables)
    assert 1 <= len(near_duplicates(by_errors, share=0.5)) < 15
    alike = near_duplicates(by_errors)
    kept, noted = distinct(by_errors, "keep")
    assert (kept.names, joined_names(noted)) == (list("abcdef"), joined_names(alike))
    assert distinct(by_errors, "drop")[0].names == without_duplicates(list("abcdef"), alike) != kept.names
    assert near_duplicates(by_errors.select(["a"])).empty
