"""Randomization against all 2^n shuffles in exact fractions, scipy's permutation test, and a published example."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.engines import swap_tallies
from simstudy.engines.question import Question
from simstudy.engines.swap_tallies import make_swap_tally
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.engines.pairs import KINDS, NET, ask, best_first, made
from tests.metrics.test_quick_gains import QUICK, statistics_of
from tests.oracles import all_shuffles, compared, could_be, fraction, goodness, shuffled_p


@pytest.mark.parametrize("kind", KINDS)
def test_exact_p_is_the_share_of_all_shuffles(kind: str) -> None:
    for alternative in ("greater", "two-sided"):
        rng = np.random.default_rng([len(kind), ord(kind[-1]), len(alternative)])
        for n in (2, 5, 9):
            metric, statistics = made(kind, n, rng)
            row = ask(statistics, metric, alternative=alternative)
            assert (row.exact, row.monte_carlo, row.n_resamples) == (True, False, 0)
            assert row.p_low == row.p_value == row.p_high
            expected = shuffled_p(best_first(statistics, row), metric, two_sided=alternative == "two-sided")
            assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("kind", KINDS)
def test_strict_exact_p_leaves_ties_out(kind: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1])])
    for n in (3, 8):
        metric, statistics = made(kind, n, rng)
        row = ask(statistics, metric, convention="sacrebleu", alternative="two-sided", monte_carlo=False)
        expected = shuffled_p(best_first(statistics, row), metric, two_sided=True, strict=True)
        assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


def test_every_shuffle_is_as_extreme_as_no_gain() -> None:
    """One system has the other's units in another order: their scores are equal, their units are not."""
    for kind in ("geometric", "one decision", "ratings", "muc_f"):
        metric, statistics = made(kind, 7, np.random.default_rng(3))
        equal = np.stack([statistics[0], np.roll(statistics[0], 1, axis=0)])
        assert ask(equal, metric, alternative="two-sided").p_value == 1, kind


@pytest.mark.parametrize("kind", ["words", "ratings", "net wins"])
def test_exact_p_of_decimals_is_that_of_their_tenths(kind: str) -> None:
    """Tenths have no exact binary form; shuffles that tie in tenths tie in decimals, also where sizes cancel."""
    rng = np.random.default_rng(8)
    for n in (4, 7, 10):
        metric, tenths = made("ratings" if kind == "words" else kind, n, rng)
        count = 1 if kind != "words" else 3
        scale = [10] * (len(metric.statistics) - 1) + [1]
        tenths[..., -1] = count
        for alternative in ("greater", "two-sided"):
            row = ask(tenths / scale, metric, alternative=alternative, monte_carlo=False)
            expected = shuffled_p(best_first(tenths, row), metric, two_sided=alternative == "two-sided")
            assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


def test_scores_that_cancel_tie_by_the_size_of_what_was_added() -> None:
    """As many wins as losses for both systems: all scores are 0 up to rounding, and many shuffles tie with that."""
    rng = np.random.default_rng(2)
    for _ in range(4):
        wins = rng.integers(1, 10, size=(2, 8))
        losses = rng.permuted(wins, axis=1)
        tenths = np.stack([wins, losses, np.ones_like(wins)], axis=-1)
        tenths[0, 0] += [4, 4, 1]  # denominators of their own
        for alternative in ("greater", "two-sided"):
            row = ask(tenths / [10, 10, 1], NET, alternative=alternative, monte_carlo=False)
            expected = shuffled_p(best_first(tenths, row), NET, two_sided=alternative == "two-sided")
            assert row.gain == 0
            assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


def count_extreme(statistics: np.ndarray, metric: Metric, alternative: str, strict: bool) -> int:
    """What the tally of random shuffles counts where it is handed each of the 2^n shuffles once."""
    rule = replace(CONVENTIONS["default"], strict=strict)
    n = statistics.shape[1]
    question = Question(statistics, metric, ["a", "b"], "item", np.array([0, n]), alternative, rule)
    tally = make_swap_tally(question)
    extreme = np.zeros(1, np.int64)
    tally.add(tally.columns @ all_shuffles(n).T.astype(tally.columns.dtype), extreme)
    return min(int(extreme[0]), 2**n)


