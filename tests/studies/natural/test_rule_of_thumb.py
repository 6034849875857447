"""The constant c of c / sqrt(n) over test sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.studies.natural.gains import rule_of_thumb


def gains_of(c: list[float], n: list[int]) -> pd.DataFrame:
    """Test sets whose gains are c / sqrt(n), of all pairs; of those in doubt a tenth less."""
    gains = pd.DataFrame({"n_items": n, "true_80": np.array(c) / np.sqrt(n)})
    gains = gains.assign(task="t", test_set=[f"s{k}" for k in range(len(n))], metric="accuracy", pairs="all pairs")
    gains = pd.concat([gains, gains.assign(pairs="close pairs", true_80=0.9 * gains["true_80"])])
    return gains.assign(alternative="two-sided", alpha=0.05, observed_50=0.7 * gains["true_80"])


def test_the_exponent_says_whether_the_square_root_holds() -> None:
    n = [100, 300, 1000, 5000]
    assert rule_of_thumb(gains_of([90] * 4, n))["exponent"].tolist() == pytest.approx([-0.5] * 4)
    faster = gains_of((9000 / np.sqrt(n)).tolist(), n)
    assert rule_of_thumb(faster)["exponent"].tolist() == pytest.approx([-1.0] * 4)
    # Three sizes at least, not three test sets.
    assert rule_of_thumb(gains_of([90, 91], [100, 200]))["exponent"].isna().all()
    assert rule_of_thumb(gains_of([90, 91, 92, 93], [100, 200, 200, 100]))["exponent"].isna().all()


def test_test_sets_without_a_number_are_left_out() -> None:
    some = gains_of([80, 90, 100], [100, 200, 300])
    some.loc[0, "true_80"] = np.nan
    found = rule_of_thumb(some).set_index(["pairs", "number"])
    assert found["n_test_sets"].to_dict() == {
        ("all pairs", "observed_50"): 3, ("all pairs", "true_80"): 2,
        ("close pairs", "observed_50"): 3, ("close pairs", "true_80"): 2,
    }  # fmt: skip


def test_each_kind_of_row_has_a_rule_of_its_own() -> None:
    """Rows that differ in one of what a rule is of, mixed, and test sets that differ in one of what names them."""
    base = {"pairs": "all pairs", "alternative": "two-sided", "alpha": 0.05}
    kinds = [base, base | {"pairs": "close pairs"}, base | {"alternative": "greater"}, base | {"alpha": 0.1}]
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
