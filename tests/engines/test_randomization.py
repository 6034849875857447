"""Randomization against all 2^n shuffles in exact fractions, scipy's permutation test, and a published example."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from simstudy.engines import swap_kernels
from simstudy.engines.comparisons import compare
from simstudy.engines.question import Question
from simstudy.engines.swaps import make_swap_tally
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from simstudy.pvalues import CONVENTIONS
from tests.oracles import ERROR_RATE, GEOMETRIC, all_shuffles, could_be, fraction, goodness, shuffled_p

#: Wins less losses: a system's sizes may cancel.
NET = Ratio("net wins", ("won", "lost", "count"), True, (1, -1, 0), (0, 0, 1), 1.0)


def _counts(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.integers(0, 4, size=(2, n, 3)), axis=-1)


def _decisions(n: int, rng: np.random.Generator, most: int = 1) -> np.ndarray:
    total = rng.integers(0, most + 1, size=n) if most > 1 else np.ones(n, int)
    right = rng.binomial(total, [[0.7], [0.5]], size=(2, n))
    return np.stack([right, np.broadcast_to(total, right.shape)], axis=-1)


def _fills(n: int, rng: np.random.Generator) -> np.ndarray:
    correct, partial, missing, spurious = rng.integers(0, 3, size=(4, 2, n))
    found = correct + partial
    return np.stack([found + missing, found + spurious, correct, partial], axis=-1)


def _silent(n: int, rng: np.random.Generator) -> np.ndarray:
    counts = _counts(n, rng)
    counts[1, :, :2] = 0
    return counts


def _ratings(n: int, rng: np.random.Generator, count: int = 1) -> np.ndarray:
    ratings = rng.integers(-2, 4, size=(2, n))
    return np.stack([ratings, rng.integers(1, count + 1, size=ratings.shape)], axis=-1)


#: Kind -> (metric, statistics (2, n, S) of two random systems).
KINDS: dict[str, Any] = {
    "one decision": ("accuracy", _decisions),
    "words": ("accuracy", lambda n, rng: _decisions(n, rng, 5)),
    "error rate": (ERROR_RATE, lambda n, rng: _decisions(n, rng, 5)),
    "ratings": ("mean", _ratings),
    "ratings by count": ("mean", lambda n, rng: _ratings(n, rng, 3)),
    "net wins": (NET, lambda n, rng: np.concatenate([rng.integers(0, 4, (2, n, 2)), np.ones((2, n, 1), int)], -1)),
    **{name: (name, _counts) for name in ("precision", "recall", "f1", "f0.5")},
    **{name: (name, _fills) for name in ("muc_recall", "muc_precision", "muc_f", "muc_f_2p")},
    "silent precision": ("precision", _silent),
    "silent f1": ("f1", _silent),
    "geometric": (GEOMETRIC, lambda n, rng: np.sort(rng.integers(0, 4, size=(2, n, 4)), axis=-1)),
}


def made(kind: str, n: int, rng: np.random.Generator) -> tuple[Metric, np.ndarray]:
    metric, make = KINDS[kind]
    return METRICS.get(metric, metric), make(n, rng)


def ask(statistics: np.ndarray, metric: Metric | str, **options: Any) -> Any:
    outputs = Outputs.from_statistics(statistics, metric, ["a", "b"][: len(statistics)])
    return compare(outputs, test="randomization", **options).iloc[0]


def best_first(statistics: np.ndarray, row: Any) -> np.ndarray:
    return statistics if row.system_a == "a" else statistics[::-1]


def test_the_oracle_is_a_coin_an_item() -> None:
    """Three items won and none lost: 1/8 of the shuffles keep them all; with one lost, those that swap at most it."""
    won = np.array([[[1, 1]] * 3, [[0, 1]] * 3])
    assert shuffled_p(won, METRICS["accuracy"]) == 1 / 8
    assert shuffled_p(won, METRICS["accuracy"], two_sided=True) == 1 / 4
    assert shuffled_p(won, METRICS["accuracy"], strict=True) == 0
    mixed = np.array([[[1, 1]] * 3 + [[0, 1]], [[0, 1]] * 3 + [[1, 1]]])
    assert shuffled_p(mixed, METRICS["accuracy"]) == stats.binom.cdf(1, 4, 0.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_exact_p_is_the_share_of_all_shuffles(kind: str, alternative: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1]), len(alternative)])
    for n in (2, 3, 5, 8, 8, 10, 12):
        metric, statistics = made(kind, n, rng)
        row = ask(statistics, metric, alternative=alternative)
        assert (row.exact, row.n_resamples) == (True, 0)
        assert row.p_low == row.p_value == row.p_high
        expected = shuffled_p(best_first(statistics, row), metric, two_sided=alternative == "two-sided")
        assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("kind", KINDS)
def test_strict_exact_p_leaves_ties_out(kind: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1])])
    for n in (3, 6, 9):
        metric, statistics = made(kind, n, rng)
        row = ask(statistics, metric, convention="sacrebleu", exact=True)
        expected = shuffled_p(best_first(statistics, row), metric, two_sided=True, strict=True)
        assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


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
            row = ask(tenths / scale, metric, alternative=alternative, exact=True)
            expected = shuffled_p(best_first(tenths, row), metric, two_sided=alternative == "two-sided")
            assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


def test_scores_that_cancel_tie_by_the_size_of_what_was_added() -> None:
    """As many wins as losses for both systems: all scores are 0 up to rounding, and many shuffles tie with that."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        wins = rng.integers(1, 10, size=(2, 8))
        losses = rng.permuted(wins, axis=1)
        tenths = np.stack([wins, losses, np.ones_like(wins)], axis=-1)
        tenths[0, 0] += [4, 4, 1]  # denominators of their own
        for alternative in ("greater", "two-sided"):
            row = ask(tenths / [10, 10, 1], NET, alternative=alternative, exact=True)
            expected = shuffled_p(best_first(tenths, row), NET, two_sided=alternative == "two-sided")
            assert row.gain == 0
            assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


