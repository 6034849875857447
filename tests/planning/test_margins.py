"""Plans with a margin: the power of the tests that `equivalence` really makes, by enumeration and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.cases import EQUIVALENT, NOT_WORSE
from simstudy.planning.differences import MixedDifference
from simstudy.planning.right_or_wrong import JudgedDifference, RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.statistics.proportions import tango_z
from simstudy.studies import DrawnPairs
from tests.oracles import compared
from tests.planning.options import plan_with


def answers(counts: np.ndarray, n: int) -> np.ndarray:  # type: ignore[type-arg]
    """Statistics (M, 2, n, 2) of two systems with these numbers of items won and lost by the first (M, 2)."""
    statistics = np.zeros((len(counts), 2, n, 2), dtype=np.int64)
    statistics[..., 1] = 1
    for row, (won, lost) in zip(statistics, counts, strict=True):
        row[0, :won, 0] = 1
        row[1, won : won + lost, 0] = 1
    return statistics


@pytest.mark.parametrize(
    ("n", "disagreement", "gain", "margin"),
    [(20, 0.2, 0.0, 30.0), (35, 0.05, 0.0, 12.0), (24, 0.3, 5.0, 25.0), (24, 0.3, -5.0, 25.0), (16, 1.0, 0.0, 60.0)],
)
def test_all_outcomes_of_few_answers_are_enumerated(n: int, disagreement: float, gain: float, margin: float) -> None:
    """Every number of wins and losses, weighted by the multinomial, decided by the engines' interval."""
    counts = np.array([(won, lost) for won in range(n + 1) for lost in range(n + 1 - won)])
    shares = [(disagreement + gain / 100) / 2, (disagreement - gain / 100) / 2, 1 - disagreement]
    chance = stats.multinomial.pmf(np.column_stack([counts, n - counts.sum(axis=1)]), n, shares)
    difference = RightOrWrongDifference(disagreement)
    shown = DrawnPairs(answers(counts, n), "accuracy").shown_within(margin)
    for goal, where in zip((NOT_WORSE, EQUIVALENT), shown, strict=True):
        assert difference.within(gain, margin, n, Level().margin_tail, both=goal == EQUIVALENT) == pytest.approx(
            chance[where].sum(), abs=1e-8
        )


def test_what_drawn_pairs_show_is_what_compare_and_equivalence_say() -> None:
    """Each test set as a table of its own: `equivalence`, and the interval of the first system's gain."""
    statistics = answers(np.array([(9, 5), (3, 8), (0, 0), (20, 2), (2, 20), (4, 4)]), 60)
    not_worse, equivalent = DrawnPairs(statistics, "accuracy").shown_within(18)
    for k, one in enumerate(statistics):
        pair = compared(ss.Outputs.from_statistics(one, "accuracy", ["new", "old"]), test="mcnemar")
        small = ss.equivalence(pair, 18)["conclusion"].isin(["equivalent", "better by less than the margin"]).item()
        assert equivalent[k] == small
        new_first = pair["system_a"].item() == "new"
        low = pair["gain_low"].item() if new_first else -pair["gain_high"].item()
        assert not_worse[k] == (low > -18)
    assert 0 < equivalent.sum() < not_worse.sum() < len(statistics)


@pytest.mark.parametrize(
    ("agreement", "margin", "n_not_worse", "power_not_worse", "n_equivalent", "power_equivalent"),
    [(0.98, 2, 395, 0.67, 528, 0.62), (0.99, 2, 199, 0.47, 265, 0.19), (0.98, 5, 65, 0.26, 86, 0.18),
     (0.95, 10, 42, 0.45, 55, 0.41), (0.98, 1, 1572, 0.76, 2104, 0.75)],
)  # fmt: skip
def test_wald_sizes_have_less_power_than_they_say(
    agreement: float, margin: float, n_not_worse: int, power_not_worse: float, n_equivalent: int,
    power_equivalent: float,
) -> None:  # fmt: skip
    """Sizes by the Wald variance for power 0.8, with the power that an independent simulation of them found."""
    difference = RightOrWrongDifference(1 - agreement)
    found = difference.within(0.0, margin, n_not_worse, Level().margin_tail, both=False)
    assert found == pytest.approx(power_not_worse, abs=0.01)
    found = difference.within(0.0, margin, n_equivalent, Level().margin_tail, both=True)
    assert found == pytest.approx(power_equivalent, abs=0.01)


def test_many_answers_are_summed_at_some_counts_only() -> None:
    """Against scipy's sum over all counts, with the least wins by a search of one count after the other."""
    n, disagreement, bound, cut = 9000, 0.1, 0.01, stats.norm.isf(0.025)
    differ = np.arange(650, 1160)
    wins_of = np.arange(differ.max() + 1)[:, None]
    lost = np.maximum(differ - wins_of, 0).astype(float)
    z = tango_z(wins_of.astype(float), lost, n, np.array(-bound))
    least = ((z < cut) & (wins_of <= differ)).sum(axis=0)
    expected = stats.binom.pmf(differ, n, disagreement) @ stats.binom.sf(least - 1, differ, 0.5)
    found = RightOrWrongDifference(disagreement).within(0.0, 100 * bound, n, Level().margin_tail, both=False)
    assert found == pytest.approx(expected, abs=1e-3)


def test_a_margin_of_judged_answers_shrinks_with_the_gains() -> None:
    """Verdicts with an error of 10 % show 0.8 of a true gain, and of a true margin."""
    true = RightOrWrongDifference(0.1)
    differ = 0.1 * (0.81 + 0.01) + 0.9 * 2 * 0.1 * 0.9
    found = JudgedDifference(true, 0.1, "answers").within(1.0, 5.0, 300, 0.025, both=True)
    assert found == pytest.approx(RightOrWrongDifference(differ).within(0.8, 4.0, 300, 0.025, both=True))


def test_many_pairs_are_shown_to_be_equivalent_as_often_as_each_on_average() -> None:
    parts = [RightOrWrongDifference(share) for share in (0.02, 0.1)]
    each = [part.within(0.0, 3.0, 400, 0.025, both=True) for part in parts]
    assert MixedDifference(tuple(parts)).within(0.0, 3.0, 400, 0.025, both=True) == pytest.approx(np.mean(each))


def test_the_alternative_changes_no_test_against_a_margin() -> None:
    """`equivalence` makes each one-sided test at half of alpha; comparisons share that."""
    asked = {"metric": "accuracy", "score": 80, "agreement": 0.9, "margin": 3}
    plain, one_sided, many = (
        plan_with(**asked, **more).answers["n_items"].tolist()
        for more in ({}, {"alternative": "greater"}, {"comparisons": 5})
    )
    assert plain == one_sided
    assert many == plan_with(**asked, alpha=0.01).answers["n_items"].tolist()
    assert many > plain


def test_what_a_margin_leaves_to_show_and_margins_as_fractions() -> None:
    """Systems that are apart by the margin are not equivalent; 0.09 points are hardly meant."""
    asked = {"metric": "accuracy", "score": 80, "agreement": 0.9, "n_items": 100, "sizes": []}
    both = [NOT_WORSE, EQUIVALENT]
    for gain, goals in ((2, ["better", *both]), (4, ["better", NOT_WORSE]), (0, both)):
        assert plan_with(**asked, gain=gain, margin=4).answers["goal"].tolist() == goals
    assert "did you mean margin=9?" in "".join(plan_with(**asked, margin=0.09, gain=3).notes)
