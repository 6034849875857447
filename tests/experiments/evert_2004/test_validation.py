"""Repeated evaluations of the study: tables of the right parts, whose finished experiments are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from simstudy.loaders.tagged import TaggedDocument
from simstudy.studies import RunContext
from tests.experiments.programs import program, small

EVERT = program("evert_2004", "section_4")
SIMULATED = {
    "n_experiments": 30, "n_sets": 12, "n_candidates": 150, "share_true": 0.3, "separation": 1.0, "correlation": 0.5,
    "clusters": [(1, 0.0), (5, 0.6)], "n_accepted": 40,
}  # fmt: skip


def simulated_check(folder: Path) -> pd.DataFrame:
    study: Any = small("evert_2004", simulated=SIMULATED, seed=3)
    table: pd.DataFrame = EVERT.simulated_check(study.simulated, study.alpha, study.seed, RunContext(folder, 1))
    return table


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("simulated")
    return folder, simulated_check(folder)


def test_dependent_candidates_vary_more_and_the_model_is_rejected(simulated: tuple[Path, pd.DataFrame]) -> None:
    table = simulated[1].set_index("within")
    assert table["n_experiments"].tolist() == [30, 30]
    assert table.loc[0.6, "ratio"] > table.loc[0.0, "ratio"] + 0.15
    assert abs(table.loc[0.0, "ratio"] - 1) < 0.15
    assert table.loc[0.6, "missed"] > table.loc[0.0, "missed"]
    assert table.loc[0.6, "dispersion"] > table.loc[0.0, "dispersion"]
    for name in ("missed", "fisher", "ks", "dispersion", "missed_test"):
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
    assert table.loc[0.0, "fisher_low"] <= 0.05, "a conservative test of two functions that are equally good"


def test_finished_experiments_are_kept(simulated: tuple[Path, pd.DataFrame]) -> None:
    folder, table = simulated
    kept = sorted(folder.glob("*.cell"))
    assert len(kept) == 4, "25 experiments a cell, for each correlation"
    times = [path.stat().st_mtime_ns for path in kept]
    pd.testing.assert_frame_equal(simulated_check(folder), table)
    assert [path.stat().st_mtime_ns for path in kept] == times


def document(k: int) -> TaggedDocument:
    """Every document says "give up" three times and "look at" four times; odd ones "think of" and "hold on", too."""
    pairs = [("give", "up", "rp")] * 3 + [("look", "at", "in")] * 4
    if k % 2:
        pairs += [("think", "of", "in")] * 3 + [("hold", "on", "rp")] * 2
    return TaggedDocument(f"d{k}", "news", [[(verb, "vb"), (word, tag)] for verb, word, tag in pairs])


def test_parts_have_a_row_for_each_way_to_cut() -> None:
    settings = EVERT.Parts(
        n_parts=[2, 4],
        arrangements=["contiguous", "dealt"],
        floor=2,
        rankings=["frequency", "dice"],
        share_accepted=0.5,
    )
    repeated, check, parts = EVERT.parts_of_corpus([document(k) for k in range(8)], settings, 0).values()
    assert len(check) == 2 * 2 * 2
    assert len(repeated) == 2 * 2 * (2 + 4)
    assert parts.groupby(["arrangement", "n_parts"], sort=False).size().to_dict() == {
        ("contiguous", 2): 2, ("contiguous", 4): 4, ("dealt", 2): 2, ("dealt", 4): 4,
    }  # fmt: skip
    dealt = parts[(parts["arrangement"] == "dealt") & (parts["n_parts"] == 2)]
    # Even documents have two candidates, odd ones four; half of either are particles.
    assert dealt["n_candidates"].tolist() == [2, 4]
    assert dealt["baseline"].tolist() == [0.5, 0.5]
    # Half of (2 + 4) / 2 candidates a part on average: three of six in all, the most frequent ones.
    chosen = repeated[(repeated["arrangement"] == "dealt") & (repeated["n_parts"] == 2)]
    assert chosen[chosen["ranking"] == "frequency"]["n_accepted"].sum() >= 3