def test_sixteen_units_that_differ_are_still_enumeration(rng: np.random.Generator) -> None:
    for kind in ("muc_f", "f1", "words"):
        metric, statistics = made(kind, 16, rng)
        row = ask(statistics, metric, exact=True)
        assert row.p_value == pytest.approx(shuffled_p(best_first(statistics, row), metric), rel=1e-12, abs=0)


def count_extreme(statistics: np.ndarray, metric: Metric, alternative: str, strict: bool) -> int:
    """What the tally of random shuffles counts where it is handed each of the 2^n shuffles once."""
    rule = replace(CONVENTIONS["default"], strict=strict)
    n = statistics.shape[1]
    question = Question(statistics, metric, ["a", "b"], "item", np.array([0, n]), alternative, rule)
    tally = make_swap_tally(question)
    extreme = np.zeros((2, 2), np.int64)
    tally.add(tally.columns @ all_shuffles(n).T.astype(tally.columns.dtype), extreme)
    return min(int(extreme[0, 1]), 2**n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("strict", [False, True], ids=[">=", ">"])
def test_every_shuffle_is_judged_as_its_fractions_are(kind: str, alternative: str, strict: bool) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1]), 3])
    for n in (2, 4, 7):
        metric, small = made(kind, n, rng)
        score = goodness(metric)
        if score(small[0].sum(axis=0)) < score(small[1].sum(axis=0)):
            small = small[::-1]
        expected = shuffled_p(small, metric, two_sided=alternative == "two-sided", strict=strict) * 2**n
        # Counts a power of two larger are the same fractions, in wider arithmetic or past its bound.
        for factor in (1, 2**18, 2**26):
            assert count_extreme(small * factor, metric, alternative, strict) == expected


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_near_ties_of_large_counts_are_decided_exactly(alternative: str) -> None:
    """Few errors among millions of guesses: gains that differ by 1e-13 and less, and some that do not differ."""
    metric, n, big = METRICS["precision"], 6, 2**22 - 1
    rng = np.random.default_rng(1)
    ties = 0
    for _ in range(30):
        guessed = rng.integers(big - 3, big, size=(2, n))
        wrong = rng.integers(0, 2, size=(2, n))
        statistics = np.stack([guessed - wrong, guessed, np.full((2, n), big)], axis=-1)
        row = ask(statistics, metric, alternative=alternative)
        pair = best_first(statistics, row)
        expected, fewer = (
            shuffled_p(pair, metric, two_sided=alternative == "two-sided", strict=strict) for strict in (False, True)
        )
        assert row.exact
        assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)
        assert count_extreme(pair, metric, alternative, False) == expected * 2**n
        assert count_extreme(pair, metric, alternative, True) == fewer * 2**n
        ties += expected != fewer
    assert ties > 10, "hardly a tie: the test shows little"


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("convention", "alternative"), [("default", "greater"), ("default", "two-sided"), ("sacrebleu", "two-sided")]
)
def test_counts_of_random_shuffles_agree_with_all_shuffles(kind: str, convention: str, alternative: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1]), 7])
    for n in (4, 10):
        metric, statistics = made(kind, n, rng)
        row = ask(
            statistics, metric, alternative=alternative, convention=convention, exact=False, n_resamples=20_000, seed=n
        )
        two_sided, strict = alternative == "two-sided", convention == "sacrebleu"
        expected = shuffled_p(best_first(statistics, row), metric, two_sided=two_sided, strict=strict)
        assert not row.exact
        assert could_be(row.n_extreme, row.n_resamples, expected)


