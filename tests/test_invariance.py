"""The order of rows, columns, tables and files says nothing: it changes no score and no p-value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.outputs import Outputs
from simstudy.readers.load import load
from tests.oracles import compared

SYSTEMS = ["b", "a", "d", "c"]
COLUMNS = ["system_a", "system_b", "score_a", "score_b", "gain", "p_value"]


def pairs_of(outputs: Outputs, unit: str) -> pd.DataFrame:
    """What a test says that looks at all its shuffles, pairs in the order of their names."""
    pairs = compared(outputs, test="randomization", unit=unit)[COLUMNS]
    return pairs.sort_values(["system_a", "system_b"], ignore_index=True)


def described(outputs: Outputs) -> tuple[Any, ...]:
    """Scores, and what is known, by name and id."""
    systems = outputs.systems.sort_values("name")
    return (
        dict(sorted(zip(outputs.names, outputs.scores().tolist(), strict=True))),
        systems[["name", "group"]].to_numpy().tolist() if systems["group"].notna().any() else None,
        outputs.items.sort_values("id")[["id", "cluster"]].to_numpy().tolist(),
    )


def tables(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    ids = [f"q{i}" for i in range(n)]
    scores = pd.DataFrame(rng.integers(0, 2, (n, 4)), index=pd.Index(ids, name="item"), columns=SYSTEMS)
    systems = pd.DataFrame({"name": SYSTEMS, "group": [f"group of {name}" for name in SYSTEMS]})
    items = pd.DataFrame({"id": ids, "cluster": [f"d{i % 3}" for i in range(n)]})
    return scores, systems, items


def shuffled(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Rows and columns in another order."""
    return frame.iloc[rng.permutation(len(frame)), rng.permutation(frame.shape[1])]


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 9), unit=st.sampled_from(["item", "cluster"]))
@settings(max_examples=6, deadline=None)
def test_frames_and_tables_in_any_order(seed: int, n: int, unit: str) -> None:
    rng = np.random.default_rng(seed)
    scores, systems, items = tables(rng, n)
    one = Outputs.from_scores(scores, "accuracy", systems, items)
    other = Outputs.from_scores(
        shuffled(scores, rng), "accuracy", shuffled(systems, rng), shuffled(items, rng).reset_index(drop=True)
    )
    assert described(one) == described(other)
    pd.testing.assert_frame_equal(pairs_of(one, unit), pairs_of(other, unit))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 9))
@settings(max_examples=5, deadline=None)
def test_arrays_whose_systems_and_items_move_together(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 4, n)
    correct = rng.binomial(gold, 0.5, (4, n))
    statistics = np.stack([correct, correct + rng.integers(0, 2, (4, n)), np.broadcast_to(gold, (4, n))], axis=-1)
    _, systems, items = tables(rng, n)
    rows, places = rng.permutation(4), rng.permutation(n)
    one = Outputs.from_statistics(statistics, "f1", systems, items)
    other = Outputs.from_statistics(statistics[rows][:, places], "f1", systems.iloc[rows], items.iloc[places])
    assert described(one) == described(other)
    pd.testing.assert_frame_equal(pairs_of(one, "item"), pairs_of(other, "item"))


@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(["wide", "tidy", "file a system"]))
@settings(max_examples=6, deadline=None)
def test_files_in_any_order(tmp_path_factory: pytest.TempPathFactory, seed: int, shape: str) -> None:
    rng = np.random.default_rng(seed)
    scores, _, items = tables(rng, 6)
    found = []
    for order in ("as they are", "shuffled"):
        folder = tmp_path_factory.mktemp("files")

        def moved(frame: pd.DataFrame, order: str = order) -> pd.DataFrame:
            return shuffled(frame, rng) if order == "shuffled" else frame

        moved(items).to_csv(folder / "items.csv", index=False)
        tidy = scores.reset_index().melt("item", var_name="system", value_name="score")
        if shape == "wide":
            moved(scores.reset_index()).to_csv(folder / "all.csv", index=False)
            files = [folder / "all.csv"]
        elif shape == "tidy":
            moved(tidy).to_csv(folder / "all.csv", index=False)
            files = [folder / "all.csv"]
        else:
            files = [folder / f"{name}.csv" for name in SYSTEMS]
            for file, name in zip(files, SYSTEMS, strict=True):
                moved(scores[name].rename("score").reset_index()).to_csv(file, index=False)
            files = [files[k] for k in rng.permutation(4)] if order == "shuffled" else files
        found.append(load(files, "accuracy", items=Path(folder / "items.csv")).outputs)
    one, other = found
    assert described(one) == described(other)
    for unit in ("item", "cluster"):
        pd.testing.assert_frame_equal(pairs_of(one, unit), pairs_of(other, unit))
