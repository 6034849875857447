"""The study of growing test sets: its draws, its tests against scipy and enumeration, and its shipped results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.studies import Block
from simstudy.studies.simulation.study import draws_of
from tests.experiments.programs import program, shipped, small

STUDY = program("growing_test_sets")
USUAL, SEQUENTIAL = "usual test at each look", "sequential test"
# The fractions that the gambler stakes (`simstudy.comparisons.e_values`).
BETS = 2.0 ** (-np.arange(17) / 2)


def condition_of(kind: str, gain: float = 0.0, **values: Any) -> dict[str, Any]:
    settings = {"alpha": 0.1, "power": 0.7, "step": 50, "n_looks": [4], "most": 3, "by_topic": 0.0}
    return settings | {"kind": kind, "gain": gain, "differ": 0.1, "width": 0.6} | values


def analysed(differences: Any, **values: Any) -> Any:
    """What the study's test says about differences of answers."""
    study: Any = small("growing_test_sets")
    condition: Any = condition_of("answers", **values)
    block = Block(draws_of(study), condition, 0, 0, np.asarray(differences, float))
    return STUDY.repeated_tests(block)


def e_value(wins: Any, losses: Any) -> Any:
    """The larger e-value of both sides after so many wins and losses."""
    sides = [(1 + BETS) ** np.asarray(a)[..., None] * (1 - BETS) ** np.asarray(b)[..., None]
             for a, b in ((wins, losses), (losses, wins))]  # fmt: skip
    return np.maximum(*(side.mean(axis=-1) for side in sides))


@pytest.mark.parametrize("kind", ["answers", "graded", "rare"])
@pytest.mark.parametrize("gain", [0.0, 0.06])
def test_differences_have_the_mean_and_the_variance_of_the_plan(kind: str, gain: float) -> None:
    condition = condition_of(kind, gain)
    drawn = STUDY.generate(condition, 600, np.random.default_rng(2))
    assert drawn.shape == (600, 3 * STUDY.planned_items(condition) if gain else 200)
    assert np.abs(drawn).max() <= (1 if kind == "answers" else 0.6)
    se = np.sqrt(STUDY.variance(condition) / drawn.size)
    assert abs(drawn.mean() - gain) < 4 * se
    assert drawn.var() == pytest.approx(STUDY.variance(condition), rel=0.03)
    if gain:
        # The smallest number of items with this power, of a normal mean.
        shifts = gain * np.sqrt(STUDY.planned_items(condition) - np.array([1, 0])) / np.sqrt(STUDY.variance(condition))
        before, after = stats.norm.sf(stats.norm.isf(0.05) - shifts)
        assert before < 0.7 <= after


def test_a_topic_is_a_gain_on_the_first_half_and_a_loss_on_the_second() -> None:
    drawn = STUDY.generate(condition_of("answers", differ=0.3, by_topic=0.2), 3000, np.random.default_rng(3))
    means = drawn[:, :100].mean(), drawn[:, 100:].mean(), np.abs(drawn).mean()
    assert means == pytest.approx((0.2, -0.2, 0.3), abs=0.005)


def test_usual_p_values_are_those_of_scipy_at_each_look(rng: np.random.Generator) -> None:
    answers, graded = rng.choice([-1.0, 0.0, 1.0], (3, 60), p=[0.1, 0.6, 0.3]), rng.normal(0.1, 1, (3, 60))
    answers[0, :20], graded[0, :20] = 0, 0
    looks = np.array([20, 40, 60])
    by_mcnemar, by_t = STUDY.p_values("answers", answers, looks), STUDY.p_values("graded", graded, looks)
    for k, n in enumerate(looks):
        for row in range(3):
            wins, losses = (answers[row, :n] > 0).sum(), (answers[row, :n] < 0).sum()
            expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1
            assert by_mcnemar[row, k] == pytest.approx(expected)
            t_test = stats.ttest_1samp(graded[row, :n], 0).pvalue if graded[row, :n].any() else 1
            assert by_t[row, k] == pytest.approx(t_test)