@given(data=st.data())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_exact_equals_enumeration_for_any_small_counts(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["accuracy", "mean", "precision", "recall", "f1", "f2", "muc_precision", "muc_f"]))
    metric = METRICS[name]
    small = st.integers(0, 6)
    n = data.draw(st.integers(2, 7))
    if name.startswith("muc"):
        parts = np.array(data.draw(st.lists(small, min_size=8 * n, max_size=8 * n))).reshape(4, 2, n)
        found = parts[0] + parts[1]
        statistics = np.stack([found + parts[2], found + parts[3], parts[0], parts[1]], axis=-1)
    else:
        size = 2 * n * len(metric.statistics)
        statistics = np.array(data.draw(st.lists(small, min_size=size, max_size=size))).reshape(2, n, -1)
        statistics = np.sort(statistics, axis=-1)
        if name == "mean":
            statistics[..., 0] -= data.draw(small)
    alternative = data.draw(st.sampled_from(["greater", "two-sided"]))
    row = ask(statistics, metric, alternative=alternative)
    expected = shuffled_p(best_first(statistics, row), metric, two_sided=alternative == "two-sided")
    assert row.exact
    assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_means_agree_with_scipys_permutation_test(alternative: str, rng: np.random.Generator) -> None:
    for scores in (rng.normal(size=(2, 11)), rng.integers(0, 6, size=(2, 11)), rng.integers(0, 2, size=(2, 12))):
        statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
        row = ask(statistics, "mean", alternative=alternative, exact=True)
        theirs = stats.permutation_test(
            tuple(best_first(scores, row)), lambda x, y, axis: (x - y).sum(axis=axis), permutation_type="samples",
            n_resamples=np.inf, alternative=alternative, vectorized=True,
        )  # fmt: skip
        assert row.p_value == pytest.approx(theirs.pvalue, rel=1e-12, abs=0)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_f1_of_swapped_sums_agrees_with_scipys_permutation_test(alternative: str, rng: np.random.Generator) -> None:
    n, metric = 10, METRICS["f1"]
    statistics = _counts(n, rng)
    row = ask(statistics, metric, alternative=alternative)
    rows = np.concatenate(list(best_first(statistics, row)))

    def gain(x: np.ndarray, y: np.ndarray) -> float:
        return float(metric.score(rows[x].sum(axis=0)) - metric.score(rows[y].sum(axis=0)))

    theirs = stats.permutation_test(
        (np.arange(n), np.arange(n, 2 * n)), gain, permutation_type="samples", n_resamples=np.inf,
        alternative=alternative, vectorized=False,
    )  # fmt: skip
    assert row.p_value == pytest.approx(theirs.pvalue, rel=1e-12, abs=0)


def test_large_counts_keep_their_ties() -> None:
    """Counts times 2^20 are the same fractions, in wider arithmetic, and past the bounds of whole-number sums."""
    rng = np.random.default_rng(5)
    for kind in ("f1", "muc_f", "words"):
        metric, small = made(kind, 8, rng)
        expected = ask(small, metric).p_value
        for factor in (2**18, 2**24, 2**30):
            assert ask(small * factor, metric).p_value == pytest.approx(expected, rel=1e-12, abs=0)


