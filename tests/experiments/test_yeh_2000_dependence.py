"""The study of Yeh's tests on dependent items: cells and counts, by hand."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import derived_seed
from tests.experiments.programs import Answered, program, small

DEPENDENT = program("yeh_2000", "dependence")

DEPENDENCE: dict[str, Any] = {
    "accuracy": 0.7, "n_clusters": 20, "cluster_size": 10, "within": [0.0, 0.2, 0.45], "between": 0.5, "n_data": 16,
    "alpha": 0.3,
}  # fmt: skip


def test_dependent_items_are_counted_by_unit_for_each_correlation() -> None:
    """Cells with made-up counts; each setting is in their arguments."""
    settings: Any = small("yeh_2000", dependence=DEPENDENCE).dependence
    counts = {0.0: [3, 2], 0.2: [9, 5], 0.45: [15, 1]}
    run = Answered(lambda cell: counts[cell.arguments[1]])
    table = DEPENDENT.dependence(settings, 7, run)
    function, cells = run.parts["dependent items"]
    drawn = settings.only(*(name for name in DEPENDENCE if name != "within"))
    assert (function, [cell.arguments for cell in cells]) == (DEPENDENT.rejections, [(drawn, r, 7) for r in counts])
    flat = [count for pair in counts.values() for count in pair]
    limits = [stats.binomtest(count, 16).proportion_ci(method="exact") for count in flat]
    rows = [
        (within, unit, 0.3, 16, count, count / 16, limit.low, limit.high)
        for (within, unit), count, limit in zip(product(counts, ("item", "cluster")), flat, limits, strict=True)
    ]
    pd.testing.assert_frame_equal(table, pd.DataFrame(rows, columns=list(table)))


def test_a_cell_tests_items_and_clusters_of_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: the signs of the items that differ, and all swaps of the clusters."""
    draw, drawn = ss.truth.clustered_accuracies, list[ss.Outputs]()
    asked: list[Any] = []

    def drawing(*given: Any, **options: Any) -> ss.Outputs:
        asked.append((given, options))
        drawn.append(draw(*given, **options))
        return drawn[-1]

    monkeypatch.setattr(ss.truth, "clustered_accuracies", drawing)
    settings: Any = small("yeh_2000", dependence={**DEPENDENCE, "n_data": 7}).dependence
    found = DEPENDENT.rejections(settings, 0.2, 7)
    wanted = [0, 0]
    for k, ((given, options), pair) in enumerate(zip(asked, drawn, strict=True)):
        assert given == ([0.7, 0.7], 20, 10)
        assert options == {"within": 0.2, "between": 0.5, "seed": derived_seed(7, "dependence", 0.2, k) % 2**64}
        gain = np.diff(pair.statistics[..., 0], axis=0)[0].astype(int)
        won = int((gain > 0).sum())
        wanted[0] += stats.binomtest(won, np.count_nonzero(gain)).pvalue <= 0.3
        sums = gain.reshape(20, 10).sum(axis=1)
        # All swaps of clusters: the distribution of the gain.
        chance = np.ones(1)
        for size in np.abs(sums):
            chance = np.convolve(chance, np.r_[0.5, np.zeros(2 * size - 1), 0.5][: 2 * size + 1] if size else [1.0])
        at = np.abs(np.arange(chance.size) - chance.size // 2)
        wanted[1] += chance[at >= abs(sums.sum())].sum() <= 0.3
    assert (len(asked), found) == (7, wanted)
