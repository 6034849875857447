"""Plans with a margin: the power of the tests that `equivalence` really makes, by enumeration and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.cases import EQUIVALENT, NOT_WORSE
from simstudy.planning.differences import NormalDifference
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.statistics.proportions import tango_z
from simstudy.studies import DrawnPairs
from simstudy.truth import Bernoulli, GaussianCopula, ScoreModel
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
        small = (
            ss.comparisons.equivalence(pair, 18)["conclusion"]
            .isin(["equivalent", "better by less than the margin"])
            .item()
        )
        assert equivalent[k] == small
        new_first = pair["system_a"].item() == "new"
        low = pair["gain_low"].item() if new_first else -pair["gain_high"].item()
        assert not_worse[k] == (low > -18)
    assert 0 < equivalent.sum() < not_worse.sum() < len(statistics)


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


def test_what_a_margin_leaves_to_show_and_margins_as_fractions() -> None:
    """Systems that are apart by the margin are not equivalent; 0.09 points are hardly meant."""
    asked = {"metric": "accuracy", "score": 80, "agreement": 0.9, "n_items": 100, "sizes": []}
    both = [NOT_WORSE, EQUIVALENT]
    for gain, goals in ((2, ["better", *both]), (4, ["better", NOT_WORSE]), (0, both)):
        assert plan_with(**asked, gain=gain, margin=4).answers["goal"].tolist() == goals
    with pytest.raises(ValueError, match=r"^margin must be in points of accuracy, not 0\.09: did you mean 9\?$"):
        plan_with(**asked, margin=0.09, gain=3)


@pytest.mark.parametrize("goal", [NOT_WORSE, EQUIVALENT])
@pytest.mark.parametrize(("gain", "n"), [(0.0, 40), (0.1, 40), (-0.2, 25), (0.0, 400)])
def test_what_is_shown_is_what_t_tests_show(goal: str, gain: float, n: int) -> None:
    drawn = np.random.default_rng(1).normal(gain, 1.0, (12_000_000 // max(n, 300), n))
    mean, reach = drawn.mean(axis=1), stats.t.isf(0.025, n - 1) * drawn.std(axis=1, ddof=1) / np.sqrt(n)
    margin = 0.5
    shown = mean - reach > -margin
    if goal == EQUIVALENT:
        shown &= mean + reach < margin
    assert NormalDifference(1.0).within(gain, margin, n, Level().margin_tail, both=goal == EQUIVALENT) == pytest.approx(
        shown.mean(), abs=0.012
    )


def test_the_size_is_the_textbooks() -> None:
    plan = ss.plan(metric="mean", margin=0.1, guess=ss.Guess(sd_difference=1.0))
    not_worse, equivalent = plan.answers["n_items"]
    assert not_worse == pytest.approx(normal_size(1.0, 0.1), rel=0.01)
    # Each of two tests has to have power 0.9.
    assert equivalent == pytest.approx(normal_size(1.0, 0.1, 0.9), rel=0.01)
    assert plan.answers["goal"].tolist() == [NOT_WORSE, EQUIVALENT]


@pytest.mark.slow
def test_what_compare_says_of_equal_systems() -> None:
    """The share of test sets of the planned size on which `equivalence` says so, of right and wrong answers."""
    model = ScoreModel([Bernoulli(0.8)] * 2, GaussianCopula(0.8), metric="accuracy")
    plan = ss.plan(ss.Pilot(model.outputs(50_000, seed=1), n_sets=0), margin=5)
    n = int(plan.answers.set_index("goal")["n_items"][EQUIVALENT])
    said = 0
    for seed in range(300):
        pairs = compared(model.outputs(n, seed=100 + seed), test="mcnemar")
        said += (
            ss.comparisons.equivalence(pairs, 5)["conclusion"]
            .isin(["equivalent", "better by less than the margin"])
            .item()
        )
    # Four standard errors of 300 test sets.
    assert abs(said / 300 - 0.8) < 4 * 0.023


def normal_size(sd: float, gain: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The textbook's (z + z)^2 sd^2 / gain^2."""
    return float((stats.norm.isf(alpha / 2) + stats.norm.ppf(power)) ** 2 * sd**2 / gain**2)
