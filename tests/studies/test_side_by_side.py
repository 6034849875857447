"""All tests on the pairs of a small study: what its tables say, made again by hand from public parts."""

from __future__ import annotations

import pandas as pd
import pytest

import simstudy as ss
from simstudy.outputs import Outputs
from simstudy.studies import RunContext, SideBySide, side_by_side
from tests.oracles import compared

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def home() -> Outputs:
    task = ss.training.load_task("digits")
    return ss.training.resample_training(task, fractions=[0.3, 0.1], replicates=[2, 2], seed=7)["test"]


@pytest.fixture(scope="module")
def done(home: Outputs, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    settings = SideBySide(alpha=0.2, n_shown=5)
    return side_by_side(home, settings, 7, RunContext(tmp_path_factory.mktemp("beside"), 1))


@pytest.fixture(scope="module")
def by_test(home: Outputs) -> dict[str, pd.DataFrame]:
    return {test: compared(home, test=test, alternative="two-sided", seed=7) for test in ("randomization", "sign")}


def test_shares_are_those_of_compare(done: Tables, by_test: dict[str, pd.DataFrame]) -> None:
    """The sign test against randomization: 16 systems, 120 pairs."""
    table = done["tests"].set_index(["relation", "test"])
    ours, reference = by_test["sign"], by_test["randomization"]
    assert ours["system_a"].equals(reference["system_a"])
    assert ours["system_b"].equals(reference["system_b"])
    mine, other = ours["p_value"] <= 0.2, reference["p_value"] <= 0.2
    for relation in ("same family", "different families", "all pairs"):
        members = (ours["relation"] == relation) | (relation == "all pairs")
        row = table.loc[(relation, "sign")]
        assert row.n_pairs == members.sum()
        assert row.n_rejected == (mine & members).sum()
        assert row.only_test == (mine & ~other & members).sum()
        assert row.only_reference == (other & ~mine & members).sum()
    assert len(ours) == table.loc[("all pairs", "sign"), "n_pairs"] == 16 * 15 / 2
