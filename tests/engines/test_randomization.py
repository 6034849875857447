"""Randomization against all 2^n shuffles in exact fractions, polynomials, binomials, and scipy's test."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.engines import randomization
from simstudy.engines.randomization import make_tally
from simstudy.engines.sign_flips import FlippedContributions
from simstudy.metrics import METRICS, Metric
from simstudy.outputs import Outputs
from tests.engines.pairs import KINDS, ask, best_first, by_item, made, n_extreme, question_of
from tests.oracles import GEOMETRIC, all_shuffles, compared, could_be, n_subsets, shuffled_p

BOTH = pytest.mark.parametrize("alternative", ["greater", "two-sided"])


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_exact_p_is_the_share_of_all_shuffles(kind: str, alternative: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1]), len(alternative)])
    for n in (2, 5, 9):
        metric, statistics = made(kind, n, rng)
        row = ask(statistics, metric, alternative=alternative)
        assert (row["computation"], row["exact_level"], row["n_resamples"]) == ("exact", True, 0)
        expected = shuffled_p(best_first(statistics, row), metric, two_sided=alternative == "two-sided")
        assert row["p_value"] == pytest.approx(expected, rel=1e-12, abs=0)


@BOTH
@pytest.mark.parametrize("kind", ["ratings", "net wins"])
def test_exact_p_of_decimals_is_that_of_their_tenths(kind: str, alternative: str) -> None:
    """Tenths have no exact binary form; shuffles that tie in tenths tie in decimals, also where sizes cancel."""
    rng = np.random.default_rng(8)
    for n in (4, 7, 10):
        metric, tenths = made(kind, n, rng)
        tenths[..., -1] = 1
        if kind == "net wins":
            # As many wins as losses: both scores are 0. Denominators are systems' own.
            tenths[..., 1] = rng.permuted(tenths[..., 0], axis=1)
            tenths[0, 0] += [4, 4, 1]
        row = ask(tenths / ([10] * (len(metric.statistics) - 1) + [1]), metric, alternative=alternative)
        expected = shuffled_p(best_first(tenths, row), metric, two_sided=alternative == "two-sided")
        assert row["p_value"] == pytest.approx(expected, rel=1e-12, abs=0)
        assert row["gain"] == 0 or kind == "ratings"


def count_extreme(statistics: np.ndarray, metric: Metric, alternative: str, strict: bool) -> int:
    """The tally's count of extreme shuffles, given each of the 2^n shuffles once."""
    question = question_of(statistics, metric, alternative, strict=strict)
    tally = make_tally(question) if question.unit_scores is None else FlippedContributions(question)
    count = n_extreme(tally, question, all_shuffles(question.n_units))[0]
    return min(int(count), 2**question.n_units)


@pytest.mark.parametrize("kind", KINDS)
def test_every_shuffle_is_judged_as_its_fractions_are(kind: str) -> None:
    for alternative, strict in product(("greater", "two-sided"), (False, True)):
        rng = np.random.default_rng([len(kind), ord(kind[-1]), 3])
        for n in (2, 6):
            small = question_of(*made(kind, n, rng)[::-1])
            two_sided = alternative == "two-sided"
            expected = shuffled_p(small.statistics, small.metric, two_sided=two_sided, strict=strict) * 2**n
            # Counts a power of two larger are the same fractions, in wider arithmetic or past its bound.
            for factor in (1, 2**18, 2**26):
                assert count_extreme(small.statistics * factor, small.metric, alternative, strict) == expected


