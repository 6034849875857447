"""The bootstrap's limit for infinitely many resamples: enumeration, whole-number polynomials, a trinomial."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines import draw_kernels
from simstudy.metrics import METRICS, Metric
from simstudy.outputs import Outputs
from tests.oracles import ERROR_RATE, all_resamples, ascending, compared, could_be, drawn_tail, exact_bootstrap_p

BOOTSTRAP: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "unit": "item"}

RULES = [
    ("default", "greater"),
    ("default", "two-sided"),
    ("bk2012", "greater"),
    ("bk2012", "two-sided"),
    ("koehn2004", "greater"),
]


def ask(scores: np.ndarray, metric: Metric | str = "mean", total: int = 1, **options: Any) -> Any:
    statistics = np.stack([scores, np.full_like(scores, total)], axis=-1)
    outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
    return compared(outputs, **(BOOTSTRAP | {"monte_carlo": False} | options)).iloc[0]


def differences(scores: np.ndarray, row: Any) -> np.ndarray:
    return (scores[0] - scores[1]) * (1 if row.system_a == "a" else -1)


def limit(difference: np.ndarray, convention: str, alternative: str) -> float:
    """The share of all n^n resamples that a rule counts, by exact tails of the sum of n draws."""
    gain, strict = int(difference.sum()), int(convention == "bk2012")
    if convention == "koehn2004":
        return float(drawn_tail(-difference, 0))
    p = drawn_tail(difference, 2 * gain + strict)
    if alternative == "two-sided":
        p += drawn_tail(-difference, strict)
    return float(min(p, 1))


@pytest.mark.parametrize("kind", ["one decision", "seven decisions", "error rate", "ratings"])
def test_p_is_the_share_of_all_resamples(kind: str) -> None:
    """Gains of all n^n resamples by the metric itself."""
    for convention, alternative in RULES:
        rng = np.random.default_rng([len(kind), len(convention), len(alternative)])
        metric = {"error rate": ERROR_RATE, "ratings": METRICS["mean"]}.get(kind, METRICS["accuracy"])
        total = 7 if kind == "seven decisions" else 1
        for n in (2, 3, 4, 4, 5):
            scores = rng.integers(-2, 6, (2, n)) if kind == "ratings" else rng.integers(0, total + 1, (2, n))
            row = ask(scores, metric, total, convention=convention, alternative=alternative)
            won = differences(scores, row) * (1 if metric.higher_is_better else -1)
            gain, gains = won.sum(), np.array([won[list(draw)].sum() for draw in product(range(n), repeat=n)])
            assert row.gain == pytest.approx(
                abs(np.diff(metric.score(np.stack([scores.sum(1), [n * total] * 2], -1))))[0]
            )
            if convention == "koehn2004":
                extreme = gains <= 0
            elif convention == "bk2012":
                extreme = (gains > 2 * gain) | ((alternative == "two-sided") & (gains < 0))
            else:
                extreme = (gains >= 2 * gain) | ((alternative == "two-sided") & (gains <= 0))
            assert (row.exact, row.monte_carlo, row.n_resamples, row.n_extreme) == (False, False, 0, 0)
            assert row.p_low == row.p_value == row.p_high == pytest.approx(extreme.mean(), rel=1e-12, abs=0)


@pytest.mark.parametrize(("convention", "alternative"), RULES)
@pytest.mark.parametrize("kind", ["accuracy", "ratings", "ratings with an outlier", "wide scores"])
def test_p_is_that_of_whole_number_polynomials(kind: str, convention: str, alternative: str) -> None:
    """n = 20 … 100, among them p-values far below what any number of resamples could show."""
    rng = np.random.default_rng([len(kind), len(convention), len(alternative)])
    smallest = 1.0
    for n, shift in ((20, 0.1), (100 if kind == "ratings with an outlier" else 60, 1.0)):
        if kind == "accuracy":
            scores = (rng.random((2, n)) < [[0.55 + shift / 2], [0.5 - shift / 2]]).astype(np.int64)
        else:
            most = 5 if kind.startswith("ratings") else 40
            scores = np.clip(np.rint(rng.normal([[most * (0.5 + shift / 2)], [most * 0.5]], most / 4, (2, n))), 1, most)
            scores = scores.astype(np.int64)
        if kind == "ratings with an outlier":
            scores[0, 0] = 60
        row = ask(scores, "mean", convention=convention, alternative=alternative)
        expected = limit(differences(scores, row), convention, alternative)
        assert row.p_value == pytest.approx(expected, rel=1e-9, abs=0)
        smallest = min(smallest, expected)
    assert smallest < (1e-3 if kind == "ratings with an outlier" else 1e-8)


def test_tiny_accuracy_tails_agree_with_the_trinomial_to_nine_digits() -> None:
    smallest = 1.0
    for n, only_a, only_b in ((400, 30, 20), (2000, 300, 150), (2000, 700, 10), (3000, 1500, 300), (20_000, 900, 700)):
        scores = np.zeros((2, n), np.int64)
        scores[0, :only_a] = 1
        scores[1, only_a : only_a + only_b] = 1
        expected = exact_bootstrap_p(*scores)
        assert ask(scores, "accuracy").p_value == pytest.approx(expected, rel=1e-9, abs=0)
        smallest = min(smallest, expected)
    assert 0 < smallest < 1e-200


def test_tiny_tails_of_ratings_keep_nine_digits() -> None:
    """Items that are mostly a little better, some far better, some worse: sums far from their mean."""
    smallest = 1.0
    for n, far, worse in ((60, 10, 10), (120, 10, 5), (150, 8, 0), (150, 140, 10)):
        scores = np.ones((2, n), np.int64)
        scores[0] += 1
        scores[0, :far] = 5
        scores[:, far : far + worse] = [[1], [3]]
        for alternative in ("greater", "two-sided"):
            expected = limit(scores[0] - scores[1], "default", alternative)
            assert ask(scores, alternative=alternative).p_value == pytest.approx(expected, rel=1e-9, abs=0)
            smallest = min(smallest, expected) if expected else smallest
    assert smallest < 1e-60


def test_all_pairs_at_once_are_each_pair_alone(rng: np.random.Generator) -> None:
    """Right and wrong, ratings, and pairs with equal counts of wins and losses, in threads or not."""
    for most in (1, 4):
        scores = rng.integers(0, most + 1, size=(8, 40))
        scores[1] = np.roll(scores[0], 1)
        outputs = Outputs.from_statistics(np.stack([scores, np.ones_like(scores)], -1), "mean", list("abcdefgh"))
        pairs = compared(outputs, **BOOTSTRAP, monte_carlo=False, n_jobs=3)
        assert len(pairs) == 28
        for row in pairs.itertuples():
            i, j = (outputs.names.index(name) for name in (row.system_a, row.system_b))
            assert row.p_value == pytest.approx(limit(scores[i] - scores[j], "default", "greater"), rel=1e-9, abs=0)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("kind", ["lengths", "strata"])
def test_p_is_the_share_of_all_resamples_of_clusters_and_strata(kind: str, alternative: str) -> None:
    """Clusters of unequal size, whose number of items varies; strata that keep their number of items."""
    drawn, items = all_resamples(5), pd.DataFrame({"id": range(5), "domain": list("xxyyy")})
    if kind == "strata":
        drawn = drawn[drawn[:, :2].sum(axis=1) == 2]
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        below = rng.integers(1, 9, 5) if kind == "lengths" else np.ones(5, dtype=np.int64)
        above = rng.integers(0, 2 + below, (2, 5))
        outputs = Outputs.from_statistics(
            np.stack([above, np.stack([below, below])], axis=-1), "mean", ["a", "b"], items
        )
        how = {"strata": "domain"} if kind == "strata" else {}
        row = compared(outputs, **(BOOTSTRAP | {"alternative": alternative}), **how).iloc[0]
        won = differences(above, row)
        gains, gain = drawn @ won / (drawn @ below), won.sum() / below.sum()
        extreme = (gains >= 2 * gain - 1e-9) | ((alternative == "two-sided") & (gains <= 1e-9))
        assert not row.monte_carlo
        assert row.p_value == pytest.approx(extreme.mean(), rel=1e-9, abs=0)
        found.append(row.p_value)
    assert len(set(found)) > 3


def test_a_tail_of_nearly_equal_sums_is_known_up_to_the_error_that_is_told() -> None:
    """Few units differ, by nearly as much each: a sum looks smooth to the first nodes, and is not."""
    known = 0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        numbers, n_differ = np.zeros(80, dtype=np.int64), int(rng.integers(4, 20))
        numbers[:n_differ] = rng.choice([-1, 1, 1], n_differ) * (40 + rng.integers(-2, 3, n_differ))
        numbers *= 1 if numbers.sum() >= 0 else -1
        least = 2 * int(numbers.sum())
        expected = float(drawn_tail(numbers, least))
        tail, error = draw_kernels.drawn_tail(numbers.astype(float), np.array([0, 80]), least - 0.5, False, 0.0)
        assert abs(tail - expected) <= error + 1e-9
        known += error < 1e-9
    assert known < 2


@pytest.mark.statistical
def test_resamples_agree_with_p_of_decimals() -> None:
    for seed, n in enumerate((30, 100, 400)):
        rng = np.random.default_rng(seed)
        scores = rng.random((2, n)) ** 3 + np.array([[0.03], [0.0]])
        computed, drawn = (ask(scores, n_resamples=40_000, monte_carlo=how) for how in (False, True))
        assert not computed.monte_carlo
        assert could_be(drawn.n_extreme, drawn.n_resamples, computed.p_value)


@pytest.mark.statistical
@pytest.mark.parametrize(("convention", "alternative"), RULES)
def test_resampling_agrees_with_its_limit(convention: str, alternative: str) -> None:
    rng = np.random.default_rng(4)
    options = {"convention": convention, "alternative": alternative, "n_resamples": 20_000, "monte_carlo": True}
    for most, total in ((1, 1), (5, 1), (7, 7)):
        scores = rng.integers(0, most + 1, size=(2, 70))
        scores[0, :9] = most
        row = ask(scores, "mean" if total == 1 else "accuracy", total, **options)
        assert (row.exact, row.monte_carlo) == (False, True)
        assert could_be(row.n_extreme, row.n_resamples, limit(differences(scores, row), convention, alternative))


def test_a_limit_where_there_is_none_is_refused_in_one_line() -> None:
    rng = np.random.default_rng(0)
    counts = ascending(rng.integers(0, 5, size=(2, 30, 3)))
    right = np.stack([counts[..., 0] > 0, np.ones((2, 30), int)], -1)
    # Of three items two have no denominator, and so 8 of 27 resamples.
    few = [[[1, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 1, 1], [0, 0, 0], [0, 0, 0]]]
    # Sums of three decimals, each of them a lump of its own.
    lumps = np.zeros((2, 30, 2))
    lumps[0, :3, 0], lumps[..., 1] = rng.random(3), 1
    for outputs, options, message in (
        (Outputs.from_statistics(counts, "f1"), {}, "metric 'f1' is no mean of unit scores"),
        (
            Outputs.from_statistics(right, "accuracy"),
            {"convention": "sacrebleu"},
            "convention 'sacrebleu' has no limit",
        ),
        (Outputs.from_statistics(few, "recall"), {}, r"some resamples have no denominator, so few units \(item\) have"),
        (Outputs.from_statistics(lumps, "mean"), {}, "many sums of their differences are nearly equal"),
    ):
        asked = BOOTSTRAP | ({"alternative": "two-sided"} if options else {}) | options
        with pytest.raises(ValueError, match=message) as error:
            compared(outputs, monte_carlo=False, **asked)
        assert "\n" not in str(error.value)
        row = compared(outputs, n_resamples=100, **asked).iloc[0]
        assert (row.monte_carlo, row.n_resamples) == (True, 100)
