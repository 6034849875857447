"""Cells of the kinds that studies have, for runs that are killed. Run as: kinds_of_cells FOLDER N_JOBS KIND..."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.running.cell_files import encode
from simstudy.running.keys import Cell
from simstudy.running.parallel import run_cells

KINDS = ("array", "table", "training", "sleep")
N_CELLS = 12


def make(kind: str, seed: int, shared: NDArray[np.float64]) -> Any:
    rng = np.random.default_rng(seed)
    if kind == "array":
        rows = rng.permutation(len(shared))[: len(shared) // 2]
        return {"sorted": np.sort(shared[rows])[::20], "mean": float(shared.mean())}
    if kind == "table":
        table = pd.DataFrame({"system": rng.integers(0, 50, 100_000), "score": rng.normal(size=100_000)})
        return table.groupby("system", as_index=False)["score"].agg(["mean", "std", "count"])
    if kind == "training":
        from sklearn.naive_bayes import GaussianNB

        rows = rng.normal(size=(2_000, 30))
        return {"means": GaussianNB().fit(rows, rows[:, 0] > 0).theta_}
    time.sleep(0.2)
    return ("slept", seed)


def cells(kinds: Sequence[str] = KINDS) -> list[Cell]:
    shared = np.random.default_rng(0).normal(size=650_000)
    kinds = [kinds[k % len(kinds)] for k in range(N_CELLS)]
    return [Cell(f"{kind} {k}", (kind, k, shared)) for k, kind in enumerate(kinds)]


if __name__ == "__main__":
    from tests.attacks import kinds_of_cells  # a function of a module, as those of studies are

    results = run_cells(kinds_of_cells.make, cells(sys.argv[3:]), n_jobs=int(sys.argv[2]), cache=Path(sys.argv[1]))
    print(sha256(encode("all", "all", results)).hexdigest())
