"""The study of error rates, small: its counts against `compare`, scipy and what fair coins would do."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.engines.drawn_pairs import DrawnPairs, p_values
from simstudy.engines.registry import TESTS
from simstudy.fingerprints import derived_seed
from simstudy.generators.synthetic import outcome_correlation
from simstudy.studies import Results, StudyError
from tests.experiments.programs import program, small

ERRORS = program("error_rates", "conditions")
DEPENDENT_SYSTEMS, DEPENDENT_UNITS, NULL = ERRORS.DEPENDENT_SYSTEMS, ERRORS.DEPENDENT_UNITS, ERRORS.NULL
CONDITIONS = small("error_rates").conditions  # type: ignore[attr-defined]

NULLS = [name for name, condition in CONDITIONS.items() if condition.null]
SMALL: dict[str, Any] = {"n_units": [6, 40], "shown": [40], "batches": 2, "sets": 12, "n_resamples": 99}
KEYS = ["condition", "unit", "n_units"]


def study(conditions: list[str] | None = None, **changes: Any) -> Any:
    if conditions is not None:
        changes["conditions"] = {name: CONDITIONS[name].model_dump() for name in conditions}
    return small("error_rates", **{**SMALL, "aims": {"from_units": 40}, **changes})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(study(), out=tmp_path_factory.mktemp("error_rates"), n_jobs=1)


VIEWS = [(name, unit) for name in CONDITIONS for unit in CONDITIONS[name].pair.units]


@pytest.mark.parametrize(("name", "unit"), VIEWS)
def test_many_test_sets_in_one_question_are_many_questions(name: str, unit: str) -> None:
    """p-values, the order of the two systems and intervals are those of `compare` on each test set alone."""
    model, n_sets, seed = CONDITIONS[name].pair, 4, 11
    statistics = model.draw(n_sets, 35, np.random.default_rng(3)).by(unit)
    drawn = DrawnPairs(statistics, model.metric, n_resamples=199, seed=seed)
    question = replace(drawn.question, alternative="two-sided")
    systems = ["first", "second"]
    alone = [ss.Outputs.from_statistics(of_set, model.metric, systems) for of_set in statistics]
    applied = 0
    for test in TESTS:
        way = drawn.way(test)
        found = p_values(replace(question, monte_carlo=way), test)
        if found is None:
            with pytest.raises(ValueError, match=f"test '{test}'"):
                ss.compare(alone[0], test=test)
            continue
        applied += 1
        rows = pd.concat(ss.compare(of_set, test=test, n_resamples=199, seed=seed, monte_carlo=way) for of_set in alone)
        np.testing.assert_allclose(found, rows["p_value"], rtol=1e-9, err_msg=test)
    assert applied >= 3
    assert rows["system_a"].tolist() == [systems[better % 2] for better in question.pairs[0]]


@pytest.mark.parametrize("name", ["accuracy_gain", "f1_gain", "bleu_gain", "precision_few"])
def test_coverage_is_that_of_the_intervals_that_compare_prints(name: str) -> None:
    sets, n = 40, 20
    settings = study(n_units=[n], shown=[n], batches=1, sets=sets, conditions=[name], tests=["t_paired"])
    (row,) = ERRORS.examine(settings, name, n, 0)["coverage"]
    model = CONDITIONS[name].pair
    rng = np.random.default_rng(derived_seed(settings.seed, "test sets", name, n, 0))
    pairs = pd.concat(
        ss.compare(ss.Outputs.from_statistics(of_set, model.metric, ["first", "second"]), n_resamples=1)
        for of_set in model.draw(sets, n, rng).statistics
    )
    true = np.where(pairs["system_a"] == "first", model.true_gain, -model.true_gain)
    known = pairs["gain_low"].notna()
    covered = (pairs["gain_low"] <= true) & (true <= pairs["gain_high"])
    assert (row["n_sets"], row["n_undefined"]) == (known.sum(), (~known).sum())
    assert row["n_covered"] == covered.sum()
    assert row["sum_width"] == pytest.approx((pairs["gain_high"] - pairs["gain_low"]).sum())
    assert row["interval"] == ("score" if name == "accuracy_gain" else "jackknife")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"n_resamples": -5}, "n_resamples must be at least 1"), ({"seed": -1}, "seed must be at least 0 and below 2^64")],
)
def test_a_program_that_asks_for_what_cannot_be_is_told_so(wrong: dict[str, int], message: str) -> None:
    statistics = CONDITIONS["accuracy"].pair.draw(2, 10, np.random.default_rng(0)).by("item")
    with pytest.raises(ValueError, match=re.escape(message)):
        DrawnPairs(statistics, "accuracy", **wrong)


def test_right_and_wrong_answers_are_rejected_as_often_as_coins_allow() -> None:
    """Of n items each differs with a known chance, and then the sign test's rejections are binomial."""
    n, sets, alpha = 60, 3000, 0.05
    model = CONDITIONS["accuracy"].pair
    settings = study(n_units=[n], shown=[n], batches=1, sets=sets, tests=["sign_flips", "mcnemar", "randomization"])
    phi = outcome_correlation(0.8, 0.8, 0.5)
    differ = 2 * 0.8 * 0.2 * (1 - phi)
    losses = np.arange(n + 1)
    by_items = [stats.binom.cdf(losses[: m + 1], m, 0.5) for m in range(n + 1)]
    rejected = {
        "two-sided": [2 * stats.binom.pmf(losses[: m + 1], m, 0.5) @ (2 * p <= alpha) for m, p in enumerate(by_items)],
        "greater": [2 * stats.binom.pmf(losses[: m + 1], m, 0.5) @ (p <= alpha) for m, p in enumerate(by_items)],
    }
    for row in ERRORS.examine(settings, "accuracy", n, 0)["rejections"]:
        expected = stats.binom.pmf(losses, n, differ) @ rejected[str(row["alternative"])]
        assert 0.01 < expected < 0.1
        assert stats.binomtest(int(row["n_rejected"]), sets, expected).pvalue > 1e-6
        assert stats.binomtest(int(row["n_rejected_first"]), sets, expected / 2).pvalue > 1e-6
        assert row["n_sets"] == sets
    assert model.units == ("item",)


