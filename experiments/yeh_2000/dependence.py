"""Section 4 anew: equally good systems on items that come in clusters, and how often randomization rejects."""

from __future__ import annotations

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import Cell, RunContext, clopper_pearson, derived_seed

from .settings import Dependence

# What randomization swaps.
UNITS = ["item", "cluster"]


def dependence(settings: Dependence, seed: int, context: RunContext) -> pd.DataFrame:
    """For each correlation within clusters, how often randomization of items, and of clusters, rejects."""
    drawn = settings.only("accuracy", "n_clusters", "cluster_size", "between", "n_data", "alpha")
    cells = [
        Cell(
            label=f"dependence {within:g}",
            arguments=(drawn, within, seed),
        )
        for within in settings.within
    ]
    found = context.run("dependent items", rejections, cells)
    table = pd.DataFrame({"within": np.repeat(settings.within, len(UNITS)), "unit": UNITS * len(cells)})
    counts = [count for of_units in found for count in of_units]
    low, high = clopper_pearson(counts, settings.n_data)
    return table.assign(
        alpha=settings.alpha,
        n_data=settings.n_data,
        n_rejected=counts,
        share=np.array(counts) / settings.n_data,
        low=low,
        high=high,
    )


def rejections(settings: Dependence, within: float, seed: int) -> list[int]:
    """One cell: how many pairs of equally good systems randomization of each unit tells apart, two-sided."""
    rejected = dict.fromkeys(UNITS, 0)
    for k in range(settings.n_data):
        pair = ss.truth.clustered_accuracies(
            [settings.accuracy, settings.accuracy],
            settings.n_clusters,
            settings.cluster_size,
            within=within,
            between=settings.between,
            seed=derived_seed(seed, "dependence", within, k) % 2**64,
        )
        for unit in UNITS:
            row = ss.compare(pair, test="randomization", alternative="two-sided", unit=unit).frame
            rejected[unit] += int(row["p_value"][0] <= settings.alpha)
    return list(rejected.values())


def all_alike(n: int, correlation: float) -> float:
    """The chance that n fair coins, positively correlated, all land on one particular side.

    Five independent flips do so with probability 1/32, correlated ones more often: once the first has landed on that
    side, the others are each more likely to (Yeh 2000, section 4). Of the many ways to be correlated this is the
    beta-binomial, in which each pair of flips correlates by rho: the product over k = 0 … n - 1 of
    ((1 - rho) / 2 + k rho) / (1 - rho + k rho), the chance of flip k + 1 after k flips on that side.

    rho, the correlation, goes from 0 (independent: 2^-n) to 1 (one flip for all: 1/2).

    Examples
    --------
    >>> all_alike(5, 0), all_alike(2, 0.5), all_alike(5, 1)   # 1/32; 1/2 * 3/4; 1/2
    (0.03125, 0.375, 0.5)
    """
    # The first flip has chance 1/2 whatever the correlation, also at 1, where the formula is 0 / 0.
    k = np.arange(1, n)
    after = ((1 - correlation) / 2 + k * correlation) / (1 - correlation + k * correlation)
    return float(0.5 * after.prod())
