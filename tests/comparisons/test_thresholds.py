from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.comparisons.other_systems import weighted_percentile
from simstudy.comparisons.thresholds import rule_of_thumb, thresholds
from simstudy.truth.synthetic import correlated_accuracies
from tests.oracles import compared


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    """60 systems of three families on the first 200 and 400 items of a test set."""
    accuracies = [0.7 + 0.1 * k / 60 for k in range(60)]
    outputs = correlated_accuracies(accuracies, 400, families=list("xyz") * 20, between=0.5, within=0.9, seed=4)
    tables = [compared(outputs.head(n), test="z_paired", alternative="greater") for n in (200, 400)]
    return pd.concat(tables, ignore_index=True)


def test_threshold_is_the_percentile_of_the_window(pairs: pd.DataFrame) -> None:
    table = thresholds(pairs, min_pairs=10)
    assert len(table) == 6
    for row in table.itertuples():
        members = pairs[pairs["n_items"] == row.n_items]
        if row.relation != "all pairs":
            members = members[members["relation"] == row.relation]
        gains = members.loc[(members["p_value"] >= 0.04) & (members["p_value"] <= 0.06), "gain"]
        assert (row.n_pairs, row.n_window) == (len(members), len(gains))
        assert row.threshold == np.percentile(gains, 95)
        assert row.alternative == "greater"
        if row.interval_for:
            assert (row.low < row.threshold < row.high, row.interval_for) == (True, "other variants of these families")
        else:
            assert row.note == f"too few pairs in the window for an interval: {len(gains)}, not 40"
            assert len(gains) < 40
    assert table["low"].notna().sum() >= 2


def test_pairs_whose_test_prefers_the_other_system_are_not_just_significant(pairs: pd.DataFrame) -> None:
    members = pairs[(pairs["n_items"] == 400) & (pairs["relation"] == "different families")]
    window = members.index[members["p_value"].between(0.04, 0.06)]
    other = members["better"].where(~members.index.isin(window[::2]), members["system_b"])
    row, before = (thresholds(table, min_pairs=1).iloc[0] for table in (members.assign(better=other), members))
    assert (row["n_window"], before["n_window"]) == (len(window) // 2, len(window))
    assert row["threshold"] == np.percentile(members.loc[window[1::2], "gain"], 95)


@given(
    st.lists(st.tuples(st.floats(0, 10), st.integers(0, 4)), min_size=1, max_size=12),
    st.sampled_from([0, 5, 50, 90, 95, 100]),
)
@settings(max_examples=100, deadline=None)
def test_weighted_percentile_is_numpys_of_repeated_values(values: list[tuple[float, int]], percentile: int) -> None:
    numbers, weights = (np.array(column) for column in zip(*values, strict=True))
    result = weighted_percentile(numbers, weights[None], percentile)[0]
    if weights.sum() == 0:
        assert np.isnan(result)
    else:
        assert result == pytest.approx(np.percentile(np.repeat(numbers, weights), percentile), abs=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": (0.06, 0.04)}, "window must be two p-values, the lower first"),
    ],
)
def test_bad_options(pairs: pd.DataFrame, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        thresholds(pairs, **options)  # type: ignore[arg-type]


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


def test_tables_that_have_no_rule() -> None:
    good = gains_of([80, 90], [100, 200])
    with pytest.raises(ValueError, match="table must be one of significant gains; no column pairs, true_80"):
        rule_of_thumb(good.drop(columns=["pairs", "true_80"]))
    with pytest.raises(ValueError, match="table must have each test set once; 's0' has several rows"):
        rule_of_thumb(pd.concat([good, good]))
    with pytest.raises(ValueError, match="table must have a number in true_80 for some test set"):
        rule_of_thumb(good.assign(true_80=np.nan))


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
