"""The tables and figures of several tasks of made-up counts, its cells by loops, and the tasks that it draws."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.running.fingerprints import derived_seed
from simstudy.studies import RunContext
from tests.experiments.programs import drawn_lines, figures_of, known_otherwise, program, small, told

STUDY, METHODS, SETTINGS, SUITES = (program("many_tasks", part) for part in ("study", "methods", "settings", "suites"))
KEYS = ["sizes", "agreement", "n_tasks", "truth", "redrawn"]
QUESTIONS = [
    *product([SETTINGS.NO_GAIN, SETTINGS.DIFFERENT, SETTINGS.GAIN], [SETTINGS.FIXED]),
    *product([SETTINGS.DIFFERENT, SETTINGS.SKEWED, SETTINGS.GAIN], [SETTINGS.DRAWN]),
]


def study(**changes: Any) -> Any:
    few: dict[str, Any] = {
        "alpha": 0.2, "seed": 6, "n_tasks": [8, 4], "n_sets": 5, "block": 2, "n_flips": 19, "suites": [],
        "least": 0.3, "most": 0.7, "spread": 0.2, "gain": 0.15,
        "sizes": {"equal": {"title": "40 items a task", "least": 40, "most": 40},
                  "unequal": {"title": "20 to 90 items a task", "least": 20, "most": 90}},
        "agreement": {"usual": {"title": "usual pair", "correlation": 0.4},
                      "alike": {"title": "alike", "correlation": 0.8}},
    }  # fmt: skip
    return small("many_tasks", **{**few, **changes})


@pytest.fixture(scope="module")
def ran() -> tuple[Any, dict[tuple[Any, ...], dict[str, float]], list[Any]]:
    """What a run finds of made-up counts, the sums of these counts over blocks, and its cells."""
    rng, sums = np.random.default_rng(8), dict[tuple[Any, ...], dict[str, float]]()

    def answer(cell: Any) -> list[dict[str, Any]]:
        n_sets, rows = cell.arguments[-1], []
        for method in METHODS.METHODS:
            row = {"n_sets": n_sets, "n_significant": int(rng.integers(0, n_sets + 1)),
                   "n_covered": int(rng.integers(0, n_sets + 1)),
                   "n_intervals": int(rng.integers(1, n_sets + 1)) * (method != METHODS.WON),
                   "sum_true": rng.random(), "sum_half": rng.random()}  # fmt: skip
            old = sums.get((*cell.arguments[1:6], method), dict.fromkeys(row, 0))
            sums[(*cell.arguments[1:6], method)] = {name: old[name] + value for name, value in row.items()}
            rows.append({"method": method, **row})
        return rows

    found, (cells,) = told("many_tasks", study(), answer)
    return found, sums, cells


def test_rates_are_of_all_suites_of_all_blocks_in_the_order_of_the_settings(ran: Any) -> None:
    found, sums, cells = ran
    table = found.tables["rates"]
    asked = [
        (sizes, pair, n, *question, method)
        for sizes in ("equal", "unequal")
        for pair in ("usual", "alike")
        for question in QUESTIONS
        for n in (4, 8)
        for method in METHODS.METHODS
    ]
    assert list(table[[*KEYS, "method"]].itertuples(index=False, name=None)) == asked
    intervals = {n: stats.binomtest(n, 5).proportion_ci(method="exact") for n in range(6)}
    for row in table.to_dict("records"):
        own = sums[tuple(row[name] for name in [*KEYS, "method"])]
        counts = ["n_sets", "n_significant", "n_covered", "n_intervals"]
        assert [row[name] for name in counts] == [own[name] for name in counts]
        assert (row["n_sets"], row["alpha"], row["null"]) == (5, 0.2, row["truth"] != SETTINGS.GAIN)
        assert row["true_gain"] == pytest.approx(100 * own["sum_true"] / 5)
        for count, names in (("n_significant", ("share", "low", "high")),
                             ("n_covered", ("coverage", "coverage_low", "coverage_high"))):  # fmt: skip
            values: Any = (own[count] / 5, *intervals[int(own[count])])
            if count == "n_covered" and row["method"] == METHODS.WON:
                values = (np.nan,) * 3
            assert tuple(row[name] for name in names) == pytest.approx(values, nan_ok=True)
        half = 100 * own["sum_half"] / own["n_intervals"] if own["n_intervals"] else np.nan
        assert row["half_width"] == pytest.approx(half, nan_ok=True)
    assert found.facts == {"Suites": "5 of each condition, truth and number of tasks", "Seed": "6"}
    assert [cell.arguments[-2:] for cell in cells[:3]] == [(0, 2), (1, 2), (2, 1)]
    shown = STUDY.show(study(), found.tables)
    ((title, text),) = ((title, table.text()) for title, table in shown.summary.items())
    assert title == "Rejections of true null hypotheses"
    assert text.iloc[0].tolist()[:5] == ["equal", "usual", "4", SETTINGS.NO_GAIN, SETTINGS.FIXED]
    assert text.iloc[0].tolist()[5:] == [f"{share:.3f}" for share in table["share"].head(5)]
    assert len(text) == 2 * 2 * 4 * 2, "a gain is no null hypothesis"


def test_figures_are_of_the_last_sizes_and_the_first_pair(ran: Any) -> None:
    table = ran[0].tables["rates"].query("sizes == 'unequal' and agreement == 'usual'")
    figures = figures_of(STUDY.show(study(), ran[0].tables))
    words = {SETTINGS.FIXED: "these tasks", SETTINGS.DRAWN: "tasks like these"}
    short = {"test for these tasks": METHODS.MACRO, "for tasks like these: sign flips": METHODS.FLIPS,
             "for tasks like these: t test": METHODS.T_TASKS, "items pooled": METHODS.POOLED,
             "tasks won": METHODS.WON}  # fmt: skip
    for name, columns, level, left_out in (
        ("type_1_errors", ["share", "low", "high"], 0.2, []),
        ("coverage", ["coverage", "coverage_low", "coverage_high"], 0.8, [METHODS.FLIPS, METHODS.WON]),
    ):
        axes = [ax for ax in figures[name].axes if ax.containers]
        questions = [(truth, of) for truth, of in QUESTIONS if name == "coverage" or truth != SETTINGS.GAIN]
        assert [ax.get_title("left") for ax in axes] == [f"{words[of]}: {truth}" for truth, of in questions]
        for ax, (truth, redrawn) in zip(axes, questions, strict=True):
            lines = drawn_lines(ax)
            assert [*lines] == [label for label, method in short.items() if method not in left_out]
            for label, (_, *line) in lines.items():
                own = table[(table["truth"] == truth) & (table["redrawn"] == redrawn)]
                own = own[own["method"] == short[label]].sort_values("n_tasks")
                assert line == [pytest.approx(own[column].tolist()) for column in columns]
            assert [tick.get_text() for tick in ax.get_xticklabels()] in (["4", "8"], [])
            assert set(ax.get_lines()[0].get_ydata()) == {level}


@pytest.mark.parametrize(("truth", "redrawn"), QUESTIONS)
def test_a_cell_counts_finds_and_intervals_of_its_suites(truth: str, redrawn: str) -> None:
    """Intervals hold the gain of the tasks at hand, or of their population where tasks are drawn, too."""
    settings, at = study(), ("unequal", "alike", 4, truth, redrawn, 1)
    rng = np.random.default_rng(derived_seed(6, *at))
    of_tasks = (settings.sizes["unequal"], settings.agreement["alike"])
    tasks = SETTINGS.Tasks.draw(settings, *of_tasks, truth, redrawn, (30, 4), rng)
    won = rng.binomial(tasks.n_items, tasks.first)
    # Of the items that the first system has not won, the second one wins its share.
    lost = rng.binomial(tasks.n_items - won, tasks.second / (1 - tasks.first))
    found = dict(METHODS.outcomes(tasks.n_items, won, lost, settings, rng))
    a = np.linspace(0.3, 0.7, 100_001)
    true = np.full(30, 0.15 * np.mean(2 * a * (1 - a)) * 0.2 if truth == SETTINGS.GAIN else 0)
    if redrawn == SETTINGS.FIXED:
        true = (tasks.first - tasks.second).mean(axis=1)
    for row in METHODS.examine(settings, *at, 30):
        own = found[row["method"]]
        covered = [abs(gain - one) <= (0 if np.isnan(half) else half) + 1e-9
                   for gain, half, one in zip(own["gain"], own["half"], true, strict=True)]  # fmt: skip
        assert [row[name] for name in ("n_sets", "n_significant", "n_covered", "n_intervals")] == [
            30, sum(p <= 0.2 + 1e-9 for p in own["p"]), sum(covered), (~np.isnan(own["half"])).sum(),
        ]  # fmt: skip
        assert row["sum_true"] == pytest.approx(true.sum(), rel=1e-5, abs=1e-12)
        assert row["sum_half"] == pytest.approx(own["half"][~np.isnan(own["half"])].sum())
        assert (row["n_intervals"] == 0) == (row["method"] == METHODS.WON)


@pytest.mark.parametrize("redrawn", SETTINGS.REDRAWN)
def test_tasks_have_the_sizes_accuracies_and_gains_of_the_settings(redrawn: str, rng: np.random.Generator) -> None:
    """Shares of items that differ are 2 a (1 - a) (1 - correlation); own gains are shares of these."""
    settings, shape = study(), (500, 40)
    for truth in SETTINGS.TRUTHS:
        of_tasks = (settings.sizes["unequal"], settings.agreement["usual"])
        tasks = SETTINGS.Tasks.draw(settings, *of_tasks, truth, redrawn, shape, rng)
        again = SETTINGS.Tasks.draw(settings, *of_tasks, truth, redrawn, shape, rng)
        assert np.array_equal(tasks.n_items, again.n_items) == (redrawn == SETTINGS.FIXED), "the same in every block"
        differ = tasks.first + tasks.second
        assert min(tasks.first.min(), tasks.second.min()) > 0
        np.testing.assert_allclose(tasks.gain, (tasks.first - tasks.second).mean(axis=1), atol=1e-12)
        assert (tasks.n_items.min(), tasks.n_items.max()) == (20, 90)
        assert np.median(tasks.n_items) == pytest.approx(np.sqrt(20 * 90), rel=0.03)
        assert (differ.min(), differ.max()) == pytest.approx((0.42 * 0.6, 0.5 * 0.6), abs=2e-3)
        own = (tasks.first - tasks.second) / differ
        spread = {SETTINGS.NO_GAIN: 0, SETTINGS.SKEWED: 0.2}.get(truth, 0.2 * 0.96)
        assert own.std() == pytest.approx(spread, abs=4e-3 if redrawn == SETTINGS.DRAWN else 0.08)
        one = 0.15 if truth == SETTINGS.GAIN else 0
        if redrawn == SETTINGS.DRAWN and truth in (SETTINGS.DIFFERENT, SETTINGS.GAIN):
            assert (own.min(), own.max()) == pytest.approx((one - 0.4, one + 0.4)), "no task is beyond two spreads"
        if redrawn == SETTINGS.DRAWN and truth == SETTINGS.SKEWED:
            assert sorted({*own.round(9).ravel()}) == pytest.approx([-0.2 / 3, 0.6])
            assert (own > 0).mean() == pytest.approx(0.1, abs=0.01)
        if redrawn == SETTINGS.FIXED:
            np.testing.assert_allclose(tasks.gain, one * differ.mean(axis=1), atol=1e-12)
            np.testing.assert_allclose(sorted(differ[7]), sorted(1.2 * a * (1 - a) for a in np.linspace(0.3, 0.7, 40)))
            assert not np.allclose(differ[0], np.sort(differ[0])), "difficulties do not go with sizes"
    one, other = (SETTINGS.Tasks.draw(study(seed=seed), *of_tasks, truth, redrawn, shape, np.random.default_rng(1))
                  for seed in (6, 7))  # fmt: skip
    assert np.array_equal(one.first, other.first) == (redrawn == SETTINGS.DRAWN)


def test_an_interval_that_is_not_there_holds_no_other_gain() -> None:
    found = {"p": np.array([0.2, 0.21, 0.1, 0.9]), "gain": np.array([0, 0.05, 0.05, 0.2]),
             "half": np.array([np.nan, np.nan, 0.1, 0.1])}  # fmt: skip
    assert METHODS.counted("m", found, 0.0, 0.2) == {
        "method": "m", "n_sets": 4, "n_significant": 2, "n_covered": 2, "n_intervals": 2, "sum_true": 0.0,
        "sum_half": pytest.approx(0.2),
    }  # fmt: skip


def test_real_suites_are_test_sets_by_themselves_or_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def outputs_of(name: str, context: Any, *, test_sets: list[str], metrics: list[str]) -> Any:
        asked.append((name, test_sets, metrics))
        scores = pd.DataFrame({"a": [1, 0], "b": [1, 1]}, index=["p", "q"])
        sets = {of: ss.Outputs.from_scores(scores, "accuracy", test_set=of)
                for of in test_sets}  # fmt: skip
        return {of: type("Read", (), {"outputs": outputs}) for of, outputs in sets.items()}, {
            f"{test_sets[0]}.csv": "h"
        }

    monkeypatch.setattr(SUITES, "outputs_of", outputs_of)
    suites = [{"name": "one", "study": "s", "test_sets": ["x"]}, {"name": "two", "study": "s", "test_sets": ["y", "z"]}]
    found, hashes = SUITES.read_suites(study(suites=suites), RunContext.__new__(RunContext))
    assert asked == [("s", ["x"], ["accuracy"]), ("s", ["y", "z"], ["accuracy"])]
    assert {name: (of.test_set, of.n_items) for name, of in found.items()} == {"one": ("x", 2), "two": ("two", 4)}
    assert hashes == {"s": {"x.csv": "h", "y.csv": "h"}}


def test_cells_are_computed_again_where_what_they_depend_on_changes() -> None:
    settings = study()
    base = settings.model_dump()
    for change, parts in (
        *(({name: value}, {0}) for name, value in {
            "alpha": 0.1, "seed": 1, "spread": 0.1, "gain": 0.1, "least": 0.2, "most": 0.8, "n_flips": 29, "block": 3,
        }.items()),
        ({"sizes": base["sizes"] | {"equal": base["sizes"]["equal"] | {"most": 50}}}, {0}),
        ({"agreement": base["agreement"] | {"alike": {"title": "alike", "correlation": 0.7}}}, {0}),
        ({"agreement": base["agreement"] | {"alike": {"title": "other", "correlation": 0.8}}}, set()),
    ):  # fmt: skip
        assert known_otherwise("many_tasks", settings, study(**change), 1) == parts, change
