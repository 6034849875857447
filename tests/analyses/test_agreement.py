"""Tests side by side, against plain loops on a table that is made by hand."""

from __future__ import annotations

from itertools import combinations
from statistics import median

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.analyses.agreement import agreement, disagreements
from simstudy.engines.asking import applicable
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared

FAMILIES = dict(zip("abcdef", "xxxyyz", strict=True))
RELATIONS = ["same family", "different families"]
TESTS = ("sign", "randomization", "z_independent")


def side_by_side(rng: np.random.Generator, tests: tuple[str, ...] = TESTS, test_set: str = "home") -> pd.DataFrame:
    """All pairs of six systems of three families; p-values of all sizes, the last test's twice as large."""
    rows = []
    for k, (a, b) in enumerate(combinations(FAMILIES, 2)):
        relation = "same family" if FAMILIES[a] == FAMILIES[b] else "different families"
        p = 10 ** rng.uniform(-4, 0)
        for test, factor in zip(tests, (rng.uniform(0.5, 1.5), 1, 2), strict=True):
            rows.append(("t", test_set, 100, "accuracy", relation, a, b, float(k + 1), test, min(1, p * factor)))
    columns = ["task", "test_set", "n_items", "metric", "relation", "system_a", "system_b", "gain", "test", "p_value"]
    return pd.DataFrame(rows, columns=columns)


def of_pairs(pairs: pd.DataFrame, test: str, relation: str) -> dict[tuple[str, str], float]:
    """The test's p-value of each pair of a relation class."""
    rows = pairs[(pairs["test"] == test) & ((pairs["relation"] == relation) | (relation == "all pairs"))]
    return {(row.system_a, row.system_b): row.p_value for row in rows.itertuples()}


@pytest.mark.parametrize("alpha", [0.05, 0.3])
@pytest.mark.parametrize("reference", ["randomization", "sign"])
def test_counts_and_ratios_are_those_of_plain_loops(rng: np.random.Generator, alpha: float, reference: str) -> None:
    pairs = side_by_side(rng)
    table = agreement(pairs, alpha=alpha, reference=reference)
    assert list(zip(table["relation"], table["test"], strict=True)) == [
        (relation, test) for relation in (*RELATIONS, "all pairs") for test in TESTS
    ]
    for row in table.itertuples():
        mine, other = of_pairs(pairs, row.test, row.relation), of_pairs(pairs, reference, row.relation)
        assert row.n_pairs == len(mine) == {"same family": 4, "different families": 11, "all pairs": 15}[row.relation]
        assert row.n_rejected == sum(p <= alpha for p in mine.values())
        assert row.share == pytest.approx(row.n_rejected / row.n_pairs)
        assert row.only_test == sum(mine[pair] <= alpha < other[pair] for pair in mine)
        assert row.only_reference == sum(other[pair] <= alpha < mine[pair] for pair in mine)
        ratios = [mine[pair] / p for pair, p in other.items() if 0.001 <= p <= 0.5]
        assert row.median_ratio == pytest.approx(median(ratios))
        assert row.low <= row.share <= row.high
    assert (table.loc[table["test"] == reference, ["only_test", "only_reference"]] == 0).all(axis=None)


def test_a_p_value_of_alpha_rejects(rng: np.random.Generator) -> None:
    pairs = side_by_side(rng).assign(p_value=0.05)
    assert (agreement(pairs, alpha=0.05)["share"] == 1).all()


def test_intervals_come_from_resampled_systems(rng: np.random.Generator) -> None:
    """Pairs that share a system hang together: one bad system of six moves a third of the pairs."""
    pairs = side_by_side(rng)
    pairs["p_value"] = np.where((pairs["system_a"] == "a") | (pairs["system_b"] == "a"), 0.001, 0.9)
    table = agreement(pairs, n_bootstrap=2_000)
    row = table[(table["relation"] == "all pairs") & (table["test"] == "sign")].iloc[0]
    shares = []
    for _ in range(2_000):
        drawn = rng.choice(list(FAMILIES), 6)
        found = [("a" in pair) for pair in combinations(drawn, 2) if pair[0] != pair[1]]
        shares += [np.mean(found)] if found else []
    assert row.share == 1 / 3
    assert (row.low, row.high) == pytest.approx(np.percentile(shares, [2.5, 97.5]), abs=0.03)
    pd.testing.assert_frame_equal(table, agreement(pairs, n_bootstrap=2_000))
    assert not table.equals(agreement(pairs, n_bootstrap=2_000, seed=1))


