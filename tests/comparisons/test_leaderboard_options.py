"""What a leaderboard is asked for reaches what it is made of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.leaderboard import leaderboard
from simstudy.comparisons.stepdown import GainParts, gain_parts, places
from simstudy.outputs import Outputs

N = 48


@pytest.fixture(scope="module")
def outputs() -> Outputs:
    """Eight systems, in no order, on 48 items of 12 documents."""
    rng = np.random.default_rng(12)
    systems = pd.DataFrame({"name": list("hbfagdce"), "family": list("xyzxywww")})
    scores = rng.normal(size=(N, 1)) + rng.normal(size=(N, 8)) + rng.permutation(np.linspace(0, 1.2, 8))
    items = pd.DataFrame({"id": [f"i{i}" for i in range(N)], "cluster": [f"d{i // 4}" for i in range(N)]})
    frame = pd.DataFrame(scores, columns=systems["name"].tolist())
    made = Outputs.from_scores(frame, "mean", systems, task="t", test_set="s")
    return Outputs.from_statistics(made.statistics, made.metric, systems, items, task="t", test_set="s")


@pytest.mark.parametrize("unit", [None, "item", "cluster"])
@pytest.mark.parametrize("given", [{}, {"level": 0.7}, {"n_bootstrap": 60}, {"seed": 6}])
def test_every_option_is_that_of_the_places_and_the_intervals(
    outputs: Outputs, unit: str | None, given: dict[str, float]
) -> None:
    asked = {"level": 0.95, "n_bootstrap": 2000, "seed": 0, **given}
    table = leaderboard(outputs, unit=unit, **given)
    ranked = outputs.best_first()
    sums = ranked if unit == "item" else ranked.sum_by("cluster")
    n = N if unit == "item" else 12
    gains = gain_parts(sums.statistics, outputs.metric, np.zeros(8, dtype=bool))
    expected = places(gains, **asked)
    names = {"rank_low": "low", "rank_high": "high", "rank_low_own": "low_own", "rank_high_own": "high_own"}
    for column, name in (names | {"may_be_best": "may_be_best"}).items():
        assert table[column].tolist() == getattr(expected, name).tolist()
    assert table["rank_low"].tolist() != table["rank_low_own"].tolist()
    assert table["rank_high"].tolist() != table["rank_high_own"].tolist()
    units = pd.DataFrame(ranked.statistics[..., 0].T).groupby(np.arange(N) // (N // n)).mean()
    assert table["score"].tolist() == pytest.approx(units.mean().tolist())
    assert table["score_se"].tolist() == pytest.approx((units.std() / np.sqrt(n)).tolist())
    reach = stats.t.isf((1 - asked["level"]) / 2, n - 1) * table["score_se"]
    assert table["score_low"].tolist() == pytest.approx((table["score"] - reach).tolist())
    assert table["score_high"].tolist() == pytest.approx((table["score"] + reach).tolist())
    assert set(table["level"]) == {asked["level"]}
    key = table[["task", "test_set", "n_items", "metric", "unit", "n_units"]].drop_duplicates()
    assert key.to_numpy().tolist() == [["t", "s", N, "mean", unit or "cluster", n]]
    assert table["system"].tolist() == sorted(outputs.names, key=dict(zip(table["system"], range(8), strict=True)).get)
    family = dict(zip("hbfagdce", "xyzxywww", strict=True))
    assert table["family"].tolist() == [family[name] for name in table["system"]]


@pytest.mark.parametrize(("n_bootstrap", "seed"), [(99, 0), (600, 0), (600, 3)])
def test_two_systems_differ_where_few_enough_draws_reach_their_gain(n_bootstrap: int, seed: int) -> None:
    """All seven units favour one: draws of one sign reach it, (1 - level)(draws + 1) - 1 of them at most."""
    parts = np.array([np.ones(7), np.zeros(7)])
    gains = GainParts.of_scores(parts.sum(axis=1), parts, unknown=np.zeros(2, dtype=bool))
    blocks = [
        np.unpackbits(np.random.default_rng([seed, block, 0]).integers(0, 256, (7, 64), dtype=np.uint8), axis=1)
        for block in (0, 1)
    ]
    coins = np.concatenate(blocks, axis=1)[:, :n_bootstrap]
    reached = int((coins == coins[0]).all(axis=0).sum())
    for more in (-1, -0.5, 0, 1):
        level = 1 - (reached + 1 + more) / (n_bootstrap + 1)
        found = places(gains, level=level, n_bootstrap=n_bootstrap, seed=seed)
        apart = more >= 0
        assert found.better.tolist() == [[False, apart], [False, False]]
        assert found.may_be_best.tolist() == [True, not apart]
        assert (found.low.tolist(), found.high.tolist()) == ([1, 2] if apart else [1, 1], [1, 2] if apart else [2, 2])
        assert (found.low_own.tolist(), found.high_own.tolist()) == (found.low.tolist(), found.high.tolist())
