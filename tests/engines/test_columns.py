"""Columns beside the p-value: the better system, the least p-value, how it is computed, the two-sided one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.needs import ACCEPTANCE_SETS, MEAN
from simstudy.engines.registry import TESTS
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.statistics.decisions import Decision
from simstudy.statistics.pvalues import CONVENTIONS
from tests.engines.pairs import made, scored
from tests.oracles import compared

OF_SCORES = [name for name, test in TESTS.items() if test.of_scores and test.needs in ((), (MEAN,))]


#: The better mean on three items by far, the worse on twenty by little.
FEW_LARGE = [0.9] * 3 + [0.1] * 20, [0.1] * 3 + [0.15] * 20


class TestBetter:
    """The system that a test prefers."""

    @pytest.mark.parametrize("test", ["sign", "wilcoxon"])
    def test_ranks_and_signs_may_prefer_the_lower_mean(self, test: str) -> None:
        """a has the better mean and loses 20 items of 23: p is small, and no evidence for a."""
        row = compared(scored(FEW_LARGE), test=test).iloc[0]
        assert (row.system_a, row.better) == ("a", "b")
        # Mid-ranks are 10.5 for b's twenty items and 22 for a's three, so signs of fair coins give 2 R = 21 x + 44 y.
        ways = np.outer(stats.binom.pmf(np.arange(21), 20, 0.5), stats.binom.pmf(np.arange(4), 3, 0.5))
        twice = 21 * np.arange(21)[:, None] + 44 * np.arange(4)
        expected = 2 * (stats.binom.cdf(3, 23, 0.5) if test == "sign" else ways[twice <= 3 * 44].sum())
        assert row.p_value == pytest.approx(expected, rel=1e-12)
        assert row.p_floor < 1e-6
        assert not Decision(0.05).significant(pd.DataFrame([row])).any()
        # A one-sided test asks for a only: what speaks against a is a large p.
        row = compared(scored(FEW_LARGE), test=test, alternative="greater").iloc[0]
        assert (row.system_a, row.better) == ("a", "")
        assert row.p_value > 0.98
        assert row.p_two_sided < 0.02

    @pytest.mark.parametrize("test", [*OF_SCORES, "sign", "wilcoxon"])
    def test_equal_scores_prefer_nobody_unless_ranks_do(self, test: str) -> None:
        """b wins four items by one, a one item by four. And 0.1 + 0.2 is more than 0.3 in its last bit only."""
        row = compared(scored([[4, 0, 0, 0, 0], [0, 1, 1, 1, 1]]), test=test, n_resamples=100).iloc[0]
        assert row.better == ("" if test in OF_SCORES else "b")
        tenths, third = [0.1, 0.2, 0.0], [0.0, 0.0, 0.3]
        assert sum(tenths) > sum(third)
        for pair in ((tenths, third), (third, tenths)) if test in OF_SCORES else ():
            row = compared(scored(pair), test=test, n_resamples=100).iloc[0]
            assert (row.system_a, row.gain, row.better) == ("a", 0, "")
            assert row.p_value == pytest.approx(1)

    def test_fisher_may_prefer_the_one_that_accepts_more(self) -> None:
        """Footnote 13 of Evert 2004: a's own item is false, one of b's own six is true; a is the more precise."""
        accepts = np.array([[1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 1, 1, 1, 1]])
        true = np.isin(np.arange(10), (0, 1, 2, 4))
        counts = np.stack([accepts * true, accepts], -1)
        outputs = Outputs.from_statistics(counts, METRICS["precision_of_accepted"], ["a", "b"])
        row = compared(outputs, test="fisher").iloc[0]
        assert (row.system_a, row.better) == ("a", "b")
        assert row.statistic < 0
        assert not Decision(0.05).significant(pd.DataFrame([row.to_dict() | {"p_value": 0.001}])).any()

    def test_chi_square_prefers_the_larger_share(self) -> None:
        right = np.array([[1] * 30 + [0] * 10, [1] * 18 + [0] * 22])
        for rows, better in (([0, 1], "a"), ([0, 0], "")):
            assert compared(scored(right[rows], "accuracy"), test="chi_square").better[0] == better


class TestFloor:
    """The least p-value that swapping the units that differ could give."""

    @pytest.mark.parametrize("n", [2, 3])
    @pytest.mark.parametrize(("alternative", "sides"), [("greater", 1), ("two-sided", 2)])
    def test_two_or_three_items_show_nothing(self, n: int, alternative: str, sides: int) -> None:
        """The bootstrap's limit is 0, since every resample has the same gain: no sign of anything."""
        for test in ("bootstrap", "sign_flips", "randomization", "sign", "t_paired", "z_paired"):
            row = compared(scored([[1] * n, [0] * n]), test=test, alternative=alternative).iloc[0]
            assert row.p_floor == sides / 2**n, test
            assert row.p_value == (1e-300 if test in ("bootstrap", "t_paired", "z_paired") else row.p_floor), test
            assert not Decision(0.05).significant(pd.DataFrame([row])).any(), test
            assert Decision(0.2).significant(pd.DataFrame([row])).any() == (row.p_floor < 0.2), test

    def test_only_units_that_differ_count(self, rng: np.random.Generator) -> None:
        row = compared(scored([[1] * 6 + [0.5] * 94, [0] * 6 + [0.5] * 94])).iloc[0]
        assert (row.p_floor, row.p_value) == (2 / 2**6, 2 / 2**6)
        assert compared(scored([[0.5] * 9, [0.5] * 9])).p_floor[0] == 1
        # 2^-2000 is below the least double.
        assert compared(scored(rng.normal(size=(2, 2000))), n_resamples=50).p_floor[0] == 0

    @pytest.mark.parametrize("kind", ["one decision", "ratings by count", "precision", "f1", "geometric", "muc_f"])
    @pytest.mark.parametrize(("alternative", "sides"), [("greater", 1), ("two-sided", 2)])
    def test_no_randomization_test_is_below_it(self, kind: str, alternative: str, sides: int) -> None:
        """Of n units that differ one shuffle of 2^n is what was observed, and one is its opposite."""
        rng = np.random.default_rng(9)
        for n in (2, 3, 4, 6):
            metric, statistics = made(kind, n, rng)
            outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
            row = compared(outputs, test="randomization", alternative=alternative).iloc[0]
            assert row.p_floor <= row.p_value + 1e-12
            n_differ = (statistics[0] != statistics[1]).any(axis=1).sum()
            assert row.p_floor == min(sides * 2.0**-n_differ, 1)