def test_where_all_or_none_are_rejected_the_interval_is_a_point(rng: np.random.Generator) -> None:
    for p, share in ((0.0001, 1.0), (0.9, 0.0)):
        table = agreement(side_by_side(rng).assign(p_value=p))
        assert (table[["share", "low", "high"]] == share).all(axis=None)
        assert table["median_ratio"].isna().all(), "no p-value of the reference lies within 0.001 ... 0.5"


def test_a_pair_that_no_resample_holds_has_no_interval(rng: np.random.Generator) -> None:
    one = side_by_side(rng).query("system_a == 'a' and system_b == 'b'").assign(p_value=0.01)
    bounds = [agreement(one, n_bootstrap=1, seed=seed)[["low", "high"]] for seed in range(20)]
    assert {str(found) for table in bounds for found in table.to_numpy().ravel()} == {"nan", "1.0"}
    assert all(table.isna().all(axis=None) or table.notna().all(axis=None) for table in bounds)


def test_each_test_set_is_a_table_of_its_own(rng: np.random.Generator) -> None:
    home, away = side_by_side(rng), side_by_side(rng, test_set="away")
    both = agreement(pd.concat([home, away]))
    pd.testing.assert_frame_equal(both, pd.concat([agreement(home), agreement(away)], ignore_index=True))


def test_the_tests_of_compare_can_be_held_against_each_other() -> None:
    outputs = correlated_accuracies([0.7, 0.75, 0.8, 0.8], 300)
    tests = applicable(outputs)
    pairs = pd.concat([compared(outputs, test=test, n_resamples=2_000) for test in tests])
    table = ss.analyses.agreement(pairs)
    assert table["test"].tolist() == tests
    assert (table["n_pairs"] == 6).all()


def test_disagreements_are_pairs_that_tests_decide_differently(rng: np.random.Generator) -> None:
    pairs = side_by_side(rng)
    table = disagreements(pairs, alpha=0.2)
    expected = []
    for a, b in combinations(FAMILIES, 2):
        p = [of_pairs(pairs, test, "all pairs")[a, b] for test in TESTS]
        if len({value <= 0.2 for value in p}) == 2:
            expected.append((a, b, *p))
    assert expected
    columns = ["system_a", "system_b", *TESTS]
    assert list(table[columns].itertuples(index=False, name=None)) == expected[::-1], "gains ascend in the order made"
    assert table["gain"].is_monotonic_decreasing


def judged(rng: np.random.Generator) -> pd.DataFrame:
    """The sign test speaks for the lower score on some pairs, and of others the units are too few."""
    pairs = side_by_side(rng)
    other = (pairs["test"] == "sign") & (rng.random(len(pairs)) < 0.5)
    pairs["favours"] = np.where(other, pairs["system_b"], np.where(rng.random(len(pairs)) < 0.1, "", pairs["system_a"]))
    few = pairs["gain"].isin([3, 4, 12])
    return pairs.assign(p_floor=np.where(few, 0.125, 0.001))


@pytest.mark.parametrize("reference", ["randomization", "sign"])
def test_a_p_value_for_the_lower_score_or_of_too_few_units_rejects_nothing(
    rng: np.random.Generator, reference: str
) -> None:
    pairs, alpha = judged(rng), 0.1
    table = agreement(pairs, alpha=alpha, reference=reference)
    rows = {(row.system_a, row.system_b, row.test): row for row in pairs.itertuples()}

    def rejects(a: str, b: str, test: str) -> bool:
        row = rows[a, b, test]
        return row.gain > 0 and row.p_value <= alpha and row.p_floor <= alpha and row.favours == a

    assert table["n_other"].sum() > 0
    for row in table.itertuples():
        mine = [
            (a, b)
            for a, b in combinations(FAMILIES, 2)
            if row.relation in ("all pairs", "same family" if FAMILIES[a] == FAMILIES[b] else "different families")
        ]
        assert row.n_pairs == len(mine)
        assert row.n_rejected == sum(rejects(a, b, row.test) for a, b in mine)
        assert row.n_other == sum(
            max(rows[a, b, row.test].p_value, rows[a, b, row.test].p_floor) <= alpha
            and rows[a, b, row.test].favours == b
            for a, b in mine
        )
        assert row.n_other == 0 or row.test == "sign"
        assert row.only_test == sum(rejects(a, b, row.test) > rejects(a, b, reference) for a, b in mine)
        assert row.only_reference == sum(rejects(a, b, row.test) < rejects(a, b, reference) for a, b in mine)
        assert row.share == pytest.approx(row.n_rejected / row.n_pairs)
        ratios = [
            rows[a, b, row.test].p_value / rows[a, b, reference].p_value
            for a, b in mine
            if 0.001 <= rows[a, b, reference].p_value <= 0.5
            and b not in (rows[a, b, row.test].favours, rows[a, b, reference].favours)
        ]
        assert row.median_ratio == pytest.approx(median(ratios), nan_ok=True)


