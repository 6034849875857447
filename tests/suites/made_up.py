"""Suites of tasks that are drawn, and rows of what is found of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.suites import AcrossTasks

SIZES = {"law": 3, "code": 4, "maths": 6}


def suite(rng: np.random.Generator, sizes: dict[str, int], n_systems: int = 2, metric: str = "accuracy") -> ss.Outputs:
    n = sum(sizes.values())
    tasks = np.repeat(list(sizes), list(sizes.values()))
    scores = (rng.random((n_systems, n)) < np.linspace(0.75, 0.4, n_systems)[:, None]).astype(int)
    if metric == "mean":
        scores = rng.normal(np.linspace(1, 0, n_systems)[:, None], 1, (n_systems, n))
    statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
    names = [f"s{k}" for k in range(n_systems)]
    items = pd.DataFrame({"id": [f"{t}/{i}" for i, t in enumerate(tasks)], "domain": tasks})
    order = rng.permutation(n)
    return ss.Outputs.from_statistics(statistics[:, order], metric, names, items.iloc[order])


def row(found: AcrossTasks, average: str, hypothesis: str) -> pd.Series:
    rows = found.averages.query("average == @average and hypothesis == @hypothesis")
    assert len(rows) == 1
    return rows.iloc[0]
