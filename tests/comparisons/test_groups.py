"""Groups of systems: Chinchor's figures, all subsets by enumeration, and tables that are refused."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import simstudy as ss
from simstudy.statistics.multiplicity import corrected

# Each pair by itself, as in the paper.
groups = partial(ss.comparisons.groups, p="p_value")


def comparisons(scores: dict[str, float], p_values: dict[tuple[str, str], float], n: int = 0) -> pd.DataFrame:
    """All pairs of systems given best first; p is 0.9 where not given, of n shuffles (0: exact)."""
    rows = []
    for a, b in combinations(scores, 2):
        p = p_values.get((a, b), 0.9)
        rows.append([a, b, scores[a], scores[b], abs(scores[a] - scores[b]), p, round(p * (n + 1)) - 1 if n else 0])
    columns = ["system_a", "system_b", "score_a", "score_b", "gain", "p_value", "n_extreme"]
    table = pd.DataFrame(rows, columns=columns)
    key = {"task": "MUC-4", "test_set": "TST3", "n_items": 100, "metric": "f1", "test": "randomization"}
    return table.assign(**key, alternative="two-sided", convention="chinchor1992", unit="item", n_resamples=n)


def of_graph(differ: NDArray[np.bool_]) -> pd.DataFrame:
    """Comparisons of systems a, b, … whose significant differences are these."""
    names = [f"s{k:03d}" for k in range(len(differ))]
    pairs = {(names[i], names[j]): 0.01 for i, j in combinations(range(len(names)), 2) if differ[i, j]}
    return comparisons({name: 90.0 - k for k, name in enumerate(names)}, pairs)


def members(table: pd.DataFrame) -> list[list[str]]:
    return [list(rows["system"]) for _, rows in table.groupby("group")]


GE = {"GE": 56.01, "GE-CMU": 51.98, "UMASS": 51.61}
GE_P = {("GE", "GE-CMU"): 0.0415, ("GE", "UMASS"): 0.0994, ("GE-CMU", "UMASS"): 0.8918}
MDC = {"SRA": 29.33, "Paramax": 29.03, "MDC": 24.33}


def test_chinchors_ge_case() -> None:
    """0.0994 of 9,999 shuffles is not certainly below 0.1; of as many as one likes, or exactly, it is."""
    pairs = comparisons(GE, GE_P, 9_999)
    assert members(groups(pairs, alpha=0.1, certainty=0.99)) == [["GE", "UMASS"], ["GE-CMU", "UMASS"]]
    for certainty in (0.5, None):
        assert members(groups(pairs, alpha=0.1, certainty=certainty)) == [["GE"], ["GE-CMU", "UMASS"]]
    assert members(groups(comparisons(GE, GE_P), alpha=0.1)) == [["GE"], ["GE-CMU", "UMASS"]]


def test_chinchors_mdc_case() -> None:
    """Only MDC and Paramax differ, though SRA is further from MDC."""
    pairs = comparisons(MDC, {("Paramax", "MDC"): 0.01}, 9_999)
    assert members(groups(pairs)) == [["SRA", "Paramax"], ["SRA", "MDC"]]
    assert members(groups(pairs, rule="greedy")) == [["SRA", "Paramax", "MDC"]]


def test_both_rules_where_differences_are_not_transitive() -> None:
    """a ~ b ~ c ~ d, each two apart differ."""
    far = {("a", "c"): 0.01, ("b", "d"): 0.01, ("a", "d"): 0.01}
    pairs = comparisons({"a": 9, "b": 8, "c": 7, "d": 6}, far)
    assert members(groups(pairs)) == [["a", "b"], ["b", "c"], ["c", "d"]]
    assert members(groups(pairs, rule="greedy")) == [["a", "b"], ["c", "d"]]


def test_the_table_says_what_was_decided_how() -> None:
    pairs = comparisons(GE, GE_P, 9_999)
    table = groups(pairs.sample(frac=1, random_state=1), alpha=0.1, certainty=0.99)
    assert table["rank"].tolist() == [1, 3, 2, 3]
    assert table["score"].tolist() == [56.01, 51.61, 51.98, 51.61]
    assert table["n_members"].tolist() == [2] * 4
    assert groups(pairs, alpha=0.1)["n_members"].tolist() == [1, 2, 2]
    assert table[["rule", "p", "alpha", "certainty"]].drop_duplicates().to_numpy().tolist() == [
        ["maximal", "p_value", 0.1, 0.99]
    ]


def test_corrected_p_values_decide_and_are_made_where_they_are_missing() -> None:
    """Holm: 3 x 0.0415 = 0.1245 and 2 x 0.0994. Benjamini and Hochberg: 3 x 0.0415 and 1.5 x 0.0994."""
    pairs = comparisons(GE, GE_P, 9_999)
    for alpha, p, expected in (
        (0.12, "p_holm", [["GE", "GE-CMU", "UMASS"]]),
        (0.15, "p_holm", [["GE", "UMASS"], ["GE-CMU", "UMASS"]]),
        (0.15, "p_bh", [["GE"], ["GE-CMU", "UMASS"]]),
    ):
        table = ss.comparisons.groups(pairs, alpha=alpha, **({} if p == "p_holm" else {"p": p}))  # type: ignore[arg-type]
        assert members(table) == expected
        assert (table["p"].unique(), table["certainty"].notna().sum()) == ([p], 0)
        pd.testing.assert_frame_equal(groups(corrected(pairs), alpha=alpha, p=p), table)
    # 0.1245 is not certainly at most 0.126, of 9,999 shuffles.
    for certainty, together in ((None, False), (0.5, False), (0.99, True)):
        table = groups(pairs, p="p_holm", alpha=0.126, certainty=certainty)
        assert (["GE", "GE-CMU"] in [names[:2] for names in members(table)]) == together


@pytest.mark.parametrize("n", [2, 3, 5, 7, 9])
def test_maximal_sets_are_those_of_all_subsets(n: int, rng: np.random.Generator) -> None:
    for _ in range(10):
        differ = np.triu(rng.random((n, n)) < rng.choice([0.2, 0.5, 0.8]), k=1)
        alike = [
            set(subset)
            for size in range(1, n + 1)
            for subset in combinations(range(n), size)
            if not any(differ[i, j] for i, j in combinations(subset, 2))
        ]
        expected = sorted(sorted(some) for some in alike if not any(some < other for other in alike))
        assert [[int(name[1:]) for name in group] for group in members(groups(of_graph(differ)))] == expected


def test_a_p_value_of_the_level_is_significant_and_the_level_is_005() -> None:
    pairs = comparisons({"a": 2, "b": 1}, {("a", "b"): 0.05})
    for rule in ("maximal", "greedy"):
        assert members(groups(pairs, rule=rule)) == [["a"], ["b"]]
        assert members(groups(pairs, rule=rule, alpha=0.049)) == [["a", "b"]]


def test_equal_scores_are_ordered_by_name_and_lower_scores_can_be_better() -> None:
    pairs = comparisons({"a": 9, "b": 5, "c": 5}, {("a", "b"): 0.01})
    assert groups(pairs)["rank"].tolist() == [1, 3, 2, 3]
    pairs = comparisons({"good": 1.0, "fair": 2.0, "poor": 3.0}, {("good", "poor"): 0.01, ("fair", "poor"): 0.01})
    ranked = groups(pairs)[["rank", "system", "score"]]
    assert ranked.to_numpy().tolist() == [[1, "good", 1], [2, "fair", 2], [3, "poor", 3]]


def test_too_many_sets_are_refused() -> None:
    gap = np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    # Twenty trios whose members differ: each set takes one of every trio, 3^20 in all.
    trios = of_graph((gap < 3) & (np.arange(60) // 3 == np.arange(60)[:, None] // 3))
    with pytest.raises(ValueError, match="rule 'maximal' gives more than 1,000 groups here; rule='greedy'"):
        groups(trios)
    assert groups(trios, rule="greedy")["group"].max() > 1


PAIRS = comparisons(GE, GE_P, 9_999)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (pd.concat([PAIRS, PAIRS.assign(test_set="TST4")]), "must be of one test_set, not TST3, TST4"),
        (pd.concat([PAIRS, PAIRS.assign(alternative="greater")]), "must be of one alternative, not two-sided, greater"),
        (PAIRS.drop(index=1), "every two systems once; 'GE' and 'UMASS' are there 0 times"),
        (pd.concat([PAIRS, PAIRS.head(1)]), "every two systems once; 'GE' and 'GE-CMU' are there 2 times"),
        (PAIRS.assign(system_b=["GE", "UMASS", "UMASS"]), "'GE' and 'GE' are there 1 times"),
        (PAIRS.assign(system_a=["GE", "UMASS", "GE-CMU"], system_b=["GE-CMU", "GE", "UMASS"]),
         "the better system as system_a in every row"),
        (PAIRS.assign(p_value=np.nan), "p_value must be a number in every row"),
    ],
)  # fmt: skip
def test_tables_that_are_not_all_pairs_once_are_refused(pairs: pd.DataFrame, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        groups(pairs)
