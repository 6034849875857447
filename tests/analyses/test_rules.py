"""One c for many test sets, and its spread."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.analyses.rules import rule_of_thumb
from simstudy.analyses.significant_gains import significant_gains
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared


def table(c: list[float], n: list[int]) -> pd.DataFrame:
    """Test sets whose gains are c / sqrt(n), of all pairs; of those in doubt a tenth less."""
    gains = pd.DataFrame({"n_items": n, "true_80": np.array(c) / np.sqrt(n)})
    gains = gains.assign(task="t", test_set=[f"s{k}" for k in range(len(n))], metric="accuracy", of="all pairs")
    gains = pd.concat([gains, gains.assign(of="pairs in doubt", true_80=0.9 * gains["true_80"])])
    return gains.assign(alternative="two-sided", alpha=0.05, observed_50=0.7 * gains["true_80"])


def test_median_and_spread_over_test_sets() -> None:
    rules = rule_of_thumb(table([50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150], [100, 1000] * 5 + [400]))
    found = rules.set_index(["of", "number"])
    assert found.loc[("all pairs", "true_80"), ["c", "c_10", "c_90"]].tolist() == pytest.approx([100, 60, 140])
    assert found.loc[("pairs in doubt", "true_80"), ["c", "c_10", "c_90"]].tolist() == pytest.approx([90, 54, 126])
    assert found.loc[("all pairs", "observed_50"), ["c", "c_10", "c_90"]].tolist() == pytest.approx([70, 42, 98])
    assert set(rules["n_test_sets"]) == {11}


def test_the_exponent_says_whether_the_square_root_holds() -> None:
    n = [100, 300, 1000, 5000]
    assert rule_of_thumb(table([90] * 4, n))["exponent"].tolist() == pytest.approx([-0.5] * 4)
    faster = table((9000 / np.sqrt(n)).tolist(), n)
    assert rule_of_thumb(faster)["exponent"].tolist() == pytest.approx([-1.0] * 4)
    # Three sizes at least, not three test sets.
    assert rule_of_thumb(table([90, 91], [100, 200]))["exponent"].isna().all()
    assert rule_of_thumb(table([90, 91, 92, 93], [100, 200, 200, 100]))["exponent"].isna().all()


def test_test_sets_without_a_number_are_left_out() -> None:
    some = table([80, 90, 100], [100, 200, 300])
    some.loc[0, "true_80"] = np.nan
    found = rule_of_thumb(some).set_index(["of", "number"])
    assert found["n_test_sets"].to_dict() == {
        ("all pairs", "observed_50"): 3, ("all pairs", "true_80"): 2,
        ("pairs in doubt", "observed_50"): 3, ("pairs in doubt", "true_80"): 2,
    }  # fmt: skip


def test_test_sets_of_one_kind_share_their_c() -> None:
    """Independent systems of accuracy 0.7: 100 (1.96 + 0.84) sqrt(2 x 0.7 x 0.3) = 181.6, whatever the size."""
    gains = [
        significant_gains(
            compared(correlated_accuracies([0.7] * 12, n, between=0, within=0, seed=n, test_set=f"of {n}")), power=[0.8]
        )
        for n in (400, 900, 1600, 2500)
    ]
    whole = pd.concat(gains).query("of == 'all pairs'")
    rule = rule_of_thumb(whole, ["true_80"]).iloc[0]
    assert rule[["c", "c_10", "c_90"]].tolist() == pytest.approx([181.6] * 3, rel=0.05)
    assert rule["exponent"] == pytest.approx(-0.5, abs=0.04)


def test_bad_tables() -> None:
    good = table([80, 90], [100, 200])
    with pytest.raises(ValueError, match="table must be one of significant gains; no column of, true_80"):
        rule_of_thumb(good.drop(columns=["of", "true_80"]))
    with pytest.raises(ValueError, match="table must have each test set once; 's0' has several rows"):
        rule_of_thumb(pd.concat([good, good]))
    with pytest.raises(ValueError, match="table must have a number in true_80 for some test set"):
        rule_of_thumb(good.assign(true_80=np.nan))


def test_each_kind_of_row_has_a_rule_of_its_own() -> None:
    """Rows that differ in one of what a rule is of, mixed, and test sets that differ in one of what names them."""
    base = {"of": "all pairs", "alternative": "two-sided", "alpha": 0.05}
    kinds = [base, base | {"of": "pairs in doubt"}, base | {"alternative": "greater"}, base | {"alpha": 0.1}]
    test_set = {"task": "t", "test_set": "s", "n_items": 100, "metric": "accuracy"}
    sets = [test_set, test_set | {"task": "u"}, test_set | {"n_items": 225}, test_set | {"metric": "f1"}]
    gains = np.random.default_rng(2).uniform(1, 9, (len(kinds), len(sets), 2))
    rows = [
        {**one, **kind, "observed_50": gains[k, s, 0], "true_95": gains[k, s, 1]}
        for s, one in enumerate(sets)
        for k, kind in enumerate(kinds)
    ]
    found = rule_of_thumb(pd.DataFrame(rows), ["true_95", "observed_50"])
    assert found["number"].tolist() == ["true_95", "observed_50"] * 4
    root = np.sqrt([one["n_items"] for one in sets])
    for k, kind in enumerate(kinds):
        for of_number, row in zip((1, 0), found.iloc[2 * k : 2 * k + 2].to_dict("records"), strict=True):
            c = np.percentile(gains[k, :, of_number] * root, [50, 10, 90])
            assert [row["c"], row["c_10"], row["c_90"]] == pytest.approx(c.tolist())
            assert {name: row[name] for name in kind} == kind
            assert (row["n_test_sets"], np.isnan(row["exponent"])) == (4, True)
    three = pd.DataFrame([{**rows[0], "n_items": n, "true_95": 7 * n**-0.3} for n in (50, 90, 400)])
    assert rule_of_thumb(three, ["true_95"])["exponent"].tolist() == pytest.approx([-0.3])
