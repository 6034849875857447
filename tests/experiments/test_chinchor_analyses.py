"""Triples, ranges of gains and runs of neighbours of Chinchor 1992, by her cases and by plain loops."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.comparisons.test_groups import GE, GE_P, MDC, comparisons, members, of_graph
from tests.experiments.programs import program

ANALYSES = program("chinchor_1992", "analyses")
RULE: dict[str, Any] = {"alpha": 0.1, "certainty": 0.99}


def test_chinchors_ge_case() -> None:
    """0.0994 of 9,999 shuffles is not certainly below 0.1, and 0.0415 of a smaller gain is."""
    pairs = comparisons(GE, GE_P, 9_999)
    (triple,) = ANALYSES.intransitive(pairs, **RULE).itertuples()
    assert triple.kind == "wider gain, not significant"
    assert (triple.best, triple.middle, triple.worst) == ("GE", "GE-CMU", "UMASS")
    assert (triple.p_best_middle, triple.p_middle_worst, triple.p_best_worst) == (0.0415, 0.8918, 0.0994)
    gains = [triple.gain_best_middle, triple.gain_middle_worst, triple.gain_best_worst]
    assert gains == pytest.approx([4.03, 0.37, 4.40])
    for certainty, n_significant in ((0.5, 2), (0.99, 1)):
        found = ANALYSES.gain_ranges(pairs, alpha=0.1, certainty=certainty)
        assert found["n_significant"].tolist() == [n_significant]


def test_chinchors_mdc_case() -> None:
    """Only MDC and Paramax differ, though SRA is further from MDC."""
    pairs = comparisons(MDC, {("Paramax", "MDC"): 0.01}, 9_999)
    assert members(ANALYSES.adjacent_groups(pairs, **RULE)) == [["SRA", "Paramax"], ["MDC"]]
    assert ANALYSES.intransitive(pairs, **RULE)["kind"].tolist() == ["wider gain, not significant"]
    ranges = ANALYSES.gain_ranges(pairs, **RULE).iloc[0]
    assert ranges.smallest_significant == pytest.approx(4.70)
    assert ranges.largest_not_significant == pytest.approx(5.00)
    assert (ranges.n_pairs, ranges.n_significant, ranges.n_between) == (3, 1, 2)


def test_equal_scores_show_no_smaller_gain() -> None:
    """b and c tie: a - b and a - c are one gain, so that only one is significant is no smaller gain's doing."""
    assert ANALYSES.intransitive(comparisons({"a": 9, "b": 5, "c": 5}, {("a", "b"): 0.01}), **RULE).empty


def test_two_systems() -> None:
    apart = comparisons({"a": 2, "b": 1}, {("a", "b"): 0.1})
    assert members(ANALYSES.adjacent_groups(apart, **RULE)) == [["a"], ["b"]]
    assert ANALYSES.intransitive(apart, **RULE).empty
    assert np.isnan(ANALYSES.gain_ranges(apart, **RULE).loc[0, "largest_not_significant"])


@pytest.mark.parametrize("n", [2, 6, 11])
def test_triples_ranges_and_runs_are_those_of_a_loop(n: int, rng: np.random.Generator) -> None:
    differ = np.triu(rng.random((n, n)) < 0.5, k=1)
    pairs = of_graph(differ)
    expected = []
    for i, j, k in combinations(range(n), 3):
        if differ[i, k] and not differ[i, j] and not differ[j, k]:
            expected.append(["not transitive", f"s{i:03d}", f"s{j:03d}", f"s{k:03d}"])
        elif not differ[i, k] and (differ[i, j] or differ[j, k]):
            expected.append(["wider gain, not significant", f"s{i:03d}", f"s{j:03d}", f"s{k:03d}"])
    triples = ANALYSES.intransitive(pairs.sample(frac=1, random_state=1), **RULE)
    assert triples[["kind", "best", "middle", "worst"]].to_numpy().tolist() == expected
    runs = [["s000"]]
    for k in range(1, n):
        if differ[k - 1, k]:
            runs.append([])
        runs[-1].append(f"s{k:03d}")
    table = ANALYSES.adjacent_groups(pairs, **RULE)
    assert members(table) == runs
    assert table["n_members"].tolist() == [len(run) for run in runs for _ in run]
    gains: dict[bool, list[int]] = {True: [], False: []}
    for i, j in combinations(range(n), 2):
        gains[bool(differ[i, j])].append(j - i)
    ranges = ANALYSES.gain_ranges(pairs, **RULE).iloc[0]
    assert ranges.n_significant == len(gains[True])
    if gains[True] and gains[False]:
        low, high = min(gains[True]), max(gains[False])
        assert (ranges.smallest_significant, ranges.largest_not_significant) == (low, high)
        assert ranges.n_between == sum(low <= gain <= high for gain in gains[True] + gains[False])