@pytest.mark.parametrize("kind", KINDS)
def test_every_shuffle_is_judged_as_its_fractions_are(kind: str) -> None:
    for alternative, strict in product(("greater", "two-sided"), (False, True)):
        rng = np.random.default_rng([len(kind), ord(kind[-1]), 3])
        for n in (2, 6):
            metric, small = made(kind, n, rng)
            score = goodness(metric)
            if score(small[0].sum(axis=0)) < score(small[1].sum(axis=0)):
                small = small[::-1]
            expected = shuffled_p(small, metric, two_sided=alternative == "two-sided", strict=strict) * 2**n
            # Counts a power of two larger are the same fractions, in wider arithmetic or past its bound.
            for factor in (1, 2**18, 2**26):
                assert count_extreme(small * factor, metric, alternative, strict) == expected


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("n", [1, 3, 10])
def test_quick_gains_change_no_count(name: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 2^n shuffles, scored one by one; each ties with its complement, and many with the observed gain."""
    monkeypatch.setattr(swap_tallies, "_PAIRS", 4)
    monkeypatch.setattr(swap_tallies, "_UNDECIDED", 50)
    metric, rng = QUICK[name], np.random.default_rng([n, len(name)])
    statistics = statistics_of(metric, (5, n), 9, rng)
    statistics[1], statistics[2, 1:], statistics[4] = statistics[0], statistics[3, 1:], 0
    scores = metric.score(statistics.sum(axis=1))
    order = np.argsort(-scores, kind="stable")
    statistics, scores = statistics[order], scores[order]
    swapped = all_shuffles(n)
    for two_sided, strict in product((False, True), repeat=2):
        rule = replace(CONVENTIONS["default"], strict=strict)
        bounds, alternative = np.array([0, n]), "two-sided" if two_sided else "greater"
        tally = make_swap_tally(Question(statistics, metric, list("abcde"), "item", bounds, alternative, rule))
        assert len(tally.columns) < 5 * len(metric.statistics), "equal columns are summed once"
        found = np.zeros(10, np.int64)
        tally.add(tally.columns @ swapped.T.astype(tally.columns.dtype), found)
        for p, (i, j) in enumerate(zip(*np.triu_indices(5, 1), strict=True)):
            moved = swapped @ (statistics[j] - statistics[i])
            gain = metric.score(statistics[i].sum(axis=0) + moved) - metric.score(statistics[j].sum(axis=0) - moved)
            excess = (np.abs(gain) if two_sided else gain) - (scores[i] - scores[j])
            tied = np.abs(excess) < 1e-10
            assert found[p] == (excess[~tied] > 0).sum() + (0 if strict else tied.sum())
            assert tied.any()


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_near_ties_of_large_counts_are_decided_exactly(alternative: str) -> None:
    """Few errors among millions of guesses: gains that differ by 1e-13 and less, and some that do not differ."""
    metric, n, big = METRICS["precision"], 6, 2**22 - 1
    rng = np.random.default_rng(1)
    ties = 0
    for _ in range(6):
        guessed = rng.integers(big - 3, big, size=(2, n))
        wrong = rng.integers(0, 2, size=(2, n))
        statistics = np.stack([guessed - wrong, guessed, np.full((2, n), big)], axis=-1)
        row = ask(statistics, metric, alternative=alternative)
        pair = best_first(statistics, row)
        expected, fewer = (
            shuffled_p(pair, metric, two_sided=alternative == "two-sided", strict=strict) for strict in (False, True)
        )
        assert (row.exact, row.monte_carlo) == (True, False)
        assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)
        assert count_extreme(pair, metric, alternative, False) == expected * 2**n
        assert count_extreme(pair, metric, alternative, True) == fewer * 2**n
        ties += expected != fewer
    assert ties > 2, "hardly a tie: the test shows little"


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_counts_of_random_shuffles_agree_with_all_shuffles(kind: str) -> None:
    for convention, alternative in (("default", "greater"), ("default", "two-sided"), ("sacrebleu", "two-sided")):
        rng = np.random.default_rng([len(kind), ord(kind[-1]), 7])
        for n in (4, 8):
            metric, statistics = made(kind, n, rng)
            asked: dict[str, Any] = {"alternative": alternative, "convention": convention, "seed": n}
            row = ask(statistics, metric, monte_carlo=True, n_resamples=20_000, **asked)
            two_sided, strict = alternative == "two-sided", convention == "sacrebleu"
            expected = shuffled_p(best_first(statistics, row), metric, two_sided=two_sided, strict=strict)
            assert row.monte_carlo
            assert row.exact == (not strict)
            assert could_be(row.n_extreme, row.n_resamples, expected)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_means_agree_with_scipys_permutation_test(alternative: str, rng: np.random.Generator) -> None:
    for scores in (rng.normal(size=(2, 8)), rng.integers(0, 6, size=(2, 8)), rng.integers(0, 2, size=(2, 9))):
        statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
        row = ask(statistics, "mean", alternative=alternative, monte_carlo=False)
        theirs = stats.permutation_test(
            tuple(best_first(scores, row)), lambda x, y, axis: (x - y).sum(axis=axis), permutation_type="samples",
            n_resamples=np.inf, alternative=alternative, vectorized=True,
        )  # fmt: skip
        assert row.p_value == pytest.approx(theirs.pvalue, rel=1e-12, abs=0)


class TestYeh:
    """The worked example of Yeh (2000, section 3.3): 103 relations to find; two methods' responses."""

    @pytest.fixture
    def methods(self) -> Outputs:
        gold = [f"gold {k}" for k in range(103)]
        both = [*gold[:19], *(f"spurious {k}" for k in range(5))]
        only_first = [*gold[19:47], *(f"spurious {k}" for k in range(5, 48))]
        only_second = [*gold[47:53], *(f"spurious {k}" for k in range(48, 57))]
        return Outputs.from_responses(gold, {"I": both + only_first, "II": both + only_second})

    @staticmethod
    def on_the_grid(metric: Ratio) -> Fraction:
        """Of 34 relations and 52 spurious responses of one method only, x and y are given to the first: 35 x 53."""
        extreme = Fraction(0)

        def gain(x: int, y: int) -> Fraction:
            first = fraction(metric, np.array([19 + x, 24 + x + y, 103]))
            return first - fraction(metric, np.array([19 + 34 - x, 24 + 34 - x + 52 - y, 103]))

        observed = gain(28, 43)
        for x, y in product(range(35), range(53)):
            better = gain(x, y) if observed > 0 else -gain(x, y)
            extreme += (better >= abs(observed)) * Fraction(comb(34, x) * comb(52, y), 2**86)
        return extreme

    def test_scores_are_the_published_ones(self, methods: Outputs) -> None:
        scores = {name: methods.with_metric(name).scores().round(1).tolist() for name in ("recall", "precision", "f1")}
        assert scores == {"recall": [45.6, 24.3], "precision": [49.5, 64.1], "f1": [47.5, 35.2]}

    def test_recall_is_a_binomial_tail(self, methods: Outputs) -> None:
        row = compared(methods.with_metric("recall"), test="randomization", alternative="greater").iloc[0]
        expected = sum(comb(34, k) for k in range(28, 35)) / 2**34
        assert (row.system_a, row.exact, row.monte_carlo) == ("I", True, False)
        assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)
        # 96 of his 1,048,576 shuffles; a second run of his "produced similar results".
        assert could_be(96, 2**20, row.p_value)

    @pytest.mark.parametrize(("name", "better"), [("recall", "I"), ("precision", "II"), ("f1", "I")])
    def test_exact_p_is_that_of_the_grid_of_two_binomials(self, methods: Outputs, name: str, better: str) -> None:
        metric = METRICS[name]
        assert isinstance(metric, Ratio)
        row = compared(methods.with_metric(name), test="randomization", alternative="greater").iloc[0]
        assert (row.system_a, row.exact, row.monte_carlo) == (better, True, False)
        assert row.p_value == pytest.approx(float(self.on_the_grid(metric)), rel=1e-12, abs=0)

    @pytest.mark.parametrize(("name", "count"), [("precision", 25_770), ("f1", 14_794)])
    def test_published_counts_for_precision_and_f_are_not_those_of_the_responses(self, name: str, count: int) -> None:
        """The grid has no randomness: the printed counts are 34 and 6 standard errors away, on the same side of 5 %."""
        metric = METRICS[name]
        assert isinstance(metric, Ratio)
        expected = float(self.on_the_grid(metric))
        assert not could_be(count, 2**20, expected)
        assert 0.75 < count / 2**20 / expected < 1.25
