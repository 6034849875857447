from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq

from simstudy.comparisons.significant_gains import just_significant, significant_gains
from simstudy.truth import correlated_accuracies
from tests.comparisons.made_up import made_up
from tests.oracles import compared

OBSERVED = ["observed_50", "observed_80", "observed_95"]
TRUE = ["true_50", "true_80", "true_95"]


def pairs_of(
    se: np.ndarray, z: np.ndarray | float = 1.0, *, alternative: str = "two-sided", k: int = 12
) -> pd.DataFrame:
    """Pairs of k systems with these standard errors, whose gains are z of them."""
    two = list(combinations([f"s{n:02}" for n in range(k)], 2))[: len(se)]
    return pd.DataFrame(two, columns=["system_a", "system_b"]).assign(
        task="t", test_set="s", n_items=100, metric="accuracy", relation="different groups", alternative=alternative,
        gain=z * se, gain_se=se,
    )  # fmt: skip


@pytest.mark.parametrize(("alternative", "critical"), [("greater", 1.644854), ("two-sided", 1.959964)])
def test_a_common_standard_error_is_the_textbook(alternative: str, critical: float) -> None:
    """Observed: the critical value; true, with power 0.8: 0.8416 standard errors more (Cohen's 2.80, or 2.49)."""
    row = significant_gains(pairs_of(np.full(66, 0.7), alternative=alternative)).iloc[0]
    np.testing.assert_allclose(row[OBSERVED].to_numpy(float), critical * 0.7, rtol=1e-6)
    wanted = [(critical + more) * 0.7 for more in (0, 0.841621, 1.644854)]
    np.testing.assert_allclose(row[TRUE].to_numpy(float), wanted, rtol=1e-3)
    assert (row["n_pairs"], row["n_systems"], row["alternative"], row["alpha"]) == (66, 12, alternative, 0.05)
    known = [name for name in OBSERVED + TRUE if np.isfinite(row[f"{name}_low"])]
    assert known == ["observed_50", "observed_80", *TRUE], "beyond 80 % of the pairs no interval is known to cover"


def test_the_critical_value_is_that_of_t_with_few_units() -> None:
    unknown = pd.DataFrame({"gain_se": [1.0, 1.0], "df": [np.nan, 9.0], "alternative": ["greater", "two-sided"]})
    np.testing.assert_allclose(just_significant(unknown), [1.644854, 2.262157], rtol=1e-6)


def test_pairs_far_apart_in_sensitivity_lose_no_precision() -> None:
    """One pair that is a thousand times as sensitive, and one a thousandth: the others' gain stays exact."""
    se = np.concatenate([[0.001], np.ones(1000), [1000.0]])
    pairs = pairs_of(se[:66]), pairs_of(np.concatenate([np.ones(64), [0.001, 1000.0]]))
    assert significant_gains(pairs[0])["true_50"].iloc[0] == pytest.approx(1.96, rel=0.02)
    row = significant_gains(pairs[1]).iloc[0]
    # 64 pairs must have a power of (66 x 0.8 - 1) / 64, since one is always found and one never.
    assert row["true_80"] == pytest.approx(1.959964 + stats.norm.ppf((66 * 0.8 - 1) / 64), rel=0.005)