def test_disagreements_name_the_tests_that_speak_for_the_lower_score(rng: np.random.Generator) -> None:
    pairs, alpha = judged(rng), 0.3
    table = disagreements(pairs, alpha=alpha).set_index(["system_a", "system_b"])
    small = 0
    for (a, b), rows in pairs.groupby(["system_a", "system_b"]):
        rejected = {
            row.gain > 0 and row.p_value <= alpha and row.p_floor <= alpha and row.favours == row.system_a
            for row in rows.itertuples()
        }
        assert ((a, b) in table.index) == (len(rejected) == 2)
        if (a, b) in table.index:
            sign = rows[rows["test"] == "sign"].iloc[0]
            speaks = sign.favours == b and sign.p_value <= alpha
            assert table.loc[(a, b), "for_other"] == ("sign" if speaks else "")
            small += int(speaks)
    assert small > 0


def test_few_large_and_many_small_differences() -> None:
    """a has the better mean, b wins 20 items of 23: signs and ranks have small p, and no test finds a better."""
    scores = pd.DataFrame({"a": [0.9] * 3 + [0.1] * 20, "b": [0.1] * 3 + [0.15] * 20})
    tests = ("randomization", "sign", "wilcoxon")
    pairs = pd.concat([compared(ss.Outputs.from_scores(scores), test=test) for test in tests])
    assert pairs["p_value"].to_numpy()[1:].max() < 0.02
    table = agreement(pairs[pairs["relation"] == "different families"]).drop_duplicates("test").set_index("test")
    assert table["n_rejected"].tolist() == [0, 0, 0]
    assert table["n_other"].tolist() == [0, 1, 1]
    assert disagreements(pairs).empty


@pytest.mark.parametrize("gains", [[7], [7, 1], [7, 4, 1], [7, 5, 3, 1], [7, 6, 5, 4, 3, 2, 1]])
def test_disagreements_are_evenly_chosen_over_the_gains(rng: np.random.Generator, gains: list[int]) -> None:
    pairs = side_by_side(rng)
    split = pairs["gain"].between(1, 7) & (pairs["test"] == "sign")
    pairs["p_value"] = np.where(split, 0.01, 0.5)
    assert disagreements(pairs, n=len(gains))["gain"].tolist() == gains
    assert len(disagreements(pairs, n=30)) == 7


def test_no_disagreement_is_a_table_without_rows(rng: np.random.Generator) -> None:
    table = disagreements(side_by_side(rng).assign(p_value=0.5))
    assert table.empty
    assert {"system_a", "system_b", "gain", *TESTS} < set(table.columns)


@pytest.mark.parametrize("analysis", [agreement, disagreements])
def test_tables_that_do_not_fit_are_refused(rng: np.random.Generator, analysis: object) -> None:
    pairs = side_by_side(rng)
    assert callable(analysis)
    with pytest.raises(ValueError, match="must have the same pairs for every test; test 'z_independent' lacks some"):
        analysis(pairs.iloc[:-1])
    with pytest.raises(ValueError, match="each pair once for each test .of one seed.; hand in others one by one"):
        analysis(pd.concat([pairs, pairs.iloc[:1]]))
    with pytest.raises(ValueError, match="no column gain, test"):
        analysis(pairs.drop(columns=["gain", "test"]))
    with pytest.raises(ValueError, match="pairs must have at least one row"):
        analysis(pairs.head(0))
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, both excluded, not 5"):
        analysis(pairs, alpha=5)


def test_options_outside_their_rules_are_refused(rng: np.random.Generator) -> None:
    pairs = side_by_side(rng)
    with pytest.raises(ValueError, match=r"reference must be one of sign, .*, not 'z_paird'$"):
        agreement(pairs, reference="z_paird")
    with pytest.raises(ValueError, match=r"not 'randomisation' \(did you mean 'randomization'\?\)"):
        agreement(pairs, reference="randomisation")
    with pytest.raises(ValueError, match="n_bootstrap must be at least 1, not 0"):
        agreement(pairs, n_bootstrap=0)
    with pytest.raises(ValueError, match="seed must be at least 0"):
        agreement(pairs, seed=-1)
    with pytest.raises(ValueError, match="n must be at least 1, not 0"):
        disagreements(pairs, n=0)
