"""The study of several tasks: its tests against `across_tasks` and enumeration, its draws, and its real suites."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Block
from simstudy.studies.simulation.study import draws_of
from tests.experiments.programs import program, shipped, small

STUDY, TABLES = program("many_tasks"), program("many_tasks", "tables")
SHIPPED: Any = small("many_tasks")
CONDITIONS = SHIPPED.conditions()


def test_methods_are_those_of_across_tasks(rng: np.random.Generator) -> None:
    n = np.array([30, 55, 90, 160, 300])
    won, lost = rng.binomial(n, 0.15), rng.binomial(n, 0.1)
    block = Block(draws_of(SHIPPED), CONDITIONS[0], 0, 0, np.stack([n, won, lost], axis=-1)[None])
    outcomes = STUDY.averages(block)
    p_value = STUDY.these_tasks(n[None], won[None], lost[None], SHIPPED.fixed | {"n_flips": 9999}, rng)["p_value"][0]
    # Items that only the first, only the second, and neither of the two has right.
    answers = [
        np.repeat([[1, 0, 0], [0, 1, 0]], [w, x, m - w - x], axis=1) for w, x, m in zip(won, lost, n, strict=True)
    ]
    items = pd.DataFrame({"id": range(int(n.sum())), "domain": np.repeat(list("abcde"), n)})
    scores = pd.DataFrame(dict(zip(("first", "second"), np.concatenate(answers, axis=1), strict=True)))
    averages = ss.across_tasks(ss.Outputs.from_scores(scores, "accuracy", items=items)).averages
    these, like, pooled = (
        averages.set_index(["average", "hypothesis"]).loc[key]
        for key in (("macro", "these tasks"), ("macro", "tasks like these"), ("micro", "these tasks"))
    )
    assert these["system_a"] == "first"
    by_t = stats.ttest_1samp(100 * (scores["first"] - scores["second"]), 0).confidence_interval()
    for method, row, ends in (
        (STUDY.MACRO, these, these[["gain_low", "gain_high"]]), (STUDY.T_TASKS, like, like[["gain_low", "gain_high"]]),
        (STUDY.POOLED, pooled, by_t),
    ):  # fmt: skip
        numbers = [outcomes[method][name][0] for name in ("estimate", "low", "high")]
        assert numbers == pytest.approx([row["gain"], *ends])
    assert p_value == pytest.approx(these["p_value"], abs=0.02)
    assert outcomes[STUDY.FLIPS]["p_value"][0] == pytest.approx(like["p_value"])
    assert outcomes[STUDY.T_TASKS]["p_value"][0] == pytest.approx(like["p_t"])
    assert outcomes[STUDY.POOLED]["p_value"][0] == pytest.approx(pooled["p_value"])


def test_drawn_flips_count_the_observed_gains() -> None:
    """Two of 2^30 flips of equal gains are as extreme: none is drawn, and p is never 0."""
    assert STUDY.flips_of_tasks(np.full((1, 30), 0.1), 19, np.random.default_rng(1)).tolist() == [1 / 20]


@pytest.mark.parametrize("n_tasks", [5, 10, 50])
@pytest.mark.parametrize("agreement", ["usual", "close"])
def test_shipped_rates_of_counts_are_those_of_enumeration(agreement: str, n_tasks: int) -> None:
    """Without a gain, discordant items are won with probability 1/2, of all items and of the items of each task."""
    counts = shipped("many_tasks")["rates"].set_index(["agreement", "n_tasks", "gains", "sizes", "method"])["count"]
    differ = 2 * (a := np.linspace(0.35, 0.95, n_tasks)) * (1 - a) * {"usual": 0.4, "close": 0.1}[agreement]
    n_discordant, signs = np.ones(1), np.zeros((n_tasks + 1, n_tasks + 1))
    signs[0, 0] = 1
    for share in differ:
        chances = stats.binom.pmf(discordant := np.arange(301), 300, share)
        n_discordant = np.convolve(n_discordant, chances)
        tie = chances[::2] @ stats.binom.pmf(discordant[::2] // 2, discordant[::2], 0.5)
        before, signs = signs, tie * signs
        signs[1:] += (1 - tie) / 2 * before[:-1]
        signs[:, 1:] += (1 - tie) / 2 * before[:, :-1]
    total = np.arange(len(n_discordant))
    # The largest number of losses with which the better system of so many discordant items is significant.
    largest = stats.binom.ppf(0.025, total, 0.5) - 1
    largest += 2 * stats.binom.cdf(largest + 1, total, 0.5) <= 0.05
    wins, losses = np.indices(signs.shape)
    expected = {
        STUDY.POOLED: n_discordant @ (2 * stats.binom.cdf(largest, total, 0.5)),
        STUDY.WON: signs[2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5) <= 0.05].sum(),
    }
    for method, rate in expected.items():
        count = counts[agreement, n_tasks, STUDY.NO_GAIN, "equal", method]
        assert stats.binomtest(int(count), 2000, rate).pvalue > 1e-3, method


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_tasks_have_the_sizes_accuracies_and_gains_of_the_settings(condition: Any) -> None:
    """Shares of items that differ are 2 a (1 - a) (1 - correlation); gains are shares of these."""
    n, is_fixed = 40_000 // condition["n_tasks"], condition["redrawn"] == STUDY.ITEMS
    suites = STUDY.generate(condition, n, np.random.default_rng(3))
    n_items, first, second = STUDY.draw_tasks(condition, n, np.random.default_rng(3))
    for counts, shares in ((suites[..., 1], first), (suites[..., 2], second)):
        assert counts.sum() == pytest.approx((n_items * shares).sum(), abs=4 * np.sqrt((n_items * shares).sum()))
    differ, macro = first + second, 100 * (first - second).mean(axis=1)
    assert (np.ptp(n_items, axis=0).max() == np.ptp(first, axis=0).max() == 0) == is_fixed
    sizes = [condition["smallest"], condition["largest"]]
    assert [n_items.min(), n_items.max()] == sizes
    assert np.log(n_items).mean() == pytest.approx(np.log(sizes).mean(), rel=0.01)
    ends = [2 * a * (1 - a) * (1 - condition["correlation"]) for a in (0.95, 0.5)]
    assert [differ.min(), differ.max()] == pytest.approx(ends, rel=0.05)
    error = 0 if is_fixed else macro.std() / np.sqrt(n)
    assert macro.mean() == pytest.approx(STUDY.truth(condition), abs=4 * error + 1e-9)
    # Twice the spread is the limit of a normal variable: its standard deviation is 0.9594.
    largest, spread = {STUDY.NO_GAIN: (0, 0), STUDY.SKEWED: (3, 1)}.get(condition["gains"], (2, 0.9594))
    relative = (first - second) / differ - (0.15 if condition["gains"] == STUDY.GAIN else 0)
    if not is_fixed:
        moments = [relative.mean(), relative.std(), relative.max()]
        assert moments == pytest.approx([0, 0.25 * spread, 0.25 * largest], rel=0.02, abs=0.006)
    assert (relative.std() < 1e-12) == (spread == 0)


def test_real_suites_are_counted_pair_by_pair(rng: np.random.Generator) -> None:
    sizes = {"a": 15, "b": 30, "c": 60, "d": 120, "e": 20, "f": 25}
    domain = np.repeat([*sizes], [*sizes.values()])
    chance = np.repeat(rng.uniform(0.3, 0.7, (7, len(sizes))), [*sizes.values()], axis=1)
    scores = pd.DataFrame((rng.random(chance.shape) < chance).astype(int).T, columns=[f"s{k}" for k in range(7)])
    outputs = ss.Outputs.from_scores(scores, "accuracy", items=pd.DataFrame({"id": scores.index, "domain": domain}))
    alpha = 0.2
    (row,) = TABLES.disagreements({"mine": outputs}, alpha).to_dict("records")
    across = ss.across_tasks(outputs, alpha=alpha)
    keys = ["average", "hypothesis", "system_a", "system_b"]
    averages = across.averages.set_index(keys)
    without = across.without.set_index(["task", "system_a", "system_b"])
    n = dict.fromkeys((name for name in row if name.startswith("n_")), 0)
    n |= {"n_systems": 7, "n_tasks": 6, "n_items": 270, "n_pairs": 21}
    for pair in zip(*(across.answer[side] for side in keys[2:]), strict=True):
        macro, like, micro = (
            averages.loc[(*key, *pair)]
            for key in (("macro", "these tasks"), ("macro", "tasks like these"), ("micro", "these tasks"))
        )
        these, flips, pooled = (average["p_value"] <= alpha for average in (macro, like, micro))
        left = max((abs(without.loc[(task, *pair), "change"]), task) for task in sizes)[1]
        after = without.loc[(left, *pair)]
        for name, yes in {
            "n_these": these, "n_like_flips": flips, "n_like_t": like["p_t"] <= alpha, "n_pooled": pooled,
            "n_these_not_like": these > flips, "n_these_not_pooled": these > pooled,
            "n_pooled_not_these": pooled > these, "n_other_order": macro["gain"] * micro["gain"] < 0,
            "n_significance_by_one": (
                (macro["gain_low"] * macro["gain_high"] > 0) != (after["gain_low"] * after["gain_high"] > 0)
            ),
        }.items():  # fmt: skip
            n[name] += bool(yes)
    assert row == {"suite": "mine", **n}


def test_test_sets_are_joined_as_the_tasks_of_one_suite() -> None:
    """With the systems that both have, whatever their order is."""
    x, y = {"a": [1, 0], "b": [1, 1], "c": [0, 0]}, {"c": [1, 1], "d": [0, 0], "a": [0, 1]}
    parts = [
        ss.Outputs.from_scores(pd.DataFrame(scores, index=["p", "q"]), "accuracy", test_set=name)
        for name, scores in (("x", x), ("y", y))
    ]
    both = TABLES.joined("both", parts)
    assert (both.names, both.test_set) == (["a", "c"], "both")
    assert both.items.to_dict("list") == {"id": ["x/p", "x/q", "y/p", "y/q"], "domain": ["x", "x", "y", "y"]}
    assert both.statistics[..., 0].tolist() == [[1, 0, 0, 1], [0, 0, 1, 1]]
