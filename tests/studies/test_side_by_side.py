"""All tests on the pairs of a small study: what its tables say, made again by hand from public parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import RunContext, SideBySide, side_by_side
from simstudy.studies.side_by_side import correlation_shares, correlation_summary, disagreements
from tests.comparisons.test_agreement import TESTS, judged
from tests.comparisons.test_agreement import side_by_side as pairs_by_test
from tests.oracles import compared


def test_shares_are_those_of_compare(tmp_path: Path) -> None:
    """The z test of independent systems against randomization: 16 systems, 120 pairs."""
    outputs = ss.truth.correlated_accuracies(np.linspace(0.6, 0.9, 16).tolist(), 200, families=list("abcd") * 4, seed=0)
    settings = SideBySide(alpha=0.2, n_shown=5, n_resamples=200)
    found = side_by_side(outputs, settings, 7, RunContext(tmp_path, 1))["tests"].set_index(["relation", "test"])
    asked = ("randomization", "z_independent")
    reference, ours = (compared(outputs, test=test, alternative="two-sided", seed=7) for test in asked)
    assert ours["system_a"].equals(reference["system_a"])
    assert ours["system_b"].equals(reference["system_b"])
    mine, other = ours["p_value"] <= 0.2, reference["p_value"] <= 0.2
    for relation in ("same family", "different families", "all pairs"):
        members = (ours["relation"] == relation) | (relation == "all pairs")
        row = found.loc[(relation, "z_independent")]
        assert row.n_pairs == members.sum()
        assert row.n_rejected == (mine & members).sum()
        assert row.only_test == (mine & ~other & members).sum()
        assert row.only_reference == (other & ~mine & members).sum()
        assert row.n_pairs == {"same family": 24, "different families": 96, "all pairs": 120}[relation]
        assert row.only_reference > 0


def test_disagreements_name_the_tests_that_prefer_the_lower_score(rng: np.random.Generator) -> None:
    pairs, alpha = judged(rng), 0.3
    table = disagreements(pairs, alpha=alpha)
    assert table["gain"].is_monotonic_decreasing
    table = table.set_index(["system_a", "system_b"])
    small = 0
    for (a, b), rows in pairs.groupby(["system_a", "system_b"]):
        rejected = {
            row.gain > 0 and row.p_value <= alpha and row.p_floor <= alpha and row.better == row.system_a
            for row in rows.itertuples()
        }
        assert ((a, b) in table.index) == (len(rejected) == 2)
        if (a, b) in table.index:
            sign = rows[rows["test"] == "sign"].iloc[0]
            speaks = sign.better == b and sign.p_value <= alpha
            assert table.loc[(a, b), "prefers_worse"] == ("sign" if speaks else "")
            assert table.loc[(a, b), [*TESTS]].to_dict() == dict(zip(rows["test"], rows["p_value"], strict=True))
            small += int(speaks)
    assert small > 0


@pytest.mark.parametrize("gains", [[7], [7, 1], [7, 4, 1], [7, 5, 3, 1], [7, 6, 5, 4, 3, 2, 1]])
def test_disagreements_are_evenly_chosen_over_the_gains(rng: np.random.Generator, gains: list[int]) -> None:
    pairs = pairs_by_test(rng)
    split = pairs["gain"].between(1, 7) & (pairs["test"] == "sign")
    pairs["p_value"] = np.where(split, 0.01, 0.5)
    assert disagreements(pairs, n=len(gains))["gain"].tolist() == gains
    assert len(disagreements(pairs, n=30)) == 7


def test_no_disagreement_is_a_table_without_rows(rng: np.random.Generator) -> None:
    table = disagreements(pairs_by_test(rng).assign(p_value=0.5))
    assert table.empty
    assert {"system_a", "system_b", "gain", *TESTS} < set(table.columns)


def test_tables_of_correlations_by_plain_loops() -> None:
    """Classes of unlike size, with pairs whose correlation is not known though their ratio is, and a negative one."""
    rng = np.random.default_rng(8)
    relation = np.array(["same family"] * 7 + ["different families"] * 12)[rng.permutation(19)]
    r12 = rng.uniform(-0.2, 1, 19).round(2)
    r12[[3, 11]], r12[5], r12[6], r12[7] = np.nan, 0.55, 1.0, -0.21
    key = {"task": "t", "test_set": "s", "n_items": 9, "metric": "m"}
    table = pd.DataFrame({**key, "relation": relation, "r12": r12, "ratio": rng.uniform(1, 9, 19)})
    shares = correlation_shares(table)
    assert shares["relation"].drop_duplicates().tolist() == table["relation"].drop_duplicates().tolist()
    for kind, rows in shares.groupby("relation"):
        values = table.loc[(table["relation"] == kind) & table["r12"].notna(), "r12"].tolist()
        edges = [k / 20 for k in range(-5, 21)]
        assert rows["r12_from"].tolist() == edges[:-1]
        assert rows["r12_to"].tolist() == edges[1:]
        counts = [sum(a <= r < b or r == b == 1 for r in values) for a, b in zip(edges, edges[1:], strict=False)]
        assert rows["n_pairs"].tolist() == counts
        assert rows["share"].tolist() == pytest.approx([count / len(values) for count in counts])
        assert set(rows["median"]) == {np.median(values)}
    summary = correlation_summary(table)
    assert summary["relation"].tolist() == ["same family", "different families", "all pairs"]
    for row in summary.itertuples():
        members = table[((table["relation"] == row.relation) | (row.relation == "all pairs")) & table["r12"].notna()]
        quartiles = [row.r12_min, row.r12_25, row.r12_median, row.r12_75, row.r12_max]
        assert quartiles == pytest.approx(np.percentile(members["r12"], [0, 25, 50, 75, 100]).tolist())
        assert (row.n_pairs, row.ratio_median) == (len(members), np.median(members["ratio"]))
    above = correlation_shares(table.assign(r12=table["r12"].abs()))
    assert above["r12_from"].min() == 0.0, "bins begin at 0 where none is below"
