from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq

from simstudy.analyses.significant_gains import just_significant, significant_gains
from simstudy.truth.synthetic import correlated_accuracies
from tests.analyses.made_up import made_up
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


def test_few_units_have_the_critical_value_of_t() -> None:
    table = significant_gains(pairs_of(np.ones(66)).assign(df=9.0), alpha=0.01)
    np.testing.assert_allclose(table.loc[0, OBSERVED].to_numpy(float), 3.249836, rtol=1e-6)  # any table of t
    unknown = pd.DataFrame({"gain_se": [1.0, 1.0], "df": [np.nan, 9.0], "alternative": ["greater", "two-sided"]})
    np.testing.assert_allclose(just_significant(unknown), [1.644854, 2.262157], rtol=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_an_observed_gain_is_significant_for_the_share_of_pairs_that_it_names(
    rng: np.random.Generator, share: float
) -> None:
    """Of all pairs and of those in doubt: with that gain the share is significant, with any less it is not."""
    pairs = pairs_of(rng.gamma(2, size=66), rng.uniform(0, 9, 66))
    p_in_doubt = pairs[2 * stats.norm.sf(pairs["gain"] / pairs["gain_se"]) > 2 * stats.norm.sf(2 * 1.959964)]
    assert 15 < len(p_in_doubt) < 50
    table = significant_gains(pairs).set_index("of")
    for of, members in (("all pairs", pairs), ("pairs in doubt", p_in_doubt)):
        gain = table.loc[of, f"observed_{100 * share:.0f}"]
        assert table.loc[of, "n_pairs"] == len(members)
        p_value = 2 * stats.norm.sf(gain / members["gain_se"])
        assert (p_value <= 0.05 + 1e-9).mean() >= share
        assert (2 * stats.norm.sf(0.999999 * gain / members["gain_se"]) <= 0.05).mean() < share


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_true_gains_are_found_with_their_power(rng: np.random.Generator, alternative: str) -> None:
    """By simulation: a pair at random, an observed gain around the true one, a test; wrong sides do not count."""
    pairs = pairs_of(rng.gamma(3, size=66), rng.uniform(0, 9, 66), alternative=alternative)
    table = significant_gains(pairs, alpha=0.1, power=(0.2, 0.5, 0.8, 0.95)).set_index("of")
    tails = 1 if alternative == "greater" else 2
    doubtful = pairs[pairs["gain"] < 2 * just_significant(pairs, 0.1)]
    for of, members in (("all pairs", pairs), ("pairs in doubt", doubtful)):
        drawn = rng.choice(members["gain_se"].to_numpy(), 400_000)
        for power in (0.2, 0.5, 0.8, 0.95):
            observed = rng.normal(table.loc[of, f"true_{100 * power:.0f}"], drawn)
            found = (tails * stats.norm.sf(np.abs(observed) / drawn) <= 0.1) & (observed > 0)
            # Six standard errors of the simulation.
            assert found.mean() == pytest.approx(power, abs=6 * np.sqrt(power * (1 - power) / 400_000))


def test_pairs_far_apart_in_sensitivity_lose_no_precision() -> None:
    """One pair that is a thousand times as sensitive, and one a thousandth: the others' gain stays exact."""
    se = np.concatenate([[0.001], np.ones(1000), [1000.0]])
    pairs = pairs_of(se[:66]), pairs_of(np.concatenate([np.ones(64), [0.001, 1000.0]]))
    assert significant_gains(pairs[0])["true_50"].iloc[0] == pytest.approx(1.96, rel=0.02)
    row = significant_gains(pairs[1]).iloc[0]
    # 64 pairs must have a power of (66 x 0.8 - 1) / 64, since one is always found and one never.
    assert row["true_80"] == pytest.approx(1.959964 + stats.norm.ppf((66 * 0.8 - 1) / 64), rel=0.005)


def test_intervals_leave_out_systems(rng: np.random.Generator) -> None:
    """The delete-one jackknife of the logarithms, by a loop, with t of 19 degrees of freedom."""
    pairs = pairs_of(rng.gamma(4, size=190), rng.uniform(0, 3, 190), k=20)
    row = significant_gains(pairs).iloc[0]
    for name in ("observed_50", "observed_80", "true_80"):
        left = []
        for system in sorted({*pairs["system_a"], *pairs["system_b"]}):
            rest = pairs[(pairs["system_a"] != system) & (pairs["system_b"] != system)]
            left.append(np.log(significant_gains(rest).iloc[0][name]))
        half = 2.093024 * np.sqrt(19 / 20 * ((np.array(left) - np.mean(left)) ** 2).sum())
        low, high = row[name] * np.exp(-half), row[name] * np.exp(half)
        np.testing.assert_allclose(row[[f"{name}_low", f"{name}_high"]].to_numpy(float), [low, high], rtol=2e-3)
    assert row["interval_for"] == "other systems"
    assert row[["observed_95_low", "observed_95_high"]].isna().all(), "no interval is known to cover it"
    assert row["true_95_low"] < row["true_95"] < row["true_95_high"]


def test_pairs_that_can_not_be_significant_are_left_out_and_counted() -> None:
    """Too few units that differ for any p-value as small as alpha, or none at all."""
    pairs = pairs_of(np.linspace(1, 2, 66)).assign(p_floor=0.001)
    pairs.loc[:4, "p_floor"] = 0.0625
    pairs.loc[60:, "gain_se"] = np.nan
    table = significant_gains(pairs)
    assert table["n_left_out"].tolist() == [11, 11]
    assert table["n_pairs"].tolist() == [55, 55]
    kept = significant_gains(pairs.iloc[5:60].drop(columns="p_floor"))
    np.testing.assert_array_equal(table[OBSERVED + TRUE], kept[OBSERVED + TRUE])
    assert significant_gains(pairs, alpha=0.1)["n_left_out"].tolist() == [6, 6]


def test_too_few_pairs_give_no_number_and_too_few_systems_no_interval() -> None:
    row = significant_gains(pairs_of(np.linspace(1, 2, 9))).iloc[0]
    assert row[OBSERVED + TRUE].isna().all()
    assert (row["note"], row["interval_for"]) == ("too few pairs: 9, not 10", "")
    row = significant_gains(pairs_of(np.linspace(1, 2, 6), k=4), min_pairs=6).iloc[0]
    assert row[OBSERVED + TRUE].notna().all()
    assert row[[f"{name}_low" for name in OBSERVED + TRUE]].isna().all()
    assert row["note"] == "too few systems for an interval: 4 of 4 families"


def test_a_row_counts_its_own_pairs_and_their_systems() -> None:
    """Eleven systems are close; one is so far behind that none of its pairs is in doubt."""
    pairs = pairs_of(np.ones(66))
    pairs.loc[(pairs[["system_a", "system_b"]] == "s11").any(axis=1), "gain"] = 20.0
    table = significant_gains(pairs).set_index("of")
    assert table["n_systems"].to_dict() == {"all pairs": 12, "pairs in doubt": 11}
    assert table["n_pairs"].to_dict() == {"all pairs": 66, "pairs in doubt": 55}


def test_classes_and_test_sets_have_rows_of_their_own() -> None:
    """Pairs of one class have half the standard error: so does what is significant there."""
    same = pairs_of(np.full(66, 0.5)).assign(relation="same group")
    same[["system_a", "system_b"]] = "other " + same[["system_a", "system_b"]]
    both = pd.concat([pairs_of(np.ones(66)), same], ignore_index=True)
    table = significant_gains(pd.concat([both, pairs_of(np.full(66, 2.0)).assign(test_set="other")]))
    found = table[table["of"] == "all pairs"].set_index(["test_set", "relation"])["observed_50"]
    assert found["s", "same group"] == pytest.approx(1.959964 / 2)
    assert found["s", "different groups"] == pytest.approx(1.959964)
    assert found["other", "different groups"] == pytest.approx(2 * 1.959964)
    assert set(found.index) == {
        ("s", "same group"), ("s", "different groups"), ("s", "all pairs"), ("other", "different groups"),
    }  # fmt: skip


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_accuracies_of_independent_systems_as_the_binomial_has_them(alternative: str) -> None:
    n = 1000
    outputs = correlated_accuracies([0.70 + k / 1000 for k in range(60)], n, between=0, within=0, seed=5)
    table = significant_gains(compared(outputs, alternative=alternative))
    wanted = (1.959964 if alternative == "two-sided" else 1.644854) * 100 * np.sqrt(2 * 0.73 * 0.27 / n)
    assert table["observed_50"].iloc[0] == pytest.approx(wanted, rel=0.03)


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
        ({"alpha": 5}, "alpha must lie between 0 and 1"),
        ({"power": (0.5, 1.0)}, "power must lie between 0 and 1"),
        ({"power": (0.5, 0.501)}, "power must be one or more fractions that differ in percent"),
        ({"power": ()}, "power must be one or more fractions"),
        ({"power": 0.8}, "power must be a list of numbers, not 0.8"),
        ({"power": (0.04,)}, "power must be above alpha, 0.05, not 0.04"),
        ({"min_pairs": 0}, "min_pairs must be at least 1"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        significant_gains(pairs_of(np.ones(5)), **options)  # type: ignore[arg-type]


def test_bad_tables() -> None:
    pairs = pairs_of(np.ones(5))
    with pytest.raises(ValueError, match="no column alternative, gain_se"):
        significant_gains(pairs.drop(columns=["gain_se", "alternative"]))
    with pytest.raises(ValueError, match="at least one row"):
        significant_gains(pairs.head(0))


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
        members = told if row["of"] == "all pairs" else told[near]
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