def test_sums_of_many_units_are_whole_number_polynomials() -> None:
    """1,400 ratings: the product of (1 + z^|d|), in whole numbers, down to p = 1e-60."""
    rng = np.random.default_rng(1)
    smallest = 1.0
    for shift in (0.0, 0.1, 0.7):
        scores = np.clip(np.rint(rng.normal([[3 + shift], [3]], 1, size=(2, 1400))), 1, 5).astype(int)
        statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
        row = ask(statistics, "mean", exact=True)
        difference = np.diff(best_first(scores, row)[::-1], axis=0)[0]
        bits = 1401
        shuffles = 1
        for step in np.abs(difference[difference != 0]):
            shuffles += shuffles << bits * int(step)
        back = int(-difference[difference < 0].sum())
        extreme = (shuffles & ((1 << bits * (back + 1)) - 1)) % ((1 << bits) - 1)
        expected = float(Fraction(extreme, 2 ** int((difference != 0).sum())))
        assert row.p_value == pytest.approx(expected, rel=1e-9, abs=0)
        assert ask(statistics, "mean", exact=True, alternative="two-sided").p_value == pytest.approx(
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
    row = ask(statistics, "f1", alternative=alternative, exact=True)
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


@pytest.mark.parametrize("exact", ["auto", False])
def test_swapping_documents_is_swapping_their_sums(exact: Any, tagged: Outputs) -> None:
    by_document = compare(tagged, test="randomization", unit="cluster", n_resamples=2000, exact=exact)
    of_sums = compare(tagged.sum_by("cluster"), test="randomization", n_resamples=2000, exact=exact)
    for column in ("p_value", "n_extreme", "exact"):
        np.testing.assert_array_equal(by_document[column], of_sums[column])
    pair = tagged.select(["e", "a"])
    sums = pair.statistics.reshape(2, 15, 4, 2).sum(axis=2)  # documents are four sentences in a row
    expected = shuffled_p(sums, pair.metric)
    found = by_document.set_index(["system_a", "system_b"]).loc[("e", "a")]
    assert (
        found.p_value == pytest.approx(expected, rel=1e-12, abs=0)
        if exact
        else could_be(found.n_extreme, 2000, expected)
    )


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
        row = compare(methods.with_metric("recall"), test="randomization").iloc[0]
        expected = sum(comb(34, k) for k in range(28, 35)) / 2**34
        assert (row.system_a, row.exact) == ("I", True)
        assert row.p_value == pytest.approx(expected, rel=1e-12, abs=0)

    @pytest.mark.parametrize(("name", "better"), [("recall", "I"), ("precision", "II"), ("f1", "I")])
    def test_exact_p_is_that_of_the_grid_of_two_binomials(self, methods: Outputs, name: str, better: str) -> None:
        metric = METRICS[name]
        assert isinstance(metric, Ratio)
        row = compare(methods.with_metric(name), test="randomization").iloc[0]
        assert (row.system_a, row.exact) == (better, True)
        assert row.p_value == pytest.approx(float(self.on_the_grid(metric)), rel=1e-12, abs=0)

    def test_published_count_for_recall_could_be_ours(self, methods: Outputs) -> None:
        """96 of his 1,048,576 shuffles; a second run of his "produced similar results"."""
        assert could_be(96, 2**20, compare(methods.with_metric("recall"), test="randomization").p_value[0])

    @pytest.mark.parametrize(("name", "count"), [("precision", 25_770), ("f1", 14_794)])
    def test_published_counts_for_precision_and_f_are_not_those_of_the_responses(self, name: str, count: int) -> None:
        """The grid has no randomness: the printed counts are 34 and 6 standard errors away, on the same side of 5 %."""
        metric = METRICS[name]
        assert isinstance(metric, Ratio)
        expected = float(self.on_the_grid(metric))
        assert not could_be(count, 2**20, expected)
        assert 0.75 < count / 2**20 / expected < 1.25


def test_exact_where_it_can_not_be_had_is_refused_in_one_line() -> None:
    rng = np.random.default_rng(0)
    decimals = np.stack([rng.random((2, 30)), np.ones((2, 30))], axis=-1)
    for statistics, metric, message in (
        (decimals, "mean", "'a' and 'b', which differ on 30 units: metric 'mean' has no whole-number statistics here"),
        (KINDS["geometric"][1](40, rng), GEOMETRIC, r"metric 'geometric' has no whole-number .* at most 20 units"),
        (np.sort(rng.integers(0, 1000, size=(2, 300, 3))), "f1", "would need more than 67,108,864 cells"),
    ):
        outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
        with pytest.raises(ValueError, match=message) as error:
            compare(outputs, test="randomization", exact=True)
        assert "\n" not in str(error.value)
        assert "use exact='auto' or False" in str(error.value)
    row = ask(decimals, "mean", n_resamples=1000)
    assert (row.exact, row.n_resamples) == (False, 1000)


def test_some_pairs_may_be_exact_and_others_resampled() -> None:
    """Decimals that differ on 30 units are shuffled at random, those that differ on 10 in all ways."""
    rng = np.random.default_rng(1)
    scores = pd.DataFrame({"a": rng.random(30)})
    scores["b"] = scores["a"] + np.r_[rng.normal(size=10), np.zeros(20)]
    scores["c"] = rng.random(30)
    pairs = compare(Outputs.from_scores(scores), test="randomization", n_resamples=2000)
    exact = {frozenset((row.system_a, row.system_b)) for row in pairs.itertuples() if row.exact}
    assert exact == {frozenset("ab")}
    assert (pairs["n_resamples"] == np.where(pairs["exact"], 0, 2000)).all()
    alone = compare(Outputs.from_scores(scores[["a", "b"]]), test="randomization").p_value[0]
    assert pairs.loc[pairs["exact"], "p_value"].item() == alone


def coins(n: int, n_shuffles: int, *, seed: int = 0, first: int = 0) -> np.ndarray:
    out = np.full((n_shuffles, n), np.nan, np.float32)
    swap_kernels.coin_flips(np.uint64(seed), np.uint64(first), out)
    return out


@pytest.mark.parametrize("n", [1, 31, 32, 33, 127, 128, 129, 1000])
def test_coins_depend_on_seed_and_shuffle_alone(n: int) -> None:
    whole = coins(n, 100, seed=5)
    assert np.isin(whole, (0, 1)).all()
    np.testing.assert_array_equal(coins(n, 30, seed=5, first=60), whole[60:90])
    assert (coins(n, 100, seed=6) != whole).any()
    assert (coins(n, 100, seed=5 + 2**32) != whole).any()


@pytest.mark.statistical
def test_coins_are_fair_and_independent() -> None:
    """Each unit's share of heads, neighbours in a shuffle, and a unit in shuffles next to each other."""
    n, n_shuffles = 260, 40_000
    flips = coins(n, n_shuffles, seed=9).astype(np.int64)
    z = (flips.sum(axis=0) - n_shuffles / 2) / np.sqrt(n_shuffles / 4)
    assert 1e-7 < stats.chi2.sf((z**2).sum(), n) < 1 - 1e-7
    for lag in (1, 2, 32, 64, 128):
        equal = (flips[:, lag:] == flips[:, :-lag]).sum()
        assert stats.binomtest(int(equal), flips[:, lag:].size).pvalue > 1e-7
    for lag in (1, 2, 4096):
        equal = (flips[lag:] == flips[:-lag]).sum()
        assert stats.binomtest(int(equal), flips[lag:].size).pvalue > 1e-7
    # All eight outcomes of three units are equally frequent.
    triples = np.bincount(flips[:, 0] + 2 * flips[:, 131] + 4 * flips[:, 259], minlength=8)
    assert stats.chisquare(triples).pvalue > 1e-7


@pytest.mark.parametrize("base", [2**22 - 8, 2**23, 2**26, 2**40])
@pytest.mark.parametrize("metric", ["precision", "f1"])
@pytest.mark.parametrize("two_sided", [False, True])
def test_exact_p_of_huge_counts_is_exact(base: int, metric: str, two_sided: bool) -> None:
    """Scores that differ in their last digits only: nothing ties that is no tie in whole numbers."""
    rng = np.random.default_rng(base % 97)
    alternative = "two-sided" if two_sided else "greater"
    for _ in range(12):
        gold = base + rng.integers(-3, 4, size=6)
        guessed = gold + rng.integers(-1, 2, size=(2, 6))
        correct = np.minimum(guessed, gold) - rng.integers(0, 2, size=(2, 6))
        statistics = np.stack([correct, guessed, np.broadcast_to(gold, (2, 6))], axis=-1)
        outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
        row = compare(outputs, test="randomization", alternative=alternative, exact=True).iloc[0]
        assert row.exact
        assert row.p_value == shuffled_p(best_first(statistics, row), outputs.metric, two_sided=two_sided)


def test_twenty_units_of_decimals_are_all_shuffles(rng: np.random.Generator) -> None:
    """All sums of each half of the units, put together, against scipy's enumeration of 2^14 shuffles."""
    a, b = rng.normal(size=(2, 14)).round(1)
    expected = stats.permutation_test(
        (a, b), lambda x, y, axis: np.round((x - y).sum(axis=axis), 6), permutation_type="samples", vectorized=True,
        n_resamples=np.inf, alternative="greater" if a.sum() > b.sum() else "less",
    )  # fmt: skip
    row = compare(Outputs.from_scores(pd.DataFrame({"a": a, "b": b})), test="randomization").iloc[0]
    assert row.exact
    assert row.p_value == pytest.approx(expected.pvalue, rel=1e-12)


def test_counts_beyond_what_can_be_added_are_refused_at_the_door() -> None:
    with pytest.raises(ValueError, match=r"must sum to less than 2\^53; sum of system number 0 reaches 1.84e\+19"):
        Outputs.from_statistics([[[2**62, 1]] * 4, [[1, 1]] * 4], "mean")
    wide = np.zeros((2, 1024, 2), np.int64) + [0, 1]
    wide[:, :, 0] = [np.arange(1024) * 2**30, np.arange(1024)[::-1] * 2**30]
    outputs = Outputs.from_statistics(wide, "mean")
    with pytest.raises(ValueError, match="exact=True can not be had"):
        compare(outputs, test="randomization", exact=True)