def test_too_few_pairs_give_no_number_and_too_few_systems_no_interval() -> None:
    row = significant_gains(pairs_of(np.linspace(1, 2, 9))).iloc[0]
    assert row[OBSERVED + TRUE].isna().all()
    assert (row["note"], row["interval_for"]) == ("too few pairs: 9, not 10", "")
    row = significant_gains(pairs_of(np.linspace(1, 2, 6), k=4), min_pairs=6).iloc[0]
    assert row[OBSERVED + TRUE].notna().all()
    assert row[[f"{name}_low" for name in OBSERVED + TRUE]].isna().all()
    assert row["note"] == "too few systems for an interval: 4 of 4 families"


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_a_true_gain_is_found_on_new_test_sets_with_the_power_that_one_test_set_promised(alternative: str) -> None:
    """40 systems tell true_80; pairs of such systems that are truly so far apart are tested on 400 new test sets."""
    n = 800
    pairs = compared(correlated_accuracies(np.linspace(0.66, 0.74, 40), n, seed=3), alternative=alternative)
    row = significant_gains(pairs).iloc[0]
    gain = row["true_80"] / 100
    true = np.ravel([[middle - gain / 2, middle + gain / 2] for middle in (0.67, 0.70, 0.73)])
    found = []
    for seed in range(400):
        table = compared(correlated_accuracies(true, n, seed=1000 + seed), alternative=alternative)
        table = table.set_index(["system_a", "system_b"])["p_value"]
        # Where the better system has the lower score, its pair is the other way round, and it is not found.
        found += [table.get((f"system-{2 * k + 2}", f"system-{2 * k + 1}"), 1.0) <= 0.05 for k in range(3)]
    # 400 independent test sets at least; 0.02 is for the 40 systems' own part in the promise (its interval is wider).
    assert np.mean(found) == pytest.approx(0.8, abs=0.02 + 5 * np.sqrt(0.8 * 0.2 / 400))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": (0.5, 1.0)}, "power must lie between 0 and 1"),
        ({"power": (0.5, 0.501)}, "power must be one or more fractions that differ in percent"),
        ({"power": ()}, "power must be one or more fractions"),
        ({"power": (0.04,)}, "power must be above alpha, 0.05, not 0.04"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        significant_gains(pairs_of(np.ones(5)), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_every_number_and_interval_by_plain_loops(alternative: str) -> None:
    """Of pairs of seven families whose degrees of freedom differ; true gains by root finding, powers in any order."""
    pairs = made_up(3, k=14, alternative=alternative).sample(frac=1, random_state=1)
    pairs.loc[pairs.index[:4], "gain_se"] = np.nan
    table = significant_gains(pairs, alpha=0.06, power=(0.9, 0.3))
    sides = 2 if alternative == "two-sided" else 1

    def numbers(rows: pd.DataFrame) -> list[float]:
        critical = stats.t.isf(0.06 / sides, rows["df"])
        just = sorted(critical * rows["gain_se"])
        observed = [next(g for g in just if sum(one <= g for one in just) >= share * len(just)) for share in (0.9, 0.3)]

        def lacks(gain: float, power: float) -> float:
            return float(np.mean(stats.norm.cdf(gain / rows["gain_se"] - critical)) - power)

        return observed + [float(brentq(lacks, 0, 50, args=(power,))) for power in (0.9, 0.3)]

    names = ["observed_90", "observed_30", "true_90", "true_30"]
    for row in table.to_dict("records"):
        of_class = pairs[(pairs["relation"] == row["relation"]) | (row["relation"] == "all pairs")]
        told = of_class[(of_class["gain_se"] > 0) & (of_class["p_floor"] <= 0.06)]
        near = told["gain"] < 2 * stats.t.isf(0.06 / sides, told["df"]) * told["gain_se"]
        members = told if row["pairs"] == "all pairs" else told[near]
        systems = {*members["system_a"], *members["system_b"]}
        counts = (row["n_pairs"], row["n_systems"], row["n_left_out"])
        assert counts == (len(members), len(systems), len(of_class) - len(told))
        assert (row["alternative"], row["alpha"], row["interval_for"]) == (alternative, 0.06, "other systems")
        found = numbers(members)
        assert [row[name] for name in names] == pytest.approx(found, rel=3e-3)
        families = sorted({*members["family_a"], *members["family_b"]})
        touched = [((members["family_a"] == f) | (members["family_b"] == f)).sum() for f in families]
        df = sum(touched) ** 2 / sum(t**2 for t in touched) - 1
        left = [numbers(members[(members["family_a"] != f) & (members["family_b"] != f)]) for f in families]
        logs = np.log(left)
        half = stats.t.isf(0.025, df) * np.sqrt(6 / 7 * ((logs - logs.mean(axis=0)) ** 2).sum(axis=0))
        ends = np.array([[row[f"{name}_low"], row[f"{name}_high"]] for name in names])
        assert np.isnan(ends[0]).all()
        np.testing.assert_allclose(ends[1:, 0], np.array(found[1:]) * np.exp(-half[1:]), rtol=0.02)
        np.testing.assert_allclose(ends[1:, 1], np.array(found[1:]) * np.exp(half[1:]), rtol=0.02)


def test_a_gain_of_exactly_twice_the_just_significant_one_is_in_no_doubt() -> None:
    pairs = pairs_of(np.ones(66))
    pairs.loc[:9, "gain"] = 2 * just_significant(pairs)[:10]
    assert significant_gains(pairs)["n_pairs"].tolist() == [66, 56]
    with pytest.raises(ValueError, match=r"power must be above alpha, 0.05, not 0.05"):
        significant_gains(pairs, power=(0.8, 0.05))
