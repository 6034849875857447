"""Intervals over pairs, by plain loops: families are drawn again and bring their pairs along."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.agreement import agreement
from simstudy.comparisons.calibration import calibration, expected_wins
from simstudy.comparisons.thresholds import thresholds
from simstudy.outputs import Outputs
from tests.comparisons.made_up import made_up

RESAMPLES = {"n_bootstrap": 37, "seed": 5}


def drawn(n: int, seed: int = 5) -> np.ndarray:
    """How often each of n is there."""
    return np.random.default_rng(seed).multinomial(n, [1 / n] * n, size=37)


def within_families(n: int, seed: int = 0) -> pd.DataFrame:
    """The pairs of n families of two systems each."""
    rng = np.random.default_rng(seed)
    key = made_up(0).iloc[0][["task", "test_set", "n_items", "metric", "test", "alternative", "unit"]].to_dict()
    family = [f"f{k:02}" for k in range(n)]
    return pd.DataFrame(
        {
            "system_a": [f"{name} better" for name in family], "system_b": [f"{name} worse" for name in family],
            "family_a": family, "family_b": family, "relation": "same family", "convention": "default",
            "gain": rng.uniform(1, 3, n), "p_value": rng.uniform(0.04, 0.06, n), "gain_se": rng.uniform(0.5, 1.5, n),
        }
    ).assign(**key)  # fmt: skip


@pytest.mark.parametrize("n", [40, 41, 39])
def test_thresholds_of_families_of_two(n: int) -> None:
    """Forty pairs in the window have an interval; more, outside of it, are no part of it but for their families."""
    pairs = within_families(n)
    row = thresholds(pairs, **RESAMPLES).iloc[0]
    assert row["threshold"] == np.percentile(pairs["gain"], 95)
    if n < 40:
        assert row["note"] == "too few pairs in the window for an interval: 39, not 40"
        assert (np.isnan(row["low"]), np.isnan(row["high"]), row["interval_for"]) == (True, True, "")
        return
    logs = [np.log(np.percentile(np.repeat(pairs["gain"], counts), 95)) for counts in drawn(n)]
    half = stats.t.ppf(0.975, n - 1) * np.std(logs) * np.sqrt(n / (n - 1))
    shift = np.log(row["threshold"]) - np.mean(logs)
    assert np.log(row["low"]) == pytest.approx(np.log(row["threshold"]) - half + min(shift, 0))
    assert np.log(row["high"]) == pytest.approx(np.log(row["threshold"]) + half + max(shift, 0))
    assert (row["interval_for"], row["note"], row["n_systems"], row["n_pairs"]) == ("other systems", "", 2 * n, n)


def test_the_ends_of_the_window_are_in_it() -> None:
    pairs = within_families(9).assign(p_value=[0.0199, 0.02, 0.021, 0.03, 0.04, 0.05, 0.06, 0.0601, 0.9])
    row = thresholds(pairs, window=(0.02, 0.06), min_pairs=6).iloc[0]
    assert (row["n_window"], row["n_pairs"], row["n_systems"]) == (6, 9, 18)
    assert row["threshold"] == np.percentile(pairs["gain"][1:7], 95)
    assert thresholds(pairs, window=(0.02, 0.06), min_pairs=7)["note"].tolist() == [
        "too few pairs in the window: 6, not 7"
    ]


def outputs_where(wins: np.ndarray, pairs: pd.DataFrame, n: int) -> Outputs:
    """Items on all of which the systems ahead are better (1), as good (0) or worse (-1)."""
    ahead = pd.DataFrame(np.tile(wins, (n, 1)).astype(float), columns=pairs["system_a"])
    behind = pd.DataFrame(np.zeros(ahead.shape), columns=pairs["system_b"])
    return Outputs.from_scores(pd.concat([ahead, behind], axis=1), "mean")


def test_calibration_of_families_of_two_on_two_test_sets_and_draws() -> None:
    """Shares, ties and intervals of each bin and test set, of pairs whose winners differ from draw to draw."""
    rng = np.random.default_rng(3)
    pairs = within_families(30).assign(metric="mean", p_value=rng.uniform(0, 0.3, 30))
    wins = {name: rng.choice([-1, 0, 1], 30, p=[0.3, 0.2, 0.5]) for name in ("near", "far")}
    elsewhere = {name: outputs_where(of, pairs, 70 + len(name)) for name, of in wins.items()}
    table = calibration(pairs, elsewhere, bins=[0, 0.1, 0.2, 0.3], min_pairs=3, **RESAMPLES)
    p, w = pairs["p_value"].to_numpy(), drawn(30)
    assert table["n_items_elsewhere"].tolist() == [74] * 4 + [73] * 4
    assert table["elsewhere"].tolist() == ["near"] * 4 + ["far"] * 4
    for row in table.itertuples():
        inside = (p >= row.p_from) & (p < row.p_to)
        won = wins[row.elsewhere][inside] > 0
        expected = expected_wins(pairs, row.n_items_elsewhere / 300)[inside]
        assert row.expected == pytest.approx(expected.mean()) if inside.any() else np.isnan(row.expected)
        assert (row.n_pairs, row.n_ties) == (inside.sum(), (wins[row.elsewhere][inside] == 0).sum())
        if row.n_pairs < 3:
            assert row.note == f"too few pairs: {row.n_pairs}, not 3"
            assert (np.isnan(row.share), row.interval_for) == (True, "")
            continue
        assert row.share == pytest.approx(won.mean())
        shares = [counts[inside] @ won / counts[inside].sum() for counts in w if counts[inside].any()]
        assert [row.low, row.high] == pytest.approx(np.percentile(shares, [2.5, 97.5]).tolist())
        assert row.interval_for == "other systems"
    whole = calibration(pairs, elsewhere, population=True, bins=[0, 0.3])["expected"].iloc[0]
    assert whole == pytest.approx(expected_wins(pairs).mean())
    least = int(table["n_pairs"].iloc[0])
    at_least = calibration(pairs, elsewhere, bins=[0, 0.1, 0.2, 0.3], min_pairs=least, **RESAMPLES)
    assert np.isfinite(at_least["share"].iloc[0])


def test_each_draw_has_winners_of_its_own() -> None:
    """Two draws of the same pairs: the share counts each in its own, and intervals draw the draws again."""
    rng = np.random.default_rng(4)
    of_draw = {7: rng.choice([-1, 1], 20), 3: rng.choice([-1, 1], 20), 5: np.ones(20)}
    one = within_families(20).assign(metric="mean")
    pairs = pd.concat([one.assign(draw=draw, p_value=rng.uniform(0, 1, 20)) for draw in (3, 7)])
    there = {draw: outputs_where(wins, one, 30 + draw**2) for draw, wins in of_draw.items()}
    there = {draw: outputs.select(outputs.names[::-1]) for draw, outputs in there.items()}
    row = calibration(pairs, {"there": there}, bins=[0, 1], **RESAMPLES).iloc[0]
    assert row["share"] == np.mean([of_draw[3] > 0, of_draw[7] > 0])
    assert row["n_items_elsewhere"] == 55, "the median of 39, 55 and 79"
    rng = np.random.default_rng(5)
    families = rng.multinomial(20, [1 / 20] * 20, size=37)
    draws = rng.multinomial(2, [1 / 2] * 2, size=37)
    won = np.array([of_draw[3] > 0, of_draw[7] > 0])
    shares = [(d @ won @ f) / (d.sum() * f.sum()) for f, d in zip(families, draws, strict=True)]
    assert [row["low"], row["high"]] == pytest.approx(np.percentile(shares, [2.5, 97.5]).tolist())


def test_agreement_of_resampled_systems() -> None:
    """Each test's share over the pairs of the systems that are there, as often as both are."""
    pairs = made_up(2, k=9)
    p_value = np.random.default_rng(1).uniform(0, 0.4, len(pairs))
    both = pd.concat([pairs, pairs.assign(test="sign", p_value=p_value, p_floor=0.001, better=pairs["system_a"])])
    table = agreement(both, reference="sign", alpha=0.1, **RESAMPLES)
    rows = table[table["relation"] == "all pairs"].set_index("test")
    place = {name: k for k, name in enumerate(dict.fromkeys([*pairs["system_a"], *pairs["system_b"]]))}
    for test, members in both.groupby("test"):
        rejected = (
            (members["p_value"] <= 0.1) & (members["p_floor"] <= 0.1) & (members["better"] == members["system_a"])
        )
        shares = []
        for counts in drawn(9):
            weights = [
                counts[place[a]] * counts[place[b]]
                for a, b in zip(members["system_a"], members["system_b"], strict=True)
            ]
            shares.append(np.average(rejected, weights=weights))
        assert rows.loc[test, ["low", "high"]].tolist() == pytest.approx(np.percentile(shares, [2.5, 97.5]).tolist())
        assert rows.loc[test, "share"] == rejected.mean()
