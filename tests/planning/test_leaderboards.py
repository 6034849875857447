"""What a fresh test set will show: against the truth, brute force, and fresh test sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.planning.leaderboards import posterior, predict
from tests.oracles import compared

ACCURACIES = [0.60 + k / 60 for k in range(14)]


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    return ss.truth.correlated_accuracies(ACCURACIES, 500, families=list("aabbccddeeffgg"), seed=5)


def test_scores_are_drawn_together_by_the_part_that_is_error() -> None:
    """James and Stein's: of independent errors with variance 4, of scores with variance 13."""
    scores = np.array([-5.0, -1.0, 1.0, 5.0, 2.0, -2.0])
    found = posterior(scores, 4 * np.eye(6), np.ones(6))
    part = 1 - 4 / scores.var(ddof=1)
    np.testing.assert_allclose(found.mean, part * scores)
    np.testing.assert_allclose(found.root @ found.root.T, part * 4 * np.eye(6))


def test_equal_errors_of_variants_leave_their_difference_known() -> None:
    covariance = np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 4.0]])
    found = posterior(np.array([10.0, 9.0, -20.0]), covariance, np.ones(3))
    spread = found.root @ found.root.T
    assert spread[0, 0] + spread[1, 1] - 2 * spread[0, 1] == pytest.approx(0, abs=1e-9)


def test_large_pilots_predict_what_fresh_test_sets_show() -> None:
    """Medians of 40 fresh test sets, from 20,000 items of the same systems."""
    known = ss.truth.correlated_accuracies(ACCURACIES, 20_000, seed=6)
    row = predict(known, [300], n_draws=400).iloc[0]
    shown = []
    for seed in range(40):
        pairs = compared(ss.truth.correlated_accuracies(ACCURACIES, 300, seed=100 + seed), test="mcnemar")
        ranks = ss.ranks(pairs).iloc[0]
        groups = ss.groups(pairs, rule="greedy", p="p_value")["group"].max()
        share = float(((pairs["p_value"] <= 0.05) & (pairs["gain"] > 0)).mean())
        shown.append((share, ranks["n_separated"], ranks["n_separated_holm"], groups))
    fresh = pd.DataFrame(shown, columns=["share_significant", "separated", "separated_corrected", "ranks"])
    assert row["share_significant"] == pytest.approx(fresh["share_significant"].median(), abs=0.03)
    for name in ("separated", "separated_corrected", "ranks"):
        assert abs(row[name] - fresh[name].median()) <= 1
    inside = fresh["share_significant"].between(row["share_significant_low95"], row["share_significant_high95"])
    assert inside.mean() >= 0.85


def test_relations_are_rows_and_numbers_do_not_hang_on_the_sizes_asked_with_them(outputs: ss.Outputs) -> None:
    table = predict(outputs, [200, 800], by="family", n_draws=100)
    assert table["relation"].unique().tolist() == ["same family", "different families", "all pairs"]
    assert table.groupby("relation")["n_pairs"].first().to_dict() == {
        "same family": 7, "different families": 84, "all pairs": 91,
    }  # fmt: skip
    alone = predict(outputs, [800], by="family", n_draws=100)
    pd.testing.assert_frame_equal(alone, table[table["n_units"] == 800].reset_index(drop=True))
    assert table.loc[table["relation"] != "all pairs", "ranks"].isna().all()


def test_what_cannot_be_predicted_is_told(outputs: ss.Outputs) -> None:
    with pytest.raises(ValueError, match="at least three systems"):
        predict(outputs.select(outputs.names[:2]), [100])
    with pytest.raises(ValueError, match="at least 10 items"):
        predict(outputs.head(9), [100])
    with pytest.raises(ValueError, match="n_units must be at least 2"):
        predict(outputs, [1])


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("k", "n", "wanted", "skewed"), [(30, 400, 400, True), (12, 400, 1600, False), (20, 100, 400, False)]
)
def test_prediction_intervals_cover(k: int, n: int, wanted: int, skewed: bool) -> None:
    """Of 100 leaderboards: 80 % intervals hold 65 % and more, 95 % intervals 85 % and more; counts more still."""
    names = ("share_significant", "separated", "ranks")
    inside = {(name, share): 0 for name in names for share in (80, 95)}
    for seed in range(100):
        rng = np.random.default_rng([k, n, seed])
        spread = -0.08 * rng.gamma(1.0, 1.0, k) + 0.85 if skewed else 0.7 + 0.05 * rng.normal(size=k)
        true = np.clip(spread, 0.02, 0.98).tolist()
        row = predict(
            ss.truth.correlated_accuracies(true, n, seed=2 * seed + 1), [wanted], n_draws=200, seed=seed
        ).iloc[0]
        pairs = compared(ss.truth.correlated_accuracies(true, wanted, seed=2 * seed + 2), test="mcnemar")
        shown = {
            "share_significant": float(((pairs["p_value"] <= 0.05) & (pairs["gain"] > 0)).mean()),
            "separated": float(ss.ranks(pairs)["n_separated"].iloc[0]),
            "ranks": float(ss.groups(pairs, rule="greedy", p="p_value")["group"].max()),
        }
        for name, share in inside:
            inside[name, share] += row[f"{name}_low{share}"] <= shown[name] <= row[f"{name}_high{share}"]
    print(k, n, wanted, inside)
    assert all(count >= (65 if share == 80 else 85) for (_, share), count in inside.items())


@pytest.mark.parametrize("level", [ss.Level(alternative="greater"), ss.Level(comparisons=45)])
def test_neighbours_are_told_apart_by_two_sides_whatever_pairs_are_asked(outputs: ss.Outputs, level: ss.Level) -> None:
    """As `ranks` does it: who of two neighbours is ahead nobody said beforehand, and Holm has a row of its own."""
    usual, asked = (predict(outputs, [300], level=one, n_draws=200).iloc[0] for one in (ss.Level(), level))
    same = [name for name in usual.index if name.startswith("separated")]
    assert len(same) >= 2
    assert usual[same].tolist() == asked[same].tolist()
    assert usual["share_significant"] != asked["share_significant"]
