"""The study of error rates, run small: its tables, page and cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.engines.registry import TESTS
from simstudy.studies import Results
from tests.experiments.error_rates.small import (
    CONDITIONS,
    DEPENDENT_SYSTEMS,
    DEPENDENT_UNITS,
    KEYS,
    KINDS,
    NULL,
    NULLS,
    SMALL,
    VIEWS,
    study,
)
from tests.experiments.programs import assert_described, small

OF_ACCEPTANCE_SETS = {"precision_score", "fisher"}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(study(conditions=KINDS), out=tmp_path_factory.mktemp("error_rates"), n_jobs=1)


def test_rates_are_shares_of_counts_with_their_intervals(done: Results) -> None:
    rates = done.tables["rates"]
    assert (rates["n_sets"] + rates["n_undefined"] == 24).all()
    np.testing.assert_allclose(rates["share"], rates["n_rejected"] / rates["n_sets"])
    for row in rates.sample(30, random_state=0).itertuples():
        interval = stats.binomtest(row.n_rejected, row.n_sets).proportion_ci(method="exact")
        assert (row.low, row.high) == pytest.approx(tuple(interval), abs=5.1e-6)
    assert not rates.duplicated([*KEYS, "test", "alternative", "alpha"]).any()
    shown = rates[(rates["n_units"] == 40) & (rates["alpha"] == 0.05)]
    wide = shown.pivot_table("n_rejected", [*KEYS, "test"], "alternative").dropna()
    assert set(rates["alpha"]) == {0.01, 0.05}
    assert set(rates.loc[rates["n_units"] == 6, "alternative"]) == {"two-sided"}
    assert (wide["two-sided"] <= wide["greater"]).all(), "one-sided p-values of the better system are smaller"
    assert (wide["greater, named beforehand"] <= wide["greater"]).all()
    assert wide["greater, named beforehand"].sum() == pytest.approx(wide["greater"].sum() / 2, rel=0.2)


def test_every_test_is_asked_where_it_applies(done: Results) -> None:
    rates = done.tables["rates"]
    nulls = set(NULLS) & set(KINDS)
    assert set(rates["condition"]) == nulls, "where there is a gain, a rejection is no error"
    assert set(rates["test"]) == set(TESTS)
    by_condition = rates.groupby("condition")["test"].agg(set)
    sums = {"sign_flips", "bootstrap", "randomization", "skew_corrected"}
    assert by_condition["f1"] == by_condition["bleu_short"] == sums
    assert by_condition["precision_few"] == sums | {"two_proportions", "chi_square"} | OF_ACCEPTANCE_SETS
    assert by_condition["accuracy"] == set(TESTS) - OF_ACCEPTANCE_SETS
    assert by_condition["skewed_means"] == set(TESTS) - OF_ACCEPTANCE_SETS - {
        "mcnemar",
        "two_proportions",
        "chi_square",
    }
    fisher = rates[rates["test"] == "fisher"]
    assert set(fisher["alternative"]) == {"two-sided"}


def test_a_table_says_which_tests_a_condition_breaks(done: Results) -> None:
    breaks = done.tables["rates"].drop_duplicates(["condition", "unit", "test"])
    breaks = breaks.set_index(["condition", "unit", "test"])["breaks"]
    assert breaks["clusters", "item", "sign_flips"] == DEPENDENT_UNITS
    assert breaks["clusters", "cluster", "sign_flips"] == ""
    assert breaks["accuracy", "item", "z_independent"] == DEPENDENT_SYSTEMS
    assert breaks["skewed_means", "item", "z_independent"] == "", "its systems are independent"
    for test in ("randomization", "sign", "wilcoxon"):
        assert breaks["skewed_means", "item", test] == NULL
        assert breaks["accuracy", "item", test] == ""
    for name in set(NULLS) & set(KINDS):
        unit = CONDITIONS[name].pair.units[0]
        assert breaks[name, unit, "sign_flips"] == breaks[name, unit, "bootstrap"] == ""
        assert breaks[name, unit, "randomization"] == ("" if CONDITIONS[name].pair.exchangeable else NULL)


def test_the_verdict_counts_rates_of_independent_units(done: Results) -> None:
    tests, rates = done.tables["tests"].set_index(["test", "null"]), done.tables["rates"]
    rates = rates[(rates["alternative"] == "two-sided") & (rates["breaks"] != DEPENDENT_UNITS)]
    rates = rates[rates["alpha"] == 0.05]
    for (test, where), row in tests.iterrows():
        own = rates[(rates["test"] == test) & ((rates["breaks"] == "") | (where == "equal scores"))]
        many = own.loc[own["n_units"] >= 40, "share"]
        assert row["n_rates"] == len(many)
        assert row["n_within"] == sum(0.035 <= share <= 0.065 for share in many)
        assert row["n_liberal"] == sum(0.025 <= share <= 0.075 for share in many)
        if len(many):
            assert (row["lowest"], row["highest"]) == (many.min(), many.max())
            assert row["highest_fewer"] == own.loc[own["n_units"] < 40, "share"].max()
    assert tests.loc[("sign_flips", "equal scores"), "n_conditions"] == len(set(NULLS) & set(KINDS))


def test_few_units_are_the_default_tests_rates_and_coverage(done: Results) -> None:
    few, rates, covered = (done.tables[name] for name in ("few_units", "rates", "coverage"))
    assert set(few["n_units"]) == {6}
    assert set(few["condition"]) == set(NULLS) & set(KINDS)
    for row in few.itertuples():
        at = f"condition == '{row.condition}' and unit == '{row.unit}' and n_units == 6"
        (rate,) = rates.query(f"{at} and alpha == 0.05 and test == 'sign_flips' and alternative == 'two-sided'")[
            "share"
        ]
        (cover,) = covered.query(at)["share"]
        np.testing.assert_equal([row.error_rate, row.coverage], [rate, cover])


def test_cautions_are_beside_level_and_coverage(done: Results) -> None:
    table, rates, covered = (done.tables[name] for name in ("cautions", "rates", "coverage"))
    right_or_wrong = {"accuracy", "accuracy_easy"}
    assert set(table["condition"]) == (set(NULLS) & set(KINDS)) - right_or_wrong
    assert set(table["n_units"]) == {40}
    for row in table.itertuples():
        at = f"condition == '{row.condition}' and unit == '{row.unit}' and n_units == 40"
        (rate,) = rates.query(f"{at} and alpha == 0.05 and test == 'sign_flips' and alternative == 'two-sided'")[
            "share"
        ]
        (cover,), (cautioned,) = covered.query(at)["share"], covered.query(at)["n_cautioned"]
        assert (row.error_rate, row.coverage, row.cautioned) == (rate, cover, cautioned / 24)
        assert row.off_level == (rate > 0.07 or cover < 0.93)
    assert table.set_index("condition")["cautioned"]["precision_few"] > 0.9, "8 % of 40 are three answers"
    assert table.set_index("condition")["cautioned"]["f1"] < 0.1


def test_coverage_says_width_and_what_is_undefined(done: Results) -> None:
    covered = done.tables["coverage"]
    assert len(covered) == 2 * len(
        [name for name, unit in VIEWS if name in NULLS or unit == CONDITIONS[name].pair.units[0]]
    )
    assert (covered["n_sets"] + covered["n_undefined"] == 24).all()
    np.testing.assert_allclose(covered["undefined"], covered["n_undefined"] / 24)
    some = covered[covered["n_sets"] > 0]
    np.testing.assert_allclose(some["share"], some["n_covered"] / some["n_sets"])
    wide = some.pivot_table("mean_width", ["condition", "unit"], "n_units")
    assert (wide[40] < wide[6].fillna(np.inf)).all()
    assert set(covered.loc[covered["interval"] == "score", "unit"]) == {"item"}


def test_the_page_names_every_figure_and_table(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    drawn = {path.stem for path in (done.folder / "figures").glob("*.png")}
    assert drawn == {"choices", "error_rates", "uniformity", "power", "coverage"}
    for name in drawn:
        assert f"(figures/{name}.png)" in page
    assert {path.stem for path in done.folder.glob("*.csv")} == set(done.tables)
    for name, table in done.tables.items():
        assert f"[{name}.csv]({name}.csv): {len(table):,} rows" in page
    assert "nan" not in page.lower()
    assert "▲" in page


def test_a_study_of_gains_alone(tmp_path: Path) -> None:
    results = ss.run_study(study(conditions=["f1_gain"]), out=tmp_path, n_jobs=1)
    assert set(results.tables) == {"power", "coverage", "conditions"}
    assert results.tables["coverage"]["condition"].unique().tolist() == ["f1_gain"]
    page = (tmp_path / "README.md").read_text()
    assert "## Coverage of the interval" in page
    assert "error_rates.png" not in page


F1 = CONDITIONS["f1"].model_dump()
OTHER = {**F1, "parameters": CONDITIONS["f1_gain"].model_dump()["parameters"]}


@pytest.mark.parametrize(
    "change",
    [
        {"n_resamples": 19}, {"sets": 39}, {"seed": 1}, {"alphas": [0.05, 0.2]}, {"tests": ["sign_flips"]},
        {"shown": [21]}, {"conditions": {"f1": OTHER}},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_what_changes_the_result_of_a_cell_changes_its_description(change: dict[str, Any]) -> None:
    base: dict[str, Any] = {
        **SMALL, "n_units": [20, 21], "shown": [20], "batches": 1, "sets": 40, "tests": ["sign_flips", "bootstrap"],
        "seed": 0, "alphas": [0.05, 0.1], "conditions": {"f1": F1},
    }  # fmt: skip

    def study(**changes: Any) -> Any:
        return small("error_rates", **{**base, **changes})

    assert_described("error_rates", study(), study(**change))
