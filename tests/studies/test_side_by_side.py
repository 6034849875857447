"""All tests on the pairs of a small study: what its tables say, made again by hand from public parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simstudy as ss
from simstudy.studies import RunContext, SideBySide, side_by_side
from simstudy.studies.side_by_side import disagreements
from tests.comparisons.test_agreement import TESTS, judged
from tests.comparisons.test_agreement import side_by_side as pairs_by_test
from tests.oracles import compared


def test_shares_are_those_of_compare(tmp_path: Path) -> None:
    """The z test of independent systems against randomization: 16 systems, 120 pairs."""
    outputs = ss.truth.correlated_accuracies(np.linspace(0.6, 0.9, 16).tolist(), 200, families=list("abcd") * 4, seed=7)
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
