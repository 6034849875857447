"""The study of Yeh 2000, small: its numbers against plain arithmetic, scipy and what the paper prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.running.folders import MANIFEST
from simstudy.studies import Results, Study, StudyError, derived_seed
from tests.experiments.programs import assert_shipped, program, small
from tests.oracles import could_be

NAME = "yeh_2000"
# Relations found by both methods and by one of them, and spurious ones (sections 2.2 and 3.3).
BOTH, ONLY_1, ONLY_2 = 19, 28, 6
SPURIOUS_BOTH, SPURIOUS_1, SPURIOUS_2 = 5, 43, 9
PAPERS_SHUFFLES = 1_048_576
SHUFFLES = 4_096

SMALL: dict[str, dict[str, Any]] = {
    "systems": {"task": "digits", "test_set": "rotated 20°", "training": {"fractions": [0.1], "replicates": [2]}},
    "tests": {"alpha": 0.2, "n_shown": 3, "n_resamples": 300},
    "dependence": {
        "accuracy": 0.7, "n_clusters": 4, "cluster_size": 3, "within": [0.0, 0.4], "between": 0.5, "n_data": 2
    },
}  # fmt: skip


def study(**changes: Any) -> Study:
    return small("yeh_2000", **{"n_shuffles": SHUFFLES, "seed": 5, **SMALL, **changes})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(study(), out=tmp_path_factory.mktemp("yeh"), n_jobs=1)


def score(metric: str, found: Any, spurious: Any, relations: int) -> Any:
    """In percent."""
    recall, precision = found / relations, found / (found + spurious)
    return 100 * {"recall": recall, "precision": precision, "f1": 2 * recall * precision / (recall + precision)}[metric]


def shuffled_p(metric: str, relations: int, *, two_sided: bool) -> float:
    """The share of extreme ones of all 2^86 shuffles: method I is given i of the 34 found and j of the 52 spurious."""
    n_found, n_spurious = ONLY_1 + ONLY_2, SPURIOUS_1 + SPURIOUS_2
    i, j = np.mgrid[: n_found + 1, : n_spurious + 1]
    share = stats.binom.pmf(i, n_found, 0.5) * stats.binom.pmf(j, n_spurious, 0.5)
    gain = score(metric, BOTH + i, SPURIOUS_BOTH + j, relations) - score(
        metric, BOTH + n_found - i, SPURIOUS_BOTH + n_spurious - j, relations
    )
    observed = gain[ONLY_1, SPURIOUS_1]
    gain = np.abs(gain) if two_sided else gain * np.sign(observed)
    return float(share[gain >= abs(observed) - 1e-9].sum())


def printed(done: Results) -> pd.Series:
    return done.tables["example"].set_index("quantity")["printed"]


def computed(done: Results, relations: int) -> pd.Series:
    return done.tables["example"].set_index("quantity")[f"of {relations} relations"]


@pytest.mark.parametrize("relations", [103, 104])
def test_scores_are_plain_arithmetic(done: Results, relations: int) -> None:
    values = computed(done, relations)
    for metric in ("recall", "precision", "f1"):
        of_1 = score(metric, BOTH + ONLY_1, SPURIOUS_BOTH + SPURIOUS_1, relations)
        of_2 = score(metric, BOTH + ONLY_2, SPURIOUS_BOTH + SPURIOUS_2, relations)
        assert values[f"{metric} of I, %"] == pytest.approx(of_1, rel=1e-12)
        assert values[f"{metric} of II, %"] == pytest.approx(of_2, rel=1e-12)


def test_printed_percentages_come_out_of_103_relations_and_not_of_104(done: Results) -> None:
    names = [name for name in printed(done).index if name.endswith("%")]
    assert [f"{computed(done, 103)[name]:.1f}" for name in names] == list(printed(done)[names])
    wrong = [name for name in names if f"{computed(done, 104)[name]:.1f}" != printed(done)[name]]
    assert wrong == ["recall of I, %", "recall of II, %", "f1 of I, %", "f1 of II, %"], "precision has no relations"


def test_chi_square_and_correlation_are_the_printed_ones(done: Results) -> None:
    responses = [[BOTH + ONLY_1, SPURIOUS_BOTH + SPURIOUS_1], [BOTH + ONLY_2, SPURIOUS_BOTH + SPURIOUS_2]]
    expected = stats.chi2_contingency(responses, correction=False)
    for relations in (103, 104):
        values = computed(done, relations)
        assert values["chi-square of the precisions"] == pytest.approx(expected.statistic)
        assert values["its p-value"] == pytest.approx(expected.pvalue)
        by_1 = np.repeat([1, 1, 0, 0], [BOTH, ONLY_1, ONLY_2, relations - BOTH - ONLY_1 - ONLY_2])
        by_2 = np.repeat([1, 0, 1, 0], [BOTH, ONLY_1, ONLY_2, relations - BOTH - ONLY_1 - ONLY_2])
        assert values["correlation r12 of the recalls"] == pytest.approx(np.corrcoef(by_1, by_2)[0, 1])
        assert f"{values['chi-square of the precisions']:.2f}" == "2.38"
        assert f"{values['correlation r12 of the recalls']:.2f}" == "0.35"
        assert 0.1 < values["its p-value"] < 0.2, "10% to 20%"
    assert list(printed(done).iloc[-3:]) == ["2.38", "0.10 - 0.20", "0.35"]


@pytest.mark.parametrize("metric", ["recall", "precision", "f1"])
def test_exact_randomization_is_a_grid_of_binomial_weights(done: Results, metric: str) -> None:
    rows = done.tables["randomization"].query("metric == @metric").set_index("alternative")
    for relations in (103, 104):
        one_sided = shuffled_p(metric, relations, two_sided=False)
        assert rows.loc["greater", f"exact_p_{relations}"] == pytest.approx(one_sided, rel=1e-9)
        two_sided = shuffled_p(metric, relations, two_sided=True)
        assert rows.loc["two-sided", f"exact_p_{relations}"] == pytest.approx(two_sided, rel=1e-9)
        assert two_sided == pytest.approx(2 * one_sided, rel=1e-9), "swapping all responses turns the gain round"


def test_the_papers_counts_are_measured_in_standard_errors_of_its_own_shuffles(done: Results) -> None:
    rows = done.tables["randomization"].query("alternative == 'greater'").set_index("metric")
    assert dict(rows["printed_n_extreme"]) == {"recall": 96, "precision": 25_770, "f1": 14_794}
    for metric, row in rows.iterrows():
        expected = stats.binom(PAPERS_SHUFFLES, shuffled_p(str(metric), 103, two_sided=False))
        assert row.z_printed == pytest.approx((row.printed_n_extreme - expected.mean()) / expected.std(), rel=1e-6)
    assert abs(rows.loc["recall", "z_printed"]) < 1
    assert rows.loc["precision", "z_printed"] > 30
    two_sided = done.tables["randomization"].query("alternative == 'two-sided'")
    assert two_sided[["printed_n_extreme", "z_printed"]].isna().all(axis=None)


def test_our_shuffles_agree_with_the_exact_p(done: Results) -> None:
    for row in done.tables["randomization"].itertuples():
        exact = shuffled_p(row.metric, 103, two_sided=row.alternative == "two-sided")
        assert could_be(round(row.p_value * (SHUFFLES + 1)) - 1, SHUFFLES, exact)
        n_extreme = round(row.p_value * (SHUFFLES + 1)) - 1
        interval = stats.binomtest(n_extreme, SHUFFLES).proportion_ci(method="exact")
        assert (row.p_low, row.p_high) == pytest.approx(tuple(interval))
        assert row.p_low < row.p_value < row.p_high
        expected = stats.binom(SHUFFLES, exact)
        assert row.z_ours == pytest.approx((n_extreme - expected.mean()) / expected.std(), rel=1e-6)


def test_tables_of_the_example_are_the_shipped_ones(done: Results) -> None:
    """They depend on no setting, but for our own shuffles."""
    for title in ("example", "example_tests", "independence", "five_flips"):
        assert_shipped(NAME, title, done.tables[title])
    ours = ["p_value", "p_low", "p_high", "p_value_again", "z_of_two_runs", "z_ours"]
    assert_shipped(NAME, "randomization", done.tables["randomization"].drop(columns=ours))


def test_our_shuffles_are_two_runs_of_two_seeds(done: Results) -> None:
    made = program(NAME, "example")
    asked: dict[str, Any] = {"test": "randomization", "n_resamples": SHUFFLES, "monte_carlo": True}
    for row in done.tables["randomization"].itertuples():
        twice = [
            ss.compare(made.responses(103, row.metric), alternative=row.alternative, seed=seed, **asked).frame.iloc[0]
            for seed in (5, derived_seed(5, "a second run") % 2**64)
        ]
        assert [row.p_value, row.p_value_again] == [one["p_value"] for one in twice]
        mean = sum(one["n_extreme"] for one in twice) / 2
        spread = np.sqrt(2 * mean * (1 - mean / SHUFFLES)) or 1
        assert row.z_of_two_runs == pytest.approx((twice[0]["n_extreme"] - twice[1]["n_extreme"]) / spread)


def test_tests_side_by_side_are_of_the_test_set_and_by_the_settings(done: Results) -> None:
    tests, task = done.tables["tests"], ss.training.load_task("digits")
    assert (set(tests["test_set"]), set(tests["alpha"])) == ({"rotated 20°"}, {0.2})
    assert len(done.tables["tests_disagree"]) == 3
    written = json.loads((done.folder / MANIFEST).read_text("utf-8"))
    facts = {"Shuffles": "4,096", "Systems": f"{2 * len(task.systems)} of task digits on 797 items", "Seed": "5"}
    assert {**written["page"]["facts"], **facts} == written["page"]["facts"]
    assert written["data"] == {"task": task.fingerprint, "files": {}}


def test_tests_of_item_scores_apply_to_recall_only(done: Results) -> None:
    """Section 3.2: precision and F are no means of what happens to single items."""
    table = done.tables["example_tests"].set_index(["metric", "test"])
    of_any_sums = {"sign_flips", "bootstrap", "randomization", "skew_corrected"}
    assert set(table.loc["f1"].index) == of_any_sums
    proportions = {"two_proportions", "chi_square", "precision_score", "fisher"}
    assert set(table.loc["precision"].index) == {*of_any_sums, *proportions}
    assert {"t_paired", "sign", "wilcoxon"} < set(table.loc["recall"].index)
    assert set(table.loc["precision"]["better"]) == {"II"}
    assert set(table.loc["recall"]["better"]) == {"I"}
    for test in ("sign", "mcnemar", "randomization"):
        for column, alternative in (("p_one_sided", "greater"), ("p_two_sided", "two-sided")):
            expected = stats.binomtest(ONLY_1, ONLY_1 + ONLY_2, alternative=alternative).pvalue
            assert table.loc[("recall", test), column] == pytest.approx(expected), "Yeh's check of randomization"
    chi = table.xs("chi_square", level="test")
    assert chi["p_one_sided"].isna().all()
    assert chi.loc["precision", "p_two_sided"] == pytest.approx(computed(done, 103)["its p-value"])
    fisher = table.loc[("precision", "fisher")]
    assert np.isnan(fisher["p_one_sided"]), "it has two sides only"
    expected = stats.fisher_exact([[ONLY_1, ONLY_2], [SPURIOUS_1, SPURIOUS_2]]).pvalue
    assert fisher["p_two_sided"] == pytest.approx(expected)


def test_five_flips_land_alike_once_in_32_and_more_often_when_correlated(done: Results) -> None:
    table = done.tables["five_flips"]
    assert table["all_alike"][0] == 1 / 32
    assert table["all_alike"].is_monotonic_increasing
    shape = (1 / table["correlation"][1:] - 1) / 2
    np.testing.assert_allclose(table["all_alike"][1:], stats.betabinom.pmf(5, 5, shape, shape))


def test_the_page_names_every_figure_and_table(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    drawn = {path.name for path in (done.folder / "figures").iterdir()}
    assert drawn == {f"{name}.{suffix}" for name in ("dependence", "correlation", "tests") for suffix in ("png", "svg")}
    for name in ("dependence", "correlation", "tests"):
        assert f"(figures/{name}.png)" in page
    assert {path.stem for path in done.folder.glob("*.csv")} == set(done.tables)
    for name, table in done.tables.items():
        assert f"[{name}.csv]({name}.csv): {len(table)} rows" in page
    assert "| 25,770 |" in page
    assert "nan" not in page.lower()


def test_a_terminal_shows_what_is_printed_beside_what_comes_out(done: Results) -> None:
    (rows,) = done.summary.values()
    assert list(rows) == ["metric", "alternative", "paper's p", "exact p (103)", "our shuffles"]


TOO_FEW = {"training": {"fractions": [0.0001], "replicates": [1]}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (TOO_FEW, "study 'small': systems.training: fractions must leave at least one of "),
        ({"test_set": "tset", **TOO_FEW}, "; systems.training: fractions must leave at least one of "),
        ({"test_set": "tset"}, "systems.test_set: a test set of task 'digits' must be one of test, rot"),
    ],
)
def test_wrong_names_and_counts_are_refused_before_anything_runs(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(StudyError) as error:
        ss.run_study(study(systems={**SMALL["systems"], **changes}), out=tmp_path / "out", n_jobs=1)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_the_papers_percentages_are_those_of_103_relations() -> None:
    words = {"recall": ("45.6", "24.3"), "precision": ("49.5", "64.1"), "f1": ("47.5", "35.2")}
    printed = program("yeh_2000", "example").PRINTED
    assert {name: (printed[f"{name}_I"], printed[f"{name}_II"]) for name in words} == words


def test_the_table_of_independence_is_the_papers(done: Results) -> None:
    table = done.tables["independence"]
    assert list(zip(table["r12"], table["printed"], strict=True)) == [(0.38, 1.27), (0.5, 1.41), (0.8, 2.24)]
    assert table["computed"].round(2).tolist() == table["printed"].tolist()
