"""Ranks of neighbours on a leaderboard, by hand and by definition on random p-values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.comparisons.ranks import ranks
from simstudy.truth import correlated_accuracies
from tests.oracles import compared


def leaderboard(names: str, p_values: Mapping[str, float]) -> pd.DataFrame:
    """Every pair of systems, best first, a point apart; p is 0.001 where it is not given."""
    two = list(combinations(names, 2))
    return pd.DataFrame(two, columns=["system_a", "system_b"]).assign(
        task="t", test_set="s", n_items=100, metric="accuracy", alternative="two-sided",
        gain=[float(names.index(b) - names.index(a)) for a, b in two],
        p_value=[p_values.get(a + b, 0.001) for a, b in two],
    )  # fmt: skip


def test_a_board_by_hand() -> None:
    """Neighbours ab 0.4, bc 0.2, cd 0.024, de 0.06: one of four differs, and none after Holm (4 * 0.024 = 0.096).

    a differs from d (3 places) first, b from d (2), c from d (1), d from none: the median of 3, 2 and 1 is 2.
    """
    pairs = leaderboard("abcde", {"ab": 0.4, "ac": 0.3, "bc": 0.2, "cd": 0.024, "de": 0.06})
    assert ranks(pairs).iloc[0].to_dict() == {
        "task": "t", "test_set": "s", "n_items": 100, "metric": "accuracy", "alternative": "two-sided", "n_systems": 5,
        "n_adjacent": 4, "n_significant": 1, "n_significant_holm": 0, "best": "a", "ranks_apart": 2.0,
        "gain_adjacent": 1.0,
    }  # fmt: skip
    row = ranks(pairs, alpha=0.1).iloc[0]
    assert (row["n_significant"], row["n_significant_holm"]) == (2, 1), (
        "cd and de; 4 * 0.024 <= 0.1 < 3 * 0.06; all ten pairs: 5 * 0.024"
    )


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_as_by_definition_in_any_order_of_the_rows(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names, score = "hgfedcba"[:k], np.sort(rng.random(k))[::-1]
    p = {a + b: float(rng.choice([0.001, 0.02, 0.04, 0.06, 0.5])) for a, b in combinations(names, 2)}
    pairs = leaderboard(names, p).assign(gain=[score[i] - score[j] for i, j in combinations(range(k), 2)])
    row = ranks(pairs.sample(frac=1, random_state=seed % 1000)).iloc[0]
    neighbours = sorted(p[a + b] for a, b in zip(names, names[1:], strict=False))
    assert row["n_significant"] == sum(value <= 0.05 for value in neighbours)
    steps = 0  # Holm's procedure as he wrote it: go on while the smallest left is small enough
    while steps < k - 1 and neighbours[steps] <= 0.05 / (k - 1 - steps):
        steps += 1
    assert row["n_significant_holm"] == steps
    assert row["best"] == names[0]
    assert row["gain_adjacent"] == pytest.approx(np.median(-np.diff(score)))
    worse = [[j - i for j in range(i + 1, k) if p[names[i] + names[j]] <= 0.05] for i in range(k)]
    nearest = [min(distances) for distances in worse if distances]
    assert (row["ranks_apart"] == np.median(nearest)) if nearest else np.isnan(row["ranks_apart"])


def test_test_sets_and_alternatives_have_rows_of_their_own() -> None:
    outputs = correlated_accuracies([0.6, 0.7, 0.8, 0.9], 300, seed=3)
    tables = [compared(outputs.head(n), alternative=a) for n in (100, 300) for a in ("greater", "two-sided")]
    table = ranks(pd.concat(tables, ignore_index=True))
    assert table[["n_items", "alternative"]].to_numpy().tolist() == [
        [100, "greater"], [100, "two-sided"], [300, "greater"], [300, "two-sided"],
    ]  # fmt: skip
    assert (table["n_systems"] == 4).all()


def test_rows_that_are_not_every_pair_once_are_refused() -> None:
    pairs = leaderboard("abc", {})
    ab, ac, bc = (pairs.iloc[[k]] for k in range(3))
    turned = ac.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    for rows in ([ab, ac], [pairs, pairs], [ab, ab, bc], [ab, bc, turned], [ab, ac, bc.assign(system_b="b")],
                 [ab.assign(system_b="a")]):  # fmt: skip
        with pytest.raises(ValueError, match="every two systems once|the better system as system_a in every row"):
            ranks(pd.concat(rows))