def test_rates_by_each_look_are_those_of_enumeration() -> None:
    """The probability of every number of wins and losses, of test sets without a rejection so far, item by item."""
    values = {"step": 6, "n_looks": [1, 2, 4], "differ": 0.8}
    rejected: dict[str, dict[int, float]] = {USUAL: {}, SEQUENTIAL: {}}
    for method, rates in rejected.items():
        wins, losses = np.indices((25, 25))
        is_small = e_value(wins, losses) >= 2 / 0.1
        if method == USUAL:
            is_small = 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5) <= 0.1
        left = np.zeros((25, 25))
        left[0, 0] = 1
        for item in range(1, 25):
            after = 0.2 * left
            after[1:] += 0.4 * left[:-1]
            after[:, 1:] += 0.4 * left[:, :-1]
            left = np.where(is_small, 0, after) if method == SEQUENTIAL or item % 6 == 0 else after
            if item % 6 == 0:
                rates[item // 6] = max(1 - left.sum(), 0)
    drawn = STUDY.generate(condition_of("answers", **values), 6000, np.random.default_rng(5))
    for method, quantities in analysed(drawn, **values).items():
        assert [*quantities] == [f"p_value by look {n}" for n in (1, 2, 4)]
        for n in (1, 2, 4):
            count = int((quantities[f"p_value by look {n}"] <= 0.1).sum())
            assert stats.binomtest(count, 6000, rejected[method][n]).pvalue > 1e-3, (method, n)
    assert rejected[SEQUENTIAL][4] < 0.1 < rejected[USUAL][4]


def test_items_until_the_end_are_those_of_a_system_that_always_wins() -> None:
    """After n wins the e-value is the mean of (1 + f)^n. Without a difference no test ends."""
    last = next(n for n in range(1, 99) if ((1 + BETS) ** n).mean() >= 2 / 0.1)
    for step, by_look in ((last, [True, True]), (last - 1, [False, True])):
        smallest = analysed(np.ones((1, 2 * step)), step=step, n_looks=[1, 2])[SEQUENTIAL]
        assert [p_value.item() <= 0.1 for p_value in smallest.values()] == by_look
    planned = int(np.ceil((stats.norm.isf(0.05) + stats.norm.ppf(0.7)) ** 2 * (0.5 - 0.25**2) / 0.25**2))
    d = np.zeros((3, 3 * planned))
    d[0] = 1
    d[1, planned:] = -1
    quantities = analysed(d, gain=0.25, differ=0.5)
    sequential = quantities[SEQUENTIAL]
    assert sequential["items / planned items"].tolist() == pytest.approx([last / planned, 1 + last / planned, 3])
    assert (sequential["planned items"] == planned).all()
    assert (sequential["p_value, planned items"] <= 0.1).tolist() == [True, False, False]
    assert (sequential["p_value, all items"] <= 0.1).tolist() == [True, True, False]
    assert quantities[USUAL]["p_value, planned items"].tolist() == pytest.approx([2 * 0.5**planned, 1, 1])


def test_gains_that_no_difference_can_have_are_refused() -> None:
    for kind, values, largest in (("answers", {"by_topic": 0.05}, 0.1), ("graded", {"width": 0.05}, 0.05)):
        with pytest.raises(ValueError, match=f"gains must be below {largest}"):
            STUDY.truth(condition_of(kind, 0.06, **values))


def test_costs_on_the_page_are_those_of_the_shipped_tables() -> None:
    tables, study = shipped("growing_test_sets"), small("growing_test_sets")
    costs = STUDY.show(study, tables).sections[1].table.text()
    row = costs.query("scores == 'right or wrong, 20 % discordant'").iloc[1]
    means, rates = (tables[name].query("scores == 'answers_20' and gain == 0.05") for name in ("means", "rates"))
    median = means.query("quantity == 'items / planned items'")["quantile_50"].item()
    (usual,), (by_plan, by_end) = (rates[rates["method"] == method]["share"] for method in (USUAL, SEQUENTIAL))
    shown = row.tolist()[1:4] + row.tolist()[5:6] + row.tolist()[7:]
    assert shown == ["0.050", "621", f"{usual:.3f}", f"{median:.2f}", f"{by_plan:.3f}", f"{1 - by_end:.4f}"]
