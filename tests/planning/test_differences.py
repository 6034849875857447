"""What tests find of a true gain: closed forms against noncentral t, enumeration, simulation and one another."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.planning import right_or_wrong
from simstudy.planning.arguments import Design
from simstudy.planning.correlated_answers import (
    AlikeAnswers,
    CorrelatedAnswers,
    agreement_range,
    correlation_range,
    disagreement_of,
    disagreement_of_correlation,
    of_spread,
)
from simstudy.planning.differences import ClusteredDifference, Difference, MixedDifference, NormalDifference
from simstudy.planning.right_or_wrong import JudgedDifference, RightOrWrongDifference
from simstudy.planning.settings import Level
from simstudy.planning.solving import least_size, minimum_detectable_gain, size_for
from tests.planning.forms import LEVELS


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize(("gain", "n"), [(0.2, 10), (0.5, 10), (0.5, 8), (0.1, 400), (0.05, 3000)])
def test_power_of_a_normal_difference_is_that_of_the_noncentral_t(gain: float, n: int, alternative: str) -> None:
    """At the level that flips of so many units have: a whole number of their 2^n outcomes."""
    level = Level(0.05, alternative)
    nominal = 0.05 if alternative == "greater" else 0.025
    tail = np.floor(nominal * 2.0**n) / 2.0**n if n < 30 else nominal
    found = NormalDifference(1.0).detection(gain, n, level)
    critical, shift = stats.t.isf(tail, n - 1), gain * np.sqrt(n)
    assert found.power == pytest.approx(stats.nct.sf(critical, n - 1, shift), abs=2e-4)
    wrong = stats.nct.cdf(-critical, n - 1, shift) if alternative == "two-sided" else 0.0
    assert found.wrong == pytest.approx(wrong, abs=2e-4)


def test_significant_gains_exaggerate_as_simulated_ones_do() -> None:
    n, sd, gain = 12, 2.0, 0.8
    drawn = np.random.default_rng(0).normal(gain, sd, (200_000, n))
    mean, t = drawn.mean(axis=1), stats.ttest_1samp(drawn, 0, axis=1).statistic
    significant = np.abs(t) > stats.t.isf(0.025, n - 1)
    found = NormalDifference(sd).detection(gain, n, Level())
    assert found.exaggeration == pytest.approx(np.abs(mean[significant]).mean() / gain, rel=5e-3)
    assert found.wrong_sign == pytest.approx((t[significant] < 0).mean(), rel=0.2)


def test_the_worse_system_wins_as_often_as_its_mean_is_larger() -> None:
    for gain, n in ((0.3, 4), (0.3, 6), (0.3, 30), (0.0, 30)):
        found = NormalDifference(1.7).detection(gain, n, Level())
        assert found.wrong_winner == pytest.approx(stats.norm.sf(gain * np.sqrt(n) / 1.7))


def enumerated(n: int, only_better: float, only_worse: float, level: Level) -> tuple[float, float, float, float]:
    """Power, significance of the worse, its wins, and the mean significant difference in items, over all results."""
    power = wrong = worse = size = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            chance = stats.multinomial.pmf(
                [b, c, n - b - c], n, [only_better, only_worse, 1 - only_better - only_worse]
            )
            sides = 2 if level.alternative == "two-sided" else 1
            right, left = (min(1.0, sides * stats.binom.sf(k - 1, b + c, 0.5)) for k in (b, c))
            worse += chance * (c > b)
            if right <= level.alpha / level.comparisons and b > c:
                power, size = power + chance, size + chance * (b - c)
            elif left <= level.alpha / level.comparisons and c > b and sides == 2:
                wrong, size = wrong + chance, size + chance * (c - b)
    return power, wrong, worse, size / (power + wrong)


@pytest.mark.parametrize(
    ("n", "disagreement", "gain", "level"),
    [(25, 0.4, 10.0, Level()), (24, 1.0, 20.0, Level()),
     (40, 0.3, 5.0, Level(0.1)), (30, 0.5, 20.0, Level(0.05, "greater")),
     (35, 0.6, 20.0, Level(0.05, comparisons=4))],
)  # fmt: skip
def test_right_and_wrong_answers_are_enumerated(n: int, disagreement: float, gain: float, level: Level) -> None:
    share = gain / 100
    expected = enumerated(n, (disagreement + share) / 2, (disagreement - share) / 2, level)
    found = RightOrWrongDifference(disagreement).detection(gain, n, level)
    assert (found.power, found.wrong, found.wrong_winner, found.exaggeration * share * n) == pytest.approx(expected)


def test_size_and_gain_are_each_others_answer() -> None:
    for difference, gain in (
        (NormalDifference(0.5), 0.1),
        (RightOrWrongDifference(0.2), 4.0),
        (of_spread(0.4, 0.5), 0.03),
    ):
        n = size_for(difference, gain, power=0.8)
        assert difference.detection(gain, n, Level()).power >= 0.8
        assert difference.detection(gain, int(0.95 * n), Level()).power < 0.8
        assert minimum_detectable_gain(difference, n, power=0.8) == pytest.approx(gain, rel=0.01)


def test_guesses_give_the_share_of_items_that_differ() -> None:
    assert disagreement_of(80, 1, 0.9) == pytest.approx(0.1)


@pytest.mark.parametrize(("worse", "better"), [(2, 5), (10, 12), (9, 11), (17, 19), (0, 20)])
def test_agreements_are_those_of_some_two_lists_of_answers(worse: int, better: int) -> None:
    """Of 20 items both systems have 0, 1, … right: every way to share them, by counting."""
    shares = [(20 - worse - better + 2 * both) / 20 for both in range(worse + 1) if worse + better - both <= 20]
    assert agreement_range(5 * worse, 5 * (better - worse)) == pytest.approx((min(shares), max(shares)))
    # Two systems of 60 and 70 % with 50 % right together.
    r12 = (0.5 - 0.6 * 0.7) / np.sqrt(0.6 * 0.4 * 0.7 * 0.3)
    assert disagreement_of_correlation(60, 10, r12) == pytest.approx(0.6 + 0.7 - 2 * 0.5)
    assert of_spread(2.0, 0.75).sd == pytest.approx(np.sqrt(4 + 4 - 2 * 0.75 * 4))


def test_usual_answers_are_those_of_their_correlation_where_scores_are_equal() -> None:
    for score, r12 in ((80, 0.5), (30, 0.9), (60, 0.0)):
        alike, correlated = AlikeAnswers(score, r12).at(0), CorrelatedAnswers(score, r12).at(0)
        assert alike.disagreement == pytest.approx(correlated.disagreement)
    # Where all that the worse one has right the better one has right too, the gain alone differs.
    assert AlikeAnswers(80, 1.0).at(5).disagreement == pytest.approx(0.05)


@pytest.mark.parametrize(("score", "r12"), [(80, 0.84), (30, 0.6), (60, -0.5), (30, -0.35)])
def test_the_largest_gain_of_a_correlation_is_where_two_systems_can_just_have_it(score: float, r12: float) -> None:
    """All that the worse one has right the other one has too; or, where r12 is below 0, no item is wrong for both."""
    largest = CorrelatedAnswers(score, r12).largest
    low, high = correlation_range(score, largest)
    assert r12 == pytest.approx(high if r12 > 0 else low, abs=1e-6)
    differ = largest if r12 > 0 else 200 - 2 * score - largest
    assert CorrelatedAnswers(score, r12).at(largest - 1e-9).disagreement == pytest.approx(differ / 100, abs=1e-6)


def test_the_least_size_is_the_one_beyond_the_last_dip_of_the_power() -> None:
    def power(n: int) -> float:
        return 0.1 if n < 10 or n in (14, 15) else 0.797 if n == 18 else 0.8

    assert least_size(power, 0.8) == 16
    assert least_size(power, 0.8, settled=False) == 10
    assert least_size(lambda n: 1 - 1 / n, 0.9) == 10
    assert least_size(lambda n: 0.7, 0.8) is None


def test_many_pairs_are_found_and_shown_as_often_as_each_of_them_on_average() -> None:
    parts = tuple(RightOrWrongDifference(share) for share in (0.05, 0.1, 0.3))
    mixed, each = MixedDifference(parts), [part.detection(3.0, 400, Level()) for part in parts]
    found = mixed.detection(3.0, 400, Level())
    for name in ("power", "wrong", "wrong_winner"):
        assert getattr(found, name) == pytest.approx(np.mean([getattr(one, name) for one in each]))
    significant = sum(one.power + one.wrong for one in each)
    sizes = sum((one.power + one.wrong) * one.exaggeration for one in each)
    assert found.exaggeration == pytest.approx(sizes / significant)
    shown = [part.within(0.0, 3.0, 400, 0.025, both=True) for part in parts]
    assert mixed.within(0.0, 3.0, 400, 0.025, both=True) == pytest.approx(np.mean(shown))
    assert mixed.sd_of(3.0) == pytest.approx(np.sqrt(np.mean([part.sd_of(3.0) ** 2 for part in parts])))


@pytest.mark.parametrize("disagreement", [0.03, 0.2, 0.9])
def test_larger_test_sets_than_the_planned_one_have_the_power_too(disagreement: float) -> None:
    """Power goes up in steps: beyond the planned size it is never below by more than the promised 0.005."""
    difference, gain = RightOrWrongDifference(disagreement), 50 * disagreement
    n = size_for(difference, gain)
    powers = [difference.power(gain, larger, Level()) for larger in range(n, int(1.05 * n) + 20)]
    assert min(powers) >= 0.795
    assert powers[0] >= 0.8


@pytest.mark.parametrize(("disagreement", "gain"), [(0.1, 1.0), (0.1, 2.0), (0.3, 10.0)])
def test_clusters_of_independent_answers_need_about_as_many_as_answers(disagreement: float, gain: float) -> None:
    """Flips of clusters move the number of wins by two, as flips of items do, so that p-values are as coarse."""
    exact = size_for(RightOrWrongDifference(disagreement), gain)
    item = RightOrWrongDifference(disagreement)
    clustered = 2 * size_for(ClusteredDifference(item, Design(2, 0.0)), gain)
    assert clustered == pytest.approx(exact, rel=0.015)
    # Without steps it takes fewer than of independent items, which cannot be.
    assert 2 * size_for(NormalDifference(item.sd_of(gain) / np.sqrt(2)), gain) < 0.98 * exact


@pytest.mark.statistical
@pytest.mark.parametrize(("n", "gain"), [(6, 20.0), (26, 20.0), (30, 20.0)])
def test_the_power_of_clusters_of_answers_by_simulation(n: int, gain: float) -> None:
    """Clusters of two items or ten, three of ten of which differ, each set of clusters tested by all its flips."""
    size, chances = (10 if n == 6 else 2), [0.25, 0.05, 0.7]
    counts = np.random.default_rng(1).multinomial(size, chances, (4000, n))
    both = np.stack([counts[..., 0], counts[..., 1]], axis=1)
    statistics = np.stack([both, np.full_like(both, size)], axis=-1)
    found = DrawnPairs(statistics, "accuracy", n_resamples=999, seed=0).decisions(
        ["sign_flips"], (0.05,), ["two-sided"]
    )
    power = ClusteredDifference(RightOrWrongDifference(0.3), Design(size, 0.0)).power(gain, n, Level())
    assert found[0]["n_rejected_first"] / 4000 == pytest.approx(power, abs=0.03)


def test_power_rises_with_gain_and_size_where_ratios_are_pooled() -> None:
    for covariance in (-0.3, 0.0, 0.5):
        difference = NormalDifference(1.0, weight_variance=9.0, weight_covariance=covariance)
        gains = np.linspace(0, 5, 60)
        for n in (6, 20, 200):
            assert (np.diff([difference.power(gain, n, Level()) for gain in gains]) > -1e-9).all()
        sizes = np.unique(np.geomspace(30, 5000, 60).astype(int))
        assert (np.diff([difference.power(0.3, int(n), Level()) for n in sizes]) > -1e-9).all()


HALF = RightOrWrongDifference(0.3)
#: Differences, and others that are the same.
DIFFERENCES: dict[str, tuple[Difference, Difference]] = {
    "scores": (NormalDifference(40.0), ClusteredDifference(NormalDifference(40.0), Design(1.0, 0.3))),
    "ratios": (NormalDifference(40.0, 100.0, 0.5, 3.0), NormalDifference(20.0, 100.0, 0.5, 1.5).times(2.0)),
    "answers": (HALF, MixedDifference((HALF, HALF))),
    "correlated": (CorrelatedAnswers(60.0, 0.4), MixedDifference((CorrelatedAnswers(60.0, 0.4),))),
    "alike": (AlikeAnswers(60.0, 0.4), JudgedDifference(AlikeAnswers(60.0, 0.4), 0.0, "answers")),
    "judged": (JudgedDifference(HALF, 0.2, "pairs"), JudgedDifference(HALF, 0.2, "pairs").allowing(1.0)),
}


@pytest.mark.parametrize("n", [5, 6, 12, 60, 30_000])
@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_that_are_the_same_find_the_same(name: str, n: int) -> None:
    one, other = DIFFERENCES[name]
    assert one.largest == other.largest
    for gain in (1e-4, 1.0, 9.0):
        found, twice = one.detection(gain, n, Level(*LEVELS)), one.detection(gain, n, Level(0.2, comparisons=5))
        assert asdict(other.detection(gain, n, Level(*LEVELS))) == pytest.approx(asdict(found), nan_ok=True)
        for level in (Level(*LEVELS), Level(0.2, comparisons=5)):
            assert one.power(gain, n, level) == pytest.approx(one.detection(gain, n, level).power)
            assert one.power(gain, n, level) == pytest.approx(other.power(gain, n, level))
        assert (found.power, found.wrong, found.wrong_winner) == pytest.approx((twice.power, 0, twice.wrong_winner))
        # The exaggeration is the same where both systems win as often, and where the worse one never does.
        if gain < 1 or twice.wrong_sign < 1e-6:
            assert found.exaggeration == pytest.approx(twice.exaggeration, rel=1e-3, nan_ok=True)
        assert one.sd_of(gain) == pytest.approx(other.sd_of(gain))
        for both in (False, True):
            within = [each.within(-gain, 9.5, n, 0.03, both=both) for each in (one, other)]
            assert within[0] == pytest.approx(within[1])


@pytest.mark.parametrize("name", [name for name in DIFFERENCES if name != "scores"])
def test_a_gain_is_found_where_the_largest_one_has_the_power(name: str) -> None:
    one = DIFFERENCES[name][0]
    for n, power in product((8, 11, 14, 17, 20, 23, 26, 30), (0.5, 0.8, 0.95)):
        gain = minimum_detectable_gain(one, n, power=power)
        if one.power(one.largest, n, Level()) < power:
            assert np.isnan(gain)
        else:
            assert one.power(gain, n, Level()) == pytest.approx(power, abs=1e-3)


@pytest.mark.parametrize("level", [Level(), Level(*LEVELS), Level(0.05, comparisons=20)])
@pytest.mark.parametrize(("disagreement", "scale"), [(0.3, 100.0), (0.9, 50.0), (0.02, 100.0)])
def test_many_answers_are_as_normal_as_exact_sums(
    disagreement: float, scale: float, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On both sides of the number from which on outcomes are not summed, for small and large gains."""
    difference, n = RightOrWrongDifference(disagreement, scale), int(4900 / disagreement)
    gains = scale * np.sqrt(disagreement / n) * np.array([0.1, 1.0, 2.8])
    exact = [(difference.detection(gain, n, level), difference.power(gain, n, level)) for gain in gains]
    monkeypatch.setattr(right_or_wrong, "_EXACT", 0)
    for gain, (found, power) in zip(gains, exact, strict=True):
        normal = difference.detection(gain, n, level)
        assert normal.power == pytest.approx(found.power, abs=0.012)
        assert (normal.wrong, normal.wrong_winner) == pytest.approx((found.wrong, found.wrong_winner), abs=0.007)
        assert normal.exaggeration == pytest.approx(found.exaggeration, rel=0.01)
        assert (difference.power(gain, n, level), power) == pytest.approx((normal.power, found.power))