@pytest.mark.parametrize("convention", [name for name in CONVENTIONS if name != "default"])
def test_named_conventions_are_resampled(convention: str, answered: Outputs) -> None:
    """Ties left out, or s / B, make a p-value that may be too small."""
    for test in CONVENTIONS[convention].tests:
        pairs = compared(answered, test=test, convention=convention, unit="item", n_resamples=99)
        assert set(pairs["exact_level"]) == {test != "bootstrap" and convention in ("noreen", "chinchor1992")}
        assert set(pairs["computation"]) == {"resampled"}
        assert set(pairs["n_resamples"]) == {99}


@pytest.mark.parametrize("test", [name for name, test in TESTS.items() if "greater" in test.alternatives])
def test_the_two_sided_p_value_is_that_of_the_two_sided_test(test: str, answered: Outputs, accepting: Outputs) -> None:
    options: dict[str, Any] = {"test": test, "unit": "item", "n_resamples": 300}
    outputs = accepting if ACCEPTANCE_SETS in TESTS[test].needs else answered
    one, both = (compared(outputs, alternative=sides, **options) for sides in ("greater", "two-sided"))
    pd.testing.assert_series_equal(one["p_two_sided"], both["p_value"], check_names=False)
    pd.testing.assert_series_equal(both["p_two_sided"], both["p_value"], check_names=False)
    assert (one["p_value"] < both["p_value"]).any()


OF_RECALL = ("z_paired", "z_independent", "t_paired", "t_two_sample", "two_proportions", "chi_square")


@pytest.mark.parametrize(
    ("test", "alternative"), [(test, side) for test in OF_RECALL for side in TESTS[test].alternatives]
)
def test_equal_hits_by_other_guesses_are_no_difference_in_recall(test: str, alternative: str) -> None:
    """Two systems that find the same, and guess wrong in other places: p = 1, on one side too."""
    rng = np.random.default_rng(2)
    gold = rng.integers(1, 5, size=30)
    hits = rng.binomial(gold, 0.6)
    spurious = rng.integers(0, 4, size=30) + [[0], [1]]
    statistics = np.stack(np.broadcast_arrays(hits, hits + spurious, gold), axis=-1)
    row = compared(Outputs.from_statistics(statistics, "recall"), test=test, alternative=alternative).iloc[0]
    assert (row.gain, row.p_value, row.better) == (0.0, 1.0, "")
