"""Tests side by side, against plain loops on a table that is made by hand."""

from __future__ import annotations

from itertools import combinations
from statistics import median

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.agreement import agreement

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


def test_a_pair_that_no_resample_holds_has_no_interval(rng: np.random.Generator) -> None:
    one = side_by_side(rng).query("system_a == 'a' and system_b == 'b'").assign(p_value=0.01)
    bounds = [agreement(one, n_bootstrap=1, seed=seed)[["low", "high"]] for seed in range(8)]
    assert {str(found) for table in bounds for found in table.to_numpy().ravel()} == {"nan", "1.0"}
    assert all(table.isna().all(axis=None) or table.notna().all(axis=None) for table in bounds)


def judged(rng: np.random.Generator) -> pd.DataFrame:
    """The sign test speaks for the lower score on some pairs, and of others the units are too few."""
    pairs = side_by_side(rng)
    other = (pairs["test"] == "sign") & (rng.random(len(pairs)) < 0.5)
    pairs["better"] = np.where(other, pairs["system_b"], np.where(rng.random(len(pairs)) < 0.1, "", pairs["system_a"]))
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
        return row.gain > 0 and row.p_value <= alpha and row.p_floor <= alpha and row.better == a

    assert table["n_other"].sum() > 0
    assert list(zip(table["relation"], table["test"], strict=True)) == [
        (relation, test) for relation in (*RELATIONS, "all pairs") for test in TESTS
    ]
    for row in table.itertuples():
        assert row.low <= row.share <= row.high
        mine = [
            (a, b)
            for a, b in combinations(FAMILIES, 2)
            if row.relation in ("all pairs", "same family" if FAMILIES[a] == FAMILIES[b] else "different families")
        ]
        assert row.n_pairs == len(mine)
        assert row.n_rejected == sum(rejects(a, b, row.test) for a, b in mine)
        assert row.n_other == sum(
            max(rows[a, b, row.test].p_value, rows[a, b, row.test].p_floor) <= alpha
            and rows[a, b, row.test].better == b
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
            and b not in (rows[a, b, row.test].better, rows[a, b, reference].better)
        ]
        assert row.median_ratio == pytest.approx(median(ratios), nan_ok=True)


def test_tables_that_do_not_fit_are_refused(rng: np.random.Generator) -> None:
    pairs = side_by_side(rng)
    with pytest.raises(ValueError, match="must have the same pairs for every test; test 'z_independent' lacks some"):
        agreement(pairs.iloc[:-1])
    with pytest.raises(ValueError, match="each pair once for each test; pass one seed at a time"):
        agreement(pd.concat([pairs, pairs.iloc[:1]]))
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, both excluded, not 5"):
        agreement(pairs, alpha=5)
