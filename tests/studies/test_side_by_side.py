"""All tests on the pairs of a small study: what its tables say, made again by hand from public parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import simstudy as ss
from simstudy.studies import RunContext, SideBySide, side_by_side
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
