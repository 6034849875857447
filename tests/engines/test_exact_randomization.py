"""Exact p-values of many units, of huge counts, and where they can not be had."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from tests.engines.pairs import KINDS, ask, best_first
from tests.oracles import GEOMETRIC, ascending, compared, shuffled_p


def test_sums_of_many_units_are_whole_number_polynomials() -> None:
    """1,400 ratings: the product of (1 + z^|d|), in whole numbers, down to p = 1e-60."""
    rng = np.random.default_rng(1)
    smallest = 1.0
    for shift in (0.0, 0.1, 0.7):
        scores = np.clip(np.rint(rng.normal([[3 + shift], [3]], 1, size=(2, 1400))), 1, 5).astype(int)
        statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
        row = ask(statistics, "mean", monte_carlo=False)
        difference = np.diff(best_first(scores, row)[::-1], axis=0)[0]
        bits = 1401
        shuffles = 1
        for step in np.abs(difference[difference != 0]):
            shuffles += shuffles << bits * int(step)
        back = int(-difference[difference < 0].sum())
        extreme = (shuffles & ((1 << bits * (back + 1)) - 1)) % ((1 << bits) - 1)
        expected = float(Fraction(extreme, 2 ** int((difference != 0).sum())))
        assert row.p_value == pytest.approx(expected, rel=1e-9, abs=0)
        assert ask(statistics, "mean", monte_carlo=False, alternative="two-sided").p_value == pytest.approx(
            min(2 * expected, 1), rel=1e-9, abs=0
        )
        smallest = min(smallest, expected)
    assert smallest < 1e-50


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("only_first", [180, 300])
def test_ratios_of_many_units_are_a_grid_of_binomials(only_first: int, alternative: str) -> None:
    """1,100 responses of one system only: x of those to find and y spurious ones go to the first; F is of x and y."""
    found, spurious = (only_first, 160), (300, 340)  # by the first only, by the second only
    one = np.array([[[1, 1, 1], [0, 0, 1]], [[0, 0, 1], [1, 1, 1]], [[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]])
    statistics = np.repeat(one, (*found, *spurious), axis=0).swapaxes(0, 1)
    row = ask(statistics, "f1", alternative=alternative, monte_carlo=False)
    n, m = sum(found), sum(spurious)
    x, y = np.arange(n + 1)[:, None], np.arange(m + 1)

    def f_times(first: Any, second: Any) -> Any:
        """Numerator and denominator of F's difference, in whole numbers."""
        (a, b), (c, d) = first, second
        return 2 * (a * (n + d) - c * (n + b)), (n + b) * (n + d)

    above, below = f_times((x, x + y), (n - x, n - x + m - y))
    observed, size = f_times((found[0], found[0] + spurious[0]), (found[1], found[1] + spurious[1]))
    if observed < 0:
        above, observed = -above, -observed
    gain = np.abs(above) if alternative == "two-sided" else above
    extreme = gain.astype(object) * size >= observed * below.astype(object)
    weights = stats.binom.pmf(x, n, 0.5) * stats.binom.pmf(y, m, 0.5)
    assert row.p_value == pytest.approx(weights[extreme.astype(bool)].sum(), rel=1e-9, abs=0)


def test_computing_what_can_not_be_computed_is_refused_in_one_line() -> None:
    rng = np.random.default_rng(0)
    for statistics, metric, message in (
        (KINDS["geometric"][1](40, rng), GEOMETRIC, r"metric 'geometric' has no whole-number .* at most 20 units"),
        (ascending(rng.integers(0, 1000, size=(2, 300, 3))), "f1", "would need more than 67,108,864 cells"),
    ):
        outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
        with pytest.raises(ValueError, match=message) as error:
            compared(outputs, test="randomization", monte_carlo=False)
        assert "\n" not in str(error.value)
        assert "use monte_carlo='auto' or True" in str(error.value)
    row = ask(KINDS["geometric"][1](40, rng), GEOMETRIC, n_resamples=1000)
    assert (row.exact, row.monte_carlo, row.n_resamples) == (True, True, 1000)


