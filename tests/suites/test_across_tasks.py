"""Averages of tasks against brute force, scipy's tests, and `compare` where an average is one test set."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.metrics.mean import LOWER_MEAN
from simstudy.statistics.proportions import tango_z
from simstudy.suites import LIKE_THESE, THESE, TaskGroup
from tests.suites.made_up import SIZES, row, suite


def differences(outputs: ss.Outputs, first: str, second: str) -> dict[str, Any]:
    """Of means: the items' differences by task."""
    a, b = (outputs.names.index(name) for name in (first, second))
    found = outputs.statistics[a, :, 0] - outputs.statistics[b, :, 0]
    scale = 100.0 if outputs.metric.name == "accuracy" else 1.0
    return {t: scale * found[(outputs.items["domain"] == t).to_numpy()] for t in outputs.items["domain"].unique()}


def test_these_tasks_by_all_flips(rng: np.random.Generator) -> None:
    outputs = suite(rng, SIZES)
    found = row(ss.across_tasks(outputs), "macro", THESE)
    of = differences(outputs, found["system_a"], found["system_b"])
    parts = np.concatenate([d / len(d) / len(of) for d in of.values()])
    flips = np.array(list(product([1, -1], repeat=len(parts))))
    extreme = np.abs(flips @ parts) >= abs(parts.sum()) - 1e-9
    assert found["gain"] == pytest.approx(np.mean([d.mean() for d in of.values()]))
    assert found["p_value"] == pytest.approx(extreme.mean())


def test_two_tasks_are_welchs_test(rng: np.random.Generator) -> None:
    outputs = suite(rng, {"law": 12, "code": 30}, metric="mean")
    both = ss.across_tasks(outputs, alpha=0.1)
    found = row(both, "macro", THESE)
    tasks = differences(outputs, found["system_a"], found["system_b"])
    one, other = tasks.values()
    welch = stats.ttest_ind(one, -other, equal_var=False)
    low, high = welch.confidence_interval(0.9)
    assert found["p_t"] == pytest.approx(welch.pvalue)
    assert found["df"] == pytest.approx(welch.df)
    assert [found["gain_low"], found["gain_high"]] == pytest.approx([low / 2, high / 2])
    for task in both.by_task.itertuples():
        alone = stats.ttest_1samp(tasks[task.task], 0).confidence_interval(0.9)
        assert [task.gain_low, task.gain_high] == pytest.approx([*alone])
    assert "CI: the 90 % interval of each gain" in both.to_markdown()


def test_single_tasks_of_right_and_wrong_items_have_score_intervals(rng: np.random.Generator) -> None:
    """At its ends Tango's statistic is the quantile that belongs to 1 - alpha. A group of one task has its interval."""
    found = ss.across_tasks(suite(rng, {"law": 12, "code": 30}), alpha=0.1, groups={"one": ["code"]})
    (alone,) = found.by_task.query("task == 'code'").itertuples()
    assert [*row(found, "one", THESE)[["gain_low", "gain_high"]]] == [alone.gain_low, alone.gain_high]
    for task in found.by_task.itertuples():
        for bound, sign in ((task.gain_low, 1), (task.gain_high, -1)):
            z = tango_z(np.array(task.wins), np.array(task.losses), task.n_units, np.array(bound / 100))
            assert z == pytest.approx(sign * stats.norm.ppf(0.95), abs=1e-6)


