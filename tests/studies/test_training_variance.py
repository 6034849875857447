"""Training sets against test sets: variances by hand, and coverage where the truth is known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.outputs import Outputs
from simstudy.studies.resampling.training_variance import ALL_FAMILIES, training_variance
from tests.oracles import compared

N_ITEMS = 60
REPLICATES = {100: 4, 200: 7}


def trained(rng: np.random.Generator, replicates: dict[int, int], n_families: int, sd: float, shared: float) -> Outputs:
    """Systems whose true scores vary by sd over training sets; families have the share `shared` of that in common.

    Item scores have variance 3: 1 of the item, 1 of the family on the item, 1 of the system on the item.
    """
    rows, scores = [], []
    hard, families = rng.normal(size=N_ITEMS), rng.normal(size=(n_families, N_ITEMS))
    for size, k in replicates.items():
        common = rng.normal(size=k)
        for family in range(n_families):
            true = sd * (np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.normal(size=k))
            scores.append(true[:, None] + hard + families[family] + rng.normal(size=(k, N_ITEMS)))
            rows += [(f"{family}-{size}-{r}", f"family {family}", size, r) for r in range(k)]
    systems = pd.DataFrame(rows, columns=["name", "family", "train_size", "replicate"])
    frame = pd.DataFrame(np.concatenate(scores).T, columns=systems["name"].tolist())
    return Outputs.from_scores(frame, "mean", systems)


@pytest.fixture(scope="module")
def outputs() -> Outputs:
    return trained(np.random.default_rng(5), REPLICATES, 2, 0.2, 0.5)


@pytest.fixture(scope="module")
def pairs(outputs: Outputs) -> pd.DataFrame:
    return compared(outputs, test="t_paired")


def by_hand(outputs: Outputs, size: int, without: int | None = None) -> dict[str, float]:
    """From differences of item scores, pair by pair of training sets."""
    frame = pd.DataFrame(outputs.statistics[:, :, 0].T, columns=outputs.names)
    kept = [r for r in range(REPLICATES[size]) if r != without]
    same_gain, same_error, own, shared, error = [], [], [], [], []

    def of(values: pd.Series) -> tuple[float, float]:
        return float(values.mean()) ** 2, float(values.var(ddof=1)) / N_ITEMS

    for r, s in combinations(kept, 2):
        apart = 0.0
        for family in (0, 1):
            gain, by_items = of(frame[f"{family}-{size}-{r}"] - frame[f"{family}-{size}-{s}"])
            same_gain.append(gain)
            same_error.append(by_items)
            apart += (gain - by_items) / 2
        own.append(apart)
        first, second = (frame[f"0-{size}-{k}"] - frame[f"1-{size}-{k}"] for k in (r, s))
        gain, by_items = of(first - second)
        shared.append((gain - by_items) / 2)
    error = [of(frame[f"0-{size}-{r}"] - frame[f"1-{size}-{r}"])[1] for r in kept]
    return {
        "ratio": np.sqrt(np.mean(same_gain) / np.mean(same_error)),
        "rms_gain": np.sqrt(np.mean(same_gain)),
        "rms_se": np.sqrt(np.mean(same_error)),
        "sd_training": np.sqrt(np.mean(own) / 2),
        "rms_se_methods": np.sqrt(np.mean(error)),
        "ratio_own": np.sqrt(1 + np.mean(own) / np.mean(error)),
        "ratio_shared": np.sqrt(1 + np.mean(shared) / np.mean(error)),
    }


def test_variances_and_jackknife_are_those_by_hand(outputs: Outputs, pairs: pd.DataFrame) -> None:
    table = training_variance(pairs, outputs).set_index(["family", "train_size"])
    row = table.loc[(ALL_FAMILIES, 200)]
    expected = by_hand(outputs, 200)
    assert row[[*expected]].to_dict() == pytest.approx(expected)
    left = [by_hand(outputs, 200, without=r) for r in range(7)]
    for name in ("ratio", "ratio_own", "ratio_shared"):
        logs = np.log([one[name] for one in left])
        reach = stats.t.isf(0.025, 6) * np.sqrt(6 / 7 * ((logs - logs.mean()) ** 2).sum())
        bounds = [expected[name] * np.exp(-reach), expected[name] * np.exp(reach)]
        assert row[[f"{name}_low", f"{name}_high"]].tolist() == pytest.approx(bounds)


def test_rows_are_families_by_size_then_sizes(outputs: Outputs, pairs: pd.DataFrame) -> None:
    table = training_variance(pairs, outputs)
    found = [*zip(table["family"], table["train_size"], table["n_pairs"], strict=True)]
    assert sorted(found[:4]) == sorted(
        [(f"family {family}", size, k * (k - 1) // 2) for family in (0, 1) for size, k in REPLICATES.items()]
    )
    assert sorted(found[4:]) == [(ALL_FAMILIES, 100, 12), (ALL_FAMILIES, 200, 42)]
    few = table[table["train_size"] == 100]
    assert few[["ratio_low", "ratio_own_low", "share_low"]].isna().all(axis=None)
    assert set(few["note"]) == {"too few training sets for an interval: 4"}
    assert table.loc[table["family"] != ALL_FAMILIES, "ratio_own"].isna().all()


def test_a_shared_training_set_that_moves_both_alike_costs_nothing() -> None:
    outputs = trained(np.random.default_rng(6), {10: 8}, 2, 3.0, 1.0)
    row = training_variance(compared(outputs, test="t_paired"), outputs).iloc[-1]
    # Own noise of 8 systems is left of the shared one; 3^2 times 2 over 4 / 60 is that of training sets of their own.
    assert row["ratio_shared"] == pytest.approx(1, abs=0.35)
    assert row["ratio_own"] > 5


def test_documents_are_units(outputs: Outputs) -> None:
    items = pd.DataFrame({"id": [str(i) for i in range(N_ITEMS)], "cluster": [f"d{i // 6}" for i in range(N_ITEMS)]})
    clustered = Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.systems, items)
    table = training_variance(compared(clustered, test="t_paired"), clustered)
    summed = clustered.sum_by("cluster")
    by_sums = training_variance(compared(summed, test="t_paired", unit="item"), summed)
    assert table["rms_se"].tolist() == pytest.approx(by_sums["rms_se"].tolist())
    assert set(table["unit"]) == {"cluster"}


def test_systems_that_no_item_tells_apart_have_no_ratio() -> None:
    systems = pd.DataFrame({"name": [*"abcd"], "family": [*"xxyy"], "train_size": 5, "replicate": [1, 2, 1, 2]})
    alike = Outputs.from_scores(pd.DataFrame({name: [1, 0, 1] for name in "abcd"}), "accuracy", systems)
    # Standard errors of identical systems are missing: a pair that has one is needed.
    pairs = compared(alike).assign(gain_se=1.0)
    table = training_variance(pairs, alike)
    assert table[["ratio", "ratio_own", "ratio_shared"]].isna().all(axis=None)
    assert set(table["share"]) == {0.0}


def test_bad_input_is_named(outputs: Outputs, pairs: pd.DataFrame) -> None:
    alone = outputs.select(["0-100-0", "1-100-0", "0-200-0"])
    with pytest.raises(ValueError, match="pairs must include two systems of one family and train_size"):
        training_variance(compared(alone, test="t_paired"), alone)
    with pytest.raises(ValueError, match=r"alpha must lie between 0 and 1.*not 1\.5"):
        training_variance(pairs, outputs, alpha=1.5)
    with pytest.raises(ValueError, match="one test set, not of 2"):
        training_variance(pd.concat([pairs, pairs.assign(test_set="other")]), outputs)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("sd", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize("n_sets", [5, 10, 20])
def test_intervals_cover(n_sets: int, shared: float, sd: float) -> None:
    rng = np.random.default_rng(11)
    within, across = 2 / N_ITEMS, 4 / N_ITEMS
    truth = {
        "ratio": np.sqrt(1 + 2 * sd**2 / within),
        "ratio_own": np.sqrt(1 + 2 * sd**2 / across),
        "ratio_shared": np.sqrt(1 + 2 * sd**2 * (1 - shared) / across),
    }
    rows = []
    for _ in range(400):
        outputs = trained(rng, {1: n_sets}, 3, sd, shared)
        rows.append(training_variance(compared(outputs, test="z_paired"), outputs).iloc[-1])
    table = pd.DataFrame(rows)
    for name, true in truth.items():
        known = table.dropna(subset=[f"{name}_low"])
        covered = known[f"{name}_low"].le(true) & known[f"{name}_high"].ge(true)
        assert covered.mean() > 0.85, (name, covered.mean(), len(known))


def test_shares_and_their_intervals_by_plain_loops() -> None:
    """Of families that lack some training sets, one of them with two alone; p-values are made up, two-sided ones count.

    Intervals are the jackknife's of the odds, by training sets of either family; five are enough, four are not.
    """
    rng = np.random.default_rng(9)
    sets = {"north": (1, 2, 4, 5, 9), "south": (2, 4), "east": (1, 2, 4, 9)}
    systems = pd.DataFrame(
        [(f"{family}{r}{size}", family, size, r) for size in (10, 30) for family, own in sets.items() for r in own],
        columns=["name", "family", "train_size", "replicate"],
    )
    frame = pd.DataFrame(rng.normal(size=(40, len(systems))), columns=systems["name"].tolist())
    outputs = Outputs.from_scores(frame, "mean", systems)
    pairs = compared(outputs, test="t_paired", alternative="greater")
    pairs = pairs.assign(p_two_sided=rng.uniform(0, 1, len(pairs)), p_value=rng.uniform(0, 1, len(pairs)))
    pairs["better"], pairs["p_floor"] = pairs["system_a"], 0.001
    pairs.loc[rng.random(len(pairs)) < 0.1, "gain_se"] = np.nan
    table = training_variance(pairs, outputs, alpha=0.4).set_index(["train_size", "family"])
    at = systems.set_index("name")
    for (size, families), row in table.iterrows():
        members = []
        for pair in pairs.itertuples():
            one, other = at.loc[pair.system_a], at.loc[pair.system_b]
            same = one["family"] == other["family"] and one["train_size"] == other["train_size"] == size
            if same and families in (one["family"], ALL_FAMILIES) and np.isfinite(pair.gain_se):
                members.append((one["replicate"], other["replicate"], pair.p_two_sided <= 0.4))
        found = [significant for *_, significant in members]
        assert (row["n_pairs"], row["share"], row["alpha"]) == (len(found), pytest.approx(np.mean(found)), 0.4)
        every = sets[families] if families != ALL_FAMILIES else sorted({r for own in sets.values() for r in own})
        n = len(every)
        assert row["n_training_sets"] == n
        assert (row["interval_for"] == "", row["note"] != "") == (n < 5, n < 5)
        assert row[["metric", "unit", "test"]].tolist() == ["mean", "item", "t_paired"]
        left = [[significant for a, b, significant in members if out not in (a, b)] for out in every]
        if n < 5 or any(np.mean(one or [0]) in (0, 1) for one in left):
            assert row[["share_low", "share_high"]].isna().all()
            continue
        logs = np.log([np.mean(one) / (1 - np.mean(one)) for one in left])
        half = stats.t.isf(0.025, n - 1) * np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum())
        odds = np.mean(found) / (1 - np.mean(found)) * np.exp([-half, half])
        assert row[["share_low", "share_high"]].tolist() == pytest.approx((odds / (1 + odds)).tolist())
    assert table["share_low"].notna().any()
    # Two training sets: half the squared difference of the scores.
    scores = dict(zip(outputs.names, outputs.scores(), strict=True))
    south = table.loc[(10, "south")]
    assert south["rms_gain"] == pytest.approx(abs(scores["south210"] - scores["south410"]))
    error = (frame["south210"] - frame["south410"]).std() / np.sqrt(40)
    assert south["rms_se"] == pytest.approx(error)
    assert south["ratio"] == pytest.approx(south["rms_gain"] / error)
    both = training_variance(pairs, outputs.select([name for name in outputs.names if name[:4] != "east"]))
    assert both.iloc[-1][["rms_se_methods", "ratio_own", "ratio_shared"]].notna().all()


def test_a_score_that_may_be_undefined_has_no_ratio() -> None:
    """Without one of the items the precision of one system is 0 / 0: what it varies by is not known."""
    rng = np.random.default_rng(3)
    counts = np.concatenate([rng.integers(1, 4, (6, 20, 1)), np.full((6, 20, 2), 5)], axis=-1)
    counts[0, 1:, :2] = 0
    systems = pd.DataFrame({"name": list("abcdef"), "family": [*"xxxyyy"], "train_size": 5, "replicate": [1, 2, 3] * 2})
    outputs = Outputs.from_statistics(counts, "precision", systems)
    table = training_variance(compared(outputs).assign(gain_se=1.0), outputs).set_index("family")
    assert np.isnan(table.loc["x", "ratio"])
    assert np.isfinite(table.loc["y", "ratio"])
