from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.analyses.calibration import TABLE_1, calibration
from simstudy.engines.comparisons import compare
from simstudy.generators.redrawn import redraw
from simstudy.generators.synthetic import correlated_accuracies
from simstudy.outputs import Outputs

TRUE = [0.7 + 0.08 * k / 24 for k in range(24)]


@pytest.fixture(scope="module")
def home() -> Outputs:
    return correlated_accuracies(TRUE, 400, families=list("xyz") * 8, seed=1, test_set="home")


@pytest.fixture(scope="module")
def elsewhere() -> Outputs:
    return correlated_accuracies(TRUE, 4000, families=list("xyz") * 8, seed=2, test_set="other")


def test_shares_are_counted(home: Outputs, elsewhere: Outputs) -> None:
    pairs = compare(home, n_resamples=3000)
    table = calibration(pairs, {"other": elsewhere}, min_pairs=1)
    scores = dict(zip(elsewhere.names, elsewhere.scores(), strict=True))
    decided = pairs[pairs["gain"] > 0]
    bins = table[(table["relation"] == "all pairs") & ~((table["p_from"] == 0.04) & (table["p_to"] == 0.06))]
    assert bins["n_pairs"].sum() == len(decided)
    for row in table.itertuples():
        members = decided if row.relation == "all pairs" else decided[decided["relation"] == row.relation]
        if (row.p_from, row.p_to) == (0.04, 0.06) or row.p_to == 1:
            inside = members[(members["p_value"] >= row.p_from) & (members["p_value"] <= row.p_to)]
        else:
            inside = members[(members["p_value"] >= row.p_from) & (members["p_value"] < row.p_to)]
        gains = [scores[a] - scores[b] for a, b in zip(inside["system_a"], inside["system_b"], strict=True)]
        assert (row.n_pairs, row.n_ties) == (len(inside), sum(g == 0 for g in gains))
        if gains:
            assert row.share == pytest.approx(np.mean([g > 0 for g in gains]))
            assert row.confidence == pytest.approx(1 - inside["p_value"].mean())
            assert row.low <= row.share + 1e-12
            assert row.share <= row.high + 1e-12


def test_interval_resamples_systems_and_draws(home: Outputs, elsewhere: Outputs) -> None:
    """By brute force over two draws: systems and draws are resampled, pairs counted by the products."""
    pairs = pd.concat([compare(redraw(home, 300, d), n_resamples=500).assign(draw=d) for d in (1, 2, 3)])
    bounds = [0.05, 0.5]
    table = calibration(pairs, {"other": elsewhere}, bins=bounds, n_bootstrap=3000)
    row = table[(table["relation"] == "all pairs") & (table["p_to"] == 0.5)].iloc[0]
    scores = pd.Series(elsewhere.scores(), elsewhere.names)
    inside = pairs[(pairs["p_value"] >= 0.05) & (pairs["p_value"] <= 0.5) & (pairs["gain"] > 0)]
    wins = scores[inside["system_a"]].to_numpy() > scores[inside["system_b"]].to_numpy()
    rng = np.random.default_rng(4)
    shares = []
    for _ in range(3000):
        systems = pd.Series(rng.multinomial(24, [1 / 24] * 24), elsewhere.names)
        draws = pd.Series(rng.multinomial(3, [1 / 3] * 3), [1, 2, 3])
        weights = systems[inside["system_a"]].to_numpy() * systems[inside["system_b"]].to_numpy()
        weights = weights * draws[inside["draw"]].to_numpy()
        shares.append((weights * wins).sum() / weights.sum())
    low, high = np.percentile(shares, [2.5, 97.5])
    assert row.low == pytest.approx(low, abs=0.02)
    assert row.high == pytest.approx(high, abs=0.02)
    assert row.high - row.low > 0.05