def test_undefined_scores_are_counted_apart() -> None:
    """A system that accepts 8 % of 6 candidates accepts none of them three times in five."""
    sets, n = 2000, 6
    settings = study(n_units=[n], shown=[n], batches=1, sets=sets, tests=["sign_flips"])
    row = ERRORS.examine(settings, "precision_few", n, 0)["rejections"][0]
    nothing = 1 - (1 - 0.92**n) * (1 - 0.7**n)
    assert stats.binomtest(int(row["n_undefined"]), sets, nothing).pvalue > 1e-6
    assert row["n_sets"] + row["n_undefined"] == sets
    assert row["n_rejected_undefined"] <= row["n_undefined"]


def test_rates_are_shares_of_counts_with_their_intervals(done: Results) -> None:
    rates = done.tables["rates"]
    assert (rates["n_sets"] + rates["n_undefined"] == 24).all()
    np.testing.assert_allclose(rates["share"], rates["n_rejected"] / rates["n_sets"])
    for row in rates.sample(30, random_state=0).itertuples():
        interval = stats.binomtest(row.n_rejected, row.n_sets).proportion_ci(method="exact")
        assert (row.low, row.high) == pytest.approx(tuple(interval))
    assert not rates.duplicated([*KEYS, "test", "alternative"]).any()
    wide = rates.pivot_table("n_rejected", [*KEYS, "test"], "alternative").dropna()
    assert (wide["two-sided"] <= wide["greater"]).all(), "one-sided p-values of the better system are smaller"
    assert (wide["greater, named beforehand"] <= wide["greater"]).all()
    assert wide["greater, named beforehand"].sum() == pytest.approx(wide["greater"].sum() / 2, rel=0.2)


def test_every_test_is_asked_where_it_applies(done: Results) -> None:
    rates = done.tables["rates"]
    assert set(rates["condition"]) == set(NULLS), "where there is a gain, a rejection is no error"
    assert set(rates["test"]) == set(TESTS)
    by_condition = rates.groupby("condition")["test"].agg(set)
    sums = {"sign_flips", "bootstrap", "randomization"}
    assert by_condition["f1"] == by_condition["bleu_short"] == sums
    assert by_condition["precision_few"] == sums | {"two_proportions", "chi_square", "fisher"}
    assert by_condition["accuracy"] == set(TESTS) - {"fisher"}
    assert by_condition["skewed_means"] == set(TESTS) - {"fisher", "mcnemar", "two_proportions", "chi_square"}
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
    for name in NULLS:
        unit = CONDITIONS[name].pair.units[0]
        assert breaks[name, unit, "sign_flips"] == breaks[name, unit, "bootstrap"] == ""
        assert breaks[name, unit, "randomization"] == ("" if CONDITIONS[name].exchangeable else NULL)


@pytest.mark.parametrize("name", NULLS)
def test_conditions_are_exchangeable_and_independent_where_they_say_so(name: str) -> None:
    """Item statistics' means and squares are alike where systems could be exchanged; correlations are 0 or not."""
    condition = CONDITIONS[name]
    drawn = condition.pair.draw(1, 100_000, np.random.default_rng(8)).by(condition.pair.units[0])[0].astype(float)
    first, second = drawn
    features = [difference for s in range(drawn.shape[2]) for difference in (first - second, first**2 - second**2)]
    z = np.abs([f[:, s].mean() / max(f[:, s].std(), 1e-9) for f in features for s in range(drawn.shape[2])])
    assert (z.max() < 5.5 / np.sqrt(100_000)) == condition.exchangeable
    correlation = np.corrcoef(first[:, 0], second[:, 0])[0, 1]
    assert (abs(correlation) < 5.5 / np.sqrt(100_000)) == condition.independent


def test_true_gains_are_exactly_nought_or_what_titles_say() -> None:
    gains = {name: condition.pair.true_gain for name, condition in CONDITIONS.items()}
    assert [name for name in gains if name.endswith("_gain")] == [name for name in CONDITIONS if name not in NULLS]
    assert max(abs(gains[name]) for name in NULLS) < 1e-12
    for name in set(gains) - set(NULLS):
        assert f"+{gains[name]:.1f} points".replace(".0", "") in CONDITIONS[name].title


