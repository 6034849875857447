"""The tables and figures of repeated gates of made-up counts, and its cells against loops over test sets and looks."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.running.fingerprints import derived_seed
from tests.experiments.programs import drawn_lines, figures_of, known_otherwise, program, small, told

STUDY, COMMITS, GROWING = (program("repeated_gates", part) for part in ("study", "commits", "growing"))
METHODS = ["usual test at each look", "sequential test"]
# Items until the end over planned ones, of the five test sets of two gains.
COSTS = {0.1: [2.5, 0.5, np.inf, 1.0, 1.5], 0.2: [3.5, 0.2, 0.4, np.inf, 1.2]}


def study(**changes: Any) -> Any:
    few: dict[str, Any] = {
        "alpha": 0.1, "power": 0.6, "seed": 4,
        "growing": {"step": 15, "n_looks": [1, 4], "sets": 5, "most": 3, "block": 2},
        "conditions": {
            "answers": {"title": "answers here", "kind": "answers", "differ": 0.3, "gains": [0.1, 0.2]},
            "graded": {"title": "graded here", "kind": "graded", "width": 0.5},
            "topics": {"title": "topics here", "kind": "answers", "differ": 0.5, "by_topic": 0.4},
        },
        "commits": {"n_items": 80, "n_commits": 7, "score": 0.7, "differ": 0.2, "changed": 0.1, "better_every": 3,
                    "n_looks": [1, 3, 7], "sets": 4, "block": 2},
    }  # fmt: skip
    return small("repeated_gates", **{**few, **changes})


@pytest.fixture(scope="module")
def ran() -> tuple[Any, dict[tuple[Any, ...], int]]:
    """What a run finds of made-up counts, and the sums of these counts over blocks."""
    sums: dict[tuple[Any, ...], int] = {}
    number, costs = count(1), {gain: iter(items) for gain, items in COSTS.items()}

    def answer(cell: Any) -> Any:
        kind, which, n_sets = cell.label.split()[0], cell.arguments[1], cell.arguments[-1]
        if kind == "cost":
            return [0.5 if n_sets == 2 else 1.0, *(next(costs[cell.arguments[2]]) for _ in range(n_sets))]
        rows = []
        for n in (1, 4) if kind == "growing" else (1, 3, 7):
            for method in METHODS if kind == "growing" else COMMITS.RULES:
                counts = {"n_rejected" if kind == "growing" else "n_false": next(number) % (n_sets + 1)}
                if kind == "commits":
                    better = which == COMMITS.SOME_BETTER and n == 3
                    counts["n_found"] = next(number) % (n_sets + 1) if better else None
                for name, value in counts.items():
                    key = (kind, which, n, method, name)
                    sums[key] = sums.get(key, 0) + (value or 0)
                rows.append(
                    {"n_looks": n, "method" if kind == "growing" else "rule": method, "n_sets": n_sets, **counts}
                )
        return rows

    return told("repeated_gates", study(), answer)[0], sums


def test_tables_are_shares_of_all_test_sets_of_all_blocks(ran: Any) -> None:
    found, sums = ran
    asked = {"growing": ("condition", "method", "n_rejected"), "commits": ("truth", "rule", "n_false")}
    for kind, (which, method, name) in asked.items():
        for row in found.tables[kind].to_dict("records"):
            key = (kind, row[which], row["n_looks"], row[method])
            n, n_sets = sums[*key, name], 5 if kind == "growing" else 4
            ends = stats.binomtest(n, n_sets).proportion_ci(method="exact")
            assert [row["n_sets"], row[name], row["share"]] == [n_sets, n, n / n_sets]
            assert (row["low"], row["high"]) == pytest.approx(tuple(ends))
            if kind == "commits":
                found_at = sums[*key, "n_found"] / 4 if row["n_looks"] == 3 and "better than" in row[which] else np.nan
                assert row["power"] == pytest.approx(found_at, nan_ok=True)
    assert [len(found.tables[name]) for name in ("growing", "cost", "commits")] == [3 * 2 * 2, 2, 3 * 3 * 3]
    assert found.facts == {"Sets": "5 of each condition, 4 of commits", "Seed": "4"}


def test_costs_are_of_all_blocks_and_count_no_end_as_the_most(ran: Any) -> None:
    """The power of the usual test is the mean of 0.5 in four test sets and 1 in the fifth."""
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.6)
    for row, (gain, items) in zip(ran[0].tables["cost"].to_dict("records"), COSTS.items(), strict=True):
        ended = np.minimum(items, 3)
        low, high = sorted(items)[2:4]
        assert row == {
            "condition": "answers", "gain": gain, "n_planned": np.ceil(z**2 * (0.3 - gain**2) / gain**2), "n_sets": 5,
            "power_usual": pytest.approx(0.6), "mean_items": pytest.approx(ended.mean()),
            "mean_items_se": pytest.approx(ended.std() / np.sqrt(5)), "median_items": low,
            "items_of_power": pytest.approx(0.6 * low + 0.4 * high), "ended_by_plan": 0.4, "no_end": 0.2,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        # Of five numbers, the quantile is number 1 + 4 * share: a number itself, or on the line between two.
        (0.75, 3.5), (0.5, 1.2), (0.625, 2.35), (0.8, np.inf), (0.9, np.inf), (1.0, np.inf),
    ],
)  # fmt: skip
def test_quantiles_of_numbers_of_which_one_is_infinite(share: float, expected: float) -> None:
    assert STUDY.quantile(np.array([0.4, np.inf, 0.2, 3.5, 1.2]), share) == pytest.approx(expected, rel=1e-12)


def test_quantile_between_two_infinities_is_infinite() -> None:
    assert STUDY.quantile(np.array([0.2, np.inf, np.inf]), 0.75) == np.inf


def test_figures_leave_out_topics_and_commits_of_which_some_are_better(ran: Any) -> None:
    tables = ran[0].tables
    shown = STUDY.show(study(), tables)
    figures = figures_of(shown)
    of_commits = [COMMITS.EQUAL, COMMITS.KEPT]
    for name, panel, titles, line, lines in (
        ("growing", "method", METHODS, "condition", {"answers": "answers here", "graded": "graded here"}),
        ("commits", "truth", of_commits, "rule", {rule: rule for rule in COMMITS.RULES}),
    ):
        axes = [ax for ax in figures[name].axes if ax.containers]
        assert [ax.get_title("left") for ax in axes] == titles
        drawn_rows = tables[name][tables[name][panel].isin(titles) & tables[name][line].isin(lines)]
        for ax, title in zip(axes, titles, strict=True):
            drawn = drawn_lines(ax)
            assert [*drawn] == [*lines.values()]
            for key, label in lines.items():
                own = drawn_rows[(drawn_rows[panel] == title) & (drawn_rows[line] == key)]
                columns = ("n_looks", "share", "low", "high")
                assert drawn[label] == tuple(pytest.approx(own[column].tolist()) for column in columns)
            assert set(ax.get_lines()[0].get_ydata()) == {0.1}, "the level"
            assert ax.get_ylim() == (0, pytest.approx(1.05 * drawn_rows["high"].max()))
    growing, commits = (table.text() for table in shown.summary.values())
    assert [*shown.summary] == ["False claims at any look while items arrive",
                                "False passes by any look of another commit"]  # fmt: skip
    rows = tables["growing"].set_index(["condition", "n_looks", "method"])["share"]
    assert growing.to_numpy().tolist() == [
        [name, str(n), *(f"{rows[name, n, method]:.3f}" for method in METHODS)]
        for name in ("answers", "graded", "topics") for n in (1, 4)
    ]  # fmt: skip
    rows = tables["commits"].set_index(["truth", "n_looks", "rule"])["share"]
    assert commits.to_numpy().tolist() == [
        [truth, str(n), *(f"{rows[truth, n, rule]:.3f}" for rule in COMMITS.RULES)]
        for truth in COMMITS.TRUTHS for n in (1, 3, 7)
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["answers", "graded"])
def test_looks_and_costs_are_those_of_loops_over_test_sets(name: str) -> None:
    """The usual test of the items so far, by scipy; the sequential one is asked after each item."""
    settings, n_sets = study(), 25

    def usual(differences: Any) -> float:
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        if name == "answers":
            return float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
        return float(stats.ttest_1samp(differences, 0).pvalue)

    condition = settings.conditions[name]
    rng = np.random.default_rng(derived_seed(4, "growing", name, 1))
    drawn = condition.draw((n_sets, 60), 0.0, rng)
    first = [GROWING.first_rejection(own, 0.1) for own in drawn]
    by_look = [[usual(own[: 15 * look]) <= 0.1 for look in range(1, 5)] for own in drawn]
    found = GROWING.look_again(settings, name, 1, n_sets)
    assert [tuple(row.values()) for row in found] == [
        *((n, METHODS[0], n_sets, sum(any(looks[:n]) for looks in by_look)) for n in (1, 4)),
        *((n, METHODS[1], n_sets, sum(item <= 15 * n for item in first)) for n in (1, 4)),
    ]
    gain = 0.15
    n_planned = GROWING.planned_items(settings, condition, gain)
    rng = np.random.default_rng(derived_seed(4, "cost", name, gain, 1))
    drawn = condition.draw((n_sets, 3 * n_planned), gain, rng)
    share, *items = GROWING.cost(settings, name, gain, 1, n_sets)
    assert share == np.mean([usual(own[:n_planned]) <= 0.1 for own in drawn])
    assert items == [GROWING.first_rejection(own, 0.1) / n_planned for own in drawn]
    assert 0.3 < share < 0.9


def test_commits_pass_as_in_loops_and_each_third_of_them_has_the_gain_of_the_plan() -> None:
    """A better commit turns more wrong answers into right ones; a pass of a better one is found, of another false."""
    settings, n_sets = study(), 25
    of = settings.commits
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.6)
    gain = z * np.sqrt(0.2 / 80)
    assert COMMITS.gain(settings) == pytest.approx(gain)
    for truth in COMMITS.TRUTHS:
        rng = np.random.default_rng(derived_seed(4, "commits", truth, 2))
        better = [truth == COMMITS.SOME_BETTER and k in (2, 5) for k in range(7)]
        if truth == COMMITS.KEPT:
            p, ahead = COMMITS.kept(settings, n_sets, rng)
        else:
            p, ahead = np.ones((n_sets, 7)), np.zeros((n_sets, 7), dtype=bool)
            right = rng.random((n_sets, of.n_items, 1))[..., 0] < 0.7
            for k in range(7):
                drawn = rng.random((n_sets, of.n_items))
                for m, (own, chance) in enumerate(zip(right, drawn, strict=True)):
                    losses = sum(chance[own] < 0.1 / 0.7)
                    wins = sum(chance[~own] < (0.1 + gain * better[k]) / 0.3)
                    ahead[m, k] = wins > losses
                    p[m, k] = stats.binomtest(int(wins), int(wins + losses)).pvalue
        rows = COMMITS.examine(settings, truth, 2, n_sets)
        assert [(row["rule"], row["n_looks"]) for row in rows] == [
            (rule, n) for rule in COMMITS.RULES for n in (1, 3, 7)
        ]
        for row in rows:
            passed = COMMITS.gate(p, ahead, row["rule"], settings)
            false = [any(yes and not is_better for yes, is_better in zip(own[: row["n_looks"]], better, strict=False))
                     for own in passed]  # fmt: skip
            found = int(passed[:, row["n_looks"] - 1].sum()) if better[row["n_looks"] - 1] else None
            assert (row["n_sets"], row["n_false"], row["n_found"]) == (n_sets, sum(false), found)
    assert COMMITS.share(settings, COMMITS.PLANNED, 2) == pytest.approx(0.1 / 7)
    n_times = ((stats.norm.isf(0.01 / 2) + stats.norm.ppf(0.6)) / z) ** 2
    assert COMMITS.times_items(settings, 0.01) == pytest.approx(n_times)


def test_topics_are_of_half_of_the_items_each() -> None:
    drawn = study().conditions["topics"].draw((4000, 21), 0.0, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.mean(axis=0), [0.4] * 10 + [-0.4] * 11, atol=0.05)


def test_cells_are_computed_again_where_what_they_depend_on_changes() -> None:
    """The three parts: looks while items arrive, items until the end, and commits."""
    settings = study()
    base = settings.model_dump()
    answers = base["conditions"]["answers"]
    for change, parts in (
        ({"alpha": 0.05}, {0, 1, 2}), ({"power": 0.7}, {1, 2}), ({"seed": 1}, {0, 1, 2}),
        ({"conditions": {"answers": answers | {"differ": 0.35}}}, {0, 1}),
        ({"conditions": {"answers": answers | {"title": "other", "gains": [0.1]}}}, set()),
        ({"growing": base["growing"] | {"step": 10}}, {0}), ({"growing": base["growing"] | {"most": 4}}, {1}),
        ({"growing": base["growing"] | {"n_looks": [1, 5]}}, {0}), ({"growing": base["growing"] | {"sets": 6}}, {0, 1}),
        ({"growing": base["growing"] | {"block": 3}}, {0, 1}),
        ({"commits": base["commits"] | {"changed": 0.2}}, {2}), ({"commits": base["commits"] | {"sets": 6}}, set()),
    ):  # fmt: skip
        assert known_otherwise("repeated_gates", settings, study(**change), 3) == parts, change