def test_shuffles_of_many_systems_are_scored_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of some pairs and shuffles change no count: BLEU of all 2^7 shuffles of five systems."""
    monkeypatch.setattr(randomization, "_WIDTH", 50)
    monkeypatch.setattr(randomization, "_CELLS", 3_000)
    metric, n, rng = METRICS["bleu"], 7, np.random.default_rng(3)
    total = np.maximum(rng.integers(3, 12, size=(5, n, 1)) - np.arange(4), 0)
    reference = np.broadcast_to(rng.integers(5, 12, size=(n, 1)), (5, n, 1))
    statistics = np.concatenate([rng.binomial(total, 0.8), total, total[..., :1], reference], axis=-1)
    statistics[2, 1:] = statistics[3, 1:]
    for alternative, strict in product(("greater", "two-sided"), (False, True)):
        question = question_of(statistics, metric, alternative, strict=strict)
        tally = make_tally(question)
        assert len(tally.columns) < 5 * 10, "equal columns are summed once"
        expected = [
            2**n * shuffled_p(question.statistics[[i, j]], metric, two_sided=question.two_sided, strict=strict)
            for i, j in zip(*question.pairs, strict=True)
        ]
        assert n_extreme(tally, question, all_shuffles(n)).tolist() == expected


@BOTH
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
        assert row["computation"] == "exact"
        assert row["p_value"] == pytest.approx(expected, rel=1e-12, abs=0)
        assert count_extreme(pair, metric, alternative, False) == expected * 2**n
        assert count_extreme(pair, metric, alternative, True) == fewer * 2**n
        ties += expected != fewer
    assert ties > 2, "hardly a tie: the test shows little"


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["error rate", "f1", "ratings by count", "geometric"])
def test_random_shuffles_agree_with_all_shuffles(kind: str) -> None:
    for convention, alternative in (("default", "greater"), ("default", "two-sided"), ("sacrebleu", "two-sided")):
        rng = np.random.default_rng([len(kind), ord(kind[-1]), 7])
        metric, statistics = made(kind, 8, rng)
        asked: dict[str, Any] = {"alternative": alternative, "convention": convention}
        row = ask(statistics, metric, monte_carlo=True, n_resamples=20_000, **asked)
        two_sided, strict = alternative == "two-sided", convention == "sacrebleu"
        expected = shuffled_p(best_first(statistics, row), metric, two_sided=two_sided, strict=strict)
        assert (row["computation"], row["exact_level"]) == ("resampled", not strict)
        assert could_be(row["n_extreme"], row["n_resamples"], expected)


@BOTH
def test_means_agree_with_scipys_permutation_test(alternative: str, rng: np.random.Generator) -> None:
    for scores in (rng.normal(size=(2, 8)), rng.integers(0, 6, size=(2, 8)), rng.integers(0, 2, size=(2, 9))):
        row = ask(by_item(scores), "mean", alternative=alternative)
        theirs = stats.permutation_test(
            tuple(best_first(scores, row)), lambda x, y, axis: (x - y).sum(axis=axis), permutation_type="samples",
            n_resamples=np.inf, alternative=alternative, vectorized=True,
        )  # fmt: skip
        assert row["p_value"] == pytest.approx(theirs.pvalue, rel=1e-12, abs=0)


def test_sums_of_many_units_are_whole_number_polynomials() -> None:
    """1,400 ratings, in whole numbers, down to p = 1e-60."""
    rng = np.random.default_rng(1)
    smallest = 1.0
    for shift in (0.0, 0.1, 0.7):
        scores = np.clip(np.rint(rng.normal([[3 + shift], [3]], 1, size=(2, 1400))), 1, 5).astype(int)
        row = ask(by_item(scores), "mean")
        difference = np.diff(best_first(scores, row)[::-1], axis=0)[0]
        ways = n_subsets(np.abs(difference[difference != 0]), -difference[difference < 0].sum())
        expected = float(Fraction(ways[-1], 2 ** int((difference != 0).sum())))
        assert row["computation"] == "exact"
        assert row["p_value"] == pytest.approx(expected, rel=1e-9, abs=0)
        two_sided = ask(by_item(scores), "mean", alternative="two-sided")["p_value"]
        assert two_sided == pytest.approx(min(2 * expected, 1), rel=1e-9, abs=0)
        smallest = min(smallest, expected)
    assert smallest < 1e-50


@BOTH
@pytest.mark.parametrize("only_first", [45, 70])
def test_ratios_of_many_units_are_a_grid_of_binomials(only_first: int, alternative: str) -> None:
    """230 responses of one system only: x of those to find and y spurious ones go to the first; F is of x and y."""
    correct, spurious = (only_first, 40), (70, 80)  # by the first only, by the second only
    one = np.array([[[1, 1, 1], [0, 0, 1]], [[0, 0, 1], [1, 1, 1]], [[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]])
    statistics = np.repeat(one, (*correct, *spurious), axis=0).swapaxes(0, 1)
    row = ask(statistics, "f1", alternative=alternative)
    n, m = sum(correct), sum(spurious)
    x, y = np.arange(n + 1)[:, None], np.arange(m + 1)

    def f_times(first: Any, second: Any) -> Any:
        """Numerator and denominator of F's difference, in whole numbers."""
        (a, b), (c, d) = first, second
        return 2 * (a * (n + d) - c * (n + b)), (n + b) * (n + d)

    above, below = f_times((x, x + y), (n - x, n - x + m - y))
    observed, size = f_times((correct[0], correct[0] + spurious[0]), (correct[1], correct[1] + spurious[1]))
    if observed < 0:
        above, observed = -above, -observed
    gain = np.abs(above) if alternative == "two-sided" else above
    extreme = gain.astype(object) * size >= observed * below.astype(object)
    weights = stats.binom.pmf(x, n, 0.5) * stats.binom.pmf(y, m, 0.5)
    assert row["computation"] == "exact"
    assert row["p_value"] == pytest.approx(weights[extreme.astype(bool)].sum(), rel=1e-9, abs=0)


def test_some_pairs_may_be_exact_and_others_resampled() -> None:
    """Systems that differ on 30 units are shuffled at random, those that differ on 10 in all ways."""
    rng = np.random.default_rng(1)
    counts = np.concatenate([KINDS["geometric"][1](30, rng)] * 2)[:3]
    counts[2, 10:] = counts[0, 10:]
    outputs = Outputs.from_statistics(counts, GEOMETRIC, ["a", "c", "b"])
    pairs = compared(outputs, test="randomization", n_resamples=2000)
    exact = (pairs["computation"] == "exact").to_numpy()
    assert [{row.system_a, row.system_b} for row in pairs[exact].itertuples()] == [{"a", "b"}]
    assert (pairs["computation"] == np.where(exact, "exact", "resampled")).all()
    assert (pairs["n_resamples"] == np.where(exact, 0, 2000)).all()
    assert pairs["exact_level"].all()
    alone = compared(outputs.select(["a", "b"]), test="randomization").p_value[0]
    assert pairs.loc[exact, "p_value"].item() == alone


@BOTH
def test_scores_without_a_common_unit_tie_as_their_multiples_do(alternative: str) -> None:
    """Multiples of pi up to 2.5 million: too wide for a unit to be found, and many shuffles tie."""
    rng = np.random.default_rng(4)
    for _ in range(4):
        scores = rng.integers(0, 4, size=(2, 10))
        scores[0, 0] = 2_500_000
        multiples = by_item(scores)
        row = ask(multiples * [np.pi, 1.0], "mean", alternative=alternative)
        expected = shuffled_p(best_first(multiples, row), METRICS["mean"], two_sided=alternative == "two-sided")
        assert row["p_value"] == expected
