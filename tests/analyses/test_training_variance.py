"""Training sets against test sets: sums and jackknife by hand, and coverage where the truth is known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analyses.training_variance import ALL_FAMILIES, training_variance

REPLICATES = {100: 4, 200: 7}


def trained(
    rng: np.random.Generator, replicates: dict[int, int], n_families: int, sd: float, shared: float, se: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All pairs of systems whose true scores vary by sd over training sets; families have so much of it in common."""
    rows, scores = [], []
    for size, k in replicates.items():
        common = rng.normal(size=k)
        for family in range(n_families):
            true = sd * (np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=k))
            scores += (true + se / np.sqrt(2) * rng.normal(size=k)).tolist()
            rows += [(f"{family}-{size}-{r}", f"family {family}", size, r) for r in range(k)]
    systems = pd.DataFrame(rows, columns=["name", "family", "train_size", "replicate"])
    score = np.array(scores)
    i, j = np.array(list(combinations(range(len(score)), 2))).T
    ahead = score[i] >= score[j]
    i, j = np.where(ahead, i, j), np.where(ahead, j, i)
    gain = score[i] - score[j]
    names = systems["name"].to_numpy()
    pairs = pd.DataFrame(
        {
            "task": "t", "test_set": "s", "n_items": 9, "metric": "accuracy", "test": "z_paired",
            "alternative": "two-sided", "convention": "", "unit": "item", "strata": "", "system_a": names[i],
            "system_b": names[j], "gain": gain, "gain_se": se, "p_two_sided": 2 * stats.norm.sf(gain / se),
        }
    )  # fmt: skip
    return pairs, systems


def test_sums_and_jackknife_are_those_by_hand() -> None:
    pairs, systems = trained(np.random.default_rng(5), REPLICATES, 2, 1.0, 0.5, 0.8)
    table = training_variance(pairs, systems).set_index(["family", "train_size"])
    at = systems.set_index("name")

    def of(size: int, without: int | None = None) -> tuple[float, float, float]:
        gains, found = [], []
        for row in pairs.itertuples():
            a, b = at.loc[row.system_a], at.loc[row.system_b]
            same = a["family"] == b["family"] and a["train_size"] == b["train_size"] == size
            if same and without not in (a["replicate"], b["replicate"]):
                gains.append(row.gain)
                found.append(row.p_two_sided <= 0.05)
        return float(np.sqrt(np.mean(np.square(gains)))) / 0.8, sum(found), len(found)

    ratio, found, n_pairs = of(200)
    row = table.loc[(ALL_FAMILIES, 200)]
    assert row["n_pairs"] == n_pairs == 2 * 21
    assert row["ratio"] == pytest.approx(ratio)
    assert row["share"] == pytest.approx(found / n_pairs)
    assert row["sd_training"] == pytest.approx(0.8 * np.sqrt((ratio**2 - 1) / 2))
    left = [of(200, without=r) for r in range(7)]
    logs = np.log([one[0] for one in left])
    reach = stats.t.isf(0.025, 6) * np.sqrt(6 / 7 * ((logs - logs.mean()) ** 2).sum())
    assert row[["low", "high"]].tolist() == pytest.approx([ratio * np.exp(-reach), ratio * np.exp(reach)])
    logs = np.log([one[1] / (one[2] - one[1]) for one in left])
    reach = stats.t.isf(0.025, 6) * np.sqrt(6 / 7 * ((logs - logs.mean()) ** 2).sum())
    odds = found / (n_pairs - found) * np.exp([-reach, reach])
    assert row[["share_low", "share_high"]].tolist() == pytest.approx((odds / (1 + odds)).tolist())


def test_rows_are_families_by_size_then_sizes_then_all() -> None:
    pairs, systems = trained(np.random.default_rng(5), REPLICATES, 2, 1.0, 0.5, 0.8)
    table = training_variance(pairs, systems)
    found = [*zip(table["family"], table["train_size"].fillna(0).astype(int), table["n_pairs"], strict=True)]
    assert sorted(found[:4]) == sorted(
        [(f"family {family}", size, k * (k - 1) // 2) for family in (0, 1) for size, k in REPLICATES.items()]
    )
    assert sorted(found[4:6]) == [(ALL_FAMILIES, 100, 12), (ALL_FAMILIES, 200, 42)]
    assert found[6] == (ALL_FAMILIES, 0, 54)
    few = table[table["train_size"] == 100]
    assert few["low"].isna().all()
    assert set(few["note"]) == {"too few training sets for an interval: 4"}


def test_equal_systems_have_no_training_variance_beyond_zero() -> None:
    pairs, systems = trained(np.random.default_rng(5), {10: 6}, 1, 0.0, 0.0, 1.0)
    (row,) = training_variance(pairs.assign(gain=0.5), systems).to_dict("records")
    assert row["ratio"] == pytest.approx(0.5)
    assert row["sd_training"] == 0


def test_bad_input_is_named() -> None:
    pairs, systems = trained(np.random.default_rng(5), {10: 3}, 1, 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="two systems of one family and one train_size"):
        training_variance(pairs, systems.assign(train_size=range(3)))
    with pytest.raises(ValueError, match=r"alpha must lie between 0 and 1.*not 1\.5"):
        training_variance(pairs, systems, alpha=1.5)
    with pytest.raises(ValueError, match="one test set, not of 2"):
        training_variance(pd.concat([pairs, pairs.assign(test_set="other")]), systems)
    with pytest.raises(ValueError, match="no column replicate"):
        training_variance(pairs, systems.drop(columns="replicate"))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("sd", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize("replicates", [{1: 5, 2: 10, 3: 10}, {1: 10, 2: 15, 3: 15}, {1: 20}])
def test_intervals_cover(replicates: dict[int, int], shared: float, sd: float) -> None:
    rng = np.random.default_rng(11)
    ratio = np.sqrt(2 * sd**2 + 1)
    share = 2 * stats.norm.sf(stats.norm.isf(0.025) / ratio)
    rows = [
        training_variance(*trained(rng, replicates, 3, sd, shared, 1.0)).iloc[-1][
            ["low", "high", "share_low", "share_high"]
        ]
        for _ in range(400)
    ]
    table = pd.DataFrame(rows).astype(float)
    covered = table["low"].le(ratio) & table["high"].ge(ratio)
    # Measured: 0.87 to 0.95; the standard error of a share here is below 0.017.
    assert covered.mean() > 0.82
    known = table.dropna()
    share_covered = known["share_low"].le(share) & known["share_high"].ge(share)
    assert share_covered.mean() > 0.87
