from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analyses.significant_gains import just_significant, significant_gains
from simstudy.engines.comparisons import compare
from simstudy.generators.synthetic import correlated_accuracies

NUMBERS = ["median", "median_low", "median_high", "p95", "p95_low", "p95_high"]


def normal_pairs(z: np.ndarray, errors: np.ndarray | float, *, two_sided: bool = False, k: int = 12) -> pd.DataFrame:
    """Pairs of k systems, whose gains are z standard errors, with the p-values of the normal distribution."""
    two = list(combinations([f"s{n:02}" for n in range(k)], 2))[: len(z)]
    return pd.DataFrame(two, columns=["system_a", "system_b"]).assign(
        task="t", test_set="s", n_items=100, metric="accuracy", relation="different groups",
        alternative="two-sided" if two_sided else "greater", gain=z * errors,
        p_value=stats.norm.sf(z) * (2 if two_sided else 1),
    )  # fmt: skip


@pytest.mark.parametrize(("two_sided", "critical"), [(False, 1.644854), (True, 1.959964)])
def test_a_common_standard_error_gives_the_critical_value_times_it(two_sided: bool, critical: float) -> None:
    """Whatever its own p-value, each pair tells the same: the textbook's 1.645 s, or 1.96 s for both tails."""
    pairs = normal_pairs(np.linspace(0.9, 3.5, 60), 0.7, two_sided=two_sided)
    row = significant_gains(pairs).iloc[0]
    np.testing.assert_allclose(row[NUMBERS].to_numpy(float), critical * 0.7, rtol=1e-6)
    assert (row["n_window"], row["n_pairs"], row["n_systems"]) == (pairs["p_value"].between(0.0001, 0.3).sum(), 60, 12)


def test_percentiles_are_those_of_the_standard_errors(rng: np.random.Generator) -> None:
    errors = rng.uniform(0.2, 2.0, 66)
    z = rng.uniform(0, 4.5, 66)
    pairs = normal_pairs(z, errors)
    row = significant_gains(pairs, alpha=0.01).iloc[0]
    inside = (stats.norm.sf(z) >= 0.0001) & (stats.norm.sf(z) <= 0.3)
    assert 10 < row["n_window"] == inside.sum() < 66
    assert row["median"] == pytest.approx(2.326348 * np.median(errors[inside]), rel=1e-6)
    assert row["p95"] == pytest.approx(2.326348 * np.percentile(errors[inside], 95), rel=1e-6)
    assert row["median_low"] < row["median"] < row["median_high"]
    assert row["p95_low"] <= row["p95"] <= row["p95_high"]


def test_interval_resamples_systems(rng: np.random.Generator) -> None:
    """By brute force: a new collection of systems, each pair there as often as the product of its systems."""
    pairs = normal_pairs(rng.uniform(0.6, 3.0, 190), rng.gamma(4, size=190), k=20)
    row = significant_gains(pairs, n_bootstrap=3000).iloc[0]
    names = sorted({*pairs["system_a"], *pairs["system_b"]})
    errors = pairs["gain"] / stats.norm.isf(pairs["p_value"])
    found = []
    for _ in range(2000):
        drawn = dict(zip(names, rng.multinomial(20, [1 / 20] * 20), strict=True))
        repeats = [drawn[a] * drawn[b] for a, b in zip(pairs["system_a"], pairs["system_b"], strict=True)]
        found.append(1.644854 * np.percentile(np.repeat(errors, repeats), [50, 95]))
    low, high = np.percentile(found, [2.5, 97.5], axis=0)
    np.testing.assert_allclose(row[["median_low", "p95_low"]].to_numpy(float), low, rtol=0.06)
    np.testing.assert_allclose(row[["median_high", "p95_high"]].to_numpy(float), high, rtol=0.06)


def test_a_pair_at_the_level_keeps_its_gain_and_the_scale_is_the_gains() -> None:
    pairs = normal_pairs(np.linspace(0.6, 3.0, 60), np.linspace(1, 2, 60))
    np.testing.assert_allclose(just_significant(pairs.assign(p_value=0.02), 0.02), pairs["gain"])
    as_percent = significant_gains(pairs.assign(gain=100 * pairs["gain"]))[NUMBERS]
    np.testing.assert_allclose(as_percent, 100 * significant_gains(pairs)[NUMBERS])