def test_the_verdict_counts_rates_of_independent_units(done: Results) -> None:
    tests, rates = done.tables["tests"].set_index(["test", "where"]), done.tables["rates"]
    rates = rates[(rates["alternative"] == "two-sided") & (rates["breaks"] != DEPENDENT_UNITS)]
    for (test, where), row in tests.iterrows():
        own = rates[(rates["test"] == test) & ((rates["breaks"] == "") | (where == "equal scores"))]
        many = own.loc[own["n_units"] >= 40, "share"]
        assert row["n_rates"] == len(many)
        assert row["n_within"] == sum(0.035 <= share <= 0.065 for share in many)
        assert row["n_liberal"] == sum(0.025 <= share <= 0.075 for share in many)
        if len(many):
            assert (row["least"], row["most"]) == (many.min(), many.max())
            assert row["most_fewer"] == own.loc[own["n_units"] < 40, "share"].max()
    assert tests.loc[("sign_flips", "equal scores"), "n_conditions"] == len(NULLS)


def test_few_units_are_the_default_tests_rates_and_coverage(done: Results) -> None:
    few, rates, covered = (done.tables[name] for name in ("few_units", "rates", "coverage"))
    assert set(few["n_units"]) == {6}
    assert set(few["condition"]) == set(NULLS)
    for row in few.itertuples():
        at = f"condition == '{row.condition}' and unit == '{row.unit}' and n_units == 6"
        (rate,) = rates.query(f"{at} and test == 'sign_flips' and alternative == 'two-sided'")["share"]
        (cover,) = covered.query(at)["share"]
        np.testing.assert_equal([row.error_rate, row.coverage], [rate, cover])


def test_coverage_says_width_and_what_is_undefined(done: Results) -> None:
    covered = done.tables["coverage"]
    assert len(covered) == len(VIEWS) * 2
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
    assert drawn == {"error_rates", "coverage"}
    for name in drawn:
        assert f"(figures/{name}.png)" in page
    assert {path.stem for path in done.folder.glob("*.csv")} == set(done.tables)
    for name, table in done.tables.items():
        assert f"[{name}.csv]({name}.csv): {len(table):,} rows" in page
    assert "nan" not in page.lower()
    assert "▲" in page


def written(folder: Path) -> dict[str, bytes]:
    paths = [*folder.glob("*.csv"), *folder.glob("figures/*"), folder / "README.md"]
    return {path.name: path.read_bytes() for path in paths}


def test_jobs_do_not_change_a_byte_and_a_second_run_finds_its_cells(tmp_path: Path) -> None:
    few = study(conditions=["clusters", "precision_few", "f1_gain"], tests=["sign_flips", "fisher"])
    first = ss.run_study(few, out=tmp_path / "first", n_jobs=2)
    again = ss.run_study(few, out=tmp_path / "again", n_jobs=1)
    assert written(again.folder) == written(first.folder)
    cells = {path: path.stat().st_mtime_ns for path in (first.folder / "cells").iterdir()}
    assert len(cells) == 3 * 2 * 2
    ss.run_study(few, out=tmp_path / "first", n_jobs=2)
    assert {path: path.stat().st_mtime_ns for path in (first.folder / "cells").iterdir()} == cells


def test_a_study_of_coverage_alone(tmp_path: Path) -> None:
    results = ss.run_study(study(conditions=["f1_gain"]), out=tmp_path, n_jobs=1)
    assert set(results.tables) == {"coverage", "conditions"}
    assert results.tables["coverage"]["condition"].unique().tolist() == ["f1_gain"]
    page = (tmp_path / "README.md").read_text()
    assert "## Coverage of the interval" in page
    assert "error_rates.png" not in page


BAD = {"title": "T", "systems": "S", "model": "RightOrWrong", "parameters": {"accuracy": [0.8, 0.8], "between": 0.5}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conditions": {"f2": BAD | {"model": "Coins"}}}, "conditions.f2.model: it must be one of Acceptances, Clus"),
        ({"conditions": {"f2": BAD}}, "conditions.f2: parameters are not those of RightOrWrong: "),
        ({"conditions": {"f2": BAD | {"parameters": {}}}}, "conditions.f2: parameters are not those of RightOrWrong: "),
        ({"conditions": {}}, "conditions: dictionary should have at least 1 item"),
        ({"tests": ["t_test"]}, "tests.0: it must be one of sign_flips, bootstrap"),
        ({"shown": [40, 50]}, r"shown must be some of n_units, not [40, 50] of [6, 40]"),
        ({"n_units": [1, 40]}, "n_units.0: input should be greater than or equal to 2, not 1"),
        ({"aims": {"target": [0.03, 1.2]}}, "aims.target.1: input should be less than or equal to 1, not 1.2"),
        ({"set": 3}, "unknown key 'set' (did you mean 'sets'?)"),
    ],
)
def test_wrong_keys_and_values_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        small("error_rates", **{**SMALL, **changes})
    assert message in str(error.value)