@pytest.mark.parametrize(("metric", "alpha"), [("accuracy", 0.05), ("mean", 0.2)])
def test_tasks_like_these_by_scipy(metric: str, alpha: float, rng: np.random.Generator) -> None:
    """And of a group of one task, and of the systems: all intervals have the level that is asked for."""
    sizes = {f"t{k}": 10 + 7 * k for k in range(8)}
    outputs = suite(rng, sizes, metric=metric)
    everything = ss.across_tasks(outputs, alpha=alpha, groups={"one": ["t7"]})
    found = row(everything, "macro", LIKE_THESE)
    tasks = differences(outputs, found["system_a"], found["system_b"])
    gains = np.array([d.mean() for d in tasks.values()])
    t = stats.ttest_1samp(gains, 0)
    flips = stats.permutation_test((gains,), np.mean, permutation_type="samples", n_resamples=np.inf)
    low, high = t.confidence_interval(1 - alpha)
    assert [found["p_t"], found["gain_low"], found["gain_high"]] == pytest.approx([t.pvalue, low, high])
    assert found["p_value"] == pytest.approx(flips.pvalue)
    assert found["n_units"] == 8
    assert [found[f"tasks_{what}"] for what in ("won", "lost", "tied")] == [
        (gains > 0).sum(), (gains < 0).sum(), (gains == 0).sum()
    ]  # fmt: skip
    if metric == "mean":
        alone, expected = row(everything, "one", THESE), stats.ttest_1samp(tasks["t7"], 0).confidence_interval(0.8)
        assert [alone["gain_low"], alone["gain_high"]] == pytest.approx([*expected])
        board = everything.leaderboard.query("average == 'macro' and hypothesis == @LIKE_THESE").set_index("system")
        for name, own in zip(outputs.names, [*everything.scores.groupby("system", sort=False)["score"]], strict=True):
            assert own[0] == name
            expected = stats.ttest_1samp(own[1], 0).confidence_interval(0.8)
            assert board.loc[name, ["score_low", "score_high"]].tolist() == pytest.approx([*expected])


def spans(rng: np.random.Generator) -> ss.Outputs:
    """F1 of two systems that guess unlike many spans; two items are a document."""
    tasks = np.repeat(["law", "code", "maths"], [20, 30, 40])
    guessed, gold = rng.integers(1, [[9], [6]], (2, 90)), rng.integers(1, 6, 90)
    correct = np.minimum(rng.binomial(guessed, [[0.8], [0.6]]), gold)
    statistics = np.stack([correct, guessed, np.broadcast_to(gold, (2, 90))], axis=-1)
    items = pd.DataFrame({"id": range(90), "domain": tasks, "cluster": [f"d{i // 2}" for i in range(90)]})
    return ss.Outputs.from_statistics(statistics, "f1", ["a", "b"], items)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "precision"])
def test_the_micro_average_is_one_test_set(metric: str, rng: np.random.Generator) -> None:
    """Also where the denominators of the two systems are unlike each other."""
    outputs = suite(rng, {"law": 30, "code": 80, "maths": 45})
    if metric != "accuracy":
        outputs = spans(rng).with_metric(metric)
    found = ss.across_tasks(outputs, average="micro", unit="item")
    for hypothesis, unit in ((THESE, "item"), (LIKE_THESE, "domain")):
        of = row(found, "micro", hypothesis)
        pair = ss.compare(outputs, unit=unit).frame.iloc[0]
        assert of["system_a"] == pair["system_a"]
        assert of["gain"] == pytest.approx(pair["gain"])
        assert of["p_value"] == pytest.approx(pair["p_value"])
        if unit == "domain":
            assert of["gain_low"] == pytest.approx(pair["gain_low"])
        else:
            # Domains take away little of the variance.
            assert of["gain_se"] == pytest.approx(pair["gain_se"], rel=0.03)
            assert of["gain_high"] - of["gain"] == pytest.approx(stats.t.isf(0.025, of["df"]) * of["gain_se"])


def test_what_is_left_is_the_average_of_the_other_tasks(rng: np.random.Generator) -> None:
    outputs = suite(rng, {"law": 12, "code": 25, "maths": 18, "qa": 8}, n_systems=3)
    weights = {"law": 1.0, "code": 2.0, "maths": 1.0}
    found = ss.across_tasks(outputs, average=weights, alpha=0.2, n_resamples=99)
    assert found.n_tasks == 3
    whole = found.answer.set_index(["system_a", "system_b"])
    rest = outputs.take(np.flatnonzero(outputs.items["domain"].isin(["code", "maths"])))
    expected = ss.across_tasks(rest, average={"code": 2.0, "maths": 1.0}, alpha=0.2, n_resamples=99)
    for _, left in found.without.query("task == 'law'").iterrows():
        names = {left["system_a"], left["system_b"]}
        rows = expected.averages.query("average == 'weighted' and hypothesis == @THESE")
        other = rows[[{a, b} == names for a, b in zip(rows["system_a"], rows["system_b"], strict=True)]].iloc[0]
        sign = 1 if other["system_a"] == left["system_a"] else -1
        assert left["gain"] == pytest.approx(sign * other["gain"])
        assert left["gain_high"] - left["gain_low"] == pytest.approx(other["gain_high"] - other["gain_low"])
        of_all = whole.loc[left["system_a"], left["system_b"]]
        assert left["change"] == pytest.approx(of_all["gain"] - left["gain"])
        assert left["sign_changes"] == (left["gain"] * of_all["gain"] <= 0)
        outside = [one["gain_low"] * one["gain_high"] > 0 for one in (left, of_all)]
        assert left["significance_changes"] == (outside[0] != outside[1])
    assert (found.without.groupby(["system_a", "system_b"])["drives"].sum() == 1).all()