def test_each_pair_is_taken_by_its_own_alternative() -> None:
    z = np.array([1.0, 2.0])
    pairs = pd.concat([normal_pairs(z, 3.0), normal_pairs(z, 3.0, two_sided=True)])
    np.testing.assert_allclose(just_significant(pairs), [4.934560, 4.934560, 5.879892, 5.879892], rtol=1e-6)


def test_window_has_both_ends_and_no_ties_of_scores() -> None:
    pairs = normal_pairs(np.linspace(1, 2, 20), 1.0).assign(p_value=[0.1] * 5 + [0.2] * 5 + [0.3] * 5 + [0.05] * 5)
    assert significant_gains(pairs, window=(0.1, 0.3))["n_window"].tolist() == [15]
    tied = pairs.assign(gain=np.where(pairs["p_value"] == 0.1, 0.0, pairs["gain"]))
    assert significant_gains(tied, window=(0.1, 0.3))["n_window"].tolist() == [10]


def test_p_values_of_0_and_1_do_no_harm() -> None:
    pairs = normal_pairs(np.linspace(0.6, 3.0, 60), 1.0)
    ends = normal_pairs(np.zeros(60), 1.0).assign(p_value=np.repeat([0.0, 1.0], 30), gain=5.0)
    row = significant_gains(pd.concat([pairs, ends])).iloc[0]
    assert row["median"] == pytest.approx(1.644854)


def test_too_few_pairs_give_no_number() -> None:
    pairs = normal_pairs(np.linspace(1, 2, 9), 1.0)
    row = significant_gains(pairs).iloc[0]
    assert row[NUMBERS].isna().all()
    assert row["note"] == "too few pairs in the window: 9, not 10"
    assert significant_gains(pairs, min_pairs=9)["note"].tolist() == [""]


def test_classes_and_test_sets_have_rows_of_their_own() -> None:
    """Pairs of one class have half the standard error: so does what is significant there."""
    z = np.linspace(0.8, 3.0, 60)
    same = normal_pairs(z, 0.5).assign(relation="same group")
    both = pd.concat([normal_pairs(z, 1.0), same], ignore_index=True)
    table = significant_gains(pd.concat([both, normal_pairs(z, 2.0).assign(test_set="other")]))
    found = table.set_index(["test_set", "relation"])["median"]
    assert found["s", "same group"] == pytest.approx(1.644854 / 2)
    assert found["s", "different groups"] == pytest.approx(1.644854)
    assert found["other", "different groups"] == pytest.approx(2 * 1.644854)
    assert set(found.index) == {
        ("s", "same group"), ("s", "different groups"), ("s", "all pairs"), ("other", "different groups"),
    }  # fmt: skip


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_accuracies_of_independent_systems_as_the_binomial_has_them(alternative: str) -> None:
    """The paired bootstrap's p-values of 60 systems lead to the standard error of a difference of two shares."""
    n = 1000
    outputs = correlated_accuracies([0.70 + k / 1000 for k in range(60)], n, between=0, within=0, seed=5)
    table = significant_gains(compare(outputs, n_resamples=4000, alternative=alternative))
    wanted = (1.959964 if alternative == "two-sided" else 1.644854) * 100 * np.sqrt(2 * 0.73 * 0.27 / n)
    assert table["median"].iloc[0] == pytest.approx(wanted, rel=0.06)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 5}, "alpha must lie between 0 and 1"),
        ({"window": (0.3, 0.1)}, "window must be two p-values above 0 and below 0.5, the lower first"),
        ({"window": (0.0, 0.3)}, "window must be two p-values above 0"),
        ({"window": (0.1, 0.5)}, "below 0.5"),
        ({"window": (0.1,)}, "window must be two p-values"),
        ({"min_pairs": 0}, "min_pairs must be at least 1"),
        ({"n_bootstrap": 0}, "n_bootstrap must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        significant_gains(normal_pairs(np.ones(5), 1.0), **options)  # type: ignore[arg-type]


def test_bad_tables() -> None:
    pairs = normal_pairs(np.ones(5), 1.0)
    with pytest.raises(ValueError, match="no column relation, alternative"):
        significant_gains(pairs.drop(columns=["relation", "alternative"]))
    with pytest.raises(ValueError, match="at least one row"):
        significant_gains(pairs.head(0))