def test_some_pairs_may_be_computed_and_others_resampled() -> None:
    """Systems that differ on 30 units are shuffled at random, those that differ on 10 in all ways."""
    rng = np.random.default_rng(1)
    counts = np.concatenate([KINDS["geometric"][1](30, rng)] * 2)[:3]
    counts[2, 10:] = counts[0, 10:]
    outputs = Outputs.from_statistics(counts, GEOMETRIC, ["a", "c", "b"])
    pairs = compared(outputs, test="randomization", n_resamples=2000)
    computed = {frozenset((row.system_a, row.system_b)) for row in pairs.itertuples() if not row.monte_carlo}
    assert computed == {frozenset("ab")}
    assert (pairs["n_resamples"] == np.where(pairs["monte_carlo"], 2000, 0)).all()
    assert pairs["exact"].all()
    alone = compared(outputs.select(["a", "b"]), test="randomization").p_value[0]
    assert pairs.loc[~pairs["monte_carlo"], "p_value"].item() == alone


@pytest.mark.parametrize("base", [2**22 - 8, 2**26, 2**40])
@pytest.mark.parametrize("metric", ["precision", "f1"])
@pytest.mark.parametrize("two_sided", [False, True])
def test_exact_p_of_huge_counts_is_exact(base: int, metric: str, two_sided: bool) -> None:
    """Scores that differ in their last digits only: nothing ties that is no tie in whole numbers."""
    rng = np.random.default_rng(base % 97)
    alternative = "two-sided" if two_sided else "greater"
    for _ in range(6):
        gold = base + rng.integers(-3, 4, size=6)
        guessed = gold + rng.integers(-1, 2, size=(2, 6))
        correct = np.minimum(guessed, gold) - rng.integers(0, 2, size=(2, 6))
        statistics = np.stack([correct, guessed, np.broadcast_to(gold, (2, 6))], axis=-1)
        outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
        row = compared(outputs, test="randomization", alternative=alternative, monte_carlo=False).iloc[0]
        assert (row.exact, row.monte_carlo) == (True, False)
        assert row.p_value == shuffled_p(best_first(statistics, row), outputs.metric, two_sided=two_sided)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_scores_without_a_common_unit_tie_as_their_multiples_do(alternative: str) -> None:
    """Multiples of pi up to 2.5 million: too wide for a unit to be found, and many shuffles tie."""
    rng = np.random.default_rng(4)
    for _ in range(4):
        scores = rng.integers(0, 4, size=(2, 10))
        scores[0, 0] = 2_500_000
        multiples = np.stack([scores, np.ones_like(scores)], axis=-1)
        row = ask(multiples * [np.pi, 1.0], "mean", alternative=alternative, monte_carlo=False)
        expected = shuffled_p(best_first(multiples, row), METRICS["mean"], two_sided=alternative == "two-sided")
        assert row.p_value == expected


def test_counts_beyond_what_can_be_added_are_refused_at_the_door() -> None:
    with pytest.raises(ValueError, match=r"must sum to less than 2\^53; sum of system number 0 reaches 1.84e\+19"):
        Outputs.from_statistics([[[2**62, 1]] * 4, [[1, 1]] * 4], "mean")
    wide = np.zeros((2, 1024, 2), np.int64) + [0, 1]
    # One more, so that they are multiples of nothing: otherwise they would be taken as 0 to 1023.
    wide[:, :, 0] = [np.arange(1024) * 2**30 + 1, np.arange(1024)[::-1] * 2**30 + 1]
    small = wide.copy()
    small[:, :, 0] = [np.arange(1024), np.arange(1024)[::-1]]
    found, expected = (
        compared(Outputs.from_statistics(counts, "mean"), test="randomization", monte_carlo=False)["p_value"].item()
        for counts in (wide, small)
    )
    assert found == pytest.approx(expected, rel=1e-9)
