"""Sign flips against all 2^n flips of contributions that are written out here, and against randomization of means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import fsum, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.question import Question
from simstudy.engines.sign_flips import sign_flips
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.engines.pairs import NET, ask, best_first, made
from tests.oracles import ERROR_RATE, GEOMETRIC, compared, could_be, shuffled_p

BOTH = pytest.mark.parametrize("alternative", ["greater", "two-sided"])

#: Wrong guesses are counted: lower is better, and denominators differ.
LOSS = replace(GEOMETRIC, name="loss", higher_is_better=False)
FALSE = replace(ERROR_RATE, name="false guesses")

#: Kinds whose systems have denominators of their own, or that are no ratios, and so no scores of units.
OWN = ["precision", "f1", "f0.5", "muc_f", "ratings by count", "silent f1", "geometric", "loss", "false"]


def of_kind(kind: str, n: int, rng: np.random.Generator) -> tuple[Metric, np.ndarray]:
    if kind == "loss":
        return LOSS, made("geometric", n, rng)[1]
    if kind == "false":
        guessed = rng.integers(1, 5, size=(2, n))
        return FALSE, np.stack([rng.binomial(guessed, 0.4), guessed], axis=-1)
    return made(kind, n, rng)


def contributions(pair: np.ndarray, metric: Metric) -> tuple[list[float], float]:
    """What each unit adds to the gain of the first system of a pair (2, n, S) over the second, and the gain.

    Of ratios: (numerator - pooled ratio x denominator) / the system's denominator, divided by sqrt(1 - h), h being the
    unit's part of the denominator. Of other metrics: by leaving units out one by one.
    """
    sign = 1 if metric.higher_is_better else -1
    n = pair.shape[1]
    if not isinstance(metric, Ratio):
        of_system = []
        for rows in pair:
            score = float(metric.score(rows.sum(axis=0)))
            without = [float(metric.score(np.delete(rows, u, axis=0).sum(axis=0))) for u in range(n)]
            of_system.append([score / n + (n - 1) / n * (fsum(without) / n - one) for one in without])
        parts = [sign * (a - b) for a, b in zip(*of_system, strict=True)]
        return parts, sign * float(np.diff(metric.score(pair.sum(axis=1))[::-1])[0])
    above, below = (
        [[Fraction(int(row @ np.array(weights))) for row in rows] for rows in pair]
        for weights in (metric.numerator, metric.denominator)
    )
    totals, wholes = [sum(row) for row in above], [sum(row) for row in below]
    pooled = sum(totals) / sum(wholes) if sum(wholes) else Fraction(0)
    parts = [0.0] * n
    gain = Fraction(0)
    for k, direction in ((0, sign), (1, -sign)):
        if wholes[k] == 0:
            continue
        gain += direction * totals[k] / wholes[k]
        for u in range(n):
            share = below[k][u] / wholes[k]
            residual = direction * (above[k][u] - pooled * below[k][u]) / wholes[k]
            parts[u] += float(residual) / sqrt(max(float(1 - share), 1e-3))
    return parts, float(gain)


def flipped_p(pair: np.ndarray, metric: Metric, *, two_sided: bool, least: bool = True) -> float:
    """The share of all flips of the contributions that reach the gain; `least`: what was observed is one of them."""
    parts, gain = contributions(pair, metric)
    scale = sum(abs(part) for part in parts) + abs(gain) or 1.0
    sums = [fsum(sign * part for sign, part in zip(signs, parts, strict=True)) for signs in _signs(len(parts))]
    sizes = [abs(x) for x in sums] if two_sided else sums
    slack = 1e-9 * scale
    extreme = sum(x >= gain - slack for x in sizes)
    # Flipping a unit that contributes nothing leaves what was observed, and residuals may add up to less than the gain.
    observed = 2 ** sum(part == 0 for part in parts) * (2 if two_sided else 1)
    return max(extreme, min(observed, len(sums)) if least else 0) / len(sums)


def _signs(n: int) -> Iterator[tuple[int, ...]]:
    return product((1, -1), repeat=n)


def flips(statistics: np.ndarray, metric: Metric | str, **options: Any) -> Any:
    return ask(statistics, metric, test="sign_flips", **options)


@pytest.mark.parametrize("kind", ["one decision", "words", "error rate", "ratings", "net wins", "recall"])
def test_of_means_it_is_randomization_to_the_last_bit(kind: str) -> None:
    for alternative, monte_carlo in product(("greater", "two-sided"), ("auto", True, False)):
        rng = np.random.default_rng([len(kind), ord(kind[-1]), 9])
        for n in (5, 20):
            metric, statistics = made(kind, n, rng)
            if kind in ("ratings", "recall"):
                # One denominator for both systems: one rating an item, and what is to be found.
                statistics[..., -1] = statistics[..., -1].max(axis=0)
            options: dict[str, Any] = {"alternative": alternative, "monte_carlo": monte_carlo, "n_resamples": 500}
            swapped, flipped = (
                ask(statistics, metric, test=test, **options) for test in ("randomization", "sign_flips")
            )
            same = swapped.index.drop(["test", "exact"])
            pd.testing.assert_series_equal(flipped[same], swapped[same])
            assert swapped.exact
            # Differences of right and wrong answers are symmetric around 0 wherever their mean is 0.
            assert flipped.exact == (kind == "one decision")


@BOTH
@pytest.mark.parametrize("kind", OWN)
def test_p_is_the_share_of_all_flips(kind: str, alternative: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1]), len(alternative)])
    seen = []
    for n in (2, 3, 5, 6, 7):
        metric, statistics = of_kind(kind, n, rng)
        row = flips(statistics, metric, alternative=alternative)
        pair = best_first(statistics, row)
        assert row.p_value == pytest.approx(flipped_p(pair, metric, two_sided=alternative == "two-sided"), rel=1e-12)
        assert (row.exact, row.monte_carlo, row.n_resamples, row.n_extreme) == (False, False, 0, 0)
        assert row.p_low == row.p_value == row.p_high
        seen.append(row.p_value)
    assert len(set(seen)) > 2
    assert flips(statistics, metric, alternative=alternative, monte_carlo=False).p_value == row.p_value


@dataclass(frozen=True)
class Plain(Metric):
    """A mean that is not known to be one."""

    def score(self, sums: np.ndarray) -> np.ndarray:
        return np.asarray(sums[..., 0] / sums[..., 1], dtype=np.float64)


@BOTH
@pytest.mark.parametrize("strict", [False, True], ids=[">=", ">"])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_contributions_by_the_jackknife_tie_as_the_differences_of_a_mean_do(
    higher_is_better: bool, strict: bool, alternative: str
) -> None:
    """Few ratings, many ties: all shuffles in fractions."""
    rng = np.random.default_rng(3)
    metric = Plain("plain", ("total", "count"), higher_is_better)
    known = Ratio("known", ("total", "count"), higher_is_better, (1, 0), (0, 1))
    rule = replace(CONVENTIONS["default"], strict=strict)
    ties = 0
    for n in (3, 5, 7, 8):
        ratings = rng.integers(-1, 4, size=(2, n))
        ratings = ratings[np.argsort(ratings.sum(axis=1))[:: -1 if higher_is_better else 1]]
        pair = np.stack([ratings, np.ones_like(ratings)], axis=-1)
        question = Question(pair, metric, ["a", "b"], "item", np.array([0, n]), alternative, rule, False)
        with_ties, without = (
            shuffled_p(pair, known, two_sided=alternative == "two-sided", strict=one) for one in (False, True)
        )
        assert sign_flips(question).p_value[0] == pytest.approx(without if strict else with_ties, rel=1e-12)
        ties += with_ties != without
    assert ties == 4


@pytest.mark.statistical
@BOTH
@pytest.mark.parametrize("kind", OWN)
def test_random_flips_agree_with_all_flips(kind: str, alternative: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1]), 7])
    for n, convention in ((4, "default"), (8, "noreen")):
        metric, statistics = of_kind(kind, n, rng)
        options: dict[str, Any] = {"alternative": alternative, "convention": convention, "seed": n}
        row = flips(statistics, metric, monte_carlo=True, n_resamples=20_000, **options)
        pair = best_first(statistics, row)
        expected = flipped_p(pair, metric, two_sided=alternative == "two-sided", least=False)
        assert (row.exact, row.monte_carlo, row.n_resamples) == (False, True, 20_000)
        assert could_be(row.n_extreme, row.n_resamples, expected)
        assert row.p_value == (row.n_extreme + 1) / 20_001


@pytest.mark.parametrize("metric", ["f1", "bleu-like"])
def test_numbers_do_not_depend_on_threads_tiles_or_order(metric: str, found: Outputs) -> None:
    if metric == "bleu-like":
        counts = np.sort(np.random.default_rng(4).integers(0, 9, size=(5, 60, 4)), axis=-1)
        found = Outputs.from_statistics(counts, GEOMETRIC, found.systems, found.items)
    options: dict[str, Any] = {"unit": "item", "n_resamples": 1_201, "seed": 3}
    # Few units, all of whose flips are counted; many, by an integral; and random flips.
    for units, drawn in ((found.head(12), False), (found, False), (found, True)):
        asked = {**options, "monte_carlo": True if drawn else "auto"}
        expected = compared(units, **asked)
        assert (expected["monte_carlo"] == drawn).all()
        for layout in ({"tile_size": 400}, {"tile_size": 7, "n_jobs": 3}) if drawn else ({"n_jobs": 3},):
            pd.testing.assert_frame_equal(compared(units, **asked, **layout), expected)
        pd.testing.assert_frame_equal(compared(units.select(list("dbeca")), **asked), expected)
        everyone = expected.set_index(["system_a", "system_b"])
        alone = compared(units.select(["b", "e"]), **asked).set_index(["system_a", "system_b"])
        pd.testing.assert_frame_equal(alone, everyone.loc[alone.index])


@pytest.mark.parametrize("kind", ["one decision", "f1", "geometric"])
def test_identical_systems_do_not_differ(kind: str) -> None:
    metric, statistics = made(kind, 9, np.random.default_rng(5))
    for alternative, monte_carlo in product(("greater", "two-sided"), ("auto", True)):
        row = flips(statistics[[0, 0]], metric, alternative=alternative, monte_carlo=monte_carlo, n_resamples=99)
        assert (row.gain, row.p_value, row.better) == (0.0, 1.0, "")


@pytest.mark.parametrize("monte_carlo", ["auto", True])
def test_equal_scores_of_different_systems(monte_carlo: Any) -> None:
    """F1 of 6/11 twice, by other guesses on other units: two-sided, every flip is at least as far from 0."""
    one, other = [[2, 3, 3], [0, 1, 0], [1, 1, 3]], [[1, 1, 3], [0, 1, 0], [2, 3, 3]]
    row = flips(np.array([one, other]), "f1", alternative="two-sided", monte_carlo=monte_carlo, n_resamples=500)
    assert (row.gain, row.p_value, row.better) == (0.0, 1.0, "")
    # By symmetry as many flips are below 0 as above it; of units 1 and 3, which cancel, half of the flips tie.
    row = flips(np.array([one, other]), "f1", monte_carlo=monte_carlo, n_resamples=500)
    assert row.p_value == pytest.approx(3 / 4, abs=0.1 if monte_carlo is True else 0)


def test_scores_that_cancel(rng: np.random.Generator) -> None:
    """As many wins as losses, over counts of their own: both scores are 0, and nothing is lost in small numbers."""
    won = rng.integers(1, 9, size=(2, 9))
    counts = np.stack([won, rng.permuted(won, axis=1), rng.integers(1, 4, size=(2, 9))], axis=-1)
    for alternative in ("greater", "two-sided"):
        row = flips(counts, NET, alternative=alternative)
        assert row.gain == 0
        pair = best_first(counts, row)
        assert row.p_value == pytest.approx(flipped_p(pair, NET, two_sided=alternative == "two-sided"), rel=1e-12)


def test_a_system_without_a_guess_has_no_contribution() -> None:
    """Precision of nothing is 0: all of the gain is the other's, whose pooled ratio is its own: nothing is left."""
    counts = np.array([[[1, 1, 1], [1, 2, 2], [0, 1, 1]], [[0, 0, 1], [0, 0, 2], [0, 0, 1]]])
    row = flips(counts, "precision", alternative="two-sided")
    pair = best_first(counts, row)
    assert row.gain == 50
    assert row.p_value == flipped_p(pair, METRICS["precision"], two_sided=True)


def test_scores_of_nothing_at_all() -> None:
    """No score is above 0, whoever is flipped."""
    for metric in ("bleu", "f1"):
        counts = np.zeros((2, 5, len(METRICS[metric].statistics)), int)
        counts[..., -1] = [[1], [2]] if metric == "bleu" else 1
        for monte_carlo in ("auto", True):
            row = flips(counts, metric, monte_carlo=monte_carlo, n_resamples=50)
            assert (row.gain, row.p_value) == (0.0, 1.0)