def test_errors_are_scores_turned_round(rng: np.random.Generator) -> None:
    outputs = suite(rng, SIZES, metric="mean")
    statistics = outputs.statistics * np.array([-1, 1])
    errors = ss.Outputs.from_statistics(statistics, LOWER_MEAN, outputs.systems, outputs.items)
    one, other = ss.across_tasks(outputs), ss.across_tasks(errors)
    columns = ["system_a", "gain", "gain_low", "p_value", "tasks_won"]
    pd.testing.assert_frame_equal(one.averages[columns], other.averages[columns])
    assert one.leaderboard["rank_high"].tolist() == other.leaderboard["rank_high"].tolist()


def test_groups(rng: np.random.Generator) -> None:
    outputs = suite(rng, {"law": 9, "code": 14, "maths": 11})
    groups = {"equal": ["law", "code"], "sized": TaskGroup(("law", "code"), by_size=True), "one": ["law"]}
    found = ss.across_tasks(outputs, groups=groups)
    part = outputs.take(np.flatnonzero(outputs.items["domain"].isin(["law", "code"])))
    expected = ss.across_tasks(part)
    a, b = found.by_task["system_a"].iloc[0], found.by_task["system_b"].iloc[0]
    for name, average in (("equal", "macro"), ("sized", "micro")):
        gain, other = row(found, name, THESE), row(expected, average, THESE)
        sign = 1 if (other["system_a"], other["system_b"]) == (a, b) else -1
        assert [gain["gain"], gain["p_value"]] == pytest.approx([sign * other["gain"], other["p_value"]])
    # One task is a test set, and no sample of tasks.
    assert found.averages.query("average == 'one'")["hypothesis"].tolist() == [THESE]
    assert row(found, "one", THESE)["p_value"] == found.by_task.query("task == 'law'")["p_value"].iloc[0]


def test_intervals_of_averages_are_their_own_systems(rng: np.random.Generator) -> None:
    """Systems come worst first, and their spreads are 1, 2 and 4: so are the widths of their intervals."""
    sizes = {f"task-{t}": 40 for t in range(6)}
    noise = rng.normal(size=40)
    scores = np.concatenate([[k + 2**k * (noise - noise.mean()) for k in range(3)]] * 6, axis=1)
    items = pd.DataFrame({"id": [f"{t}/{i}" for t in sizes for i in range(40)], "domain": np.repeat(list(sizes), 40)})
    outputs = ss.Outputs.from_statistics(
        np.stack([scores, np.ones_like(scores)], axis=-1), "mean", ["x", "y", "z"], items
    )
    found = ss.across_tasks(outputs, n_resamples=200, alpha=0.1)
    board = found.leaderboard.query("average == 'macro' and hypothesis == @THESE")
    half = (board["score_high"] - board["score"]).to_numpy()
    assert board["system"].tolist() == ["z", "y", "x"]
    assert (half / half[2]).tolist() == pytest.approx([4, 2, 1])
    se = noise.std(ddof=1) / np.sqrt(40 * 6)
    assert half[2] == pytest.approx(stats.norm.ppf(0.95) * se, rel=0.02)