def test_redrawn_test_sets_keep_the_promise_of_their_p_values() -> None:
    """The paper's finding under identical distribution (4.2: 92 % at p of 0.05), here with known truth.

    The truth is a population of 20,000 items, the pairs' gains are spread evenly: of those with p in 0.04-0.06 a
    share near 0.95 must be real, and the shares must rise as p falls.
    """
    population = correlated_accuracies(
        [0.7 + 0.06 * k / 30 for k in range(30)], 20_000, between=0.5, within=0.5, seed=8, test_set="population"
    )
    pairs = pd.concat([compare(redraw(population, 500, d), n_resamples=2000, seed=d).assign(draw=d) for d in range(12)])
    table = calibration(pairs, {"population": population})
    window = table[(table["p_from"] == 0.04) & (table["p_to"] == 0.06)].iloc[0]
    assert window.low < 0.95 < window.high + 0.03
    assert window.share == pytest.approx(0.93, abs=0.05)
    bins = table[table["p_to"] != 0.06].sort_values("p_from")
    assert bins["share"].iloc[0] > 0.98
    assert bins["share"].iloc[-1] < 0.7
    assert bins["share"].diff().max() < 0.03


def test_lower_is_better_elsewhere(home: Outputs) -> None:
    from simstudy.metrics import Ratio

    error = Ratio("error", ("wrong", "total"), False, (1, 0), (0, 1))
    wrong = home.statistics.copy()
    wrong[..., 0] = 1 - wrong[..., 0]
    mirrored = Outputs.from_statistics(wrong, error, home.systems, home.items)
    pairs = compare(home, n_resamples=300)
    by_error = calibration(pairs, {"same items": mirrored}, min_pairs=1)
    assert (by_error["share"].dropna() == 1).all()


def test_too_few_pairs_give_no_share(home: Outputs, elsewhere: Outputs) -> None:
    table = calibration(compare(home, n_resamples=300).head(15), {"other": elsewhere})
    assert table["share"].isna().all()
    assert table["note"].str.match(r"too few pairs: \d+, not 20").all()


def test_bad_input(home: Outputs, elsewhere: Outputs) -> None:
    pairs = compare(home, n_resamples=100)
    with pytest.raises(ValueError, match="test set 'other' must have the systems of the pairs; it has no 'system-10'"):
        calibration(pairs, {"other": elsewhere.select(elsewhere.names[:9])})
    with pytest.raises(ValueError, match="bins must ascend within 0 and 1"):
        calibration(pairs, {"other": elsewhere}, bins=[0.1, 0.05])
    with pytest.raises(ValueError, match="elsewhere must have at least one test set"):
        calibration(pairs, {})
    with pytest.raises(ValueError, match="min_pairs must be at least 1, not 0"):
        calibration(pairs, {"other": elsewhere}, min_pairs=0)


def test_the_papers_bins_are_among_ours() -> None:
    assert set(TABLE_1) >= {0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08}


def test_no_decided_pair_gives_an_empty_table(home: Outputs) -> None:
    twins = home.select(["system-1"]).statistics.repeat(2, axis=0)
    pairs = compare(Outputs.from_statistics(twins, "accuracy", ["a", "b"]), n_resamples=50)
    table = calibration(pairs, {"same": Outputs.from_statistics(twins, "accuracy", ["a", "b"])})
    assert table.empty
    assert "share" in table


def test_equal_means_of_decimals_are_ties_elsewhere() -> None:
    frame = pd.DataFrame({"b": [0.1, 0.2, 0.3, 0.0], "a": [0.3, 0.2, 0.1, 0.0]})
    home_scores = pd.DataFrame({"b": [0.9, 0.8, 0.9], "a": [0.1, 0.2, 0.1]})
    pairs = compare(Outputs.from_scores(home_scores), n_resamples=200)
    table = calibration(pairs, {"tied": Outputs.from_scores(frame)}, bins=[0, 1], min_pairs=1)
    assert table.loc[0, ["n_ties", "share"]].tolist() == [1, 0.0]


def test_a_two_sided_p_promises_more_for_the_winner(home: Outputs, elsewhere: Outputs) -> None:
    pairs = compare(home, n_resamples=300, alternative="two-sided")
    row = calibration(pairs, {"other": elsewhere}, bins=[0, 1]).iloc[-2]
    assert row.confidence == pytest.approx(1 - pairs.loc[pairs["gain"] > 0, "p_value"].mean() / 2)
