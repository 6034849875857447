"""How often intervals for other systems hold the numbers of very many other systems. Printed with `-s`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.significant_gains import significant_gains
from simstudy.comparisons.thresholds import thresholds
from tests.comparisons.collections import Population, pairs_of, population_numbers, sizes

# Systems that the truth is taken over, and items.
_MANY, _ITEMS = 600, 300


def coverage(n_systems: int, n_families: int, relation: str, target: str, n_rounds: int) -> pd.DataFrame:
    """Shares of intervals that hold the truth, for the same items and for new ones (the mean over items)."""
    codes = np.repeat(np.arange(n_families), sizes(n_systems, n_families))
    truths, found = [], []
    for k in range(n_rounds):
        rng = np.random.default_rng([k, n_systems, n_families])
        population = Population(rng, _ITEMS, kin=n_families < n_systems)
        families = population.families(n_families)
        pairs = pairs_of(*population.systems(families, codes), codes)
        pairs = pairs[pairs["relation"] == relation]
        if target == "other variants of these families":
            others = np.repeat(np.arange(n_families), _MANY // n_families)
        else:
            others = np.arange(_MANY) if relation == "different families" else np.repeat(np.arange(_MANY // 5), 5)
            families = population.families(int(others.max()) + 1)
        truths.append(population_numbers(*population.systems(families, others), others, relation))
        row = thresholds(pairs, n_bootstrap=300).iloc[0]
        intervals = {"threshold": (row["low"], row["high"]) if row["interval_for"] == target else (np.nan, np.nan)}
        for _, row in significant_gains(pairs).iterrows():
            # Of close pairs, eight families may be fewer in effect than it takes.
            ours = row["interval_for"] == target
            for name in ("observed_50", "observed_80", "true_50", "true_80", "true_95"):
                intervals[f"{row['pairs']}, {name}"] = (
                    (row[f"{name}_low"], row[f"{name}_high"]) if ours else (np.nan, np.nan)
                )
        found.append(intervals)
    truth = pd.DataFrame(truths)
    rows = []
    for name in found[0]:
        low, high = np.array([intervals[name] for intervals in found]).T
        known = np.isfinite(low)
        if known.mean() < 0.2:
            continue
        same = ((low <= truth[name]) & (truth[name] <= high))[known].mean()
        new = ((low <= truth[name].mean()) & (truth[name].mean() <= high))[known].mean()
        half = np.log(high[known] / low[known]).mean() / 2
        rows.append({"number": name, "same items": same, "new items": new, "half width": half, "known": known.mean()})
    return pd.DataFrame(rows).set_index("number")


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n_systems", "n_families", "relation", "target"),
    [
        (20, 20, "different families", "other systems"),
        (40, 40, "different families", "other systems"),
        (75, 75, "different families", "other systems"),
        (75, 15, "different families", "other systems"),
        (75, 15, "same family", "other systems"),
        (75, 5, "different families", "other systems"),
        (75, 4, "different families", "other variants of these families"),
    ],
)
def test_intervals_hold_what_they_speak_for(n_systems: int, n_families: int, relation: str, target: str) -> None:
    table = coverage(n_systems, n_families, relation, target, 120)
    print(f"\n{n_systems} systems, {n_families} families, {relation}, for {target}\n{table.round(3).to_string()}")
    assert {"all pairs, true_80", "close pairs, true_80"} <= {*table.index}
    assert ("threshold" in table.index) == (n_systems == 75 and relation == "different families")
    # Measured 0.86 to 0.97, here less five standard errors. Percentiles of resampled systems hold the threshold of 15
    # families three times in four, and what five families say of others half the time.
    assert (table["same items"] >= 0.72).all()
    if target == "other systems":
        assert (table["new items"] >= 0.7).all()