def test_intervals_of_averages_end_where_no_average_can_be(rng: np.random.Generator) -> None:
    """F1 of a few unlike spans; gains lie between -100 and 100, scores between 0 and 100."""
    outputs = spans(rng).take([0, 1, 2, 20, 21, 22, 50, 51, 52])
    across = ss.across_tasks(outputs, unit="item", alpha=0.0005, groups={"two": ["law", "code"]})
    for table in (across.by_task, across.averages, across.without):
        ends = table[["gain_low", "gain_high"]].to_numpy()
        assert (np.abs(ends) <= 100).all()
        assert (np.abs(ends) == 100).any()
    ends = across.leaderboard[["score_low", "score_high"]].to_numpy()
    assert (ends.min(), ends.max()) == (0, 100)
    # Other intervals are gain ± t times the standard error.
    rows = ss.across_tasks(outputs, unit="item", alpha=0.6).answer
    half = stats.t.isf(0.3, rows["df"]) * rows["gain_se"]
    assert [*rows["gain_high"] - rows["gain"]] == pytest.approx([*half])


def test_a_score_that_hangs_on_one_unit_counts_in_the_gain_and_has_no_interval() -> None:
    """On law the first system guesses in one document only: its precision there is 50, and undefined without it."""
    first = [[1, 2, 2], [0, 0, 2], [0, 0, 2], [2, 2, 2], [1, 2, 2], [2, 2, 2]]
    other = [[1, 1, 2], [0, 1, 2], [1, 2, 2], [0, 2, 2], [1, 2, 2], [0, 1, 2]]
    items = pd.DataFrame({"id": range(6), "domain": ["law"] * 3 + ["code"] * 3})
    outputs = ss.Outputs.from_statistics([first, other], "precision", ["a", "b"], items)
    for hypothesis in (THESE, LIKE_THESE):
        gains = row(ss.across_tasks(outputs), "macro", hypothesis)
        # Precisions are 1/2 and 5/6, and 1/2 and 1/5.
        assert gains["gain"] == pytest.approx(100 * ((1 / 2 + 5 / 6) - (1 / 2 + 1 / 5)) / 2)
        assert gains["score_a"] - gains["score_b"] == pytest.approx(gains["gain"])
        assert np.isnan(gains["gain_low"]) == (hypothesis == THESE)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"by": "subject"}, "by must be a column of the items, not 'subject'"),
        ({"by": "one"}, "by must be a column with several values, but all items have one 'x'"),
        ({"average": "median"}, "average must be .*, not 'median'"),
        ({"average": {"law": 1.0, "cod": 1.0}}, r"average must be of the tasks .*, not 'cod'.*code"),
        ({"average": {"law": -1.0}}, r"average\['law'\] must be a weight of at least 0, not -1.0"),
        ({"average": {"law": 0.0}}, "average must have a task with a weight above 0"),
        ({"groups": {"g": "law"}}, r"groups\['g'\] must be a list of tasks, not 'law'"),
        ({"groups": {"g": ["law", "qa"]}}, r"groups\['g'\] must be of the tasks .*, not 'qa'"),
        ({"groups": {"g": []}}, r"groups\['g'\] must have a task with a weight above 0"),
        ({"unit": "pair"}, "units must lie within one domain, but pair .* has items of 3; unit='item' uses items"),
        ({"alpha": 2}, "alpha must lie between 0 and 1"),
        ({"alpha": 0.999 / 2001}, "alpha must be at least 1 / 2,001 for averages of tasks, .* compare each task by"),
        ({"by": 3}, "by must be the name of a column of the items, not 3"),
        ({"unit": 3}, "unit must be the name of a column of the items, not 3"),
    ],
    ids=str,
)
def test_what_can_not_be_averaged(rng: np.random.Generator, how: dict[str, Any], message: str) -> None:
    outputs = suite(rng, SIZES)
    items = outputs.items.sort_values("id").assign(one="x", pair=[f"p{i % 2}" for i in range(13)]).sort_index()
    named = ss.Outputs.from_statistics(outputs.statistics, "accuracy", outputs.systems, items)
    with pytest.raises(ValueError, match=message):
        ss.across_tasks(named, **how)


def test_a_task_of_one_item_is_named(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="domain 'law' has 1 item: nothing is known of how its score varies"):
        ss.across_tasks(suite(rng, {"law": 1, "code": 9}))
