from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.calibration import TABLE_1, calibration, expected_wins
from simstudy.outputs import Outputs
from simstudy.truth import correlated_accuracies
from simstudy.truth.redrawn import redraw
from tests.oracles import compared

TRUE = [0.7 + 0.08 * k / 24 for k in range(24)]


@pytest.fixture(scope="module")
def home() -> Outputs:
    return correlated_accuracies(TRUE, 400, families=list("xyz") * 8, seed=1, test_set="home")


@pytest.fixture(scope="module")
def elsewhere() -> Outputs:
    return correlated_accuracies(TRUE, 4000, families=list("xyz") * 8, seed=2, test_set="other")


@pytest.mark.parametrize(
    ("p_value", "where"), [(0.05, (0, 1, 1)), (1.0, (0, 1, 0)), (0.06, (0, 1, 1)), (0.04, (1, 0, 1))]
)
def test_a_bin_has_its_lower_bound_the_last_one_and_the_window_both(
    home: Outputs, elsewhere: Outputs, p_value: float, where: tuple[int, ...]
) -> None:
    pairs = compared(home).assign(relation="all", p_value=p_value).drop(columns="better")
    table = calibration(pairs, {"other": elsewhere}, bins=[0, 0.05, 1], n_bootstrap=2)
    assert table["n_pairs"].tolist() == [found * int((pairs["gain"] > 0).sum()) for found in where]


def normal_pairs(n: int, spread: float, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Pairs whose true gains are normal, ordered by their observed gains, and the true gains of the winners."""
    se = rng.uniform(0.5, 1.5, n)
    true = spread * rng.standard_normal(n)
    observed = true + se * rng.standard_normal(n)
    pairs = pd.DataFrame({"gain": np.abs(observed), "gain_se": se})
    return pairs, true * np.sign(observed)


@pytest.mark.parametrize(("spread", "elsewhere"), [(0.3, np.inf), (1.0, 2.0), (3.0, 0.2), (0.3, 0.2)])
def test_expected_wins_are_what_comes_out_of_the_model(spread: float, elsewhere: float) -> None:
    """100,000 simulated pairs: in every class of p the share that wins is the mean of what was expected."""
    rng = np.random.default_rng(3)
    pairs, true = normal_pairs(100_000, spread, rng)
    there = true + pairs["gain_se"].to_numpy() / np.sqrt(elsewhere) * rng.standard_normal(len(true))
    expected = expected_wins(pairs, elsewhere)
    z = pairs["gain"] / pairs["gain_se"]
    for low, high in ((0, 0.5), (0.5, 1), (1, 1.645), (1.645, 2.5), (2.5, 9)):
        inside = ((z >= low) & (z < high)).to_numpy()
        if inside.sum() > 500:
            error = 5 * np.sqrt(0.25 / inside.sum()) + 0.004
            assert (there[inside] > 0).mean() == pytest.approx(expected[inside].mean(), abs=error)


def test_no_spread_beyond_the_errors_leaves_winners_to_chance() -> None:
    pairs = pd.DataFrame({"gain": [0.1, 0.2, 0.3], "gain_se": 1.0})
    assert expected_wins(pairs).tolist() == [0.5, 0.5, 0.5]
    assert np.isnan(expected_wins(pairs.drop(columns="gain_se"))).all()
    assert np.isnan(expected_wins(pairs.assign(gain_se=np.nan))).all()


def test_redrawn_test_sets_win_as_often_as_expected() -> None:
    """The paper's finding under identical distribution (4.2: 92 % at p of 0.05), here with known truth.

    The truth is a population of 20,000 items, the pairs' gains are spread evenly: of those with p in 0.04-0.06 a
    share near 0.95 must be real, the shares must rise as p falls, and the model must expect about what comes out.
    """
    population = correlated_accuracies(
        [0.7 + 0.06 * k / 30 for k in range(30)], 20_000, between=0.5, within=0.5, seed=8, test_set="population"
    )
    pairs = pd.concat(
        [
            compared(redraw(population, 500, d), test="bootstrap", alternative="greater").assign(draw=d)
            for d in range(12)
        ]
    )
    table = calibration(pairs, {"population": population}, population=True)
    window = table[(table["p_from"] == 0.04) & (table["p_to"] == 0.06)].iloc[0]
    assert window.low < 0.95 < window.high + 0.03
    assert window.share == pytest.approx(0.93, abs=0.05)
    bins = table[table["p_to"] != 0.06].sort_values("p_from")
    assert bins["share"].iloc[0] > 0.98
    assert bins["share"].iloc[-1] < 0.7
    assert bins["share"].diff().max() < 0.03
    assert (bins["share"] - bins["expected"]).abs().max() < 0.06


def test_winners_are_those_that_the_test_prefers(elsewhere: Outputs) -> None:
    pairs = compared(elsewhere)
    other = pairs.assign(better=np.where(np.arange(len(pairs)) % 2, pairs["system_a"], pairs["system_b"]))
    counted = calibration(other, {"same": elsewhere}, bins=[0, 1], min_pairs=1)["n_pairs"].iloc[0]
    kept = pairs[(np.arange(len(pairs)) % 2 == 1) & (pairs["gain"] > 0)]
    assert counted == (kept["relation"] == calibration(kept, {"same": elsewhere}, bins=[0, 1])["relation"][0]).sum()


def test_lower_is_better_elsewhere(home: Outputs) -> None:
    from simstudy.metrics import Ratio

    error = Ratio("error", ("wrong", "total"), False, (1, 0), (0, 1))
    wrong = home.statistics.copy()
    wrong[..., 0] = 1 - wrong[..., 0]
    mirrored = Outputs.from_statistics(wrong, error, home.systems, home.items)
    pairs = compared(home)
    by_error = calibration(pairs, {"same items": mirrored}, min_pairs=1)
    assert (by_error["share"].dropna() == 1).all()


def test_bad_input(home: Outputs, elsewhere: Outputs) -> None:
    pairs = compared(home, n_resamples=100)
    with pytest.raises(ValueError, match="test set 'other' must have the systems of the pairs; it has no 'system-10'"):
        calibration(pairs, {"other": elsewhere.select(elsewhere.names[:9])})
    with pytest.raises(ValueError, match="bins must ascend within 0 and 1"):
        calibration(pairs, {"other": elsewhere}, bins=[0.1, 0.05])
    with pytest.raises(ValueError, match="test set 'other' must be Outputs, or have Outputs for each draw"):
        calibration(pairs, {"other": {1: elsewhere}})
    with pytest.raises(ValueError, match="test set 'other' must have the direction of the pairs"):
        calibration(pairs.assign(metric="accuracy (lower is better)"), {"other": elsewhere})
    one_sided = compared(home, alternative="greater")
    with pytest.raises(ValueError, match="pairs must have one alternative for each test set"):
        calibration(pd.concat([pairs, one_sided]), {"other": elsewhere})


def test_the_papers_bins_are_among_ours() -> None:
    assert set(TABLE_1) >= {0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08}


def test_no_decided_pair_gives_an_empty_table(home: Outputs) -> None:
    twins = home.select(["system-1"]).statistics.repeat(2, axis=0)
    pairs = compared(Outputs.from_statistics(twins, "accuracy", ["a", "b"]), n_resamples=50)
    table = calibration(pairs, {"same": Outputs.from_statistics(twins, "accuracy", ["a", "b"])})
    assert table.empty
    assert "share" in table
